// P A = L U with partial pivoting (the LU paper), with the bits of the unblocked left-looking algorithm: every entry is one sum,
// rounded once, so the order of work is free. The order is that of Crout, by blocks of columns: for a block, the rows of U that belong
// to the panel before it, in all columns to the right, then all products for the rows below, then the panel with its pivot steps. Nearly
// all of the work is strip() on packed rows of U. One worker factors the panel; meanwhile the others finish the rows of U in the columns
// that the panel does not need. (In left-looking order only the rows of U in the next block can overlap with the panel, for at most
// four workers: half of all products.)
// luEntries.ts explains why sums need no check.
import { frame } from "../frame";
import { JOB_A, JOB_DONE, JOB_FAILED, JOB_FROM, JOB_INFO, JOB_K, JOB_M, JOB_N, JOB_PIVOTS, JOB_SINGLE, JOB_TO, JOB_WORK, JOB_WORK_SIZE, JOB_WORKERS, LU_BLOCK, SCRATCH_Y } from "../layout";
import { deepSums } from "./deepSums";
import { COLUMN, SPLIT, boundAfter, coarserGrid, decided, decidedQuickly, exactEntry, fits, needsFinerGrid, placeColumn, refineGrid } from "./luEntries";
import { bitBytes, meet, setBit } from "./nonzeros";
import { SUMS, Unchecked, moveSum, startSum, strip, subtractProduct } from "./strip";
import { addressAt, barrier, i32At, take, waitForMore, wake } from "../team";

@inline const WIDTH: i32 = LU_BLOCK;
@inline const GROUPS: i32 = WIDTH / 8;
@inline const BLOCK_ROWS: i32 = 32; // rows in a block above the diagonal
@inline export const DEPTH: i32 = 256; // rows of U at a time: 16 KiB for eight columns, which stay in the L1 cache
@inline const ROWS: i32 = 32; // rows that a worker takes at a time

// The current matrix, m by n, row by row, factored in place, and the workspace: the sums of a block of columns, packed columns of U, for
// each column its grid, its sum of magnitudes and the number of its moves, the nonzero entries of the columns of U and of the rows of L
// (nonzeros.ts), one row of U, and the largest magnitude of each column.
let W: usize = 0, m: i32 = 0, n: i32 = 0, single: bool = false;
let sums: usize = 0, packed: usize = 0, columns: usize = 0, nonzeroL: usize = 0, pivotRow: usize = 0, columnMaxima: usize = 0;
let groups: i32 = 0; // groups of eight columns in the current block, fewer than GROUPS at the right edge
let spaces: usize = 0; // packed U and the records of the columns, block after block
let packedRows: i32 = 0; // rows of U in the current block
let job: usize = 0;
let failed: usize = 0; // where to report an entry that overflowed: 1 + its index in the data, or 0

@inline function at(i: i32, j: i32): usize { return W + ((<usize>i * <usize>n + <usize>j) << 3); }
@inline function sumsOf(i: i32, group: i32): usize { return sums + (<usize>i * GROUPS + group) * SUMS; }
@inline function packedAt(group: i32, k: i32): usize { return packed + (<usize>(group * packedRows + k) << 6); }
@inline function columnAt(lane: i32): usize { return columns + lane * COLUMN; }

@inline function nonzerosL(i: i32): usize { return nonzeroL + <usize>i * bitBytes(min(m, n)); }
@inline function nonzerosU(lane: i32): usize { return columns + WIDTH * COLUMN + <usize>lane * bitBytes(min(m, n)); }
@inline function nonzerosOf(group: i32): usize { return nonzerosU(WIDTH + group); } // of any of its columns

// Bytes for the first `count` blocks of a matrix with `steps` pivots. A block has its rows of U down to the diagonal.
function blockSpaces(count: i32, steps: i32): usize {
  const triangular = min(count, steps / WIDTH), rows = <usize>triangular * <usize>(triangular + 1) * (WIDTH / 2) + <usize>(count - triangular) * steps;
  return rows * (GROUPS * 64) + <usize>count * (WIDTH * COLUMN + (WIDTH + GROUPS) * bitBytes(steps));
}
@inline function blockCount(cols: i32): i32 { return (cols + WIDTH - 1) / WIDTH; }

// Bytes of workspace for a matrix.
export function luWork(rows: i32, cols: i32): usize {
  return <usize>rows * (GROUPS * SUMS) + blockSpaces(blockCount(cols), min(rows, cols)) + <usize>rows * bitBytes(min(rows, cols)) + WIDTH * 8 + 8 + (<usize>cols << 3);
}

function setMatrix(theJob: usize, data: usize, work: usize): void {
  job = theJob; W = data; m = i32At(job, JOB_M); n = i32At(job, JOB_N); single = i32At(job, JOB_SINGLE) != 0;
  sums = work;
  spaces = sums + <usize>m * (GROUPS * SUMS);
  nonzeroL = spaces + blockSpaces(blockCount(n), min(m, n));
  pivotRow = nonzerosL(m);
  columnMaxima = pivotRow + WIDTH * 8 + 8;
}

// Before the factorization: L has no entries yet. Find the largest magnitude in every column, which no row swap changes; this worker has
// a share of the columns.
function initialize(worker: i32, workers: i32): void {
  if (worker == 0) memory.fill(nonzeroL, 0, <usize>m * bitBytes(min(m, n)));
  const share = ((n + workers - 1) / workers + 7) & ~7, from = <usize>min(worker * share, n) << 3, to = <usize>min((worker + 1) * share, n) << 3;
  memory.fill(columnMaxima + from, 0, to - from);
  for (let i = 0; i < m; ++i) {
    const row = at(i, 0);
    let j = from;
    for (; j + 8 < to; j += 16) v128.store(columnMaxima + j, f64x2.pmax(v128.load(columnMaxima + j), f64x2.abs(v128.load(row + j))));
    if (j < to) f64.store(columnMaxima + j, max(f64.load(columnMaxima + j), abs(f64.load(row + j))));
  }
}

// Select the workspace of the block of columns that starts at `first`.
function useBlock(first: i32): void {
  const steps = min(m, n);
  packed = spaces + blockSpaces(first / WIDTH, steps);
  packedRows = min(first + WIDTH, steps);
  columns = packed + <usize>packedRows * (GROUPS * 64);
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

// Whether an entry to the left of column j has overflowed.
@inline function hasFailedBefore(j: i32): bool { return i32.load(failed) != 0 && (i32.load(failed) - 1) % n < j; }

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

// The sums of rows [from, to) of a group over the first N products.
function sumProducts(first: i32, group: i32, from: i32, to: i32, N: i32): void {
  const split = i32.load(columnAt(8 * group), SPLIT);
  for (let i = from; i < to; ++i) startSums(i, first, group, split);
  subtractProducts(group, from, to, split, N - split);
}
// Start the sums of a group at the entries of row i, or at what the first `split` products leave of them.
function startSums(i: i32, first: i32, group: i32, split: i32): void {
  const record = sumsOf(i, group);
  for (let lane = 8 * group; lane < 8 * group + 8; ++lane) {
    const p = record + ((lane & 7) << 3), a = first + lane < n ? f64.load(at(i, first + lane)) : 0;
    if (split > 0) f64.store(p, a);
    else startSum(p, a, f64.load(columnAt(lane)));
  }
  if (split > 0) deepSums(at(i, 0), packedAt(group, 0), split, columnAt(8 * group), record);
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
  for (let top = from; top < end; top += BLOCK_ROWS) {
    const bottom = min(top + BLOCK_ROWS, end);
    sumProducts(first, group, top, bottom, top);
    for (let i = top; i < bottom; ++i) {
      subtractProducts(group, i, i + 1, top, i - top);
      finishRow(i, first, 8 * group, 8 * group + 8, bottom);
    }
    if (!single && haveSmallPivots(bottom)) refineGrids(group, bottom);
  }
}

// Whether the last pivots before row N are far below the entries of their columns: the columns before them are nearly dependent, and what
// is left of all columns is small.
@inline const LAST: i32 = 8; // rows that are looked at
@inline const SMALL_PIVOT: f64 = 3.725290298461914e-9; // 2^-28
function haveSmallPivots(N: i32): bool {
  for (let k = max(N - LAST, 0); k < N; ++k)
    if (!(abs(f64.load(at(k, k))) <= SMALL_PIVOT * f64.load(columnMaxima + (<usize>k << 3)))) return false;
  return true;
}
// Let the sums of a group of columns continue on finer grids after the first N products, if that helps in one of them.
function refineGrids(group: i32, N: i32): void {
  let isNeeded = false;
  for (let lane = 8 * group; lane < 8 * group + 8; ++lane) isNeeded = isNeeded || needsFinerGrid(columnAt(lane), latestIn(lane, N));
  if (isNeeded) for (let lane = 8 * group; lane < 8 * group + 8; ++lane) refineGrid(columnAt(lane), latestIn(lane, N), N);
}
// The largest magnitude in the last rows of U before row N.
function latestIn(lane: i32, N: i32): f64 {
  let latest: f64 = 0;
  for (let k = max(N - LAST, 0); k < N; ++k) latest = max(latest, abs(f64.load(packedAt(lane >> 3, k) + ((lane & 7) << 3))));
  return latest;
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

// The search for a pivot: the row of the largest entry so far. Every row is asked for its entry in column j.
let pivot: i32 = 0, largest: f64 = -1;
@inline function search(i: i32, j: i32, lane: i32, bound: f64): void {
  const v = entry(i, j, lane, j, bound);
  f64.store(at(i, j), v);
  if (abs(v) > largest) { largest = abs(v); pivot = i; }
}

// One pivot step: column j of L and U, and its products in the lanes of its group. The same pass over the rows searches for the next pivot,
// if column j + 1 is in the group too (`goesOn`): the sums are in registers then. False if the pivot is zero.
function pivotStep(j: i32, first: i32, lane: i32, goesOn: bool, pivots: usize): bool {
  const group = lane >> 3, end = 8 * group + 8;
  if ((lane & 7) == 0) {
    const bound = boundAfter(columnAt(lane), j);
    largest = -1;
    for (let i = j; i < m; ++i) search(i, j, lane, bound);
  }
  if (hasFailed(j)) return true;
  i32.store(pivots + (<usize>j << 2), pivot);
  if (largest == 0) return false;
  if (pivot != j) swapRows(j, pivot);
  const u = f64.load(at(j, j));
  f64.store(packedAt(group, j) + ((lane & 7) << 3), u);
  finishRow(j, first, lane + 1, end, m);
  // Finished columns have a zero here, so that the update leaves their lanes unchanged.
  for (let k = 8 * group; k < end; ++k) f64.store(pivotRow + ((k & 7) << 3), k > lane ? f64.load(packedAt(group, j) + ((k & 7) << 3)) : 0);
  const bound = goesOn ? boundAfter(columnAt(lane + 1), j + 1) : 0;
  largest = -1;
  for (let i = j + 1; i < m; ++i) {
    const s = f64.load(at(i, j)), l = s == 0 ? 0 : single ? <f64>(<f32>s / <f32>u) : s / u;
    f64.store(at(i, j), l);
    if (l != 0) setBit(nonzerosL(i), j);
    if (!goesOn) continue;
    subtractProduct(l, pivotRow, (lane & 7) + 1, sumsOf(i, group));
    search(i, j + 1, lane + 1, bound);
  }
  return true;
}

// The pivot steps of a block, a group of eight columns at a time; the groups after it get the products with all eight columns at
// once. Returns 0, or 1 + the column of a zero pivot.
function panel(first: i32, pivots: usize): i32 {
  const lanes = min(WIDTH, n - first);
  for (let lane = 0; lane < lanes; lane += 8) {
    const top = first + lane, bottom = min(top + min(8, lanes - lane), m);
    for (let j = top; j < bottom; ++j) {
      if (!pivotStep(j, first, j - first, j + 1 < bottom, pivots)) {
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

// Rows [from, to) of U for one group of columns, the group-th from column `first` on. Its sums are this worker's own. Columns to the right
// of one that overflowed do not count: their sums may be infinite, and each would take long. They are placed all the same, because the
// products for the rows below read their records.
function solveRows(first: i32, group: i32, from: i32, to: i32): void {
  const left = first + 8 * group, start = left & -WIDTH, groupThere = (left - start) >> 3;
  const shared = sums;
  sums = frame + SCRATCH_Y - <usize>from * (GROUPS * SUMS);
  useBlock(start);
  if (from == 0) placeColumns(start, groupThere);
  if (!hasFailedBefore(left)) solveAbove(start, groupThere, from, to);
  useBlock(first);
  sums = shared;
}

// The block of columns that starts at `first`, by all workers. They take in this order:
//   1. the rows of U of the panel before, in the columns of this block;
//   2. the same rows in as many groups of other columns as there are idle workers meanwhile;
//   3. the products for the rows below, which wait for 1. Whoever finishes the last of them factors the panel;
//   4. the same rows as in 1 and 2 in all other columns.
// JOB_DONE counts the finished pieces of 1 and 3. A worker waits only for pieces that others have taken before.
function block(first: i32, workers: i32): void {
  useBlock(first);
  const from = max(first - WIDTH, 0), to = min(first, m), hasPanel = first < m;
  const own = groups, others = first == 0 || from >= m ? 0 : ((n - first + 7) >> 3) - own;
  const early = min(others, max(workers - own, 0)), start = own + early;
  const rows = max(min(ROWS, (m - first) / (2 * workers)), 4), products = hasPanel ? (m - first + rows - 1) / rows : 0, end = start + products;
  while (true) {
    const k = take(job, 1);
    if (k < start || k >= end) {
      if (k >= own + others + products) return;
      solveRows(first, k < start ? k : k - products, from, to);
      if (k < own && atomic.add<i32>(job + JOB_DONE, 1) == own - 1) wake(job, job + JOB_DONE);
      continue;
    }
    waitForMore(job, job + JOB_DONE, own - 1);
    const top = first + (k - start) * rows, bottom = min(top + rows, m);
    for (let group = 0; group < own; ++group) { // all of them, while these rows of L are in the cache
      sumProducts(first, group, top, bottom, first);
    }
    if (atomic.add<i32>(job + JOB_DONE, 1) == own + products - 1) {
      atomic.store<i32>(job + JOB_DONE, 0); // for the next block
      i32.store(addressAt(job, JOB_INFO), panel(first, addressAt(job, JOB_PIVOTS)));
    }
  }
}

// Whether the factorization ends before column `first`: a pivot is zero, which comes before an overflow further right, or an entry has
// overflowed. Workers that are slow to ask get the same answer, whatever the others find in later columns meanwhile.
function ends(first: i32, worker: i32): bool {
  const info = i32At(addressAt(job, JOB_INFO), 0);
  if (info == 0 || info > first) return hasFailedBefore(first);
  if (worker == 0) i32.store(failed, 0);
  return true;
}

// Columns JOB_FROM to JOB_TO of one matrix, whole blocks, by all workers.
export function lu(theJob: usize, worker: i32): void {
  setMatrix(theJob, addressAt(theJob, JOB_A), addressAt(theJob, JOB_WORK));
  failed = job + JOB_FAILED;
  const workers = i32At(job, JOB_WORKERS), start = i32At(job, JOB_FROM), end = i32At(job, JOB_TO);
  if (start == 0) initialize(worker, workers);
  for (let first = start; first < end; first += WIDTH) {
    barrier(job, 0);
    if (ends(first, worker)) return;
    block(first, workers);
  }
  barrier(job, 0);
  ends(end, worker);
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
    initialize(0, 1);
    let info = 0;
    for (let first = 0; first < n && info == 0 && i32.load(failed) == 0; first += WIDTH) {
      useBlock(first);
      for (let group = 0; group < groups; ++group) {
        placeColumns(first, group);
        solveAbove(first, group, 0, first);
        sumProducts(first, group, first, m, first);
      }
      info = panel(first, addressAt(job, JOB_PIVOTS) + (<usize>k * <usize>min(m, n) << 2));
    }
    i32.store(addressAt(job, JOB_INFO) + (<usize>k << 2), info);
    if (i32.load(failed) != 0) reportOverflow(job + JOB_FAILED, i32.load(failed) - 1);
  }
}
