// Means, variances and covariances from exact sums, rounded once (docs/spec.md, "Statistics"). Each is a quotient p / q of integers:
// the functions round...() compute it from superaccumulators; the functions certify...() from enclosures of the sums, and return NaN if
// these do not prove the result. routines/statistics.ts, Moments and the command call them.
import type { Format } from "../arrays/types.ts";
import { roundEnclosure } from "./enclosure.ts";
import { roundRational } from "./rounding.ts";
import type { Superaccumulator } from "./superaccumulator.ts";
import { twoProd, twoSum } from "./transforms.ts";

/** A sum within `bound` of high + low. */
export type Enclosure = readonly [high: number, low: number, bound: number];

/** RN(sum / n), NaN for n = 0. */
export function roundMean(sum: Superaccumulator, n: number, format: Format): number {
  return n === 0 ? Number.NaN : sum.quotient(n, "nearest", format);
}

/** RN(sum w_i x_i / sum w_i), NaN if the weights sum to zero or are not finite. */
export function roundWeightedMean(products: Superaccumulator, weights: Superaccumulator, format: Format): number {
  const sign = weights.sign();
  if (weights.special() !== undefined || sign === 0) return Number.NaN;
  const special = products.special();
  if (special !== undefined) return special * sign;
  const [p, e] = products.integer();
  const [q, f] = weights.integer();
  return sign < 0 ? roundRational(-p, -q, e - f, "nearest", format) : roundRational(p, q, e - f, "nearest", format);
}

/** RN((sum x_i y_i - sum x_i sum y_i / n) / (n - ddof)), NaN unless n > ddof and all data are finite. With y = x, the variance. */
export function roundCovariance(
  n: number,
  x: Superaccumulator,
  y: Superaccumulator,
  products: Superaccumulator,
  ddof: number,
  format: Format,
): number {
  if (!(n > ddof) || [x, y, products].some((sum) => sum.special() !== undefined)) return Number.NaN;
  const [s, e] = products.integer();
  const [a, f] = x.integer();
  const [b, g] = y.integer();
  // n s 2^e - a b 2^(f + g), over n (n - ddof)
  const lowest = Math.min(e, f + g);
  const numerator = ((BigInt(n) * s) << BigInt(e - lowest)) - ((a * b) << BigInt(f + g - lowest));
  return roundRational(numerator, BigInt(n) * BigInt(n - ddof), lowest, "nearest", format);
}

// Within these bounds nothing below can overflow, and what underflows is less than TINY.
const SMALL = 2 ** -300;
const LARGE = 2 ** 300;
const TINY = 2 ** -900;
const isModerate = (x: number): boolean => Math.abs(x) > SMALL && Math.abs(x) < LARGE;

// For bounds: they are sums of rounded numbers (see BOUND_SLACK in enclosure.ts), and factors close to 1 are left out below.
const SLACK = 1.01;

/**
 * The quotient of two sums, rounded, or NaN. With N = h + l + e, |e| <= beta, and D = H + L + E, |E| <= B, where h and H have the leading
 * bits, and q = RN(h / H):
 *   N / D - q = (r + l - q L + e - q E) / D,   r = h - q H, which is a double (the remainder of a rounded quotient).
 * t = RN(RN(r + l) - RN(q L)) errs by at most 2^-51 (|r| + |l| + |q L|), d = RN(t / H) by 2^-53 |d|, and D differs from H by
 * (|L| + B) / |H| <= 2^-40.
 */
export function certifyQuotient([nHigh, nLow, nBound]: Enclosure, [dHigh, dLow, dBound]: Enclosure, format: Format): number {
  const H = dHigh + dLow;
  const L = twoSum(dHigh, dLow, H);
  if (!(isModerate(H) && dBound < Math.abs(H) * 2 ** -42)) return Number.NaN;
  const h = nHigh + nLow;
  const l = twoSum(nHigh, nLow, h);
  if (h === 0 && l === 0 && nBound === 0) return 0;
  if (!isModerate(h)) return Number.NaN;
  const q = h / H;
  const p = q * H;
  const r = h - p - twoProd(q, H, p);
  if (r === 0 && l === 0 && L === 0 && nBound === 0 && dBound === 0) return roundEnclosure(q, 0, 0, "nearest", format);
  const t = r + l - q * L;
  const d = t / H;
  const size = 2 ** -51 * (Math.abs(r) + Math.abs(l) + Math.abs(q * L));
  const error = (size + nBound + Math.abs(q) * dBound + Math.abs(d) * (Math.abs(L) + dBound)) / Math.abs(H) + 2 ** -52 * Math.abs(d);
  return roundEnclosure(q, d, SLACK * error + TINY, "nearest", format);
}

/**
 * The same for a covariance: N = n S - X Y with S = c + d, X = a + b, Y = a' + b' and their bounds. n c and a a' are sums of two doubles,
 * high = RN(n c - a a'), and everything else is small. It has nine roundings, each of at most u times the sum of the magnitudes or
 * a part of it, together less than 2^-50 times that sum.
 */
export function certifyCovariance(n: number, x: Enclosure, y: Enclosure, products: Enclosure, ddof: number, format: Format): number {
  const [a, b, alpha] = leadingFirst(x);
  const [A, B, beta] = leadingFirst(y);
  const [c, d, gamma] = leadingFirst(products);
  const p = n * c;
  const s = a * A;
  // NaN and infinities fail here.
  if (!((p === 0 || isModerate(p)) && (s === 0 ? a === 0 || A === 0 : isModerate(s)) && Math.abs(a) + Math.abs(A) < LARGE))
    return Number.NaN;
  const pLow = p === 0 ? 0 : twoProd(n, c, p);
  const sLow = s === 0 ? 0 : twoProd(a, A, s);
  const high = p - s;
  const lost = twoSum(p, -s, high);
  const [nd, aB, Ab] = [n * d, a * B, A * b];
  const low = lost + (pLow - sLow) + (nd - (aB + Ab));
  const size = [lost, pLow, sLow, nd, aB, Ab].reduce((sum, term) => sum + Math.abs(term), 0);
  const neglected = Math.abs(b * B) + alpha * (Math.abs(A) + Math.abs(B) + beta) + beta * (Math.abs(a) + Math.abs(b)) + n * gamma;
  const isExact = b === 0 && B === 0 && d === 0 && alpha === 0 && beta === 0 && gamma === 0;
  const bound = isExact ? 2 ** -50 * size : SLACK * (2 ** -50 * size + neglected) + TINY;
  const q = n * (n - ddof);
  return certifyQuotient([high, low, bound], [q, twoProd(n, n - ddof, q), 0], format);
}

function leadingFirst([high, low, bound]: Enclosure): Enclosure {
  const sum = high + low;
  return [sum, twoSum(high, low, sum), bound];
}
