// The sums |T| v for a triangle T and a nonnegative vector v, from which the bounds in routines/solve/certificate.ts are made.
import { JOB_C, JOB_C_ROW, JOB_N, JOB_OUT, JOB_UPPER, JOB_X } from "../layout";
import { addressAt, i32At, take } from "../team";

@inline const ROWS: i32 = 64; // that a worker takes at a time

// The sum of |t_j| v_j for j in [from, to).
function rowWeight(row: usize, v: usize, from: i32, to: i32): f64 {
  let p = row + (<usize>from << 3), q = v + (<usize>from << 3), j = from, rest: f64 = 0;
  let s = f64x2.splat(0), t = s;
  for (; j < to - 3; j += 4, p += 32, q += 32) {
    s = f64x2.add(s, f64x2.mul(f64x2.abs(v128.load(p)), v128.load(q)));
    t = f64x2.add(t, f64x2.mul(f64x2.abs(v128.load(p, 16)), v128.load(q, 16)));
  }
  for (; j < to; ++j, p += 8, q += 8) rest += abs(f64.load(p)) * f64.load(q);
  s = f64x2.add(s, t);
  return f64x2.extract_lane(s, 0) + f64x2.extract_lane(s, 1) + rest;
}

/** Rows of |T| v, by all workers. A lower triangle has a unit diagonal. */
export function weigh(job: usize): void {
  const matrix = addressAt(job, JOB_C), step = addressAt(job, JOB_C_ROW), count = i32At(job, JOB_N), v = addressAt(job, JOB_X), out = addressAt(job, JOB_OUT);
  const upper = i32At(job, JOB_UPPER) != 0;
  while (true) {
    const from = take(job, ROWS);
    if (from >= count) return;
    for (let i = from; i < min(from + ROWS, count); ++i) {
      const row = matrix + <usize>i * step;
      const sum = upper ? rowWeight(row, v, i, count) : rowWeight(row, v, 0, i) + f64.load(v + (<usize>i << 3));
      f64.store(out + (<usize>i << 3), sum);
    }
  }
}
