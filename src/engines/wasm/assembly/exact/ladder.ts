// Stage 2, the ladder: grids one below the other, each as in filter.ts. What falls through a grid is exact, so
// a block whose terms are used up by the last one is summed exactly. It is an expansion whose components sit
// at fixed places: three operations for a step where TwoSum takes six.
//
// Placing the grids, n terms a lane, u = 2^-53, h = 2^(k-53), g = 2 h:
//   first:  as in filter.ts, kept from block to block and checked, or placed so that n M <= 2^(k1-2) for the
//           largest term M, of all or of the first, and checked. Either way every term is below 2^k1 and leaves at most h1. With a
//           fused multiply-add t = RN(s + x y) straight from the product; then p - q, p = RN(x y), is still exact (both are multiples of
//           the lesser of p's last bit and g1, and their difference is below 2^53 of those), but may be as large as
//           h1 + |p - x y| <= 2 h1.
//   lower:  grids that a block strays on by less than half a binade whatever its terms are, and so need no check.
import { setRecord } from "./certificate";
import { binade, isAsum, isDot, isRounded, largest, log2Up, powerOfTwo, range, second, smallest, term } from "../range";
import { U, add, fused, isFused, load, mul, one, productExcess, splat, sub, sumError, twoSumError } from "../simd";
import { addNumber, addProduct, clearDigits, deposit } from "./superaccumulator";

// The exponents of the grids of bounded(); the first is 0 before the first block.
let first: i32 = 0, middle: i32 = 0, last: i32 = 0;
let deposited: bool = false; // to the superaccumulator, since it was cleared
export function clear(): void { first = 0; deposited = false; clearDigits(); }

// Terms in one block. Larger blocks lose more (the grids lie closer), smaller ones spend more on closing: 256 terms, 3 %.
@inline const BLOCK: i32 = 512;

// Stage 3 for every term: no filter, no expansion, one or two deposits each.
export function accumulate<T, Op>(px: usize, py: usize, n: i32): void {
  for (const end = px + <usize>n * sizeof<T>(); px != end; px += sizeof<T>(), py += sizeof<T>()) {
    const x = one<T>(px);
    if (isDot<Op>()) addProduct(x, one<T>(py));
    else addNumber(isAsum<Op>() ? abs(x) : x);
  }
}

// Whether TwoProd's error terms are exact: every product is at smallestProduct 2^-960, or has a zero factor.
@inline export const MIN_PRODUCT: f64 = 1.0261342003245941e-289; // 2^-960
export function productsExact(px: usize, py: usize, n: i32): bool {
  const zero = splat(0), smallestProduct = splat(MIN_PRODUCT);
  let good = i64x2.splat(-1);
  for (const end = px + (<usize>n << 3); px != end; px += 16, py += 16) {
    const x = load<f64>(px), y = load<f64>(py);
    good = v128.and(good, v128.or(v128.or(f64x2.eq(x, zero), f64x2.eq(y, zero)), f64x2.ge(f64x2.abs(mul(x, y)), smallestProduct)));
  }
  return i64x2.all_true(good);
}

// What blocks have gathered on the three grids of bounded(), in units of their steps, and the rests as a sum and its error. A sum on a
// grid and its start differ in their significands alone: the difference of their bits is that in units. It is at most 2^51 a lane,
// so that 2^10 blocks stay below 2^62. (A deposit for every sum of every block takes 2 % more time.)
let units1: v128 = i64x2.splat(0), units2: v128 = i64x2.splat(0), units3: v128 = i64x2.splat(0);
let rests: v128 = i64x2.splat(0), restsError: v128 = i64x2.splat(0), gathered: i32 = 0;
@inline const MAX_GATHERED: i32 = 1024;

function depositUnits(v: v128, k: i32): void {
  const sum = both(v);
  deposit(<f64>(sum & 0xffffffff) * powerOfTwo(k - 52));
  deposit(<f64>(sum >> 32) * powerOfTwo(k - 20));
}
function depositLanes(v: v128): void {
  deposit(f64x2.extract_lane(v, 0));
  deposit(f64x2.extract_lane(v, 1));
}
// Deposit all of it.
export function depositGathered(): void {
  if (gathered == 0) return;
  depositUnits(units1, first);
  depositUnits(units2, middle);
  depositUnits(units3, last);
  depositLanes(rests);
  depositLanes(restsError);
  dropGathered();
  deposited = true;
}
export function dropGathered(): void {
  units1 = units2 = units3 = rests = restsError = i64x2.splat(0);
  gathered = 0;
}

// The same as an enclosure, bound being that of what was lost so far. False where it is not all: something has been deposited, or the
// sum on the first grid has more than 53 bits.
//   Carries run between the units as between digits: those of a lower grid end in [0, 2^d), d binades below the next, and where the first are 0 or -1, of
//   which the next may cancel all, they join the next. Then x, y and z are exact and decrease, and high is as large as the sum.
export function encloseGathered(record: usize, bound: f64): bool {
  if (deposited || gathered == 0) return false;
  const r = f64x2.extract_lane(rests, 0) + f64x2.extract_lane(rests, 1), error = f64x2.extract_lane(restsError, 0) + f64x2.extract_lane(restsError, 1);
  const size = abs(f64x2.extract_lane(rests, 0)) + abs(f64x2.extract_lane(rests, 1));
  return enclose(record, both(units1), both(units2), both(units3), first, middle, last, r + error, size, bound);
}
// The sum of a, b and c on grids at k1, k2 and k3 and of a rest r, which is off by bound and by a few roundings of size.
export function enclose(record: usize, a: i64, b: i64, c: i64, k1: i32, k2: i32, k3: i32, r: f64, size: f64, bound: f64): bool {
  const upper = k1 - k2, lower = k2 - k3;
  b += c >> lower; c &= (1 << lower) - 1;
  a += b >> upper; b &= (1 << upper) - 1;
  if (a == 0 || a == -1) { b += a << upper; a = 0; }
  if (a == 0 && (b == 0 || b == -1)) { c += b << lower; b = 0; }
  if (abs(a) > 0x1fffffffffffff) return false;
  const x = <f64>a * powerOfTwo(k1 - 52), y = <f64>b * powerOfTwo(k2 - 52), z = <f64>c * powerOfTwo(k3 - 52);
  const s = x + y, e = twoSumError(x, y, s), t = e + z, f = twoSumError(e, z, t), high = s + t, v = f + r, low = twoSumError(s, t, high) + v;
  setRecord(record, high, low, bound + 4 * U * (size + abs(v) + abs(low)));
  return true;
}
@inline function both(v: v128): i64 { return i64x2.extract_lane(v, 0) + i64x2.extract_lane(v, 1); }
// What a sum of two lanes gathered on the grid at k.
function depositGrid(a: v128, k: i32): void { depositLanes(sub(a, grid(k))); }
@inline export function finite(v: v128): bool { const z = sub(v, v); return f64x2.extract_lane(z, 0) == 0 && f64x2.extract_lane(z, 1) == 0; }
// Whether all numbers whose bits were gathered with OR are zeros.
@inline function isZero(left: v128): bool { return ((i64x2.extract_lane(left, 0) | i64x2.extract_lane(left, 1)) << 1) == 0; }
@inline function grid(k: i32): v128 { return splat(1.5 * powerOfTwo(k)); }

// One block through three grids and a bounded rest, N = n / 2 <= 256 terms a lane. Returns the bound of what was lost, or -1 if the
// block was not done: a term left the first grid or was not a number. Terms without error terms often end within the three
// grids: then nothing is lost and ties are decided; for products that is rare, and looking would cost 5 %.
//
// What the first grid leaves of a product, v = x y - q, has more than 53 bits: v = h + l with h = RN(v), and l, which is below the
// second grid's step, enters at the third:
//   With the excess e = p - x y, r = p - q is exact (see above) and v = r - e. Fused, h = RN(x y - q), |h| <= h1; else h = RN(r - e),
//   |h| <= 2 h1. l = (r - h) - e is exact: FastTwoSum, r being a multiple of e's last place. |l| <= ulp(h) / 2 <= 2 u h1.
//   Second: it strays by at most N (|h| + h2), below 2^(k2-1) for k2 = k1 - 43, or k1 - 42 where |h| may be 2 h1.
//   w = h - q is exact, |w| <= h2, and a multiple of ulp(h): 0, or |w| >= 2 |l|.
//   Third, k3 = k2 - 43: t = RN(s + f), f = RN(w + l), q = t - s. It strays by N (h2 + 2 u h1 + h3) < 2^(k3-1). u h2 is at most
//   2^-10 h3, so that w + l - q is at most h3 (1 + 2^-9).
//   w - q is exact if w's last bit is at smallestProduct g3 (a multiple of g3 of less than 2^53 g3), or if |w| >= 1.01 g3: then it is a
//   multiple of that bit and at most 1.01 h3 + |l| <= |w|. Else both w and q are small, and it rounds by at most 2.1 u h3.
//   The rest (w - q) + l, at most h3 (1 + 2^-8), rounds by 1.1 u h3 more.
// Rests are added with rounding to d: after i of them |d| <= i h3 (1 + 2^-8), and N of them err by u h3 (1 + 2^-8) N (N + 1) / 2 and
// 3.2 N u h3. For both lanes that is below 1.01 u h3 (N + 4)^2: a block of 512 terms loses less than 2^-164 of the power of two above
// its largest term, enough for a condition of 1e30. (The sum of all d and its error err by less than 2^-30 of that.)
// An error term that underflows is off by at most 5 * 2^-1074 (Ogita, Rump and Oishi 2005).
//
// One chain of two lanes: with two of them V8 has too few registers, and is 3 % slower.
function bounded<T, Op>(px: usize, py: usize, n: i32): f64 {
  const rounded = isRounded<T, Op>();
  const S1 = grid(first), S2 = grid(middle), S3 = grid(last);
  let s1 = S1, s2 = S2, s3 = S3, or = S1, and = S1, d = splat(0), left = d, l = d;
  const stride = 2 * sizeof<T>(), fuses = rounded && isFused();
  for (const end = px + <usize>(n >> 1) * stride; px != end; px += stride, py += stride) {
    const x = load<T>(px), y = second<T, Op>(py, x), p = term<Op>(x, y);
    let t = fuses ? fused(x, y, s1) : add(s1, p);
    const q = sub(s1, t), r = add(p, q);
    let h = r;
    or = v128.or(or, t); and = v128.and(and, t); s1 = t;
    if (rounded) {
      const e = productExcess(x, y, p);
      h = fuses ? fused(x, y, q) : sub(r, e);
      l = sub(sub(r, h), e);
    }
    t = add(s2, h);
    const w = sub(h, sub(t, s2));
    s2 = t;
    t = add(s3, rounded ? add(w, l) : w);
    const rest = rounded ? add(sub(w, sub(t, s3)), l) : sub(w, sub(t, s3));
    s3 = t;
    d = add(d, rest);
    if (!rounded) left = v128.or(left, rest);
  }
  // A split that overflowed has made everything below the first grid NaN, and d - d with it.
  if (v128.any_true(v128.or(i64x2.shr_u(v128.xor(or, and), 52), sub(d, d)))) return -1;
  units1 = i64x2.add(units1, i64x2.sub(s1, S1));
  units2 = i64x2.add(units2, i64x2.sub(s2, S2));
  units3 = i64x2.add(units3, i64x2.sub(s3, S3));
  ++gathered;
  if (!rounded && isZero(left)) return 0;
  const sum = add(rests, d);
  restsError = add(restsError, sumError(rests, d, sum));
  rests = sum;
  const m = <f64>((n >> 1) + 4);
  return 1.01 * U * (powerOfTwo(last) * U) * m * m + (rounded ? <f64>n * 8 * f64.MIN_VALUE : 0);
}

// One block through six grids that leave nothing: 252 bits below the largest term. False if they would.
function exactly<T, Op>(px: usize, py: usize, n: i32, k1: i32): bool {
  const rounded = isRounded<T, Op>();
  const step = 50 - log2Up(n >> 1);
  const S1 = grid(k1), S2 = grid(k1 - step), S3 = grid(k1 - 2 * step), S4 = grid(k1 - 3 * step), S5 = grid(k1 - 4 * step), S6 = grid(k1 - 5 * step);
  let a1 = S1, a2 = S2, a3 = S3, a4 = S4, a5 = S5, a6 = S6, left = splat(0);
  const stride = 2 * sizeof<T>();
  for (const end = px + <usize>(n >> 1) * stride; px != end; px += stride, py += stride) {
    const x = load<T>(px), y = second<T, Op>(py, x);
    let r = term<Op>(x, y), e = rounded ? productExcess(x, y, r) : r, t = rounded && ASC_FEATURE_RELAXED_SIMD ? fused(x, y, a1) : add(a1, r);
    r = sub(r, sub(t, a1)); a1 = t;
    t = add(a2, r); r = sub(r, sub(t, a2)); a2 = t;
    if (rounded) { t = sub(a2, e); e = sub(e, sub(a2, t)); a2 = t; }
    t = add(a3, r); r = sub(r, sub(t, a3)); a3 = t;
    if (rounded) { t = sub(a3, e); e = sub(e, sub(a3, t)); a3 = t; }
    t = add(a4, r); r = sub(r, sub(t, a4)); a4 = t;
    if (rounded) { t = sub(a4, e); e = sub(e, sub(a4, t)); a4 = t; }
    t = add(a5, r); r = sub(r, sub(t, a5)); a5 = t;
    if (rounded) { t = sub(a5, e); e = sub(e, sub(a5, t)); a5 = t; }
    t = add(a6, r); r = sub(r, sub(t, a6)); a6 = t;
    if (rounded) { t = sub(a6, e); e = sub(e, sub(a6, t)); a6 = t; left = v128.or(left, e); }
    left = v128.or(left, r);
  }
  // Not a number among the terms, or a split that overflowed: a NaN has gone down to the last grid and is left too.
  if (!isZero(left)) return false;
  depositGrid(a1, k1);
  depositGrid(a2, k1 - step);
  depositGrid(a3, k1 - 2 * step);
  depositGrid(a4, k1 - 3 * step);
  depositGrid(a5, k1 - 4 * step);
  depositGrid(a6, k1 - 5 * step);
  return true;
}

// Where the first grid must be for a block of n terms, as far as the first `sample` of them tell, or 0 where the lower grids would leave the
// normal numbers.
function place<T, Op>(px: usize, py: usize, n: i32, sample: i32): i32 {
  range<T, Op>(px, py, sample);
  if (!(largest < 1e290 && largest > 1e-200)) return 0;
  const k = binade(largest) + log2Up(n >> 1) + 2;
  return k == 0 ? 1 : k; // 0 has its meaning, a coarser grid will do
}

// A stream of n terms, n a multiple of 8, into the superaccumulator. Returns the bound of what was lost.
export function ladder<T, Op>(px: usize, py: usize, n: i32): f64 {
  const bound = gather<T, Op>(px, py, n);
  depositGathered();
  return bound;
}

// The same, and what was gathered last is not deposited yet. The first grid stays where it was for the block before, or moves up. For the
// first block a part of its terms tells where it must be, all of them if a term strays then (n = 4096: 4 % less time).
export function gather<T, Op>(px: usize, py: usize, n: i32): f64 {
  let bound: f64 = 0;
  while (n > 0) {
    const m = min(n, BLOCK);
    let lost = first == 0 ? placed<T, Op>(px, py, m, min(m, SAMPLE)) : bounded<T, Op>(px, py, m);
    if (lost < 0) lost = placed<T, Op>(px, py, m, m);
    if (gathered == MAX_GATHERED) depositGathered();
    if (lost < 0) { accumulate<T, Op>(px, py, m); deposited = true; }
    else bound += lost;
    const step = <usize>m * sizeof<T>();
    px += step;
    py += step;
    n -= m;
  }
  return bound;
}
@inline const SAMPLE: i32 = 128;

// bounded() with the grids where the first `sample` of n terms need them, or higher if they are.
function placed<T, Op>(px: usize, py: usize, n: i32, sample: i32): f64 {
  const needed = place<T, Op>(px, py, n, sample);
  if (needed == 0) return -1;
  depositGathered();
  first = first == 0 ? needed : max(first, needed);
  middle = first - (isRounded<T, Op>() && !isFused() ? 42 : 43);
  last = middle - 43;
  return bounded<T, Op>(px, py, n);
}

// The same exactly: six grids a block, and where they do not reach, a deposit for every term.
export function exactLadder<T, Op>(px: usize, py: usize, n: i32): void {
  while (n > 0) {
    const m = min(n, BLOCK), k = place<T, Op>(px, py, m, m);
    const whole = !isRounded<T, Op>() || smallest >= MIN_PRODUCT || productsExact(px, py, m);
    if (k == 0 || !whole || !exactly<T, Op>(px, py, m, k)) accumulate<T, Op>(px, py, m);
    const step = <usize>m * sizeof<T>();
    px += step;
    py += step;
    n -= m;
  }
}
