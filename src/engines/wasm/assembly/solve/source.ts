// The matrix that solve() factors, made from the user's: rows[i] * a_ij * cols[j] in the format T, row by row, padded with zeros after
// the last column and row, with the right-hand sides to its right.
import { JOB_A, JOB_A_COL, JOB_A_ROW, JOB_B, JOB_C, JOB_C_ROW, JOB_COL_SCALE, JOB_K, JOB_M, JOB_N, JOB_ROW_SCALE } from "../layout";
import { across } from "./tile";
import { load as loadTwo, load2 as loadNext, one } from "../simd";
import { addressAt, i32At, take } from "../team";

@inline const ROWS: i32 = 64; // that a worker takes at a time

/** The column at which the right-hand sides begin. */
@inline export function firstRhs<T>(n: i32): i32 { return (n + across<T>() - 1) & -across<T>(); }

// Store four binary64 numbers as T.
@inline function store4<T>(to: usize, a: v128, b: v128): void {
  if (sizeof<T>() == 4) {
    v128.store(to, v128.shuffle<i64>(f32x4.demote_f64x2_zero(a), f32x4.demote_f64x2_zero(b), 0, 2));
  } else {
    v128.store(to, a);
    v128.store(to, b, 16);
  }
}

// Scale a contiguous row.
@inline function scaleRow<S, T>(p: usize, r: f64, cols: usize, n: i32, to: usize): void {
  const R = f64x2.splat(r);
  let j = 0;
  for (; j < n - 3; j += 4, p += 4 * sizeof<S>(), cols += 32, to += 4 * sizeof<T>()) {
    store4<T>(to, f64x2.mul(f64x2.mul(loadTwo<S>(p), R), v128.load(cols)), f64x2.mul(f64x2.mul(loadNext<S>(p), R), v128.load(cols, 16)));
  }
  for (; j < n; ++j, p += sizeof<S>(), cols += 8, to += sizeof<T>()) store<T>(to, <T>(one<S>(p) * r * f64.load(cols)));
}

// Scale rows of a matrix whose columns are contiguous, two rows and four columns at a time.
@inline function scaleColumns<S, T>(p: usize, step: usize, rows: usize, cols: usize, count: i32, n: i32, to: usize, rowStride: usize): void {
  let j = 0;
  for (; j < n - 3; j += 4, p += 4 * step, cols += 32, to += 4 * sizeof<T>()) {
    const c0 = v128.load64_splat(cols), c1 = v128.load64_splat(cols, 8), c2 = v128.load64_splat(cols, 16), c3 = v128.load64_splat(cols, 24);
    let p0 = p, p1 = p0 + step, p2 = p1 + step, p3 = p2 + step, q = to, i = 0;
    for (; i < count - 1; i += 2, p0 += 2 * sizeof<S>(), p1 += 2 * sizeof<S>(), p2 += 2 * sizeof<S>(), p3 += 2 * sizeof<S>(), q += 2 * rowStride) {
      const R = v128.load(rows + (<usize>i << 3));
      const a = f64x2.mul(f64x2.mul(loadTwo<S>(p0), R), c0), b = f64x2.mul(f64x2.mul(loadTwo<S>(p1), R), c1);
      const c = f64x2.mul(f64x2.mul(loadTwo<S>(p2), R), c2), d = f64x2.mul(f64x2.mul(loadTwo<S>(p3), R), c3);
      store4<T>(q, v128.shuffle<i64>(a, b, 0, 2), v128.shuffle<i64>(c, d, 0, 2));
      store4<T>(q + rowStride, v128.shuffle<i64>(a, b, 1, 3), v128.shuffle<i64>(c, d, 1, 3));
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

/** Copy and scale the matrix and the right-hand sides, by all workers. */
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
      const right = p + <usize>firstRhs<T>(n) * sizeof<T>();
      for (let r = 0; r < k; ++r) store<T>(right + <usize>r * sizeof<T>(), <T>f64.load(b + (<usize>(i * k + r) << 3)));
      if (R == 0) memory.copy(p, A + <usize>i * row, <usize>n * sizeof<T>());
      else if (col == sizeof<S>()) scaleRow<S, T>(A + <usize>i * row, f64.load(R + (<usize>i << 3)), C, n, p);
    }
    if (R != 0 && col != sizeof<S>() && from < to) scaleColumns<S, T>(A + <usize>from * sizeof<S>(), col, R + (<usize>from << 3), C, to - from, n, W + <usize>from * rowStride, rowStride);
  }
}

/** Store the factors row by row without gaps, by all workers. */
export function storeCompact<T>(job: usize, to: usize): void {
  const m = i32At(job, JOB_M), bytes = <usize>i32At(job, JOB_N) * sizeof<T>(), W = addressAt(job, JOB_C), rowStride = addressAt(job, JOB_C_ROW);
  while (true) {
    const from = take(job, ROWS);
    if (from >= m) return;
    for (let i = from; i < min(from + ROWS, m); ++i) memory.copy(to + <usize>i * bytes, W + <usize>i * rowStride, bytes);
  }
}
