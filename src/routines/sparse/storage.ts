import { zeroOnDiagonal } from "../../arrays/matrix.ts";
import type { Shapes } from "../../arrays/shapes.ts";
import { addUp } from "../../arrays/sparse.ts";
import { checkDiagonal, comesBefore, diagonalPositionOf, type HostTriangle } from "../../arrays/triangle.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import { aligned, newIntegers, part } from "../../arrays/vectors.ts";
import type { SparseTriangle, SystemKernels } from "../../engines/kernels.ts";
import type { Allocation } from "../../engines/memory.ts";
import { copyLines, count, fill, type TriangleEntries } from "./analysis.ts";
import { findRuns, type Runs, runsBetween } from "./tasks.ts";

// Where the entries of a plan are: in memory of the engine, with the diagonal apart or, of lines as they are stored, in line.

/** The entries of a plan. */
export interface Storage extends TriangleEntries, Pick<SparseTriangle, "diagonalAt" | "shapes" | "order" | "work"> {
  readonly block: Block;
  /** Lines of A as they are; without the other triangle; in another order; or lines across those of A. */
  readonly form: "as stored" | "lines" | "along" | "across";
}

/** Where memory comes from. */
export type Reserve = (bytes: number) => Allocation<Uint8Array>;

/** What keeps the entries of a plan. */
export interface Keeper {
  readonly reserve: Reserve;
  /** Whether the matrix is in that memory, never changes, and stays there as long as the plan. */
  readonly isThere: boolean;
}

/** How lines in the natural order are to be kept. */
export interface Natural {
  readonly columns: boolean;
  /** How many numbers more there is to be room for. */
  readonly work: number;
  /** Lines in a run. */
  readonly most: number;
  /** Without their indices, where their shapes are known. */
  readonly byShapes: boolean;
}

/**
 * The rows or columns of a triangle in the natural order, and their runs. Lines that are those of A, which has nothing else, are kept as
 * they are, and only takeValues() brings their values.
 */
export function storeNatural(keeper: Keeper, triangle: HostTriangle, how: Natural): { storage: Storage; runs: Runs } {
  const { n, upper, byRows, unit, info } = triangle;
  const { columns, most, work } = how;
  const { triangular } = info;
  const across = columns === byRows;
  if (!across && triangular && (comesBefore(triangle) ? triangular.before : triangular.after) && (unit || triangular.diagonal)) {
    const runs = runsBetween(triangular.gaps, n, upper, columns, most);
    return { storage: storeAsStored(keeper, triangle, work, how.byShapes ? triangular.shapes : undefined), runs };
  }
  const storage = across ? storeCounted(keeper.reserve, triangle, true, undefined, work) : storeLines(keeper.reserve, triangle, work);
  return { storage, runs: findRuns({ ...storage, n, upper }, columns, most) };
}

function storeAsStored({ reserve, isThere }: Keeper, { A, unit, info }: HostTriangle, work: number, shapes: Shapes | undefined): Storage {
  const bytes = A.values.BYTES_PER_ELEMENT * work;
  const { block, pointers, indices, values, ...more } = isThere
    ? { ...A, block: new Block(reserve, [bytes]), shapes: undefined }
    : copyOfPattern(reserve, A, bytes, shapes);
  const lines = { begins: pointers, indices, values, diagonal: unit ? undefined : values };
  const numbers = block.reals(A.values, work);
  return { ...lines, block, form: "as stored", diagonalAt: diagonalPositionOf(info), shapes: more.shapes, order: undefined, work: numbers };
}

// With room for the values, and for so many bytes more. By shapes 240 MB are copied in place of 356 for a 128^3 grid with 27 points, in
// 22 ms in place of 30; solves of gsf on two threads take as long.
function copyOfPattern(reserve: Reserve, { pointers, indices, values }: Sparse<Real>, more: number, shapes: Shapes | undefined) {
  const { ofLine, starts, offsets } = shapes ?? { ofLine: new Uint8Array(), starts: new Int32Array(), offsets: indices };
  const arrays = [pointers, offsets, values, ofLine, starts];
  const block = new Block(reserve, [more, ...arrays.map(({ byteLength }) => byteLength)]);
  const copy = { pointers: block.integers(pointers.length), indices: block.integers(offsets.length) };
  copy.pointers.set(pointers);
  copy.indices.set(offsets);
  const own = shapes && { ofLine: block.octets(ofLine.length), starts: block.integers(starts.length) };
  own?.ofLine.set(ofLine);
  own?.starts.set(starts);
  return { ...copy, block, values: block.reals(values, values.length), shapes: own };
}

// Values that are copied and looked at together, so that they are still in a cache: 128 KiB. (128^3 grid with 27 points: 20.7 ms, 22 with
// half as many, 25 with twice as many; the copy alone 17.)
const PIECE = 16384;

/** The values of lines that are kept as they are stored. Throws a SingularError for the first zero on the diagonal. */
export function takeValues(
  kernels: Pick<SystemKernels, "firstZero">,
  { A, n }: HostTriangle,
  { begins: pointers, values, diagonal, diagonalAt }: Pick<SparseTriangle, "begins" | "values" | "diagonal" | "diagonalAt">,
): void {
  const from = A.values;
  const size = Math.ceil(PIECE / Math.max(1, from.length / n));
  for (let l = 0; l < n; l += size) {
    const end = Math.min(l + size, n);
    const start = pointers[l] as number;
    if (values !== from) values.set(part(from, start, (pointers[end] as number) - start), start);
    const zero = diagonal && diagonalAt ? kernels.firstZero({ pointers, values, diagonalAt }, l, end) : end;
    if (zero < end) throw zeroOnDiagonal("sptrsv", "A", zero);
  }
}

// Lines of A without its other triangle: nothing is counted beforehand and there is room for all of A. What is never touched takes
// no memory.
function storeLines(reserve: Reserve, triangle: HostTriangle, work: number): Storage {
  const { A, n, unit } = triangle;
  const width = A.values.BYTES_PER_ELEMENT;
  const entries = A.values.length;
  const block = new Block(reserve, [4 * (n + 1), unit ? 0 : width * n, width * work, 4 * entries, width * entries]);
  const begins = block.integers(n + 1);
  const diagonal = unit ? undefined : block.reals(A.values, n);
  const shared = {
    block,
    begins,
    diagonal,
    diagonalAt: undefined,
    order: undefined,
    work: block.reals(A.values, work),
  };
  const storage = { ...shared, indices: block.integers(entries), values: block.reals(A.values, entries) };
  return complete(triangle, { ...storage, form: "lines" }, copyLines(triangle, storage));
}

/** The rows or columns of a triangle in an order by levels, where unknown i comes at place[i]. */
export function storeByLevels(reserve: Reserve, triangle: HostTriangle, columns: boolean, place: Int32Array): Storage {
  return storeCounted(reserve, triangle, columns === triangle.byRows, place, 0);
}

function storeCounted(reserve: Reserve, triangle: HostTriangle, across: boolean, place: Int32Array | undefined, work: number): Storage {
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
  const shared = { block, begins, diagonal, diagonalAt: undefined, order, work: block.reals(A.values, work) };
  const storage = { ...shared, indices: block.integers(entries), values: block.reals(A.values, entries) };
  return complete(triangle, { ...storage, form: across ? "across" : "along" }, fill(triangle, across, place, storage));
}

// Not without a whole diagonal.
function complete(triangle: HostTriangle, storage: Storage, found: number): Storage {
  if (!triangle.unit && found < triangle.n) checkDiagonal("sptrsv", triangle);
  return storage;
}

/** New values of the same pattern; indices that are not those of A are written once more as they are. */
export function refill(triangle: HostTriangle, form: Storage["form"], to: TriangleEntries & Pick<Storage, "order">): void {
  const { values, order } = to;
  const { A, n } = triangle;
  if (form === "as stored") {
    values.set(A.values);
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
  readonly reserved: Allocation<Uint8Array>;
  readonly bytes: number;
  private next: number;

  constructor(reserve: Reserve, sizes: readonly number[]) {
    this.bytes = sizes.reduce((sum, size) => sum + aligned(size), 0);
    this.reserved = reserve(this.bytes);
    this.next = this.reserved.value.byteOffset;
  }

  integers(length: number): Int32Array {
    return new Int32Array(this.reserved.value.buffer, this.cut(4 * length), length);
  }

  octets(length: number): Uint8Array {
    return new Uint8Array(this.reserved.value.buffer, this.cut(length), length);
  }

  reals(like: Real, length: number): Real {
    const at = this.cut(like.BYTES_PER_ELEMENT * length);
    return like.BYTES_PER_ELEMENT === 8
      ? new Float64Array(this.reserved.value.buffer, at, length)
      : new Float32Array(this.reserved.value.buffer, at, length);
  }

  private cut(bytes: number): number {
    const at = this.next;
    this.next += aligned(bytes);
    return at;
  }
}
