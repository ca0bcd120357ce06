// A panel of the approximate factorization: up to PANEL columns with their pivots, by one worker or by all, who then have some rows
// each and meet at two barriers per column. The panel is copied to contiguous columns, so that the search for a pivot and the
// division by it read contiguous memory, and rows that are far apart in the matrix do not share cache lines. Recursive in the
// columns: nearly all work is tile() on halves, quarters and eighths of the panel.
import { PANEL_COLUMNS } from "../layout";
import { across, minusProduct, tile } from "./tile";
import { columnsToGroups, columnsToRows, rowsToColumns } from "./transpose";
import { barrier } from "../team";

@inline export const PANEL: i32 = PANEL_COLUMNS;
@inline const UNBLOCKED: i32 = 4; // columns to eliminate one by one

// The copy: its address, the bytes of a column, its rows, and its columns that have a pivot. Rows after the last are zero.
let P: usize = 0, step: usize = 0, rows: i32 = 0, columns: i32 = 0;
let packedU: usize = 0; // in groups of four columns
let pivots: usize = 0, first: i32 = 0; // pivots are row indices of the whole matrix; row 0 of the copy is its row `first`
let smallest: f64 = 0, largest: f64 = 0;
// The workers, and the rows [from, to) of this one; worker 0 has the rows of all pivots. Each worker's candidate for a pivot is in its
// slot.
let job: usize = 0, worker: i32 = 0, workers: i32 = 1, from: i32 = 0, to: i32 = 0, slots: usize = 0;
@inline const SLOT: usize = 16;
@inline const MAX_WORKERS: usize = 1024;
@inline const ROW: usize = 8; // offset of the row in a slot, after the magnitude

function sync(): void { if (workers > 1) barrier(job, 0); }

/** The smallest and the largest magnitude among the pivots of the last panel. */
@inline export function smallestPivot(): f64 { return smallest; }
@inline export function largestPivot(): f64 { return largest; }

@inline function paddedRows(count: i32): i32 { return (count + 7) & ~7; }
// Tiles read and write up to seven rows after the last. An odd number of cache lines per column avoids conflicts in the cache.
@inline export function columnStep<T>(count: i32): usize { return (((<usize>paddedRows(count) + 8) * sizeof<T>() + 63) & ~63) | 64; }
/** Bytes of workspace. */
export function panelWork<T>(count: i32): usize { return <usize>PANEL * columnStep<T>(count) + PANEL / 2 * (PANEL / 2) * sizeof<T>() + MAX_WORKERS * SLOT; }

@inline function at<T>(i: i32, j: i32): usize { return P + <usize>j * step + <usize>i * sizeof<T>(); }

@inline function largestLane<T>(v: v128): T {
  const maxima = max<T>(v128.extract_lane<T>(v, 0), v128.extract_lane<T>(v, 1));
  return sizeof<T>() == 4 ? max<T>(maxima, max<T>(v128.extract_lane<T>(v, 2), v128.extract_lane<T>(v, 3))) : maxima;
}

// The largest magnitudes, lane by lane. NaN is ignored.
function magnitudes<T>(p: usize, end: usize): v128 {
  let maxima = v128.splat<T>(0);
  for (; p < end; p += 16) maxima = v128.pmax<T>(maxima, v128.abs<T>(v128.load(p)));
  return maxima;
}
// The index of the first number of this magnitude.
function indexOf<T>(p: usize, size: T): i32 {
  const from = p, sought = v128.splat<T>(size);
  while (true) {
    const same = v128.eq<T>(v128.abs<T>(v128.load(p)), sought);
    if (v128.any_true(same)) return <i32>((p - from) / sizeof<T>()) + ctz(sizeof<T>() == 4 ? i32x4.bitmask(same) : i64x2.bitmask(same));
    p += 16;
  }
}

function swapRows<T>(i: i32, k: i32): void {
  let p = at<T>(i, 0), q = at<T>(k, 0);
  for (let j = 0; j < PANEL; ++j, p += step, q += step) {
    const t = load<T>(p);
    store<T>(p, load<T>(q));
    store<T>(q, t);
  }
}

// Divide a column by its pivot and subtract the products from the `rest` columns to its right. Returns the largest magnitudes of the
// next column. A vector must not reach into rows of another worker, so the rows before the first aligned vector go one by one.
@inline function eliminate<T>(p: usize, end: usize, pivot: usize, rest: i32): v128 {
  let single: T = 0;
  for (; (p & 15) != 0 && p < end; p += sizeof<T>()) {
    const l = load<T>(p) / load<T>(pivot);
    store<T>(p, l);
    for (let r = <usize>rest * step; r != 0; r -= step) {
      const x = load<T>(p + r) - l * load<T>(pivot + r);
      store<T>(p + r, x);
      if (r == step && abs<T>(x) > single) single = abs<T>(x);
    }
  }
  const d = v128.load_splat<T>(pivot);
  const u1 = rest > 0 ? v128.load_splat<T>(pivot + step) : d, u2 = rest > 1 ? v128.load_splat<T>(pivot + 2 * step) : d, u3 = rest > 2 ? v128.load_splat<T>(pivot + 3 * step) : d;
  let maxima = v128.splat<T>(single);
  for (; p < end; p += 16) {
    const l = v128.div<T>(v128.load(p), d);
    v128.store(p, l);
    if (rest > 0) {
      const q = p + step, x = minusProduct<T>(v128.load(q), l, u1);
      v128.store(q, x);
      maxima = v128.pmax<T>(maxima, v128.abs<T>(x));
    }
    if (rest > 1) { const q = p + 2 * step; v128.store(q, minusProduct<T>(v128.load(q), l, u2)); }
    if (rest > 2) { const q = p + 3 * step; v128.store(q, minusProduct<T>(v128.load(q), l, u3)); }
  }
  return maxima;
}

// Choose the pivot of column j, given the largest magnitudes of this worker's rows from `start` on, and swap its row into place. False
// if it is 0 or not finite.
function choosePivot<T>(j: i32, start: i32, maxima: v128): bool {
  const own = largestLane<T>(maxima), slot = slots + <usize>worker * SLOT;
  const usable = own > 0 && own < <T>Infinity;
  f64.store(slot, <f64>own);
  i32.store(slot, usable ? start + indexOf<T>(at<T>(start, j), own) : start, ROW);
  sync();
  let size: f64 = 0, k = j;
  for (let p = slots, end = slots + <usize>workers * SLOT; p != end; p += SLOT) {
    if (f64.load(p) <= size) continue;
    size = f64.load(p);
    k = i32.load(p, ROW);
  }
  if (!(size > 0 && size < Infinity)) return false;
  smallest = min(smallest, size);
  largest = max(largest, size);
  if (worker == 0) {
    store<i32>(pivots + (<usize>(first + j) << 2), first + k);
    if (k != j) swapRows<T>(j, k);
  }
  sync();
  return true;
}

// Factor UNBLOCKED columns from c on. Returns -1, or the column whose pivot is 0 or not finite.
function factorUnblocked<T>(c: i32): i32 {
  const bottom = <usize>min(to, rows) * sizeof<T>();
  let maxima = magnitudes<T>(at<T>(max(c, from), c), P + <usize>c * step + bottom);
  for (let j = c, end = min(c + UNBLOCKED, columns); j < end; ++j) {
    if (!choosePivot<T>(j, max(j, from), maxima)) return j;
    const p = at<T>(max(j + 1, from), j), q = P + <usize>j * step + bottom, pivot = at<T>(j, j);
    switch (c + UNBLOCKED - 1 - j) {
      case 0: eliminate<T>(p, q, pivot, 0); break;
      case 1: maxima = eliminate<T>(p, q, pivot, 1); break;
      case 2: maxima = eliminate<T>(p, q, pivot, 2); break;
      default: maxima = eliminate<T>(p, q, pivot, 3); break;
    }
  }
  return -1;
}

// The same for `width` columns from c on.
function factor<T>(c: i32, width: i32): i32 {
  if (width == UNBLOCKED) return factorUnblocked<T>(c);
  const half = width >> 1, right = c + half;
  const badColumn = factor<T>(c, half);
  if (badColumn >= 0 || right >= columns) return badColumn;
  if (worker == 0) solveU<T>(c, half);
  sync();
  for (let i = max(right & -across<T>(), from), end = min(to, rows); i < end; i += across<T>()) {
    for (let j = 0; j < half; j += 4) updateTile<T>(packedU + <usize>(j * half) * sizeof<T>(), c, half, i, right + j, right);
  }
  return factor<T>(right, half);
}

// Update the tile at (i, j). The upper half of the first tile may be rows of U, which must not change.
@inline function updateTile<T>(u: usize, c: i32, half: i32, i: i32, j: i32, right: i32): void {
  const p = at<T>(i, j);
  if (i >= right) {
    tile<T>(u, at<T>(i, c), step, p, step, half);
    return;
  }
  const a = v128.load(p), b = v128.load(p + step), e = v128.load(p + 2 * step), f = v128.load(p + 3 * step);
  tile<T>(u, at<T>(i, c), step, p, step, half);
  v128.store(p, a); v128.store(p + step, b); v128.store(p + 2 * step, e); v128.store(p + 3 * step, f);
}

// Solve for the `half` by `half` block of U at (c, c + half), and pack it. Missing rows of a short panel are zero.
function solveU<T>(c: i32, half: i32): void {
  for (let j = 0; j < half; ++j) {
    const x = at<T>(c, c + half + j), to = packedU + <usize>((j >> 2) * 4 * half + (j & 3)) * sizeof<T>();
    for (let k = 0; k < half; ++k) {
      const u = load<T>(x + <usize>k * sizeof<T>());
      store<T>(to + <usize>(4 * k) * sizeof<T>(), u);
      const l = at<T>(c, c + k), all = <usize>half * sizeof<T>(), us = v128.splat<T>(u);
      let o = <usize>(k + 1) * sizeof<T>();
      for (; (o & 15) != 0; o += sizeof<T>()) store<T>(x + o, load<T>(x + o) - load<T>(l + o) * u);
      for (; o < all; o += 16) v128.store(x + o, minusProduct<T>(v128.load(x + o), v128.load(l + o), us));
    }
  }
}

/** Set the workers of the next panels: this one is number `index` of `count`, who all call panel(). */
export function setWorkers(theJob: usize, index: i32, count: i32): void { job = theJob; worker = index; workers = count; }

/**
 * Factor the panel of W, m rows that are `rowStride` bytes apart, whose first column is `column`, and pack it in groups of four rows.
 * Returns -1, or the column (of W) whose pivot is badColumn.
 */
export function panel<T>(W: usize, rowStride: usize, m: i32, n: i32, column: i32, packed: usize, work: usize, pivotsAt: usize): i32 {
  first = column; rows = m - first; columns = min(PANEL, n - first); pivots = pivotsAt;
  P = work; step = columnStep<T>(m);
  packedU = P + <usize>PANEL * step;
  slots = packedU + PANEL / 2 * (PANEL / 2) * sizeof<T>();
  smallest = Infinity; largest = 0;
  const count = paddedRows(m) - first, share = max(PANEL, ((count + workers - 1) / workers + 15) & ~15);
  from = min(worker * share, count);
  to = min(from + share, count);
  const row = W + <usize>(first + from) * rowStride + <usize>first * sizeof<T>(), wide = columns + 3 & ~3;
  for (let j = 0; j < PANEL; ++j) {
    if (j >= wide) memory.fill(at<T>(from, j), 0, <usize>(to - from) * sizeof<T>());
    if (worker == 0) memory.fill(at<T>(count, j), 0, 8 * sizeof<T>());
  }
  rowsToColumns<T>(row, rowStride, at<T>(from, 0), step, to - from, wide);
  const badColumn = factor<T>(0, PANEL);
  if (badColumn >= 0) return first + badColumn;
  columnsToRows<T>(at<T>(from, 0), step, row, rowStride, to - from, wide);
  columnsToGroups<T>(at<T>(from, 0), step, packed + <usize>from * PANEL * sizeof<T>(), to - from, PANEL);
  return -1;
}
