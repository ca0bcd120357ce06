// The certificate, the twin of src/exact/enclosure.ts for rounding to nearest: if every number in an enclosure rounds to the same
// result, that result is proved. Functions named certified... return it, or NaN if the enclosure does not decide it.
import { BOUND, GRID, HIGH, LOW, PAPER, ROUND, SINGLE } from "../layout";
import { U, productExcess, remainder, splat, twoSumError } from "../simd";

@inline export const SMALL: f64 = 1.1830521861667747e-271; // 2^-900
@inline export const LARGE: f64 = 1.0715086071862673e301; // 2^1000
// A bound is itself a sum of many rounded numbers, and so is its sum with |l|: see src/exact/enclosure.ts.
@inline export const BOUND_SLACK: f64 = 1.00000095367431640625; // 1 + 2^-20
@inline export const SUM_SLACK: f64 = 1.0000000000000008882; // 1 + 2^-50
@inline const TINY: f64 = 8.095e-320; // slightly above 2^-1060: more than a few underflowing products can lose

@inline function nextUp(x: f64): f64 { return x == 0 ? f64.MIN_VALUE : reinterpret<f64>(reinterpret<i64>(x) + (x > 0 ? 1 : -1)); }

// certified() for loops, in the usual case: binary64, and a bound that is inflated already.
@inline export function inflated(bound: f64): f64 { return bound * BOUND_SLACK; }
@inline export function certifiedQuickly(high: f64, low: f64, bound: f64): f64 {
  const h = high + low, m = (abs(twoSumError(high, low, h)) + bound) * SUM_SLACK;
  return h + m == h && h - m == h && abs(h) > SMALL && abs(h) < LARGE ? h : NaN;
}

// The number to which all numbers within `bound` of high + low round.
export function certified(high: f64, low: f64, bound: f64, single: bool): f64 {
  const h = high + low, l = twoSumError(high, low, h), size = abs(h);
  if (bound == 0 && size - size == 0) {
    if (h == 0 && l == 0) return 0;
    if (!single) return h;
    if (l == 0) return <f64><f32>h;
  }
  if (!(size > SMALL && size < LARGE)) return NaN;
  const m = (abs(l) + bound * BOUND_SLACK) * SUM_SLACK;
  if (!single) return h + m == h && h - m == h ? h : NaN;
  const under = <f32>-nextUp(-(h - m)), over = <f32>nextUp(h + m);
  return under == over && under != 0 ? <f64>under : NaN;
}

// The same for the quotient by d. With q = RN(h / d) the remainder h - q d is a double, and
//   (h + l + e) / d = q + (h - q d + l + e) / d.
// The sum of the remainder and l rounds once, and the division once.
export function certifiedQuotient(high: f64, low: f64, bound: f64, d: f64, single: bool): f64 {
  const h = high + low, l = twoSumError(high, low, h);
  if (bound == 0 && l == 0) {
    if (h == 0) return d == d ? 0 : NaN;
    if (!single && h - h == 0 && d - d == 0) return h / d;
  }
  if (!(abs(h) > SMALL && abs(h) < LARGE)) return NaN;
  const q = h / d, rest = (h - q * d + excess(q, d)) + l, correction = rest / d;
  const error = (bound * BOUND_SLACK + 2 * U * abs(rest)) / abs(d) * SUM_SLACK + 2 * U * abs(correction) + (rest == 0 && bound == 0 ? 0 : TINY);
  return certified(q, correction, error, single);
}

// The number to which the quotients by d of all numbers within `bound` of high + low round; NaN if that is not proved. With
// r = RN(1 / d), q = RN(high r) is within 3 u of high / d, and
//   (high + low + e) / d = q + (high - q d + low + e) / d,
// where RN(high - q d) errs by 3 u^2 |high|, the sum with low by u times itself, and the product with r by 2 u times itself: together
// below
//   |e / d| + 5 u^2 |q| + 4 u |correction|.
// A division has a latency of 13 cycles; this quotient takes two products, because 1 / d is known long before.
@inline export function quickQuotient(high: f64, low: f64, bound: f64, d: f64): f64 {
  const r = 1 / d, q = high * r, correction = (remainder(high, q, d) + low) * r, v = q + correction;
  const m = (abs(correction - (v - q)) + bound * abs(r) + 5 * U * U * abs(q) + 4 * U * abs(correction)) * SUM_SLACK;
  const inRange = abs(high) > SMALL && abs(high) < LARGE && abs(d) > SMALL && abs(d) < LARGE && abs(v) > SMALL;
  return v + m == v && v - m == v && abs(correction) < abs(q) && inRange ? v : NaN;
}

// RN(x y) - x y.
export function excess(x: f64, y: f64): f64 {
  return f64x2.extract_lane(productExcess(splat(x), splat(y), splat(x * y)), 0);
}

// Replace the enclosure of a sum s in a record by that of alpha s + beta y. alpha or beta is 0 only if s or y is not to be
// read.
//   alpha high is a product with its error term, and so is beta y; alpha low rounds once. The sum of the two products has an error
//   term. The small parts are added with three roundings. Products with 1, -1 or 0 are exact, and cannot underflow.
export function combine(record: usize, alpha: f64, beta: f64, y: f64): void {
  const high = f64.load(record, HIGH), low = f64.load(record, LOW), bound = f64.load(record, BOUND);
  const p = alpha * high, a = alpha * low, b = beta * y, s = p + b;
  const ep = excess(alpha, high), eb = excess(beta, y), es = twoSumError(p, b, s);
  const rest = ((es - ep) - eb) + a, exact = abs(alpha) == 1 && (abs(beta) == 1 || b == 0 && (beta == 0 || y == 0));
  f64.store(record, s, HIGH);
  f64.store(record, rest, LOW);
  f64.store(record, abs(alpha) * bound * BOUND_SLACK + 4 * U * (abs(es) + abs(ep) + abs(eb) + abs(a)) + (exact ? 0 : TINY), BOUND);
}

// The entry alpha s + beta y for the sum s in a record, or NaN. The record becomes the enclosure of the entry.
export function certifiedCombination(record: usize, alpha: f64, beta: f64, y: f64, single: bool): f64 {
  if (alpha != 1 || beta != 0) combine(record, alpha, beta, y);
  return certified(f64.load(record, HIGH), f64.load(record, LOW), f64.load(record, BOUND), single);
}

// Add a number to the sum in a record: TwoSum, and one rounding among the small parts.
export function addExactly(record: usize, v: f64): void {
  const h = f64.load(record, HIGH), s = h + v, error = twoSumError(h, v, s), rest = f64.load(record, LOW) + error;
  f64.store(record, s, HIGH);
  f64.store(record, f64.load(record, BOUND) + (f64.load(record, LOW) == 0 ? 0 : U * abs(rest)), BOUND);
  f64.store(record, rest, LOW);
}

@inline export function setRecord(record: usize, high: f64, low: f64, bound: f64): void {
  f64.store(record, high, HIGH);
  f64.store(record, low, LOW);
  f64.store(record, bound, BOUND);
  f64.store(record, 0, GRID);
}

@inline export function copyRecord(from: usize, to: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
}

// IEEE division, except that an exact zero is +0.
export function divide(s: f64, d: f64, single: bool): f64 {
  const q = single ? <f64>(<f32>s / <f32>d) : s / d;
  return q == 0 && (s == 0 || d - d != 0) ? 0 : q;
}

// The entry that `kind` (JOB_FINISH) makes of the sum in a record and the divisor d, or NaN.
export function certifiedEntry(record: usize, kind: i32, d: f64, single: bool): f64 {
  const high = f64.load(record, HIGH), low = f64.load(record, LOW), bound = f64.load(record, BOUND);
  if (kind == SINGLE) return certifiedQuotient(high, low, bound, d, single);
  const s = certified(high, low, bound, single);
  if (kind == ROUND) return s;
  const q = divide(s, d, single);
  if (kind == PAPER) return q;
  // CORRECTED: RN(q + RN((sum - s) / d)). s is known and sum - s lies in an interval; both of its ends must give the same result.
  const h = high + low, l = twoSumError(high, low, h), rest = (h - s) + l;
  const m = (bound * BOUND_SLACK + 2 * U * abs(rest)) * SUM_SLACK + (bound == 0 && rest == 0 ? 0 : TINY);
  const under = correct(q, (rest - m) / d, single), over = correct(q, (rest + m) / d, single);
  return under == over && under != 0 ? under : NaN;
}
@inline function correct(q: f64, r: f64, single: bool): f64 { return single ? <f64>(<f32>q + <f32>r) : q + r; }

// Store a result. All NaNs in arrays have the same bits.
@inline export function put<T>(p: usize, v: f64): void {
  if (sizeof<T>() == 8) i64.store(p, v == v ? reinterpret<i64>(v) : 0x7ff8000000000000);
  else i32.store(p, v == v ? reinterpret<i32>(<f32>v) : 0x7fc00000);
}
