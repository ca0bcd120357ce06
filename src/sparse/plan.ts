import { newIntegers } from "../dense/vectors.ts";
import type { Kernels, Reserved, SparseTriangle, Tasks } from "../engines/kernels.ts";
import type { Real } from "../types.ts";
import { comesBefore, count, levelsOf, placesOf, type Stored } from "./analysis.ts";
import { choose } from "./choice.ts";
import { dependencies, phasesOf } from "./tasks.ts";
import type { SparseOptions } from "./types.ts";

/** A system ready to be solved, and what is needed to give it new values. */
export interface Plan {
  readonly system: SparseTriangle;
  readonly reason: string;
  readonly levels: number;
  readonly bytes: number;
  /** Where in A.values each value is, and each unknown's diagonal. */
  readonly source: Int32Array;
  readonly diagonal: Int32Array | undefined;
  /** Its memory. `values` are those that were taken while the ones among the entries were in use. */
  readonly memory: { readonly entries: Reserved; readonly tasks?: Reserved | undefined; readonly values?: Reserved };
  readonly reserve: (bytes: number) => Reserved;
}

/** The whole set-up phase, on the calling thread: it takes as long as a few solves. */
export function analyse(kernels: Pick<Kernels, "workers" | "reserve">, triangle: Stored, exact: boolean, options: SparseOptions): Plan {
  const { A, n, upper } = triangle;
  const { workers } = kernels;
  // Columns that only signal while the owner of a row gathers it: in exact mode lines are always rows.
  const columns = !exact && workers > 0 && (options.schedule === "levc" || options.schedule === "slfc");
  const across = columns === triangle.byRows;
  const counts = count(triangle, across);
  let lev: Int32Array | undefined;
  let levels = 0;
  const findLevels = (): number => {
    lev = newIntegers("sptrsv", n);
    levels = levelsOf(triangle, lev);
    return levels;
  };
  const { schedule, reason } = choose(options, { workers, n, entries: counts.entries }, findLevels);
  const byLevels = schedule !== "serial" && schedule !== "gsf";
  if (byLevels && !lev) findLevels();
  const order = byLevels ? placesOf(lev as Int32Array, levels) : undefined;
  if (!byLevels) levels = 0;

  const reserve = (bytes: number): Reserved => kernels.reserve("sptrsv", bytes);
  const width = A.values.BYTES_PER_ELEMENT;
  const diagonals = counts.diagonal ? n : 0;
  const block = new Block(reserve, [
    4 * (n + 1),
    4 * counts.entries,
    width * counts.entries,
    width * diagonals,
    order ? 4 * n : 0,
    width * n,
  ]);
  const pointers = block.integers(n + 1);
  const indices = block.integers(counts.entries);
  const values = block.reals(A.values, counts.entries);
  const diagonal = counts.diagonal && block.reals(A.values, n);
  const unknowns = order && block.integers(n);
  if (order && unknowns) for (let i = 0; i < n; i++) unknowns[order.place[i] as number] = i;

  const place = order?.place;
  startLines(pointers, counts.ofLine, place, upper);
  const source = newIntegers("sptrsv", counts.entries);
  fill(triangle, across, place, { pointers, indices, values }, source);
  const system: SparseTriangle = {
    n,
    upper,
    exact,
    schedule,
    pointers,
    indices,
    values,
    diagonal,
    order: unknowns,
    tasks: { size: 1 },
    work: workers > 0 ? values.subarray(0, 0) : block.reals(A.values, n),
  };
  takeDiagonal(system, counts.diagonal, A.values);
  const { tasks, extra } = tasksFor(system, order?.ilev, workers, columns, reserve);
  const bytes = block.bytes + (extra?.bytes ?? 0) + source.byteLength + (counts.diagonal?.byteLength ?? 0);
  const memory = { entries: block.reserved, tasks: extra?.reserved };
  return { system: { ...system, tasks }, reason, levels, bytes, source, diagonal: counts.diagonal, memory, reserve };
}

/**
 * The plan with new values from those of the matrix: in place, or if the old ones are in use in memory of their own, and then
 * perhaps with the memory of the old ones, which can go when they are not.
 */
export function withValues(plan: Plan, from: Real, inUse: boolean): { plan: Plan; replaced?: Reserved | undefined } {
  const { system, source, diagonal } = plan;
  if (!inUse) {
    takeValues(system, source, diagonal, from);
    return { plan };
  }
  const width = from.BYTES_PER_ELEMENT;
  const block = new Block(plan.reserve, [width * source.length, width * (diagonal?.length ?? 0)]);
  const next = { ...system, values: block.reals(from, source.length), diagonal: diagonal && block.reals(from, diagonal.length) };
  takeValues(next, source, diagonal, from);
  return { plan: { ...plan, system: next, memory: { ...plan.memory, values: block.reserved } }, replaced: plan.memory.values };
}

function takeValues(system: SparseTriangle, source: Int32Array, diagonal: Int32Array | undefined, from: Real): void {
  const { values } = system;
  for (let q = 0; q < source.length; q++) values[q] = from[source[q] as number] as number;
  takeDiagonal(system, diagonal, from);
}

function takeDiagonal(system: SparseTriangle, diagonal: Int32Array | undefined, from: Real): void {
  const { n, upper, order } = system;
  if (!system.diagonal || !diagonal) return;
  for (let k = 0; k < n; k++) {
    const i = order ? (order[k] as number) : upper ? n - 1 - k : k;
    system.diagonal[k] = from[diagonal[i] as number] as number;
  }
}

// Where line k of the order of substitution begins.
function startLines(pointers: Int32Array, lengths: Int32Array, place: Int32Array | undefined, upper: boolean): void {
  const n = lengths.length;
  pointers[0] = 0;
  if (place) for (let i = 0; i < n; i++) pointers[(place[i] as number) + 1] = lengths[i] as number;
  else for (let i = 0; i < n; i++) pointers[(upper ? n - 1 - i : i) + 1] = lengths[i] as number;
  for (let k = 0; k < n; k++) pointers[k + 1] = (pointers[k + 1] as number) + (pointers[k] as number);
}

// Every entry to its line. A is read in its own order: the lines of many levels are written side by side, a few streams
// each, which caches bear better than reading A in the order of levels.
function fill(
  triangle: Stored,
  across: boolean,
  place: Int32Array | undefined,
  to: Pick<SparseTriangle, "pointers" | "indices" | "values">,
  source: Int32Array,
): void {
  const { A, n, upper } = triangle;
  const { pointers, indices, values } = A;
  const before = comesBefore(triangle);
  const next = across ? to.pointers.slice(0, n) : to.pointers;
  for (let l = 0, p = 0; l < n; l++) {
    const end = pointers[l + 1] as number;
    const own = place ? (place[l] as number) : upper ? n - 1 - l : l;
    const index = place ? own : l;
    let q = across ? 0 : (next[own] as number);
    for (; p < end; p++) {
      const m = indices[p] as number;
      if (m === l || m < l !== before) continue;
      const other = place ? (place[m] as number) : m;
      if (across) {
        const line = place ? other : upper ? n - 1 - m : m;
        q = next[line] as number;
        next[line] = q + 1;
        to.indices[q] = index;
      } else {
        to.indices[q] = other;
      }
      to.values[q] = values[p] as number;
      source[q] = p;
      q++;
    }
  }
}

// Lines in a task: so many that handing one out costs little (some 30 ns, and as much for each task that waits for it), yet
// few enough that every level keeps all workers busy.
const MOST_LINES = 256;
const LEAST_LINES = 8;

function tasksFor(
  { n, schedule, pointers, indices }: SparseTriangle,
  ilev: Int32Array | undefined,
  workers: number,
  columns: boolean,
  reserve: (bytes: number) => Reserved,
): { tasks: Tasks; extra?: Block } {
  if (schedule === "serial") return { tasks: { size: n } };
  if (schedule === "gsf" || !ilev) return { tasks: { size: MOST_LINES } };
  const levels = ilev.length - 1;
  if (schedule === "levr" || schedule === "levc") {
    const { block, arrays } = placed(reserve, [phasesOf(ilev, workers)]);
    return { tasks: { size: n, phases: arrays[0] as Int32Array }, extra: block };
  }
  const share = Math.max(LEAST_LINES, Math.min(MOST_LINES, n / Math.max(levels, 1) / (2 * workers)));
  const shift = Math.floor(Math.log2(share));
  const found = dependencies(pointers, indices, shift, columns);
  const { block, arrays } = placed(reserve, [found.counts, found.targets, found.list]);
  const [counts, targets, list] = arrays as [Int32Array, Int32Array, Int32Array];
  return { tasks: { size: 2 ** shift, counts, targets, list }, extra: block };
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
