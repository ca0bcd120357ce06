// Reductions by a pool of workers, who take pieces of the vectors by a counter. The filter leaves one enclosure for each piece. In
// the exact stages every worker has a superaccumulator, and these are merged by integer addition. Called by engines/wasm/jobs/level1.ts.
import { filter } from "../exact/filter";
import { frame } from "../frame";
import { setRecord } from "../exact/certificate";
import { ASUM, BOUND, DIGITS, DIGIT_COUNT, ENCLOSURE, FILTER, JOB_A, JOB_B, JOB_FINISH, JOB_K, JOB_OUT, JOB_REFINE, JOB_WORK, LADDER, PIECE, SPECIAL, SUM } from "../layout";
import { clear, exactLadder, ladder } from "../exact/ladder";
import { Asum, Dot, Sum } from "../range";
import { normalize } from "../exact/superaccumulator";
import { addressAt, i32At, take } from "../team";

function reducePieces<T, Op>(job: usize, worker: i32): void {
  const n = i32At(job, JOB_K), x = addressAt(job, JOB_A), y = addressAt(job, JOB_B), stage = i32At(job, JOB_REFINE), out = addressAt(job, JOB_OUT);
  let bound: f64 = 0;
  if (stage != FILTER) clear();
  while (true) {
    const k = take(job, 1), from = k * PIECE, count = min(n - from, PIECE), at = <usize>from * sizeof<T>();
    if (k > (n - 1) / PIECE) break;
    if (stage == FILTER) {
      const record = out + <usize>k * ENCLOSURE;
      setRecord(record, 0, 0, 0);
      if (!filter<T, Op>(record, x + at, y + at, count)) f64.store(record, NaN, BOUND);
    } else if (stage == LADDER) {
      bound += ladder<T, Op>(x + at, y + at, (count + 7) & ~7);
    } else {
      exactLadder<T, Op>(x + at, y + at, (count + 7) & ~7);
    }
  }
  if (stage == FILTER) return;
  normalize();
  for (let i = 0; i < DIGIT_COUNT; ++i) atomic.add<i64>(out + (i << 3), load<i64>(frame + DIGITS + (i << 3)));
  atomic.or<i32>(out + (DIGIT_COUNT << 3), load<i32>(frame + SPECIAL));
  f64.store(addressAt(job, JOB_WORK) + (<usize>worker << 3), bound);
}

// JOB_FINISH is the kind of reduction.
export function reduce<T>(job: usize, worker: i32): void {
  switch (i32At(job, JOB_FINISH)) {
    case SUM: reducePieces<T, Sum>(job, worker); break;
    case ASUM: reducePieces<T, Asum>(job, worker); break;
    default: reducePieces<T, Dot>(job, worker);
  }
}
