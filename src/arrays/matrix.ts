import type { StridedMatrix } from "../engines/kernels.ts";
import { checkCount, checkOptions, checkSameFormat, checkVector, checkWord, describe } from "./checks.ts";
import { ShapeError, SingularError } from "./errors.ts";
import type { Format, Matrix, Real } from "./types.ts";

/** Where the entries of a matrix are: row by row unless said otherwise, one after another, from the start. */
export interface ViewOptions {
  order?: "row" | "column" | undefined;
  /** The distance between two rows (order "row") or columns (order "column"). */
  ld?: number | undefined;
  /** The index of entry (0, 0). */
  offset?: number | undefined;
}

/** A rows by cols matrix in an array of yours, which is not copied. */
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

/** The format of a matrix; throws unless its entries all lie in its array. `name` is what the routine calls it. */
export function checkMatrix(routine: string, name: string, A: Matrix<Real>): Format {
  const of = name === "" ? "" : `${name}.`;
  if (typeof A !== "object" || A === null || ArrayBuffer.isView(A) || Array.isArray(A))
    throw new ShapeError(`${routine}: ${name} is ${describe(A)}, expected a matrix (see matrix())`);
  const format = checkVector(routine, `${of}data`, A.data);
  checkCount(routine, `${of}rows`, A.rows, 0);
  checkCount(routine, `${of}cols`, A.cols, 0);
  checkWord(routine, `${of}order`, A.order, ["row", "column"]);
  checkCount(routine, `${of}offset`, A.offset, 0);
  const [lines, length, what] = A.order === "row" ? [A.rows, A.cols, "cols"] : [A.cols, A.rows, "rows"];
  checkCount(routine, `${of}ld`, A.ld, 0);
  if (A.ld < length && lines > 1) throw new ShapeError(`${routine}: ${of}ld is ${A.ld}, expected at least ${length} (${of}${what})`);
  const end = A.offset + (A.rows === 0 || A.cols === 0 ? 0 : (lines - 1) * A.ld + length);
  if (end > A.data.length)
    throw new ShapeError(
      `${routine}: ${of}data has length ${A.data.length}, expected at least ${end} (for ${A.rows} by ${A.cols}, ld ${A.ld}, offset ${A.offset})`,
    );
  return format;
}

/** A matrix of the format of another argument. */
export function checkMatrixOf(routine: string, name: string, A: Matrix<Real>, format: Format, like: string): void {
  checkSameFormat(routine, name, checkMatrix(routine, name, A), format, like);
}

/** Throws if something that will be written shares an entry with something that is read. */
export function checkSeparate(routine: string, output: string, to: StridedMatrix, input: string, from: StridedMatrix): void {
  if (sharesEntries(to, from)) throw new ShapeError(`${routine}: ${output} shares entries with ${input}, expected none in common`);
}

/**
 * Whether two matrices have an entry in common. StridedMatrix come in lines (rows or columns, whichever are without gaps)
 * that lie one behind another in memory. Of B's lines only the last one that begins before the end of a line of A can
 * reach into it, or none does: one look for each line of the matrix that has fewer.
 */
export function sharesEntries(A: StridedMatrix, B: StridedMatrix): boolean {
  if (A.data.buffer !== B.data.buffer || A.rows === 0 || A.cols === 0 || B.rows === 0 || B.cols === 0) return false;
  let [a, b] = [lines(A), lines(B)];
  if (a.count > b.count) [a, b] = [b, a];
  if (a.start >= end(b) || b.start >= end(a)) return false;
  for (let i = 0; i < a.count; i++) {
    const start = a.start + i * a.step;
    const last = Math.min(b.count - 1, Math.floor((start + a.length - 1 - b.start) / b.step));
    if (last >= 0 && b.start + last * b.step + b.length > start) return true;
  }
  return false;
}

interface Lines {
  readonly start: number;
  readonly count: number;
  readonly length: number;
  readonly step: number;
}

// Where the lines of a matrix begin, counted in elements from the start of the buffer: typed arrays are aligned, so
// two of one precision never meet halfway.
function lines({ data, offset, rows, cols, rowStride, colStride }: StridedMatrix): Lines {
  const start = data.byteOffset / data.BYTES_PER_ELEMENT + offset;
  const [count, length, step] = colStride === 1 ? [rows, cols, rowStride] : [cols, rows, colStride];
  return { start, count, length, step: count === 1 ? length : step };
}

function end({ start, count, length, step }: Lines): number {
  return start + (count - 1) * step + length;
}

/** A diagonal entry that nothing can be divided by. */
export function zeroOnDiagonal(routine: string, name: string, i: number): SingularError {
  return new SingularError(`${routine}: entry (${i}, ${i}) of ${name} is 0, expected a diagonal without zeros`, i);
}

/** A vector as a matrix of one row. */
export function asRow(x: Real): StridedMatrix {
  return { data: x, offset: 0, rows: 1, cols: x.length, rowStride: x.length, colStride: 1 };
}

/** A matrix, transposed or not, as kernels see it. */
export function stridedView(A: Matrix<Real>, trans = false): StridedMatrix {
  const [rowStride, colStride] = A.order === "row" ? [A.ld, 1] : [1, A.ld];
  const { data, offset, rows, cols } = A;
  return trans
    ? { data, offset, rows: cols, cols: rows, rowStride: colStride, colStride: rowStride }
    : { data, offset, rows, cols, rowStride, colStride };
}
