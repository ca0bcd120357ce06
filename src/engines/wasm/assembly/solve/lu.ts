// P A = L U with partial pivoting in approximate arithmetic, right-looking by panels. The matrix has more columns to its right, the
// right-hand sides, which are eliminated with it. The products of an entry are subtracted panel by panel and in order within a panel,
// so the bits do not depend on which worker does it. The workers update the columns of the next panel first; whoever finishes the
// last of them factors that panel while the others update the rest.
import { JOB_C, JOB_C_ROW, JOB_DONE, JOB_FROM, JOB_INFO, JOB_LAST, JOB_M, JOB_N, JOB_PIVOTS, JOB_TO, JOB_WORK, JOB_WORKERS, LARGEST, SMALLEST } from "../layout";
import { PANEL, largestPivot, smallestPivot, panel, panelWork, setWorkers } from "./panel";
import { STRIP, minusProduct, tile } from "./tile";
import { addressAt, barrier, i32At, hasCoreForEachWorker, take } from "../team";

@inline const GROUP: usize = 1024; // bytes of a row to swap, solve and pack at a time
// Rows to update at a time, with PANEL numbers each: 16 KiB, half of the L1 cache. And bytes of a row to update at a time.
@inline function updateRows<T>(): i32 { return <i32>(16384 / PANEL / sizeof<T>()); }
@inline const UPDATE_BYTES: usize = 1024;
@inline const TALL_PANEL: i32 = 4096;

// The matrix: m rows, `rowStride` bytes apart, with `rowBytes` bytes of numbers; the first n columns have pivots.
let W: usize = 0, rowStride: usize = 0, m: i32 = 0, n: i32 = 0, rowBytes: usize = 0;
let job: usize = 0, pivots: usize = 0, info: usize = 0;
let panelWorkspace: usize = 0, packedL: usize = 0, packedB: usize = 0;

@inline function packedSize<T>(): usize { return <usize>((m + 7) & ~7) * PANEL * sizeof<T>(); }
@inline function packedOf<T>(first: i32): usize { return packedL + ((first / PANEL) & 1) * packedSize<T>(); }
@inline function stripOf<T>(offset: usize): usize { return packedB + offset * PANEL; }

/** Bytes of workspace: the panel, two packed panels (the current and the next), and rows of U in strips. */
export function luWorkspace<T>(rows: i32, bytes: usize): usize {
  return ((panelWork<T>(rows) + 63) & ~63) + 2 * <usize>((rows + 7) & ~7) * PANEL * sizeof<T>() + bytes * PANEL;
}

function swapMemory(p: usize, q: usize, bytes: usize): void {
  for (const end = p + bytes; p != end; p += 32, q += 32) {
    const s = v128.load(p), t = v128.load(p, 16);
    v128.store(p, v128.load(q)); v128.store(p, v128.load(q, 16), 16);
    v128.store(q, s); v128.store(q, t, 16);
  }
}

// Apply the row swaps of a panel to bytes [from, to) of the rows.
function swapRows<T>(first: i32, from: usize, to: usize): void {
  for (let j = first, end = min(first + PANEL, n); j < end; ++j) {
    const k = load<i32>(pivots + (<usize>j << 2));
    if (k != j) swapMemory(W + <usize>j * rowStride + from, W + <usize>k * rowStride + from, to - from);
  }
}

// One strip of U: solve with the unit triangle of the panel, four rows at a time.
function solveStrip<T>(first: i32, offset: usize): void {
  const b = stripOf<T>(offset), L = packedOf<T>(first), count = min(PANEL, (n - first + 3) & ~3);
  let row = W + <usize>first * rowStride + offset, p = b;
  for (let i = 0; i < count; ++i, row += rowStride, p += STRIP) {
    v128.store(p, v128.load(row));
    v128.store(p, v128.load(row, 16), 16);
  }
  row = W + <usize>first * rowStride + offset, p = b;
  for (let i = 0; i < count; i += 4, p += 4 * STRIP) {
    const l = L + <usize>(i * PANEL) * sizeof<T>(), d = l + <usize>(4 * i) * sizeof<T>();
    tile<T>(l, b, STRIP, p, STRIP, i);
    for (let h: usize = 0; h < STRIP; h += 16, p += 16) {
      const x0 = v128.load(p);
      const x1 = minusProduct<T>(v128.load(p, STRIP), v128.load_splat<T>(d, sizeof<T>()), x0);
      const x2 = minusProduct<T>(minusProduct<T>(v128.load(p, 2 * STRIP), v128.load_splat<T>(d, 2 * sizeof<T>()), x0), v128.load_splat<T>(d, 6 * sizeof<T>()), x1);
      const x3 = minusProduct<T>(minusProduct<T>(minusProduct<T>(v128.load(p, 3 * STRIP), v128.load_splat<T>(d, 3 * sizeof<T>()), x0), v128.load_splat<T>(d, 7 * sizeof<T>()), x1), v128.load_splat<T>(d, 11 * sizeof<T>()), x2);
      v128.store(p, x1, STRIP); v128.store(p, x2, 2 * STRIP); v128.store(p, x3, 3 * STRIP);
      v128.store(row + h, x0); v128.store(row + rowStride + h, x1); v128.store(row + 2 * rowStride + h, x2); v128.store(row + 3 * rowStride + h, x3);
    }
    p -= STRIP;
    row += 4 * rowStride;
  }
}

// Subtract the products with the panel from rows [from, to), bytes [left, right).
function update<T>(first: i32, from: i32, to: i32, left: usize, right: usize): void {
  const L = packedOf<T>(first);
  for (let offset = left; offset < right; offset += STRIP) {
    let a = L + <usize>((from - first) * PANEL) * sizeof<T>(), c = W + <usize>from * rowStride + offset;
    const b = stripOf<T>(offset);
    for (let i = from; i < to; i += 4, a += 4 * PANEL * sizeof<T>(), c += 4 * rowStride) tile<T>(a, b, STRIP, c, rowStride, PANEL);
  }
}

// Factor the panel from column `first` on, together with `workers` - 1 others.
function factorPanel<T>(first: i32, worker: i32, workers: i32): void {
  setWorkers(job, worker, workers);
  const badColumn = panel<T>(W, rowStride, m, n, first, packedOf<T>(first), panelWorkspace, pivots);
  if (worker != 0) return;
  store<i32>(info, badColumn);
  f64.store(info, min(f64.load(info, SMALLEST), smallestPivot()), SMALLEST);
  f64.store(info, max(f64.load(info, LARGEST), largestPivot()), LARGEST);
}

// After the panel that starts at column `first`: swap rows left and right of it and solve for U, in groups of GROUP bytes.
function swapAndSolve<T>(first: i32, right: usize): void {
  const left = <usize>first * sizeof<T>(), leftCount = <i32>((left + GROUP - 1) / GROUP), count = leftCount + <i32>((rowBytes - right + GROUP - 1) / GROUP);
  while (true) {
    const k = take(job, 1);
    if (k >= count) return;
    // The groups on the right first, because they take longer.
    const onRight = k < count - leftCount, from = onRight ? right + <usize>k * GROUP : <usize>(k - count + leftCount) * GROUP, to = min(from + GROUP, onRight ? rowBytes : left);
    swapRows<T>(first, from, to);
    if (onRight) for (let offset = from; offset < to; offset += STRIP) solveStrip<T>(first, offset);
  }
}

// Subtract the products with the panel from the columns to its right. If `next`, the columns of the next panel come first, and that
// panel is factored meanwhile.
function updateRest<T>(first: i32, right: usize, next: bool): void {
  const top = first + PANEL, bottom = (m + 3) & ~3;
  const start = next ? min(right + PANEL * sizeof<T>(), rowBytes) : right;
  const rowBlocks = (bottom - top + updateRows<T>() - 1) / updateRows<T>(), columnBlocks = <i32>((rowBytes - start + UPDATE_BYTES - 1) / UPDATE_BYTES), nextCount = next ? rowBlocks : 0;
  while (true) {
    const k = take(job, 1);
    if (k < nextCount) {
      const from = top + k * updateRows<T>();
      update<T>(first, from, min(from + updateRows<T>(), bottom), right, start);
      if (atomic.add<i32>(job + JOB_DONE, 1) == nextCount - 1) {
        atomic.store<i32>(job + JOB_DONE, 0);
        factorPanel<T>(top, 0, 1);
      }
    } else {
      const t = k - nextCount;
      if (t >= rowBlocks * columnBlocks) return;
      const from = top + t / columnBlocks * updateRows<T>(), left = start + <usize>(t % columnBlocks) * UPDATE_BYTES;
      update<T>(first, from, min(from + updateRows<T>(), bottom), left, min(left + UPDATE_BYTES, rowBytes));
    }
  }
}

// Whether all workers factor the panel from column `first` on together: if it is so tall that the barriers for every column (about 2
// microseconds) cost little, and the rest so narrow that its update does not hide the panel. A panel runs at 20 Gflop/s, an update at
// 40.
function isShared<T>(first: i32, workers: i32): bool {
  return workers > 1 && m - first >= TALL_PANEL && hasCoreForEachWorker() && rowBytes < <usize>(first + PANEL * workers) * sizeof<T>();
}

/** Factor columns JOB_FROM to JOB_LAST, whole panels, by all workers. All of them return the same outcome: -1, or the column of a bad pivot. */
export function factorize<T>(theJob: usize, worker: i32): i32 {
  job = theJob; W = addressAt(job, JOB_C); rowStride = addressAt(job, JOB_C_ROW); m = i32At(job, JOB_M); n = i32At(job, JOB_N); rowBytes = addressAt(job, JOB_TO);
  pivots = addressAt(job, JOB_PIVOTS); info = addressAt(job, JOB_INFO);
  panelWorkspace = addressAt(job, JOB_WORK);
  packedL = panelWorkspace + ((panelWork<T>(m) + 63) & ~63);
  packedB = packedL + 2 * packedSize<T>();
  const workers = i32At(job, JOB_WORKERS), start = i32At(job, JOB_FROM), end = i32At(job, JOB_LAST);
  if (start == 0) {
    if (worker == 0) {
      store<i32>(info, -1);
      f64.store(info, Infinity, SMALLEST);
      f64.store(info, 0, LARGEST);
    }
    if (n > 0) {
      if (isShared<T>(0, workers)) factorPanel<T>(0, worker, workers);
      else if (worker == 0) factorPanel<T>(0, 0, 1);
    }
  }
  for (let first = start; first < end; first += PANEL) {
    barrier(job, 0);
    if (i32At(info, 0) >= 0) return i32At(info, 0);
    const right = min((<usize>min(first + PANEL, n) * sizeof<T>() + STRIP - 1) & ~(STRIP - 1), rowBytes);
    swapAndSolve<T>(first, right);
    barrier(job, 0);
    const top = first + PANEL, shared = isShared<T>(top, workers);
    if (top < m) updateRest<T>(first, right, top < n && !shared);
    if (top < n && shared) {
      barrier(job, 0);
      factorPanel<T>(top, worker, workers);
    }
  }
  barrier(job, 0);
  return -1;
}
