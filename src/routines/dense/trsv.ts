// extrsv and extrsm: dense triangular systems with one and with many right-hand sides, after the triangular paper; the refinement of blocks
// follows the LU paper. routines.ts and lu.ts call them, and ranks/dense/trsv.ts shares the checks.

import { checkCount, checkFlag, checkOptions, checkSize, checkVectorOf, checkWord } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { checkMatrix, checkMatrixOf, compactLike, type StridedOperand, stridedView, zeroOnDiagonal } from "../../arrays/matrix.ts";
import { isOnHost, type MatrixOperand, type Operand } from "../../arrays/operands.ts";
import type { Format, Matrix, Real, TriangularOptions } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { Substitution } from "../../engines/kernels.ts";
import type { Routine } from "../../engines/steps.ts";

// The default size of the blocks that are refined. If blocks are not refined, the engine chooses.
const BLOCK_SIZE = 64;

/** The solution of T x = b, or of the transposed system, by substitution. */
export function* extrsv(T: MatrixOperand, b: Operand, options: TriangularOptions = {}): Routine<Real> {
  const format = checkMatrix("extrsv", "T", T);
  const { trans, upper, unit, rounding, refine, refineBlocks, blockSize } = checkTriangular(T, format, b, options);
  const settings = { upper, unit, rounding, refine, refineBlocks, blockSize };
  const triangle = stridedView(T, trans);
  if (!unit) checkDiagonal("extrsv", triangle);

  const x = newVector("extrsv", b, b.length);
  if (b.length > 0) yield (kernels) => kernels.trsv(triangle, b, x, settings);
  return x;
}

/** The same for every column of B. */
export function* extrsm(T: MatrixOperand, B: MatrixOperand, options: TriangularOptions = {}): Routine<Matrix<Real>> {
  const format = checkMatrix("extrsm", "T", T);
  checkSquare("extrsm", T);
  checkMatrixOf("extrsm", "B", B, format, "T");
  checkRows("extrsm", "B", B, T.rows, "the order of T");
  const { trans, ...settings } = checkSubstitution("extrsm", T.rows, options);
  const triangle = stridedView(T, trans);
  if (!settings.unit) checkDiagonal("extrsm", triangle);

  const { rows, cols, order } = B;
  const data = newVector("extrsm", B.data, rows * cols);
  const right = stridedView(B);
  if (data.length > 0) yield (kernels) => kernels.trsm(triangle, right, compactLike(right, data), settings);
  return { data, rows, cols, order, ld: order === "row" ? cols : rows, offset: 0 };
}

/** A matrix of right-hand sides with this number of rows; `what` explains the number in the message. */
export function checkRows(routine: string, name: string, B: MatrixOperand, rows: number, what: string): void {
  if (B.rows !== rows) throw new ShapeError(`${routine}: ${name} has ${B.rows} rows, expected ${rows} (${what})`);
}

/** Check all arguments of extrsv but the matrix itself. Returns the options with their values. */
export function checkTriangular(
  T: { readonly rows: number; readonly cols: number },
  format: Format,
  b: Operand,
  options: TriangularOptions,
): Substitution & { readonly trans: boolean } {
  checkSquare("extrsv", T);
  checkVectorOf("extrsv", "b", b, format, "T");
  checkSize("extrsv", "b", b, T.rows, "the order of T");
  return checkSubstitution("extrsv", T.rows, options);
}

function checkSquare(routine: string, T: { readonly rows: number; readonly cols: number }): void {
  if (T.rows !== T.cols) throw new ShapeError(`${routine}: T is ${T.rows} by ${T.cols}, expected a square matrix`);
}

// The options with their values, for a triangle of order n.
function checkSubstitution(routine: string, n: number, options: TriangularOptions): Substitution & { readonly trans: boolean } {
  checkOptions(routine, options, ["uplo", "trans", "unit", "rounding", "refine", "refineBlocks", "blockSize"]);
  const { uplo = "lower", trans = false, unit = false, rounding = "single", refine = 0, refineBlocks = 0, blockSize } = options;
  checkWord(routine, "uplo", uplo, ["lower", "upper"]);
  checkFlag(routine, "trans", trans);
  checkFlag(routine, "unit", unit);
  checkWord(routine, "rounding", rounding, ["single", "paper", "corrected"]);
  checkCount(routine, "refine", refine, 0);
  checkCount(routine, "refineBlocks", refineBlocks, 0);
  if (blockSize !== undefined) checkCount(routine, "blockSize", blockSize, 1);
  // Limiting a block to the order of the system changes no bit, and lets engines reserve memory for one.
  const size = Math.min(blockSize ?? (refineBlocks > 0 ? BLOCK_SIZE : 0), n);
  return { upper: (uplo === "upper") !== trans, trans, unit, rounding, refine, refineBlocks, blockSize: size };
}

// The engine checks a diagonal that the host cannot read.
function checkDiagonal(routine: string, { data, offset, rows, rowStride, colStride }: StridedOperand): void {
  if (!isOnHost(data)) return;
  for (let i = 0; i < rows; i++) if (data[offset + i * (rowStride + colStride)] === 0) throw zeroOnDiagonal(routine, "T", i);
}
