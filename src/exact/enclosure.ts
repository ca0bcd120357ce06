// Enclosures, the results of the certified filters: a sum lies within `bound` of high + low. If every number in that interval rounds to
// the same result, the result is proved; if not, the functions here return NaN, and a later stage must decide. The rounded result is
// unique, so it does not matter which filter found the interval, or in which order it added the terms. Twins in the kernels:
// assembly/exact/certificate.ts and opencl/exact/certificate.cl.
import type { Format, Rounding } from "../arrays/types.ts";
import { nextDown, nextUp, stepSingle } from "./bits.ts";
import { twoProd, twoSum } from "./transforms.ts";

/** high, low and bound of the sum that a filter computed last. */
export const enclosure = new Float64Array(3);

/** Begin a sum of enclosures. */
export function startEnclosure(): void {
  enclosure.fill(0);
}

/** Add another enclosure to it: TwoSum for the high parts, two roundings among the small parts. */
export function addEnclosure(high: number, low: number, bound: number): void {
  const [h, l, b] = enclosure as unknown as [number, number, number];
  const sum = h + high;
  const error = twoSum(h, high, sum);
  const rest = l + (low + error);
  enclosure[0] = sum;
  enclosure[1] = rest;
  enclosure[2] = b + bound + 2 ** -52 * (Math.abs(low) + Math.abs(error) + Math.abs(rest));
}

// Outside these bounds the arithmetic below could underflow or overflow; such sums are left to the next stage.
const SMALL = 2 ** -900;
const LARGE = 2 ** 1000;
/** Covers the error of a bound, which is itself a sum of rounded numbers: at most 2^30 of them, all positive, relative error below 2^-20. */
export const BOUND_SLACK = 1 + 2 ** -20;
const SUM_SLACK = 1 + 2 ** -50; // covers the addition of a bound to |l| and this product

/** The number to which all numbers within `bound` of high + low round, or NaN. */
export function roundEnclosure(high: number, low: number, bound: number, mode: Rounding, format: Format): number {
  const h = high + low;
  const l = twoSum(high, low, h);
  if (bound === 0 && h - h === 0) {
    // The sum is exactly high + low and h is its rounding, so ties and exact results are decided. An exact zero is +0.
    if (h === 0 && l === 0) return 0;
    if (format === "binary64" && (l === 0 || mode === "nearest")) return h;
    if (l === 0) return roundSingle(h, mode);
  }
  const size = Math.abs(h);
  if (!(size > SMALL && size < LARGE)) return Number.NaN;
  // |sum - h| <= m
  const m = (Math.abs(l) + bound * BOUND_SLACK) * SUM_SLACK;
  if (format === "binary32") {
    const lower = roundSingle(nextDown(h - m), mode);
    return Object.is(lower, roundSingle(nextUp(h + m), mode)) ? lower : Number.NaN;
  }
  if (mode === "nearest") return h + m === h && h - m === h ? h : Number.NaN;
  // Directed: the sum must be on a known side of h, and closer to h than the next number is.
  if (!(Math.abs(l) > bound * BOUND_SLACK)) return Number.NaN;
  const neighbour = l > 0 ? nextUp(h) : nextDown(h);
  if (!(m < Math.abs(neighbour - h))) return Number.NaN;
  const upper = Math.max(h, neighbour);
  const lower = Math.min(h, neighbour);
  return mode === "up" || (mode === "zero" && h < 0) ? upper : lower;
}

/**
 * The same for the square root of the sum. With r = RN(sqrt(h)), sqrt(h + l + e) for |e| <= bound is
 *   r + d + (at most bound / (2 r), the curvature d^2 / (2 r), and the roundings of d),  d = (h - r^2 + l) / (2 r).
 * h - r^2 is exact (the remainder of a correctly rounded root is a double); its sum with l, the division and the doubling round
 * three times: 4 u |d|. Requiring bound < 2^-40 h keeps the second-order terms of bound below 2^-40 of the first: 0.51 covers
 * them, and 2 d^2 / r covers the rest of the series.
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
  // A bound or rest that underflows to 0 here must not prove anything, so a small part of it is kept.
  const underflow = bound === 0 && rest === 0 ? 0 : 4 * Number.MIN_VALUE;
  const error = (0.51 * bound * BOUND_SLACK) / r + underflow + 2 ** -51 * Math.abs(d) + (2 * d * d) / r;
  return roundEnclosure(r, d, error, mode, format);
}

/** A binary64 number rounded to binary32. */
export function roundSingle(x: number, mode: Rounding): number {
  const nearest = Math.fround(x);
  if (nearest === x || mode === "nearest" || Number.isNaN(x)) return nearest;
  const up = mode === "up" || (mode === "zero" && x < 0);
  if (up ? nearest > x : nearest < x) return nearest;
  // Step to the other side of x. nearest has the sign of x, unless it is zero.
  if (nearest === 0) return up ? 1.401298464324817e-45 : -1.401298464324817e-45;
  return stepSingle(nearest, up === nearest > 0 ? 1 : -1);
}
