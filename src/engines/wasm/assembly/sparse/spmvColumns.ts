// y := alpha A x + beta y for a sparse A that is stored by columns. Every worker owns a range of rows and passes over all columns: it adds
// the products of its rows to a compensated sum for each row. Rows that these do not decide are gathered by another pass and settled
// like rows of a matrix by rows (spmv.ts). Called by work() in matrices.ts for the jobs of jobs/spmv.ts.
import { certified, certifiedCombination, excess, put, setRecord } from "../exact/certificate";
import { clear } from "../exact/ladder";
import { sign } from "../exact/settle";
import { addNumber, addProduct, round, scale } from "../exact/superaccumulator";
import { MIN_PRODUCT } from "../exact/terms";
import { frame } from "../frame";
import { CLOSE_ROWS, FLAGGED, GATHER_ROWS, JOB_A, JOB_ALPHA, JOB_B, JOB_BEGINS, JOB_BETA, JOB_FROM, JOB_INDICES, JOB_INFO, JOB_M, JOB_PIVOTS, JOB_REFINE, JOB_TASK_COUNT, JOB_TO, JOB_VALUES, JOB_WORK, JOB_WORKERS, JOB_WORK_SIZE, JOB_X, JOB_Y, SETTLE_ROWS, SUM_COLUMNS, SUM_RECORD, WHOLE_PRODUCT } from "../layout";
import { U, one, twoSumError } from "../simd";
import { addressAt, i32At } from "../team";
import { isQuick, settleRow } from "./spmv";
import { integer } from "./triangle";

// The record of a row: the sum s of its products, the sum c of their error terms, the sum of their magnitudes, their number, which becomes
// -1 when the entry is decided, and whether c is not exact: ties are frequent where entries have few bits, and no bound decides them. The record of a row that is not decided then has the place of its next and of its first product
// among those gathered, or -1 if it is not among the rows of this pass.
@inline const REST: usize = 8;
@inline const MAGNITUDE: usize = 16;
@inline const COUNT: usize = 24;
@inline const INEXACT: usize = 28;
@inline const FIRST_PLACE: usize = 4;
@inline function recordOf(job: usize, i: i32): usize { return addressAt(job, JOB_WORK) + <usize>i * SUM_RECORD; }

export function spmvByColumns<T>(job: usize, worker: i32): void {
  const rows = i32At(job, JOB_M), workers = i32At(job, JOB_WORKERS), from = i32At(job, JOB_FROM), to = i32At(job, JOB_TO), stage = i32At(job, JOB_REFINE);
  const low = <i32>(<i64>rows * worker / workers), high = <i32>(<i64>rows * (worker + 1) / workers);
  if (stage == WHOLE_PRODUCT) {
    addColumns<T>(job, low, high, from, to);
    closeRows<T>(job, low, high);
    for (let first = low; first < high; ) {
      const next = selectRows<T>(job, first, high);
      if (hasSelected) {
        gatherRows<T>(job, worker, low, high, from, to);
        settleRows<T>(job, worker, first, next);
      }
      first = next;
    }
  } else if (stage == SUM_COLUMNS) addColumns<T>(job, low, high, from, to);
  else if (stage == GATHER_ROWS) gatherRows<T>(job, worker, low, high, from, to);
  else {
    if (stage == CLOSE_ROWS) closeRows<T>(job, low, high);
    if (stage == SETTLE_ROWS) settleRows<T>(job, worker, i32At(job, JOB_PIVOTS), i32At(job, JOB_INFO));
    const first = stage == CLOSE_ROWS ? low : i32At(job, JOB_INFO);
    i32.store(job, first, JOB_PIVOTS);
    i32.store(job, selectRows<T>(job, first, high), JOB_INFO);
    i32.store(job, <i32>hasSelected, JOB_TASK_COUNT);
  }
}

// Add the products of columns [from, to) to the sums of rows [low, high); before column 0 they are zero. The bound is that of enclose() in
// spmv.ts, with one lane.
function addColumns<T>(job: usize, low: i32, high: i32, from: i32, to: i32): void {
  const begins = addressAt(job, JOB_BEGINS), indices = addressAt(job, JOB_INDICES), values = addressAt(job, JOB_VALUES), x = addressAt(job, JOB_X), records = addressAt(job, JOB_WORK);
  if (from == 0) memory.fill(recordOf(job, low), 0, <usize>(high - low) * SUM_RECORD);
  for (let j = from; j < to; ++j) {
    const z = one<T>(x + <usize>j * sizeof<T>());
    for (let p = integer(begins, j), end = integer(begins, j + 1); p < end; ++p) {
      const i = integer(indices, p);
      if (<u32>(i - low) >= <u32>(high - low)) continue;
      const record = records + <usize>i * SUM_RECORD, a = one<T>(values + <usize>p * sizeof<T>()), product = a * z, s = f64.load(record), t = s + product;
      const error = twoSumError(s, product, t), e = sizeof<T>() == 8 ? -excess(a, z) : 0, both = error + e, c = f64.load(record, REST), rest = c + both;
      const underflows = sizeof<T>() == 8 && (<i32>!(abs(product) > MIN_PRODUCT) & <i32>(a != 0) & <i32>(z != 0)) != 0;
      const inexact = <i32>(twoSumError(c, both, rest) != 0) | <i32>(twoSumError(error, e, both) != 0) | <i32>underflows;
      f64.store(record, t);
      f64.store(record, rest, REST);
      f64.store(record, f64.load(record, MAGNITUDE) + abs(product), MAGNITUDE);
      i32.store(record, i32.load(record, COUNT) + 1, COUNT);
      i32.store(record, i32.load(record, INEXACT) | inexact, INEXACT);
    }
  }
}

// The entries of rows [low, high) that their sums decide.
function closeRows<T>(job: usize, low: i32, high: i32): void {
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), y = addressAt(job, JOB_Y), enclosure = frame + FLAGGED;
  for (let i = low; i < high; ++i) {
    const record = recordOf(job, i), at = y + <usize>i * sizeof<T>(), count = i32.load(record, COUNT), size = <f64>count + 5, value = beta == 0 ? 0 : one<T>(at);
    const bound = count == 0 ? 0 : size * size * (U * U * f64.load(record, MAGNITUDE) + f64.MIN_VALUE);
    setRecord(enclosure, f64.load(record), f64.load(record, REST), bound);
    let v = certifiedCombination(enclosure, alpha, beta, value, sizeof<T>() == 4);
    if (v != v && i32.load(record, INEXACT) == 0 && isQuick(alpha, beta)) {
      // alpha (s + c + alpha beta y), if two doubles hold it.
      const s = f64.load(record), c = f64.load(record, REST), b = alpha * beta * value, t = s + b, error = twoSumError(s, b, t), rest = c + error;
      if (twoSumError(c, error, rest) == 0) v = certified(alpha * t, alpha * rest, 0, sizeof<T>() == 4);
    }
    if (v == v) {
      put<T>(at, v);
      i32.store(record, -1, COUNT);
    } else {
      i32.store(record, -1);
    }
  }
}

// Give places to the products of rows that are not decided, from row `first` on, while there is room. Returns the row after the last one
// looked at. A row with more products than there is room for is accumulated on its own: less than all entries / room of them exist. (The
// columns are then all at hand: the host gives a stream of columns enough room.)
let hasSelected: bool = false;
function selectRows<T>(job: usize, first: i32, high: i32): i32 {
  const room = i32At(job, JOB_WORK_SIZE);
  let used = 0;
  hasSelected = false;
  for (let i = first; i < high; ++i) {
    const record = recordOf(job, i), count = i32.load(record, COUNT);
    if (count < 0) continue;
    if (count > room) { accumulateRow<T>(job, i); continue; }
    if (used + count > room) return i;
    i32.store(record, used);
    i32.store(record, used, FIRST_PLACE);
    used += count;
    hasSelected = true;
  }
  return high;
}

// Copy the products of the selected rows among [low, high) in columns [from, to).
function gatherRows<T>(job: usize, worker: i32, low: i32, high: i32, from: i32, to: i32): void {
  const begins = addressAt(job, JOB_BEGINS), indices = addressAt(job, JOB_INDICES), values = addressAt(job, JOB_VALUES), records = addressAt(job, JOB_WORK);
  const gatheredValues = valuesOf<T>(job, worker), gatheredIndices = indicesOf(job, worker);
  for (let j = from; j < to; ++j) {
    for (let p = integer(begins, j), end = integer(begins, j + 1); p < end; ++p) {
      const i = integer(indices, p);
      if (<u32>(i - low) >= <u32>(high - low)) continue;
      const record = records + <usize>i * SUM_RECORD, place = i32.load(record);
      if (i32.load(record, COUNT) < 0 || place < 0) continue;
      store<T>(gatheredValues + <usize>place * sizeof<T>(), load<T>(values + <usize>p * sizeof<T>()));
      i32.store(gatheredIndices + (<usize>place << 2), j);
      i32.store(record, place + 1);
    }
  }
}
@inline function valuesOf<T>(job: usize, worker: i32): usize { return addressAt(job, JOB_A) + <usize>worker * addressAt(job, JOB_WORK_SIZE) * sizeof<T>(); }
@inline function indicesOf(job: usize, worker: i32): usize { return addressAt(job, JOB_B) + <usize>worker * addressAt(job, JOB_WORK_SIZE) * 4; }

// The entries of the selected rows among [first, end).
function settleRows<T>(job: usize, worker: i32, first: i32, end: i32): void {
  for (let i = first; i < end; ++i) {
    const record = recordOf(job, i), count = i32.load(record, COUNT);
    if (count < 0) continue;
    const place = <usize>i32.load(record, FIRST_PLACE);
    settleRow<T>(job, i, valuesOf<T>(job, worker) + place * sizeof<T>(), indicesOf(job, worker) + (place << 2), count, true);
    i32.store(record, -1, COUNT);
  }
}

// One row in the superaccumulator.
function accumulateRow<T>(job: usize, row: i32): void {
  const begins = addressAt(job, JOB_BEGINS), indices = addressAt(job, JOB_INDICES), values = addressAt(job, JOB_VALUES), x = addressAt(job, JOB_X);
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), finite = alpha - alpha == 0, at = addressAt(job, JOB_Y) + <usize>row * sizeof<T>();
  clear();
  for (let j = i32At(job, JOB_FROM), to = i32At(job, JOB_TO); j < to; ++j) {
    for (let p = integer(begins, j), end = integer(begins, j + 1); p < end; ++p) {
      if (integer(indices, p) != row) continue;
      const a = one<T>(values + <usize>p * sizeof<T>()), z = one<T>(x + <usize>j * sizeof<T>());
      if (finite) addProduct(a, z);
      else addNumber(alpha * sign(a) * sign(z));
    }
  }
  if (finite && alpha != 1) scale(alpha);
  if (beta != 0) addProduct(beta, one<T>(at));
  put<T>(at, round(sizeof<T>() == 4));
  i32.store(recordOf(job, row), -1, COUNT);
}
