export { Accumulator } from "./accumulator.ts";
export type { Level1, RoundOptions } from "./dense/level1.ts";
export { EngineError, FormatError, HalfulpError, ShapeError } from "./errors.ts";
export { allocate, free } from "./memory.ts";
export { illConditionedDot } from "./problems/illConditionedDot.ts";
export type { Format, Real, Rounding } from "./types.ts";

import { type Level1, level1 } from "./dense/level1.ts";
import { embedded } from "./engines/embedded.ts";

// Synchronous, on this thread, with the embedded engine. Each for both precisions, never mixed.
type Both = Level1<Float64Array> & Level1<Float32Array>;
const routines: Both = /* @__PURE__ */ level1(embedded);

/** The sum of x, rounded once (`round`: "nearest", "up", "down" or "zero"). As `Math.sumPrecise`, -0 if there are no terms but -0. */
export const exsum: Both["exsum"] = routines.exsum;
/** The sum of the magnitudes of x, rounded once (`round`: "nearest", "up", "down" or "zero"). */
export const exasum: Both["exasum"] = routines.exasum;
/** The dot product of x and y, rounded once (`round`: "nearest", "up", "down" or "zero"). No product overflows or underflows on the way. */
export const exdot: Both["exdot"] = routines.exdot;
/** The Euclidean norm of x: the root of the exact sum of squares, rounded once (`round`: "nearest", "up", "down" or "zero"). */
export const exnrm2: Both["exnrm2"] = routines.exnrm2;
/** y := alpha x + y, a fused multiply-add an element. With alpha = 0, x is not read. Writes y and returns it. */
export const exaxpy: Both["exaxpy"] = routines.exaxpy;
/** x := alpha x, one rounding an element. Writes x and returns it. */
export const exscal: Both["exscal"] = routines.exscal;
/** x := x / alpha, a true division an element, never a product with 1 / alpha. Writes x and returns it. */
export const exinvscal: Both["exinvscal"] = routines.exinvscal;
