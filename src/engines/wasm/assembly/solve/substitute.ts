// Substitution in approximate arithmetic with factors stored row by row: four rows at a time, so that the matrix is read in four
// streams, and only once for all right-hand sides of a worker.
import { JOB_B, JOB_C, JOB_C_ROW, JOB_K, JOB_M, JOB_OUT, JOB_PIVOTS, JOB_X } from "../layout";
import { minusProduct } from "./tile";
import { firstRhs } from "./source";
import { addressAt, i32At, take } from "../team";

@inline const VECTORS: i32 = 4; // right-hand sides that a worker takes at a time

/** Bytes of a right-hand side, padded with zeros. */
@inline export function vectorSize<T>(n: i32): usize { return (<usize>firstRhs<T>(n) * sizeof<T>() + 63) & ~63; }

@inline function sumLanes<T>(v: v128): T {
  const two = v128.extract_lane<T>(v, 0) + v128.extract_lane<T>(v, 1);
  return sizeof<T>() == 4 ? two + (v128.extract_lane<T>(v, 2) + v128.extract_lane<T>(v, 3)) : two;
}

// Subtract the products of four rows with the vector y, `bytes` bytes of numbers (a multiple of 16), from x[0..3].
@inline function subtractRows<T>(p: usize, rowStride: usize, y: usize, bytes: usize, x: usize): void {
  let s0 = v128.splat<T>(0), s1 = s0, s2 = s0, s3 = s0;
  for (const end = y + bytes; y != end; p += 16, y += 16) {
    const v = v128.load(y), q = p + 2 * rowStride;
    s0 = minusProduct<T>(s0, v128.load(p), v); s1 = minusProduct<T>(s1, v128.load(p + rowStride), v);
    s2 = minusProduct<T>(s2, v128.load(q), v); s3 = minusProduct<T>(s3, v128.load(q + rowStride), v);
  }
  store<T>(x, load<T>(x) + sumLanes<T>(s0)); store<T>(x, load<T>(x, sizeof<T>()) + sumLanes<T>(s1), sizeof<T>());
  store<T>(x, load<T>(x, 2 * sizeof<T>()) + sumLanes<T>(s2), 2 * sizeof<T>()); store<T>(x, load<T>(x, 3 * sizeof<T>()) + sumLanes<T>(s3), 3 * sizeof<T>());
}

// Solve L x = b, L with a unit diagonal, for `count` vectors that are `size` bytes apart. Rows after the last are zero and do no harm.
function forward<T>(W: usize, rowStride: usize, n: i32, x: usize, size: usize, count: i32): void {
  for (let i = 0; i < n; i += 4, W += 4 * rowStride) {
    const o = <usize>i * sizeof<T>();
    for (let r = 0, y = x; r < count; ++r, y += size) {
      subtractRows<T>(W, rowStride, y, o, y + o);
      let x0 = load<T>(y + o), x1 = load<T>(y + o, sizeof<T>()), x2 = load<T>(y + o, 2 * sizeof<T>()), x3 = load<T>(y + o, 3 * sizeof<T>());
      const p = W + o;
      x1 -= load<T>(p + rowStride) * x0;
      x2 -= load<T>(p + 2 * rowStride) * x0 + load<T>(p + 2 * rowStride, sizeof<T>()) * x1;
      x3 -= load<T>(p + 3 * rowStride) * x0 + load<T>(p + 3 * rowStride, sizeof<T>()) * x1 + load<T>(p + 3 * rowStride, 2 * sizeof<T>()) * x2;
      store<T>(y + o, x1, sizeof<T>()); store<T>(y + o, x2, 2 * sizeof<T>()); store<T>(y + o, x3, 3 * sizeof<T>());
    }
  }
}

// Solve U x = b in the same way.
function backward<T>(W: usize, rowStride: usize, n: i32, x: usize, size: usize, count: i32): void {
  for (let i = (n - 1) & ~3; i >= 0; i -= 4) {
    const o = <usize>i * sizeof<T>(), after = o + 4 * sizeof<T>(), p = W + <usize>i * rowStride;
    const bytes = <usize>firstRhs<T>(n) * sizeof<T>();
    for (let r = 0, y = x; r < count; ++r, y += size) {
      if (bytes > after) subtractRows<T>(p + after, rowStride, y + after, bytes - after, y + o);
      for (let j = min(i + 3, n - 1); j >= i; --j) {
        const row = W + <usize>j * rowStride;
        let s = load<T>(y + <usize>j * sizeof<T>());
        for (let k = j + 1; k < min(i + 4, n); ++k) s -= load<T>(row + <usize>k * sizeof<T>()) * load<T>(y + <usize>k * sizeof<T>());
        store<T>(y + <usize>j * sizeof<T>(), s / load<T>(row + <usize>j * sizeof<T>()));
      }
    }
  }
}

// Copy right-hand side r into a vector: from b, with the rows swapped, or from beside the matrix if it was eliminated with it.
function loadRhs<T>(job: usize, r: i32, x: usize, eliminated: bool): void {
  const n = i32At(job, JOB_M), k = i32At(job, JOB_K), rowStride = addressAt(job, JOB_C_ROW);
  memory.fill(x, 0, vectorSize<T>(n));
  if (eliminated) {
    let p = addressAt(job, JOB_C) + <usize>(firstRhs<T>(n) + r) * sizeof<T>();
    for (let i = 0; i < n; ++i, p += rowStride) store<T>(x + <usize>i * sizeof<T>(), load<T>(p));
    return;
  }
  let p = addressAt(job, JOB_B) + (<usize>r << 3);
  for (let i = 0; i < n; ++i, p += <usize>k << 3) store<T>(x + <usize>i * sizeof<T>(), <T>f64.load(p));
  const pivots = addressAt(job, JOB_PIVOTS);
  for (let i = 0; i < n; ++i) {
    const a = x + <usize>i * sizeof<T>(), b = x + <usize>load<i32>(pivots + (<usize>i << 2)) * sizeof<T>(), t = load<T>(a);
    store<T>(a, load<T>(b));
    store<T>(b, t);
  }
}

/** Solve for all right-hand sides, by all workers. */
export function substitute<T>(job: usize, eliminated: bool): void {
  const n = i32At(job, JOB_M), k = i32At(job, JOB_K), size = vectorSize<T>(n);
  const W = addressAt(job, JOB_C), rowStride = addressAt(job, JOB_C_ROW);
  while (true) {
    const first = take(job, VECTORS), count = min(VECTORS, k - first);
    if (count <= 0) return;
    const x = addressAt(job, JOB_X) + <usize>first * size;
    for (let r = 0; r < count; ++r) loadRhs<T>(job, first + r, x + <usize>r * size, eliminated);
    if (!eliminated) forward<T>(W, rowStride, n, x, size, count);
    backward<T>(W, rowStride, n, x, size, count);
    for (let r = 0; r < count; ++r) {
      let to = addressAt(job, JOB_OUT) + (<usize>(first + r) << 3);
      for (let i = 0; i < n; ++i, to += <usize>k << 3) f64.store(to, <f64>load<T>(x + <usize>r * size + <usize>i * sizeof<T>()));
    }
  }
}
