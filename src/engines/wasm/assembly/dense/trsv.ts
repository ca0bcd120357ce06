// Triangular substitution, blocked as in the triangular paper: the unknowns are divided into blocks in the order of substitution. For
// each block come the products with the unknowns solved before, then a local solve with the diagonal block, with one rounding per
// element.
//
// If the rows of T are contiguous, workers take block rows by a counter, use the unknowns of other blocks as they are solved (JOB_DONE
// counts the solved blocks), and solve their block when all blocks before it are done. A block waits only for blocks taken earlier,
// so one worker can always proceed. If the columns are contiguous, a solved block is subtracted from all remaining sums, where every
// worker has its share of the rows.
import { BOUND_SLACK, addExactly, certifiedEntry, copyRecord, put, quickQuotient, setRecord } from "../exact/certificate";
import { filter } from "../exact/filter";
import { frame } from "../frame";
import { encloseRow, subtractColumns } from "./columns";
import { setRowTerms } from "./gemv";
import { recordDecided, resetHistory, skipFilter } from "./history";
import { BOUND, ENCLOSURE, HIGH, JOB_A, JOB_A_COL, JOB_A_ROW, JOB_BLOCK_SIZE, JOB_DONE, JOB_FINISH, JOB_FROM, JOB_M, JOB_OUT, JOB_REFINE, JOB_TO, JOB_UNIT, JOB_UPPER, JOB_WORK, JOB_WORK_SIZE, JOB_WORKERS, JOB_X, JOB_Y, LOW, CORRECTED, RECORD, RESIDUAL, ROUND, SINGLE } from "../layout";
import { Dot } from "../range";
import { rowDots } from "./rows";
import { SHORT, shortDot } from "../exact/shortDot";
import { filterSuffices, setScalars, setTerms, settle } from "../exact/settle";
import { one } from "../simd";
import { addressAt, barrier, i32At, setAndWake, take, waitForMore } from "../team";

// The workspace for a block of `size` rows, in this order: enclosures of the products outside the diagonal block, the residual and the
// correction of a refinement, and the diagonal block, row by row.
@inline function residualAt(work: usize, size: i32): usize { return work + <usize>size * ENCLOSURE; }
@inline function correctionAt(work: usize, size: i32): usize { return residualAt(work, size) + (<usize>size << 3); }
@inline function diagonalAt(work: usize, size: i32): usize { return correctionAt(work, size) + (<usize>size << 3); }

let low: i32 = 0, high: i32 = 0; // the rows of the current block
let decided: i32 = 0; // how many of them the filter decided, or would have decided
function setBlock(job: usize, k: i32): void {
  const n = i32At(job, JOB_M), size = i32At(job, JOB_BLOCK_SIZE);
  if (i32At(job, JOB_UPPER)) {
    high = n - k * size;
    low = max(high - size, 0);
  } else {
    low = k * size;
    high = min(low + size, n);
  }
}

// The rows of the block, in order: out_i from rhs_i, minus the enclosure in its record (if records is not 0), minus the products in the
// diagonal block, which is at `diagonal`. Vectors are indexed by the row of T.
function solveRows<T>(job: usize, kind: i32, diagonal: usize, step: usize, records: usize, rhs: usize, x: usize, out: usize): void {
  const upper = i32At(job, JOB_UPPER) != 0, unit = i32At(job, JOB_UNIT) != 0, residual = kind == RESIDUAL;
  decided = 0;
  const own = <i32>(residual && !unit), finish = residual || unit && kind != CORRECTED ? ROUND : kind;
  for (let r = 0; r < high - low; ++r) {
    const i = upper ? high - 1 - r : low + r;
    if (records != 0) copyRecord(records + <usize>(i - low) * ENCLOSURE, frame);
    else setRecord(frame, 0, 0, 0);
    const from = upper ? i + 1 - own : low, n = (upper ? high : i + own) - from, row = diagonal + <usize>(i - low) * step;
    const noEnclosure = f64.load(frame, BOUND) != f64.load(frame, BOUND);
    if (n > 0 && !noEnclosure) {
      const a = row + <usize>(from - low) * sizeof<T>(), z = x + <usize>from * sizeof<T>();
      if (n <= SHORT) shortDot<T>(frame, a, z, n);
      else if (!filter<T, Dot>(frame, a, z, n)) f64.store(frame, NaN, BOUND);
    }
    f64.store(frame, -f64.load(frame, HIGH), HIGH);
    f64.store(frame, -f64.load(frame, LOW), LOW);
    const b = one<T>(rhs + <usize>i * sizeof<T>()), extra = residual && unit ? -one<T>(x + <usize>i * sizeof<T>()) : 0;
    addExactly(frame, b);
    if (extra != 0) addExactly(frame, extra);
    const d: f64 = finish == ROUND || unit ? 1 : one<T>(row + <usize>(i - low) * sizeof<T>());
    let v = finish == SINGLE && sizeof<T>() == 8 ? quickQuotient(f64.load(frame, HIGH), f64.load(frame, LOW), f64.load(frame, BOUND) * BOUND_SLACK, d) : NaN;
    if (v != v) v = certifiedEntry(frame, finish, d, sizeof<T>() == 4);
    if (v == v) ++decided;
    else {
      if (records != 0) {
        const first = upper ? from : 0, all = upper ? i32At(job, JOB_M) - from : n + low;
        setRowTerms<T>(job, i, first, x + <usize>first * sizeof<T>(), all);
      } else {
        setTerms(row + <usize>(from - low) * sizeof<T>(), sizeof<T>(), x + <usize>from * sizeof<T>(), sizeof<T>(), n);
      }
      setScalars(-1, 1, b, extra);
      v = settle<T>(finish, d, sizeof<T>() == 4);
      decided += <i32>filterSuffices;
    }
    put<T>(out + <usize>i * sizeof<T>(), v);
  }
}

function isFinite<T>(p: usize, n: i32): bool {
  let zero: f64 = 0;
  for (let i = 0; i < n; ++i) zero += one<T>(p + <usize>i * sizeof<T>()) * 0;
  return zero == 0;
}

// Solve the current block, with JOB_REFINE steps of refinement.
function solveBlock<T>(job: usize, diagonal: usize, step: usize, work: usize): void {
  const kind = i32At(job, JOB_FINISH), x = addressAt(job, JOB_X), size = i32At(job, JOB_BLOCK_SIZE);
  solveRows<T>(job, kind, diagonal, step, work, addressAt(job, JOB_Y), x, addressAt(job, JOB_OUT));
  if (kind == RESIDUAL) return;
  const start = <usize>low * sizeof<T>(), r = residualAt(work, size) - start, d = correctionAt(work, size) - start;
  for (let k = i32At(job, JOB_REFINE); k > 0 && isFinite<T>(x + start, high - low); --k) {
    solveRows<T>(job, RESIDUAL, diagonal, step, work, addressAt(job, JOB_Y), x, r);
    solveRows<T>(job, kind, diagonal, step, 0, r, d, d);
    for (let i = low; i < high; ++i) {
      const at = <usize>i * sizeof<T>(), sum = one<T>(x + at) + one<T>(d + at);
      put<T>(x + at, sum == 0 ? 0 : sum);
    }
  }
}

// Blocks JOB_FROM to JOB_TO, whose rows are in memory.
export function trsvByRows<T>(job: usize, worker: i32): void {
  const n = i32At(job, JOB_M), size = i32At(job, JOB_BLOCK_SIZE), upper = i32At(job, JOB_UPPER) != 0;
  const A = addressAt(job, JOB_A), step = addressAt(job, JOB_A_ROW), x = addressAt(job, JOB_X);
  const work = addressAt(job, JOB_WORK) + <usize>worker * addressAt(job, JOB_WORK_SIZE);
  if (i32At(job, JOB_FROM) == 0) resetHistory();
  while (true) {
    const k = take(job, 1);
    if (k >= i32At(job, JOB_TO)) break;
    setBlock(job, k);
    const skip = skipFilter();
    for (let i = low; i < high; ++i) setRecord(work + <usize>(i - low) * ENCLOSURE, 0, 0, skip ? NaN : 0);
    let used = 0;
    while (used < k) {
      const done = i32At(job, JOB_FINISH) == RESIDUAL ? k : min(k, waitForMore(job, job + JOB_DONE, used));
      const from = upper ? n - done * size : used * size, to = upper ? n - used * size : done * size;
      if (!skip) rowDots<T>(work, A + <usize>low * step + <usize>from * sizeof<T>(), step, high - low, x + <usize>from * sizeof<T>(), to - from);
      used = done;
    }
    solveBlock<T>(job, A + <usize>low * step + <usize>low * sizeof<T>(), step, work);
    if (k > 0) recordDecided(decided);
    setAndWake(job, job + JOB_DONE, k + 1);
  }
}

// Blocks JOB_FROM to JOB_TO, whose columns are in memory.
export function trsvByColumns<T>(job: usize, worker: i32): void {
  const n = i32At(job, JOB_M), size = i32At(job, JOB_BLOCK_SIZE), workers = i32At(job, JOB_WORKERS);
  const A = addressAt(job, JOB_A), step = addressAt(job, JOB_A_COL);
  const work = addressAt(job, JOB_WORK) + <usize>((n + 7) >> 3) * RECORD, diagonal = diagonalAt(work, size), width = <usize>size * sizeof<T>();
  for (let k = i32At(job, JOB_FROM); k < i32At(job, JOB_TO); ++k) {
    setBlock(job, k);
    if (worker == 0) {
      for (let i = low; i < high; ++i) {
        const record = work + <usize>(i - low) * ENCLOSURE;
        if (k == 0) setRecord(record, 0, 0, 0);
        else encloseRow(job, i, k * size, record);
        for (let j = low; j < high; ++j)
          store<T>(diagonal + <usize>(i - low) * width + <usize>(j - low) * sizeof<T>(), load<T>(A + <usize>i * sizeof<T>() + <usize>j * step));
      }
      solveBlock<T>(job, diagonal, width, work);
    }
    barrier(job, 0);
    const upper = i32At(job, JOB_UPPER) != 0, first = upper ? 0 : high, end = upper ? low : n;
    // Every worker has whole groups of eight rows.
    const groups = (end + 7) / 8 - first / 8, share = (groups + workers - 1) / workers;
    const from = (first & ~7) + 8 * share * worker, to = min(from + 8 * share, end);
    if (from < to) subtractColumns<T>(job, max(from, first), to, low, high, n);
    barrier(job, 0);
  }
}
