// P A = L U with partial pivoting in ordinary arithmetic, of a matrix with more columns to its right that go through the
// elimination with it: right-looking by panels. Each entry's products are subtracted in the order of the panels, and within
// one in order: who does it does not show in the bits. The workers update the columns of the next panel first; whoever
// is through with the last of that factors the panel while the others go on with the rest.
import { JOB_C, JOB_C_ROW, JOB_DONE, JOB_INFO, JOB_M, JOB_N, JOB_PIVOTS, JOB_TO, JOB_WORK, JOB_WORKERS, LARGEST, SMALLEST } from "../layout";
import { PANEL, largestPivot, smallestPivot, panel, panelWork, setMembers } from "./panel";
import { STRIP, minusProduct, tile } from "./tile";
import { addressAt, barrier, i32At, hasCoreForEachWorker, take } from "../team";

@inline const GROUP: usize = 1024; // bytes of a row that are swapped, solved and packed at a time
// Rows of an update at a time: with PANEL numbers each, 16 KiB, half of the first cache. And bytes across.
@inline function tall<T>(): i32 { return <i32>(16384 / PANEL / sizeof<T>()); }
@inline const WIDE: usize = 1024;
@inline const TALL_PANEL: i32 = 4096;

// m rows, `rowStride` bytes apart, with `wide` bytes of numbers, of which the first n have pivots.
let W: usize = 0, rowStride: usize = 0, m: i32 = 0, n: i32 = 0, wide: usize = 0;
let job: usize = 0, pivots: usize = 0, info: usize = 0;
let panelSpace: usize = 0, packedL: usize = 0, packedB: usize = 0;

@inline function packedSize<T>(): usize { return <usize>((m + 7) & ~7) * PANEL * sizeof<T>(); }
@inline function packedOf<T>(first: i32): usize { return packedL + ((first / PANEL) & 1) * packedSize<T>(); }
@inline function stripOf<T>(offset: usize): usize { return packedB + offset * PANEL; }

/** Bytes to work in: the panel, two of them packed (the one in use and the next), and rows of U by strips. */
export function luSpace<T>(rows: i32, bytes: usize): usize {
  return ((panelWork<T>(rows) + 63) & ~63) + 2 * <usize>((rows + 7) & ~7) * PANEL * sizeof<T>() + bytes * PANEL;
}

function exchange(p: usize, q: usize, bytes: usize): void {
  for (const end = p + bytes; p != end; p += 32, q += 32) {
    const s = v128.load(p), t = v128.load(p, 16);
    v128.store(p, v128.load(q)); v128.store(p, v128.load(q, 16), 16);
    v128.store(q, s); v128.store(q, t, 16);
  }
}

// The swaps of a panel in bytes [from, to) of the rows.
function swap<T>(first: i32, from: usize, to: usize): void {
  for (let j = first, end = min(first + PANEL, n); j < end; ++j) {
    const k = load<i32>(pivots + (<usize>j << 2));
    if (k != j) exchange(W + <usize>j * rowStride + from, W + <usize>k * rowStride + from, to - from);
  }
}

// One strip of U: the rows of the panel, solved with its unit triangle, four at a time.
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

// Rows [from, to) in bytes [left, right), less the products with the panel.
function update<T>(first: i32, from: i32, to: i32, left: usize, right: usize): void {
  const L = packedOf<T>(first);
  for (let offset = left; offset < right; offset += STRIP) {
    let a = L + <usize>((from - first) * PANEL) * sizeof<T>(), c = W + <usize>from * rowStride + offset;
    const b = stripOf<T>(offset);
    for (let i = from; i < to; i += 4, a += 4 * PANEL * sizeof<T>(), c += 4 * rowStride) tile<T>(a, b, STRIP, c, rowStride, PANEL);
  }
}

function nextPanel<T>(first: i32, worker: i32, members: i32): void {
  setMembers(job, worker, members);
  const bad = panel<T>(W, rowStride, m, n, first, packedOf<T>(first), panelSpace, pivots);
  if (worker != 0) return;
  store<i32>(info, bad);
  f64.store(info, min(f64.load(info, SMALLEST), smallestPivot()), SMALLEST);
  f64.store(info, max(f64.load(info, LARGEST), largestPivot()), LARGEST);
}

// Behind the panel that starts at column `first`: what is left and right of it, in groups of bytes.
function swapAndSolve<T>(first: i32, right: usize): void {
  const left = <usize>first * sizeof<T>(), before = <i32>((left + GROUP - 1) / GROUP), count = before + <i32>((wide - right + GROUP - 1) / GROUP);
  while (true) {
    const k = take(job, 1);
    if (k >= count) return;
    // Those on the right first: they are more work.
    const behind = k < count - before, from = behind ? right + <usize>k * GROUP : <usize>(k - count + before) * GROUP, to = min(from + GROUP, behind ? wide : left);
    swap<T>(first, from, to);
    if (behind) for (let offset = from; offset < to; offset += STRIP) solveStrip<T>(first, offset);
  }
}

// Columns right of the panel less the products with it, those of the `next` panel first, and that panel.
function updateRest<T>(first: i32, right: usize, next: bool): void {
  const top = first + PANEL, bottom = (m + 3) & ~3;
  const start = next ? min(right + PANEL * sizeof<T>(), wide) : right;
  const down = (bottom - top + tall<T>() - 1) / tall<T>(), wideCount = <i32>((wide - start + WIDE - 1) / WIDE), ahead = next ? down : 0;
  while (true) {
    const k = take(job, 1);
    if (k < ahead) {
      const from = top + k * tall<T>();
      update<T>(first, from, min(from + tall<T>(), bottom), right, start);
      if (atomic.add<i32>(job + JOB_DONE, 1) == ahead - 1) {
        atomic.store<i32>(job + JOB_DONE, 0);
        nextPanel<T>(top, 0, 1);
      }
    } else {
      const t = k - ahead;
      if (t >= down * wideCount) return;
      const from = top + t / wideCount * tall<T>(), left = start + <usize>(t % wideCount) * WIDE;
      update<T>(first, from, min(from + tall<T>(), bottom), left, min(left + WIDE, wide));
    }
  }
}

// Whether all workers factor the panel from column `first` on together: where it is so tall that to meet for every column (some 2
// microseconds) is little, and the rest so narrow that its update does not hide the panel. A panel does 20 Gflop/s and an update 40.
function isForAll<T>(first: i32, workers: i32): bool {
  return workers > 1 && m - first >= TALL_PANEL && hasCoreForEachWorker() && wide < <usize>(first + PANEL * workers) * sizeof<T>();
}

/** The factorisation, by all workers; the matrix is there. All of them see the same outcome: -1, or the column of a bad pivot. */
export function factorize<T>(theJob: usize, worker: i32): i32 {
  job = theJob; W = addressAt(job, JOB_C); rowStride = addressAt(job, JOB_C_ROW); m = i32At(job, JOB_M); n = i32At(job, JOB_N); wide = addressAt(job, JOB_TO);
  pivots = addressAt(job, JOB_PIVOTS); info = addressAt(job, JOB_INFO);
  panelSpace = addressAt(job, JOB_WORK);
  packedL = panelSpace + ((panelWork<T>(m) + 63) & ~63);
  packedB = packedL + 2 * packedSize<T>();
  if (worker == 0) {
    store<i32>(info, -1);
    f64.store(info, Infinity, SMALLEST);
    f64.store(info, 0, LARGEST);
  }
  const workers = i32At(job, JOB_WORKERS);
  if (n > 0) {
    if (isForAll<T>(0, workers)) nextPanel<T>(0, worker, workers);
    else if (worker == 0) nextPanel<T>(0, 0, 1);
  }
  for (let first = 0; first < n; first += PANEL) {
    barrier(job, 0);
    if (i32At(info, 0) >= 0) return i32At(info, 0);
    const right = min((<usize>min(first + PANEL, n) * sizeof<T>() + STRIP - 1) & ~(STRIP - 1), wide);
    swapAndSolve<T>(first, right);
    barrier(job, 0);
    const top = first + PANEL, together = isForAll<T>(top, workers);
    if (top < m) updateRest<T>(first, right, top < n && !together);
    if (top < n && together) {
      barrier(job, 0);
      nextPanel<T>(top, worker, workers);
    }
  }
  barrier(job, 0);
  return -1;
}
