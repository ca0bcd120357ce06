// P A = L U with partial pivoting, the bits of the unblocked left-looking algorithm: every entry is one sum, rounded
// once, so the order of work is free. Left-looking by blocks of columns: for a block, U above the diagonal (each group
// of eight columns for itself, rows in blocks), then all products for the rows below, then the panel with its pivot
// steps. Nearly all of the work is strip() on packed rows of U. The panel is one worker's; meanwhile the others begin
// with the next block: U above what the panel changes. (Two threads, n = 1024: 1.3 times faster without that.)
//
// Sums need no check. |l| <= 1, so what is subtracted from column j stays below the sum of |u_kj|, which is kept: when
// that and the largest |a_ij| outgrow half the binade, the column moves to a coarser grid.
import { certified, certifiedQuickly, inflated } from "../exact/certificate";
import { JOB_A, JOB_FAILED, JOB_INFO, JOB_K, JOB_M, JOB_N, JOB_PIVOTS, JOB_SINGLE, JOB_WORK, JOB_WORK_SIZE, ROUND } from "../layout";
import { binade, log2Up, powerOfTwo } from "../grid";
import { setScalars, setTerms, settle } from "../exact/settle";
import { REST, SUMS, Unchecked, moveSum, restBound, startSum, strip } from "./strip";
import { addressAt, barrier, i32At, take } from "../team";

@inline const WIDTH: i32 = 32; // columns in a block
@inline const GROUPS: i32 = WIDTH / 8;
@inline const TALL: i32 = 32; // rows in a block above the diagonal
@inline const DEEP: i32 = 256; // rows of U at a time: 16 KiB for eight columns, which stay in the first cache
@inline const ROWS: i32 = 32; // rows that a worker takes at a time

// The matrix at hand, m by n, in place and row by row, and the workspace: the sums of a block of columns, packed U, what is
// known of each column (its grid, the sum of magnitudes, how often it moved), whether a row of L has an entry yet, one row of U.
let W: usize = 0, m: i32 = 0, n: i32 = 0, single: bool = false;
let sums: usize = 0, packed: usize = 0, columns: usize = 0, flags: usize = 0, current: usize = 0, sizes: usize = 0;
let spaces: usize = 0; // packed U and what is known of the columns, for two blocks in turn
let job: usize = 0;
let failed: usize = 0; // where an entry that overflowed is noted: 1 + its index in the data, or 0

@inline function at(i: i32, j: i32): usize { return W + ((<usize>i * <usize>n + <usize>j) << 3); }
@inline function sumsOf(i: i32, group: i32): usize { return sums + (<usize>i * GROUPS + group) * SUMS; }
@inline function packedAt(group: i32, k: i32): usize { return packed + (<usize>(group * min(m, n) + k) << 6); }
@inline function gridAt(lane: i32): usize { return columns + (lane << 5); }
@inline function sizeAt(lane: i32): usize { return columns + (lane << 5) + 8; }
@inline function movesAt(lane: i32): usize { return columns + (lane << 5) + 16; }

@inline function blockSpace(steps: i32): usize { return <usize>steps * (GROUPS * 64) + WIDTH * 32; }

// Bytes of workspace for a matrix.
export function luWork(rows: i32, cols: i32): usize {
  return <usize>rows * (GROUPS * SUMS) + 2 * blockSpace(min(rows, cols)) + ((<usize>rows + 7) & ~7) + WIDTH * 8 + 8 + (<usize>cols << 3);
}

function open(theJob: usize, data: usize, work: usize): void {
  job = theJob; W = data; m = i32At(job, JOB_M); n = i32At(job, JOB_N); single = i32At(job, JOB_SINGLE) != 0;
  sums = work;
  spaces = sums + <usize>m * (GROUPS * SUMS);
  flags = spaces + 2 * blockSpace(min(m, n));
  current = flags + ((<usize>m + 7) & ~7);
  sizes = current + WIDTH * 8 + 8;
}

// Before any work: no entries in L yet, and the largest magnitude of every column, which no swap of rows changes.
function prepare(): void {
  memory.fill(flags, 0, m);
  memory.fill(sizes, 0, <usize>n << 3);
  const even = (<usize>n & ~1) << 3;
  for (let i = 0; i < m; ++i) {
    const row = at(i, 0);
    for (let j = <usize>0; j < even; j += 16) v128.store(sizes + j, f64x2.pmax(v128.load(sizes + j), f64x2.abs(v128.load(row + j))));
    if ((n & 1) != 0) f64.store(sizes + even, max(f64.load(sizes + even), abs(f64.load(row + even))));
  }
}

// Work on the block of columns from `first` on.
function useBlock(first: i32): void {
  packed = spaces + ((first / WIDTH) & 1) * blockSpace(min(m, n));
  columns = packed + <usize>min(m, n) * (GROUPS * 64);
}

// The bound of what a sum of a column has lost after N products.
@inline function boundOf(lane: i32, N: i32): f64 { return inflated(restBound(f64.load(gridAt(lane)), <f64>(N + 2) + f64.load(movesAt(lane)))); }

// Entry (i, j), lane of the block, from its sum over the first N products; settled from scratch where that is open.
@inline function entry(i: i32, j: i32, lane: i32, N: i32, bound: f64): f64 {
  const p = sumsOf(i, lane >> 3) + ((lane & 7) << 3), high = f64.load(p) - f64.load(gridAt(lane)), low = f64.load(p, REST);
  const v = single ? NaN : certifiedQuickly(high, low, bound);
  return v == v ? v : openEntry(i, j, lane, N, high, low, bound);
}
function openEntry(i: i32, j: i32, lane: i32, N: i32, high: f64, low: f64, bound: f64): f64 {
  let v = certified(high, low, bound, single);
  if (v != v) {
    const a = f64.load(at(i, j));
    if (N == 0 || load<u8>(flags + i) == 0) return a == 0 ? 0 : a; // no product but zeros
    setTerms(at(i, 0), 8, packedAt(lane >> 3, 0) + ((lane & 7) << 3), 64, N);
    setScalars(-1, 1, a, 0);
    v = settle<f64>(ROUND, 1, single);
  }
  if (!(v - v == 0)) fail(failed, <i32>((at(i, j) - addressAt(job, JOB_A)) >> 3));
  return v;
}

// Note an entry that overflowed. Of several the first in the order of the unblocked algorithm, column by column, stays.
function fail(to: usize, index: i32): void {
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

// Put the grids of a group of columns where all sums fit, by the largest entry and so many products.
function placeColumns(first: i32, group: i32): void {
  for (let lane = 8 * group; lane < 8 * group + 8; ++lane) {
    const j = first + lane, largest = j < n ? f64.load(sizes + (<usize>j << 3)) : 0;
    f64.store(sizeAt(lane), largest);
    f64.store(movesAt(lane), 0);
    const k = binade(largest) + log2Up(min(m, n)) + 2;
    f64.store(gridAt(lane), k > 980 ? NaN : 1.5 * powerOfTwo(max(k, -900)));
  }
}

// One more product of each row with u: the sum of magnitudes grows. False once it no longer fits the grid. (A grid that is
// not a number has no sums that could stray.)
@inline function fits(lane: i32, u: f64): bool {
  const size = f64.load(sizeAt(lane)) + abs(u);
  f64.store(sizeAt(lane), size);
  return !(size > f64.load(gridAt(lane)) * 0.25);
}
// The sums of rows [from, to) go to a coarser grid.
function coarsen(lane: i32, from: i32, to: i32): void {
  const old = f64.load(gridAt(lane)), k = binade(f64.load(sizeAt(lane))) + 12, G = k > 980 ? NaN : 1.5 * powerOfTwo(k);
  f64.store(gridAt(lane), G);
  f64.store(movesAt(lane), f64.load(movesAt(lane)) + 1);
  for (let i = from; i < to; ++i) {
    moveSum(sumsOf(i, lane >> 3) + ((lane & 7) << 3), old, G);
  }
}

// Start the sums of a group at the entries of row i.
function start(i: i32, first: i32, group: i32): void {
  for (let lane = 8 * group; lane < 8 * group + 8; ++lane) {
    const p = sumsOf(i, group) + ((lane & 7) << 3), G = f64.load(gridAt(lane)), a = first + lane < n ? f64.load(at(i, first + lane)) : 0;
    startSum(p, a, G);
  }
}

// Subtract the products with rows [k, k + count) of U from the sums of rows [from, to).
function update(group: i32, from: i32, to: i32, k: i32, count: i32): void {
  for (; count > 0; k += DEEP, count -= DEEP) {
    const deep = min(DEEP, count), pb = packedAt(group, k);
    for (let i = from; i < to; ++i) strip<f64, Unchecked>(at(i, k), 8, pb, 64, deep, sumsOf(i, group));
  }
}

// Rows [from, to) of U above the diagonal block, for one group of columns.
function above(first: i32, group: i32, from: i32, to: i32): void {
  const end = min(to, m);
  if (from == 0) placeColumns(first, group);
  for (let top = from; top < end; top += TALL) {
    const bottom = min(top + TALL, end);
    for (let i = top; i < bottom; ++i) start(i, first, group);
    update(group, top, bottom, 0, top);
    for (let i = top; i < bottom; ++i) {
      update(group, i, i + 1, top, i - top);
      finishRow(i, first, 8 * group, 8 * group + 8, bottom);
    }
  }
}

// Row i of U in these lanes: entries, packed; columns that outgrow their grid move for the rows up to `end`.
function finishRow(i: i32, first: i32, lane: i32, lanes: i32, end: i32): void {
  for (; lane < lanes; ++lane) {
    let u: f64 = 0;
    if (first + lane < n) {
      u = entry(i, first + lane, lane, i, boundOf(lane, i));
      f64.store(at(i, first + lane), u);
    }
    f64.store(packedAt(lane >> 3, i) + ((lane & 7) << 3), u);
    if (!fits(lane, u)) coarsen(lane, i + 1, end);
  }
}

function exchange(p: usize, q: usize, bytes: usize): void {
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
  exchange(at(i, 0), at(k, 0), <usize>n << 3);
  exchange(sumsOf(i, 0), sumsOf(k, 0), GROUPS * SUMS);
  const t = load<u8>(flags + i);
  store<u8>(flags + i, load<u8>(flags + k));
  store<u8>(flags + k, t);
}

// One pivot step: column j of L and U, and the products with it in the lanes of its group. False for a zero pivot.
function step(j: i32, first: i32, lane: i32, pivots: usize): bool {
  const group = lane >> 3, end = 8 * group + 8;
  const bound = boundOf(lane, j);
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
    if (l != 0) store<u8>(flags + i, 1);
  }
  f64.store(packedAt(group, j) + ((lane & 7) << 3), u);
  finishRow(j, first, lane + 1, end, m);
  // The columns that are done have a zero here: their lanes go through the update unchanged.
  for (let k = 8 * group; k < end; ++k) f64.store(current + ((k & 7) << 3), k > lane ? f64.load(packedAt(group, j) + ((k & 7) << 3)) : 0);
  if (lane + 1 < end) for (let i = j + 1; i < m; ++i) strip<f64, Unchecked>(at(i, j), 8, current, 64, 1, sumsOf(i, group));
  return true;
}

// The pivot steps of a block, a group of eight columns at a time; the groups after it get the products with all eight at
// once. Returns 0, or 1 + the column of a zero pivot.
function panel(first: i32, pivots: usize): i32 {
  const lanes = min(WIDTH, n - first);
  for (let lane = 0; lane < lanes; lane += 8) {
    const top = first + lane, bottom = min(top + min(8, lanes - lane), m);
    for (let j = top; j < bottom; ++j) {
      if (!step(j, first, j - first, pivots)) {
        i32.store(failed, 0); // what overflowed in a later column does not count
        return 1 + j;
      }
      if (hasFailed(j)) return 0;
    }
    for (let group = (lane >> 3) + 1; group < GROUPS; ++group) {
      for (let i = top; i < bottom; ++i) {
        update(group, i, i + 1, top, i - top);
        finishRow(i, first, 8 * group, 8 * group + 8, m);
      }
      update(group, bottom, m, top, bottom - top);
    }
  }
  return 0;
}

// Rows [from, to) of U for the groups of a block that nobody has taken.
function takeGroups(first: i32, from: i32, to: i32): void {
  useBlock(first);
  while (true) {
    const group = take(job, 1);
    if (group >= GROUPS) return;
    above(first, group, from, to);
  }
}

// One matrix by all workers.
export function lu(theJob: usize, worker: i32): void {
  open(theJob, addressAt(theJob, JOB_A), addressAt(theJob, JOB_WORK));
  failed = job + JOB_FAILED;
  const info = addressAt(job, JOB_INFO);
  if (worker == 0) prepare();
  for (let first = 0; first < n; first += WIDTH) {
    barrier(job, 0);
    // What the panel before this block has changed, and all of the first block.
    takeGroups(first, max(first - WIDTH, 0), first);
    barrier(job, first);
    while (first < m) {
      const from = take(job, ROWS), to = min(from + ROWS, m);
      if (from >= m) break;
      for (let group = 0; group < GROUPS; ++group) {
        for (let i = from; i < to; ++i) start(i, first, group);
        update(group, from, to, 0, first);
      }
    }
    barrier(job, 0);
    if (worker == 0) i32.store(info, panel(first, addressAt(job, JOB_PIVOTS)));
    if (first + WIDTH < n) takeGroups(first + WIDTH, 0, first);
    barrier(job, 0);
    if (i32.load(info) != 0) {
      if (worker == 0) i32.store(failed, 0); // a zero pivot comes before what overflowed in the next block
      return;
    }
    if (i32.load(failed) != 0 && (i32.load(failed) - 1) % n < first + WIDTH) return;
  }
}

// K matrices, each by one worker.
export function luBatch(theJob: usize, worker: i32): void {
  const count = i32At(theJob, JOB_K), work = addressAt(theJob, JOB_WORK) + <usize>worker * addressAt(theJob, JOB_WORK_SIZE);
  while (true) {
    const k = take(theJob, 1);
    if (k >= count || i32At(theJob, JOB_FAILED) != 0) return;
    open(theJob, addressAt(theJob, JOB_A), work);
    W += (<usize>k * <usize>m * <usize>n) << 3;
    failed = current + WIDTH * 8;
    i32.store(failed, 0);
    prepare();
    let info = 0;
    for (let first = 0; first < n && info == 0 && i32.load(failed) == 0; first += WIDTH) {
      useBlock(first);
      for (let group = 0; group < GROUPS; ++group) {
        above(first, group, 0, first);
        for (let i = first; i < m; ++i) start(i, first, group);
        update(group, first, m, 0, first);
      }
      info = panel(first, addressAt(job, JOB_PIVOTS) + (<usize>k * <usize>min(m, n) << 2));
    }
    i32.store(addressAt(job, JOB_INFO) + (<usize>k << 2), info);
    if (i32.load(failed) != 0) fail(job + JOB_FAILED, i32.load(failed) - 1);
  }
}
