// exscal, exinvscal and exaxpy on one block: IEEE multiplication, division and fused multiply-add, one rounding each. Results go to
// SCRATCH_OUT. The few elements for which a kernel cannot prove its result are listed in FLAGGED, and the host computes them with
// their twins in src/exact/elementwise.ts.
import { frame } from "../frame";
import { FLAGGED, SCRATCH_OUT } from "../layout";
import { MIN_PRODUCT } from "../exact/terms";
import { add, fused, load, mul, productExcess, splat, sumError, twoSumError } from "../simd";

// Kinds as types, as in range.ts.
export type Scal = i8;
export type Invscal = i16;
export type Axpy = i32;
@inline function isInvscal<Op>(): bool { return sizeof<Op>() == sizeof<Invscal>(); }
@inline function isAxpy<Op>(): bool { return sizeof<Op>() == sizeof<Axpy>(); }

@inline const LIMIT: f64 = 1.0715086071862673e301; // 2^1000

// RN(a x + y) without a fused multiply-add: Boldo and Melquiond's algorithm (Emulation of FMA and correctly rounded sums, 2008). The
// two low parts are added with rounding to odd, which keeps enough of what is lost for the last addition to round correctly. If a x
// is exact, one addition gives the result and the sign of a zero.
@inline export function fusedByOdd(a: v128, x: v128, y: v128): v128 {
  const p = mul(a, x), e = f64x2.neg(productExcess(a, x, p));
  const th = add(y, e), tl = sumError(y, e, th);
  const vh = add(p, th), vl = sumError(p, th, vh);
  let z = add(tl, vl);
  const lost = sumError(tl, vl, z), zero = splat(0);
  const even = i64x2.eq(v128.and(z, i64x2.splat(1)), i64x2.splat(0));
  const step = v128.or(i64x2.shr_s(v128.xor(z, lost), 63), i64x2.splat(1)); // away from zero or towards it
  z = i64x2.add(z, v128.and(step, v128.and(even, f64x2.ne(lost, zero))));
  return v128.bitselect(add(p, y), add(vh, z), f64x2.eq(e, zero));
}

// The binary64 result; for axpy without fused multiply-add it is valid only where inRange() holds.
@inline function compute<Op>(a: v128, x: v128, y: v128): v128 {
  if (isInvscal<Op>()) return f64x2.div(x, a);
  if (!isAxpy<Op>()) return mul(a, x);
  return ASC_FEATURE_RELAXED_SIMD ? fused(a, x, y) : fusedByOdd(a, x, y);
}

// Where fusedByOdd is proved: no product underflows and nothing overflows. False for NaN.
@inline export function inRange(a: v128, x: v128, y: v128): v128 {
  const p = f64x2.abs(mul(a, x)), limit = splat(LIMIT);
  const product = v128.or(f64x2.eq(x, splat(0)), v128.and(f64x2.ge(p, splat(MIN_PRODUCT)), f64x2.le(p, limit)));
  return v128.and(v128.and(product, f64x2.le(f64x2.abs(y), limit)), v128.and(f64x2.le(f64x2.abs(x), limit), f64x2.le(f64x2.abs(a), limit)));
}

// Rounding r = RN64(v) once more, to binary32, differs from rounding v itself only if r is the midpoint of two binary32 numbers (all
// midpoints are doubles, and rounding is monotone). In the normal range a midpoint shows in the last 29 bits; in binary32's
// subnormal range every r counts as one.
@inline function isMidpoint(r: v128): v128 {
  const tail = i64x2.eq(v128.and(r, i64x2.splat(0x1fffffff)), i64x2.splat(0x10000000)), m = f64x2.abs(r);
  const small = v128.and(f64x2.lt(m, splat(1.1754943508222875e-38)), f64x2.ge(m, splat(7.006492321624085e-46))); // 2^-126, 2^-150
  return v128.or(tail, small);
}

// Whether a midpoint r may differ from the exact value.
function inexact<Op>(a: f64, x: f64, y: f64, r: f64): bool {
  if (isInvscal<Op>()) return !(r * a == x && twoProdError(r, a, x) == 0);
  const p = a * x;
  if (!(abs(p) >= MIN_PRODUCT || x == 0) || twoProdError(a, x, p) != 0) return true;
  if (!isAxpy<Op>()) return false;
  return twoSumError(p, y, r) != 0;
}
// Dekker's product, the twin of twoProd in src/exact/transforms.ts.
function twoProdError(x: f64, y: f64, p: f64): f64 {
  let c = 134217729.0 * x;
  const xh = c - (c - x), xl = x - xh;
  c = 134217729.0 * y;
  const yh = c - (c - y), yl = y - yh;
  return ((xh * yh - p) + xh * yl + xl * yh) + xl * yl;
}

function mustFlag<Op>(alpha: f64, x: f64, y: f64, r: f64, outOfRange: i64, doubt: i64): bool {
  return outOfRange != 0 || doubt != 0 && inexact<Op>(alpha, x, y, r);
}
function addFlagged(flagged: i32, i: i32): i32 {
  store<i32>(frame + FLAGGED + (flagged << 2), i);
  return flagged + 1;
}

// n elements, two at a time. If n is odd, one element past the end is read and the host ignores its result. Returns the number of
// flagged elements.
export function elementwise<T, Op>(alpha: f64, px: usize, py: usize, n: i32): i32 {
  const a = splat(alpha), out = frame + SCRATCH_OUT;
  const single = sizeof<T>() == 4, emulated = isAxpy<Op>() && !ASC_FEATURE_RELAXED_SIMD;
  let flagged = 0;
  const stride = 2 * sizeof<T>();
  for (let i = 0; i < n; i += 2, px += stride, py += stride) {
    const x = load<T>(px), y = isAxpy<Op>() ? load<T>(py) : x, r = compute<Op>(a, x, y);
    if (single) {
      const f = f32x4.demote_f64x2_zero(r);
      v128.store64_lane(out + (i << 2), v128.bitselect(i32x4.splat(0x7fc00000), f, f32x4.ne(f, f)), 0);
    } else {
      v128.store(out + (i << 3), v128.bitselect(i64x2.splat(0x7ff8000000000000), r, f64x2.ne(r, r)));
    }
    if (single || emulated) {
      const outOfRange = emulated ? v128.not(inRange(a, x, y)) : i64x2.splat(0);
      const doubt = single ? v128.or(outOfRange, isMidpoint(r)) : outOfRange;
      if (v128.any_true(doubt)) {
        if (mustFlag<Op>(alpha, f64x2.extract_lane(x, 0), f64x2.extract_lane(y, 0), f64x2.extract_lane(r, 0), i64x2.extract_lane(outOfRange, 0), i64x2.extract_lane(doubt, 0)))
          flagged = addFlagged(flagged, i);
        if (mustFlag<Op>(alpha, f64x2.extract_lane(x, 1), f64x2.extract_lane(y, 1), f64x2.extract_lane(r, 1), i64x2.extract_lane(outOfRange, 1), i64x2.extract_lane(doubt, 1)))
          flagged = addFlagged(flagged, i + 1);
      }
    }
  }
  return flagged;
}
