// y := alpha A x + beta y. Where the rows of A are contiguous every row is a dot product (filter.ts); where its columns
// are, eight rows at a time are summed as lanes (strip.ts), 12 columns at a time.
import { certifiedCombination, put, setRecord } from "../exact/certificate";
import { frame } from "../frame";
import { ENCLOSURE, JOB_A, JOB_A_COL, JOB_A_ROW, JOB_ALPHA, JOB_BETA, JOB_FROM, JOB_K, JOB_M, JOB_ROW, JOB_TO, JOB_WORK, JOB_X, JOB_Y, FLAGGED, RECORD, ROUND, SCRATCH_OUT } from "../layout";
import { binade, log2Up, powerOfTwo } from "../grid";
import { forget, skipFilter, remember, rowDots } from "./rows";
import { filterSuffices, setScalars, setTerms, settle } from "../exact/settle";
import { load, load2, load4, load6, mul, one, splat } from "../simd";
import { Checked, GRIDS, REST, moveSum, restBound, startSum, strip } from "./strip";
import { addressAt, i32At, take } from "../team";

// Rows and groups of eight rows that a worker takes at a time.
@inline const ROWS: i32 = 12;
@inline const GROUPS: i32 = 64;
// Columns at a time: as many streams from memory as the processor follows (n = 4096: 0.60 ns an element, 0.75 with 32).
@inline const COLUMNS: i32 = 12;

// @ts-ignore: decorator
@external("env", "fetch")
declare function fetch(row: i32): void;

// The row of A for settle(): where it is, or brought there by the host.
export function rowAt<T>(job: usize, i: i32, from: i32, x: usize, n: i32): void {
  const row = addressAt(job, JOB_ROW);
  if (row != 0) {
    fetch(i);
    setTerms(row + <usize>from * sizeof<T>(), sizeof<T>(), x, sizeof<T>(), n);
  } else {
    const step = addressAt(job, JOB_A_COL);
    setTerms(addressAt(job, JOB_A) + <usize>i * addressAt(job, JOB_A_ROW) + <usize>from * step, step, x, sizeof<T>(), n);
  }
}

// Entry i from the enclosure of its sum; whether that proved it, or would have.
function entry<T>(job: usize, i: i32, record: usize): bool {
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), p = addressAt(job, JOB_Y) + <usize>i * sizeof<T>();
  const y = beta == 0 ? 0 : one<T>(p);
  let v = certifiedCombination(record, alpha, beta, y, sizeof<T>() == 4);
  let proved = v == v;
  if (!proved) {
    rowAt<T>(job, i, 0, addressAt(job, JOB_X), i32At(job, JOB_K));
    setScalars(alpha, beta, y, 0);
    v = settle<T>(ROUND, 1, sizeof<T>() == 4);
    proved = filterSuffices;
  }
  put<T>(p, v);
  return proved;
}

// Rows FROM to TO.
export function gemvByRows<T>(job: usize): void {
  const n = i32At(job, JOB_K), to = i32At(job, JOB_TO), x = addressAt(job, JOB_X);
  const A = addressAt(job, JOB_A), step = addressAt(job, JOB_A_ROW), records = frame + FLAGGED;
  if (i32At(job, JOB_FROM) == 0) forget();
  while (true) {
    const first = take(job, ROWS), end = min(first + ROWS, to), skip = skipFilter();
    if (first >= to) break;
    for (let i = first; i < end; ++i) setRecord(records + <usize>(i - first) * ENCLOSURE, 0, 0, skip ? NaN : 0);
    if (!skip) rowDots<T>(records, A + <usize>first * step, step, end - first, x, n);
    let proved = 0;
    for (let i = first; i < end; ++i) proved += <i32>entry<T>(job, i, records + <usize>(i - first) * ENCLOSURE);
    remember(proved);
  }
}

// The grids of a group: for sums that have none yet, and where `move` says so for all, by the largest of these n terms
// a row. Of N terms like these none strays: N M <= 2^(k-2), and what is there already is below 2^(k-2).
function place<T>(px: usize, pb: usize, stepB: usize, n: i32, N: i32, record: usize, move: bool): void {
  let m0 = splat(0), m1 = m0, m2 = m0, m3 = m0;
  for (let i = 0; i < n; ++i, px += sizeof<T>(), pb += stepB) {
    const a = splat(one<T>(px));
    m0 = f64x2.pmax(m0, f64x2.abs(mul(a, load<T>(pb))));
    m1 = f64x2.pmax(m1, f64x2.abs(mul(a, load2<T>(pb))));
    m2 = f64x2.pmax(m2, f64x2.abs(mul(a, load4<T>(pb))));
    m3 = f64x2.pmax(m3, f64x2.abs(mul(a, load6<T>(pb))));
  }
  placeLane(record, 0, f64x2.extract_lane(m0, 0), N, move); placeLane(record, 1, f64x2.extract_lane(m0, 1), N, move);
  placeLane(record, 2, f64x2.extract_lane(m1, 0), N, move); placeLane(record, 3, f64x2.extract_lane(m1, 1), N, move);
  placeLane(record, 4, f64x2.extract_lane(m2, 0), N, move); placeLane(record, 5, f64x2.extract_lane(m2, 1), N, move);
  placeLane(record, 6, f64x2.extract_lane(m3, 0), N, move); placeLane(record, 7, f64x2.extract_lane(m3, 1), N, move);
}
function placeLane(record: usize, lane: i32, largest: f64, N: i32, move: bool): void {
  const G = f64.load(record + (lane << 3), GRIDS);
  if (G != 0 && !move) return;
  const needed = largest < 1e290 ? 1.5 * powerOfTwo(max(binade(largest) + log2Up(max(N, COLUMNS)) + 2, -900)) : NaN;
  const p = record + (lane << 3), next = G == 0 ? needed : max(2 * G, needed); // not a number: stays so, and the certificate fails
  if (G == 0) startSum(p, 0, next);
  else moveSum(p, G, next);
  f64.store(p, next, GRIDS);
}
function unplaced(record: usize): bool {
  const zero = splat(0);
  return v128.any_true(v128.or(
    v128.or(f64x2.eq(v128.load(record, 128), zero), f64x2.eq(v128.load(record, 144), zero)),
    v128.or(f64x2.eq(v128.load(record, 160), zero), f64x2.eq(v128.load(record, 176), zero)),
  ));
}

// The rows from `first` to `end` of a group, n columns from pb on, with zeros for the others.
function pack<T>(pb: usize, stepB: usize, n: i32, first: i32, end: i32): usize {
  const to = frame + SCRATCH_OUT, size = 8 * sizeof<T>();
  memory.fill(to, 0, <usize>n * size);
  for (let k = 0; k < n; ++k)
    memory.copy(to + <usize>k * size + <usize>first * sizeof<T>(), pb + <usize>k * stepB + <usize>first * sizeof<T>(), <usize>(end - first) * sizeof<T>());
  return to;
}

// Subtract columns [from, to) times their x from the sums of rows [low, high). N: how many columns there will be in all.
export function spread<T>(job: usize, low: i32, high: i32, from: i32, to: i32, N: i32): void {
  const x = addressAt(job, JOB_X), A = addressAt(job, JOB_A), step = addressAt(job, JOB_A_COL), records = addressAt(job, JOB_WORK);
  for (let column = from; column < to; column += COLUMNS) {
    const n = min(COLUMNS, to - column), px = x + <usize>column * sizeof<T>(), top = A + <usize>column * step;
    for (let row = low & ~7; row < high; row += 8) {
      const record = records + <usize>(row >> 3) * RECORD, first = max(low - row, 0), end = min(high - row, 8);
      let pb = top + <usize>row * sizeof<T>(), stepB = step;
      if (end - first < 8) { pb = pack<T>(pb, step, n, first, end); stepB = 8 * sizeof<T>(); }
      if (unplaced(record)) place<T>(px, pb, stepB, n, N, record, false);
      if (strip<T, Checked>(px, sizeof<T>(), pb, stepB, n, record)) continue;
      place<T>(px, pb, stepB, n, N, record, true);
      if (!strip<T, Checked>(px, sizeof<T>(), pb, stepB, n, record)) memory.fill(record, 0xff, RECORD); // NaN everywhere
    }
  }
}

// What was gathered for row i, as the enclosure of its sum over N columns (strip subtracts); a move of the grid every 12 columns
// may have cost one step more each.
export function spreadRecord(job: usize, i: i32, N: i32, record: usize): void {
  const p = addressAt(job, JOB_WORK) + <usize>(i >> 3) * RECORD + ((i & 7) << 3), G = f64.load(p, GRIDS);
  setRecord(record, G - f64.load(p), -f64.load(p, REST), restBound(G, <f64>(N + (N >> 3) + 4)));
}

// Columns FROM to TO, and the entries too once all columns were there.
export function gemvByColumns<T>(job: usize): void {
  const M = i32At(job, JOB_M), K = i32At(job, JOB_K), to = i32At(job, JOB_TO);
  while (true) {
    const first = take(job, 8 * GROUPS), end = min(first + 8 * GROUPS, M);
    if (first >= M) break;
    spread<T>(job, first, end, i32At(job, JOB_FROM), to, K);
    if (to < K) continue;
    for (let i = first; i < end; ++i) {
      spreadRecord(job, i, K, frame);
      entry<T>(job, i, frame);
    }
  }
}
