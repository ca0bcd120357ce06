// How a reduction is decided: by an enclosure, or by a sum with an error bound, if all values that the sum can have round to the same
// result. The reductions of all engines end here: engines/reduce.ts, engines/wasm/jobs/level1.ts,
// engines/opencl/reductions/reduce.ts and the streamed sums of the command.

import type { Format, Rounding } from "../arrays/types.ts";
import { BOUND_SLACK, enclosure, roundEnclosure, roundRootEnclosure } from "./enclosure.ts";
import type { Superaccumulator } from "./superaccumulator.ts";

/** The result that the last enclosure proves, or NaN. If `root`, the result is the square root of the sum. */
export function certify(root: boolean, mode: Rounding, format: Format): number {
  const high = enclosure[0] as number;
  const low = enclosure[1] as number;
  const bound = enclosure[2] as number;
  return root ? roundRootEnclosure(high, low, bound, mode, format) : roundEnclosure(high, low, bound, mode, format);
}

/** The result of a sum that is off by at most `bound`, or undefined if that does not decide it. Changes the accumulator. */
export function settleWithin(sum: Superaccumulator, bound: number, root: boolean, mode: Rounding, format: Format): number | undefined {
  if (bound === 0) return roundSum(sum, root, mode, format);
  const lost = bound * BOUND_SLACK;
  const upper = roundSum(sum.add(lost), root, mode, format);
  const lower = roundSum(sum.add(-lost).add(-lost), root, mode, format);
  return Object.is(lower, upper) ? upper : undefined;
}

/**
 * The sum, or its square root, rounded once. A sum of squares is not negative, but the lower end of an interval around it can be: then
 * its root is NaN, which decides nothing.
 */
export function roundSum(sum: Superaccumulator, root: boolean, mode: Rounding, format: Format): number {
  return root ? sum.squareRoot(mode, format) : sum.round(mode, format);
}
