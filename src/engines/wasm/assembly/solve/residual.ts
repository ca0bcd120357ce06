// r := b + alpha A x in ordinary binary64 arithmetic, for k right-hand sides, stored row by row as n by k matrices. The approximate
// residual of solve().
import { JOB_A, JOB_A_COL, JOB_A_ROW, JOB_ALPHA, JOB_B, JOB_K, JOB_M, JOB_N, JOB_OUT, JOB_WORK, JOB_X, RESIDUAL_ROWS } from "../layout";
import { fused, load, one } from "../simd";
import { addressAt, barrier, i32At, take } from "../team";

@inline const ROWS: i32 = 64; // that a worker takes at a time

@inline function plusProduct(c: v128, a: v128, b: v128): v128 { return ASC_FEATURE_RELAXED_SIMD ? fused(a, b, c) : f64x2.add(c, f64x2.mul(a, b)); }
@inline function total(v: v128): f64 { return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1); }

// The products of four rows with a vector.
@inline function fourRows<S>(p: usize, row: usize, x: usize, n: i32, to: usize): void {
  let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0, j = 0;
  for (; j < n - 1; j += 2, p += 2 * sizeof<S>(), x += 16) {
    const v = v128.load(x), q = p + 2 * row;
    s0 = plusProduct(s0, load<S>(p), v); s1 = plusProduct(s1, load<S>(p + row), v);
    s2 = plusProduct(s2, load<S>(q), v); s3 = plusProduct(s3, load<S>(q + row), v);
  }
  const last = j < n ? f64.load(x) : 0;
  f64.store(to, total(s0) + (j < n ? one<S>(p) * last : 0));
  f64.store(to, total(s1) + (j < n ? one<S>(p + row) * last : 0), 8);
  f64.store(to, total(s2) + (j < n ? one<S>(p + 2 * row) * last : 0), 16);
  f64.store(to, total(s3) + (j < n ? one<S>(p + 3 * row) * last : 0), 24);
}

@inline function oneRow<S>(p: usize, x: usize, n: i32, to: usize): void {
  let sum: f64 = 0;
  for (let j = 0; j < n; ++j, p += sizeof<S>(), x += 8) sum += one<S>(p) * f64.load(x);
  f64.store(to, sum);
}

// The same for `count` rows of a matrix whose columns are contiguous, four columns at a time, added to the numbers at `to`.
function contiguousColumns<S>(p: usize, col: usize, x: usize, n: i32, count: i32, to: usize): void {
  let j = 0;
  for (; j < n - 3; j += 4, p += 4 * col, x += 32) {
    const x0 = v128.load64_splat(x), x1 = v128.load64_splat(x, 8), x2 = v128.load64_splat(x, 16), x3 = v128.load64_splat(x, 24);
    let i = 0, q = p, t = to;
    for (; i < count - 1; i += 2, q += 2 * sizeof<S>(), t += 16) {
      const q2 = q + 2 * col;
      v128.store(t, plusProduct(plusProduct(plusProduct(plusProduct(v128.load(t), load<S>(q), x0), load<S>(q + col), x1), load<S>(q2), x2), load<S>(q2 + col), x3));
    }
    if (i < count) f64.store(t, f64.load(t) + one<S>(q) * f64.load(x) + one<S>(q + col) * f64.load(x, 8) + one<S>(q + 2 * col) * f64.load(x, 16) + one<S>(q + 3 * col) * f64.load(x, 24));
  }
  for (; j < n; ++j, p += col, x += 8) {
    for (let i = 0, q = p, t = to; i < count; ++i, q += sizeof<S>(), t += 8) f64.store(t, f64.load(t) + one<S>(q) * f64.load(x));
  }
}

/** By all workers. JOB_WORK has room for the k vectors x and, after them, RESIDUAL_ROWS numbers for rowsEach worker. */
export function residual<S>(job: usize, worker: i32): void {
  const m = i32At(job, JOB_M), n = i32At(job, JOB_N), k = i32At(job, JOB_K), A = addressAt(job, JOB_A), row = addressAt(job, JOB_A_ROW), col = addressAt(job, JOB_A_COL);
  const alpha = f64.load(job + JOB_ALPHA), byRows = col == sizeof<S>(), rowsEach = byRows ? ROWS : RESIDUAL_ROWS;
  const xs = addressAt(job, JOB_WORK), products = xs + <usize>(k * n + worker * RESIDUAL_ROWS) * 8;
  if (worker == 0) {
    let from = addressAt(job, JOB_X);
    for (let j = 0; j < n; ++j) for (let r = 0; r < k; ++r, from += 8) f64.store(xs + <usize>(r * n + j) * 8, f64.load(from));
  }
  barrier(job, 0);
  while (true) {
    const from = take(job, rowsEach), count = min(rowsEach, m - from);
    if (count <= 0) return;
    for (let r = 0; r < k; ++r) {
      const x = xs + <usize>(r * n) * 8;
      let p = A + <usize>from * row, i = 0;
      if (byRows) {
        for (; i < count - 3; i += 4, p += 4 * row) fourRows<S>(p, row, x, n, products + (<usize>i << 3));
        for (; i < count; ++i, p += row) oneRow<S>(p, x, n, products + (<usize>i << 3));
      } else {
        memory.fill(products, 0, <usize>count << 3);
        contiguousColumns<S>(p, col, x, n, count, products);
      }
      let at = <usize>(from * k + r) << 3;
      for (i = 0; i < count; ++i, at += <usize>k << 3) f64.store(addressAt(job, JOB_OUT) + at, f64.load(addressAt(job, JOB_B) + at) + alpha * f64.load(products + (<usize>i << 3)));
    }
  }
}
