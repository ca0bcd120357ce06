// The statistics as synchronous functions on the embedded engine.
import { embeddedVectors } from "../engines/embeddedVectors.ts";
import { type Statistics, statistics } from "../routines/statistics.ts";

const vectors = /* @__PURE__ */ statistics(embeddedVectors);

/**
 * The mean of x, rounded once; NaN for an empty x. With weights of the same length and precision, sum w_i x_i / sum w_i, NaN if the weights
 * sum to zero.
 * @example
 * exmean(Float64Array.of(1e16, 1, -1e16)); // 0.3333333333333333
 * exmean(Float64Array.of(1, 2), Float64Array.of(3, 1)); // 1.25
 */
export const exmean: Statistics["exmean"] = vectors.exmean;
/**
 * The variance of x: (sum x_i^2 - (sum x_i)^2 / n) / (n - ddof), exact and rounded once. `ddof` is 1 for the sample variance (default), 0
 * for the population variance. NaN unless n > ddof and all x_i are finite.
 * @example
 * const x = Float64Array.of(1e9 + 1, 1e9 + 2, 1e9 + 3);
 * exvariance(x); // 1
 * exvariance(x, 0); // 0.6666666666666666
 */
export const exvariance: Statistics["exvariance"] = vectors.exvariance;
/**
 * The covariance of x and y: (sum x_i y_i - sum x_i sum y_i / n) / (n - ddof), exact and rounded once. `ddof` is 1 by default. NaN unless
 * n > ddof and all data are finite.
 * @example
 * excovariance(Float64Array.of(1, 2, 3), Float64Array.of(2, 4, 7)); // 2.5
 */
export const excovariance: Statistics["excovariance"] = vectors.excovariance;
