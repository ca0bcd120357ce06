// How a plan stores the entries of its triangle in engine memory: with the diagonal apart, or within lines that are kept as A stores them.
// Called by plan.ts. As in the sparse paper, levr and slfr use rows; levc and slfc use columns, though only in plain arithmetic.
import { zeroOnDiagonal } from "../../arrays/matrix.ts";
import type { Shapes } from "../../arrays/shapes.ts";
import { prefixSums } from "../../arrays/sparse.ts";
import { checkDiagonal, diagonalPositionOf, type HostTriangle, type InPlace, linesEndAtDiagonal } from "../../arrays/triangle.ts";
import type { Triangular } from "../../arrays/triangular.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import { aligned, newIntegers, part } from "../../arrays/vectors.ts";
import type { SparseTriangle, SystemKernels } from "../../engines/kernels.ts";
import type { Allocation } from "../../engines/memory.ts";
import { copyLines, count, fill, type TriangleEntries } from "./analysis.ts";
import { type Blocks, blocksFromBits, findBlocks } from "./tasks.ts";

/** The entries of a plan. */
export interface Storage extends TriangleEntries, Pick<SparseTriangle, "ends" | "diagonalAt" | "shapes" | "order" | "work"> {
  readonly memory: ReservedArrays;
  /** The lines of A as they are, in place or copied; without the other triangle; in another order; or those of the transpose. */
  readonly form: "as stored" | "one triangle" | "reordered" | "transposed";
}

/** Allocates memory of the engine. */
export type Reserve = (bytes: number) => Allocation<Uint8Array>;

/** Where the entries of a plan are stored. */
export interface StorageMemory {
  readonly reserve: Reserve;
  /** Whether A already is in that memory, never changes, and stays there as long as the plan. */
  readonly isResident: boolean;
}

/** How lines in natural order are stored and divided into blocks. */
export interface NaturalOrderOptions {
  /** Columns rather than rows. */
  readonly columns: boolean;
  /** Additional numbers to reserve, for SparseTriangle.work. */
  readonly work: number;
  /** The largest number of rows in a block. */
  readonly maxRows: number;
  /** Store shapes instead of indices if they are known. */
  readonly byShapes: boolean;
}

/**
 * Stores the rows or columns of a triangle in natural order, and finds their blocks. If A is stored by the wanted rows or columns and has
 * no entries in the other triangle, its pattern is used or copied unchanged; loadValues() then copies the values.
 */
export function storeNatural(
  where: StorageMemory,
  triangle: HostTriangle,
  options: NaturalOrderOptions,
): { storage: Storage; blocks: Blocks } {
  const { n, upper, byRows, unit, info } = triangle;
  const { columns, maxRows, work, byShapes } = options;
  const { triangular } = info;
  const transpose = columns === byRows;
  if (!transpose && triangular && isWhole(triangle, triangular) && (unit || triangular.diagonal)) {
    const blocks = blocksFromBits(triangular.lacksNeighbour, n, upper, columns, maxRows);
    return { storage: storeAsStored(where, triangle, work, byShapes ? triangular.shapes : undefined), blocks };
  }
  if (!transpose && triangle.inPlace && (unit || !linesEndAtDiagonal(triangle))) {
    const storage = storeInPlace(where.reserve, triangle, triangle.inPlace);
    return { storage, blocks: findBlocks({ ...storage, n, upper }, columns, maxRows) };
  }
  const storage = transpose ? storeCounted(where.reserve, triangle, true, undefined, work) : storeLines(where.reserve, triangle, work);
  return { storage, blocks: findBlocks({ ...storage, n, upper }, columns, maxRows) };
}

// Whether A has no entries in the other triangle.
function isWhole(triangle: HostTriangle, { endsAtDiagonal, startsAtDiagonal }: Triangular): boolean {
  return linesEndAtDiagonal(triangle) ? endsAtDiagonal : startsAtDiagonal;
}

// A triangle between the entries of the other one: the lines up to the diagonal, if that is not needed, or from the diagonal on.
function storeInPlace(reserve: Reserve, triangle: HostTriangle, { diagonal, work }: InPlace): Storage {
  const { A, unit } = triangle;
  const { pointers, indices, values } = A;
  const before = linesEndAtDiagonal(triangle);
  return {
    begins: before ? pointers : diagonal,
    ends: before ? diagonal : pointers.subarray(1),
    indices,
    values,
    diagonal: unit ? undefined : values,
    memory: new ReservedArrays(reserve, []),
    form: "as stored",
    diagonalAt: before ? undefined : "first",
    shapes: undefined,
    order: undefined,
    work,
  };
}

function storeAsStored(
  { reserve, isResident }: StorageMemory,
  { A, unit, info }: HostTriangle,
  work: number,
  shapes: Shapes | undefined,
): Storage {
  const bytes = A.values.BYTES_PER_ELEMENT * work;
  const { memory, pointers, indices, values, ...more } = isResident
    ? { ...A, memory: new ReservedArrays(reserve, [bytes]), shapes: undefined }
    : copyPattern(reserve, A, bytes, shapes);
  const lines = { begins: pointers, ends: pointers.subarray(1), indices, values, diagonal: unit ? undefined : values };
  const numbers = memory.reals(A.values, work);
  return {
    ...lines,
    memory,
    form: "as stored",
    diagonalAt: diagonalPositionOf(info),
    shapes: more.shapes,
    order: undefined,
    work: numbers,
  };
}

// Leaves room for the values and for `extraBytes`. With shapes, 240 MB are copied instead of 356 for a 128^3 grid with 27 points, in
// 22 ms instead of 30; solves with gsf on two threads take the same time.
function copyPattern(reserve: Reserve, { pointers, indices, values }: Sparse<Real>, extraBytes: number, shapes: Shapes | undefined) {
  const { ofLine, starts, offsets } = shapes ?? { ofLine: new Uint8Array(), starts: new Int32Array(), offsets: indices };
  const arrays = [pointers, offsets, values, ofLine, starts];
  const memory = new ReservedArrays(reserve, [extraBytes, ...arrays.map(({ byteLength }) => byteLength)]);
  const copy = { pointers: memory.integers(pointers.length), indices: memory.integers(offsets.length) };
  copy.pointers.set(pointers);
  copy.indices.set(offsets);
  const ownShapes = shapes && { ofLine: memory.bytes(ofLine.length), starts: memory.integers(starts.length) };
  ownShapes?.ofLine.set(ofLine);
  ownShapes?.starts.set(starts);
  return { ...copy, memory, values: memory.reals(values, values.length), shapes: ownShapes };
}

// Values that are copied and then checked while they are still in a cache: 128 KiB. (128^3 grid with 27 points: 20.7 ms, 22 with
// half as many, 25 with twice as many; the copy alone takes 17.)
const PIECE = 16384;

/** Copies the values of lines that are stored as they are. Throws a SingularError for the first zero on the diagonal. */
export function loadValues(
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

// The lines of A without its other triangle. Entries are not counted first: memory is reserved for all of A, and pages that are never
// touched cost nothing.
function storeLines(reserve: Reserve, triangle: HostTriangle, work: number): Storage {
  const { A, n, unit } = triangle;
  const width = A.values.BYTES_PER_ELEMENT;
  const entries = A.values.length;
  const memory = new ReservedArrays(reserve, [4 * (n + 1), unit ? 0 : width * n, width * work, 4 * entries, width * entries]);
  const begins = memory.integers(n + 1);
  const diagonal = unit ? undefined : memory.reals(A.values, n);
  const shared = {
    memory,
    begins,
    ends: begins.subarray(1),
    diagonal,
    diagonalAt: undefined,
    order: undefined,
    work: memory.reals(A.values, work),
  };
  const storage = { ...shared, indices: memory.integers(entries), values: memory.reals(A.values, entries) };
  return complete(triangle, { ...storage, form: "one triangle" }, copyLines(triangle, storage));
}

/** The rows or columns of a triangle in an order by levels, where unknown i comes at position[i]. */
export function storeByLevels(reserve: Reserve, triangle: HostTriangle, columns: boolean, position: Int32Array): Storage {
  return storeCounted(reserve, triangle, columns === triangle.byRows, position, 0);
}

function storeCounted(
  reserve: Reserve,
  triangle: HostTriangle,
  transpose: boolean,
  position: Int32Array | undefined,
  work: number,
): Storage {
  const { A, n, unit } = triangle;
  const { entries, perLine } = count(triangle, transpose);
  const width = A.values.BYTES_PER_ELEMENT;
  const sizes = [4 * (n + 1), unit ? 0 : width * n, position ? 4 * n : 0, width * work, 4 * entries, width * entries];
  const memory = new ReservedArrays(reserve, sizes);
  const begins = memory.integers(n + 1);
  begins[0] = 0;
  for (let l = 0; l < n; l++) begins[(position ? (position[l] as number) : l) + 1] = perLine[l] as number;
  prefixSums(begins);
  const diagonal = unit ? undefined : memory.reals(A.values, n);
  const order = position && memory.integers(n);
  if (position && order) for (let i = 0; i < n; i++) order[position[i] as number] = i;
  const shared = { memory, begins, ends: begins.subarray(1), diagonal, diagonalAt: undefined, order, work: memory.reals(A.values, work) };
  const storage = { ...shared, indices: memory.integers(entries), values: memory.reals(A.values, entries) };
  const form = transpose ? "transposed" : "reordered";
  return complete(triangle, { ...storage, form }, fill(triangle, transpose, position, storage));
}

// Throws if a diagonal entry is missing or zero.
function complete(triangle: HostTriangle, storage: Storage, found: number): Storage {
  if (!triangle.unit && found < triangle.n) checkDiagonal("sptrsv", triangle);
  return storage;
}

/** Stores new values of the same pattern. Indices that differ from those of A are written again, unchanged. */
export function refill(triangle: HostTriangle, form: Storage["form"], to: TriangleEntries & Pick<Storage, "order">): void {
  const { values, order } = to;
  const { A, n } = triangle;
  if (form === "as stored") {
    values.set(A.values);
  } else if (form === "one triangle") {
    copyLines(triangle, to);
  } else {
    const position = order && newIntegers("TriangularPlan.update", n);
    if (position && order) for (let k = 0; k < n; k++) position[order[k] as number] = k;
    fill(triangle, form === "transposed", position, to);
  }
}

/** One allocation, divided into arrays one after another. */
export class ReservedArrays {
  readonly allocation: Allocation<Uint8Array>;
  readonly byteLength: number;
  private next: number;

  constructor(reserve: Reserve, sizes: readonly number[]) {
    this.byteLength = sizes.reduce((sum, size) => sum + aligned(size), 0);
    this.allocation = reserve(this.byteLength);
    this.next = this.allocation.value.byteOffset;
  }

  integers(length: number): Int32Array {
    return new Int32Array(this.allocation.value.buffer, this.take(4 * length), length);
  }

  bytes(length: number): Uint8Array {
    return new Uint8Array(this.allocation.value.buffer, this.take(length), length);
  }

  reals(like: Real, length: number): Real {
    const at = this.take(like.BYTES_PER_ELEMENT * length);
    return like.BYTES_PER_ELEMENT === 8
      ? new Float64Array(this.allocation.value.buffer, at, length)
      : new Float32Array(this.allocation.value.buffer, at, length);
  }

  private take(bytes: number): number {
    const at = this.next;
    this.next += aligned(bytes);
    return at;
  }
}
