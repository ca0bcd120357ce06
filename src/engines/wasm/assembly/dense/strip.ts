// The inner kernel of all routines with many sums at once (exgemm, exlu, and exgemv and extrsv by columns): eight sums
// s_j := s_j - sum over k of a_k b_kj, each on a grid of its own as in exact/filter.ts, with the small rests in c_j. Each lane has
// its own sum, so no lane is ever added to another, and the factor a_k is the same for all.
//
// A record holds eight s, eight c and the grids G = 1.5 * 2^k, 64 bytes each. While s stays in [2^k, 2^(k+1)), with h = 2^(k-53) and
// u = 2^-53:
//   fused:  t = RN(s - a b), s - t is exact, r = RN(s - t - a b), |r| <= h.
//   Dekker: t = RN(s - p), p = RN(a b); s - t - p is exact, at most h; p - a b is exact, at most u |p| < h; r is the rounded sum of
//           the two, |r| <= 2 h.
//   c after i steps is at most i h (2 i h), each addition errs by u times that, and the rounding of r by as much as one more step:
//   u h N (N + 3) / 2 for N steps, twice that for Dekker. Underflow: 5 * 2^-1074 per product.
import { halfStep } from "../grid";
import { isFused, load, load2, load4, load6, mul, nmadd, one, productExcess, splat, sub, add, U } from "../simd";

export const REST: i32 = 64;
export const GRIDS: i32 = 128; // only in records of checked sums
export const SUMS: i32 = 128; // the size of a record without them

// Kinds as types, as in range.ts. The Checked kernel finds out whether any sum has left its binade: the bits of t and G then differ in
// sign or exponent. That takes two operations of six; the Unchecked kernel saves them if the range is known beforehand. (0.22 ns per
// product without them on a Zen 4, where four additions and multiplications on four pipes with a latency of four cycles allow 0.16.)
export type Checked = i8;
export type Unchecked = i16;
@inline function isChecked<C>(): bool { return sizeof<C>() == sizeof<Checked>(); }

// The a are at pa, stepA bytes apart; the rows of eight b at pb, stepB bytes apart, both of type T. (Unchecked always works on packed
// binary64 numbers: the steps are 8 and 64.) False if a sum left its binade; the record is then unchanged.
export function strip<T, C>(pa: usize, stepA: usize, pb: usize, stepB: usize, n: i32, record: usize): bool {
  let s0 = v128.load(record), s1 = v128.load(record, 16), s2 = v128.load(record, 32), s3 = v128.load(record, 48);
  let c0 = v128.load(record, 64), c1 = v128.load(record, 80), c2 = v128.load(record, 96), c3 = v128.load(record, 112);
  let leftBinade = i64x2.splat(0);
  for (const end = pa + <usize>n * (isChecked<C>() ? stepA : 8); pa != end; pa += isChecked<C>() ? stepA : 8, pb += isChecked<C>() ? stepB : 64) {
    const a = splat(one<T>(pa));
    let b = load<T>(pb), p = isFused() ? a : mul(a, b), t = isFused() ? nmadd(a, b, s0) : sub(s0, p);
    c0 = add(c0, isFused() ? nmadd(a, b, sub(s0, t)) : add(sub(sub(s0, t), p), productExcess(a, b, p)));
    s0 = t;
    if (isChecked<C>()) leftBinade = v128.or(leftBinade, v128.xor(t, v128.load(record, 128)));
    b = load2<T>(pb); p = isFused() ? a : mul(a, b); t = isFused() ? nmadd(a, b, s1) : sub(s1, p);
    c1 = add(c1, isFused() ? nmadd(a, b, sub(s1, t)) : add(sub(sub(s1, t), p), productExcess(a, b, p)));
    s1 = t;
    if (isChecked<C>()) leftBinade = v128.or(leftBinade, v128.xor(t, v128.load(record, 144)));
    b = load4<T>(pb); p = isFused() ? a : mul(a, b); t = isFused() ? nmadd(a, b, s2) : sub(s2, p);
    c2 = add(c2, isFused() ? nmadd(a, b, sub(s2, t)) : add(sub(sub(s2, t), p), productExcess(a, b, p)));
    s2 = t;
    if (isChecked<C>()) leftBinade = v128.or(leftBinade, v128.xor(t, v128.load(record, 160)));
    b = load6<T>(pb); p = isFused() ? a : mul(a, b); t = isFused() ? nmadd(a, b, s3) : sub(s3, p);
    c3 = add(c3, isFused() ? nmadd(a, b, sub(s3, t)) : add(sub(sub(s3, t), p), productExcess(a, b, p)));
    s3 = t;
    if (isChecked<C>()) leftBinade = v128.or(leftBinade, v128.xor(t, v128.load(record, 176)));
  }
  if (isChecked<C>() && ((i64x2.extract_lane(leftBinade, 0) | i64x2.extract_lane(leftBinade, 1)) >>> 52) != 0) return false;
  v128.store(record, s0); v128.store(record, s1, 16); v128.store(record, s2, 32); v128.store(record, s3, 48);
  v128.store(record, c0, 64); v128.store(record, c1, 80); v128.store(record, c2, 96); v128.store(record, c3, 112);
  return true;
}

// One step of it, s_j := s_j - a b_j, in the lanes from `lane` & ~1 on.
@inline export function subtractProduct(a: f64, pb: usize, lane: i32, record: usize): void {
  const x = splat(a), end = record + 64;
  pb += (lane & 6) << 3;
  for (let p = record + ((lane & 6) << 3); p != end; p += 16, pb += 16) {
    const b = v128.load(pb), s = v128.load(p), product = isFused() ? x : mul(x, b), t = isFused() ? nmadd(x, b, s) : sub(s, product);
    v128.store(p, add(v128.load(p, REST), isFused() ? nmadd(x, b, sub(s, t)) : add(sub(sub(s, t), product), productExcess(x, b, product))), REST);
    v128.store(p, t);
  }
}

// The error bound after N steps on the grid G, if the sum in the record is taken as (s - G) + c exactly.
@inline export function restBound(G: f64, N: f64): f64 {
  return U * halfStep(G) * (isFused() ? 0.5 : 1) * N * (N + 3) + N * 8 * f64.MIN_VALUE;
}

// Move the sum at p to a coarser grid. For the bound that counts as one more step.
export function moveSum(p: usize, from: f64, to: f64): void {
  const d = f64.load(p) - from, t = to + d;
  f64.store(p, f64.load(p, REST) + (d - (t - to)), REST);
  f64.store(p, t);
}

// Start the sum at p with x on the grid G.
@inline export function startSum(p: usize, x: f64, G: f64): void {
  const t = G + x;
  f64.store(p, t);
  f64.store(p, x - (t - G), REST);
}
