// y := alpha A x + beta y. If the rows of A are contiguous, every row is a dot product (rows.ts). If its columns are, eight rows at a
// time are summed as lanes (columns.ts).
import { certifiedCombination, put, setRecord } from "../exact/certificate";
import { encloseRow, subtractColumns } from "./columns";
import { frame } from "../frame";
import { ENCLOSURE, JOB_A, JOB_A_COL, JOB_A_ROW, JOB_ALPHA, JOB_BETA, JOB_FROM, JOB_K, JOB_M, JOB_ROW, JOB_TO, JOB_X, JOB_Y, FLAGGED, ROUND } from "../layout";
import { recordDecided, resetHistory, skipFilter } from "./history";
import { rowDots } from "./rows";
import { filterSuffices, setScalars, setTerms, settle } from "../exact/settle";
import { one } from "../simd";
import { addressAt, i32At, take } from "../team";

// Rows that a worker takes at a time, and groups of eight rows if columns are contiguous.
@inline const ROWS: i32 = 12;
@inline const GROUPS: i32 = 64;

// @ts-ignore: decorator
@external("env", "fetch")
declare function fetch(row: i32): void;

// Set the terms of settle() to row i of A, from column `from` on, times x. The host fetches the row if it is not in this memory.
export function setRowTerms<T>(job: usize, i: i32, from: i32, x: usize, n: i32): void {
  const row = addressAt(job, JOB_ROW);
  if (row != 0) {
    fetch(i);
    setTerms(row + <usize>from * sizeof<T>(), sizeof<T>(), x, sizeof<T>(), n);
  } else {
    const step = addressAt(job, JOB_A_COL);
    setTerms(addressAt(job, JOB_A) + <usize>i * addressAt(job, JOB_A_ROW) + <usize>from * step, step, x, sizeof<T>(), n);
  }
}

// Compute entry i from the enclosure of its sum. Returns whether the filter decided it, or would have.
function computeEntry<T>(job: usize, i: i32, record: usize): bool {
  const alpha = f64.load(job + JOB_ALPHA), beta = f64.load(job + JOB_BETA), p = addressAt(job, JOB_Y) + <usize>i * sizeof<T>();
  const y = beta == 0 ? 0 : one<T>(p);
  let v = certifiedCombination(record, alpha, beta, y, sizeof<T>() == 4);
  let decided = v == v;
  if (!decided) {
    setRowTerms<T>(job, i, 0, addressAt(job, JOB_X), i32At(job, JOB_K));
    setScalars(alpha, beta, y, 0);
    v = settle<T>(ROUND, 1, sizeof<T>() == 4);
    decided = filterSuffices;
  }
  put<T>(p, v);
  return decided;
}

// Rows JOB_FROM to JOB_TO.
export function gemvByRows<T>(job: usize): void {
  const n = i32At(job, JOB_K), to = i32At(job, JOB_TO), x = addressAt(job, JOB_X);
  const A = addressAt(job, JOB_A), step = addressAt(job, JOB_A_ROW), records = frame + FLAGGED;
  if (i32At(job, JOB_FROM) == 0) resetHistory();
  while (true) {
    const first = take(job, ROWS), end = min(first + ROWS, to), skip = skipFilter();
    if (first >= to) break;
    for (let i = first; i < end; ++i) setRecord(records + <usize>(i - first) * ENCLOSURE, 0, 0, skip ? NaN : 0);
    if (!skip) rowDots<T>(records, A + <usize>first * step, step, end - first, x, n);
    let decided = 0;
    for (let i = first; i < end; ++i) decided += <i32>computeEntry<T>(job, i, records + <usize>(i - first) * ENCLOSURE);
    recordDecided(decided);
  }
}

// Columns JOB_FROM to JOB_TO; after the last column, the entries too.
export function gemvByColumns<T>(job: usize): void {
  const M = i32At(job, JOB_M), K = i32At(job, JOB_K), to = i32At(job, JOB_TO);
  while (true) {
    const first = take(job, 8 * GROUPS), end = min(first + 8 * GROUPS, M);
    if (first >= M) break;
    subtractColumns<T>(job, first, end, i32At(job, JOB_FROM), to, K);
    if (to < K) continue;
    for (let i = first; i < end; ++i) {
      encloseRow(job, i, K, frame);
      computeEntry<T>(job, i, frame);
    }
  }
}
