// Triangular substitution with many right-hand sides: eight columns at a time are the lanes of strip(). Unknowns are numbered in the order
// of substitution, so every triangle is lower, with strides of either sign. Rows of T go in blocks: a block is packed once for all columns;
// for each group of columns come the products with the unknowns solved before, then the diagonal block row by row. Every worker has groups
// of its own, and waits for nobody.
//
// The grid of an entry follows from the largest magnitude in its row of T and a limit for the sum of magnitudes in its column of X, as in
// gemm.ts, so no sum needs a check. The limit is 2^MARGIN times the sum so far; if the sum reaches it within a block, the column gets a higher
// one, and its sums in the rest of the block move to coarser grids.
import { BOUND_SLACK, addExactly, certifiedEntry, put, setRecord } from "../exact/certificate";
import { frame } from "../frame";
import { MAX_TERM, MIN_GRID, binade, grid, powerOfTwo } from "../grid";
import { CORRECTED, JOB_A, JOB_A_COL, JOB_A_ROW, JOB_B, JOB_C, JOB_FINISH, JOB_FROM, JOB_M, JOB_N, JOB_OUT, JOB_SINGLE, JOB_TO, JOB_UNIT, JOB_WORK, JOB_WORK_SIZE, JOB_WORKERS, JOB_X, RECORD, RESIDUAL, ROUND, SINGLE, TRSM_GROUP, TRSM_ROWS } from "../layout";
import { hasNaN, quotientLanes, roundedLanes } from "../exact/lanes";
import { setScalars, setTerms, settle } from "../exact/settle";
import { U, add, isFused, mul, one, splat, sub, sumError } from "../simd";
import { DEPTH } from "./lu";
import { GRIDS, REST, Unchecked, moveSum, restBound, startSum, strip } from "./strip";
import { addressAt, i32At } from "../team";

@inline const MARGIN: i32 = 6;
@inline const OUT_OF_RANGE: i32 = 100000; // an exponent that makes every grid NaN
@inline const ALL_ZERO: i32 = -4000; // the exponent of a row of zeros

// A worker's memory: for each row of the block its exponent (the smallest e with all magnitudes below 2^e), eight sums with their grids, and
// the row of T, packed as binary64 numbers.
let exponents: usize = 0, records: usize = 0, packed: usize = 0;
let n: i32 = 0, single: bool = false, kind: i32 = 0, residual: bool = false, top: i32 = 0, rows: i32 = 0;
// The group: rows of eight right-hand sides, unknowns and results; for each of its columns the sum of magnitudes of the unknowns so far, its
// limit, the exponent of the limit, and the number of moves in this block, 64 bytes each.
let right: usize = 0, unknowns: usize = 0, results: usize = 0, sizes: usize = 0;
@inline const LIMITS: usize = 64;
@inline const LIMIT_EXPONENTS: usize = 128;
@inline const MOVES: usize = 192;

// Bytes of memory for each worker.
export function trsmWork(order: i32): usize { return TRSM_ROWS * (8 + RECORD + (<usize>order << 3)); }

@inline function recordOf(r: i32): usize { return records + <usize>r * RECORD; }
@inline function rowOf(r: i32): usize { return packed + ((<usize>r * <usize>n) << 3); }

// Pack rows [top, top + rows) of T up to their diagonal, which is 1 if it is not stored, and find their exponents. The inner loop runs over
// contiguous memory.
function packRows<T>(job: usize): void {
  const A = addressAt(job, JOB_A), rowStep = addressAt(job, JOB_A_ROW), colStep = addressAt(job, JOB_A_COL), unit = i32At(job, JOB_UNIT) != 0;
  const byColumns = abs(<i32>rowStep) < abs(<i32>colStep);
  for (let j = 0; byColumns && j < top + rows; ++j)
    for (let r = max(j - top, 0); r < rows; ++r) f64.store(rowOf(r) + (<usize>j << 3), one<T>(A + <usize>(top + r) * rowStep + <usize>j * colStep));
  for (let r = 0; r < rows; ++r) {
    const k = top + r, row = rowOf(r);
    let from = A + <usize>k * rowStep;
    if (!byColumns) for (let to = row, end = row + (<usize>k << 3); to <= end; to += 8, from += colStep) f64.store(to, one<T>(from));
    if (unit) f64.store(row + (<usize>k << 3), 1);
    let m = splat(0), j = row;
    const terms = residual ? k + 1 : k;
    for (const end = row + (<usize>(terms & ~1) << 3); j != end; j += 16) m = f64x2.max(m, f64x2.abs(v128.load(j)));
    if ((terms & 1) != 0) m = f64x2.max(m, f64x2.abs(v128.load64_splat(j)));
    const largest = max(f64x2.extract_lane(m, 0), f64x2.extract_lane(m, 1)); // NaN if one of them is
    i32.store(exponents + (<usize>r << 2), largest == 0 ? ALL_ZERO : largest < MAX_TERM ? binade(largest) : OUT_OF_RANGE);
  }
}

// The sums of N products of at most 2^row, with magnitudes of the unknowns that sum up to less than 2^column, stay below 2^(k - 2).
function gridOf(row: i32, column: i32): f64 {
  const k = row + column + 2;
  return k > 960 ? NaN : grid(max(k, MIN_GRID));
}
@inline function exponentOfRow(r: i32): i32 { return i32.load(exponents + (<usize>r << 2)); }
@inline function limitExponent(lane: i32): i32 { return i32.load(sizes + (lane << 3), LIMIT_EXPONENTS); }

// A new limit for the sum of magnitudes of a column.
function setLimit(lane: i32): void {
  const p = sizes + (lane << 3), size = f64.load(p) * BOUND_SLACK;
  const e = size < MAX_TERM ? binade(size) + MARGIN : OUT_OF_RANGE;
  i32.store(p, e, LIMIT_EXPONENTS);
  f64.store(p, e == OUT_OF_RANGE ? Infinity : powerOfTwo(e), LIMITS);
}
function addMagnitude(lane: i32, x: f64): void { f64.store(sizes + (lane << 3), f64.load(sizes + (lane << 3)) + abs(x)); }

// The sum of magnitudes has reached its limit: raise it, and move the sums of the rows from r on.
function raiseLimit(lane: i32, r: i32): void {
  setLimit(lane);
  const p = sizes + (lane << 3);
  f64.store(p, f64.load(p, MOVES) + 1, MOVES);
  for (; r < rows; ++r) {
    const sum = recordOf(r) + (lane << 3), G = gridOf(exponentOfRow(r), limitExponent(lane));
    moveSum(sum, f64.load(sum, GRIDS), G);
    f64.store(sum, G, GRIDS);
  }
}
function raiseLimits(r: i32): void {
  for (let lane = 0; lane < 8; ++lane) if (!(f64.load(sizes + (lane << 3)) * BOUND_SLACK < f64.load(sizes + (lane << 3), LIMITS))) raiseLimit(lane, r);
}

// Subtract the products with unknowns [from, to) from the sums of rows [r, end) of the block.
function subtractProducts(r: i32, end: i32, from: i32, to: i32): void {
  for (; from < to; from += DEPTH) {
    const depth = min(DEPTH, to - from), x = unknowns + (<usize>from << 6);
    for (let i = r; i < end; ++i) strip<f64, Unchecked>(rowOf(i) + (<usize>from << 3), 8, x, 64, depth, recordOf(i));
  }
}

// The current block of rows, for the current group of columns.
function solveGroup(): void {
  if (residual) for (let k = top; k < top + rows; ++k) for (let lane = 0; lane < 8; ++lane) addMagnitude(lane, f64.load(unknowns + (<usize>k << 6) + (lane << 3)));
  for (let lane = 0; lane < 8; ++lane) {
    setLimit(lane);
    f64.store(sizes + (lane << 3), 0, MOVES);
  }
  for (let r = 0; r < rows; ++r)
    for (let lane = 0; lane < 8; ++lane) {
      const sum = recordOf(r) + (lane << 3), G = gridOf(exponentOfRow(r), limitExponent(lane));
      startSum(sum, 0, G);
      f64.store(sum, G, GRIDS);
    }
  subtractProducts(0, rows, 0, top);
  for (let r = 0; r < rows; ++r) {
    subtractProducts(r, r + 1, top, top + r + <i32>residual);
    finishRow(r);
    if (!residual) raiseLimits(r + 1);
  }
}

// The entries of row r from their sums. The sums have N products, and every move of a grid counts as one more step.
function finishRow(r: i32): void {
  const k = top + r, N = k + <i32>residual, record = recordOf(r), d = f64.load(rowOf(r) + (<usize>k << 3)), at = <usize>k << 6;
  const quick = !single && (kind == ROUND || kind == SINGLE), divisor = splat(d), reciprocal = splat(1 / d);
  for (let lane = 0; lane < 8; lane += 2) {
    const p = record + (lane << 3), G = v128.load(p, GRIDS), b = v128.load(right + at + (lane << 3));
    let v = splat(NaN);
    if (quick) {
      // b is added as in addExactly(): TwoSum, and one rounding among the small parts.
      const steps = add(splat(<f64>(N + 2)), v128.load(sizes + (lane << 3), MOVES));
      const high = sub(v128.load(p), G), sum = add(b, high), rest = add(v128.load(p, REST), sumError(b, high, sum));
      const bound = mul(add(boundLanes(G, steps), mul(splat(U), f64x2.abs(rest))), splat(BOUND_SLACK));
      v = kind == ROUND ? roundedLanes(sum, rest, bound) : quotientLanes(sum, rest, bound, divisor, reciprocal);
    }
    v128.store(results + at + (lane << 3), v);
    if (hasNaN(v)) {
      if (f64x2.extract_lane(v, 0) != f64x2.extract_lane(v, 0)) settleEntry(r, lane, d, N);
      if (f64x2.extract_lane(v, 1) != f64x2.extract_lane(v, 1)) settleEntry(r, lane + 1, d, N);
    }
    if (!residual) v128.store(sizes + (lane << 3), add(v128.load(sizes + (lane << 3)), f64x2.abs(v128.load(results + at + (lane << 3)))));
  }
}
// restBound() in two lanes.
@inline function boundLanes(G: v128, N: v128): v128 {
  return add(mul(mul(G, splat(U * U / 1.5 * (isFused() ? 0.5 : 1))), mul(N, add(N, splat(3)))), mul(N, splat(8 * f64.MIN_VALUE)));
}

// The entry in row r and this lane, with more care and, if its sum does not decide it, from scratch.
function settleEntry(r: i32, lane: i32, d: f64, N: i32): void {
  const k = top + r, at = (<usize>k << 6) + (lane << 3), sum = recordOf(r) + (lane << 3), G = f64.load(sum, GRIDS), b = f64.load(right + at);
  // A sum is exact if all its products are zero.
  const isZero = f64.load(sizes + (lane << 3)) == 0 || exponentOfRow(r) == ALL_ZERO;
  setRecord(frame, f64.load(sum) - G, f64.load(sum, REST), isZero && G == G ? 0 : restBound(G, <f64>(N + 2) + f64.load(sizes + (lane << 3), MOVES)));
  addExactly(frame, b);
  let v = certifiedEntry(frame, kind, d, single);
  if (v != v) {
    setTerms(rowOf(r), 8, unknowns + (lane << 3), 64, N);
    setScalars(-1, 1, b, 0);
    v = settle<f64>(kind, d, single);
  }
  put<f64>(results + at, v);
}

// Rows JOB_FROM to JOB_TO of all columns.
export function trsm<T>(job: usize, worker: i32): void {
  n = i32At(job, JOB_M); single = i32At(job, JOB_SINGLE) != 0;
  kind = i32At(job, JOB_FINISH); residual = kind == RESIDUAL;
  if (residual || kind != CORRECTED && i32At(job, JOB_UNIT) != 0) kind = ROUND;
  exponents = addressAt(job, JOB_WORK) + <usize>worker * addressAt(job, JOB_WORK_SIZE);
  records = exponents + 8 * TRSM_ROWS;
  packed = records + TRSM_ROWS * RECORD;
  const groups = i32At(job, JOB_N) >> 3, workers = i32At(job, JOB_WORKERS), to = i32At(job, JOB_TO), column = <usize>n << 6;
  if (worker >= groups) return;
  for (top = i32At(job, JOB_FROM); top < to; top += TRSM_ROWS) {
    rows = min(TRSM_ROWS, to - top);
    packRows<T>(job);
    for (let group = worker; group < groups; group += workers) {
      right = addressAt(job, JOB_B) + <usize>group * column;
      unknowns = addressAt(job, JOB_X) + <usize>group * column;
      results = addressAt(job, JOB_OUT) + <usize>group * column;
      sizes = addressAt(job, JOB_C) + <usize>group * TRSM_GROUP;
      if (top == 0) memory.fill(sizes, 0, TRSM_GROUP);
      solveGroup();
    }
  }
}
