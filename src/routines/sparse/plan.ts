// Plans for sptrsv on the calling thread and on threads: the set-up phase of the sparse paper (levels, blocks, storage) for its
// Algorithms 1 to 4, for gsf and for the serial loop. sptrsv.ts calls it on engines that do not build plans themselves.
import { ShapeError } from "../../arrays/errors.ts";
import type { StridedMatrix } from "../../arrays/matrix.ts";
import { checkPatternAttached } from "../../arrays/sparse.ts";
import { checkDiagonal, type HostTriangle } from "../../arrays/triangle.ts";
import type { Real } from "../../arrays/types.ts";
import { newIntegers } from "../../arrays/vectors.ts";
import type { Schedule, SparsePlan, SparseTriangle, SystemKernels, Tasks } from "../../engines/kernels.ts";
import type { Allocation } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { levelsOf, positionsByLevels } from "./analysis.ts";
import { type Choice, chooseBlocks, chooseEarly, chooseLevels, type EarlyChoice } from "./choice.ts";
import { type Division, divide } from "./division.ts";
import { type GraphKernels, graphOf, waitLists } from "./graph.ts";
import { loadValues, ReservedArrays, refill, type Storage, type StorageMemory, storeByLevels, storeNatural } from "./storage.ts";
import { type Blocks, equalBlocks, phasesOf, ROWS_PER_BARRIER } from "./tasks.ts";
import type { SparseOptions } from "./types.ts";

type Memory = Allocation<Uint8Array>;

/** A system ready to be solved, and what is needed to give it new values. */
interface Plan {
  readonly system: SparseTriangle;
  readonly reason: string;
  readonly levels: () => number;
  readonly knowsLevels: () => boolean;
  readonly bytes: number;
  /** The triangle that was analysed. */
  readonly triangle: HostTriangle;
  readonly form: Storage["form"];
  /**
   * Its memory. `values` holds new values that arrived while those among the entries were in use. `resident` is the matrix if it is a
   * resident: its pattern is needed for new values and levels, and the system may use its arrays.
   */
  readonly memory: {
    readonly entries: Memory;
    readonly tasks: Memory;
    readonly values?: Memory;
    readonly resident?: Allocation<unknown>;
  };
  readonly reserve: (bytes: number) => Memory;
  /**
   * On the calling thread, a plan of its own for new values: the memory of the engine consists of several arenas, and a system must be in
   * one of them.
   */
  readonly again?: ((triangle: HostTriangle) => SparsePlan) | undefined;
}

// Rows in a block. In gsf long chains stay in one block; otherwise blocks are so short that long chains still make many, and division.ts
// merges or splits them.
const MAX_GSF_BLOCK = 1024;
const MAX_BLOCK = 128;
// Rows in a block by levels: enough that handing it out costs little (about 30 ns, and as much for each block that waits for
// it), yet few enough that every level keeps all workers busy.
const MAX_LEVEL_BLOCK = 256;
const MIN_LEVEL_BLOCK = 32;

/** The whole set-up phase, on the calling thread: it takes as long as a few solves. If it fails, it frees what it reserved. */
export function analyse(
  kernels: Pick<SystemKernels, "workers" | "memory" | "firstZero" | "neighbours">,
  triangle: HostTriangle,
  exact: boolean,
  options: SparseOptions,
): SparsePlan {
  const resident = kernels.memory.share?.(triangle.A);
  const allocations = new Set<Allocation<unknown>>(resident ? [resident] : []);
  const setup: Setup = {
    workers: kernels.workers,
    triangle,
    exact,
    neighbours: (...args) => kernels.neighbours(...args),
    isResident: resident !== undefined,
    reserve(bytes) {
      const memory = kernels.memory.reserve("sptrsv", bytes);
      allocations.add(memory);
      return memory;
    },
    release(memory) {
      allocations.delete(memory);
      memory.free();
    },
  };
  try {
    const plan = planFor(setup, options);
    const memory = resident ? { ...plan.memory, resident } : plan.memory;
    if (plan.form === "as stored") loadValues(kernels, triangle, plan.system);
    const again = kernels.workers === 0 ? (next: HostTriangle) => analyse(kernels, next, exact, options) : undefined;
    return asPlan({ ...plan, memory, again, reserve: (bytes) => kernels.memory.reserve("sptrsv", bytes) });
  } catch (error) {
    for (const allocation of allocations) allocation.free();
    throw error;
  }
}

function asPlan(plan: Plan): SparsePlan {
  const { system, reason, bytes, memory } = plan;
  const { n, schedule } = system;
  let freed = false;
  return {
    n,
    schedule,
    reason,
    levels() {
      if (freed && memory.resident && !plan.knowsLevels())
        throw new ShapeError("TriangularPlan.levels: the plan was freed, expected one that is in use (or a matrix that is not a resident)");
      return plan.levels();
    },
    bytes,
    isCollected: memory.entries.isCollected === true && memory.tasks.isCollected === true && !memory.resident,
    *solve(b: Real, x: Real): Routine<void> {
      yield (kernels) => (kernels as unknown as SystemKernels).sptrsv(system, b, x);
    },
    *solveColumns(B: StridedMatrix, X): Routine<void> {
      yield (kernels) => (kernels as unknown as SystemKernels).sptrsm(system, B, X);
    },
    // biome-ignore lint/correctness/useYield: on this engine no step is needed
    *withValues(values: Real, inUse) {
      return withValues(plan, this, values, inUse);
    },
    free() {
      freed = true;
      for (const allocation of Object.values(memory)) allocation.free();
    },
  };
}

interface Setup extends GraphKernels, StorageMemory {
  readonly workers: number;
  readonly triangle: HostTriangle;
  readonly exact: boolean;
}

function planFor(setup: Setup, options: SparseOptions): Plan {
  const { workers, triangle, exact } = setup;
  const early = chooseEarly(options, workers, triangle.n + triangle.A.values.length);
  const { schedule } = early;
  // In exact mode a finished column only signals, and the worker that owns a row computes its sum: rows are stored.
  const columns = !exact && (schedule === "levc" || schedule === "slfc");
  const maxRows = schedule === "gsf" ? MAX_GSF_BLOCK : MAX_BLOCK;
  const work = workers === 0 ? triangle.n : 0;
  const { storage, blocks } = storeNatural(setup, triangle, { columns, work, maxRows, byShapes: schedule === "gsf" });
  const plan = planNatural(setup, early, storage, blocks, columns);
  if ("system" in plan) return plan;
  setup.release(storage.memory.allocation);
  return planByLevels(setup, plan, columns);
}

// Natural order: row by row, or in blocks if enough of them do not wait for each other. Otherwise returns the choice for an order by
// levels.
function planNatural(setup: Setup, early: EarlyChoice, storage: Storage, blocks: Blocks, columns: boolean): Plan | Choice {
  const { workers, triangle } = setup;
  const { n, upper } = triangle;
  const { starts, lookup } = blocks;
  if (early.schedule === "serial") return buildPlan(setup, storage, early, { count: 1 });
  if (early.schedule === "gsf") return buildPlan(setup, storage, early, { count: starts.length - 1, blocks: starts, lookup });
  const asked = early.schedule !== undefined && isLevels(early.schedule);
  const division = divide(setup, { ...storage, n, upper }, blocks, { columns, barriers: asked, workers });
  const choice = chooseBlocks(early, division, workers);
  if (choice) return planBlocks(setup, storage, choice, division);
  const other = chooseLevels(early, n, () => countLevels(triangle), division, workers);
  if (other.by === "levels") return other;
  return other.by === "blocks" ? planBlocks(setup, storage, other, division) : buildPlan(setup, storage, other, { count: 1 });
}

// Blocks in the order of levels.
function planBlocks(setup: Setup, storage: Storage, choice: Choice, { graph, sequence, ilev }: Division): Plan {
  const blocks = graph.blocks.starts;
  if (!isLevels(choice.schedule))
    return buildPlan(setup, storage, choice, { count: sequence.length, blocks, sequence, ...waitLists(graph, sequence) });
  const phases = phasesOf(ilev, 2);
  return buildPlan(setup, storage, choice, { count: phases.length - 1, blocks, sequence, phases });
}

// Rows in the order of levels.
function planByLevels(setup: Setup, choice: Choice, columns: boolean): Plan {
  const { workers, triangle, reserve } = setup;
  const { n, upper } = triangle;
  const lev = newIntegers("sptrsv", n);
  const ilev = positionsByLevels(lev, levelsOf(triangle, lev));
  const storage = storeByLevels(reserve, triangle, columns, lev);
  if (isLevels(choice.schedule)) {
    const phases = phasesOf(ilev, workers === 1 ? Number.POSITIVE_INFINITY : ROWS_PER_BARRIER);
    return buildPlan(setup, storage, choice, { count: phases.length - 1, phases });
  }
  const share = Math.max(MIN_LEVEL_BLOCK, Math.min(MAX_LEVEL_BLOCK, n / Math.max(ilev.length - 1, 1) / (2 * workers)));
  const blocks = equalBlocks(n, 2 ** Math.floor(Math.log2(share)));
  const graph = graphOf(setup, { ...storage, n, upper }, blocks, columns);
  return buildPlan(setup, storage, choice, { count: graph.costs.length, blocks: blocks.starts, ...waitLists(graph) });
}

const isLevels = (schedule: Schedule): boolean => schedule === "levr" || schedule === "levc";
const countLevels = (triangle: HostTriangle): number => levelsOf(triangle, newIntegers("sptrsv", triangle.n));

function buildPlan({ triangle, exact, reserve }: Setup, storage: Storage, { schedule, reason }: Choice, found: Tasks): Plan {
  const { n, upper } = triangle;
  const { memory, form, ...entries } = storage;
  const { tasks, memory: taskMemory } = copyTasks(reserve, found);
  let levels: number | undefined = schedule === "serial" || schedule === "gsf" ? 0 : undefined;
  return {
    system: { ...entries, n, upper, exact, schedule, tasks },
    reason,
    levels() {
      if (levels === undefined) {
        checkPatternAttached("TriangularPlan.levels", "A", triangle.A);
        levels = countLevels(triangle);
      }
      return levels;
    },
    knowsLevels: () => levels !== undefined,
    bytes: memory.byteLength + taskMemory.byteLength,
    triangle,
    form,
    memory: { entries: memory.allocation, tasks: taskMemory.allocation },
    reserve,
  };
}

// Copies the arrays of tasks into memory of the engine.
function copyTasks(reserve: Setup["reserve"], { count, ...arrays }: Tasks): { tasks: Tasks; memory: ReservedArrays } {
  const all = Object.entries(arrays as Record<string, Int32Array | undefined>);
  const memory = new ReservedArrays(
    reserve,
    all.map(([, array]) => array?.byteLength ?? 0),
  );
  const copies = all.map(([name, array]) => {
    const copy = array && memory.integers(array.length);
    if (copy && array) copy.set(array);
    return [name, copy];
  });
  return { tasks: { count, ...Object.fromEntries(copies) }, memory };
}

function withValues(
  plan: Plan,
  current: SparsePlan,
  from: Real,
  inUse: boolean,
): { plan: SparsePlan; replaced?: { free(): void } | undefined } {
  const { system, form } = plan;
  const triangle = { ...plan.triangle, A: { ...plan.triangle.A, values: from } };
  checkPatternAttached("TriangularPlan.update", "A", triangle.A);
  if (!triangle.unit) checkDiagonal("TriangularPlan.update", triangle);
  const isOwn = system.values !== plan.triangle.A.values; // not those of a resident
  if (isOwn && !inUse) {
    refill(triangle, form, system);
    return { plan: current };
  }
  if (plan.again) return { plan: plan.again(triangle), replaced: current };
  const width = from.BYTES_PER_ELEMENT;
  const apart = system.diagonalAt ? undefined : system.diagonal;
  const memory = new ReservedArrays(plan.reserve, [width * system.values.length, width * (apart?.length ?? 0)]);
  const values = memory.reals(from, system.values.length);
  const next = { ...system, values, diagonal: apart ? memory.reals(from, apart.length) : system.diagonal && values };
  try {
    refill(triangle, form, next);
  } catch (error) {
    memory.allocation.free();
    throw error;
  }
  const renewed = { ...plan, system: next, memory: { ...plan.memory, values: memory.allocation } };
  return { plan: asPlan(renewed), replaced: plan.memory.values };
}
