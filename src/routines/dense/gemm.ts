// exgemm: checks, then one step. Every entry is exact and rounded once (docs/stages.md, "Matrices"). routines.ts calls it, and
// ranks/dense/gemm.ts shares its check of shapes.

import { checkFlag, checkNumber, checkOptions } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { checkMatrix, checkMatrixOf, checkSeparate, stridedView } from "../../arrays/matrix.ts";
import type { MatrixOperand } from "../../arrays/operands.ts";
import type { Routine } from "../../engines/steps.ts";
import { type Output, outputOf } from "../outputs.ts";
import type { MatrixProductOptions } from "../types.ts";

/** C := alpha A B + beta C, each of A and B transposed or not. */
export function* exgemm<M extends MatrixOperand>(
  alpha: number,
  A: MatrixOperand,
  B: MatrixOperand,
  beta: number,
  C: M,
  options: MatrixProductOptions = {},
): Routine<M> {
  checkNumber("exgemm", "alpha", alpha);
  const format = checkMatrix("exgemm", "A", A);
  checkMatrixOf("exgemm", "B", B, format, "A");
  checkNumber("exgemm", "beta", beta);
  checkMatrixOf("exgemm", "C", C, format, "A");
  checkOptions("exgemm", options, ["transA", "transB"]);
  const { transA = false, transB = false } = options;
  checkFlag("exgemm", "transA", transA);
  checkFlag("exgemm", "transB", transB);
  const left = stridedView(A, transA);
  const right = stridedView(B, transB);
  const product = stridedView(C);
  checkProductShapes(left, right, product, transA, transB);
  checkSeparate("exgemm", "C", product, "A", left);
  checkSeparate("exgemm", "C", product, "B", right);
  if (product.rows === 0 || product.cols === 0) return C;
  let out: Output | undefined;
  yield (kernels, later) => {
    out = outputOf(later, "exgemm", "C.data", product, beta !== 0);
    return kernels.gemm(alpha, left, right, beta, out.entries);
  };
  out?.write();
  return C;
}

interface Shape {
  readonly rows: number;
  readonly cols: number;
}

/** Check the shapes of a product; `left` and `right` are A and B, transposed if the flags say so. */
export function checkProductShapes(left: Shape, right: Shape, product: Shape, transA: boolean, transB: boolean): void {
  checkSame("B", transB ? "columns" : "rows", right.rows, left.cols, transA ? "the rows of A" : "the columns of A");
  checkSame("C", "rows", product.rows, left.rows, transA ? "the columns of A" : "the rows of A");
  checkSame("C", "columns", product.cols, right.cols, transB ? "the rows of B" : "the columns of B");
}

function checkSame(name: string, side: string, count: number, expected: number, what: string): void {
  if (count !== expected) throw new ShapeError(`exgemm: ${name} has ${count} ${side}, expected ${expected} (${what})`);
}
