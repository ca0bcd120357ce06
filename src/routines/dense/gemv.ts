// exgemv: checks, then one step. Every entry is exact and rounded once (docs/stages.md, "Matrices"). routines.ts and lu.ts call it, and
// sparse/spmv.ts shares its checks.

import { checkFlag, checkNumber, checkOptions, checkSize, checkVectorOf } from "../../arrays/checks.ts";
import { asRow, checkMatrix, checkSeparate, stridedView } from "../../arrays/matrix.ts";
import type { MatrixOperand, Operand } from "../../arrays/operands.ts";
import type { Format } from "../../arrays/types.ts";
import type { Routine } from "../../engines/steps.ts";
import { type Output, outputOf } from "../outputs.ts";
import type { MatrixVectorOptions } from "../types.ts";

/** y := alpha A x + beta y, or with the transpose of A. */
export function* exgemv<Y extends Operand>(
  alpha: number,
  A: MatrixOperand,
  x: Operand,
  beta: number,
  y: Y,
  options: MatrixVectorOptions = {},
): Routine<Y> {
  const trans = checkProduct("exgemv", alpha, () => checkMatrix("exgemv", "A", A), x, beta, y, options);
  const factor = stridedView(A, trans);
  checkProductSizes("exgemv", factor, trans, x, y);
  const row = asRow(y);
  checkSeparate("exgemv", "y", row, "A", factor);
  checkSeparate("exgemv", "y", row, "x", asRow(x));
  if (y.length === 0) return y;
  let out: Output | undefined;
  yield (kernels, later) => {
    out = outputOf(later, "exgemv", "y", row, beta !== 0);
    return kernels.gemv(alpha, factor, x, beta, out.entries.data);
  };
  out?.write();
  return y;
}

/** Check the arguments of a product of a matrix and a vector, except for sizes; `formatOfA` checks A. Returns whether A is transposed. */
export function checkProduct(
  routine: string,
  alpha: number,
  formatOfA: () => Format,
  x: Operand,
  beta: number,
  y: Operand,
  options: MatrixVectorOptions,
): boolean {
  checkNumber(routine, "alpha", alpha);
  const format = formatOfA();
  checkVectorOf(routine, "x", x, format, "A");
  checkNumber(routine, "beta", beta);
  checkVectorOf(routine, "y", y, format, "A");
  checkOptions(routine, options, ["trans"]);
  const { trans = false } = options;
  checkFlag(routine, "trans", trans);
  return trans;
}

/** Check the lengths of x and y; `of` is A, transposed if `trans`. */
export function checkProductSizes(
  routine: string,
  of: { readonly rows: number; readonly cols: number },
  trans: boolean,
  x: Operand,
  y: Operand,
): void {
  checkSize(routine, "x", x, of.cols, trans ? "the rows of A" : "the columns of A");
  checkSize(routine, "y", y, of.rows, trans ? "the columns of A" : "the rows of A");
}
