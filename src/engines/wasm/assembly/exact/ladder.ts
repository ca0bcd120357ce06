// Stage 2, the ladder: several grids, one below the other, each as in filter.ts. What an addition loses on one grid is exact and is
// added to the next, so a block of which the last grid loses nothing is summed exactly. A ladder is an expansion whose components
// have fixed exponents: a step takes three operations where TwoSum takes six.
//
// Where the grids are, for n terms per lane, u = 2^-53, h = 2^(k-53), g = 2 h:
//   first:  as in filter.ts. It is kept from the previous block, or placed so that n M <= 2^(k1-2) for the largest term M of the
//           block or of its first terms; either way the sums are checked. Every term is then below 2^k1 and loses at most h1. With
//           a fused multiply-add t = RN(s + x y) comes directly from the product; p - q, p = RN(x y), is still exact (both are
//           multiples of the smaller of p's last bit and g1, and their difference is below 2^53 of those), but may be as large as
//           h1 + |p - x y| <= 2 h1.
//   lower:  so high that the sums of a block move by less than half a binade, whatever its terms are. They need no check.
import { setRecord } from "./certificate";
import { MAX_TERM, binade, grid, log2Up, powerOfTwo } from "../grid";
import { isRounded, largest, range, second, smallest, term } from "../range";
import { U, add, fused, isFused, load, productExcess, splat, sub, sumError, twoSumError } from "../simd";
import { clearDigits, deposit } from "./superaccumulator";
import { MIN_PRODUCT, accumulate, productsExact } from "./terms";

// The exponents of the three grids of boundedBlock(); the first is 0 before the first block.
let k1: i32 = 0, k2: i32 = 0, k3: i32 = 0;
let deposited: bool = false; // whether the superaccumulator has anything since it was cleared
export function clear(): void { k1 = 0; deposited = false; clearDigits(); }

// Terms in one block. Larger blocks lose more (their grids are closer together), smaller ones take longer: 3 % at 256 terms.
@inline const BLOCK: i32 = 512;

// The sums of several blocks on the three grids of boundedBlock(), in units of g, and the rests as a sum and its error. A sum on a
// grid and its start differ only in their significands, so the difference of their bits is the sum in units. It is at most 2^51 per
// lane: 2^10 blocks stay below 2^62. (A deposit for every sum of every block takes 2 % more time.)
let units1: v128 = i64x2.splat(0), units2: v128 = i64x2.splat(0), units3: v128 = i64x2.splat(0);
let rests: v128 = i64x2.splat(0), restsError: v128 = i64x2.splat(0), gathered: i32 = 0;
@inline const MAX_GATHERED: i32 = 1024;

function depositUnits(v: v128, k: i32): void {
  const sum = sumLanes(v);
  deposit(<f64>(sum & 0xffffffff) * powerOfTwo(k - 52));
  deposit(<f64>(sum >> 32) * powerOfTwo(k - 20));
}
function depositLanes(v: v128): void {
  deposit(f64x2.extract_lane(v, 0));
  deposit(f64x2.extract_lane(v, 1));
}
export function depositGathered(): void {
  if (gathered == 0) return;
  depositUnits(units1, k1);
  depositUnits(units2, k2);
  depositUnits(units3, k3);
  depositLanes(rests);
  depositLanes(restsError);
  dropGathered();
  deposited = true;
}
export function dropGathered(): void {
  units1 = units2 = units3 = rests = restsError = i64x2.splat(0);
  gathered = 0;
}

// The gathered sums as an enclosure, where `bound` is the bound of what the blocks have lost. False if that is not the whole sum,
// because something has been deposited, or if the sum on the first grid has more than 53 bits.
export function encloseGathered(record: usize, bound: f64): bool {
  if (deposited || gathered == 0) return false;
  const r = f64x2.extract_lane(rests, 0) + f64x2.extract_lane(rests, 1), error = f64x2.extract_lane(restsError, 0) + f64x2.extract_lane(restsError, 1);
  const size = abs(f64x2.extract_lane(rests, 0)) + abs(f64x2.extract_lane(rests, 1));
  return enclose(record, sumLanes(units1), sumLanes(units2), sumLanes(units3), k1, k2, k3, r + error, size, bound);
}
// The enclosure of a sum given as a, b and c units on the grids with exponents k1, k2 and k3 and a rest r, which is off by `bound`
// and by a few roundings of at most u `size`. False if the sum on the first grid has more than 53 bits.
//   Carries are propagated between the units as between digits: the units of a grid d binades below the next higher one end in
//   [0, 2^d). If the units of a higher grid are 0 or -1, the next ones could cancel them, and both are joined on the lower grid.
//   Then x, y and z are exact and of decreasing magnitude, and high has the magnitude of the sum.
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
@inline function sumLanes(v: v128): i64 { return i64x2.extract_lane(v, 0) + i64x2.extract_lane(v, 1); }
// Deposit what two lanes have summed on the grid with exponent k.
function depositGrid(a: v128, k: i32): void { depositLanes(sub(a, grids(k))); }
// Whether numbers whose bits were combined with OR are all zero.
@inline function isZero(left: v128): bool { return ((i64x2.extract_lane(left, 0) | i64x2.extract_lane(left, 1)) << 1) == 0; }
@inline function grids(k: i32): v128 { return splat(grid(k)); }

// One block on three grids with a bounded rest, N = n / 2 <= 256 terms per lane. Returns the bound of what was lost, or -1 if the
// block was not added because a sum left the first grid's binade or a term is not a number. Terms without error terms often fit
// the three grids completely: then nothing is lost, and ties are decided. For products that is rare, and testing for it costs 5 %.
//
// What a product loses on the first grid, v = x y - q, has more than 53 bits: v = h + l with h = RN(v), and l, which is below the
// second grid's g, is added on the third:
//   With the excess e = p - x y, r = p - q is exact (see above) and v = r - e. Fused, h = RN(x y - q), |h| <= h1; otherwise
//   h = RN(r - e), |h| <= 2 h1. l = (r - h) - e is exact: FastTwoSum, r being a multiple of e's last place.
//   |l| <= ulp(h) / 2 <= 2 u h1.
//   Second grid: its sum moves by at most N (|h| + h2), below 2^(k2-1) for k2 = k1 - 43, or k1 - 42 if |h| may be 2 h1.
//   w = h - q is exact, |w| <= h2, and a multiple of ulp(h): it is 0, or |w| >= 2 |l|.
//   Third grid, k3 = k2 - 43: t = RN(s + f), f = RN(w + l), q = t - s. Its sum moves by N (h2 + 2 u h1 + h3) < 2^(k3-1). u h2 is at
//   most 2^-10 h3, so that w + l - q is at most h3 (1 + 2^-9).
//   w - q is exact if w's last bit is at least g3 (it is a multiple of g3 of less than 2^53 g3), or if |w| >= 1.01 g3: then it is a
//   multiple of that bit and at most 1.01 h3 + |l| <= |w|. Otherwise both w and q are small, and it rounds by at most 2.1 u h3.
//   The rest (w - q) + l, at most h3 (1 + 2^-8), rounds by 1.1 u h3 more.
// Rests are added with rounding to d: after i of them |d| <= i h3 (1 + 2^-8), and N of them err by u h3 (1 + 2^-8) N (N + 1) / 2 and
// 3.2 N u h3. For both lanes that is below 1.01 u h3 (N + 4)^2: a block of 512 terms loses less than 2^-164 of the power of two above
// its largest term, enough for a condition of 1e30. (The sum of all d and its error err by less than 2^-30 of that.)
// An error term that underflows is off by at most 5 * 2^-1074 (Ogita, Rump and Oishi 2005).
//
// One chain of two lanes: with two chains V8 runs out of registers and is 3 % slower.
function boundedBlock<T, Op>(px: usize, py: usize, n: i32): f64 {
  const rounded = isRounded<T, Op>();
  const S1 = grids(k1), S2 = grids(k2), S3 = grids(k3);
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
  // If a split overflowed, everything below the first grid is NaN, and so is d - d.
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
  return 1.01 * U * (powerOfTwo(k3) * U) * m * m + (rounded ? <f64>n * 8 * f64.MIN_VALUE : 0);
}

// One block on six grids that must lose nothing: they reach 252 bits below the largest term. False if anything is left; the block is
// then not added.
function exactBlock<T, Op>(px: usize, py: usize, n: i32, k1: i32): bool {
  const rounded = isRounded<T, Op>();
  const step = 50 - log2Up(n >> 1);
  const S1 = grids(k1), S2 = grids(k1 - step), S3 = grids(k1 - 2 * step), S4 = grids(k1 - 3 * step), S5 = grids(k1 - 4 * step), S6 = grids(k1 - 5 * step);
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
  // A NaN among the terms, or from a split that overflowed, has reached the last grid and is left over too.
  if (!isZero(left)) return false;
  depositGrid(a1, k1);
  depositGrid(a2, k1 - step);
  depositGrid(a3, k1 - 2 * step);
  depositGrid(a4, k1 - 3 * step);
  depositGrid(a5, k1 - 4 * step);
  depositGrid(a6, k1 - 5 * step);
  return true;
}

// The exponent that the first grid needs for a block of n terms, judging by the first `sample` of them; 0 if the terms are out of
// range or the lower grids would not be normal numbers.
function firstGrid<T, Op>(px: usize, py: usize, n: i32, sample: i32): i32 {
  range<T, Op>(px, py, sample);
  if (!(largest < MAX_TERM && largest > 1e-200)) return 0;
  const k = binade(largest) + log2Up(n >> 1) + 2;
  return k == 0 ? 1 : k; // 0 has a meaning, and a coarser grid will do
}

// Add n terms, n a multiple of 8, to the superaccumulator. Returns the bound of what was lost.
export function ladder<T, Op>(px: usize, py: usize, n: i32): f64 {
  const bound = gather<T, Op>(px, py, n);
  depositGathered();
  return bound;
}

// The same, but leaves the last sums gathered and not deposited. The first grid stays where it was for the previous block, or moves
// up. For the first block it is placed by a sample of the terms, and by all of them if a sum then leaves its binade (4 % less time
// at n = 4096).
export function gather<T, Op>(px: usize, py: usize, n: i32): f64 {
  let bound: f64 = 0;
  while (n > 0) {
    const m = min(n, BLOCK);
    let lost = k1 == 0 ? placeAndSum<T, Op>(px, py, m, min(m, SAMPLE)) : boundedBlock<T, Op>(px, py, m);
    if (lost < 0) lost = placeAndSum<T, Op>(px, py, m, m);
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

// boundedBlock() with the grids where the first `sample` of n terms need them, or higher if they are already.
function placeAndSum<T, Op>(px: usize, py: usize, n: i32, sample: i32): f64 {
  const needed = firstGrid<T, Op>(px, py, n, sample);
  if (needed == 0) return -1;
  depositGathered();
  k1 = k1 == 0 ? needed : max(k1, needed);
  k2 = k1 - (isRounded<T, Op>() && !isFused() ? 42 : 43);
  k3 = k2 - 43;
  return boundedBlock<T, Op>(px, py, n);
}

// Add n terms to the superaccumulator exactly: each block on six grids or, if those do not suffice, term by term.
export function exactLadder<T, Op>(px: usize, py: usize, n: i32): void {
  while (n > 0) {
    const m = min(n, BLOCK), k = firstGrid<T, Op>(px, py, m, m);
    const errorsExact = !isRounded<T, Op>() || smallest >= MIN_PRODUCT || productsExact(px, py, m);
    if (k == 0 || !errorsExact || !exactBlock<T, Op>(px, py, m, k)) accumulate<T, Op>(px, py, m);
    const step = <usize>m * sizeof<T>();
    px += step;
    py += step;
    n -= m;
  }
}
