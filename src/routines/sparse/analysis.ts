// The loops of the set-up phase on the calling thread: counting entries, finding levels (Section 4.1 of the sparse paper) and copying
// a triangle into the order of a schedule. Called by plan.ts, storage.ts, graph.ts and levels.ts. A "line" is a row of a triangle stored by
// rows and a column of one stored by columns; to transpose is to go from one to the other.

import { bucketStarts } from "../../arrays/sparse.ts";
import { type HostTriangle, linesEndAtDiagonal } from "../../arrays/triangle.ts";
import { newIntegers } from "../../arrays/vectors.ts";
import type { SparseTriangle } from "../../engines/kernels.ts";

/** The number of entries of a strict triangle, in all and in each row or column. */
export interface Counts {
  readonly entries: number;
  readonly perLine: Int32Array;
}

/** Count the entries of each line of A, or of its transpose, without the diagonal. */
export function count(triangle: HostTriangle, transpose: boolean): Counts {
  const { A, n } = triangle;
  const { pointers, indices } = A;
  const endsAtDiagonal = linesEndAtDiagonal(triangle);
  const perLine = newIntegers("sptrsv", n);
  let entries = 0;
  for (let l = 0, p = 0; l < n; l++) {
    const end = pointers[l + 1] as number;
    const low = endsAtDiagonal ? 0 : l + 1;
    const high = endsAtDiagonal ? l : n;
    const start = entries;
    for (; p < end; p++) {
      const m = indices[p] as number;
      if (m < low || m >= high) continue;
      entries++;
      if (transpose) perLine[m] = (perLine[m] as number) + 1;
    }
    if (!transpose) perLine[l] = entries - start;
  }
  return { entries, perLine };
}

/** lev := the level of every unknown, from 0, by the loop of the paper that suits the storage. Returns the number of levels. */
export function levelsOf(triangle: HostTriangle, lev: Int32Array): number {
  return triangle.byRows ? levelsByRows(triangle, lev) : levelsByColumns(triangle, lev);
}

// lev(i) = 1 + max lev(j), j in row i.
function levelsByRows(triangle: HostTriangle, lev: Int32Array): number {
  const { n, upper } = triangle;
  const { pointers, indices } = triangle.A;
  const endsAtDiagonal = linesEndAtDiagonal(triangle);
  let count = 0;
  for (let k = 0; k < n; k++) {
    const i = upper ? n - 1 - k : k;
    const end = pointers[i + 1] as number;
    const low = endsAtDiagonal ? 0 : i + 1;
    const high = endsAtDiagonal ? i : n;
    let level = 0;
    for (let p = pointers[i] as number; p < end; p++) {
      const j = indices[p] as number;
      if (j < low || j >= high) continue;
      const next = (lev[j] as number) + 1;
      if (next > level) level = next;
    }
    lev[i] = level;
    if (level >= count) count = level + 1;
  }
  return count;
}

// lev(i) = max(lev(j) + 1, lev(i)), i in column j.
function levelsByColumns(triangle: HostTriangle, lev: Int32Array): number {
  const { n, upper } = triangle;
  const { pointers, indices } = triangle.A;
  const endsAtDiagonal = linesEndAtDiagonal(triangle);
  let count = 0;
  for (let k = 0; k < n; k++) {
    const j = upper ? n - 1 - k : k;
    const next = (lev[j] as number) + 1;
    if (next > count) count = next;
    const end = pointers[j + 1] as number;
    const low = endsAtDiagonal ? 0 : j + 1;
    const high = endsAtDiagonal ? j : n;
    for (let p = pointers[j] as number; p < end; p++) {
      const i = indices[p] as number;
      if (i >= low && i < high && (lev[i] as number) < next) lev[i] = next;
    }
  }
  return count;
}

/** lev := the position of each unknown in the order by levels, by a counting sort. Returns ilev, where the levels begin. */
export function positionsByLevels(lev: Int32Array, count: number): Int32Array {
  const ilev = newIntegers("sptrsv", count + 1);
  const next = bucketStarts(lev, ilev);
  for (let i = 0; i < lev.length; i++) {
    const level = lev[i] as number;
    const position = next[level] as number;
    next[level] = position + 1;
    lev[i] = position;
  }
  return ilev;
}

/** Arrays for the entries of a triangle. Lines are in natural order or in an order by levels. */
export type TriangleEntries = Pick<SparseTriangle, "begins" | "indices" | "values" | "diagonal">;

/**
 * Copies the lines of A without its other triangle, in natural order: one pass, which separates the diagonal and writes `begins`.
 * Returns the number of nonzero diagonal entries.
 */
export function copyLines(triangle: HostTriangle, { begins, indices, values, diagonal }: TriangleEntries): number {
  const { A, n } = triangle;
  const { pointers, indices: stored, values: numbers } = A;
  const endsAtDiagonal = linesEndAtDiagonal(triangle);
  let found = 0;
  let q = 0;
  begins[0] = 0;
  for (let l = 0, p = 0; l < n; l++) {
    const low = endsAtDiagonal ? 0 : l + 1;
    const high = endsAtDiagonal ? l : n;
    const end = pointers[l + 1] as number;
    for (; p < end; p++) {
      const m = stored[p] as number;
      if (m >= low && m < high) {
        indices[q] = m;
        values[q] = numbers[p] as number;
        q++;
      } else if (m === l && diagonal) {
        diagonal[l] = numbers[p] as number;
        if (diagonal[l] !== 0) found++;
      }
    }
    begins[l + 1] = q;
  }
  return found;
}

/**
 * Copies the entries of the triangle, or of its transpose, to lines whose `begins` are known. They are in natural order, or
 * unknown i comes at position[i]. A is read in its own order and the lines of many levels are written at the same time: caches cope with
 * that better than with reading A by levels. Returns the number of nonzero diagonal entries.
 */
export function fill(triangle: HostTriangle, transpose: boolean, position: Int32Array | undefined, to: TriangleEntries): number {
  const { A, n } = triangle;
  const { pointers, indices: stored, values: numbers } = A;
  const { begins, indices, values, diagonal } = to;
  const endsAtDiagonal = linesEndAtDiagonal(triangle);
  const next = transpose ? newIntegers("sptrsv", n) : begins;
  if (transpose) next.set(begins.subarray(0, n));
  let found = 0;
  for (let l = 0, p = 0; l < n; l++) {
    const own = position ? (position[l] as number) : l;
    const low = endsAtDiagonal ? 0 : l + 1;
    const high = endsAtDiagonal ? l : n;
    const end = pointers[l + 1] as number;
    let q = next[own] as number;
    for (; p < end; p++) {
      const m = stored[p] as number;
      const number = numbers[p] as number;
      if (m >= low && m < high) {
        const other = position ? (position[m] as number) : m;
        if (transpose) {
          q = next[other] as number;
          next[other] = q + 1;
        }
        indices[q] = transpose ? own : other;
        values[q] = number;
        q++;
      } else if (m === l && diagonal) {
        diagonal[own] = number;
        if (number !== 0) found++;
      }
    }
  }
  return found;
}
