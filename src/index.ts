export { Accumulator } from "./accumulator.ts";
export type { Level1, RoundOptions } from "./dense/level1.ts";
export { EngineError, FormatError, HalfulpError, ShapeError } from "./errors.ts";
export { allocate, free } from "./memory.ts";
export { illConditionedDot } from "./problems/illConditionedDot.ts";
export type { Real, Rounding } from "./types.ts";

import { level1 } from "./dense/level1.ts";
import { embedded } from "./engines/embedded.ts";

// synchronous, on this thread, with the embedded engine
export const { exsum, exasum, exdot, exnrm2, exaxpy, exscal, exinvscal } = /* @__PURE__ */ level1(embedded);
