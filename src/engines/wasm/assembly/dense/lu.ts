// P A = L U with partial pivoting (the LU paper), with the bits of the unblocked left-looking algorithm: every entry is one sum,
// rounded once, so the order of work is free. Left-looking by blocks of columns: for a block, U above the diagonal (each group of
// eight columns by itself, rows in blocks), then all products for the rows below, then the panel with its pivot steps. Nearly all of
// the work is strip() on packed rows of U. One worker factors the panel; meanwhile the others begin with the next block: the part of
// U above the rows that the panel changes. (Without that overlap, two threads are only 1.3 times as fast as one
// at n = 1024.)
// luEntries.ts explains why sums need no check.
import { JOB_A, JOB_FAILED, JOB_FROM, JOB_INFO, JOB_K, JOB_M, JOB_N, JOB_PIVOTS, JOB_SINGLE, JOB_TO, JOB_WORK, JOB_WORK_SIZE, LU_BLOCK } from "../layout";
import { COLUMN, boundAfter, coarserGrid, decided, decidedQuickly, exactEntry, fits, placeColumn } from "./luEntries";
import { bitBytes, meet, setBit } from "./nonzeros";
import { SUMS, Unchecked, moveSum, startSum, strip } from "./strip";
import { addressAt, barrier, i32At, take } from "../team";

@inline const WIDTH: i32 = LU_BLOCK;
@inline const GROUPS: i32 = WIDTH / 8;
@inline const BLOCK_ROWS: i32 = 32; // rows in a block above the diagonal
@inline export const DEPTH: i32 = 256; // rows of U at a time: 16 KiB for eight columns, which stay in the L1 cache
@inline const ROWS: i32 = 32; // rows that a worker takes at a time

// The current matrix, m by n, row by row, factored in place, and the workspace: the sums of a block of columns, packed rows of U, for
// each column its grid, its sum of magnitudes and the number of its moves, the nonzero entries of the columns of U and of the rows of L
// (nonzeros.ts), one row of U, and the largest magnitude of each column.
let W: usize = 0, m: i32 = 0, n: i32 = 0, single: bool = false;
let sums: usize = 0, packed: usize = 0, columns: usize = 0, nonzeroL: usize = 0, pivotRow: usize = 0, columnMaxima: usize = 0;
let groups: i32 = 0; // groups of eight columns in the current block, fewer than GROUPS at the right edge
let spaces: usize = 0; // packed U and the records of the columns, for two blocks that alternate
let job: usize = 0;
let failed: usize = 0; // where to report an entry that overflowed: 1 + its index in the data, or 0

@inline function at(i: i32, j: i32): usize { return W + ((<usize>i * <usize>n + <usize>j) << 3); }
@inline function sumsOf(i: i32, group: i32): usize { return sums + (<usize>i * GROUPS + group) * SUMS; }
@inline function packedAt(group: i32, k: i32): usize { return packed + (<usize>(group * min(m, n) + k) << 6); }
@inline function columnAt(lane: i32): usize { return columns + lane * COLUMN; }

@inline function nonzerosL(i: i32): usize { return nonzeroL + <usize>i * bitBytes(min(m, n)); }
@inline function nonzerosU(lane: i32): usize { return columns + WIDTH * COLUMN + <usize>lane * bitBytes(min(m, n)); }
@inline function nonzerosOf(group: i32): usize { return nonzerosU(WIDTH + group); } // of any of its columns

@inline function blockSpace(steps: i32): usize { return <usize>steps * (GROUPS * 64) + WIDTH * COLUMN + (WIDTH + GROUPS) * bitBytes(steps); }

// Bytes of workspace for a matrix.
export function luWork(rows: i32, cols: i32): usize {
  return <usize>rows * (GROUPS * SUMS) + 2 * blockSpace(min(rows, cols)) + <usize>rows * bitBytes(min(rows, cols)) + WIDTH * 8 + 8 + (<usize>cols << 3);
}

function setMatrix(theJob: usize, data: usize, work: usize): void {
  job = theJob; W = data; m = i32At(job, JOB_M); n = i32At(job, JOB_N); single = i32At(job, JOB_SINGLE) != 0;
  sums = work;
  spaces = sums + <usize>m * (GROUPS * SUMS);
  nonzeroL = spaces + 2 * blockSpace(min(m, n));
  pivotRow = nonzerosL(m);
  columnMaxima = pivotRow + WIDTH * 8 + 8;
}

// Before the factorization: L has no entries yet. Find the largest magnitude in every column, which no row swap changes.
function initialize(): void {
  memory.fill(nonzeroL, 0, <usize>m * bitBytes(min(m, n)));
  memory.fill(columnMaxima, 0, <usize>n << 3);
  const even = (<usize>n & ~1) << 3;
  for (let i = 0; i < m; ++i) {
    const row = at(i, 0);
    for (let j = <usize>0; j < even; j += 16) v128.store(columnMaxima + j, f64x2.pmax(v128.load(columnMaxima + j), f64x2.abs(v128.load(row + j))));
    if ((n & 1) != 0) f64.store(columnMaxima + even, max(f64.load(columnMaxima + even), abs(f64.load(row + even))));
  }
}

// Select the workspace of the block of columns that starts at `first`.
function useBlock(first: i32): void {
  packed = spaces + ((first / WIDTH) & 1) * blockSpace(min(m, n));
  columns = packed + <usize>min(m, n) * (GROUPS * 64);
  groups = min(GROUPS, (n - first + 7) >> 3);
}

// Entry (i, j), in this lane of the block, from its sum over the first N products; settled from scratch if that does not decide it.
@inline function entry(i: i32, j: i32, lane: i32, N: i32, bound: f64): f64 {
  const v = decidedQuickly(sumsOf(i, lane >> 3) + ((lane & 7) << 3), columnAt(lane), bound, single);
  return v == v ? v : settleEntry(i, j, lane, N, bound);
}
function settleEntry(i: i32, j: i32, lane: i32, N: i32, bound: f64): f64 {
  const lane8 = (lane & 7) << 3, a = f64.load(at(i, j)), hasProducts = meet(nonzerosL(i), nonzerosU(lane), N);
  let v = decided(sumsOf(i, lane >> 3) + lane8, columnAt(lane), bound, a, hasProducts, single);
  if (v != v) v = exactEntry(a, at(i, 0), packedAt(lane >> 3, 0) + lane8, N, single);
  if (!(v - v == 0)) reportOverflow(failed, <i32>((at(i, j) - addressAt(job, JOB_A)) >> 3));
  return v;
}

// Report an entry that overflowed. Of several, the first in the order of the unblocked algorithm, column by column, is kept.
function reportOverflow(to: usize, index: i32): void {
  while (true) {
    const old = atomic.load<i32>(to);
    if (old != 0 && !comesBefore(index, old - 1)) return;
    if (atomic.cmpxchg<i32>(to, old, index + 1) == old) return;
  }
}
function comesBefore(a: i32, b: i32): bool {
  const size = m * n;
  return a / size != b / size ? a < b : a % n != b % n ? a % n < b % n : a < b;
}
// Whether an entry of this column has overflowed.
@inline function hasFailed(j: i32): bool { return i32.load(failed) != 0 && (i32.load(failed) - 1) % n == j; }

// Place the grids of a group of columns.
function placeColumns(first: i32, group: i32): void {
  for (let lane = 8 * group; lane < 8 * group + 8; ++lane) {
    const j = first + lane;
    placeColumn(columnAt(lane), j < n ? f64.load(columnMaxima + (<usize>j << 3)) : 0, min(m, n));
  }
  memory.fill(nonzerosU(8 * group), 0, 8 * bitBytes(min(m, n)));
  memory.fill(nonzerosOf(group), 0, bitBytes(min(m, n)));
}

// Move the sums of rows [from, to) to a coarser grid.
function coarsen(lane: i32, from: i32, to: i32): void {
  const old = f64.load(columnAt(lane)), G = coarserGrid(columnAt(lane));
  for (let i = from; i < to; ++i) {
    moveSum(sumsOf(i, lane >> 3) + ((lane & 7) << 3), old, G);
  }
}

// Start the sums of a group at the entries of row i.
function startSums(i: i32, first: i32, group: i32): void {
  for (let lane = 8 * group; lane < 8 * group + 8; ++lane) {
    const p = sumsOf(i, group) + ((lane & 7) << 3), G = f64.load(columnAt(lane)), a = first + lane < n ? f64.load(at(i, first + lane)) : 0;
    startSum(p, a, G);
  }
}

// Subtract the products with rows [k, k + count) of U from the sums of rows [from, to), except where all of them are zero.
function subtractProducts(group: i32, from: i32, to: i32, k: i32, count: i32): void {
  for (; count > 0; k += DEPTH, count -= DEPTH) {
    const depth = min(DEPTH, count), pb = packedAt(group, k), bits = bitBytes(k & ~127), bitCount = (k & 127) + depth;
    for (let i = from; i < to; ++i)
      if (meet(nonzerosL(i) + bits, nonzerosOf(group) + bits, bitCount)) strip<f64, Unchecked>(at(i, k), 8, pb, 64, depth, sumsOf(i, group));
  }
}

// Rows [from, to) of U above the diagonal block, for one group of columns.
function solveAbove(first: i32, group: i32, from: i32, to: i32): void {
  const end = min(to, m);
  if (from == 0) placeColumns(first, group);
  for (let top = from; top < end; top += BLOCK_ROWS) {
    const bottom = min(top + BLOCK_ROWS, end);
    for (let i = top; i < bottom; ++i) startSums(i, first, group);
    subtractProducts(group, top, bottom, 0, top);
    for (let i = top; i < bottom; ++i) {
      subtractProducts(group, i, i + 1, top, i - top);
      finishRow(i, first, 8 * group, 8 * group + 8, bottom);
    }
  }
}

// Compute and pack row i of U in these lanes. Columns that no longer fit their grid move to a coarser one, in the rows up to `end`.
function finishRow(i: i32, first: i32, lane: i32, lanes: i32, end: i32): void {
  for (; lane < lanes; ++lane) {
    let u: f64 = 0;
    if (first + lane < n) {
      u = entry(i, first + lane, lane, i, boundAfter(columnAt(lane), i));
      f64.store(at(i, first + lane), u);
    }
    f64.store(packedAt(lane >> 3, i) + ((lane & 7) << 3), u);
    if (u != 0) { setBit(nonzerosU(lane), i); setBit(nonzerosOf(lane >> 3), i); }
    if (!fits(columnAt(lane), u)) coarsen(lane, i + 1, end);
  }
}

export function swapMemory(p: usize, q: usize, bytes: usize): void {
  for (const end = p + (bytes & ~15); p < end; p += 16, q += 16) {
    const t = v128.load(p);
    v128.store(p, v128.load(q));
    v128.store(q, t);
  }
  if ((bytes & 8) != 0) {
    const t = i64.load(p);
    i64.store(p, i64.load(q));
    i64.store(q, t);
  }
}
function swapRows(i: i32, k: i32): void {
  swapMemory(at(i, 0), at(k, 0), <usize>n << 3);
  swapMemory(sumsOf(i, 0), sumsOf(k, 0), groups * SUMS);
  swapMemory(nonzerosL(i), nonzerosL(k), bitBytes(min(m, n)));
}

// One pivot step: column j of L and U, and its products in the lanes of its group. False if the pivot is zero.
function pivotStep(j: i32, first: i32, lane: i32, pivots: usize): bool {
  const group = lane >> 3, end = 8 * group + 8;
  const bound = boundAfter(columnAt(lane), j);
  let pivot = j, largest: f64 = -1;
  for (let i = j; i < m; ++i) {
    const v = entry(i, j, lane, j, bound);
    f64.store(at(i, j), v);
    if (abs(v) > largest) { largest = abs(v); pivot = i; }
  }
  if (hasFailed(j)) return true;
  i32.store(pivots + (<usize>j << 2), pivot);
  if (largest == 0) return false;
  if (pivot != j) swapRows(j, pivot);
  const u = f64.load(at(j, j));
  for (let i = j + 1; i < m; ++i) {
    const s = f64.load(at(i, j)), l = single ? <f64>(<f32>s / <f32>u) : s / u;
    f64.store(at(i, j), s == 0 ? 0 : l);
    if (l != 0) setBit(nonzerosL(i), j);
  }
  f64.store(packedAt(group, j) + ((lane & 7) << 3), u);
  finishRow(j, first, lane + 1, end, m);
  // Finished columns have a zero here, so that the update leaves their lanes unchanged.
  for (let k = 8 * group; k < end; ++k) f64.store(pivotRow + ((k & 7) << 3), k > lane ? f64.load(packedAt(group, j) + ((k & 7) << 3)) : 0);
  if (lane + 1 < end) for (let i = j + 1; i < m; ++i) strip<f64, Unchecked>(at(i, j), 8, pivotRow, 64, 1, sumsOf(i, group));
  return true;
}

// The pivot steps of a block, a group of eight columns at a time; the groups after it get the products with all eight columns at
// once. Returns 0, or 1 + the column of a zero pivot.
function panel(first: i32, pivots: usize): i32 {
  const lanes = min(WIDTH, n - first);
  for (let lane = 0; lane < lanes; lane += 8) {
    const top = first + lane, bottom = min(top + min(8, lanes - lane), m);
    for (let j = top; j < bottom; ++j) {
      if (!pivotStep(j, first, j - first, pivots)) {
        i32.store(failed, 0); // an overflow in a later column does not count
        return 1 + j;
      }
      if (hasFailed(j)) return 0;
    }
    for (let group = (lane >> 3) + 1; group < groups; ++group) {
      for (let i = top; i < bottom; ++i) {
        subtractProducts(group, i, i + 1, top, i - top);
        finishRow(i, first, 8 * group, 8 * group + 8, m);
      }
      subtractProducts(group, bottom, m, top, bottom - top);
    }
  }
  return 0;
}

// Rows [from, to) of U for groups of a block, as long as there are groups that nobody has taken.
function solveGroups(first: i32, from: i32, to: i32): void {
  useBlock(first);
  while (true) {
    const group = take(job, 1);
    if (group >= groups) return;
    solveAbove(first, group, from, to);
  }
}

// Columns JOB_FROM to JOB_TO of one matrix, whole blocks, by all workers. The work on the next block, begun beside the last panel, stays
// in the workspace.
export function lu(theJob: usize, worker: i32): void {
  setMatrix(theJob, addressAt(theJob, JOB_A), addressAt(theJob, JOB_WORK));
  failed = job + JOB_FAILED;
  const info = addressAt(job, JOB_INFO), start = i32At(job, JOB_FROM), end = i32At(job, JOB_TO);
  if (worker == 0 && start == 0) initialize();
  for (let first = start; first < end; first += WIDTH) {
    barrier(job, 0);
    // The rows that the previous panel has changed. (Those above were computed beside it.)
    solveGroups(first, max(first - WIDTH, 0), first);
    barrier(job, first);
    while (first < m) {
      const from = take(job, ROWS), to = min(from + ROWS, m);
      if (from >= m) break;
      for (let group = 0; group < groups; ++group) {
        for (let i = from; i < to; ++i) startSums(i, first, group);
        subtractProducts(group, from, to, 0, first);
      }
    }
    barrier(job, 0);
    if (worker == 0) i32.store(info, panel(first, addressAt(job, JOB_PIVOTS)));
    if (first + WIDTH < n) solveGroups(first + WIDTH, 0, first);
    barrier(job, 0);
    if (i32.load(info) != 0) {
      if (worker == 0) i32.store(failed, 0); // a zero pivot comes before an overflow in the next block
      return;
    }
    if (i32.load(failed) != 0 && (i32.load(failed) - 1) % n < first + WIDTH) return;
  }
}

// JOB_K matrices, each by one worker.
export function luBatch(theJob: usize, worker: i32): void {
  const count = i32At(theJob, JOB_K), work = addressAt(theJob, JOB_WORK) + <usize>worker * addressAt(theJob, JOB_WORK_SIZE);
  while (true) {
    const k = take(theJob, 1);
    if (k >= count || i32At(theJob, JOB_FAILED) != 0) return;
    setMatrix(theJob, addressAt(theJob, JOB_A), work);
    W += (<usize>k * <usize>m * <usize>n) << 3;
    failed = pivotRow + WIDTH * 8;
    i32.store(failed, 0);
    initialize();
    let info = 0;
    for (let first = 0; first < n && info == 0 && i32.load(failed) == 0; first += WIDTH) {
      useBlock(first);
      for (let group = 0; group < groups; ++group) {
        solveAbove(first, group, 0, first);
        for (let i = first; i < m; ++i) startSums(i, first, group);
        subtractProducts(group, first, m, 0, first);
      }
      info = panel(first, addressAt(job, JOB_PIVOTS) + (<usize>k * <usize>min(m, n) << 2));
    }
    i32.store(addressAt(job, JOB_INFO) + (<usize>k << 2), info);
    if (i32.load(failed) != 0) reportOverflow(job + JOB_FAILED, i32.load(failed) - 1);
  }
}
