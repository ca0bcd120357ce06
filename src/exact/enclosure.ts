import type { Format, Rounding } from "../arrays/types.ts";
import { nextDown, nextUp, stepSingle } from "./bits.ts";
import { twoProd, twoSum } from "./transforms.ts";

// What a certified filter knows of a sum: it lies within `bound` of high + low. If every number in that
// interval rounds to the same result, the result is proved; if not, NaN, and a later stage must decide.
// The rounded result is unique, so it does not matter which filter, in which order, found the interval.

/** high, low and bound of the sum that a filter looked at last. */
export const enclosure = new Float64Array(3);

/** Begin a sum of enclosures with nothing. */
export function startEnclosure(): void {
  enclosure.fill(0);
}

/** Add another enclosure to it: the highs by TwoSum, two roundings among the small parts. */
export function addEnclosure(high: number, low: number, bound: number): void {
  const [h, l, b] = enclosure as unknown as [number, number, number];
  const sum = h + high;
  const error = twoSum(h, high, sum);
  const rest = l + (low + error);
  enclosure[0] = sum;
  enclosure[1] = rest;
  enclosure[2] = b + bound + 2 ** -52 * (Math.abs(low) + Math.abs(error) + Math.abs(rest));
}

// Outside these the arithmetic below could under- or overflow. Sums there are left to the next stage.
const SMALL = 2 ** -900;
const LARGE = 2 ** 1000;

/** The one result of rounding any number within bound of high + low, or NaN. */
export function roundEnclosure(high: number, low: number, bound: number, mode: Rounding, format: Format): number {
  const h = high + low;
  const l = twoSum(high, low, h);
  if (bound === 0 && h - h === 0) {
    // The sum is high + low, and h that sum rounded: a tie or an exact result is no doubt. An exact zero is +0.
    if (h === 0 && l === 0) return 0;
    if (format === "binary64" && (l === 0 || mode === "nearest")) return h;
    if (l === 0) return roundSingle(h, mode);
  }
  const size = Math.abs(h);
  if (!(size > SMALL && size < LARGE)) return Number.NaN;
  // |sum - h| <= m. A bound is itself a sum of many rounded numbers (at most 2^30 of them, all positive:
  // relative error below 2^-20); the second factor covers the addition and this product.
  const m = (Math.abs(l) + bound * (1 + 2 ** -20)) * (1 + 2 ** -50);
  if (format === "binary32") {
    const lower = roundSingle(nextDown(h - m), mode);
    return Object.is(lower, roundSingle(nextUp(h + m), mode)) ? lower : Number.NaN;
  }
  if (mode === "nearest") return h + m === h && h - m === h ? h : Number.NaN;
  // Directed: which side of h the sum is on must be known, and that it stops short of the next number.
  if (!(Math.abs(l) > bound * (1 + 2 ** -20))) return Number.NaN;
  const neighbour = l > 0 ? nextUp(h) : nextDown(h);
  if (!(m < Math.abs(neighbour - h))) return Number.NaN;
  const upper = Math.max(h, neighbour);
  const lower = Math.min(h, neighbour);
  return mode === "up" || (mode === "zero" && h < 0) ? upper : lower;
}

/**
 * The same for the square root of the sum. With r = RN(sqrt(h)), sqrt(h + l + e) for |e| <= bound is
 *   r + d + (at most bound / (2 r), the curvature d^2 / (2 r), and the roundings of d),  d = (h - r^2 + l) / (2 r).
 * h - r^2 is exact (the remainder of a correctly rounded root is a double); its sum with l, the division and
 * the doubling round three times: 4 u |d|. Asking bound < 2^-40 h keeps the second-order terms of bound below
 * 2^-40 of the first: 0.51 covers them, and 2 d^2 / r the rest of the series.
 */
export function roundRootEnclosure(high: number, low: number, bound: number, mode: Rounding, format: Format): number {
  const h = high + low;
  const l = twoSum(high, low, h);
  if (h === 0 && l === 0 && bound === 0) return 0;
  if (!(h > SMALL && h < LARGE && bound < h * 2 ** -40)) return Number.NaN;
  const r = Math.sqrt(h);
  const p = r * r;
  const rest = h - p - twoProd(r, r, p) + l;
  const d = rest / (2 * r);
  // A bound or a rest that underflows here must not become a proof: something is left of each.
  const underflow = bound === 0 && rest === 0 ? 0 : 4 * Number.MIN_VALUE;
  const error = (0.51 * bound * (1 + 2 ** -20)) / r + underflow + 2 ** -51 * Math.abs(d) + (2 * d * d) / r;
  return roundEnclosure(r, d, error, mode, format);
}

/** A binary64 number rounded to binary32. */
export function roundSingle(x: number, mode: Rounding): number {
  const nearest = Math.fround(x);
  if (nearest === x || mode === "nearest" || Number.isNaN(x)) return nearest;
  const up = mode === "up" || (mode === "zero" && x < 0);
  if (up ? nearest > x : nearest < x) return nearest;
  // One step over x: nearest has its sign, except that it may be a zero.
  if (nearest === 0) return up ? 1.401298464324817e-45 : -1.401298464324817e-45;
  return stepSingle(nearest, up === nearest > 0 ? 1 : -1);
}
