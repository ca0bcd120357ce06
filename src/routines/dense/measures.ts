// residualNorm and factorizationError: how accurate a solution or a factorisation is. Public functions; the command and the report use
// the latter.
//
// Both norms are the largest of several exact numbers, rounded once. Rounding does not change the order of numbers: the largest of the
// rounded numbers is the rounded largest one.

import { checkSize, checkVector, describe, typedArrayTag } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { checkMatrix, stridedView } from "../../arrays/matrix.ts";
import { isSparse } from "../../arrays/operands.ts";
import { checkSparse, toCsr } from "../../arrays/sparse.ts";
import type { Matrix, Real, Sparse } from "../../arrays/types.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";

/**
 * The max norm of b - A x, computed exactly and rounded once; of a sparse matrix, over the stored entries. NaN and infinities propagate
 * as in exgemv and exspmv; 0 if there are no rows.
 * @example
 * residualNorm(fromRows([[3, 1], [1, 2]]), Float64Array.of(0.1, 0.2), Float64Array.of(0.5, 0.5)); // 2.7755575615628914e-17
 */
export function residualNorm(A: Matrix<Real> | Sparse<Real>, x: Real, b: Real): number {
  const sparse = isSparse(A);
  if (sparse) checkSparse("residualNorm", "A", A);
  else checkMatrix("residualNorm", "A", A);
  checkVector("residualNorm", "x", x);
  checkVector("residualNorm", "b", b);
  checkSize("residualNorm", "x", x, A.cols, "the columns of A");
  checkSize("residualNorm", "b", b, A.rows, "the rows of A");
  const subtract = sparse ? sparseRows(A, x) : denseRows(A, x);
  const sum = new Superaccumulator();
  let norm = 0;
  for (let i = 0; i < A.rows; i++) {
    subtract(sum.clear().add(b[i] as number), i);
    norm = Math.max(norm, Math.abs(sum.round())); // NaN if either is
  }
  return norm;
}

/** Subtracts row i of A, times x, from a sum. */
type SubtractRow = (sum: Superaccumulator, i: number) => void;

function denseRows(A: Matrix<Real>, x: Real): SubtractRow {
  const { data, offset, cols, rowStride, colStride } = stridedView(A);
  return (sum, i) => {
    for (let j = 0; j < cols; j++) sum.addProduct(-(data[offset + i * rowStride + j * colStride] as number), x[j] as number);
  };
}

function sparseRows(A: Sparse<Real>, x: Real): SubtractRow {
  const { pointers, indices, values } = toCsr(A);
  return (sum, i) => {
    for (let p = pointers[i] as number; p < (pointers[i + 1] as number); p++)
      sum.addProduct(-(values[p] as number), x[indices[p] as number] as number);
  };
}

/**
 * The infinity norm of P A - L U, the largest row sum of magnitudes, computed exactly and rounded once. The factors are those of exlu, or
 * any with the same layout: unit L below the diagonal of `lu`, U on and above it, and row k swapped with row pivots[k], k = 0, 1, …
 * @example
 * const A = fromRows([[0.1, 0.2], [0.3, 0.7]]);
 * factorizationError(A, exlu(A)); // 2.3129646346357407e-18
 */
export function factorizationError(A: Matrix<Real>, factors: { readonly lu: Matrix<Real>; readonly pivots: Int32Array }): number {
  const { lu, pivots } = checkFactors(A, factors);
  const from = stridedView(A);
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(lu);
  if (cols === 0) return 0; // there may be very many empty rows
  const order = permutation(rows, pivots);
  const entry = new Superaccumulator();
  const sum = new Superaccumulator();
  let norm = 0;
  for (let i = 0; i < rows; i++) {
    sum.clear();
    for (let j = 0; j < cols; j++) {
      entry.clear().add(from.data[from.offset + (order[i] as number) * from.rowStride + j * from.colStride] as number);
      for (let k = 0; k < Math.min(i, j + 1); k++)
        entry.addProduct(-(data[offset + i * rowStride + k * colStride] as number), data[offset + k * rowStride + j * colStride] as number);
      if (j >= i) entry.add(-(data[offset + i * rowStride + j * colStride] as number));
      if ((entry.special() ?? entry.sign()) < 0) entry.negate();
      sum.merge(entry);
    }
    norm = Math.max(norm, Math.abs(sum.round())); // NaN if either is
  }
  return norm;
}

function checkFactors<F extends { readonly lu: Matrix<Real>; readonly pivots: Int32Array }>(A: Matrix<Real>, factors: F): F {
  checkMatrix("factorizationError", "A", A);
  if (typeof factors !== "object" || factors === null)
    throw new ShapeError(`factorizationError: factors is ${describe(factors)}, expected what exlu returns`);
  const { lu, pivots } = factors;
  checkMatrix("factorizationError", "factors.lu", lu);
  if (lu.rows !== A.rows || lu.cols !== A.cols)
    throw new ShapeError(`factorizationError: factors.lu is ${lu.rows} by ${lu.cols}, expected ${A.rows} by ${A.cols} (as A)`);
  if (typedArrayTag(pivots) !== "Int32Array")
    throw new ShapeError(`factorizationError: factors.pivots is ${describe(pivots)}, expected an Int32Array`);
  const length = Math.min(A.rows, A.cols);
  if (pivots.length !== length)
    throw new ShapeError(
      `factorizationError: factors.pivots has length ${pivots.length}, expected ${length} (the lesser of rows and columns of A)`,
    );
  const k = pivots.findIndex((pivot, row) => pivot < row || pivot >= A.rows);
  if (k >= 0) throw new ShapeError(`factorizationError: factors.pivots[${k}] is ${pivots[k]}, expected ${k} to ${A.rows - 1}`);
  return factors;
}

// The row of A that is row i of P A.
function permutation(rows: number, pivots: Int32Array): Int32Array {
  const order = Int32Array.from({ length: rows }, (_, i) => i);
  for (const [k, p] of pivots.entries()) [order[k], order[p]] = [order[p] as number, order[k] as number];
  return order;
}
