import { ShapeError } from "../../arrays/errors.ts";
import { checkPatternAttached } from "../../arrays/sparse.ts";
import { checkDiagonal, type HostTriangle } from "../../arrays/triangle.ts";
import type { Real } from "../../arrays/types.ts";
import { newIntegers } from "../../arrays/vectors.ts";
import type { Schedule, SparsePlan, SparseTriangle, SystemKernels, Tasks } from "../../engines/kernels.ts";
import type { Allocation } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { levelsOf, placesOf } from "./analysis.ts";
import { type Choice, chooseEarly, chooseLevels, chooseRuns, type EarlyChoice } from "./choice.ts";
import { type Finder, graphOf } from "./graph.ts";
import { Block, type Keeper, refill, type Storage, storeByLevels, storeNatural, takeValues } from "./storage.ts";
import { equalRuns, merged, phasesOf, ROWS_OF_A_BARRIER, type Runs } from "./tasks.ts";
import type { SparseOptions } from "./types.ts";

type Reserved = Allocation<Uint8Array>;

/** A system ready to be solved, and what is needed to give it new values. */
interface Plan {
  readonly system: SparseTriangle;
  readonly reason: string;
  readonly levels: () => number;
  readonly knowsLevels: () => boolean;
  readonly bytes: number;
  /** The pattern that it was made from. */
  readonly triangle: HostTriangle;
  readonly form: Storage["form"];
  /**
   * Its memory. `values` are those that were taken while the ones among the entries were in use; `held` is a resident, whose pattern it
   * needs for new values and levels, and may use for itself.
   */
  readonly memory: {
    readonly entries: Reserved;
    readonly tasks: Reserved;
    readonly values?: Reserved;
    readonly held?: Allocation<unknown>;
  };
  readonly reserve: (bytes: number) => Reserved;
  /** Solves are on the calling thread, and through when their call returns: values are never in use. */
  readonly isAlone: boolean;
}

// Rows in a run: in gsf as many as follow each other, else few enough that long chains still make many runs.
const MAX_IN_A_LINE = 1024;
const MAX_IN_A_RUN = 128;
// Lines in a run where that leaves enough runs: several lines of a grid, next to each other in memory. (128^3 grid with 27
// points, plain, 2 threads: 15.5 ms with 1024 rows in a run, 21 with 128, since every run begins on pages of its own.)
const MIN_TOGETHER = 1024;
// Runs that a worker takes at a time: neighbours, whose unknowns are next to each other.
const MAX_TOGETHER = 8;
// Lines in a run by levels: so many that handing one out costs little (some 30 ns, and as much for each run that waits for
// it), yet few enough that every level keeps all workers busy.
const MAX_LINES = 256;
const MIN_LINES = 32;

/** The whole set-up phase, on the calling thread: it takes as long as a few solves. If it fails, nothing stays reserved. */
export function analyse(
  kernels: Pick<SystemKernels, "workers" | "memory" | "firstZero" | "neighbours">,
  triangle: HostTriangle,
  exact: boolean,
  options: SparseOptions,
): SparsePlan {
  const held = kernels.memory.share?.(triangle.A);
  const taken = new Set<Allocation<unknown>>(held ? [held] : []);
  const setup: Setup = {
    workers: kernels.workers,
    triangle,
    exact,
    neighbours: (...args) => kernels.neighbours(...args),
    isThere: held !== undefined,
    reserve(bytes) {
      const reserved = kernels.memory.reserve("sptrsv", bytes);
      taken.add(reserved);
      return reserved;
    },
    giveBack(reserved) {
      taken.delete(reserved);
      reserved.free();
    },
  };
  try {
    const plan = planFor(setup, options);
    const memory = held ? { ...plan.memory, held } : plan.memory;
    if (plan.form === "as stored") takeValues(kernels, triangle, plan.system);
    return asPlan({ ...plan, memory, reserve: (bytes) => kernels.memory.reserve("sptrsv", bytes) });
  } catch (error) {
    for (const reserved of taken) reserved.free();
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
      if (freed && memory.held && !plan.knowsLevels())
        throw new ShapeError("TriangularPlan.levels: the plan was freed, expected one that is in use (or a matrix that is not a resident)");
      return plan.levels();
    },
    bytes,
    isCollected: memory.entries.isCollected === true && memory.tasks.isCollected === true && !memory.held,
    *solve(b: Real, x: Real): Routine<void> {
      yield (kernels) => (kernels as unknown as SystemKernels).sptrsv(system, b, x);
    },
    // biome-ignore lint/correctness/useYield: on this engine no step is needed
    *withValues(values: Real, inUse) {
      const { plan: next, replaced } = withValues(plan, values, inUse);
      return { plan: asPlan(next), replaced };
    },
    free() {
      freed = true;
      for (const block of Object.values(memory)) block.free();
    },
  };
}

interface Setup extends Finder, Keeper {
  readonly workers: number;
  readonly triangle: HostTriangle;
  readonly exact: boolean;
}

function planFor(setup: Setup, options: SparseOptions): Plan {
  const { workers, triangle, exact } = setup;
  const early = chooseEarly(options, workers, triangle.n + triangle.A.values.length);
  const { schedule } = early;
  // In exact mode a column only signals, and the owner of a row gathers it: lines are always rows.
  const columns = !exact && (schedule === "levc" || schedule === "slfc");
  const most = schedule === "gsf" ? MAX_IN_A_LINE : MAX_IN_A_RUN;
  const work = workers === 0 ? triangle.n : 0;
  const { storage, runs } = storeNatural(setup, triangle, { columns, work, most, byShapes: schedule === "gsf" });
  const plan = planByRuns(setup, early, storage, runs, columns);
  if ("system" in plan) return plan;
  setup.giveBack(storage.block.reserved);
  return planByLevels(setup, plan, columns);
}

// Lines in the natural order: one after another, or in runs if there are enough of them that do not wait for each other. If
// not, what to do by levels.
function planByRuns(setup: Setup, early: EarlyChoice, storage: Storage, runs: Runs, columns: boolean): Plan | Choice {
  const { workers, triangle } = setup;
  const { n, upper } = triangle;
  const { starts, lookup } = runs;
  if (early.schedule === "serial") return made(setup, storage, early, { count: 1 });
  if (early.schedule === "gsf") return made(setup, storage, early, { count: starts.length - 1, runs: starts, lookup });
  for (const candidate of [merged(runs, MIN_TOGETHER), runs]) {
    const { levels, ilev, sequence, counts, targets, list } = graphOf(setup, { ...storage, n, upper }, candidate, columns);
    const choice = chooseRuns(early, counts.length, levels, workers);
    if (!choice) continue;
    const phases = phasesOf(ilev, 2);
    const together = Math.max(1, Math.min(MAX_TOGETHER, Math.floor(counts.length / levels / (2 * workers))));
    const tasks = isLevels(choice.schedule)
      ? { count: phases.length - 1, phases }
      : { count: counts.length, together, counts, targets, list };
    return made(setup, storage, choice, { ...tasks, runs: candidate.starts, sequence });
  }
  const other = chooseLevels(early, n, () => countLevels(triangle), workers);
  return other.schedule === "serial" ? made(setup, storage, other, { count: 1 }) : other;
}

// Lines in the order of levels.
function planByLevels(setup: Setup, choice: Choice, columns: boolean): Plan {
  const { workers, triangle, reserve } = setup;
  const { n, upper } = triangle;
  const lev = newIntegers("sptrsv", n);
  const ilev = placesOf(lev, levelsOf(triangle, lev));
  const storage = storeByLevels(reserve, triangle, columns, lev);
  if (isLevels(choice.schedule)) {
    const phases = phasesOf(ilev, workers === 1 ? Number.POSITIVE_INFINITY : ROWS_OF_A_BARRIER);
    return made(setup, storage, choice, { count: phases.length - 1, phases });
  }
  const share = Math.max(MIN_LINES, Math.min(MAX_LINES, n / Math.max(ilev.length - 1, 1) / (2 * workers)));
  const runs = equalRuns(n, 2 ** Math.floor(Math.log2(share)));
  const { counts, targets, list } = graphOf(setup, { ...storage, n, upper }, runs, columns);
  return made(setup, storage, choice, { count: counts.length, runs: runs.starts, counts, targets, list });
}

const isLevels = (schedule: Schedule): boolean => schedule === "levr" || schedule === "levc";
const countLevels = (triangle: HostTriangle): number => levelsOf(triangle, newIntegers("sptrsv", triangle.n));

function made({ triangle, exact, reserve, workers }: Setup, storage: Storage, { schedule, reason }: Choice, found: Tasks): Plan {
  const { n, upper } = triangle;
  const { block, form, ...entries } = storage;
  const { tasks, block: more } = placed(reserve, found);
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
    bytes: block.bytes + more.bytes,
    triangle,
    form,
    memory: { entries: block.reserved, tasks: more.reserved },
    reserve,
    isAlone: workers === 0,
  };
}

// The arrays of tasks in memory of the engine.
function placed(reserve: (bytes: number) => Reserved, { count, together, ...arrays }: Tasks): { tasks: Tasks; block: Block } {
  const all = Object.entries(arrays as Record<string, Int32Array | undefined>);
  const block = new Block(
    reserve,
    all.map(([, array]) => array?.byteLength ?? 0),
  );
  const copies = all.map(([name, array]) => {
    const copy = array && block.integers(array.length);
    if (copy && array) copy.set(array);
    return [name, copy];
  });
  return { tasks: { count, together, ...Object.fromEntries(copies) }, block };
}

function withValues(plan: Plan, from: Real, inUse: boolean): { plan: Plan; replaced?: Reserved | undefined } {
  const { system, form } = plan;
  const triangle = { ...plan.triangle, A: { ...plan.triangle.A, values: from } };
  checkPatternAttached("TriangularPlan.update", "A", triangle.A);
  if (!triangle.unit) checkDiagonal("TriangularPlan.update", triangle);
  const isOwn = system.values !== plan.triangle.A.values; // not a resident's
  if (isOwn && (plan.isAlone || !inUse)) {
    refill(triangle, form, system);
    return { plan };
  }
  const width = from.BYTES_PER_ELEMENT;
  const apart = system.diagonalAt ? undefined : system.diagonal;
  const block = new Block(plan.reserve, [width * system.values.length, width * (apart?.length ?? 0)]);
  const values = block.reals(from, system.values.length);
  const next = { ...system, values, diagonal: apart ? block.reals(from, apart.length) : system.diagonal && values };
  try {
    refill(triangle, form, next);
  } catch (error) {
    block.reserved.free();
    throw error;
  }
  return { plan: { ...plan, system: next, memory: { ...plan.memory, values: block.reserved } }, replaced: plan.memory.values };
}
