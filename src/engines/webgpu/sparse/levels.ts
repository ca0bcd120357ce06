// The levels of a triangle, and its rows in their order, found on the calling thread (Section 4.1 of the sparse paper). Called by plan.ts and
// ilu0.ts.
import { newIntegers } from "../../../arrays/vectors.ts";
import type { TriangleRows } from "./hostSystem.ts";

/** Level m has the lines order[starts[m]] to order[starts[m + 1] - 1]. */
export interface Levels {
  readonly starts: Int32Array;
  readonly order: Int32Array;
}

/** The rows of a triangle by levels: line k is the row of unknown order[k]. */
export interface RowsByLevels extends TriangleRows, Levels {}

/** The rows of a triangle in the order of their levels. */
export function byLevels(rows: TriangleRows, upper: boolean): RowsByLevels {
  const levels = levelsOf(rows.begins, rows.begins.subarray(1), rows.columns, upper);
  return { ...levels, ...reordered(rows, levels.order) };
}

/** lev(i) = 1 + max lev(j), for the columns j that row i has from begins[i] to ends[i] - 1. */
export function levelsOf(begins: Int32Array, ends: Int32Array, columns: Int32Array, upper: boolean): Levels {
  const n = begins.length - 1;
  const level = newIntegers("sptrsv", n);
  let count = 0;
  for (let k = 0; k < n; k++) {
    const i = upper ? n - 1 - k : k;
    let own = 0;
    for (let e = begins[i] as number; e < (ends[i] as number); e++) own = Math.max(own, (level[columns[e] as number] as number) + 1);
    level[i] = own;
    count = Math.max(count, own + 1);
  }
  const starts = newIntegers("sptrsv", count + 1);
  for (const own of level) starts[own + 1] = (starts[own + 1] as number) + 1;
  for (let m = 0; m < count; m++) starts[m + 1] = (starts[m + 1] as number) + (starts[m] as number);
  const next = starts.slice();
  const order = newIntegers("sptrsv", n);
  for (let i = 0; i < n; i++) {
    const own = level[i] as number;
    const at = next[own] as number;
    next[own] = at + 1;
    order[at] = i;
  }
  return { starts, order };
}

function reordered({ begins, columns, source, diagonalAt }: TriangleRows, order: Int32Array): TriangleRows {
  const n = order.length;
  const moved = {
    begins: newIntegers("sptrsv", n + 1),
    columns: newIntegers("sptrsv", columns.length),
    source: newIntegers("sptrsv", columns.length),
    diagonalAt, // by unknowns
  };
  for (let k = 0, at = 0; k < n; k++) {
    const i = order[k] as number;
    const [from, to] = [begins[i] as number, begins[i + 1] as number];
    moved.columns.set(columns.subarray(from, to), at);
    moved.source.set(source.subarray(from, to), at);
    at += to - from;
    moved.begins[k + 1] = at;
  }
  return moved;
}
