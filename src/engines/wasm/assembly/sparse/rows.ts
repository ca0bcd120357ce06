// Rows of a sparse triangular system, in plain and in exact arithmetic: x_k from b_k, the entries of its row and the
// unknowns they meet. Who works on which rows, and when, is the business of sparse.ts.
import { SUM_SLACK, SMALL, certified, certifiedQuickly, certifiedQuotient, excess, put } from "../exact/certificate";
import { APART, FIRST, JOB_BEGINS, JOB_DIAGONAL, JOB_EXACT, JOB_DIAGONAL_AT, JOB_INDICES, JOB_M, JOB_ORDER, JOB_SHAPES, JOB_SHAPE_STARTS, JOB_UPPER, JOB_VALUES, JOB_X, JOB_Y, LAST } from "../layout";
import { MIN_PRODUCT } from "../exact/terms";
import { binade, powerOfTwo, sameBinade } from "../grid";
import { U, add, isFused, mul, nmadd, one, productExcess, remainder, splat, sub, twoSumError } from "../simd";
import { addNumber, addProduct, clearDigits, quotient, round } from "../exact/superaccumulator";
import { addressAt, i32At } from "../team";

@inline const LARGE: f64 = 8.452712498170644e270; // 2^900
// How far the grid of a row lies above its terms, in powers of two: rows up to 2^(GRID_MARGIN - 2) times its size fit on it, and
// n = 27 loses less than 2^-80 of the terms.
@inline const GRID_MARGIN: i32 = 8;

@inline export function integer(array: usize, i: i32): i32 { return i32.load(array + (<usize>i << 2)); }
@inline function element<T>(array: usize, i: i32): f64 { return one<T>(array + <usize>i * sizeof<T>()); }

// Rows from..to, in order. y has the right-hand side on entry and the solution on return, unknown by unknown; where the
// rows are in an order of their own, x has the solution in that order.
export function rows<T>(job: usize, from: i32, to: i32): void {
  const exact = i32At(job, JOB_EXACT) != 0;
  if (addressAt(job, JOB_SHAPES) != 0) rowsByShapes<T>(job, from, to, exact);
  else rowsByIndices<T>(job, from, to, exact);
}
// Two copies of the same, each without what only the other needs: with all of it in one they are 5 to 10 % slower.
function rowsByIndices<T>(job: usize, from: i32, to: i32, exact: bool): void {
  if (exact) exactRows<T>(job, from, to, false);
  else plainRows<T>(job, from, to, false);
}
function rowsByShapes<T>(job: usize, from: i32, to: i32, exact: bool): void {
  if (exact) exactRows<T>(job, from, to, true);
  else plainRows<T>(job, from, to, true);
}

// The line that comes k-th.
@inline export function lineOf(job: usize, k: i32): i32 {
  return i32At(job, JOB_UPPER) && addressAt(job, JOB_ORDER) == 0 ? i32At(job, JOB_M) - 1 - k : k;
}
@inline function stepOf(job: usize): i32 { return lineOf(job, 1) - lineOf(job, 0); }

// Its entries, without the diagonal.
@inline export function firstOf(job: usize, line: i32): i32 { return integer(addressAt(job, JOB_BEGINS), line) + <i32>(i32At(job, JOB_DIAGONAL_AT) == FIRST); }
@inline export function endOf(job: usize, line: i32): i32 { return integer(addressAt(job, JOB_BEGINS), line + 1) - <i32>(i32At(job, JOB_DIAGONAL_AT) == LAST); }
// Where its first index is, and what indices are relative to: the unknown 0, or its own.
@inline export function indexOf(job: usize, line: i32, first: i32): usize {
  const shapes = addressAt(job, JOB_SHAPES);
  return addressAt(job, JOB_INDICES) + (<usize>(shapes != 0 ? integer(addressAt(job, JOB_SHAPE_STARTS), load<u8>(shapes + line)) + <i32>(i32At(job, JOB_DIAGONAL_AT) == FIRST) : first) << 2);
}
@inline export function originOf(job: usize, line: i32): i32 { return addressAt(job, JOB_SHAPES) != 0 ? line : 0; }
// Which of the numbers at DIAGONAL is its own.
@inline export function ownOf(diagonalAt: i32, line: i32, first: i32, end: i32): i32 { return diagonalAt == APART ? line : diagonalAt == LAST ? end : first - 1; }

@inline function plainRows<T>(job: usize, from: i32, to: i32, shaped: bool): void {
  const begins = addressAt(job, JOB_BEGINS), values = addressAt(job, JOB_VALUES);
  const diagonal = addressAt(job, JOB_DIAGONAL), order = addressAt(job, JOB_ORDER), x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), step = stepOf(job);
  const indices = addressAt(job, JOB_INDICES), shapes = addressAt(job, JOB_SHAPES), starts = addressAt(job, JOB_SHAPE_STARTS);
  const diagonalAt = i32At(job, JOB_DIAGONAL_AT), front = <i32>(diagonalAt == FIRST), back = <i32>(diagonalAt == LAST);
  for (let k = from, line = lineOf(job, from); k < to; ++k, line += step) {
    const at = y + <usize>(order != 0 ? integer(order, k) : line) * sizeof<T>(), first = integer(begins, line) + front, end = integer(begins, line + 1) - back;
    const origin = shaped ? x + <usize>line * sizeof<T>() : x;
    let s = load<T>(at), index = indices + (<usize>(shaped ? integer(starts, load<u8>(shapes + line)) + front : first) << 2), value = values + <usize>first * sizeof<T>();
    for (const last = index + (<usize>(end - first) << 2); index != last; value += sizeof<T>(), index += 4)
      s = <T>(s - <T>(load<T>(value) * load<T>(origin + <usize>i32.load(index) * sizeof<T>())));
    if (diagonal != 0) s = <T>(s / load<T>(diagonal + <usize>ownOf(diagonalAt, line, first, end) * sizeof<T>()));
    put<T>(at, <f64>s);
    if (order != 0) put<T>(x + <usize>k * sizeof<T>(), <f64>s);
  }
}

// The entries of a row, two at a time; of an odd row the last alone, with zeros beside it.
@inline function entries<T>(value: usize, alone: bool): v128 {
  return sizeof<T>() == 8
    ? alone ? v128.load64_zero(value) : v128.load(value)
    : f64x2.promote_low_f32x4(alone ? v128.load32_zero(value) : v128.load64_zero(value));
}
@inline function unknowns<T>(x: usize, index: usize, alone: bool): v128 {
  const p = x + <usize>i32.load(index) * sizeof<T>();
  if (sizeof<T>() == 8) return alone ? v128.load64_zero(p) : v128.load_lane<f64>(x + <usize>i32.load(index, 4) * 8, v128.load64_zero(p), 1);
  return f64x2.promote_low_f32x4(alone ? v128.load32_zero(p) : v128.load_lane<f32>(x + <usize>i32.load(index, 4) * 4, v128.load32_zero(p), 1));
}

// The grid of the last row that was summed with care: 1.5 * 2^k. Rows that follow are mostly of its size.
let grid: f64 = 1.5;

// A row is summed on a grid, as in filter.ts: while all partial sums lie in the binade of g,
//   t = RN(s - a x), s - t is exact, and RN((s - t) - a x) is what t lost: at most h = g u / 1.5, known within u h.
// Without a fused multiply-add t = RN(s - p) for the rounded product p, (s - t) - p is exact, and p's error term, again at
// most h, is added to it with one rounding. c gathers that and what b left, |c| <= 2 (i + 1) h after i products, so that all
// additions err by less than u h (n^2 + 7 n + 6) <= u h (n + 5)^2, the two lanes joined included. An underflowing product
// adds less than four of the least numbers. Four operations for two entries where TwoSum and TwoProd take nine.
@inline function exactRows<T>(job: usize, from: i32, to: i32, shaped: bool): void {
  const begins = addressAt(job, JOB_BEGINS), values = addressAt(job, JOB_VALUES);
  const diagonal = addressAt(job, JOB_DIAGONAL), order = addressAt(job, JOB_ORDER), x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), step = stepOf(job);
  const indices = addressAt(job, JOB_INDICES), shapes = addressAt(job, JOB_SHAPES), starts = addressAt(job, JOB_SHAPE_STARTS);
  const diagonalAt = i32At(job, JOB_DIAGONAL_AT), front = <i32>(diagonalAt == FIRST), back = <i32>(diagonalAt == LAST);
  let g = grid;
  for (let k = from, line = lineOf(job, from); k < to; ++k, line += step) {
    const at = y + <usize>(order != 0 ? integer(order, k) : line) * sizeof<T>(), b = one<T>(at), first = integer(begins, line) + front, end = integer(begins, line + 1) - back;
    let p = first;
    const start = g + b, size = <f64>(end - p) + 5, G = splat(g);
    let s = f64x2.replace_lane(G, 0, start), c = f64x2.replace_lane(splat(0), 0, b - (start - g)), or = v128.or(G, s), and = v128.and(G, s);
    const origin = shaped ? x + <usize>line * sizeof<T>() : x;
    let index = indices + (<usize>(shaped ? integer(starts, load<u8>(shapes + line)) + front : first) << 2), value = values + <usize>p * sizeof<T>();
    for (; p < end; p += 2, index += 8, value += 2 * sizeof<T>()) {
      const alone = p + 1 == end, a = entries<T>(value, alone), z = unknowns<T>(origin, index, alone), t = isFused() ? nmadd(a, z, s) : sub(s, mul(a, z));
      c = add(c, isFused() ? nmadd(a, z, sub(s, t)) : lost<T>(a, z, sub(s, t)));
      or = v128.or(or, t);
      and = v128.and(and, t);
      s = t;
    }
    s = sub(s, G);
    const high = f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1), low = f64x2.extract_lane(c, 0) + f64x2.extract_lane(c, 1);
    const fits = sameBinade(or, and);
    let v = fits ? rounded<T>(high, low, size * size * (g * (U * U / 1.5) + f64.MIN_VALUE), diagonal, ownOf(diagonalAt, line, first, end)) : NaN;
    if (v != v) {
      v = carefully<T>(job, line, b, fits);
      g = grid;
    }
    put<T>(at, v);
    if (order != 0) put<T>(x + <usize>k * sizeof<T>(), v);
  }
}
@inline function lost<T>(a: v128, z: v128, q: v128): v128 {
  const product = mul(a, z), r = sub(q, product);
  return sizeof<T>() == 8 ? add(r, productExcess(a, z, product)) : r;
}
@inline function rounded<T>(high: f64, low: f64, bound: f64, diagonal: usize, own: i32): f64 {
  if (diagonal != 0) return quickQuotient<T>(high, low, bound, element<T>(diagonal, own));
  return sizeof<T>() == 4 ? certified(high, low, bound, true) : certifiedQuickly(high, low, bound);
}

// A row as a compensated sum. s gathers b and minus the products, c the error terms of both, S = |b| + sum |p|. No partial
// sum exceeds S (but for a factor 1 + n u), so |c| <= (i + 1) u S after i products; each of them rounds twice, when an error
// term of the sum (<= u S) meets that of the product (<= u |p|) and when both join c. With the lanes joined at the end
//   |s + c - (b - sum)| <= u^2 S (n^2 / 2 + 4.5 n + 6), for which (n + 5)^2 has room to spare;
// an underflowing product adds less than four of the least numbers.
function compensated<T>(job: usize, k: i32, b: f64): f64 {
  const x = addressAt(job, JOB_X) + <usize>originOf(job, k) * sizeof<T>(), first = firstOf(job, k), end = endOf(job, k);
  let s = f64x2.replace_lane(splat(0), 0, b), c = splat(0), m = f64x2.abs(s);
  let index = indexOf(job, k, first), value = addressAt(job, JOB_VALUES) + <usize>first * sizeof<T>();
  for (let p = first; p < end; p += 2, index += 8, value += 2 * sizeof<T>()) {
    const alone = p + 1 == end, a = entries<T>(value, alone), z = unknowns<T>(x, index, alone), product = mul(a, z);
    const t = sub(s, product), w = sub(t, s), error = sub(sub(s, sub(t, w)), add(product, w));
    c = add(c, sizeof<T>() == 8 ? add(error, productExcess(a, z, product)) : error);
    m = add(m, f64x2.abs(product));
    s = t;
  }
  const n = <f64>(end - first) + 5, s0 = f64x2.extract_lane(s, 0), s1 = f64x2.extract_lane(s, 1), sum = s0 + s1;
  const rest = f64x2.extract_lane(c, 0) + f64x2.extract_lane(c, 1) + twoSumError(s0, s1, sum);
  const size = f64x2.extract_lane(m, 0) + f64x2.extract_lane(m, 1);
  if (size > SMALL && size < LARGE) grid = 1.5 * powerOfTwo(binade(size) + GRID_MARGIN);
  return rounded<T>(sum, rest, n * n * (U * U * size + f64.MIN_VALUE), addressAt(job, JOB_DIAGONAL), ownOf(i32At(job, JOB_DIAGONAL_AT), k, first, end));
}

// The number that all within bound of high + low round to when divided by d; NaN where it is not proved. With r = RN(1 / d), q = RN(high r) is within 3 u of high / d, and
//   (high + low + e) / d = q + (high - q d + low + e) / d,
// where RN(high - q d) errs by 3 u^2 |high|, the sum with low by u of itself, and the product with r by 2 u: together below
//   |e / d| + 5 u^2 |q| + 4 u |correction|.
// A quotient comes 13 cycles after its operands, this one after two products: 1 / d is known long before.
@inline function quickQuotient<T>(high: f64, low: f64, bound: f64, d: f64): f64 {
  if (sizeof<T>() == 4) return certifiedQuotient(high, low, bound, d, true);
  const r = 1 / d, q = high * r, correction = (remainder(high, q, d) + low) * r, v = q + correction;
  const m = (abs(correction - (v - q)) + bound * abs(r) + 5 * U * U * abs(q) + 4 * U * abs(correction)) * SUM_SLACK;
  const inRange = abs(high) > SMALL && abs(high) < LARGE && abs(d) > SMALL && abs(d) < LARGE && abs(v) > SMALL;
  return v + m == v && v - m == v && abs(correction) < abs(q) && inRange ? v : NaN;
}

// What the grid leaves open. Of rows that fit on it many are ties, or nearly: sums of a few numbers of like size, divided by
// a small integer. Then two numbers hold the sum exactly, and the quotient has a correction that is exact. Otherwise the
// grid is placed anew; what is still open goes to the superaccumulator.
function carefully<T>(job: usize, k: i32, b: f64, fits: bool): f64 {
  const diagonal = addressAt(job, JOB_DIAGONAL), d: f64 = diagonal != 0 ? element<T>(diagonal, ownOf(i32At(job, JOB_DIAGONAL_AT), k, firstOf(job, k), endOf(job, k))) : 1;
  let v = fits ? inTwo<T>(job, k, b, d) : NaN;
  if (v != v) v = compensated<T>(job, k, b);
  if (v != v && !fits) v = inTwo<T>(job, k, b, d);
  return v == v ? v : exactly<T>(job, k, b, d);
}

function inTwo<T>(job: usize, k: i32, b: f64, d: f64): f64 {
  const x = addressAt(job, JOB_X), values = addressAt(job, JOB_VALUES), first = firstOf(job, k), end = endOf(job, k), origin = originOf(job, k);
  let s = b, c: f64 = 0;
  for (let p = first, index = indexOf(job, k, first); p < end; ++p, index += 4) {
    const a = element<T>(values, p), z = element<T>(x, origin + i32.load(index)), product = a * z;
    if (sizeof<T>() == 8 && !(abs(product) > MIN_PRODUCT) && a != 0 && z != 0) return NaN;
    const t = s - product, error = twoSumError(s, -product, t), c1 = c + error, more = sizeof<T>() == 8 ? excess(a, z) : 0, c2 = c1 + more;
    if (twoSumError(c, error, c1) != 0 || twoSumError(c1, more, c2) != 0) return NaN;
    s = t;
    c = c2;
  }
  const h = s + c, l = twoSumError(s, c, h), size = abs(h);
  if (size == 0 && d == d) return 0;
  if (addressAt(job, JOB_DIAGONAL) == 0) return certified(h, l, 0, sizeof<T>() == 4);
  if (!(size > SMALL && size < LARGE && abs(d) > SMALL && abs(d) < LARGE)) return NaN;
  const q = h / d, rest = remainder(h, q, d), sum = rest + l, correction = sum / d, v = q + correction;
  const exact = twoSumError(rest, l, sum) == 0 && remainder(sum, correction, d) == 0;
  if (exact && abs(v) > SMALL && (sizeof<T>() == 8 || twoSumError(q, correction, v) == 0)) return <f64><T>v;
  return certifiedQuotient(h, l, 0, d, sizeof<T>() == 4);
}

function exactly<T>(job: usize, k: i32, b: f64, d: f64): f64 {
  const x = addressAt(job, JOB_X), values = addressAt(job, JOB_VALUES), first = firstOf(job, k), end = endOf(job, k), origin = originOf(job, k);
  clearDigits();
  addNumber(b);
  for (let p = first, index = indexOf(job, k, first); p < end; ++p, index += 4) addProduct(-element<T>(values, p), element<T>(x, origin + i32.load(index)));
  return addressAt(job, JOB_DIAGONAL) != 0 ? quotient(d, sizeof<T>() == 4) : round(sizeof<T>() == 4);
}
