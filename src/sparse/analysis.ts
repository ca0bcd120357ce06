import { newIntegers } from "../dense/vectors.ts";
import { SingularError } from "../errors.ts";
import type { Real, Sparse } from "../types.ts";
import { startOfLines } from "./formats.ts";

// The set-up phase: what a schedule needs to know of a triangle before it can solve. T is A, or its transpose, without the
// entries of the other triangle. Its entries are stored in lines: those of A, which are rows of T or columns of T.

/** A triangle of a sparse matrix where it is stored. */
export interface Stored {
  readonly A: Sparse<Real>;
  readonly n: number;
  readonly upper: boolean; // whether T is upper triangular
  readonly byRows: boolean; // whether the lines of A are rows of T
  readonly unit: boolean;
}

/** Whether the entries of the triangle come before the diagonal in their line. */
export const comesBefore = ({ upper, byRows }: Stored): boolean => byRows !== upper;

/** What one pass over the pattern finds. */
export interface Counts {
  readonly entries: number; // strictly within the triangle
  /** How many of them each line has, or each line across those. */
  readonly ofLine: Int32Array;
  /** Where in A.values the diagonal is, by unknown. */
  readonly diagonal: Int32Array | undefined;
}

/**
 * Count the entries, along the lines of A or across them, and find the diagonal. Throws a SingularError for the first
 * unknown that has none, or a zero.
 */
export function count(triangle: Stored, across: boolean): Counts {
  const { A, n, unit } = triangle;
  const { pointers, indices, values } = A;
  const before = comesBefore(triangle);
  const ofLine = newIntegers("sptrsv", n);
  const diagonal = unit ? undefined : newIntegers("sptrsv", n);
  let entries = 0;
  for (let l = 0, p = 0; l < n; l++) {
    const end = pointers[l + 1] as number;
    let inside = 0;
    let found = -1;
    for (; p < end; p++) {
      const m = indices[p] as number;
      if (m === l) found = p;
      else if (m < l === before) {
        inside++;
        if (across) ofLine[m] = (ofLine[m] as number) + 1;
      }
    }
    if (!across) ofLine[l] = inside;
    entries += inside;
    if (!diagonal) continue;
    if (found < 0) throw new SingularError(`sptrsv: A has no entry (${l}, ${l}), expected a diagonal without gaps or unit: true`, l);
    if (values[found] === 0) throw new SingularError(`sptrsv: entry (${l}, ${l}) of A is 0, expected a diagonal without zeros`, l);
    diagonal[l] = found;
  }
  return { entries, ofLine, diagonal };
}

/** The level of every unknown, counted from 0, by the loop of the paper that fits the storage; returns how many there are. */
export function levelsOf(triangle: Stored, lev: Int32Array): number {
  return triangle.byRows ? levelsByRows(triangle, lev) : levelsByColumns(triangle, lev);
}

// lev(i) = 1 + max lev(j), j in row i.
function levelsByRows(triangle: Stored, lev: Int32Array): number {
  const { pointers, indices } = triangle.A;
  const before = comesBefore(triangle);
  let count = 0;
  for (let k = 0; k < triangle.n; k++) {
    const i = triangle.upper ? triangle.n - 1 - k : k;
    const end = pointers[i + 1] as number;
    let level = 0;
    for (let p = pointers[i] as number; p < end; p++) {
      const j = indices[p] as number;
      if (j !== i && j < i === before) {
        const next = (lev[j] as number) + 1;
        if (next > level) level = next;
      }
    }
    lev[i] = level;
    if (level >= count) count = level + 1;
  }
  return count;
}

// lev(i) = max(lev(j) + 1, lev(i)), i in column j.
function levelsByColumns(triangle: Stored, lev: Int32Array): number {
  const { pointers, indices } = triangle.A;
  const before = comesBefore(triangle);
  let count = 0;
  for (let k = 0; k < triangle.n; k++) {
    const j = triangle.upper ? triangle.n - 1 - k : k;
    const next = (lev[j] as number) + 1;
    if (next > count) count = next;
    const end = pointers[j + 1] as number;
    for (let p = pointers[j] as number; p < end; p++) {
      const i = indices[p] as number;
      if (i !== j && i < j === before && (lev[i] as number) < next) lev[i] = next;
    }
  }
  return count;
}

/** Where each unknown comes in the order of levels, and where the levels begin. A counting sort. */
export function placesOf(lev: Int32Array, count: number): { place: Int32Array; ilev: Int32Array } {
  const ilev = newIntegers("sptrsv", count + 1);
  const place = newIntegers("sptrsv", lev.length);
  const next = startOfLines(lev, ilev);
  for (let i = 0; i < lev.length; i++) {
    const level = lev[i] as number;
    const k = next[level] as number;
    next[level] = k + 1;
    place[i] = k;
  }
  return { place, ilev };
}
