// A proof that a matrix is regular, and a bound of its inverse, after Oishi and Rump ("Fast verification of solutions of matrix
// equations", 2002): from binary64 factors, approximate inverses of these, and what is known of all of them beforehand.
//
// Let F be the scaled matrix that was factored, P F = L U + D, L X = I + E1, U Y = I + E2. In any order of summation, with or
// without fused multiply-adds (Higham, "Accuracy and Stability", theorems 8.5 and 9.3), entry by entry
//
//   |D| <= g |L| |U|,   |E1| <= g |L| |X|,   |E2| <= g |U| |Y|,   g = m u / (1 - m u),   u = 2^-53.
//
// m = n would do for any kernel. Those that sum up blocks of products before they subtract them have far fewer roundings on the way of
// a product: if c_s = fl(c_(s-1) - t_s) for s = 1, ..., q and t_s = fl(sum of p products), then
//
//   c_0 = c_q (1 + d_1) ... + sum t_s (1 + d_1) ... (1 + d_(s-1)) up to inverses, |d| <= u,
//
// so that no product has more than p + q factors. Engines tell that number; 16 more are for divisions and for product.ts.
//
// Then P F Y X = (L U + D) Y X = I + E with E = E1 + L E2 X + D Y X, and with e = (1, ..., 1)
//
//   |E| e <= g |L| (|X| e + 2 |U| |Y| |X| e).
//
// If the largest of these sums, alpha, is below 1, then F is regular, F^-1 = Y X (I + E)^-1 P, and for any r
//
//   |F^-1 r| <= |Y| |X| e * norm(r) / (1 - alpha),
//
// since norm((I + E)^-1 P r) <= norm(r) / (1 - alpha). The four sums |T| v are computed in binary64 from terms that are not negative:
// each is off by less than (n + 2) u of itself, and SLACK covers that many times over.
//
// Underflow. An operation that underflows is off by another 2^-1074, a scaled entry of F by 2^-700 at the most (system.ts scales
// what is more unlike than that into a copy). With the diagonal of U and all sums below 2^200, which is asked for, each of D, E1 and
// E2 has at most 2^-690 more in an entry (underflow of a quotient is multiplied by its divisor, which is on the diagonal), and alpha at most n^2 2^-690 2^401 < 2^-200 for n < 2^40.

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

/** The certificate of binary64 factors, or nothing if they are too inaccurate for one. */
export function* certify(routine: string, factors: ApproximateFactors): Routine<Certificate | undefined> {
  const { n } = factors;
  if (factors.column >= 0 || !(factors.largest < LARGEST)) return undefined;
  const inverses = (yield (kernels) => kernels.approximate.invert(routine, factors)) as ApproximateInverses;
  try {
    const weighed = function* (
      triangles: ApproximateFactors | ApproximateInverses,
      part: "lower" | "upper",
      v: Float64Array,
    ): Routine<Float64Array> {
      const out = new Float64Array(n);
      yield (kernels) => kernels.approximate.weigh(routine, triangles, part, v, out);
      return out;
    };
    const lower = yield* weighed(inverses, "lower", new Float64Array(n).fill(1)); // |X| e
    const both = yield* weighed(inverses, "upper", lower); // |Y| |X| e
    const inner = yield* weighed(factors, "upper", both);
    const sums = yield* weighed(
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
