// exgemv: checks, then one step. Every entry is exact and rounded once (docs/stages.md, "Matrices"). routines.ts and lu.ts call it.

import { checkFlag, checkNumber, checkOptions, checkSize, checkVectorOf } from "../../arrays/checks.ts";
import { asRow, checkMatrix, checkSeparate, stridedView } from "../../arrays/matrix.ts";
import type { MatrixOperand, Operand } from "../../arrays/operands.ts";
import type { Routine } from "../../engines/steps.ts";
import { outputOf } from "../outputs.ts";
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
  checkNumber("exgemv", "alpha", alpha);
  const format = checkMatrix("exgemv", "A", A);
  checkVectorOf("exgemv", "x", x, format, "A");
  checkNumber("exgemv", "beta", beta);
  checkVectorOf("exgemv", "y", y, format, "A");
  checkOptions("exgemv", options, ["trans"]);
  const { trans = false } = options;
  checkFlag("exgemv", "trans", trans);
  const [rows, columns] = trans ? ["columns", "rows"] : ["rows", "columns"];
  const factor = stridedView(A, trans);
  checkSize("exgemv", "x", x, factor.cols, `the ${columns} of A`);
  checkSize("exgemv", "y", y, factor.rows, `the ${rows} of A`);
  checkSeparate("exgemv", "y", asRow(y), "A", factor);
  checkSeparate("exgemv", "y", asRow(y), "x", asRow(x));
  if (y.length === 0) return y;
  const out = yield* outputOf("exgemv", "y", asRow(y), beta !== 0);
  yield (kernels) => kernels.gemv(alpha, factor, x, beta, out.entries.data);
  out.write();
  return y;
}
