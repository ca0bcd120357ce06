// exscal, exinvscal and exaxpy on one block: IEEE multiplication, division and fused multiply-add, one
// rounding each. Results go to SCRATCH_OUT; the few elements a kernel cannot vouch for are listed in
// FLAGGED, and the host computes those from the exact value.
import { frame } from "../frame";
import { FLAGGED, SCRATCH_OUT } from "../layout";
import { MIN_PRODUCT } from "../exact/ladder";
import { add, fused, load, mul, productExcess, splat, sumError } from "../simd";

// Kinds as types, as in range.ts.
export type Scal = i8;
export type Invscal = i16;
export type Axpy = i32;
@inline function isInvscal<Op>(): bool { return sizeof<Op>() == sizeof<Invscal>(); }
@inline function isAxpy<Op>(): bool { return sizeof<Op>() == sizeof<Axpy>(); }

@inline const LIMIT: f64 = 1.0715086071862673e301; // 2^1000

// RN(a x + y) without a fused multiply-add: Boldo and Melquiond's algorithm (Emulation of FMA and
// correctly rounded sums, 2008). The two low parts are added with rounding to odd, which keeps enough of
// what is lost for the last addition to round correctly. Where a x has no error term RN(a x + y) is direct,
// and so is the sign of a zero.
@inline function fusedByOdd(a: v128, x: v128, y: v128): v128 {
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

// The binary64 result, and for axpy without fused multiply-add only where inReach() holds.
@inline function compute<Op>(a: v128, x: v128, y: v128): v128 {
  if (isInvscal<Op>()) return f64x2.div(x, a);
  if (!isAxpy<Op>()) return mul(a, x);
  return ASC_FEATURE_RELAXED_SIMD ? fused(a, x, y) : fusedByOdd(a, x, y);
}

// Where fusedByOdd is proved: no product underflows, nothing overflows. Not-numbers are out of reach too.
@inline function inReach(a: v128, x: v128, y: v128): v128 {
  const p = f64x2.abs(mul(a, x)), limit = splat(LIMIT);
  const product = v128.or(f64x2.eq(x, splat(0)), v128.and(f64x2.ge(p, splat(MIN_PRODUCT)), f64x2.le(p, limit)));
  return v128.and(v128.and(product, f64x2.le(f64x2.abs(y), limit)), v128.and(f64x2.le(f64x2.abs(x), limit), f64x2.le(f64x2.abs(a), limit)));
}

// Rounding r = RN64(v) once more, to binary32, differs from rounding v itself only if r lies exactly in the
// middle between two binary32 numbers (all such points are doubles, and rounding is monotone). In the
// normal range the middle is a pattern of the last 29 bits; among binary32's subnormals every r counts.
@inline function middle(r: v128): v128 {
  const tail = i64x2.eq(v128.and(r, i64x2.splat(0x1fffffff)), i64x2.splat(0x10000000)), m = f64x2.abs(r);
  const small = v128.and(f64x2.lt(m, splat(1.1754943508222875e-38)), f64x2.ge(m, splat(7.006492321624085e-46))); // 2^-126, 2^-150
  return v128.or(tail, small);
}

// Whether r, in the middle, may differ from the exact value. Dekker's product in scalars.
function inexact<Op>(a: f64, x: f64, y: f64, r: f64): bool {
  if (isInvscal<Op>()) return !(r * a == x && error(r, a, x) == 0);
  const p = a * x;
  if (!(abs(p) >= MIN_PRODUCT || x == 0) || error(a, x, p) != 0) return true;
  if (!isAxpy<Op>()) return false;
  const z = r - p;
  return (p - (r - z)) + (y - z) != 0;
}
function error(x: f64, y: f64, p: f64): f64 {
  let c = 134217729.0 * x;
  const xh = c - (c - x), xl = x - xh;
  c = 134217729.0 * y;
  const yh = c - (c - y), yl = y - yh;
  return ((xh * yh - p) + xh * yl + xl * yh) + xl * yl;
}

function flag<Op>(alpha: f64, x: f64, y: f64, r: f64, out: i64, doubt: i64): bool {
  return out != 0 || doubt != 0 && inexact<Op>(alpha, x, y, r);
}
function list(flagged: i32, i: i32): i32 {
  store<i32>(frame + FLAGGED + (flagged << 2), i);
  return flagged + 1;
}

// n elements, read two at a time: one past an odd end is read and its result ignored by the host.
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
      const far = emulated ? v128.not(inReach(a, x, y)) : i64x2.splat(0);
      const doubt = single ? v128.or(far, middle(r)) : far;
      if (v128.any_true(doubt)) {
        if (flag<Op>(alpha, f64x2.extract_lane(x, 0), f64x2.extract_lane(y, 0), f64x2.extract_lane(r, 0), i64x2.extract_lane(far, 0), i64x2.extract_lane(doubt, 0)))
          flagged = list(flagged, i);
        if (flag<Op>(alpha, f64x2.extract_lane(x, 1), f64x2.extract_lane(y, 1), f64x2.extract_lane(r, 1), i64x2.extract_lane(far, 1), i64x2.extract_lane(doubt, 1)))
          flagged = list(flagged, i + 1);
      }
    }
  }
  return flagged;
}
