import { newIntegers } from "../dense/vectors.ts";
import type { Reserved, SparseTriangle, SystemKernels } from "../engines/kernels.ts";
import { aligned } from "../engines/wasm/space.ts";
import type { Real } from "../types.ts";
import { checkDiagonal, comesBefore, copyAsStored, copyLines, count, type Entries, fill, type Stored } from "./analysis.ts";
import { addUp, ascends } from "./formats.ts";
import { findRuns, RunFinder, type Runs } from "./tasks.ts";

// Where the entries of a plan are: in memory of the engine, with the diagonal apart.

/** The entries of a plan. */
export interface Storage extends Entries, Pick<SparseTriangle, "order" | "work"> {
  readonly block: Block;
  /** Lines of A as they are; without the other triangle; in another order; or lines across those of A. */
  readonly form: "as stored" | "lines" | "along" | "across";
}

/** Where memory comes from. */
export type Reserve = (bytes: number) => Reserved;

/** What keeps the entries of a plan. */
export interface Keeper extends Pick<SystemKernels, "bound"> {
  readonly reserve: Reserve;
  readonly giveBack: (reserved: Reserved) => void;
  /** Whether the matrix is in that memory, never changes, and stays there as long as the plan. */
  readonly isThere: boolean;
}

/**
 * The rows or columns of a triangle in the natural order, and their runs; `work` is how many numbers more there is to be room
 * for. Where they are lines of A nothing is counted beforehand and there is room for all of A: what is never touched takes no
 * memory.
 */
export function storeNatural(
  { reserve, giveBack, isThere, bound }: Keeper,
  triangle: Stored,
  columns: boolean,
  work: number,
  most: number,
): { storage: Storage; runs: Runs } {
  const { n, upper, byRows } = triangle;
  const across = columns === byRows;
  const inPlace = isThere && !across && ascends(triangle.A);
  const [storage, bounds] = across ? [storeCounted(reserve, triangle, true, undefined, work)] : cutLines(reserve, triangle, work, inPlace);
  if (bounds) {
    const finder = new RunFinder(n, most);
    const found = copyAsStored(bound, triangle, storage, bounds, finder);
    if (found >= 0) {
      const [begins, ends] = comesBefore(triangle) ? [storage.begins, bounds] : [bounds, storage.ends];
      return { storage: complete(triangle, { ...storage, form: "as stored", begins, ends }, found), runs: finder.runs() };
    }
  }
  if (inPlace) {
    giveBack(storage.block.reserved); // there are entries of the other triangle: without them it is a copy
    return storeNatural({ reserve, giveBack, isThere: false, bound }, triangle, columns, work, most);
  }
  if (!across) complete(triangle, storage, copyLines(triangle, storage));
  return { storage, runs: findRuns({ ...storage, n, upper }, columns, most) };
}

// With room for where the lines of the triangle end within those of A, if they ascend; or with all of A in place.
function cutLines(reserve: Reserve, { A, n, unit }: Stored, work: number, inPlace: boolean): [Storage, Int32Array | undefined] {
  const entries = inPlace ? 0 : A.values.length;
  const width = A.values.BYTES_PER_ELEMENT;
  const ascending = ascends(A);
  const sizes = [inPlace ? 0 : 4 * (n + 1), ascending ? 4 * n : 0, unit ? 0 : width * n, width * work, 4 * entries, width * entries];
  const block = new Block(reserve, sizes);
  const begins = inPlace ? A.pointers : block.integers(n + 1);
  const bounds = ascending ? block.integers(n) : undefined;
  const diagonal = unit ? undefined : block.reals(A.values, n);
  const shared = { block, form: "lines" as const, begins, ends: begins.subarray(1), diagonal, order: undefined };
  const numbers = block.reals(A.values, work);
  const [indices, values] = inPlace ? [A.indices, A.values] : [block.integers(entries), block.reals(A.values, entries)];
  return [{ ...shared, work: numbers, indices, values }, bounds];
}

/** The rows or columns of a triangle in an order by levels, where unknown i comes at place[i]. */
export function storeByLevels(reserve: Reserve, triangle: Stored, columns: boolean, place: Int32Array): Storage {
  return storeCounted(reserve, triangle, columns === triangle.byRows, place, 0);
}

function storeCounted(reserve: Reserve, triangle: Stored, across: boolean, place: Int32Array | undefined, work: number): Storage {
  const { A, n, unit } = triangle;
  const { entries, ofLine } = count(triangle, across);
  const width = A.values.BYTES_PER_ELEMENT;
  const sizes = [4 * (n + 1), unit ? 0 : width * n, place ? 4 * n : 0, width * work, 4 * entries, width * entries];
  const block = new Block(reserve, sizes);
  const begins = block.integers(n + 1);
  begins[0] = 0;
  for (let l = 0; l < n; l++) begins[(place ? (place[l] as number) : l) + 1] = ofLine[l] as number;
  addUp(begins);
  const diagonal = unit ? undefined : block.reals(A.values, n);
  const order = place && block.integers(n);
  if (place && order) for (let i = 0; i < n; i++) order[place[i] as number] = i;
  const shared = { block, begins, ends: begins.subarray(1), diagonal, order, work: block.reals(A.values, work) };
  const storage = { ...shared, indices: block.integers(entries), values: block.reals(A.values, entries) };
  return complete(triangle, { ...storage, form: across ? "across" : "along" }, fill(triangle, across, place, storage));
}

// Not without a whole diagonal.
function complete(triangle: Stored, storage: Storage, found: number): Storage {
  if (!triangle.unit && found < triangle.n) checkDiagonal("sptrsv", triangle);
  return storage;
}

/** New values of the same pattern; indices are written once more as they are. */
export function refill(triangle: Stored, form: Storage["form"], to: Entries & Pick<Storage, "order">): void {
  const { begins, ends, values, diagonal, order } = to;
  const { A, n } = triangle;
  const before = comesBefore(triangle);
  if (form === "as stored") {
    values.set(A.values);
    for (let l = 0; diagonal && l < n; l++) diagonal[l] = A.values[before ? (ends[l] as number) : (begins[l] as number) - 1] as number;
  } else if (form === "lines") {
    copyLines(triangle, to);
  } else {
    const place = order && newIntegers("TriangularPlan.update", n);
    if (place && order) for (let k = 0; k < n; k++) place[order[k] as number] = k;
    fill(triangle, form === "across", place, to);
  }
}

/** Reserved memory, cut into arrays one after another. */
export class Block {
  readonly reserved: Reserved;
  readonly bytes: number;
  private next: number;

  constructor(reserve: Reserve, sizes: readonly number[]) {
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
