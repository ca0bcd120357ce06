// The columns of a matrix as vectors, and several columns interleaved: entry i of all of them, then entry i + 1. Engines solve systems with
// many right-hand sides by these.

import type { StridedMatrix } from "./matrix.ts";
import type { Real } from "./types.ts";
import { newVector } from "./vectors.ts";

/** Solve for the columns of B from `first` on, one at a time. */
export function solveColumns(B: StridedMatrix, X: StridedMatrix, routine: string, solve: (b: Real, x: Real) => void, first = 0): void {
  const b = newVector(routine, B.data, B.rows);
  const x = newVector(routine, X.data, B.rows);
  for (let j = first; j < B.cols; j++) {
    interleave(B, j, b, 0, 1);
    solve(b, x);
    separate(x, 0, 1, X, j);
  }
}

/** Copies of the columns of B from `first` on. */
export function copyColumns(B: StridedMatrix, routine: string, first = 0): Real[] {
  return Array.from({ length: B.cols - first }, (_, j) => {
    const b = newVector(routine, B.data, B.rows);
    interleave(B, first + j, b, 0, 1);
    return b;
  });
}

// Rows that are copied at a time, so that what several columns share of a cache line is copied while it is in the cache.
const ROWS = 256;

/**
 * Copy the columns of B from `first` on to `to`, from element `at` on, `width` of them. Where B has fewer, column `first` takes their place.
 * If `reversed`, the last row comes first.
 */
export function interleave(B: StridedMatrix, first: number, to: Real, at: number, width: number, reversed = false): void {
  forColumns(B, first, width, reversed, (start, step, c, from, end) => {
    const { data } = B;
    for (let i = from; i < end; i++) to[at + i * width + c] = data[start + i * step] as number;
  });
}

/** The inverse of interleave(). */
export function separate(from: Real, at: number, width: number, X: StridedMatrix, first: number, reversed = false): void {
  forColumns(X, first, Math.min(width, X.cols - first), reversed, (start, step, c, begin, end) => {
    const { data } = X;
    for (let i = begin; i < end; i++) data[start + i * step] = from[at + i * width + c] as number;
  });
}

function forColumns(
  A: StridedMatrix,
  first: number,
  count: number,
  reversed: boolean,
  visit: (start: number, step: number, c: number, from: number, end: number) => void,
): void {
  const { offset, rows, cols, rowStride, colStride } = A;
  const [top, step] = reversed ? [offset + (rows - 1) * rowStride, -rowStride] : [offset, rowStride];
  for (let from = 0; from < rows; from += ROWS) {
    const end = Math.min(from + ROWS, rows);
    for (let c = 0; c < count; c++) visit(top + (first + c < cols ? first + c : first) * colStride, step, c, from, end);
  }
}
