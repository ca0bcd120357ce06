// Two binary64 lanes at a time: loads, arithmetic, and the error-free transforms (Algorithms 1 and 2 of the triangular paper).
// ASC_FEATURE_RELAXED_SIMD is a compile-time constant: one source gives two modules, with and without fused multiply-add.

@inline export const U: f64 = 1.1102230246251565e-16; // 2^-53, the unit roundoff

// Elements 0 and 1, 2 and 3, 4 and 5, or 6 and 7 of an array of T at p, widened to binary64 (exactly). Loops advance the pointer
// and the offset is part of the instruction: computing every address from an index costs 15 %.
@inline export function load<T>(p: usize): v128 { return sizeof<T>() == 8 ? v128.load(p) : wide(v128.load64_zero(p)); }
@inline export function load2<T>(p: usize): v128 { return sizeof<T>() == 8 ? v128.load(p, 16) : wide(v128.load64_zero(p, 8)); }
@inline export function load4<T>(p: usize): v128 { return sizeof<T>() == 8 ? v128.load(p, 32) : wide(v128.load64_zero(p, 16)); }
@inline export function load6<T>(p: usize): v128 { return sizeof<T>() == 8 ? v128.load(p, 48) : wide(v128.load64_zero(p, 24)); }
@inline export function one<T>(p: usize): f64 { return sizeof<T>() == 8 ? f64.load(p) : <f64>f32.load(p); }
@inline function wide(a: v128): v128 { return f64x2.promote_low_f32x4(a); }

@inline export function add(a: v128, b: v128): v128 { return f64x2.add(a, b); }
@inline export function sub(a: v128, b: v128): v128 { return f64x2.sub(a, b); }
@inline export function mul(a: v128, b: v128): v128 { return f64x2.mul(a, b); }
@inline export function splat(a: f64): v128 { return f64x2.splat(a); }

// RN(a b + c). Only the module with relaxed SIMD may call it, and only after the host has verified that this machine fuses.
@inline export function fused(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f64x2.relaxed_madd(a, b, c) : unreachable();
}

// RN(c - a b), under the same conditions.
@inline export function nmadd(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f64x2.relaxed_nmadd(a, b, c) : unreachable();
}
@inline export function isFused(): bool { return ASC_FEATURE_RELAXED_SIMD != 0; }

// The top 26 bits of the significand, rounded, so that the rest fits in 26 bits and a sign and all four partial products are
// exact. It takes an integer addition and a mask; unlike Veltkamp's split it cannot overflow below the last binade. A tie is
// rounded down: rounded up, the subnormal 2^-1048 would become 2^-1047, and with a factor just below a power of two, whose head is
// that power, p - xh yh would need 54 bits.
@inline export function split(x: v128): v128 {
  return v128.and(i64x2.add(x, i64x2.splat(0x3ffffff)), i64x2.splat(~0x7ffffff));
}

// p - x y for p = RN(x y): minus TwoProd's error term, because the fused form then needs no change of sign. Exact if x y is 0 or
// at least 2^-968 (its last bit is then no smaller than 2^-1074) and nothing overflows.
@inline export function productExcess(x: v128, y: v128, p: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f64x2.relaxed_nmadd(x, y, p);
  const xh = split(x), yh = split(y), xl = sub(x, xh), yl = sub(y, yh);
  return sub(sub(sub(sub(p, mul(xh, yh)), mul(xh, yl)), mul(xl, yh)), mul(xl, yl));
}

// RN(h - q d), which is exact if h - q d is a binary64 number.
@inline export function remainder(h: f64, q: f64, d: f64): f64 {
  if (ASC_FEATURE_RELAXED_SIMD) return f64x2.extract_lane(f64x2.relaxed_nmadd(splat(q), splat(d), splat(h)), 0);
  const p = q * d;
  return h - p + f64x2.extract_lane(productExcess(splat(q), splat(d), splat(p)), 0);
}

// TwoSum's error term a + b - s for s = RN(a + b), exact barring overflow: of one number, and of two lanes. The twin of twoSum in
// src/exact/transforms.ts.
@inline export function twoSumError(a: f64, b: f64, s: f64): f64 {
  const z = s - a;
  return (a - (s - z)) + (b - z);
}
@inline export function sumError(a: v128, b: v128, s: v128): v128 {
  const z = sub(s, a);
  return add(sub(a, sub(s, z)), sub(b, z));
}
