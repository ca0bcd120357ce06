// Stage 2, the ladder: grids one below the other, each as in filter.ts. What falls through a grid is exact, so
// a block whose terms are used up by the last one is summed exactly. It is an expansion whose components sit
// at fixed places: three operations for a step where TwoSum takes six. Two depths: three grids with a
// bounded rest, and six that must leave none.
//
// Placing the grids, n terms a lane, u = 2^-53, h = 2^(k-53):
//   first:  as in filter.ts, kept from block to block and checked, or placed so that n M <= 2^(k1-2) for the
//           largest term M. Either way every term is below 2^k1 and leaves |r| <= h1.
//   second: takes r and the error e of a product, |e| <= u 2^k1 = h1: 2 n h1 <= 2^(k2-2) with
//           k2 = k1 - 50 + log2(n). It strays by at most 2 n (h1 + h2) < 2^(k2-1) and needs no check.
//   third and following: two rests of at most h of the grid above, so again 50 - log2(n) lower.
// With three grids the rests r and e, at most h3 each, are added to d with rounding; after every 16 additions
// d is brought down through a fourth grid, so that |d| <= 32 h3 + h4 < 33 h3: an addition errs by at most
// 33 u h3, r + e by 2 u h3, together 35 u h3 for each of the 2 n in the two lanes; bounded by 80 n u h3.
// An error term that underflows is off by at most 5 * 2^-1074 (Ogita, Rump and Oishi 2005).
// A block of 512 terms, n = 256, loses less than 2^-164 of its largest term: condition 1e30 and more. Larger
// blocks lose more (the grids lie closer), smaller ones spend more on closing (5 % here).
import { LADDER, LARGEST, SMALLEST } from "./layout";
import { sameBinade } from "./filter";
import { ASUM, DOT, binade, log2Up, powerOfTwo, range, term } from "./range";
import { U, add, load, mul, productError, splat, sub } from "./simd";
import { addNumber, addProduct, deposit, normalize } from "./superaccumulator";

// Stage 3 for every term: no filter, no expansion, one or two deposits each.
@inline export function accumulate<T>(op: i32, px: usize, py: usize, n: i32): void {
  for (let i: usize = 0; i < <usize>n; ++i) {
    const x = <f64>load_one<T>(px + i * sizeof<T>());
    if (op == DOT) addProduct(x, <f64>load_one<T>(py + i * sizeof<T>()));
    else addNumber(op == ASUM ? abs(x) : x);
  }
}
@inline function load_one<T>(p: usize): T { return sizeof<T>() == 8 ? <T>f64.load(p) : <T>f32.load(p); }

@inline export const LEAST: f64 = 1.0261342003245941e-289; // 2^-960

// Whether TwoProd's error terms are exact: every product is at least 2^-960, or has a zero factor.
@inline export function productsExact(px: usize, py: usize, n: i32): bool {
  const zero = splat(0), least = splat(LEAST);
  let good = i64x2.splat(-1);
  for (let i: usize = 0; i < <usize>n; i += 2) {
    const x = load<f64>(px, i), y = load<f64>(py, i);
    good = v128.and(good, v128.or(v128.or(f64x2.eq(x, zero), f64x2.eq(y, zero)), f64x2.ge(f64x2.abs(mul(x, y)), least)));
  }
  return i64x2.all_true(good);
}

@inline function depositLanes(v: v128): void {
  deposit(f64x2.extract_lane(v, 0), 0);
  deposit(f64x2.extract_lane(v, 1), 0);
}
@inline function finite(v: v128): bool { const z = sub(v, v); return f64x2.extract_lane(z, 0) == 0 && f64x2.extract_lane(z, 1) == 0; }

@inline const BLOCK: i32 = 512;
@inline const REST: i32 = 32; // elements between two visits to the fourth grid: 16 additions a lane

@inline function depositGrid(a: v128, start: v128): void { depositLanes(sub(a, start)); }

// One block from grids at k1 and below. Returns the bound of what was lost; -1 if the block was not done: a term
// left the first grid or was not a number, or (deep) something would be lost.
@inline function climb<T>(op: i32, px: usize, py: usize, n: i32, k1: i32, deep: bool): f64 {
  const rounded = op == DOT && sizeof<T>() == 8; // products of binary64 numbers have an error term
  const step = 50 - log2Up(n >> 1), k3 = k1 - 2 * step;
  const S1 = splat(1.5 * powerOfTwo(k1)), S2 = splat(1.5 * powerOfTwo(k1 - step)), S3 = splat(1.5 * powerOfTwo(k3));
  const S4 = splat(1.5 * powerOfTwo(k3 - step)), S5 = splat(1.5 * powerOfTwo(k3 - 2 * step)), S6 = splat(1.5 * powerOfTwo(k3 - 3 * step));
  let a1 = S1, a2 = S2, a3 = S3, a4 = S4, a5 = S5, a6 = S6, or = S1, and = S1, d = splat(0), left = d;
  for (let i = 0; i < n;) {
    for (const end = min(i + REST, n); i < end; i += 2) {
      const x = load<T>(px, i), y = op == DOT ? load<T>(py, i) : x;
      let r = term(op, x, y), e = r;
      if (rounded) e = productError(x, y, r);
      let t = add(a1, r);
      r = sub(r, sub(t, a1)); or = v128.or(or, t); and = v128.and(and, t); a1 = t;
      t = add(a2, r); r = sub(r, sub(t, a2)); a2 = t;
      if (rounded) { t = add(a2, e); e = sub(e, sub(t, a2)); a2 = t; }
      t = add(a3, r); r = sub(r, sub(t, a3)); a3 = t;
      if (rounded) { t = add(a3, e); e = sub(e, sub(t, a3)); a3 = t; }
      if (!deep) { d = add(d, rounded ? add(r, e) : r); continue; }
      t = add(a4, r); r = sub(r, sub(t, a4)); a4 = t;
      if (rounded) { t = add(a4, e); e = sub(e, sub(t, a4)); a4 = t; }
      t = add(a5, r); r = sub(r, sub(t, a5)); a5 = t;
      if (rounded) { t = add(a5, e); e = sub(e, sub(t, a5)); a5 = t; }
      t = add(a6, r); r = sub(r, sub(t, a6)); a6 = t;
      if (rounded) { t = add(a6, e); e = sub(e, sub(t, a6)); a6 = t; left = v128.or(left, e); }
      left = v128.or(left, r);
    }
    if (!deep) { const t = add(a4, d); d = sub(d, sub(t, a4)); a4 = t; }
  }
  // A split that overflowed has made everything below the first grid NaN.
  if (!(sameBinade(or, and) && finite(a4))) return -1;
  if (deep && ((i64x2.extract_lane(left, 0) | i64x2.extract_lane(left, 1)) << 1) != 0) return -1;
  depositGrid(a1, S1);
  depositGrid(a2, S2);
  depositGrid(a3, S3);
  depositGrid(a4, S4);
  if (deep) {
    depositGrid(a5, S5);
    depositGrid(a6, S6);
    return 0;
  }
  depositLanes(d);
  return 80 * U * (powerOfTwo(k3) * U) * <f64>(n >> 1) + (rounded ? <f64>n * 8 * f64.MIN_VALUE : 0);
}

// Where the first grid must be for this block, or 0 where the lower grids would leave the normal numbers.
@inline function place<T>(op: i32, px: usize, py: usize, n: i32): i32 {
  range<T>(op, px, py, n);
  const largest = f64.load(LARGEST);
  if (!(largest < 1e290 && largest > 1e-200)) return 0;
  const k = binade(largest) + log2Up(n >> 1) + 2;
  return k == 0 ? 1 : k; // 0 has its meaning, a coarser grid will do
}

// Exactly: six grids, and where they do not reach, a deposit for every term.
@inline function exactBlock<T>(op: i32, px: usize, py: usize, n: i32): void {
  const k = place<T>(op, px, py, n);
  const whole = op != DOT || sizeof<T>() == 4 || f64.load(SMALLEST) >= LEAST || productsExact(px, py, n);
  if (k == 0 || !whole || climb<T>(op, px, py, n, k, true) < 0) accumulate<T>(op, px, py, n);
}

// With a bound: three grids, the first where it was for the block before, or moved up.
@inline function boundedBlock<T>(op: i32, px: usize, py: usize, n: i32): f64 {
  for (let tries = 0; tries < 2; ++tries) {
    const k = i32.load(LADDER);
    const lost = k == 0 ? -1 : climb<T>(op, px, py, n, k, false);
    if (lost >= 0) return lost;
    const needed = tries == 0 ? place<T>(op, px, py, n) : 0;
    if (needed == 0) break;
    i32.store(LADDER, k == 0 ? needed : max(k, needed));
  }
  accumulate<T>(op, px, py, n);
  return 0;
}

// A stream of n terms, n a multiple of 8, into the superaccumulator. Returns the bound of what was lost.
@inline export function ladder<T>(op: i32, px: usize, py: usize, n: i32, exact: bool): f64 {
  let bound: f64 = 0;
  while (n > 0) {
    const m = min(n, BLOCK);
    if (exact) exactBlock<T>(op, px, py, m);
    else bound += boundedBlock<T>(op, px, py, m);
    const step = <usize>m * sizeof<T>();
    px += step;
    py += step;
    n -= m;
  }
  normalize();
  return bound;
}
