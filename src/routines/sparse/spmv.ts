// exspmv: checks, then one step. Every entry is exact and rounded once, with the bits of exgemv. Called by routines.ts.

import { ShapeError } from "../../arrays/errors.ts";
import { asRow, checkSeparate } from "../../arrays/matrix.ts";
import { type Integers, isOnHost, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import { checkSparse } from "../../arrays/sparse.ts";
import type { SparseOperator } from "../../engines/kernels.ts";
import type { Routine } from "../../engines/steps.ts";
import { checkProduct, checkProductSizes } from "../dense/gemv.ts";
import { type Output, outputOf } from "../outputs.ts";
import type { MatrixVectorOptions } from "../types.ts";

/** y := alpha A x + beta y over the stored entries, or with the transpose of A. */
export function* exspmv<Y extends Operand>(
  alpha: number,
  A: SparseOperand,
  x: Operand,
  beta: number,
  y: Y,
  options: MatrixVectorOptions = {},
): Routine<Y> {
  const trans = checkProduct("exspmv", alpha, () => checkSparse("exspmv", "A", A), x, beta, y, options);
  const operator = operatorOf(A, trans);
  checkProductSizes("exspmv", operator, trans, x, y);
  checkSeparate("exspmv", "y", asRow(y), "A", asRow(A.values));
  checkSeparateFromPattern(y, A.pointers);
  checkSeparateFromPattern(y, A.indices);
  checkSeparate("exspmv", "y", asRow(y), "x", asRow(x));
  if (y.length === 0) return y;
  const row = asRow(y);
  let out: Output | undefined;
  yield (kernels, later) => {
    out = outputOf(later, "exspmv", "y", row, beta !== 0);
    return kernels.spmv(alpha, operator, x, beta, out.entries.data);
  };
  out?.write();
  return y;
}

function checkSeparateFromPattern(y: Operand, array: Integers): void {
  if (!isOnHost(y) || !isOnHost(array) || y.buffer !== array.buffer) return;
  if (y.byteOffset < array.byteOffset + array.byteLength && array.byteOffset < y.byteOffset + y.byteLength)
    throw new ShapeError("exspmv: y shares entries with A, expected none in common");
}

/** A, or its transpose, as the matrix of a product. */
export function operatorOf({ format, rows, cols, pointers, indices, values }: SparseOperand, trans: boolean): SparseOperator {
  const byRows = (format === "csr") !== trans;
  return trans ? { rows: cols, cols: rows, byRows, pointers, indices, values } : { rows, cols, byRows, pointers, indices, values };
}
