// The jobs of solve() in approximate arithmetic: factorization, and substitution with the factors (the mixed-precision paper).
import { JOB_COMPACT, JOB_FROM, JOB_FROM_SINGLE, JOB_LAST, JOB_N } from "../layout";
import { factorize, luWorkspace } from "./lu";
import { fillMatrix, storeCompact } from "./source";
import { substitute, vectorSize } from "./substitute";
import { addressAt, barrier, i32At } from "../team";

/** Bytes of workspace for a matrix with rows of `bytes` bytes, and bytes of a right-hand side. */
export function solveWork(single: bool, rows: i32, bytes: usize): usize { return single ? luWorkspace<f32>(rows, bytes) : luWorkspace<f64>(rows, bytes); }
export function solveVector(single: bool, n: i32): usize { return single ? vectorSize<f32>(n) : vectorSize<f64>(n); }

/**
 * Copy the matrix and factor it; then either store the factors compactly (if JOB_COMPACT is set) or back-substitute for the right-hand
 * sides carried along in the elimination. A job does the columns JOB_FROM to JOB_LAST: the first job copies, the last one stores or solves.
 */
export function approximateLu<T>(job: usize, worker: i32): void {
  if (i32At(job, JOB_FROM) == 0) {
    if (i32At(job, JOB_FROM_SINGLE) != 0) fillMatrix<f32, T>(job);
    else fillMatrix<f64, T>(job);
    barrier(job, 0);
  }
  if (factorize<T>(job, worker) >= 0 || i32At(job, JOB_LAST) < i32At(job, JOB_N)) return;
  const compact = addressAt(job, JOB_COMPACT);
  if (compact != 0) storeCompact<T>(job, compact);
  else substitute<T>(job, true);
}

/** Solve with factors computed before. */
export function approximateSolve<T>(job: usize): void { substitute<T>(job, false); }
