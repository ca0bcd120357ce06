import { newIntegers } from "../dense/vectors.ts";
import type { Kernels, Reserved, SparseTriangle, Tasks } from "../engines/kernels.ts";
import type { Real } from "../types.ts";
import { checkDiagonal, copyRows, count, fill, type Lines, levelsOf, placesOf, type Stored } from "./analysis.ts";
import { choose } from "./choice.ts";
import { dependencies, phasesOf, Runs } from "./tasks.ts";
import type { SparseOptions } from "./types.ts";

/** A system ready to be solved, and what is needed to give it new values. */
export interface Plan {
  readonly system: SparseTriangle;
  readonly reason: string;
  readonly levels: number;
  readonly bytes: number;
  /** The pattern that it was made from, without its values. */
  readonly triangle: Stored;
  readonly across: boolean;
  /** Its memory. `values` are those that were taken while the ones among the entries were in use. */
  readonly memory: { readonly entries: Reserved; readonly tasks?: Reserved | undefined; readonly values?: Reserved };
  readonly reserve: (bytes: number) => Reserved;
}

/** The whole set-up phase, on the calling thread: it takes as long as a few solves. */
export function analyse(kernels: Pick<Kernels, "workers" | "reserve">, triangle: Stored, exact: boolean, options: SparseOptions): Plan {
  const { A, n, upper, unit } = triangle;
  const { workers } = kernels;
  // Columns that only signal while the owner of a row gathers it: in exact mode lines are always rows.
  const columns = !exact && workers > 0 && (options.schedule === "levc" || options.schedule === "slfc");
  const across = columns === triangle.byRows;
  let lev: Int32Array | undefined;
  let levels = 0;
  const findLevels = (): number => {
    lev = newIntegers("sptrsv", n);
    levels = levelsOf(triangle, lev);
    return levels;
  };
  const { schedule, reason } = choose(options, workers, n, findLevels);
  const byLevels = schedule !== "serial" && schedule !== "gsf";
  if (byLevels && !lev) findLevels();
  if (!byLevels) levels = 0;
  const ilev = byLevels ? placesOf(lev as Int32Array, levels) : undefined;
  const place = byLevels ? lev : undefined;
  const counts = place || across ? count(triangle, across) : undefined;

  // Where nothing was counted there is room for all of A. What is not touched is not there either.
  const entries = counts?.entries ?? A.values.length;
  const width = A.values.BYTES_PER_ELEMENT;
  const reserve = (bytes: number): Reserved => kernels.reserve("sptrsv", bytes);
  const sizes = [4 * (n + 1), unit ? 0 : width * n, place ? 4 * n : 0, workers > 0 ? 0 : width * n, 4 * entries, width * entries];
  const block = new Block(reserve, sizes);
  try {
    const pointers = block.integers(n + 1);
    const diagonal = unit ? undefined : block.reals(A.values, n);
    const order = place && block.integers(n);
    const work = block.reals(A.values, workers > 0 ? 0 : n);
    const indices = block.integers(entries);
    const values = block.reals(A.values, entries);
    if (place && order) for (let i = 0; i < n; i++) order[place[i] as number] = i;
    if (counts) startLines(pointers, counts.ofLine, place, upper);
    const runs = schedule === "gsf" ? new Runs(n, upper) : undefined;
    const complete = takeEntries(triangle, across, place, { pointers, indices, values, diagonal }, runs);
    if (!complete) checkDiagonal("sptrsv", triangle);
    const system = { n, upper, exact, schedule, pointers, indices, values, diagonal, order, work };
    const { tasks, extra } = tasksFor(system, runs, ilev, workers, columns, reserve);
    return {
      system: { ...system, tasks },
      reason,
      levels,
      bytes: block.bytes + (extra?.bytes ?? 0),
      triangle: { ...triangle, A: { ...A, values: A.values.slice(0, 0) } },
      across,
      memory: { entries: block.reserved, tasks: extra?.reserved },
      reserve,
    };
  } catch (error) {
    block.reserved.free();
    throw error;
  }
}

/**
 * The plan with new values from those of the matrix: in place, or if the old ones are in use in memory of their own, and then
 * perhaps with the memory of the old ones, which can go when they are not.
 */
export function withValues(plan: Plan, from: Real, inUse: boolean): { plan: Plan; replaced?: Reserved | undefined } {
  const { system, across } = plan;
  const { n, order } = system;
  const triangle = { ...plan.triangle, A: { ...plan.triangle.A, values: from } };
  if (!triangle.unit) checkDiagonal("TriangularPlan.update", triangle);
  const place = order && newIntegers("TriangularPlan.update", n);
  if (place) for (let k = 0; k < n; k++) place[order[k] as number] = k;
  if (!inUse) {
    takeEntries(triangle, across, place, system);
    return { plan };
  }
  const width = from.BYTES_PER_ELEMENT;
  const block = new Block(plan.reserve, [width * system.values.length, width * (system.diagonal?.length ?? 0)]);
  const values = block.reals(from, system.values.length);
  const diagonal = system.diagonal && block.reals(from, n);
  // The pattern is written once more as it is.
  takeEntries(triangle, across, place, { ...system, values, diagonal });
  return {
    plan: { ...plan, system: { ...system, values, diagonal }, memory: { ...plan.memory, values: block.reserved } },
    replaced: plan.memory.values,
  };
}

// Returns whether the diagonal has no gap and no zero.
function takeEntries(triangle: Stored, across: boolean, place: Int32Array | undefined, to: Lines, runs?: Runs): boolean {
  if (!place && !across) return copyRows(triangle, to, runs);
  const complete = fill(triangle, across, place, to);
  const { pointers, indices } = to;
  if (runs) for (let k = 0; k < triangle.n; k++) runs.add(k, indices, pointers[k] as number, pointers[k + 1] as number);
  return complete;
}

// Where line k of the order of substitution begins.
function startLines(pointers: Int32Array, lengths: Int32Array, place: Int32Array | undefined, upper: boolean): void {
  const n = lengths.length;
  pointers[0] = 0;
  if (place) for (let i = 0; i < n; i++) pointers[(place[i] as number) + 1] = lengths[i] as number;
  else for (let i = 0; i < n; i++) pointers[(upper ? n - 1 - i : i) + 1] = lengths[i] as number;
  for (let k = 0; k < n; k++) pointers[k + 1] = (pointers[k + 1] as number) + (pointers[k] as number);
}

// Lines in a task: so many that handing one out costs little (some 30 ns, and as much for each task that waits for it), yet
// few enough that every level keeps all workers busy.
const MOST_LINES = 256;
const LEAST_LINES = 8;

function tasksFor(
  { n, schedule, pointers, indices }: Omit<SparseTriangle, "tasks">,
  runs: Runs | undefined,
  ilev: Int32Array | undefined,
  workers: number,
  columns: boolean,
  reserve: (bytes: number) => Reserved,
): { tasks: Tasks; extra?: Block } {
  if (runs) {
    const { block, arrays } = placed(reserve, [runs.starts(), runs.lookup()]);
    const [starts, targets] = arrays as [Int32Array, Int32Array];
    return { tasks: { count: starts.length - 1, starts, targets }, extra: block };
  }
  if (!ilev) return { tasks: { count: 1 } };
  const levels = ilev.length - 1;
  if (schedule === "levr" || schedule === "levc") {
    const { block, arrays } = placed(reserve, [phasesOf(ilev, workers)]);
    const [starts] = arrays as [Int32Array];
    return { tasks: { count: starts.length - 1, starts }, extra: block };
  }
  const share = Math.max(LEAST_LINES, Math.min(MOST_LINES, n / Math.max(levels, 1) / (2 * workers)));
  const shift = Math.floor(Math.log2(share));
  const found = dependencies(pointers, indices, shift, columns);
  const { block, arrays } = placed(reserve, [found.counts, found.targets, found.list]);
  const [counts, targets, list] = arrays as [Int32Array, Int32Array, Int32Array];
  return { tasks: { count: counts.length, size: 2 ** shift, counts, targets, list }, extra: block };
}

// Copies of arrays in reserved memory.
function placed(reserve: (bytes: number) => Reserved, arrays: readonly Int32Array[]): { block: Block; arrays: Int32Array[] } {
  const block = new Block(
    reserve,
    arrays.map((array) => array.byteLength),
  );
  return {
    block,
    arrays: arrays.map((array) => {
      const copy = block.integers(array.length);
      copy.set(array);
      return copy;
    }),
  };
}

const ALIGNMENT = 64;
const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

// Reserved memory, cut into arrays one after another.
class Block {
  readonly reserved: Reserved;
  readonly bytes: number;
  private next: number;

  constructor(reserve: (bytes: number) => Reserved, sizes: readonly number[]) {
    this.bytes = sizes.reduce((sum, size) => sum + aligned(size), 0);
    this.reserved = reserve(this.bytes);
    this.next = this.reserved.offset;
  }

  integers(length: number): Int32Array {
    return new Int32Array(this.reserved.buffer, this.cut(4 * length), length);
  }

  reals(like: Real, length: number): Real {
    const at = this.cut(like.BYTES_PER_ELEMENT * length);
    return like.BYTES_PER_ELEMENT === 8
      ? new Float64Array(this.reserved.buffer, at, length)
      : new Float32Array(this.reserved.buffer, at, length);
  }

  private cut(bytes: number): number {
    const at = this.next;
    this.next += aligned(bytes);
    return at;
  }
}
