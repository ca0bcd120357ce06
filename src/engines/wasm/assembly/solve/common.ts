// The jobs of solve() in ordinary arithmetic.
import { JOB_COMPACT, JOB_FROM_SINGLE } from "../layout";
import { factorize, luSpace } from "./lu";
import { fillMatrix, compactMatrix } from "./source";
import { substitute, vectorSize } from "./substitute";
import { addressAt, barrier, i32At } from "../team";

/** Bytes to work in for m rows, so many bytes of numbers each; and for a right-hand side. */
export function solveWork(single: bool, rows: i32, bytes: usize): usize { return single ? luSpace<f32>(rows, bytes) : luSpace<f64>(rows, bytes); }
export function solveVector(single: bool, n: i32): usize { return single ? vectorSize<f32>(n) : vectorSize<f64>(n); }

/** Fill, factor, and solve with what was eliminated along. */
export function approximateLu<T>(job: usize, worker: i32): void {
  if (i32At(job, JOB_FROM_SINGLE) != 0) fillMatrix<f32, T>(job);
  else fillMatrix<f64, T>(job);
  barrier(job, 0);
  if (factorize<T>(job, worker) >= 0) return;
  const compact = addressAt(job, JOB_COMPACT);
  if (compact != 0) compactMatrix<T>(job, compact);
  else substitute<T>(job, true);
}

export function approximateSolve<T>(job: usize): void { substitute<T>(job, false); }
