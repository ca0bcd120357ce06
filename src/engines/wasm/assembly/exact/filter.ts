// Stage 1, the certified filter: one pass over the terms that returns their sum as high + low with a rigorous error bound. All
// reductions and dot products start here (docs/stages.md).
//
// Every lane adds its terms to s, which starts at 1.5 * 2^k and must stay in [2^k, 2^(k+1)). All doubles there are multiples of
// g = 2^(k-52), so that with t = RN(s + x)
//     q = t - s          is exact (a multiple of g below 2^k), and
//     r = x - q          is the rounding error of t, exact and at most h = g / 2 = 2^(k-53).
// The s parts are therefore exact, and only the small r are added with rounding, in c. This is extraction against a power of two
// (Rump's AccSum, Demmel and Nguyen's bins) with one level: four operations per term, where TwoSum with a running error bound takes
// nine, and the bound costs nothing.
//
// That s stays in its binade is checked, not assumed: the bitwise OR and AND of all t must agree in sign and exponent. (Measured on
// a Zen 4: 0.30 ns per element in cache, 0.42 with xor-and-or, 0.70 with TwoSum.)
//
// Bound for one lane of n terms, u = 2^-53:
//   c after i steps: |c| <= i h, because i h is a double and rounding is monotone. Each addition errs by at most u i h, together
//   u h n (n + 1) / 2.
//   Closing adds the c of four lanes in a tree, |c| <= n h each: 8 u n h more for the four.
//   The four s - 1.5 * 2^k are multiples of g of at most 2^(k-1). Their sum is a multiple of g of at most 2^(k+1) = 2^53 g: exact.
//   For the 8 lanes: 4 u h n (n + 1) + 16 u h n, and with a fused product 8 n u h more for the rounding of r = RN(x y - q),
//   |r| <= h: in all at most u h (4 n^2 + 28 n) <= 4 u h (n + 4)^2.
// Underflow: sums have none. A fused r errs by at most 2^-1075 more, 8 n 2^-1075 = n 2^-1072 in all.
import { frame } from "../frame";
import { BLOCK, BOUND, GRID, HIGH, LOW, TAIL_X, TAIL_Y } from "../layout";
import { MAX_TERM, MIN_GRID, binade, grid, halfStep, log2Up, sameBinade } from "../grid";
import { isDot, isRounded, largest, range, term } from "../range";
import { U, add, fused, load, load2, load4, load6, mul, splat, sub, twoSumError } from "../simd";

// Place the grid for blocks of n terms by the first `sample` of them: 1.5 * 2^k with (n / 8) * largest <= 2^(k-1), never finer than
// before. False if the terms are out of range (infinities, or so large that sums might overflow). Below 2^-900 the bound itself
// would underflow: the grid stays there, and the certificate fails.
function placeGrid<T, Op>(record: usize, px: usize, py: usize, sample: i32, n: i32): bool {
  range<T, Op>(px, py, sample);
  if (!(largest < MAX_TERM)) return false;
  const k = max(binade(largest) + log2Up((n + 7) >> 3) + 1, MIN_GRID);
  f64.store(record, max(grid(k), f64.load(record, GRID)), GRID);
  return true;
}

// Close a block: add two exact sums, two rests and the block's error to the record. (A separate function, so that the loop keeps
// its registers.)
//   low' = low + ((ea + eb) + (ca + cb)): three roundings of at most u times the sum of magnitudes, one of u |low'|. The few
//   roundings in bound itself are covered by the certificate, which inflates it.
export function closeBlock(record: usize, exact: v128, rest: v128, error: f64): void {
  let high = f64.load(record, HIGH);
  const a = f64x2.extract_lane(exact, 0), b = f64x2.extract_lane(exact, 1);
  const ca = f64x2.extract_lane(rest, 0), cb = f64x2.extract_lane(rest, 1);
  let t = high + a;
  const ea = twoSumError(high, a, t);
  high = t; t = high + b;
  const eb = twoSumError(high, b, t);
  const low = f64.load(record, LOW) + ((ea + eb) + (ca + cb));
  f64.store(record, t, HIGH);
  f64.store(record, low, LOW);
  f64.store(record, f64.load(record, BOUND) + error + U * (abs(low) + 3 * (abs(ea) + abs(eb) + abs(ca) + abs(cb))), BOUND);
}

// Three kinds of term share one loop.
// EXACT: the term itself is a double (all terms but products of binary64 numbers).
// FUSED: a product that is never rounded: t = RN(s + x y), q = t - s, r = RN(x y - q).
// SPLIT: a product without fused multiply-add. x = xh + xl with the last 27 bits of the significand in xl (truncated by one mask),
// y likewise, p = RN(x y), t = RN(s + p), q = t - s, and
//     r = RN(RN(xh yh - q) + b),   b = RN(xh yl + RN(xl y)),   xh yh and xh yl exact (52 and 53 bits).
// xl has the sign of x and yl that of y, so the two parts of b do not cancel, and |xl y| <= |b| (1 + 2 u). From
// |p - x y| <= u |p| <= u 2^k = h it follows that |x y - q| <= 2 h. So the roundings of xl y, b, xh yh - q and r are at most u times
// |b|, |b|, 2 h + |b| and 2 h, up to factors 1 + 4 u: together at most u (4 B + 5 h), where B is the largest |b|, found in the same
// loop. (For normal x and y that is 2^-22 |x y|; if one of them is subnormal it may be all of u |x y|, which is why the loop takes
// the maximum of |b| and not of the products.)
// |r| <= 2 h + u (4 B + 5 h) <= 2.5 h + 2^-50 B =: h' replaces h in the bound above, and 8 n u (4 B + 5 h) is added.
// Underflow: three products err by at most 2^-1075 each; over 8 lanes that is below n 2^-1070. (Exact Dekker products take four
// operations more: 1.0 ns per element instead of 0.83.)
@inline const EXACT: i32 = 0;
@inline const FUSED: i32 = 1;
@inline const SPLIT: i32 = 2;
@inline function kindOf<T, Op>(): i32 { return !isRounded<T, Op>() ? EXACT : ASC_FEATURE_RELAXED_SIMD ? FUSED : SPLIT; }

@inline function truncate(x: v128): v128 { return v128.and(x, i64x2.splat(~0x7ffffff)); }

function block<T, Op>(record: usize, px: usize, py: usize, n: i32, G: f64): bool {
  const kind = kindOf<T, Op>();
  const S = splat(G);
  let s0 = S, s1 = S, s2 = S, s3 = S, or = S, and = S;
  let c0 = splat(0), c1 = c0, c2 = c0, c3 = c0, large = c0;
  const stride = 8 * sizeof<T>();
  for (const end = px + <usize>(n >> 3) * stride; px != end; px += stride, py += stride) {
    let x = load<T>(px), y = isDot<Op>() ? load<T>(py) : x, v = term<Op>(x, y), t = kind == FUSED ? fused(x, y, s0) : add(s0, v);
    if (kind == EXACT) c0 = add(c0, sub(v, sub(t, s0)));
    if (kind == FUSED) c0 = add(c0, fused(x, y, sub(s0, t)));
    if (kind == SPLIT) {
      const xh = truncate(x), yh = truncate(y), b = add(mul(xh, sub(y, yh)), mul(sub(x, xh), y));
      c0 = add(c0, add(sub(mul(xh, yh), sub(t, s0)), b));
      large = f64x2.pmax(f64x2.abs(b), large);
    }
    or = v128.or(or, t); and = v128.and(and, t); s0 = t;
    x = load2<T>(px), y = isDot<Op>() ? load2<T>(py) : x, v = term<Op>(x, y), t = kind == FUSED ? fused(x, y, s1) : add(s1, v);
    if (kind == EXACT) c1 = add(c1, sub(v, sub(t, s1)));
    if (kind == FUSED) c1 = add(c1, fused(x, y, sub(s1, t)));
    if (kind == SPLIT) {
      const xh = truncate(x), yh = truncate(y), b = add(mul(xh, sub(y, yh)), mul(sub(x, xh), y));
      c1 = add(c1, add(sub(mul(xh, yh), sub(t, s1)), b));
      large = f64x2.pmax(f64x2.abs(b), large);
    }
    or = v128.or(or, t); and = v128.and(and, t); s1 = t;
    x = load4<T>(px), y = isDot<Op>() ? load4<T>(py) : x, v = term<Op>(x, y), t = kind == FUSED ? fused(x, y, s2) : add(s2, v);
    if (kind == EXACT) c2 = add(c2, sub(v, sub(t, s2)));
    if (kind == FUSED) c2 = add(c2, fused(x, y, sub(s2, t)));
    if (kind == SPLIT) {
      const xh = truncate(x), yh = truncate(y), b = add(mul(xh, sub(y, yh)), mul(sub(x, xh), y));
      c2 = add(c2, add(sub(mul(xh, yh), sub(t, s2)), b));
      large = f64x2.pmax(f64x2.abs(b), large);
    }
    or = v128.or(or, t); and = v128.and(and, t); s2 = t;
    x = load6<T>(px), y = isDot<Op>() ? load6<T>(py) : x, v = term<Op>(x, y), t = kind == FUSED ? fused(x, y, s3) : add(s3, v);
    if (kind == EXACT) c3 = add(c3, sub(v, sub(t, s3)));
    if (kind == FUSED) c3 = add(c3, fused(x, y, sub(s3, t)));
    if (kind == SPLIT) {
      const xh = truncate(x), yh = truncate(y), b = add(mul(xh, sub(y, yh)), mul(sub(x, xh), y));
      c3 = add(c3, add(sub(mul(xh, yh), sub(t, s3)), b));
      large = f64x2.pmax(f64x2.abs(b), large);
    }
    or = v128.or(or, t); and = v128.and(and, t); s3 = t;
  }
  if (!sameBinade(or, and)) return false;
  const m = <f64>((n >> 3) + 4);
  const B = max(f64x2.extract_lane(large, 0), f64x2.extract_lane(large, 1)); // 0 unless SPLIT
  const h = halfStep(G);
  const h1 = kind == SPLIT ? 2.5 * h + B * 8.881784197001252e-16 : h; // 2^-50
  const products = kind == EXACT ? 0 : kind == FUSED ? 4 * f64.MIN_VALUE : 8 * U * (4 * B + 5 * h) + 16 * f64.MIN_VALUE;
  closeBlock(
    record,
    add(add(sub(s0, S), sub(s1, S)), add(sub(s2, S), sub(s3, S))),
    add(add(c0, c1), add(c2, c3)),
    4 * U * h1 * m * m + m * products,
  );
  return true;
}

// The last n elements of a vector, fewer than 8, padded with zeros. All 8 are read, as arrays are followed by 64 bytes of memory (END in
// arena.ts), and those past the end are masked: a call of memory.copy and memory.fill takes longer than the sum.
@inline function copyTail<T>(p: usize, n: i32, to: usize): void {
  if (sizeof<T>() == 8) {
    const count = i64x2.splat(n);
    v128.store(to, v128.and(v128.load(p), i64x2.gt_s(count, i64x2(0, 1))));
    v128.store(to, v128.and(v128.load(p, 16), i64x2.gt_s(count, i64x2(2, 3))), 16);
    v128.store(to, v128.and(v128.load(p, 32), i64x2.gt_s(count, i64x2(4, 5))), 32);
    v128.store(to, v128.and(v128.load(p, 48), i64x2.gt_s(count, i64x2(6, 7))), 48);
  } else {
    const count = i32x4.splat(n);
    v128.store(to, v128.and(v128.load(p), i32x4.gt_s(count, i32x4(0, 1, 2, 3))));
    v128.store(to, v128.and(v128.load(p, 16), i32x4.gt_s(count, i32x4(4, 5, 6, 7))), 16);
  }
}

// Add n terms to the record. The grid is kept from block to block. The first one is placed by 16 terms; when a sum leaves the grid's
// binade, a new grid is placed by all terms of the block. False if the terms are out of range: the record is then useless.
export function filter<T, Op>(record: usize, px: usize, py: usize, n: i32): bool {
  if (f64.load(record, GRID) == 0 && !placeGrid<T, Op>(record, px, py, min(n, 16), min(n, BLOCK))) return false;
  while (n > 0) {
    let m = min(n, BLOCK) & ~7;
    if (m == 0) {
      copyTail<T>(px, n, frame + TAIL_X);
      if (isDot<Op>()) copyTail<T>(py, n, frame + TAIL_Y);
      px = frame + TAIL_X;
      py = frame + TAIL_Y;
      m = 8;
    }
    if (!block<T, Op>(record, px, py, m, f64.load(record, GRID))) {
      if (!placeGrid<T, Op>(record, px, py, m, m) || !block<T, Op>(record, px, py, m, f64.load(record, GRID))) return false;
    }
    const step = <usize>m * sizeof<T>();
    px += step;
    py += step;
    n -= m;
  }
  return true;
}
