// The certificate for two results at a time, as lanes: those of dense/trsm.ts and sparse/exactColumns.ts, in the usual case of binary64 and
// one rounding. A lane is NaN where nothing is proved.
import { LARGE, SMALL, SUM_SLACK } from "./certificate";
import { U, add, isFused, mul, nmadd, productExcess, splat, sub, sumError } from "../simd";

@inline function both(a: v128, b: v128): v128 { return v128.and(a, b); }
// Whether x + m and x - m both round to x.
@inline function absorbs(x: v128, m: v128): v128 { return both(f64x2.eq(add(x, m), x), f64x2.eq(sub(x, m), x)); }
@inline export function inRange(x: v128): v128 { return both(f64x2.gt(f64x2.abs(x), splat(SMALL)), f64x2.lt(f64x2.abs(x), splat(LARGE))); }
@inline export function where(proved: v128, x: v128): v128 { return v128.bitselect(x, splat(NaN), proved); }

// The numbers to which all numbers within `bound` of high + low round: certifiedQuickly() in two lanes.
@inline export function roundedLanes(high: v128, low: v128, bound: v128): v128 {
  const h = add(high, low), m = mul(add(f64x2.abs(sumError(high, low, h)), bound), splat(SUM_SLACK));
  return where(both(absorbs(h, m), inRange(h)), h);
}

// The same for the quotients by d, with r = RN(1 / d): quickQuotient() of certificate.ts in two lanes, with its proof. The error of the
// quotient stays below bound |r| + 5 u^2 |q| + 4 u |correction| (bound |1 / d| exceeds bound |r| by less than SUM_SLACK allows).
@inline export function quotientLanes(high: v128, low: v128, bound: v128, d: v128, r: v128): v128 {
  const q = mul(high, r), p = mul(q, d), rest = isFused() ? nmadd(q, d, high) : add(sub(high, p), productExcess(q, d, p));
  const correction = mul(add(rest, low), r), v = add(q, correction);
  const error = add(add(f64x2.abs(sub(correction, sub(v, q))), mul(bound, f64x2.abs(r))), add(mul(splat(5 * U * U), f64x2.abs(q)), mul(splat(4 * U), f64x2.abs(correction))));
  const small = both(f64x2.lt(f64x2.abs(correction), f64x2.abs(q)), f64x2.gt(f64x2.abs(v), splat(SMALL)));
  return where(both(both(absorbs(v, mul(error, splat(SUM_SLACK))), small), both(inRange(high), inRange(d))), v);
}

// Whether a lane is NaN.
@inline export function hasNaN(v: v128): bool { return v128.any_true(f64x2.ne(v, v)); }
