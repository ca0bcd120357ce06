import type { Format, Real, Reduction, Rounding } from "../arrays/types.ts";
import type { VectorKernels } from "../engines/kernels.ts";
import { enclosure, roundEnclosure, roundRootEnclosure } from "../exact/enclosure.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";

/**
 * The stages of a reduction, each only if the one before could not decide: the certified filter, the ladder with
 * its bound, the superaccumulator. `root` asks for the square root of the sum.
 */
export function reduce(kernels: VectorKernels, op: Reduction, x: Real, y: Real, root: boolean, mode: Rounding, format: Format): number {
  if (x.length >= LONG && skipFilter(op, x.length)) {
    const result = settle(kernels, op, x, y, root, mode, format);
    if (lost > 0 && Math.abs(result) > lost * FILTER_MARGIN) failed.times = 0; // nothing lost says nothing
    return result;
  }
  kernels.enclose(op, x, y);
  const certified = certify(root, mode, format);
  if (certified === certified) {
    if (failed.length === x.length) failed.times = 0;
    return certified;
  }
  if (x.length >= LONG) remember(op, x.length);
  return settle(kernels, op, x, y, root, mode, format);
}

// Who sums what cancels does it again and again. Where the filter was not enough for the last two sums of this kind and
// length, the next are not brought before it, which saves a quarter of the time at a condition of 1e30. A result of the
// ladder that the filter would have known ends that; where it cannot tell, one in RETRY_EVERY is brought before the filter.
const RETRY_EVERY = 64;
const LONG = 1000;
// Of 8192 terms the ladder loses 2^-162 of the largest, the filter 2^-74, and it must know 54 bits: a result so much larger
// than what the ladder lost would have come through the filter.
const FILTER_MARGIN = 2 ** 144;
let lost = 0; // the bound of what the ladder lost last
const failed: { op: Reduction; length: number; times: number; skipped: number } = { op: "sum", length: 0, times: 0, skipped: 0 };

function skipFilter(op: Reduction, length: number): boolean {
  return failed.times > 1 && failed.length === length && failed.op === op && ++failed.skipped % RETRY_EVERY !== 0;
}

function remember(op: Reduction, length: number): void {
  failed.times = failed.op === op && failed.length === length ? failed.times + 1 : 1;
  failed.op = op;
  failed.length = length;
}

/** The result that the last enclosure proves, or NaN. */
export function certify(root: boolean, mode: Rounding, format: Format): number {
  const high = enclosure[0] as number;
  const low = enclosure[1] as number;
  const bound = enclosure[2] as number;
  return root ? roundRootEnclosure(high, low, bound, mode, format) : roundEnclosure(high, low, bound, mode, format);
}

function settle(kernels: VectorKernels, op: Reduction, x: Real, y: Real, root: boolean, mode: Rounding, format: Format): number {
  const sum = new Superaccumulator();
  lost = kernels.accumulate(op, x, y, sum, false);
  const settled = settleWithin(sum, lost, root, mode, format);
  if (settled !== undefined) return settled;
  kernels.accumulate(op, x, y, sum.clear(), true);
  return roundSum(sum, root, mode, format);
}

/** The result of a sum from which as much as `bound` was lost, or undefined where that leaves it open. */
export function settleWithin(sum: Superaccumulator, bound: number, root: boolean, mode: Rounding, format: Format): number | undefined {
  if (bound === 0) return roundSum(sum, root, mode, format);
  const lost = bound * (1 + 2 ** -20); // itself a sum of rounded numbers
  const upper = roundSum(sum.add(lost), root, mode, format);
  const lower = roundSum(sum.add(-lost).add(-lost), root, mode, format);
  return Object.is(lower, upper) ? upper : undefined;
}

/** A sum of squares is not negative, but the lower end of an interval around one can be: NaN, which settles nothing. */
export function roundSum(sum: Superaccumulator, root: boolean, mode: Rounding, format: Format): number {
  return root ? sum.squareRoot(mode, format) : sum.round(mode, format);
}
