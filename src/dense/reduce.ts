import type { Kernels } from "../engines/kernels.ts";
import { enclosure, roundEnclosure, roundRootEnclosure } from "../exact/enclosure.ts";
import { Superaccumulator } from "../exact/superaccumulator.ts";
import type { Format, Real, Reduction, Rounding } from "../types.ts";

/**
 * The stages of a reduction, each only if the one before could not decide: the certified filter, the ladder with
 * its bound, the superaccumulator. `root` asks for the square root of the sum.
 */
export function reduce(kernels: Kernels, op: Reduction, x: Real, y: Real, root: boolean, mode: Rounding, format: Format): number {
  kernels.enclose(op, x, y);
  const high = enclosure[0] as number;
  const low = enclosure[1] as number;
  const bound = enclosure[2] as number;
  const certified = root ? roundRootEnclosure(high, low, bound, mode, format) : roundEnclosure(high, low, bound, mode, format);
  if (certified === certified) return certified;
  return settle(kernels, op, x, y, root, mode, format);
}

function settle(kernels: Kernels, op: Reduction, x: Real, y: Real, root: boolean, mode: Rounding, format: Format): number {
  const sum = new Superaccumulator();
  const lost = kernels.accumulate(op, x, y, sum, false) * (1 + 2 ** -20); // itself a sum of rounded numbers
  if (lost !== 0) {
    const upper = round(sum.add(lost), root, mode, format);
    const lower = round(sum.add(-lost).add(-lost), root, mode, format);
    if (Object.is(lower, upper)) return upper;
    kernels.accumulate(op, x, y, sum.clear(), true);
  }
  return round(sum, root, mode, format);
}

/** A sum of squares is not negative, but the lower end of an interval around one can be: NaN, which settles nothing. */
function round(sum: Superaccumulator, root: boolean, mode: Rounding, format: Format): number {
  return root ? sum.squareRoot(mode, format) : sum.round(mode, format);
}
