// extrsv: dense triangular systems, after the triangular paper; its refinement of blocks follows the LU paper. routines.ts and lu.ts call
// it, and ranks/dense/trsv.ts shares its checks.

import { checkCount, checkFlag, checkOptions, checkSize, checkVectorOf, checkWord } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { checkMatrix, type StridedOperand, stridedView, zeroOnDiagonal } from "../../arrays/matrix.ts";
import { isOnHost, type MatrixOperand, type Operand } from "../../arrays/operands.ts";
import type { Format, Real, TriangularOptions } from "../../arrays/types.ts";
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
  if (!unit) checkDiagonal(triangle);

  const x = newVector("extrsv", b, b.length);
  if (b.length > 0) yield (kernels) => kernels.trsv(triangle, b, x, settings);
  return x;
}

/** Check all arguments of a triangular solve but the matrix itself. Returns the options with their values. */
export function checkTriangular(
  T: { readonly rows: number; readonly cols: number },
  format: Format,
  b: Operand,
  options: TriangularOptions,
): Substitution & { readonly trans: boolean } {
  if (T.rows !== T.cols) throw new ShapeError(`extrsv: T is ${T.rows} by ${T.cols}, expected a square matrix`);
  checkVectorOf("extrsv", "b", b, format, "T");
  checkSize("extrsv", "b", b, T.rows, "the order of T");
  checkOptions("extrsv", options, ["uplo", "trans", "unit", "rounding", "refine", "refineBlocks", "blockSize"]);
  const { uplo = "lower", trans = false, unit = false, rounding = "single", refine = 0, refineBlocks = 0, blockSize } = options;
  checkWord("extrsv", "uplo", uplo, ["lower", "upper"]);
  checkFlag("extrsv", "trans", trans);
  checkFlag("extrsv", "unit", unit);
  checkWord("extrsv", "rounding", rounding, ["single", "paper", "corrected"]);
  checkCount("extrsv", "refine", refine, 0);
  checkCount("extrsv", "refineBlocks", refineBlocks, 0);
  if (blockSize !== undefined) checkCount("extrsv", "blockSize", blockSize, 1);
  // Limiting a block to the order of the system changes no bit, and lets engines reserve memory for one.
  const size = Math.min(blockSize ?? (refineBlocks > 0 ? BLOCK_SIZE : 0), b.length);
  return { upper: (uplo === "upper") !== trans, trans, unit, rounding, refine, refineBlocks, blockSize: size };
}

// The engine checks a diagonal that the host cannot read.
function checkDiagonal({ data, offset, rows, rowStride, colStride }: StridedOperand): void {
  if (!isOnHost(data)) return;
  for (let i = 0; i < rows; i++) if (data[offset + i * (rowStride + colStride)] === 0) throw zeroOnDiagonal("extrsv", "T", i);
}
