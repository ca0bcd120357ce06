// From a matrix of the user's to one that is factored: rows[i] * a_ij * cols[j] in the format T, row by row, zeros behind the
// last column and row. And of its rows the sums and the largest of magnitudes.
import { JOB_A, JOB_A_COL, JOB_A_ROW, JOB_B, JOB_C, JOB_C_ROW, JOB_COL_SCALE, JOB_K, JOB_M, JOB_N, JOB_OUT, JOB_ROW_SCALE, JOB_X, JOB_Y } from "../layout";
import { across } from "./tile";
import { load as loadTwo, load2 as loadNext, one } from "../simd";
import { addressAt, i32At, take } from "../team";

@inline const ROWS: i32 = 64; // that a worker takes at a time

/** Where the right-hand sides begin. */
@inline export function firstRight<T>(n: i32): i32 { return (n + across<T>() - 1) & -across<T>(); }

// Four numbers of binary64 to T.
@inline function put4<T>(to: usize, a: v128, b: v128): void {
  if (sizeof<T>() == 4) {
    v128.store(to, v128.shuffle<i64>(f32x4.demote_f64x2_zero(a), f32x4.demote_f64x2_zero(b), 0, 2));
  } else {
    v128.store(to, a);
    v128.store(to, b, 16);
  }
}

// A row whose entries follow each other.
@inline function alongRow<S, T>(p: usize, r: f64, cols: usize, n: i32, to: usize): void {
  const R = f64x2.splat(r);
  let j = 0;
  for (; j < n - 3; j += 4, p += 4 * sizeof<S>(), cols += 32, to += 4 * sizeof<T>()) {
    put4<T>(to, f64x2.mul(f64x2.mul(loadTwo<S>(p), R), v128.load(cols)), f64x2.mul(f64x2.mul(loadNext<S>(p), R), v128.load(cols, 16)));
  }
  for (; j < n; ++j, p += sizeof<S>(), cols += 8, to += sizeof<T>()) store<T>(to, <T>(one<S>(p) * r * f64.load(cols)));
}

// Rows of a matrix whose columns follow each other: two rows and four columns at a time.
@inline function acrossColumns<S, T>(p: usize, step: usize, rows: usize, cols: usize, count: i32, n: i32, to: usize, rowStride: usize): void {
  let j = 0;
  for (; j < n - 3; j += 4, p += 4 * step, cols += 32, to += 4 * sizeof<T>()) {
    const c0 = v128.load64_splat(cols), c1 = v128.load64_splat(cols, 8), c2 = v128.load64_splat(cols, 16), c3 = v128.load64_splat(cols, 24);
    let p0 = p, p1 = p0 + step, p2 = p1 + step, p3 = p2 + step, q = to, i = 0;
    for (; i < count - 1; i += 2, p0 += 2 * sizeof<S>(), p1 += 2 * sizeof<S>(), p2 += 2 * sizeof<S>(), p3 += 2 * sizeof<S>(), q += 2 * rowStride) {
      const R = v128.load(rows + (<usize>i << 3));
      const a = f64x2.mul(f64x2.mul(loadTwo<S>(p0), R), c0), b = f64x2.mul(f64x2.mul(loadTwo<S>(p1), R), c1);
      const c = f64x2.mul(f64x2.mul(loadTwo<S>(p2), R), c2), d = f64x2.mul(f64x2.mul(loadTwo<S>(p3), R), c3);
      put4<T>(q, v128.shuffle<i64>(a, b, 0, 2), v128.shuffle<i64>(c, d, 0, 2));
      put4<T>(q + rowStride, v128.shuffle<i64>(a, b, 1, 3), v128.shuffle<i64>(c, d, 1, 3));
    }
    if (i < count) {
      const r = f64.load(rows + (<usize>i << 3));
      for (let k: usize = 0; k < 4; ++k) store<T>(q + k * sizeof<T>(), <T>(one<S>(p0 + k * step) * r * f64.load(cols + 8 * k)));
    }
  }
  for (; j < n; ++j, p += step, cols += 8, to += sizeof<T>()) {
    for (let i = 0, q = to; i < count; ++i, q += rowStride) store<T>(q, <T>(one<S>(p + <usize>i * sizeof<S>()) * f64.load(rows + (<usize>i << 3)) * f64.load(cols)));
  }
}

/** The matrix and the right-hand sides, by all workers. */
export function fillMatrix<S, T>(job: usize): void {
  const m = i32At(job, JOB_M), n = i32At(job, JOB_N), k = i32At(job, JOB_K), padded = (m + 7) & ~7;
  const A = addressAt(job, JOB_A), row = addressAt(job, JOB_A_ROW), col = addressAt(job, JOB_A_COL);
  const W = addressAt(job, JOB_C), rowStride = addressAt(job, JOB_C_ROW), R = addressAt(job, JOB_ROW_SCALE), C = addressAt(job, JOB_COL_SCALE), b = addressAt(job, JOB_B);
  while (true) {
    const from = take(job, ROWS), to = min(from + ROWS, m);
    if (from >= padded) return;
    for (let i = from; i < min(from + ROWS, padded); ++i) {
      const p = W + <usize>i * rowStride;
      if (i >= m) { memory.fill(p, 0, rowStride); continue; }
      memory.fill(p + <usize>n * sizeof<T>(), 0, rowStride - <usize>n * sizeof<T>());
      const right = p + <usize>firstRight<T>(n) * sizeof<T>();
      for (let r = 0; r < k; ++r) store<T>(right + <usize>r * sizeof<T>(), <T>f64.load(b + (<usize>(i * k + r) << 3)));
      if (R == 0) memory.copy(p, A + <usize>i * row, <usize>n * sizeof<T>());
      else if (col == sizeof<S>()) alongRow<S, T>(A + <usize>i * row, f64.load(R + (<usize>i << 3)), C, n, p);
    }
    if (R != 0 && col != sizeof<S>() && from < to) acrossColumns<S, T>(A + <usize>from * sizeof<S>(), col, R + (<usize>from << 3), C, to - from, n, W + <usize>from * rowStride, rowStride);
  }
}

/** The factors without gaps, by all workers. */
export function compactMatrix<T>(job: usize, to: usize): void {
  const m = i32At(job, JOB_M), bytes = <usize>i32At(job, JOB_N) * sizeof<T>(), W = addressAt(job, JOB_C), rowStride = addressAt(job, JOB_C_ROW);
  while (true) {
    const from = take(job, ROWS);
    if (from >= m) return;
    for (let i = from; i < min(from + ROWS, m); ++i) memory.copy(to + <usize>i * bytes, W + <usize>i * rowStride, bytes);
  }
}

// ---------------------------------------------------------------- magnitudes

// Of rows [from, to): sums and largest, by two accumulators each; magnitudes are not negative, so a sum is NaN where one of them is.
function alongRows<S>(p: usize, step: usize, scale: usize, n: i32, count: i32, sums: usize, largest: usize): void {
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

// The same where columns follow each other: the sums of these rows stay in the first cache.
function downColumns<S>(p: usize, step: usize, scale: usize, n: i32, count: i32, sums: usize, largest: usize): void {
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

export function magnitudes<S>(job: usize): void {
  const m = i32At(job, JOB_M), n = i32At(job, JOB_N), A = addressAt(job, JOB_A), row = addressAt(job, JOB_A_ROW), col = addressAt(job, JOB_A_COL), scale = addressAt(job, JOB_X);
  const along = col == sizeof<S>(), each = along ? ROWS : 8 * ROWS;
  while (true) {
    const from = take(job, each), count = min(each, m - from);
    if (count <= 0) return;
    const p = A + <usize>from * row, sums = addressAt(job, JOB_Y) + (<usize>from << 3), largest = addressAt(job, JOB_OUT) + (<usize>from << 3);
    if (along) alongRows<S>(p, row, scale, n, count, sums, largest);
    else downColumns<S>(p, col, scale, n, count, sums, largest);
  }
}
