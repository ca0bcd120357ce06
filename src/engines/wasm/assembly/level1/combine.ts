// The vector updates of the iterative solvers (Combination in engines/kernels.ts), in place in engine memory; combineOne() in
// engines/reference/index.ts is their meaning. Called by work() in matrices.ts for the jobs of jobs/level1.ts.
import { clear } from "../exact/ladder";
import { addNumber, addProduct, round } from "../exact/superaccumulator";
import { AXPY, DIRECTION, INVSCAL, JOB_ALPHA, JOB_B, JOB_BETA, JOB_FINISH, JOB_K, JOB_X, JOB_Y, PIECE, QUOTIENT, XPAY } from "../layout";
import { add, fused, isFused, splat } from "../simd";
import { addressAt, i32At, take } from "../team";
import { fusedByOdd, inRange } from "./elementwise";

// RN(a x + y), an IEEE operation. Without a fused multiply-add, lanes for which fusedByOdd is not proved are computed exactly.
@inline function multiplyAdd(a: v128, x: v128, y: v128): v128 {
  if (isFused()) return fused(a, x, y);
  const r = fusedByOdd(a, x, y), proved = inRange(a, x, y);
  return i64x2.all_true(proved) ? r : repaired(a, x, y, r, proved);
}
function repaired(a: v128, x: v128, y: v128, r: v128, proved: v128): v128 {
  const low = i64x2.extract_lane(proved, 0) ? f64x2.extract_lane(r, 0) : exactly(f64x2.extract_lane(a, 0), f64x2.extract_lane(x, 0), f64x2.extract_lane(y, 0));
  const high = i64x2.extract_lane(proved, 1) ? f64x2.extract_lane(r, 1) : exactly(f64x2.extract_lane(a, 1), f64x2.extract_lane(x, 1), f64x2.extract_lane(y, 1));
  return f64x2.replace_lane(splat(low), 1, high);
}
// The twin of multiplyAdd in src/exact/elementwise.ts.
function exactly(a: f64, x: f64, y: f64): f64 {
  if (!(y - y == 0) && a - a == 0 && x - x == 0) return y;
  if (!(a - a == 0 && a != 0 && x - x == 0 && x != 0)) return a * x + y;
  clear();
  addProduct(a, x);
  addNumber(y);
  return round(false);
}

// Two entries. Adding 0 to a term makes an exact zero +0.
@inline function combined(op: i32, a: v128, b: v128, x: v128, y: v128, z: v128): v128 {
  const zero = splat(0);
  switch (op) {
    case AXPY: return multiplyAdd(a, x, y);
    case INVSCAL: return f64x2.div(y, a);
    case XPAY: return multiplyAdd(a, y, add(x, zero));
    case DIRECTION: return multiplyAdd(a, multiplyAdd(b, z, add(y, zero)), add(x, zero));
    case QUOTIENT: return v128.andnot(f64x2.div(x, z), v128.and(f64x2.eq(x, zero), f64x2.eq(z, z)));
    default: return add(add(x, zero), y);
  }
}
@inline function canonical(v: v128): v128 { return v128.bitselect(i64x2.splat(0x7ff8000000000000), v, f64x2.ne(v, v)); }

// y := the combination of x, y and z, n entries; workers take PIECE entries at a time.
export function combine(job: usize): void {
  const n = i32At(job, JOB_K), op = i32At(job, JOB_FINISH), a = splat(f64.load(job + JOB_ALPHA)), b = splat(f64.load(job + JOB_BETA));
  while (true) {
    const from = take(job, PIECE);
    if (from < 0 || from >= n) break;
    const at = <usize>from << 3, count = min(n - from, PIECE);
    let x = addressAt(job, JOB_X) + at, y = addressAt(job, JOB_Y) + at, z = addressAt(job, JOB_B) + at;
    for (const end = y + (<usize>(count & ~1) << 3); y != end; x += 16, y += 16, z += 16)
      v128.store(y, canonical(combined(op, a, b, v128.load(x), v128.load(y), v128.load(z))));
    if (count & 1) v128.store64_lane(y, canonical(combined(op, a, b, v128.load64_zero(x), v128.load64_zero(y), v128.load64_zero(z))), 0);
  }
}
