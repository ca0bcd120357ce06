// Matrices from arrays of arrays, as other libraries and JSON have them, and back.
import { checkWord, describe, typedArrayTag } from "./checks.ts";
import { ShapeError } from "./errors.ts";
import { checkMatrix, stridedView } from "./matrix.ts";
import type { Format, Matrix, Real } from "./types.ts";
import { newVector } from "./vectors.ts";

/** A matrix as an array of its rows. */
export type Rows = readonly (readonly number[] | Real)[];

/**
 * A new matrix with the given rows, which have the same length. `precision` is "binary64" (default) or "binary32"; in binary32 numbers are
 * rounded to nearest.
 * @example
 * const A = fromRows([[1, 2], [3, 4]]);
 * A.data; // Float64Array(4) [ 1, 2, 3, 4 ]
 */
export function fromRows(rows: Rows, precision?: "binary64"): Matrix<Float64Array>;
export function fromRows(rows: Rows, precision: "binary32"): Matrix<Float32Array>;
export function fromRows(rows: Rows, precision: Format = "binary64"): Matrix<Real> {
  if (!Array.isArray(rows)) throw new ShapeError(`fromRows: rows is ${describe(rows)}, expected an array of arrays of numbers`);
  checkWord("fromRows", "precision", precision, ["binary64", "binary32"]);
  const cols = (rows[0] as Rows[number] | undefined)?.length ?? 0;
  for (let i = 0; i < rows.length; i++) checkRow(rows[i] as Rows[number], i, cols);
  const like = precision === "binary64" ? new Float64Array(0) : new Float32Array(0);
  const data = newVector("fromRows", like, rows.length * cols);
  for (const [i, row] of rows.entries()) data.set(row, i * cols);
  return { data, rows: rows.length, cols, order: "row", ld: cols, offset: 0 };
}

// Not isArray() alone: an array may have holes, and entries that are not numbers.
function checkRow(row: Rows[number], i: number, cols: number): void {
  if (!Array.isArray(row)) {
    const tag = typedArrayTag(row);
    if (tag !== "Float64Array" && tag !== "Float32Array")
      throw new ShapeError(`fromRows: row ${i} is ${describe(row)}, expected an array of numbers`);
  }
  if (row.length !== cols) throw new ShapeError(`fromRows: row ${i} has length ${row.length}, expected ${cols} (the length of row 0)`);
  for (let j = 0; j < cols; j++)
    if (typeof row[j] !== "number") throw new ShapeError(`fromRows: entry (${i}, ${j}) is ${describe(row[j])}, expected a number`);
}

/**
 * The rows of a matrix as new arrays of numbers.
 * @example
 * toRows(matrix(Float64Array.of(1, 2, 3, 4), 2, 2, { order: "column" })); // [ [ 1, 3 ], [ 2, 4 ] ]
 */
export function toRows(A: Matrix<Float64Array> | Matrix<Float32Array>): number[][] {
  if (typeof A === "object" && A !== null && "pointers" in A) throw new ShapeError("toRows: A is a sparse matrix, expected a dense one");
  checkMatrix("toRows", "A", A);
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A, false);
  return Array.from({ length: rows }, (_, i) =>
    Array.from({ length: cols }, (__, j) => data[offset + i * rowStride + j * colStride] as number),
  );
}
