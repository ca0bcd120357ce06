import { checkCount, checkFlag, checkOptions, checkSize, checkVectorOf, checkWord } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { checkMatrix, type StridedMatrix, stridedView, zeroOnDiagonal } from "../../arrays/matrix.ts";
import type { Matrix, Real, TriangularOptions } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { Routine } from "../../engines/steps.ts";

// Unknowns in a block that is refined, unless the caller says otherwise. Where nothing is, the engine may choose.
const BLOCK_SIZE = 64;

/** The solution of T x = b, or of the transposed system, by substitution. */
export function* extrsv<V extends Real>(T: Matrix<V>, b: V, options: TriangularOptions = {}): Routine<V> {
  const format = checkMatrix("extrsv", "T", T);
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
  const triangle = stridedView(T, trans);
  if (!unit) checkDiagonal(triangle);

  const x = newVector("extrsv", b, b.length);
  // A block is no longer than the system, which changes no bit: engines can make room for one.
  const size = Math.min(blockSize ?? (refineBlocks > 0 ? BLOCK_SIZE : 0), b.length);
  const how = { upper: (uplo === "upper") !== trans, unit, rounding, refine, refineBlocks, blockSize: size };
  if (b.length > 0) yield (kernels) => kernels.trsv(triangle, b, x, how);
  return x;
}

function checkDiagonal({ data, offset, rows, rowStride, colStride }: StridedMatrix): void {
  for (let i = 0; i < rows; i++) if (data[offset + i * (rowStride + colStride)] === 0) throw zeroOnDiagonal("extrsv", "T", i);
}
