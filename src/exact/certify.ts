// How a reduction is decided: a result from an enclosure or from a sum with a bound, if every number that the sum can be rounds to it.
// The reductions of all engines end here: engines/reduce.ts, engines/wasm/jobs/level1.ts, engines/opencl/reductions/reduce.ts and
// cli/streamedSum.ts.

import type { Format, Rounding } from "../arrays/types.ts";
import { enclosure, roundEnclosure, roundRootEnclosure } from "./enclosure.ts";
import type { Superaccumulator } from "./superaccumulator.ts";

/** The result that the last enclosure proves, or NaN. `root` asks for the square root of the sum. */
export function certify(root: boolean, mode: Rounding, format: Format): number {
  const high = enclosure[0] as number;
  const low = enclosure[1] as number;
  const bound = enclosure[2] as number;
  return root ? roundRootEnclosure(high, low, bound, mode, format) : roundEnclosure(high, low, bound, mode, format);
}

/** The result of a sum that is off by at most `bound`, or undefined if the bound leaves it open. The accumulator is changed. */
export function settleWithin(sum: Superaccumulator, bound: number, root: boolean, mode: Rounding, format: Format): number | undefined {
  if (bound === 0) return roundSum(sum, root, mode, format);
  const lost = bound * (1 + 2 ** -20); // the bound is itself a sum of rounded numbers
  const upper = roundSum(sum.add(lost), root, mode, format);
  const lower = roundSum(sum.add(-lost).add(-lost), root, mode, format);
  return Object.is(lower, upper) ? upper : undefined;
}

/**
 * The sum, or its square root, rounded once. A sum of squares is not negative, but the lower end of an interval around one can be: its
 * root is NaN, which settles nothing.
 */
export function roundSum(sum: Superaccumulator, root: boolean, mode: Rounding, format: Format): number {
  return root ? sum.squareRoot(mode, format) : sum.round(mode, format);
}
