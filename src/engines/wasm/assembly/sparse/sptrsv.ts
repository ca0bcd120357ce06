// Sparse triangular solves by the schedules of the sparse paper: LEVR, LEVC, SLFR and SLFC are its Algorithms 1 to 4, GSF the one without
// levels that it compares with. Called by work() in matrices.ts for the jobs of jobs/sparse.ts.
//
// Lines are rows, or columns in plain arithmetic (LEVC, SLFC), in an order in which each depends only on earlier ones. In exact
// arithmetic the column-wise schedules use rows too: a finished column only signals, and the worker that owns a row computes its sum,
// so that the order of updates cannot affect the result.
//
// A worker waits only for lines that were taken before its own, so the worker with the earliest lines can always proceed: the
// workers need not all run at once, and one that waits for long goes to sleep.
import { put } from "../exact/certificate";
import { FLAGS_PER_LINE, JOB_B, JOB_BLOCKS, JOB_COUNTS, JOB_DIAGONAL, JOB_DIAGONAL_AT, JOB_DONE, JOB_EXACT, JOB_INDICES, JOB_LIST, JOB_LOOKUP, JOB_M, JOB_N, JOB_ORDER, JOB_OUT, JOB_PHASES, JOB_SCHEDULE, JOB_SEQUENCE, JOB_TARGETS, JOB_TASK_COUNT, JOB_UPPER, JOB_VALUES, JOB_WORKERS, JOB_X, JOB_Y, GSF, LEVC, LEVR, LOOKUP_SHIFT, SERIAL, SLFC } from "../layout";
import { startColumns } from "./exactColumns";
import { solveRows } from "./rows";
import { diagonalOf, endOf, firstOf, indexOf, integer, lineOf, originOf } from "./triangle";
import { addressAt, barrier, i32At, setAndWake, take, waitForMore } from "../team";

export function sptrsv<T>(job: usize, worker: i32): void {
  if (i32At(job, JOB_N) != 0) startColumns(job);
  const schedule = i32At(job, JOB_SCHEDULE), columns = (schedule == LEVC || schedule == SLFC) && !i32At(job, JOB_EXACT);
  if (columns && addressAt(job, JOB_ORDER) != 0) {
    copyRhs<T>(job, worker);
    barrier(job, 0);
  }
  if (schedule == SERIAL) {
    if (worker == 0) serially<T>(job);
  } else if (schedule == LEVR || schedule == LEVC) byLevels<T>(job, worker, columns);
  else if (schedule == GSF) synchronizationFree<T>(job);
  else byFlags<T>(job, columns);
  copySolution<T>(job, schedule == SERIAL ? 1 : i32At(job, JOB_WORKERS), worker);
}

// Rows or columns [from, to).
@inline function solveLines<T>(job: usize, from: i32, to: i32, columns: bool): void {
  if (columns) solveColumns<T>(job, from, to);
  else {
    fetchRhs<T>(job, from, to);
    solveRows<T>(job, from, to);
  }
}

// Copy b for rows [from, to) to where they are solved, if it is in this memory (JOB_B). Otherwise the host has copied all of it. Two copies
// of 128^3 numbers on the host take 5 ms of 11 on 16 cores; this one brings into the cache what the rows need next.
function fetchRhs<T>(job: usize, from: i32, to: i32): void {
  const b = addressAt(job, JOB_B);
  if (b == 0) return;
  const first = <usize>(i32At(job, JOB_UPPER) ? i32At(job, JOB_M) - to : from) * sizeof<T>();
  memory.copy(addressAt(job, JOB_Y) + first, b + first, <usize>(to - from) * sizeof<T>());
}

// Copy the solution to its place in this memory (JOB_OUT), every worker its share, when all of it is known: a call that fails has
// written nothing. JOB_DONE tells the host that writing has begun. If a worker dies then, the host copies the rest.
function copySolution<T>(job: usize, workers: i32, worker: i32): void {
  const out = addressAt(job, JOB_OUT);
  if (out == 0 || worker >= workers) return;
  if (workers > 1) barrier(job, 0);
  atomic.store<i32>(job + JOB_DONE, 1);
  const n = i32At(job, JOB_M), share = (n + workers - 1) / workers, from = min(share * worker, n), at = <usize>from * sizeof<T>();
  memory.copy(out + at, addressAt(job, JOB_Y) + at, <usize>(min(from + share, n) - from) * sizeof<T>());
}

// All rows, as many at a time as stay in the cache after fetchRhs().
@inline const SERIAL_ROWS: i32 = 1024;
function serially<T>(job: usize): void {
  for (let k = 0, n = i32At(job, JOB_M); k < n; k += SERIAL_ROWS) solveLines<T>(job, k, min(k + SERIAL_ROWS, n), false);
}

// Tasks [from, to) in the order of levels. A task is a block of rows or columns, or a single one.
function solveTasks<T>(job: usize, from: i32, to: i32, columns: bool): void {
  const sequence = addressAt(job, JOB_SEQUENCE), blocks = addressAt(job, JOB_BLOCKS);
  if (sequence == 0) solveLines<T>(job, from, to, columns);
  else for (let q = from; q < to; ++q) solveLines<T>(job, integer(blocks, integer(sequence, q)), integer(blocks, integer(sequence, q) + 1), columns);
}

// LEVR and LEVC: every worker has an equal share of each level, always the same part, so that most of what it needs from the previous
// level is in its own cache; then comes a barrier. Phases of many small levels are left to one worker.
function byLevels<T>(job: usize, worker: i32, columns: bool): void {
  const phases = addressAt(job, JOB_PHASES), count = i32At(job, JOB_TASK_COUNT), workers = i32At(job, JOB_WORKERS);
  for (let m = 0; m < count; ++m) {
    const start = integer(phases, m), next = integer(phases, m + 1), end = next < 0 ? ~next : next;
    if (m > 0) barrier(job, 0);
    if (start < 0) {
      if (worker == 0) solveTasks<T>(job, ~start, end, columns);
    } else {
      const share = (end - start + workers - 1) / workers, from = start + share * worker;
      if (from < end) solveTasks<T>(job, from, min(from + share, end), columns);
    }
  }
}

// SLFR and SLFC: workers take one block after another in the order of levels. Each block has a flag, raised when it is done, and a list of
// the blocks that it waits for. (With counters that every block decrements in those that wait for it, as in the sparse paper, 16 workers
// write to each other's cache lines all the time.)
function byFlags<T>(job: usize, columns: bool): void {
  const targets = addressAt(job, JOB_TARGETS), list = addressAt(job, JOB_LIST), count = i32At(job, JOB_TASK_COUNT);
  const sequence = addressAt(job, JOB_SEQUENCE), blocks = addressAt(job, JOB_BLOCKS);
  while (true) {
    const next = take(job, 1);
    if (next >= count) break;
    for (let p = integer(targets, next), end = integer(targets, next + 1); p < end; ++p) waitForMore(job, flagOf(job, integer(list, p)), 0);
    const block = sequence != 0 ? integer(sequence, next) : next;
    solveLines<T>(job, integer(blocks, block), integer(blocks, block + 1), columns);
    setAndWake(job, flagOf(job, next), 1);
  }
}
// The flag of the block that is taken k-th. Flags of consecutive blocks, which are raised at about the same time, are in different cache
// lines.
function flagOf(job: usize, k: i32): usize {
  const lines = (i32At(job, JOB_TASK_COUNT) + FLAGS_PER_LINE - 1) / FLAGS_PER_LINE;
  return addressAt(job, JOB_COUNTS) + (<usize>(k % lines * FLAGS_PER_LINE + k / lines) << 2);
}

// GSF: blocks of rows in natural order, without levels and without counters of dependencies. Each block publishes how many of its
// rows are done, a few at a time, and a worker that needs one of them polls that number.
@inline const STEP: i32 = 16;
function synchronizationFree<T>(job: usize): void {
  const blocks = addressAt(job, JOB_BLOCKS), count = i32At(job, JOB_TASK_COUNT), done = addressAt(job, JOB_COUNTS);
  let known = 0; // all rows of the first `known` blocks are done
  while (true) {
    const block = take(job, 1);
    if (block >= count) break;
    while (known < block && atomic.load<i32>(done + (<usize>known << 2)) == integer(blocks, known + 1) - integer(blocks, known)) ++known;
    const start = integer(blocks, block), end = integer(blocks, block + 1);
    fetchRhs<T>(job, start, end);
    for (let from = start; from < end; from += STEP) {
      const to = min(from + STEP, end);
      waitForRows(job, from, to, integer(blocks, known), start);
      solveRows<T>(job, from, to);
      setAndWake(job, done + (<usize>block << 2), to - start);
    }
  }
}

// Wait for the rows that rows [from, to) depend on, other than the first `known` rows and those from `own` on, which are in the same
// block. Most of them are adjacent rows of one block, so that one look at its number is enough.
function waitForRows(job: usize, from: i32, to: i32, known: i32, own: i32): void {
  const blocks = addressAt(job, JOB_BLOCKS);
  let first = 0, end = 0; // rows known to be done
  for (let row = from; row < to; ++row) {
    const line = lineOf(job, row);
    const start = firstOf(job, line), index = indexOf(job, line, start), origin = originOf(job, line);
    for (let p = index, stop = index + (<usize>(endOf(job, line) - start) << 2); p < stop; p += 4) {
      const k = lineOf(job, origin + i32.load(p));
      if (k < known || k >= own || k >= first && k < end) continue;
      let block = integer(addressAt(job, JOB_LOOKUP), k >> LOOKUP_SHIFT);
      while (integer(blocks, block + 1) <= k) ++block;
      first = integer(blocks, block);
      end = first + waitForMore(job, addressAt(job, JOB_COUNTS) + (<usize>block << 2), k - first);
    }
  }
}

// Copy the right-hand side to x in the order of the columns, every worker its share.
function copyRhs<T>(job: usize, worker: i32): void {
  const n = i32At(job, JOB_M), workers = i32At(job, JOB_WORKERS), share = (n + workers - 1) / workers;
  const x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), order = addressAt(job, JOB_ORDER);
  for (let k = share * worker, end = min(k + share, n); k < end; ++k)
    store<T>(x + <usize>k * sizeof<T>(), load<T>(y + <usize>integer(order, k) * sizeof<T>()));
}

// Columns [from, to) in plain arithmetic: divide what is left of b_k to get x_k, then subtract x_k times the column.
function solveColumns<T>(job: usize, from: i32, to: i32): void {
  const indices = addressAt(job, JOB_INDICES), values = addressAt(job, JOB_VALUES), diagonal = addressAt(job, JOB_DIAGONAL);
  const x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), order = addressAt(job, JOB_ORDER), alone = i32At(job, JOB_WORKERS) == 1;
  for (let k = from; k < to; ++k) {
    const line = lineOf(job, k), first = firstOf(job, line), end = endOf(job, line), diagonalIndex = diagonalOf(i32At(job, JOB_DIAGONAL_AT), line, first, end);
    const at = x + <usize>line * sizeof<T>(), v = diagonal != 0 ? <T>(load<T>(at) / load<T>(diagonal + <usize>diagonalIndex * sizeof<T>())) : load<T>(at);
    put<T>(at, <f64>v);
    if (order != 0) put<T>(y + <usize>integer(order, k) * sizeof<T>(), <f64>v);
    for (let p = first; p < end; ++p) {
      const to = x + <usize>integer(indices, p) * sizeof<T>(), product = <T>(load<T>(values + <usize>p * sizeof<T>()) * v);
      if (alone) store<T>(to, <T>(load<T>(to) - product));
      else if (sizeof<T>() == 8) subtract64(to, <f64>product);
      else subtract32(to, <f32>product);
    }
  }
}
// After the first try the old value comes from cmpxchg and not from a load in the loop: the optimizer turns a load whose value is used
// both as bits and as a number into two loads, and an update between them would be lost.
function subtract64(p: usize, v: f64): void {
  let old = atomic.load<i64>(p);
  while (true) {
    const current = atomic.cmpxchg<i64>(p, old, reinterpret<i64>(reinterpret<f64>(old) - v));
    if (current == old) return;
    old = current;
  }
}
function subtract32(p: usize, v: f32): void {
  let old = atomic.load<i32>(p);
  while (true) {
    const current = atomic.cmpxchg<i32>(p, old, reinterpret<i32>(reinterpret<f32>(old) - v));
    if (current == old) return;
    old = current;
  }
}
