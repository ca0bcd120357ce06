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

/**
 * Copy the columns of B from `first` on to `to`, from element `at` on, `width` of them. Where B has fewer, column `first` takes their place.
 * If `reversed`, the last row comes first.
 */
export function interleave(B: StridedMatrix, first: number, to: Real, at: number, width: number, reversed = false): void {
  const { start, step, count } = columnsOf(B, first, width, reversed);
  copyEntries(B.rows, count, B.data, start, step, B.colStride, to, at, width, 1);
  if (count < width) copyEntries(B.rows, width - count, B.data, start, step, 0, to, at + count, width, 1);
}

/** The inverse of interleave(). */
export function separate(from: Real, at: number, width: number, X: StridedMatrix, first: number, reversed = false): void {
  const { start, step, count } = columnsOf(X, first, width, reversed);
  copyEntries(X.rows, count, from, at, width, 1, X.data, start, step, X.colStride);
}

// The first entry of these columns, the step to the next row, and how many of them there are.
function columnsOf({ offset, rows, cols, rowStride, colStride }: StridedMatrix, first: number, width: number, reversed: boolean) {
  const start = offset + first * colStride + (reversed ? (rows - 1) * rowStride : 0);
  return { start, step: reversed ? -rowStride : rowStride, count: Math.min(width, cols - first) };
}

// Rows that are copied at a time, so that what several columns share of a cache line is copied while it is in the cache.
const ROWS = 256;
// Rows from this length on are copied by TypedArray.set: 16 columns of a row-major matrix of 64 in 0.55 instead of 1.0 ns per entry.
const LONG = 16;

// to[t + i * tRow + j * tCol] := from[f + i * fRow + j * fCol].
function copyEntries(
  rows: number,
  cols: number,
  from: Real,
  f: number,
  fRow: number,
  fCol: number,
  to: Real,
  t: number,
  tRow: number,
  tCol: number,
): void {
  if (fCol === 1 && tCol === 1 && fRow === cols && tRow === cols) {
    to.set(from.subarray(f, f + rows * cols), t);
    return;
  }
  if (fCol === 1 && tCol === 1) {
    for (let i = 0; i < rows; i++, f += fRow, t += tRow)
      if (cols >= LONG) to.set(from.subarray(f, f + cols), t);
      else for (let j = 0; j < cols; j++) to[t + j] = from[f + j] as number;
    return;
  }
  for (let top = 0; top < rows; top += ROWS) {
    const end = Math.min(top + ROWS, rows);
    for (let j = 0; j < cols; j++)
      for (let i = top, p = f + top * fRow + j * fCol, q = t + top * tRow + j * tCol; i < end; i++, p += fRow, q += tRow)
        to[q] = from[p] as number;
  }
}
