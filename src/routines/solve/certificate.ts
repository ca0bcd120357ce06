// A proof that a matrix is regular, with a bound on its inverse, after Oishi and Rump ("Fast verification of solutions of matrix
// equations", 2002): from binary64 factors, approximate inverses of the factors, and a-priori bounds on the errors of both. Called by
// solver.ts and product.ts.
//
// Let F be the scaled matrix that was factored, P F = L U + D, L X = I + E1, U Y = I + E2. In any order of summation, with or
// without fused multiply-adds (Higham, "Accuracy and Stability", theorems 8.5 and 9.3), entry by entry
//
//   |D| <= g |L| |U|,   |E1| <= g |L| |X|,   |E2| <= g |U| |Y|,   g = m u / (1 - m u),   u = 2^-53.
//
// m = n holds for any kernel. In kernels that sum blocks of products before subtracting them, each product goes through far fewer
// roundings: if c_s = fl(c_(s-1) - t_s) for s = 1, ..., q and t_s = fl(sum of p products), then
//
//   c_0 = c_q (1 + d_1) ... + sum t_s (1 + d_1) ... (1 + d_(s-1)) up to inverses, |d| <= u,
//
// so no product has more than p + q such factors. Engines report that number (`roundings`); 16 are added for divisions and for product.ts.
//
// Then P F Y X = (L U + D) Y X = I + E with E = E1 + L E2 X + D Y X, and with e = (1, ..., 1)
//
//   |E| e <= g |L| (|X| e + 2 |U| |Y| |X| e).
//
// If the largest of these sums, alpha, is below 1, then F is regular, F^-1 = Y X (I + E)^-1 P, and for any r
//
//   |F^-1 r| <= |Y| |X| e * norm(r) / (1 - alpha),
//
// since norm((I + E)^-1 P r) <= norm(r) / (1 - alpha). The four sums |T| v are computed in binary64 from nonnegative terms: the
// relative error of each is less than (n + 2) u, and `slack` covers that many times over.
//
// Underflow. An operation that underflows has a further error of 2^-1074, a scaled entry of F one of at most 2^-700 (if the scales of
// rows or columns differ by more, system.ts scales a copy). The diagonal of U and all sums must be below 2^200. Then an entry of D, E1
// or E2 grows by at most 2^-690 (the underflow of a quotient is multiplied by its divisor, which is on the diagonal), and alpha by at
// most n^2 2^-690 2^401 < 2^-200 for n < 2^40.

import type { ApproximateFactors, ApproximateInverses } from "../../engines/approximate.ts";
import type { Routine } from "../../engines/steps.ts";
import { largest } from "./powers.ts";

const LARGEST = 2 ** 200;
const UNDERFLOW = 2 ** -200;

/** The proof for one set of factors. */
export interface Certificate {
  /** |F^-1 r| <= weights * norm_inf(r), component by component. */
  readonly weights: Float64Array;
}

/** The certificate of binary64 factors, or undefined if they are too inaccurate for one. */
export function* certify(routine: string, factors: ApproximateFactors): Routine<Certificate | undefined> {
  const { n } = factors;
  if (factors.column >= 0 || !(factors.maxPivot < LARGEST)) return undefined;
  const inverses = (yield (kernels) => kernels.approximate.invert(routine, factors)) as ApproximateInverses;
  try {
    const absTimes = function* (
      triangles: ApproximateFactors | ApproximateInverses,
      part: "lower" | "upper",
      v: Float64Array,
    ): Routine<Float64Array> {
      const out = new Float64Array(n);
      yield (kernels) => kernels.approximate.weigh(routine, triangles, part, v, out);
      return out;
    };
    const lower = yield* absTimes(inverses, "lower", new Float64Array(n).fill(1)); // |X| e
    const both = yield* absTimes(inverses, "upper", lower); // |Y| |X| e
    const inner = yield* absTimes(factors, "upper", both);
    const sums = yield* absTimes(
      factors,
      "lower",
      inner.map((v, i) => 2 * v + (lower[i] as number)),
    );
    const slack = 1 + (16 * n + 64) * 2 ** -53;
    const roundings = Math.max(factors.roundings, inverses.roundings) + 16;
    const g = (roundings * 2 ** -53) / (1 - roundings * 2 ** -53);
    const alpha = g * largest(sums) * slack + UNDERFLOW;
    if (!(alpha < 1 / 2 && largest(sums) < LARGEST && largest(both) < LARGEST)) return undefined;
    const factor = slack / (1 - alpha);
    return { weights: both.map((v) => v * factor) };
  } finally {
    inverses.free();
  }
}
