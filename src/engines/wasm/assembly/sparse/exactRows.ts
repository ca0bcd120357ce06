// Rows of a sparse triangular system in exact arithmetic, each rounded once. A row is summed on a grid; if that does not decide its
// result, by a compensated sum, by two exact doubles, or in the superaccumulator. Called by rows.ts; the loop over a row is that of the
// sparse paper (Section 3).
import { SMALL, certified, certifiedQuickly, certifiedQuotient, excess, put, quickQuotient } from "../exact/certificate";
import { FIRST, JOB_BEGINS, JOB_DIAGONAL, JOB_DIAGONAL_AT, JOB_ENDS, JOB_INDICES, JOB_ORDER, JOB_SHAPES, JOB_SHAPE_STARTS, JOB_VALUES, JOB_X, JOB_Y, LAST } from "../layout";
import { binade, grid, sameBinade } from "../grid";
import { U, add, isFused, mul, nmadd, one, productExcess, remainder, splat, sub, twoSumError } from "../simd";
import { addNumber, addProduct, clearDigits, quotient, round } from "../exact/superaccumulator";
import { MIN_PRODUCT } from "../exact/terms";
import { entries, gathered } from "./pairs";
import { diagonalOf, endOf, firstOf, indexOf, integer, lineOf, originOf, stepOf } from "./triangle";
import { addressAt, i32At } from "../team";

@inline const LARGE: f64 = 8.452712498170644e270; // 2^900
// The distance in binades from the sum of magnitudes of a row up to its grid: rows of up to 2^(GRID_MARGIN - 2) times that sum fit on
// the grid, and a row of n = 27 terms loses less than 2^-80 of it.
@inline const GRID_MARGIN: i32 = 8;

@inline function element<T>(array: usize, i: i32): f64 { return one<T>(array + <usize>i * sizeof<T>()); }

// The grid of the last row that needed a compensated sum. Most of the following rows have a similar magnitude.
let rowGrid: f64 = 1.5;
@inline export function lastGrid(): f64 { return rowGrid; }
@inline export function setLastGrid(g: f64): void { rowGrid = g; }

// A row is summed on a grid, as in exact/filter.ts: while all partial sums lie in the binade of g,
//   t = RN(s - a x), s - t is exact, and RN((s - t) - a x) is what t lost: at most h = g u / 1.5, known within u h.
// Without a fused multiply-add, t = RN(s - p) for the rounded product p, (s - t) - p is exact, and p's error term, again at most h, is
// added to it with one rounding. c sums these and what b lost: |c| <= 2 (i + 1) h after i products. All additions together, with that
// of the two lanes, err by less than u h (n^2 + 7 n + 6) <= u h (n + 5)^2. An underflowing product adds less than four times the
// smallest number. Four operations for two entries, where TwoSum and TwoProd take nine.
@inline export function exactRows<T>(job: usize, from: i32, to: i32, shaped: bool): void {
  const begins = addressAt(job, JOB_BEGINS), ends = addressAt(job, JOB_ENDS), values = addressAt(job, JOB_VALUES);
  const diagonal = addressAt(job, JOB_DIAGONAL), order = addressAt(job, JOB_ORDER), x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), step = stepOf(job);
  const indices = addressAt(job, JOB_INDICES), shapes = addressAt(job, JOB_SHAPES), starts = addressAt(job, JOB_SHAPE_STARTS);
  const diagonalAt = i32At(job, JOB_DIAGONAL_AT), front = <i32>(diagonalAt == FIRST), back = <i32>(diagonalAt == LAST);
  let g = rowGrid;
  for (let k = from, line = lineOf(job, from); k < to; ++k, line += step) {
    const at = y + <usize>(order != 0 ? integer(order, k) : line) * sizeof<T>(), b = one<T>(at), first = integer(begins, line) + front, end = integer(ends, line) - back;
    let p = first;
    const start = g + b, size = <f64>(end - p) + 5, G = splat(g);
    let s = f64x2.replace_lane(G, 0, start), c = f64x2.replace_lane(splat(0), 0, b - (start - g)), or = v128.or(G, s), and = v128.and(G, s);
    const origin = shaped ? x + <usize>line * sizeof<T>() : x;
    let index = indices + (<usize>(shaped ? integer(starts, load<u8>(shapes + line)) + front : first) << 2), value = values + <usize>p * sizeof<T>();
    for (; p < end; p += 2, index += 8, value += 2 * sizeof<T>()) {
      const alone = p + 1 == end, a = entries<T>(value, alone), z = gathered<T>(origin, index, alone), t = isFused() ? nmadd(a, z, s) : sub(s, mul(a, z));
      c = add(c, isFused() ? nmadd(a, z, sub(s, t)) : minusProduct<T>(a, z, sub(s, t)));
      or = v128.or(or, t);
      and = v128.and(and, t);
      s = t;
    }
    s = sub(s, G);
    const high = f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1), low = f64x2.extract_lane(c, 0) + f64x2.extract_lane(c, 1);
    const fits = sameBinade(or, and);
    let v = fits ? roundRow<T>(high, low, size * size * (g * (U * U / 1.5) + f64.MIN_VALUE), diagonal, diagonalOf(diagonalAt, line, first, end)) : NaN;
    if (v != v) {
      v = settleRow<T>(job, line, b, fits, x, sizeof<T>());
      g = rowGrid;
    }
    put<T>(at, v);
    if (order != 0) put<T>(x + <usize>k * sizeof<T>(), v);
  }
}
// q - a z, where q minus the rounded product is exact: rounded once.
@inline export function minusProduct<T>(a: v128, z: v128, q: v128): v128 {
  const product = mul(a, z), r = sub(q, product);
  return sizeof<T>() == 8 ? add(r, productExcess(a, z, product)) : r;
}
@inline export function roundRow<T>(high: f64, low: f64, bound: f64, diagonal: usize, at: i32): f64 {
  if (diagonal != 0) return sizeof<T>() == 4 ? certifiedQuotient(high, low, bound, element<T>(diagonal, at), true) : quickQuotient(high, low, bound, element<T>(diagonal, at));
  return sizeof<T>() == 4 ? certified(high, low, bound, true) : certifiedQuickly(high, low, bound);
}

// A row as a compensated sum: s sums b and minus the products, c the error terms of both. Let S = |b| + sum |p|. No partial sum exceeds
// S (up to a factor 1 + n u), so |c| <= (i + 1) u S after i products. Each product rounds twice, when the error term of the sum
// (<= u S) and that of the product (<= u |p|) are added, and when the result is added to c. With the addition of the lanes at the end
//   |s + c - (b - sum)| <= u^2 S (n^2 / 2 + 4.5 n + 6),
// well below u^2 S (n + 5)^2. An underflowing product adds less than four times the smallest number. Also places the grid for the
// next rows.
function compensatedRow<T>(job: usize, k: i32, b: f64, unknowns: usize, step: usize): f64 {
  const x = unknowns + <usize>originOf(job, k) * step, first = firstOf(job, k), end = endOf(job, k);
  let s = f64x2.replace_lane(splat(0), 0, b), c = splat(0), m = f64x2.abs(s);
  let index = indexOf(job, k, first), value = addressAt(job, JOB_VALUES) + <usize>first * sizeof<T>();
  for (let p = first; p < end; p += 2, index += 8, value += 2 * sizeof<T>()) {
    const alone = p + 1 == end, a = entries<T>(value, alone), z = gathered<T>(x, index, alone, step), product = mul(a, z);
    const t = sub(s, product), w = sub(t, s), error = sub(sub(s, sub(t, w)), add(product, w));
    c = add(c, sizeof<T>() == 8 ? add(error, productExcess(a, z, product)) : error);
    m = add(m, f64x2.abs(product));
    s = t;
  }
  const n = <f64>(end - first) + 5, s0 = f64x2.extract_lane(s, 0), s1 = f64x2.extract_lane(s, 1), sum = s0 + s1;
  const rest = f64x2.extract_lane(c, 0) + f64x2.extract_lane(c, 1) + twoSumError(s0, s1, sum);
  const size = f64x2.extract_lane(m, 0) + f64x2.extract_lane(m, 1);
  if (size > SMALL && size < LARGE) rowGrid = grid(binade(size) + GRID_MARGIN);
  return roundRow<T>(sum, rest, n * n * (U * U * size + f64.MIN_VALUE), addressAt(job, JOB_DIAGONAL), diagonalOf(i32At(job, JOB_DIAGONAL_AT), k, first, end));
}

// A row that the grid does not decide. Many such rows that fit on the grid are ties, or nearly: sums of a few numbers of similar
// magnitude, divided by a small integer. Then two doubles hold the sum exactly, and the quotient has an exact correction. Otherwise a
// compensated sum also places a new grid; rows that are still undecided go to the superaccumulator.
// The unknowns are `step` bytes apart.
export function settleRow<T>(job: usize, k: i32, b: f64, fits: bool, x: usize, step: usize): f64 {
  const diagonal = addressAt(job, JOB_DIAGONAL), d: f64 = diagonal != 0 ? element<T>(diagonal, diagonalOf(i32At(job, JOB_DIAGONAL_AT), k, firstOf(job, k), endOf(job, k))) : 1;
  let v = fits ? exactInTwoDoubles<T>(job, k, b, d, x, step) : NaN;
  if (v != v) v = compensatedRow<T>(job, k, b, x, step);
  if (v != v && !fits) v = exactInTwoDoubles<T>(job, k, b, d, x, step);
  return v == v ? v : accumulateRow<T>(job, k, b, d, x, step);
}

// A row whose sum s + c is exact, or NaN if it is not.
function exactInTwoDoubles<T>(job: usize, k: i32, b: f64, d: f64, x: usize, step: usize): f64 {
  const values = addressAt(job, JOB_VALUES), first = firstOf(job, k), end = endOf(job, k), origin = originOf(job, k);
  let s = b, c: f64 = 0;
  for (let p = first, index = indexOf(job, k, first); p < end; ++p, index += 4) {
    const a = element<T>(values, p), z = one<T>(x + <usize>(origin + i32.load(index)) * step), product = a * z;
    if (sizeof<T>() == 8 && !(abs(product) > MIN_PRODUCT) && a != 0 && z != 0) return NaN;
    const t = s - product, error = twoSumError(s, -product, t), c1 = c + error, productError = sizeof<T>() == 8 ? excess(a, z) : 0, c2 = c1 + productError;
    if (twoSumError(c, error, c1) != 0 || twoSumError(c1, productError, c2) != 0) return NaN;
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

// A row in the superaccumulator.
function accumulateRow<T>(job: usize, k: i32, b: f64, d: f64, x: usize, step: usize): f64 {
  const values = addressAt(job, JOB_VALUES), first = firstOf(job, k), end = endOf(job, k), origin = originOf(job, k);
  clearDigits();
  addNumber(b);
  for (let p = first, index = indexOf(job, k, first); p < end; ++p, index += 4) addProduct(-element<T>(values, p), one<T>(x + <usize>(origin + i32.load(index)) * step));
  return addressAt(job, JOB_DIAGONAL) != 0 ? quotient(d, sizeof<T>() == 4) : round(sizeof<T>() == 4);
}
