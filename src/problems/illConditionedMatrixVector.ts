import { checkCount } from "../arrays/checks.ts";
import { matrix } from "../arrays/matrix.ts";
import { Random } from "../arrays/random.ts";
import type { Matrix } from "../arrays/types.ts";
import { powerOfTwo } from "../exact/bits.ts";
import { checkProblem, closeDot, leastPairs, nonzero, openPairs, swap } from "./illConditionedDot.ts";

/**
 * A square matrix and a vector whose product has about the given condition number: every row of A is an ill-conditioned
 * dot product with the same x, 2 sum_j |A_ij x_j| / |sum_j A_ij x_j| being about the condition, and so is
 * 2 || |A| |x| || / ||A x|| in every norm that looks at magnitudes only. (The LU paper has one such row among random
 * ones. Those decide both of its norms, and the quotient is then about 1 whatever the one row does.)
 */
export function illConditionedMatrixVector(n: number, condition: number, seed: number): { A: Matrix; x: Float64Array<ArrayBuffer> } {
  const bits = checkProblem("illConditionedMatrixVector", 1, condition, seed);
  checkCount("illConditionedMatrixVector", "n", n, leastPairs(bits));

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
    for (const line of [x, ...rows]) swap(line, j, k);
  }
  return { A: matrix(A, n, n), x };

  // Exponents from 0 to top, the first being the largest; those that close are near 1.
  function entry(j: number): number {
    return nonzero(random) * powerOfTwo(j === 0 ? top : j < open ? random.below(top + 1) : 0);
  }
}
