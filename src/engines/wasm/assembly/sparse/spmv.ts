// y := alpha A x + beta y for a sparse A that is stored by rows, each entry rounded once. Two rows at a time are summed on a grid; a row
// that this does not decide is summed in two exact doubles or with compensation, and in the end by settle(). Called by work() in
// matrices.ts for the jobs of jobs/spmv.ts; spmvColumns.ts settles rows here too.
import { SMALL, SUM_SLACK, certified, certifiedCombination, excess, put, setRecord } from "../exact/certificate";
import { setGathered, setScalars, setTerms, settle } from "../exact/settle";
import { MIN_PRODUCT } from "../exact/terms";
import { frame } from "../frame";
import { binade, grid, sameBinade } from "../grid";
import { BOUND, ENCLOSURE, FLAGGED, HIGH, JOB_ALPHA, JOB_BEGINS, JOB_BETA, JOB_BLOCKS, JOB_COUNTS, JOB_FROM, JOB_INDICES, JOB_LIST, JOB_TASK_COUNT, JOB_TO, JOB_VALUES, JOB_WORK, JOB_WORKERS, JOB_X, JOB_Y, LONG_ROW, LOW, ROUND, ROW_PIECE } from "../layout";
import { U, add, fused, isFused, mul, one, productExcess, splat, sub, sumError, twoSumError } from "../simd";
import { addressAt, i32At, take } from "../team";
import { entries, gathered } from "./pairs";
import { integer } from "./triangle";

@inline const LARGE: f64 = 8.452712498170644e270; // 2^900
// The distance in binades from the sum of magnitudes of a row up to its grid: see exactRows.ts.
@inline const GRID_MARGIN: i32 = 8;
// Entries and rows, counted together, that a worker takes at a time.
@inline const SHARE: i32 = 8192;

// The grid of the last row that needed a compensated sum. Most of the following rows have a similar magnitude.
let rowGrid: f64 = 1.5;

// Whether alpha is 1 or -1 and beta is 0, 1 or -1. Then the entry is alpha (sum + weight y) with weight = alpha beta, and no product of
// the scalars is rounded.
@inline export function isQuick(alpha: f64, beta: f64): bool { return abs(alpha) == 1 && (beta == 0 || abs(beta) == 1); }

// Rows JOB_FROM to JOB_TO. Several workers share them by entries and rows counted together: row i begins at the count
// begins[i] - begins[from] + i - from, which increases with i. A row of more than LONG_ROW entries fills the rest of its share: it can
// only be the last one there. It is put on a list, and the host makes another job of its pieces.
export function spmvByRows<T>(job: usize): void {
  const from = i32At(job, JOB_FROM), to = i32At(job, JOB_TO), begins = addressAt(job, JOB_BEGINS);
  if (i32At(job, JOB_WORKERS) == 1) { rows<T>(job, from, to); return; }
  const base = integer(begins, from) + from, total = integer(begins, to) + to - base;
  while (true) {
    const first = <i64>take(job, 1) * SHARE;
    if (first >= total) break;
    const low = rowAt(begins, from, to, base + <i32>first);
    let high = first + SHARE >= total ? to : rowAt(begins, low, to, base + <i32>first + SHARE);
    if (high > low && integer(begins, high) - integer(begins, high - 1) > LONG_ROW) {
      --high;
      i32.store(addressAt(job, JOB_LIST) + (<usize>atomic.add<i32>(job + JOB_TASK_COUNT, 1) << 2), high);
    }
    rows<T>(job, low, high);
  }
}
// The first row in [low, high] that does not begin before this count.
function rowAt(begins: usize, low: i32, high: i32, count: i32): i32 {
  while (low < high) {
    const middle = low + ((high - low) >> 1);
    if (integer(begins, middle) + middle < count) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rows<T>(job: usize, from: i32, to: i32): void {
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA);
  if (sizeof<T>() == 8 && isQuick(alpha, beta)) from = pairsOfRows<T>(job, from, to, alpha, alpha * beta);
  for (; from < to; ++from) singleRow<T>(job, from);
}

// Two rows at a time on one grid, two lanes each; what follows the sums is done for both rows at once, as lanes.
//
// The sums, as in exact/filter.ts: a lane's s starts at G = 1.5 * 2^k. With the rounded product p, t = RN(s + p) and s - t is exact while
// the sum of all |p| stays below 2^(k-1), so that t stays in the binade of G. r = RN(a x + (s - t)) is what t lost of the exact product:
// at most 2 h, h = 2^(k-53), known within 2 u h. The rests c have |c| <= 2 i h after i products, and the additions to them, with that
// of the two lanes, err by less than u h (n^2 + 7 n + 6) <= u h (n + 5)^2. An underflowing product adds less than four times the
// smallest number. (Without a fused multiply-add, p - (t - s) is exact, and p's error term is added with one rounding: the same bound.)
//
// Exact rows: matrices such as Laplacians have entries of a few bits, and one sum in six of them is a tie, which no bound decides. If all a
// (or all x) of the two rows have zeros in the last 32 bits, a product a x is a multiple of 2^32 2^-106 |a x|. So with the smallest |p| all
// products are multiples of some power of two Q >= 2^-75 min |p|. If 2^32 min |p| >= 4 (n + 5) G, then Q >= (n + 5) 2^k 2^-105: every
// rest and sum of rests is a multiple of Q below 2^53 Q, hence exact. A zero product fails this test; such rows are settled one by one.
@inline const LAST_BITS: f64 = 4294967296; // 2^32

// The loop is written out for both rows, and for the last entry of an odd one, so that all sums stay in registers. Returns the first row
// that was not done: `to`, or `to` - 1.
function pairsOfRows<T>(job: usize, from: i32, to: i32, alpha: f64, weight: f64): i32 {
  const begins = addressAt(job, JOB_BEGINS), indices = addressAt(job, JOB_INDICES), values = addressAt(job, JOB_VALUES), x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y);
  const signs = splat(alpha), weights = splat(weight), reads = weight != 0, stride = 2 * sizeof<T>(), none = f64x2.replace_lane(splat(0), 1, f64.MAX_VALUE);
  let g = rowGrid, G = splat(g), next = integer(begins, from), index = indices + (<usize>next << 2), value = values + <usize>next * sizeof<T>();
  for (; from + 2 <= to; from += 2) {
    const first = next, second = integer(begins, from + 1), end = integer(begins, from + 2);
    let s0 = G, c0 = splat(0), s1 = G, c1 = splat(0), m = splat(0), least = splat(f64.MAX_VALUE), bitsA = splat(0), bitsX = splat(0);
    for (const stop = values + <usize>(second - 1) * sizeof<T>(); value < stop; value += stride, index += 8) {
      const a = entries<T>(value, false), z = gathered<T>(x, index, false), p = mul(a, z), t = add(s0, p), size = f64x2.abs(p);
      c0 = add(c0, lost<T>(a, z, p, s0, t)); s0 = t;
      m = add(m, size); least = f64x2.pmin(least, size); bitsA = v128.or(bitsA, a); bitsX = v128.or(bitsX, z);
    }
    if ((second - first) & 1) {
      const a = entries<T>(value, true), z = gathered<T>(x, index, true), p = mul(a, z), t = add(s0, p), size = f64x2.abs(p);
      c0 = add(c0, lost<T>(a, z, p, s0, t)); s0 = t;
      m = add(m, size); least = f64x2.pmin(least, v128.or(size, none)); bitsA = v128.or(bitsA, a); bitsX = v128.or(bitsX, z);
      value += sizeof<T>(); index += 4;
    }
    for (const stop = values + <usize>(end - 1) * sizeof<T>(); value < stop; value += stride, index += 8) {
      const a = entries<T>(value, false), z = gathered<T>(x, index, false), p = mul(a, z), t = add(s1, p), size = f64x2.abs(p);
      c1 = add(c1, lost<T>(a, z, p, s1, t)); s1 = t;
      m = add(m, size); least = f64x2.pmin(least, size); bitsA = v128.or(bitsA, a); bitsX = v128.or(bitsX, z);
    }
    if ((end - second) & 1) {
      const a = entries<T>(value, true), z = gathered<T>(x, index, true), p = mul(a, z), t = add(s1, p), size = f64x2.abs(p);
      c1 = add(c1, lost<T>(a, z, p, s1, t)); s1 = t;
      m = add(m, size); least = f64x2.pmin(least, v128.or(size, none)); bitsA = v128.or(bitsA, a); bitsX = v128.or(bitsX, z);
      value += sizeof<T>(); index += 4;
    }
    next = end;
    // s - G are multiples of the grid's step below half of 2^k: the sum of two is exact.
    s0 = sub(s0, G); s1 = sub(s1, G);
    let high = add(lows(s0, s1), highs(s0, s1)), low = add(lows(c0, c1), highs(c0, c1));
    const size = <f64>(max(second - first, end - second) + 5), at = y + <usize>from * sizeof<T>(), smallest = min(f64x2.extract_lane(least, 0), f64x2.extract_lane(least, 1));
    const isShort = (<i32>(i64x2.extract_lane(bitsA, 0) | i64x2.extract_lane(bitsA, 1)) == 0) | (<i32>(i64x2.extract_lane(bitsX, 0) | i64x2.extract_lane(bitsX, 1)) == 0);
    let exact = i64x2.splat(-<i64>(isShort & (smallest * (LAST_BITS / 4) >= size * g))), bound = splat(size * size * (g * (U * U / 1.5) + f64.MIN_VALUE));
    if (reads) {
      const b = mul(weights, v128.load(at)), t = add(high, b), error = sumError(high, b, t), more = add(low, error);
      exact = v128.and(exact, f64x2.eq(sumError(low, error, more), splat(0)));
      bound = add(bound, mul(f64x2.abs(more), splat(2 * U))); // one rounding
      low = more;
      high = t;
    }
    // certifiedQuickly() in two lanes.
    const h = add(high, low), radius = mul(add(f64x2.abs(sumError(high, low, h)), bound), splat(SUM_SLACK)), large = f64x2.abs(h);
    const decided = v128.and(v128.and(f64x2.eq(add(h, radius), h), f64x2.eq(sub(h, radius), h)), f64x2.gt(large, splat(SMALL)));
    // An exact row may have a NaN as h: the split of a factor overflows in the last binade.
    const proved = v128.and(v128.or(decided, exact), v128.and(f64x2.lt(large, splat(LARGE)), f64x2.lt(m, splat(g * (0.5 / 1.5)))));
    const entry = add(mul(h, signs), splat(0)); // an exact zero is +0
    if (i64x2.all_true(proved)) {
      v128.store(at, entry);
      continue;
    }
    // A sum of magnitudes of one lane stands for both rows.
    const fits = f64x2.extract_lane(m, 0) + f64x2.extract_lane(m, 1) < g * (0.5 / 1.5);
    if (fits && i64x2.extract_lane(proved, 0)) f64.store(at, f64x2.extract_lane(entry, 0));
    else openRow<T>(job, from, fits);
    if (fits && i64x2.extract_lane(proved, 1)) f64.store(at + 8, f64x2.extract_lane(entry, 1));
    else openRow<T>(job, from + 1, fits);
    g = rowGrid;
    G = splat(g);
  }
  return from;
}
// What t = RN(s + p) lost of the product a z, which p is rounded.
@inline function lost<T>(a: v128, z: v128, p: v128, s: v128, t: v128): v128 {
  if (isFused()) return fused(a, z, sub(s, t));
  const r = sub(p, sub(t, s));
  return sizeof<T>() == 8 ? sub(r, productExcess(a, z, p)) : r;
}
@inline function lows(a: v128, b: v128): v128 { return v128.shuffle<f64>(a, b, 0, 2); }
@inline function highs(a: v128, b: v128): v128 { return v128.shuffle<f64>(a, b, 1, 3); }

// One row of either precision, with any scalars.
function singleRow<T>(job: usize, i: i32): void {
  const begins = addressAt(job, JOB_BEGINS), first = integer(begins, i), end = integer(begins, i + 1), x = addressAt(job, JOB_X);
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), at = addressAt(job, JOB_Y) + <usize>i * sizeof<T>();
  const g = rowGrid, G = splat(g);
  let s = G, c = splat(0), or = G, and = G, index = addressAt(job, JOB_INDICES) + (<usize>first << 2), value = addressAt(job, JOB_VALUES) + <usize>first * sizeof<T>();
  for (let k = first; k < end; k += 2, index += 8, value += 2 * sizeof<T>()) {
    const alone = k + 1 == end, a = entries<T>(value, alone), z = gathered<T>(x, index, alone), p = mul(a, z), t = add(s, p);
    c = add(c, lost<T>(a, z, p, s, t)); or = v128.or(or, t); and = v128.and(and, t); s = t;
  }
  const fits = sameBinade(or, and), size = <f64>(end - first + 5), record = frame + FLAGGED;
  if (fits) {
    s = sub(s, G);
    setRecord(record, f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1), f64x2.extract_lane(c, 0) + f64x2.extract_lane(c, 1), size * size * (g * (U * U / 1.5) + f64.MIN_VALUE));
    const v = certifiedCombination(record, alpha, beta, beta == 0 ? 0 : one<T>(at), sizeof<T>() == 4);
    if (v == v) { put<T>(at, v); return; }
  }
  openRow<T>(job, i, fits);
}

// A row that the grid does not decide.
function openRow<T>(job: usize, i: i32, fits: bool): void {
  const begins = addressAt(job, JOB_BEGINS), first = integer(begins, i), end = integer(begins, i + 1);
  settleRow<T>(job, i, addressAt(job, JOB_VALUES) + <usize>first * sizeof<T>(), addressAt(job, JOB_INDICES) + (<usize>first << 2), end - first, fits);
}

// Entry i from the n products of its row. Many rows that fit on the grid and are not decided are zeros or ties: two doubles hold their
// sums exactly. Otherwise a compensated sum also places a new grid; what is still undecided goes to settle().
export function settleRow<T>(job: usize, i: i32, value: usize, index: usize, n: i32, fits: bool): void {
  const at = addressAt(job, JOB_Y) + <usize>i * sizeof<T>(), x = addressAt(job, JOB_X), record = frame + FLAGGED;
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), y = beta == 0 ? 0 : one<T>(at), quick = isQuick(alpha, beta);
  let v = fits && quick ? exactInTwoDoubles<T>(value, index, n, x, alpha, beta * y) : NaN;
  if (v != v) {
    enclose<T>(record, value, index, n, x);
    v = certifiedCombination(record, alpha, beta, y, sizeof<T>() == 4);
  }
  if (v != v && !fits && quick) v = exactInTwoDoubles<T>(value, index, n, x, alpha, beta * y);
  put<T>(at, v == v ? v : settled<T>(value, index, n, x, alpha, beta, y));
}

// The entry by the ladder and the superaccumulator.
function settled<T>(value: usize, index: usize, n: i32, x: usize, alpha: f64, beta: f64, y: f64): f64 {
  setTerms(value, sizeof<T>(), x, sizeof<T>(), n);
  setGathered(index);
  setScalars(alpha, beta, y, 0);
  return settle<T>(ROUND, 1, sizeof<T>() == 4);
}

// The enclosure of a sum of n products, with compensation: s sums the products, c the error terms of both. Let S = sum |p|. No partial sum
// exceeds S (up to a factor 1 + n u), so |c| <= (i + 1) u S after i products. Each product rounds twice, when the error term of the sum
// (<= u S) and that of the product (<= u |p|) are added, and when the result is added to c. With the addition of the lanes at the end
//   |s + c - sum| <= u^2 S (n^2 / 2 + 4.5 n + 6),
// well below u^2 S (n + 5)^2. An underflowing product adds less than four times the smallest number. Also places the grid for the next
// rows.
function enclose<T>(record: usize, value: usize, index: usize, n: i32, x: usize): void {
  let s = splat(0), c = splat(0), m = splat(0);
  for (let p = 0; p < n; p += 2, index += 8, value += 2 * sizeof<T>()) {
    const alone = p + 1 == n, a = entries<T>(value, alone), z = gathered<T>(x, index, alone), product = mul(a, z), t = add(s, product);
    const error = sumError(s, product, t);
    c = add(c, sizeof<T>() == 8 ? sub(error, productExcess(a, z, product)) : error);
    m = add(m, f64x2.abs(product));
    s = t;
  }
  const s0 = f64x2.extract_lane(s, 0), s1 = f64x2.extract_lane(s, 1), high = s0 + s1, size = <f64>n + 5;
  const low = f64x2.extract_lane(c, 0) + f64x2.extract_lane(c, 1) + twoSumError(s0, s1, high), magnitude = f64x2.extract_lane(m, 0) + f64x2.extract_lane(m, 1);
  if (magnitude > SMALL && magnitude < LARGE) rowGrid = grid(binade(magnitude) + GRID_MARGIN);
  setRecord(record, high, low, size * size * (U * U * magnitude + f64.MIN_VALUE));
}

// alpha (sum + alpha b) for alpha = 1 or -1, if two doubles hold the sum exactly, else NaN.
function exactInTwoDoubles<T>(value: usize, index: usize, n: i32, x: usize, alpha: f64, b: f64): f64 {
  let s = alpha * b, c: f64 = 0;
  for (let p = 0; p < n; ++p, index += 4, value += sizeof<T>()) {
    const a = one<T>(value), z = one<T>(x + <usize>i32.load(index) * sizeof<T>()), product = a * z;
    if (sizeof<T>() == 8 && !(abs(product) > MIN_PRODUCT) && a != 0 && z != 0) return NaN;
    const t = s + product, error = twoSumError(s, product, t), c1 = c + error, productError = sizeof<T>() == 8 ? -excess(a, z) : 0, c2 = c1 + productError;
    if (twoSumError(c, error, c1) != 0 || twoSumError(c1, productError, c2) != 0) return NaN;
    s = t;
    c = c2;
  }
  return certified(alpha * s, alpha * c, 0, sizeof<T>() == 4);
}

// Long rows in pieces of ROW_PIECE entries. The pieces of the k-th row on the list are BLOCKS[k] to BLOCKS[k + 1] - 1; whoever finishes
// the last one merges their enclosures.
export function spmvLongRows<T>(job: usize): void {
  const starts = addressAt(job, JOB_BLOCKS), count = i32At(job, JOB_TASK_COUNT), begins = addressAt(job, JOB_BEGINS), x = addressAt(job, JOB_X), records = addressAt(job, JOB_WORK);
  let k = 0;
  while (true) {
    const piece = take(job, 1);
    while (k < count && integer(starts, k + 1) <= piece) ++k; // pieces are taken in ascending order
    if (k == count) break;
    const row = integer(addressAt(job, JOB_LIST), k), first = integer(begins, row) + (piece - integer(starts, k)) * ROW_PIECE, n = min(integer(begins, row + 1) - first, ROW_PIECE);
    const value = addressAt(job, JOB_VALUES) + <usize>first * sizeof<T>(), index = addressAt(job, JOB_INDICES) + (<usize>first << 2);
    enclose<T>(records + <usize>piece * ENCLOSURE, value, index, n, x);
    if (atomic.sub<i32>(addressAt(job, JOB_COUNTS) + (<usize>k << 2), 1) == 1) mergePieces<T>(job, row, integer(starts, k), integer(starts, k + 1));
  }
}
// The entry of a row whose pieces have been enclosed. Adding two highs is a TwoSum; the two lows and its error term are added with two
// roundings, of at most u times the sum of their magnitudes each.
function mergePieces<T>(job: usize, row: i32, from: i32, to: i32): void {
  const records = addressAt(job, JOB_WORK), at = addressAt(job, JOB_Y) + <usize>row * sizeof<T>(), begins = addressAt(job, JOB_BEGINS), first = integer(begins, row);
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), y = beta == 0 ? 0 : one<T>(at), record = frame + FLAGGED;
  let high: f64 = 0, low: f64 = 0, bound: f64 = 0;
  for (let p = from; p < to; ++p) {
    const piece = records + <usize>p * ENCLOSURE, h = f64.load(piece, HIGH), l = f64.load(piece, LOW), s = high + h, error = twoSumError(high, h, s);
    bound += f64.load(piece, BOUND) + 2 * U * (abs(low) + abs(l) + abs(error));
    low = low + l + error;
    high = s;
  }
  setRecord(record, high, low, bound);
  let v = certifiedCombination(record, alpha, beta, y, sizeof<T>() == 4);
  if (v != v) {
    const value = addressAt(job, JOB_VALUES) + <usize>first * sizeof<T>(), index = addressAt(job, JOB_INDICES) + (<usize>first << 2);
    v = settled<T>(value, index, integer(begins, row + 1) - first, addressAt(job, JOB_X), alpha, beta, y);
  }
  put<T>(at, v);
}
