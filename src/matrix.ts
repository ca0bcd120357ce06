import { checkCount, checkOptions, checkVector, checkWord } from "./checks.ts";
import type { Entries } from "./engines/kernels.ts";
import { ShapeError } from "./errors.ts";
import type { Matrix, Real } from "./types.ts";

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
export function matrix(data: Real, rows: number, cols: number, options: ViewOptions = {}): Matrix<Real> {
  checkOptions("matrix", options, ["order", "ld", "offset"]);
  const order = options.order ?? "row";
  const view = { data, rows, cols, order, ld: options.ld ?? (order === "row" ? cols : rows), offset: options.offset ?? 0 };
  checkMatrix("matrix", "", view);
  return view;
}

/** Throws unless this is a matrix whose entries all lie in its array. `name` is what the routine calls it. */
export function checkMatrix(routine: string, name: string, A: Matrix<Real>): void {
  const of = name === "" ? "" : `${name}.`;
  if (typeof A !== "object" || A === null) throw new ShapeError(`${routine}: ${name} is ${String(A)}, expected a matrix (see matrix())`);
  checkVector(routine, `${of}data`, A.data);
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
}

/** A matrix, transposed or not, as kernels see it. */
export function entries(A: Matrix<Real>, trans = false): Entries {
  const [rowStep, colStep] = A.order === "row" ? [A.ld, 1] : [1, A.ld];
  const { data, offset, rows, cols } = A;
  return trans
    ? { data, offset, rows: cols, cols: rows, rowStep: colStep, colStep: rowStep }
    : { data, offset, rows, cols, rowStep, colStep };
}
