// Sums over the columns of a matrix whose columns are contiguous, for gemv.ts and trsv.ts: eight rows at a time as the lanes of
// strip(), COLUMNS columns at a time.
import { setRecord } from "../exact/certificate";
import { frame } from "../frame";
import { MAX_TERM, MIN_GRID, binade, grid, log2Up } from "../grid";
import { JOB_A, JOB_A_COL, JOB_WORK, JOB_X, RECORD, SCRATCH_OUT } from "../layout";
import { load, load2, load4, load6, mul, one, splat } from "../simd";
import { Checked, GRIDS, REST, moveSum, restBound, startSum, strip } from "./strip";
import { addressAt } from "../team";

// As many streams from memory as the processor follows (n = 4096: 0.60 ns per element, 0.75 with 32 columns).
@inline const COLUMNS: i32 = 12;

// Place the grids of a group of eight sums, by the largest of n terms per row: for sums that have no grid yet or, if `move`, for all.
// N terms of at most the largest, M, then stay in the binade: N M <= 2^(k-2), and a sum that moves is below 2^(k-2).
function placeGrids<T>(px: usize, pb: usize, stepB: usize, n: i32, N: i32, record: usize, move: bool): void {
  let m0 = splat(0), m1 = m0, m2 = m0, m3 = m0;
  for (let i = 0; i < n; ++i, px += sizeof<T>(), pb += stepB) {
    const a = splat(one<T>(px));
    m0 = f64x2.pmax(m0, f64x2.abs(mul(a, load<T>(pb))));
    m1 = f64x2.pmax(m1, f64x2.abs(mul(a, load2<T>(pb))));
    m2 = f64x2.pmax(m2, f64x2.abs(mul(a, load4<T>(pb))));
    m3 = f64x2.pmax(m3, f64x2.abs(mul(a, load6<T>(pb))));
  }
  placeGrid(record, 0, f64x2.extract_lane(m0, 0), N, move); placeGrid(record, 1, f64x2.extract_lane(m0, 1), N, move);
  placeGrid(record, 2, f64x2.extract_lane(m1, 0), N, move); placeGrid(record, 3, f64x2.extract_lane(m1, 1), N, move);
  placeGrid(record, 4, f64x2.extract_lane(m2, 0), N, move); placeGrid(record, 5, f64x2.extract_lane(m2, 1), N, move);
  placeGrid(record, 6, f64x2.extract_lane(m3, 0), N, move); placeGrid(record, 7, f64x2.extract_lane(m3, 1), N, move);
}
function placeGrid(record: usize, lane: i32, largest: f64, N: i32, move: bool): void {
  const G = f64.load(record + (lane << 3), GRIDS);
  if (G != 0 && !move) return;
  const needed = largest < MAX_TERM ? grid(max(binade(largest) + log2Up(max(N, COLUMNS)) + 2, MIN_GRID)) : NaN;
  const p = record + (lane << 3), next = G == 0 ? needed : max(2 * G, needed); // a NaN stays, and the certificate fails
  if (G == 0) startSum(p, 0, next);
  else moveSum(p, G, next);
  f64.store(p, next, GRIDS);
}
function hasUnplaced(record: usize): bool {
  const zero = splat(0);
  return v128.any_true(v128.or(
    v128.or(f64x2.eq(v128.load(record, 128), zero), f64x2.eq(v128.load(record, 144), zero)),
    v128.or(f64x2.eq(v128.load(record, 160), zero), f64x2.eq(v128.load(record, 176), zero)),
  ));
}

// Rows [first, end) of a group of eight in n columns at pb, packed, with zeros for the other rows.
function pack<T>(pb: usize, stepB: usize, n: i32, first: i32, end: i32): usize {
  const to = frame + SCRATCH_OUT, size = 8 * sizeof<T>();
  memory.fill(to, 0, <usize>n * size);
  for (let k = 0; k < n; ++k)
    memory.copy(to + <usize>k * size + <usize>first * sizeof<T>(), pb + <usize>k * stepB + <usize>first * sizeof<T>(), <usize>(end - first) * sizeof<T>());
  return to;
}

// Subtract columns [from, to) times their x from the sums of rows [low, high). N is the number of columns in all.
export function subtractColumns<T>(job: usize, low: i32, high: i32, from: i32, to: i32, N: i32): void {
  const x = addressAt(job, JOB_X), A = addressAt(job, JOB_A), step = addressAt(job, JOB_A_COL), records = addressAt(job, JOB_WORK);
  for (let column = from; column < to; column += COLUMNS) {
    const n = min(COLUMNS, to - column), px = x + <usize>column * sizeof<T>(), top = A + <usize>column * step;
    for (let row = low & ~7; row < high; row += 8) {
      const record = records + <usize>(row >> 3) * RECORD, first = max(low - row, 0), end = min(high - row, 8);
      let pb = top + <usize>row * sizeof<T>(), stepB = step;
      if (end - first < 8) { pb = pack<T>(pb, step, n, first, end); stepB = 8 * sizeof<T>(); }
      if (hasUnplaced(record)) placeGrids<T>(px, pb, stepB, n, N, record, false);
      if (strip<T, Checked>(px, sizeof<T>(), pb, stepB, n, record)) continue;
      placeGrids<T>(px, pb, stepB, n, N, record, true);
      if (!strip<T, Checked>(px, sizeof<T>(), pb, stepB, n, record)) memory.fill(record, 0xff, RECORD); // NaN everywhere
    }
  }
}

// The enclosure of the sum of row i over N columns, the negative of what subtractColumns() has computed. Every COLUMNS columns the
// grid may have moved, which counts as one more step each.
export function encloseRow(job: usize, i: i32, N: i32, record: usize): void {
  const p = addressAt(job, JOB_WORK) + <usize>(i >> 3) * RECORD + ((i & 7) << 3), G = f64.load(p, GRIDS);
  setRecord(record, G - f64.load(p), -f64.load(p, REST), restBound(G, <f64>(N + (N >> 3) + 4)));
}
