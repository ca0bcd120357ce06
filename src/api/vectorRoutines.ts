// The synchronous functions on vectors, on the embedded engine. Each takes either precision, but does not mix them.

import { embeddedVectors } from "../engines/embeddedVectors.ts";
import { level1 } from "../routines/level1.ts";
import type { BothPrecisions } from "../routines/types.ts";

const vectors = /* @__PURE__ */ level1(embeddedVectors);

/**
 * The sum of x, rounded once (`round`: "nearest", "up", "down" or "zero"). As in `Math.sumPrecise`, the sum of no terms, or only of -0, is -0.
 * @example
 * const x = Float64Array.of(1e16, 0.1, -1e16, 0.2);
 * exsum(x); // 0.30000000000000004
 * exsum(x, { round: "down" }); // 0.3
 */
export const exsum: BothPrecisions["exsum"] = vectors.exsum;
/**
 * The sum of the magnitudes of x, rounded once (`round`: "nearest", "up", "down" or "zero").
 * @example
 * exasum(Float64Array.of(-0.1, 0.2, -0.3)); // 0.6
 */
export const exasum: BothPrecisions["exasum"] = vectors.exasum;
/**
 * The dot product of x and y, rounded once (`round`: "nearest", "up", "down" or "zero"). Intermediate products neither overflow nor underflow.
 * @example
 * exdot(Float64Array.of(1e200, 1, -1e200), Float64Array.of(1e200, 1, 1e200)); // 1
 */
export const exdot: BothPrecisions["exdot"] = vectors.exdot;
/**
 * The Euclidean norm of x: the root of the exact sum of squares, rounded once (`round`: "nearest", "up", "down" or "zero").
 * @example
 * exnrm2(Float64Array.of(3e-200, 4e-200)); // 5e-200
 */
export const exnrm2: BothPrecisions["exnrm2"] = vectors.exnrm2;
/**
 * y := alpha x + y, a fused multiply-add per element. With alpha = 0, x is not read. Writes y and returns it.
 * @example
 * exaxpy(3, Float64Array.of(0.1, 1), Float64Array.of(0.2, 1)); // Float64Array(2) [ 0.5, 4 ]
 */
export const exaxpy: BothPrecisions["exaxpy"] = vectors.exaxpy;
/**
 * x := alpha x, one rounding per element. Writes x and returns it.
 * @example
 * exscal(3, Float64Array.of(0.1, 0.2)); // Float64Array(2) [ 0.30000000000000004, 0.6000000000000001 ]
 */
export const exscal: BothPrecisions["exscal"] = vectors.exscal;
/**
 * x := x / alpha, a true division per element, never a product with 1 / alpha. Writes x and returns it.
 * @example
 * exinvscal(3, Float64Array.of(5, 7)); // Float64Array(2) [ 1.6666666666666667, 2.3333333333333335 ]
 */
export const exinvscal: BothPrecisions["exinvscal"] = vectors.exinvscal;
