// The synchronous functions on vectors, on the embedded engine. Each takes either precision, but does not mix them.

import { embeddedVectors } from "../engines/embeddedVectors.ts";
import { level1 } from "../routines/level1.ts";
import type { BothPrecisions } from "../routines/types.ts";

const vectors = /* @__PURE__ */ level1(embeddedVectors);

/** The sum of x, rounded once (`round`: "nearest", "up", "down" or "zero"). As in `Math.sumPrecise`, the sum of no terms, or only of -0, is -0. */
export const exsum: BothPrecisions["exsum"] = vectors.exsum;
/** The sum of the magnitudes of x, rounded once (`round`: "nearest", "up", "down" or "zero"). */
export const exasum: BothPrecisions["exasum"] = vectors.exasum;
/** The dot product of x and y, rounded once (`round`: "nearest", "up", "down" or "zero"). Intermediate products neither overflow nor underflow. */
export const exdot: BothPrecisions["exdot"] = vectors.exdot;
/** The Euclidean norm of x: the root of the exact sum of squares, rounded once (`round`: "nearest", "up", "down" or "zero"). */
export const exnrm2: BothPrecisions["exnrm2"] = vectors.exnrm2;
/** y := alpha x + y, a fused multiply-add per element. With alpha = 0, x is not read. Writes y and returns it. */
export const exaxpy: BothPrecisions["exaxpy"] = vectors.exaxpy;
/** x := alpha x, one rounding per element. Writes x and returns it. */
export const exscal: BothPrecisions["exscal"] = vectors.exscal;
/** x := x / alpha, a true division per element, never a product with 1 / alpha. Writes x and returns it. */
export const exinvscal: BothPrecisions["exinvscal"] = vectors.exinvscal;
