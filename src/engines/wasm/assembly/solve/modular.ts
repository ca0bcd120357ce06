// C - P Q modulo a prime p, for the exact stages of solve(): integers in binary64, so small that nothing is rounded before the
// remainder is taken. With |c| <= p, |p_ik|, |q_kj| <= p / 2 and p < 2^23, 64 products stay below 2^23 + 64 * 2^44.
import { JOB_A, JOB_ALPHA, JOB_B, JOB_C, JOB_C_ROW, JOB_K, JOB_M, JOB_N, JOB_WORK } from "../layout";
import { STRIP, roundUp4, tile } from "./tile";
import { addressAt, barrier, i32At, take } from "../team";

@inline const ROWS: i32 = 32; // that a worker takes at a time
@inline const CORNER: usize = 4 * STRIP; // bytes of a tile that crosses the border

/** Bytes of workspace: P in groups of four rows, Q in strips, and a tile that crosses the border for each worker. */
export function modularWork(rows: i32, cols: i32, depth: i32, workers: i32): usize { return ((<usize>roundUp4(rows) + <usize>roundUp4(cols)) * <usize>depth << 3) + <usize>workers * CORNER; }

// Copy `count` of four numbers, `stride` bytes apart, and zeros for the others.
@inline function copyFour(p: usize, stride: usize, count: i32, to: usize): void {
  for (let e = 0; e < 4; ++e, p += stride, to += 8) f64.store(to, e < count ? f64.load(p) : 0);
}

// Replace `count` integers by their remainders.
@inline function reduce(p: usize, count: i32, modulus: f64): void {
  const m = f64x2.splat(modulus), inverse = f64x2.splat(1 / modulus);
  let j = 0;
  for (; j < count - 1; j += 2, p += 16) {
    const x = v128.load(p);
    v128.store(p, f64x2.sub(x, f64x2.mul(m, f64x2.nearest(f64x2.mul(x, inverse)))));
  }
  if (j < count) {
    const x = f64.load(p);
    f64.store(p, x - modulus * nearest(x * (1 / modulus)));
  }
}

export function subtractModulo(job: usize, worker: i32): void {
  const m = i32At(job, JOB_M), n = i32At(job, JOB_N), depth = i32At(job, JOB_K), modulus = f64.load(job + JOB_ALPHA);
  const C = addressAt(job, JOB_C), rowStride = addressAt(job, JOB_C_ROW), P = addressAt(job, JOB_A), Q = addressAt(job, JOB_B);
  const packedP = addressAt(job, JOB_WORK), packedQ = packedP + (<usize>roundUp4(m) * <usize>depth << 3), corner = packedQ + (<usize>roundUp4(n) * <usize>depth << 3) + <usize>worker * CORNER;
  const strips = (n + 3) >> 2, tall = (m + 3) >> 2, wide = <usize>depth * STRIP;
  while (true) {
    const t = take(job, 1);
    if (t >= strips + tall) break;
    if (t < strips) {
      for (let k = 0; k < depth; ++k) copyFour(Q + (<usize>(k * n + 4 * t) << 3), 8, n - 4 * t, packedQ + <usize>t * wide + <usize>k * STRIP);
    } else {
      const i = 4 * (t - strips);
      for (let k = 0; k < depth; ++k) copyFour(P + (<usize>(i * depth + k) << 3), <usize>depth << 3, m - i, packedP + <usize>(t - strips) * wide + <usize>k * 32);
    }
  }
  barrier(job, 0);
  while (true) {
    const from = take(job, ROWS), to = min(from + ROWS, m);
    if (from >= m) return;
    for (let t = 0; t < strips; ++t) {
      const b = packedQ + <usize>t * wide, across = min(4, n - 4 * t);
      for (let i = from; i < to; i += 4) {
        const a = packedP + <usize>(i >> 2) * wide, c = C + <usize>i * rowStride + (<usize>t << 5), down = min(4, to - i);
        if (across == 4 && down == 4) {
          tile<f64>(a, b, STRIP, c, rowStride, depth);
          continue;
        }
        for (let e = 0; e < down; ++e) copyFour(c + <usize>e * rowStride, 8, across, corner + <usize>e * STRIP);
        tile<f64>(a, b, STRIP, corner, STRIP, depth);
        for (let e = 0; e < down; ++e) memory.copy(c + <usize>e * rowStride, corner + <usize>e * STRIP, <usize>across << 3);
      }
    }
    for (let i = from; i < to; ++i) reduce(C + <usize>i * rowStride, n, modulus);
  }
}
