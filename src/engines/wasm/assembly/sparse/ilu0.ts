// ILU(0), the incomplete LU factorization without fill, in place, line by line: rows, or columns (JOB_COLUMNS). Called by work() in
// matrices.ts for the job of jobs/sparse.ts; the twin of engines/reference/ilu0.ts, with the sums on grids of exactRows.ts.
//
// Workers take chains of consecutive lines, in order. A line waits only for earlier lines, so the worker with the earliest one can always
// proceed. An entry that stops the factorization does not stop the others: lines that depend on it come later, so the smallest
// position among all that are found is the one where the loop over all lines would end. 27 points on 64 x 64 x 64 nodes take 140 ms on one
// thread and 77 ms on two; the reference takes 570 ms.
import { SMALL, certified, certifiedQuickly, divide, excess, put } from "../exact/certificate";
import { addNumber, addProduct, clearDigits, round } from "../exact/superaccumulator";
import { binade, grid } from "../grid";
import { JOB_BEGINS, JOB_COLUMNS, JOB_COUNTS, JOB_DIAGONAL, JOB_FAILED, JOB_INDICES, JOB_M, JOB_NEXT, JOB_VALUES, JOB_WORK, JOB_WORKERS, JOB_WORK_SIZE } from "../layout";
import { U, add, isFused, mul, nmadd, one, productExcess, splat, sub, twoSumError } from "../simd";
import { addressAt, i32At, setAndWake, waitForMore } from "../team";
import { integer } from "./triangle";

// Lines that a worker takes at a time: at least MIN_CHAIN, and then up to the first one that does not depend on the one before it, for
// instance at the end of a grid line, so that the worker with the next chain need not wait for all of this one.
@inline const MIN_CHAIN: i32 = 16;
@inline const MAX_CHAIN: i32 = 4096;
// Finished lines are published this many at a time: the cache lines that a worker writes are then not read by others meanwhile.
@inline const STEP: i32 = 16;
// If line k is this many times as long as the rest of the line it is subtracted from, it is searched instead of read.
@inline const SEARCH_RATIO: i32 = 32;
// The distance in binades from the largest entry of a line up to its grid: sums of up to 2^(GRID_MARGIN - 2) times that entry fit on it.
@inline const GRID_MARGIN: i32 = 8;
@inline const LARGE: f64 = 8.452712498170644e270; // 2^900

// The arrays of the job, and this worker's workspace: 1 + the last position at which each index occurred, and two numbers for the sum of
// every entry of a line.
let pointers: usize = 0, indices: usize = 0, values: usize = 0, diagonal: usize = 0, lastAt: usize = 0, sums: usize = 0;
let columns: bool = false;

export function ilu0<T>(job: usize, worker: i32): void {
  const n = i32At(job, JOB_M), alone = i32At(job, JOB_WORKERS) == 1, done = addressAt(job, JOB_COUNTS);
  pointers = addressAt(job, JOB_BEGINS);
  indices = addressAt(job, JOB_INDICES);
  values = addressAt(job, JOB_VALUES);
  diagonal = addressAt(job, JOB_DIAGONAL);
  columns = i32At(job, JOB_COLUMNS) != 0;
  lastAt = addressAt(job, JOB_WORK) + <usize>worker * addressAt(job, JOB_WORK_SIZE);
  sums = lastAt + ((<usize>n * 4 + 63) & ~63);
  memory.fill(lastAt, 0, <usize>n << 2);
  let known = 0; // the first `known` lines are done
  while (true) {
    const first = takeChain(job, n);
    if (first >= n) break;
    let published = first;
    for (let i = first; i < chainEnd; ++i) {
      if (!alone) known = waitForLines(job, done, i, known, first);
      const failed = atomic.load<i32>(job + JOB_FAILED);
      if (failed == 0 || integer(pointers, i) < failed) {
        const at = factorLine<T>(i);
        if (at >= 0) fail(job, at);
      }
      if (alone || (i + 1 - first) % STEP != 0 && i + 1 < chainEnd) continue;
      for (; published <= i; ++published) setAndWake(job, done + (<usize>published << 2), 1);
    }
  }
}

// Take the next chain; returns its first line, and sets chainEnd.
let chainEnd: i32 = 0;
function takeChain(job: usize, n: i32): i32 {
  let first = atomic.load<i32>(job + JOB_NEXT);
  while (first < n) {
    let end = min(first + MIN_CHAIN, n);
    while (end < n && end - first < MAX_CHAIN && dependsOnPrevious(end)) ++end;
    const now = atomic.cmpxchg<i32>(job + JOB_NEXT, first, end);
    if (now == first) {
      chainEnd = end;
      return first;
    }
    first = now;
  }
  return n;
}
function dependsOnPrevious(i: i32): bool {
  const at = integer(diagonal, i) - 1;
  return at >= integer(pointers, i) && integer(indices, at) == i - 1;
}

// Wait for the lines that line i depends on, other than the first `known` and those from `own` on, which are in the same chain. Returns
// how many lines are known to be done.
function waitForLines(job: usize, done: usize, i: i32, known: i32, own: i32): i32 {
  while (known < own && atomic.load<i32>(done + (<usize>known << 2)) != 0) ++known;
  for (let p = integer(pointers, i), end = integer(diagonal, i); p < end; ++p) {
    const k = integer(indices, p);
    if (k >= known && k < own) waitForMore(job, done + (<usize>k << 2), 0);
  }
  return known;
}

// The factorization ends at position `at`, or at an earlier one.
function fail(job: usize, at: i32): void {
  let now = atomic.load<i32>(job + JOB_FAILED);
  while (now == 0 || at + 1 < now) {
    const before = atomic.cmpxchg<i32>(job + JOB_FAILED, now, at + 1);
    if (before == now) return;
    now = before;
  }
}

// From line i, the lines k < i for which it has an entry are subtracted in ascending order; entries outside the pattern of line i are
// skipped. By rows, the factor of line k is l_ik, an entry divided by u_kk. By columns it is u_ki, the entry itself, and the entries below
// the diagonal are divided at the end. Returns -1, or the position of an entry that is not finite or of a pivot that is zero.
//
// All sums of a line are on one grid: while all partial sums lie in the binade of g, t = RN(s - a z), s - t is exact, and
// RN((s - t) - a z) is what t lost. With n products, s - g + c errs by less than u h (n + 5)^2 for h = g u / 1.5: the proof is above
// exactRows(), where a second lane adds to the error. An underflowing product adds less than four times the smallest number.
function factorLine<T>(i: i32): i32 {
  const from = integer(pointers, i), end = integer(pointers, i + 1), at = integer(diagonal, i);
  let size: f64 = 0;
  for (let p = from; p < end; ++p) {
    i32.store(lastAt + (<usize>integer(indices, p) << 2), p + 1);
    size = max(size, abs(valueAt<T>(p)));
  }
  let g: f64 = size > SMALL && size < LARGE ? grid(binade(size) + GRID_MARGIN) : NaN;
  const G = splat(g);
  for (let p = from, slot = sums; p < end; ++p, slot += 16) {
    const a = valueAt<T>(p), start = g + a;
    f64.store(slot, start);
    f64.store(slot, a - (start - g), 8);
  }
  let or = G, and = G;
  for (let p = from; p < at; ++p) {
    const k = integer(indices, p), s = roundEntry<T>(i, from, p, g, sameBits(or, and));
    const v = columns ? s : divide(s, valueAt<T>(integer(diagonal, k)), sizeof<T>() == 4), V = splat(v);
    put<T>(values + <usize>p * sizeof<T>(), v);
    if (!(v - v == 0)) return p;
    const first = integer(diagonal, k) + 1, last = integer(pointers, k + 1);
    if (last - first > SEARCH_RATIO * (end - p)) {
      for (let target = p + 1; target < end; ++target) {
        const q = find(first, last, integer(indices, target));
        if (q < 0) continue;
        const t = subtract<T>(sums + (<usize>(target - from) << 4), V, q);
        or = v128.or(or, t);
        and = v128.and(and, t);
      }
      continue;
    }
    for (let q = first; q < last; ++q) {
      const target = integer(lastAt, integer(indices, q)) - 1;
      if (target < from) continue;
      const t = subtract<T>(sums + (<usize>(target - from) << 4), V, q);
      or = v128.or(or, t);
      and = v128.and(and, t);
    }
  }
  const fits = sameBits(or, and);
  for (let p = at; p < end; ++p) {
    const v = roundEntry<T>(i, from, p, g, fits);
    put<T>(values + <usize>p * sizeof<T>(), v);
    if (!(v - v == 0)) return p;
  }
  const pivot = valueAt<T>(at);
  if (pivot == 0) return at;
  if (!columns) return -1;
  for (let p = at + 1; p < end; ++p) {
    const v = divide(valueAt<T>(p), pivot, sizeof<T>() == 4);
    put<T>(values + <usize>p * sizeof<T>(), v);
    if (!(v - v == 0)) return p;
  }
  return -1;
}

@inline function valueAt<T>(p: i32): f64 { return one<T>(values + <usize>p * sizeof<T>()); }

// Whether the numbers in the first lane all had the same sign and exponent.
@inline function sameBits(or: v128, and: v128): bool {
  const x = i64x2.extract_lane(v128.xor(or, and), 0);
  return x >>> 52 == 0;
}

// Subtract V times the entry at q from a sum. Returns the sum on the grid.
@inline function subtract<T>(slot: usize, V: v128, q: i32): v128 {
  const p = values + <usize>q * sizeof<T>(), z = sizeof<T>() == 8 ? v128.load64_zero(p) : f64x2.promote_low_f32x4(v128.load32_zero(p));
  const s = v128.load64_zero(slot), c = v128.load64_zero(slot, 8), t = isFused() ? nmadd(V, z, s) : sub(s, mul(V, z));
  v128.store_lane<f64>(slot, t, 0);
  v128.store_lane<f64>(slot, add(c, isFused() ? nmadd(V, z, sub(s, t)) : minusProduct<T>(V, z, sub(s, t))), 0, 8);
  return t;
}
// q - a z, where q minus the rounded product is exact: rounded once.
@inline function minusProduct<T>(a: v128, z: v128, q: v128): v128 {
  const product = mul(a, z), r = sub(q, product);
  return sizeof<T>() == 8 ? add(r, productExcess(a, z, product)) : r;
}

// RN of the sum of the entry at p.
@inline function roundEntry<T>(i: i32, from: i32, p: i32, g: f64, fits: bool): f64 {
  const slot = sums + (<usize>(p - from) << 4), n = <f64>(p - from) + 5, bound = n * n * (g * (U * U / 1.5) + f64.MIN_VALUE);
  const high = f64.load(slot) - g, low = f64.load(slot, 8);
  const v = !fits ? NaN : sizeof<T>() == 8 ? certifiedQuickly(high, low, bound) : certified(high, low, bound, true);
  return v == v ? v : settleEntry<T>(i, from, p);
}

// The position of `index` in indices[from] to indices[end - 1], which ascend, or -1.
function find(from: i32, end: i32, index: i32): i32 {
  let low = from, high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (integer(indices, middle) < index) low = middle + 1;
    else high = middle;
  }
  return low < end && integer(indices, low) == index ? low : -1;
}

// An entry that the grid does not decide: as a compensated sum, whose bound is proved above compensatedRow() in exactRows.ts, or in the
// superaccumulator.
function settleEntry<T>(i: i32, from: i32, p: i32): f64 {
  const j = integer(indices, p), end = min(integer(diagonal, i), p), a = valueAt<T>(p);
  let s = a, c: f64 = 0, size = abs(a), n: f64 = 5;
  for (let q = from; q < end; ++q) {
    const k = integer(indices, q), other = find(integer(diagonal, k) + 1, integer(pointers, k + 1), j);
    if (other < 0) continue;
    const x = valueAt<T>(q), y = valueAt<T>(other), product = x * y;
    if (x == 0 || y == 0) continue;
    const t = s - product;
    c += twoSumError(s, -product, t) + (sizeof<T>() == 8 ? excess(x, y) : 0);
    size += abs(product);
    s = t;
    n += 1;
  }
  if (n == 5) return a == 0 ? 0 : a;
  const v = certified(s, c, n * n * (U * U * size + f64.MIN_VALUE), sizeof<T>() == 4);
  return v == v ? v : accumulateEntry<T>(from, end, p);
}
function accumulateEntry<T>(from: i32, end: i32, p: i32): f64 {
  const j = integer(indices, p);
  clearDigits();
  addNumber(valueAt<T>(p));
  for (let q = from; q < end; ++q) {
    const k = integer(indices, q), other = find(integer(diagonal, k) + 1, integer(pointers, k + 1), j);
    if (other >= 0) addProduct(-valueAt<T>(q), valueAt<T>(other));
  }
  return round(sizeof<T>() == 4);
}
