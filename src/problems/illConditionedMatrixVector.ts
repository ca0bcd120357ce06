// illConditionedMatrixVector, for tests of exgemv.
import { checkCount } from "../arrays/checks.ts";
import { matrix } from "../arrays/matrix.ts";
import { Random } from "../arrays/random.ts";
import type { Matrix } from "../arrays/types.ts";
import { powerOfTwo } from "../exact/bits.ts";
import { checkProblem, closeDot, minPairs, nonzero, openPairs, swap } from "./illConditionedDot.ts";

/**
 * A square matrix and a vector whose product has about the given condition number: every row of A has an ill-conditioned
 * dot product with the same x. 2 sum_j |A_ij x_j| / |sum_j A_ij x_j| is about the condition, and so is
 * 2 || |A| |x| || / ||A x|| in every norm that depends only on magnitudes. (The LU paper has one such row among random
 * ones. The random rows determine both norms, so the quotient is about 1 whatever that row is.)
 * @example
 * const { A, x } = illConditionedMatrixVector(20, 1e20, 1);
 * exgemv(1, A, x, 0, new Float64Array(20)).length; // 20
 */
export function illConditionedMatrixVector(n: number, condition: number, seed: number): { A: Matrix; x: Float64Array<ArrayBuffer> } {
  const bits = checkProblem("illConditionedMatrixVector", 1, condition, seed);
  checkCount("illConditionedMatrixVector", "n", n, minPairs(bits));

  const random = new Random(seed);
  const top = bits >> 1;
  const open = openPairs(n, bits);
  const x = Float64Array.from({ length: n }, (_, j) => entry(j));
  const A = new Float64Array(n * n);
  const rows = Array.from({ length: n }, (_, i) => A.subarray(i * n, (i + 1) * n));
  for (const row of rows) {
    for (let j = 0; j < open; j++) row[j] = entry(j);
    closeDot(x, row, open, condition, bits);
  }
  for (let j = n - 1; j > 0; j--) {
    const k = random.below(j + 1);
    for (const vector of [x, ...rows]) swap(vector, j, k);
  }
  return { A: matrix(A, n, n), x };

  // Exponents from 0 to `top`, the largest first; entries that close the sum are near 1.
  function entry(j: number): number {
    return nonzero(random) * powerOfTwo(j === 0 ? top : j < open ? random.below(top + 1) : 0);
  }
}
