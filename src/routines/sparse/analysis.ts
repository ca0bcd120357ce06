// The set-up phase on the calling thread: what a schedule needs to know of a triangle before it can solve. plan.ts and storage.ts call
// these; the loops are those of the sparse paper.

import { startOfLines } from "../../arrays/sparse.ts";
import { comesBefore, type HostTriangle } from "../../arrays/triangle.ts";
import { newIntegers } from "../../arrays/vectors.ts";
import type { SparseTriangle } from "../../engines/kernels.ts";

/** How many entries the triangle has strictly within it, and each of its rows or columns. */
export interface Counts {
  readonly entries: number;
  readonly ofLine: Int32Array;
}

/** Count the entries along the lines of A, or across them. */
export function count(triangle: HostTriangle, across: boolean): Counts {
  const { A, n } = triangle;
  const { pointers, indices } = A;
  const before = comesBefore(triangle);
  const ofLine = newIntegers("sptrsv", n);
  let entries = 0;
  for (let l = 0, p = 0; l < n; l++) {
    const end = pointers[l + 1] as number;
    const low = before ? 0 : l + 1;
    const high = before ? l : n;
    const start = entries;
    for (; p < end; p++) {
      const m = indices[p] as number;
      if (m < low || m >= high) continue;
      entries++;
      if (across) ofLine[m] = (ofLine[m] as number) + 1;
    }
    if (!across) ofLine[l] = entries - start;
  }
  return { entries, ofLine };
}

/** The level of every unknown, counted from 0, by the loop of the paper that fits the storage; returns how many there are. */
export function levelsOf(triangle: HostTriangle, lev: Int32Array): number {
  return triangle.byRows ? levelsByRows(triangle, lev) : levelsByColumns(triangle, lev);
}

// lev(i) = 1 + max lev(j), j in row i.
function levelsByRows(triangle: HostTriangle, lev: Int32Array): number {
  const { n, upper } = triangle;
  const { pointers, indices } = triangle.A;
  const before = comesBefore(triangle);
  let count = 0;
  for (let k = 0; k < n; k++) {
    const i = upper ? n - 1 - k : k;
    const end = pointers[i + 1] as number;
    const low = before ? 0 : i + 1;
    const high = before ? i : n;
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
  const before = comesBefore(triangle);
  let count = 0;
  for (let k = 0; k < n; k++) {
    const j = upper ? n - 1 - k : k;
    const next = (lev[j] as number) + 1;
    if (next > count) count = next;
    const end = pointers[j + 1] as number;
    const low = before ? 0 : j + 1;
    const high = before ? j : n;
    for (let p = pointers[j] as number; p < end; p++) {
      const i = indices[p] as number;
      if (i >= low && i < high && (lev[i] as number) < next) lev[i] = next;
    }
  }
  return count;
}

/** lev becomes the place of each unknown in the order of levels, by a counting sort. Returns where the levels begin. */
export function placesOf(lev: Int32Array, count: number): Int32Array {
  const ilev = newIntegers("sptrsv", count + 1);
  const next = startOfLines(lev, ilev);
  for (let i = 0; i < lev.length; i++) {
    const level = lev[i] as number;
    const place = next[level] as number;
    next[level] = place + 1;
    lev[i] = place;
  }
  return ilev;
}

/** Lines of a triangle, to be filled: those of unknowns, or of places in an order by levels. */
export type TriangleEntries = Pick<SparseTriangle, "begins" | "indices" | "values" | "diagonal">;

/**
 * Lines of the triangle that are lines of A, in the natural order: one pass, which takes the diagonal out and finds where
 * they begin. Returns how many unknowns have a diagonal entry that is not zero.
 */
export function copyLines(triangle: HostTriangle, { begins, indices, values, diagonal }: TriangleEntries): number {
  const { A, n } = triangle;
  const { pointers, indices: stored, values: numbers } = A;
  const before = comesBefore(triangle);
  let found = 0;
  let q = 0;
  begins[0] = 0;
  for (let l = 0, p = 0; l < n; l++) {
    const low = before ? 0 : l + 1;
    const high = before ? l : n;
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
 * The entries of the triangle to lines that have been counted, along those of A or across them, in an order of levels or in
 * the natural one. A is read in its own order: the lines of many levels are then written side by side, which caches bear
 * better than reading A by levels. Returns how many unknowns have a diagonal entry that is not zero.
 */
export function fill(triangle: HostTriangle, across: boolean, place: Int32Array | undefined, to: TriangleEntries): number {
  const { A, n } = triangle;
  const { pointers, indices: stored, values: numbers } = A;
  const { begins, indices, values, diagonal } = to;
  const before = comesBefore(triangle);
  const next = across ? newIntegers("sptrsv", n) : begins;
  if (across) next.set(begins.subarray(0, n));
  let found = 0;
  for (let l = 0, p = 0; l < n; l++) {
    const own = place ? (place[l] as number) : l;
    const low = before ? 0 : l + 1;
    const high = before ? l : n;
    const end = pointers[l + 1] as number;
    let q = next[own] as number;
    for (; p < end; p++) {
      const m = stored[p] as number;
      const number = numbers[p] as number;
      if (m >= low && m < high) {
        const other = place ? (place[m] as number) : m;
        if (across) {
          q = next[other] as number;
          next[other] = q + 1;
        }
        indices[q] = across ? own : other;
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
