// Dense matrices: the views of callers (matrix()), the strided matrices of kernels, and the checks of both. Routines, engines and files use
// them.

import { checkCount, checkOptions, checkSameFormat, checkVector, checkWord, describe, fieldOf } from "./checks.ts";
import { ShapeError, SingularError } from "./errors.ts";
import { isOnHost, type MatrixOperand, type Operand } from "./operands.ts";
import type { Format, Matrix, Real } from "./types.ts";
import { copyPart, newVector } from "./vectors.ts";

/**
 * A matrix as kernels see it: entry (i, j) is data[offset + i * rowStride + j * colStride]. One of the strides is 1, or does not matter
 * because there is only one row or column. Transposing exchanges the strides.
 */
export interface StridedMatrix<V extends Operand = Real> {
  readonly data: V;
  readonly offset: number;
  readonly rows: number;
  readonly cols: number;
  readonly rowStride: number;
  readonly colStride: number;
}

/** A strided matrix on the host or on an engine. */
export type StridedOperand = StridedMatrix<Operand>;

/**
 * A strided matrix as contiguous lines: its rows if they are contiguous in memory, else its columns. Line l consists of the elements
 * offset + l * stride to offset + l * stride + length - 1 of the array.
 */
export interface ContiguousLines {
  /** Whether the lines are rows. */
  readonly byRows: boolean;
  /** The number of lines. */
  readonly lines: number;
  readonly length: number;
  readonly stride: number;
}

/** The contiguous lines of a matrix. A single column counts as rows of length 1. */
export function contiguousLines(A: StridedOperand): ContiguousLines {
  const byRows = A.colStride === 1 || A.cols <= 1;
  return byRows
    ? { byRows, lines: A.rows, length: A.cols, stride: A.rowStride }
    : { byRows, lines: A.cols, length: A.rows, stride: A.colStride };
}

/** A matrix with the shape of A in `data`, whose contiguous lines follow one another without gaps. */
export function compactLike<V extends Operand>(A: StridedOperand, data: V): StridedMatrix<V> {
  const { byRows, length } = contiguousLines(A);
  const [rowStride, colStride] = byRows ? [length, 1] : [1, length];
  return { data, offset: 0, rows: A.rows, cols: A.cols, rowStride, colStride };
}

/** Where the entries of a matrix are in its array. Default: row by row, without gaps, from the start. */
export interface ViewOptions {
  order?: "row" | "column" | undefined;
  /** The distance between two rows (order "row") or columns (order "column"). */
  ld?: number | undefined;
  /** The index of entry (0, 0). */
  offset?: number | undefined;
}

/**
 * A rows by cols matrix as a view of your array, which is not copied.
 * @example
 * const data = Float64Array.of(1, 2, 3, 4, 5, 6);
 * toRows(matrix(data, 2, 3)); // [ [ 1, 2, 3 ], [ 4, 5, 6 ] ]
 * toRows(matrix(data, 2, 3, { order: "column" })); // [ [ 1, 3, 5 ], [ 2, 4, 6 ] ]
 * toRows(matrix(data, 2, 2, { ld: 3, offset: 1 })); // [ [ 2, 3 ], [ 5, 6 ] ]
 */
export function matrix(data: Float64Array, rows: number, cols: number, options?: ViewOptions): Matrix<Float64Array>;
export function matrix(data: Float32Array, rows: number, cols: number, options?: ViewOptions): Matrix<Float32Array>;
export function matrix<V extends Real>(data: V, rows: number, cols: number, options?: ViewOptions): Matrix<V>;
export function matrix(data: Real, rows: number, cols: number, options: ViewOptions = {}): Matrix<Real> {
  checkOptions("matrix", options, ["order", "ld", "offset"]);
  const { order = "row", ld = order === "row" ? cols : rows, offset = 0 } = options;
  const view = { data, rows, cols, order, ld, offset };
  checkMatrix("matrix", "", view);
  return view;
}

const ORDERS = ["row", "column"] as const;

/** The format of a matrix; throws unless all its entries are in its array. `name` is the name of the argument. */
export function checkMatrix(routine: string, name: string, A: MatrixOperand): Format {
  if (typeof A !== "object" || A === null || ArrayBuffer.isView(A) || Array.isArray(A))
    throw new ShapeError(`${routine}: ${name} is ${describe(A)}, expected a matrix (see matrix())`);
  const format = checkVector(routine, "data", A.data, "", name);
  checkCount(routine, "rows", A.rows, 0, name);
  checkCount(routine, "cols", A.cols, 0, name);
  checkWord(routine, "order", A.order, ORDERS, name);
  checkCount(routine, "offset", A.offset, 0, name);
  const byRows = A.order === "row";
  const lines = byRows ? A.rows : A.cols;
  const length = byRows ? A.cols : A.rows;
  checkCount(routine, "ld", A.ld, 0, name);
  if (A.ld < length && lines > 1)
    throw new ShapeError(
      `${routine}: ${fieldOf(name, "ld")} is ${A.ld}, expected at least ${length} (${fieldOf(name, byRows ? "cols" : "rows")})`,
    );
  const end = A.offset + (A.rows === 0 || A.cols === 0 ? 0 : (lines - 1) * A.ld + length);
  if (end > A.data.length)
    throw new ShapeError(
      `${routine}: ${fieldOf(name, "data")} has length ${A.data.length}, expected at least ${end} (for ${A.rows} by ${A.cols}, ld ${A.ld}, offset ${A.offset})`,
    );
  return format;
}

/** A matrix with the format of another argument, `like`. */
export function checkMatrixOf(routine: string, name: string, A: MatrixOperand, format: Format, like: string): void {
  checkSameFormat(routine, name, checkMatrix(routine, name, A), format, like);
}

/** Throws if a matrix that will be written shares an entry with one that is read. */
export function checkSeparate(routine: string, output: string, to: StridedOperand, input: string, from: StridedOperand): void {
  if (sharesEntries(to, from)) throw new ShapeError(`${routine}: ${output} shares entries with ${input}, expected none in common`);
}

/**
 * Whether two matrices have an entry in common. The contiguous lines of a matrix follow one another in memory, so a line of A can overlap
 * only the last line of B that begins before its end: one comparison per line of the matrix with fewer lines.
 */
export function sharesEntries(A: StridedOperand, B: StridedOperand): boolean {
  if (memoryOf(A.data) !== memoryOf(B.data) || A.rows === 0 || A.cols === 0 || B.rows === 0 || B.cols === 0) return false;
  let [a, b] = [extentOf(A), extentOf(B)];
  if (a.lines > b.lines) [a, b] = [b, a];
  if (a.start >= b.end || b.start >= a.end) return false;
  for (let i = 0; i < a.lines; i++) {
    const start = a.start + i * a.stride;
    const last = Math.min(b.lines - 1, Math.floor((start + a.length - 1 - b.start) / b.stride));
    if (last >= 0 && b.start + last * b.stride + b.length > start) return true;
  }
  return false;
}

const memoryOf = (x: Operand): object => (isOnHost(x) ? x.buffer : x);

// The lines of a matrix, where the first begins and where the last ends, in elements from the start of the buffer. Typed arrays are
// aligned, so elements of two arrays of one precision never overlap partially. The stride of a single line may be anything: the length
// replaces it.
function extentOf(A: StridedOperand): Omit<ContiguousLines, "byRows"> & { readonly start: number; readonly end: number } {
  const { lines, length, stride } = contiguousLines(A);
  const start = (isOnHost(A.data) ? A.data.byteOffset / A.data.BYTES_PER_ELEMENT : 0) + A.offset;
  return { lines, length, stride: lines === 1 ? length : stride, start, end: start + (lines - 1) * stride + length };
}

/** The error for a zero on the diagonal. */
export function zeroOnDiagonal(routine: string, name: string, i: number): SingularError {
  return new SingularError(`${routine}: entry (${i}, ${i}) of ${name} is 0, expected a diagonal without zeros`, i);
}

/** An array as a matrix stored row by row without gaps. */
export function rowMajor<V extends Operand>(data: V, rows: number, cols: number): StridedMatrix<V> {
  return { data, offset: 0, rows, cols, rowStride: cols, colStride: 1 };
}

/** A copy of a matrix, row by row without gaps. */
export function rowMajorCopy<V extends Real>(routine: string, { data, offset, rows, cols, rowStride, colStride }: StridedMatrix<V>): V {
  const copy = newVector(routine, data, rows * cols);
  if (colStride === 1 && rowStride === cols) copyPart(data, offset, copy.length, copy, 0);
  const count = copy.length === 0 || (colStride === 1 && rowStride === cols) ? 0 : rows; // without columns there may be any number of rows
  for (let i = 0; i < count; i++) {
    const start = offset + i * rowStride;
    if (colStride === 1) copyPart(data, start, cols, copy, i * cols);
    else for (let j = 0; j < cols; j++) copy[i * cols + j] = data[start + j * colStride] as number;
  }
  return copy;
}

/** A vector as a matrix of one row. */
export function asRow<V extends Operand>(x: V): StridedMatrix<V> {
  return { data: x, offset: 0, rows: 1, cols: x.length, rowStride: x.length, colStride: 1 };
}

/** The transpose of a strided matrix, in the same memory. */
export function transposeOf<M extends Omit<StridedMatrix, "data">>(A: M): M {
  return { ...A, rows: A.cols, cols: A.rows, rowStride: A.colStride, colStride: A.rowStride };
}

/** A matrix, transposed or not, as kernels see it. */
export function stridedView(A: Matrix<Real>, trans?: boolean): StridedMatrix;
export function stridedView<V extends Operand>(A: MatrixOperand<V>, trans?: boolean): StridedMatrix<V>;
export function stridedView(A: MatrixOperand, trans = false): StridedOperand {
  const { data, offset, rows, cols, order, ld } = A;
  const rowStride = order === "row" ? ld : 1;
  const view = { data, offset, rows, cols, rowStride, colStride: order === "row" ? 1 : ld };
  return trans ? transposeOf(view) : view;
}
