// The sum and the largest of the scaled magnitudes in every row of a matrix, |a_ij| * scale[j], for the scaling and the norms of
// solve().
import { JOB_A, JOB_A_COL, JOB_A_ROW, JOB_M, JOB_N, JOB_OUT, JOB_X, JOB_Y } from "../layout";
import { load as loadTwo, load2 as loadNext, one } from "../simd";
import { addressAt, i32At, take } from "../team";

@inline const ROWS: i32 = 64; // that a worker takes at a time

// Rows that are contiguous, with two accumulators each. No magnitude is negative, so a sum is NaN exactly if one of its terms is.
function contiguousRows<S>(p: usize, step: usize, scale: usize, n: i32, count: i32, sums: usize, largest: usize): void {
  for (let i = 0; i < count; ++i, p += step, sums += 8, largest += 8) {
    let s = f64x2.splat(0), t = s, maxima = s, maximaNext = s, q = p, c = scale, j = 0;
    for (; j < n - 3; j += 4, q += 4 * sizeof<S>(), c += 32) {
      const a = f64x2.mul(f64x2.abs(loadTwo<S>(q)), v128.load(c)), b = f64x2.mul(f64x2.abs(loadNext<S>(q)), v128.load(c, 16));
      s = f64x2.add(s, a); t = f64x2.add(t, b);
      maxima = f64x2.pmax(maxima, a); maximaNext = f64x2.pmax(maximaNext, b);
    }
    s = f64x2.add(s, t); maxima = f64x2.pmax(maxima, maximaNext);
    let sum = f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1), size = max(f64x2.extract_lane(maxima, 0), f64x2.extract_lane(maxima, 1));
    for (; j < n; ++j, q += sizeof<S>(), c += 8) {
      const a = abs(one<S>(q)) * f64.load(c);
      sum += a;
      size = max(size, a);
    }
    f64.store(sums, sum);
    f64.store(largest, sum == sum ? size : NaN);
  }
}

// The same if columns are contiguous. The sums of these rows stay in the L1 cache.
function contiguousColumns<S>(p: usize, step: usize, scale: usize, n: i32, count: i32, sums: usize, largest: usize): void {
  memory.fill(sums, 0, <usize>count << 3);
  memory.fill(largest, 0, <usize>count << 3);
  for (let j = 0; j < n; ++j, p += step, scale += 8) {
    const c = f64.load(scale), C = f64x2.splat(c);
    let i = 0, q = p, s = sums, t = largest;
    for (; i < count - 1; i += 2, q += 2 * sizeof<S>(), s += 16, t += 16) {
      const a = f64x2.mul(f64x2.abs(loadTwo<S>(q)), C);
      v128.store(s, f64x2.add(v128.load(s), a));
      v128.store(t, f64x2.pmax(v128.load(t), a));
    }
    if (i < count) {
      const a = abs(one<S>(q)) * c;
      f64.store(s, f64.load(s) + a);
      f64.store(t, max(f64.load(t), a));
    }
  }
  for (let i = 0; i < count; ++i, sums += 8, largest += 8) if (f64.load(sums) != f64.load(sums)) f64.store(largest, NaN);
}

/** By all workers: sums to JOB_Y, maxima to JOB_OUT. */
export function magnitudes<S>(job: usize): void {
  const m = i32At(job, JOB_M), n = i32At(job, JOB_N), A = addressAt(job, JOB_A), row = addressAt(job, JOB_A_ROW), col = addressAt(job, JOB_A_COL), scale = addressAt(job, JOB_X);
  const byRows = col == sizeof<S>(), rowsEach = byRows ? ROWS : 8 * ROWS;
  while (true) {
    const from = take(job, rowsEach), count = min(rowsEach, m - from);
    if (count <= 0) return;
    const p = A + <usize>from * row, sums = addressAt(job, JOB_Y) + (<usize>from << 3), largest = addressAt(job, JOB_OUT) + (<usize>from << 3);
    if (byRows) contiguousRows<S>(p, row, scale, n, count, sums, largest);
    else contiguousColumns<S>(p, col, scale, n, count, sums, largest);
  }
}
