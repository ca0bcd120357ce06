// The schedules of the sparse paper. Lines are rows, or columns in plain arithmetic (LEVC, SLFC), in an order in which each
// depends on earlier ones only. In exact arithmetic the column-wise schedules have rows too: a column that is done only
// signals, and the owner of a row gathers it, so that no order of updates can show.
//
// A worker waits only for lines that were handed out before its own, so the one with the earliest always gets on: nothing
// depends on all workers running at once, and who waits for long goes to sleep.
import { put } from "../exact/certificate";
import { JOB_BEGINS, JOB_BLOCK_SIZE, JOB_COUNTS, JOB_DIAGONAL, JOB_DONE, JOB_EXACT, JOB_DIAGONAL_AT, JOB_INDICES, JOB_LIST, JOB_LOOKUP, JOB_M, JOB_ORDER, JOB_PHASES, JOB_RUNS, JOB_SCHEDULE, JOB_SEQUENCE, JOB_TARGETS, JOB_TASK_COUNT, JOB_VALUES, JOB_WORKERS, JOB_X, JOB_Y, GSF, LEVC, LEVR, LOOKUP_SHIFT, SERIAL, SLFC } from "../layout";
import { endOf, firstOf, indexOf, integer, lineOf, originOf, ownOf, rows } from "./rows";
import { addressAt, barrier, i32At, setAndWake, take, waitForLess, waitForMore, wake } from "../team";

export function sptrsv<T>(job: usize, worker: i32): void {
  const schedule = i32At(job, JOB_SCHEDULE), columns = (schedule == LEVC || schedule == SLFC) && !i32At(job, JOB_EXACT);
  if (columns && addressAt(job, JOB_ORDER) != 0) {
    start<T>(job, worker);
    barrier(job, 0);
  }
  if (schedule == SERIAL) {
    if (worker == 0) rows<T>(job, 0, i32At(job, JOB_M));
  } else if (schedule == LEVR || schedule == LEVC) levels<T>(job, worker, columns);
  else if (schedule == GSF) synchronizationFree<T>(job);
  else byCounters<T>(job, columns);
}

@inline function lines<T>(job: usize, from: i32, to: i32, columns: bool): void {
  if (columns) subtractColumns<T>(job, from, to);
  else rows<T>(job, from, to);
}

// Tasks from..to in the order of levels: runs of lines, or single ones.
function tasks<T>(job: usize, from: i32, to: i32, columns: bool): void {
  const sequence = addressAt(job, JOB_SEQUENCE), runs = addressAt(job, JOB_RUNS);
  if (sequence == 0) lines<T>(job, from, to, columns);
  else for (let q = from; q < to; ++q) lines<T>(job, integer(runs, integer(sequence, q)), integer(runs, integer(sequence, q) + 1), columns);
}

// LEVR and LEVC: of each level an equal share for every worker, always the same part of it, which has what it needs of the
// level before mostly in its own cache; then a barrier. Phases of many small levels are left to one worker.
function levels<T>(job: usize, worker: i32, columns: bool): void {
  const phases = addressAt(job, JOB_PHASES), count = i32At(job, JOB_TASK_COUNT), workers = i32At(job, JOB_WORKERS);
  for (let m = 0; m < count; ++m) {
    const start = integer(phases, m), next = integer(phases, m + 1), end = next < 0 ? ~next : next;
    if (m > 0) barrier(job, 0);
    if (start < 0) {
      if (worker == 0) tasks<T>(job, ~start, end, columns);
    } else {
      const share = (end - start + workers - 1) / workers, from = start + share * worker;
      if (from < end) tasks<T>(job, from, min(from + share, end), columns);
    }
  }
}

// SLFR and SLFC: tasks in the order of levels, a few at a time that are next to each other. Each has a counter of the tasks
// that it waits for; a task that is done lowers the counters of those that wait for it.
function byCounters<T>(job: usize, columns: bool): void {
  const counts = addressAt(job, JOB_COUNTS), targets = addressAt(job, JOB_TARGETS), list = addressAt(job, JOB_LIST);
  const sequence = addressAt(job, JOB_SEQUENCE), runs = addressAt(job, JOB_RUNS), count = i32At(job, JOB_TASK_COUNT), size = i32At(job, JOB_BLOCK_SIZE);
  while (true) {
    const first = take(job, size);
    if (first >= count) break;
    for (let next = first; next < min(first + size, count); ++next) {
      const task = sequence != 0 ? integer(sequence, next) : next;
      waitForLess(job, counts + (<usize>task << 2), 1);
      lines<T>(job, integer(runs, task), integer(runs, task + 1), columns);
      for (let p = integer(targets, task); p < integer(targets, task + 1); ++p) {
        const counter = counts + (<usize>integer(list, p) << 2);
        if (atomic.sub<i32>(counter, 1) == 1) wake(job, counter);
      }
    }
  }
}

// GSF: runs of rows in the natural order, no levels and no counters of what is awaited: each run tells how many of its rows
// are done, a few at a time, and who needs one of them looks there.
@inline const STEP: i32 = 16;
function synchronizationFree<T>(job: usize): void {
  const runs = addressAt(job, JOB_RUNS), count = i32At(job, JOB_TASK_COUNT), done = addressAt(job, JOB_COUNTS);
  let known = 0; // the rows of so many runs, from the first on, are all done
  while (true) {
    const run = take(job, 1);
    if (run >= count) break;
    while (known < run && atomic.load<i32>(done + (<usize>known << 2)) == integer(runs, known + 1) - integer(runs, known)) ++known;
    const start = integer(runs, run), end = integer(runs, run + 1);
    for (let from = start; from < end; from += STEP) {
      const to = min(from + STEP, end);
      waitForRows(job, from, to, integer(runs, known), start);
      rows<T>(job, from, to);
      setAndWake(job, done + (<usize>run << 2), to - start);
    }
  }
}

// Wait for the rows that those of from..to need, other than the first `known` and those of the own run. Most of them are
// next to each other in one run, and one look there is enough.
function waitForRows(job: usize, from: i32, to: i32, known: i32, own: i32): void {
  const runs = addressAt(job, JOB_RUNS);
  let first = 0, end = 0; // rows that were seen to be done
  for (let row = from; row < to; ++row) {
    const line = lineOf(job, row);
    const start = firstOf(job, line), index = indexOf(job, line, start), origin = originOf(job, line);
    for (let p = index, stop = index + (<usize>(endOf(job, line) - start) << 2); p < stop; p += 4) {
      const k = lineOf(job, origin + i32.load(p));
      if (k < known || k >= own || k >= first && k < end) continue;
      let run = integer(addressAt(job, JOB_LOOKUP), k >> LOOKUP_SHIFT);
      while (integer(runs, run + 1) <= k) ++run;
      first = integer(runs, run);
      end = first + waitForMore(job, addressAt(job, JOB_COUNTS) + (<usize>run << 2), k - first);
    }
  }
}

// x := the right-hand side in the order of the columns, every worker its share.
function start<T>(job: usize, worker: i32): void {
  const n = i32At(job, JOB_M), workers = i32At(job, JOB_WORKERS), share = (n + workers - 1) / workers;
  const x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), order = addressAt(job, JOB_ORDER);
  for (let k = share * worker, end = min(k + share, n); k < end; ++k)
    store<T>(x + <usize>k * sizeof<T>(), load<T>(y + <usize>integer(order, k) * sizeof<T>()));
}

// Columns from..to in plain arithmetic: x_k is what is left of b_k, divided; then x_k times the column is subtracted.
function subtractColumns<T>(job: usize, from: i32, to: i32): void {
  const indices = addressAt(job, JOB_INDICES), values = addressAt(job, JOB_VALUES), diagonal = addressAt(job, JOB_DIAGONAL);
  const x = addressAt(job, JOB_X), y = addressAt(job, JOB_Y), order = addressAt(job, JOB_ORDER), alone = i32At(job, JOB_WORKERS) == 1;
  for (let k = from; k < to; ++k) {
    const line = lineOf(job, k), first = firstOf(job, line), end = endOf(job, line), own = ownOf(i32At(job, JOB_DIAGONAL_AT), line, first, end);
    const at = x + <usize>line * sizeof<T>(), v = diagonal != 0 ? <T>(load<T>(at) / load<T>(diagonal + <usize>own * sizeof<T>())) : load<T>(at);
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
// The old value comes from cmpxchg after the first try, and not from a load in the loop: of a load whose value is used both
// as bits and as a number the optimiser makes two, and an update that comes between them is lost.
function subtract64(p: usize, v: f64): void {
  let old = atomic.load<i64>(p);
  while (true) {
    const seen = atomic.cmpxchg<i64>(p, old, reinterpret<i64>(reinterpret<f64>(old) - v));
    if (seen == old) return;
    old = seen;
  }
}
function subtract32(p: usize, v: f32): void {
  let old = atomic.load<i32>(p);
  while (true) {
    const seen = atomic.cmpxchg<i32>(p, old, reinterpret<i32>(reinterpret<f32>(old) - v));
    if (seen == old) return;
    old = seen;
  }
}

// Kahn's algorithm, level by level: lines are columns in the natural order, COUNTS has how many rows each unknown waits for.
// ORDER gets the unknowns by levels, in any order within one, PHASES where the levels begin, DONE the unknowns found.
export function kahn(job: usize, worker: i32): void {
  const n = i32At(job, JOB_M), workers = i32At(job, JOB_WORKERS), begins = addressAt(job, JOB_BEGINS), indices = addressAt(job, JOB_INDICES);
  const counts = addressAt(job, JOB_COUNTS), order = addressAt(job, JOB_ORDER), starts = addressAt(job, JOB_PHASES), found = job + JOB_DONE;
  const share = (n + workers - 1) / workers;
  for (let i = share * worker, end = min(i + share, n); i < end; ++i)
    if (integer(counts, i) == 0) i32.store(order + (<usize>atomic.add<i32>(found, 1) << 2), i);
  let first = 0;
  for (let level = 0; first < n; ++level) {
    barrier(job, 0);
    const end = atomic.load<i32>(found);
    barrier(job, 0); // nobody finds more before all have read how many there are
    if (worker == 0) {
      i32.store(starts + (<usize>level << 2), first);
      i32.store(job + JOB_TASK_COUNT, level + 1);
    }
    const part = (end - first + workers - 1) / workers;
    for (let q = first + part * worker, to = min(q + part, end); q < to; ++q) {
      const i = integer(order, q);
      for (let p = integer(begins, i); p < integer(begins, i + 1); ++p) {
        const j = integer(indices, p);
        if (atomic.sub<i32>(counts + (<usize>j << 2), 1) == 1) i32.store(order + (<usize>atomic.add<i32>(found, 1) << 2), j);
      }
    }
    first = end;
  }
}

// The twin of firstZero() in exact/sparse.ts.
export function firstZero(single: bool, last: bool, pointers: usize, values: usize, from: i32, to: i32): i32 {
  return single ? firstZeroOf<f32>(last, pointers, values, from, to) : firstZeroOf<f64>(last, pointers, values, from, to);
}
function firstZeroOf<T>(last: bool, pointers: usize, values: usize, from: i32, to: i32): i32 {
  for (let l = from, shift = <i32>last; l < to; ++l) if (load<T>(values + <usize>(integer(pointers, l + shift) - shift) * sizeof<T>()) == 0) return l;
  return to;
}

// The twin of neighbours() in exact/sparse.ts. Four entries at a time where all of them lead to the run itself or to the one
// seen last, as nearly all do. Indices are compared where they are: of an order that is reversed the bounds of the runs are.
export function neighbours(n: i32, reversed: i32, begins: usize, indices: usize, starts: usize, lookup: usize, seen: usize, pointers: usize, near: usize, count: i32, room: i32, from: i32): i32 {
  const before = integer(pointers, from);
  let found = before;
  for (let run = from; run < count; ++run) {
    if (found - before + count > room) return run;
    const first = integer(starts, run), last = integer(starts, run + 1);
    const own = reversed ? n - last : first, size = last - first, OWN = i32x4.splat(own), SIZE = i32x4.splat(size);
    let low = 0, length = 0, LOW = i32x4.splat(0), LENGTH = i32x4.splat(0); // the run that was seen last
    let p = integer(begins, own);
    const end = integer(begins, own + size);
    while (p < end) {
      if (p + 4 <= end) {
        const four = v128.load(indices + (<usize>p << 2));
        if (i32x4.all_true(v128.or(i32x4.lt_u(i32x4.sub(four, OWN), SIZE), i32x4.lt_u(i32x4.sub(four, LOW), LENGTH)))) {
          p += 4;
          continue;
        }
      }
      const index = integer(indices, p++);
      if (<u32>(index - own) < <u32>size || <u32>(index - low) < <u32>length) continue;
      const place = reversed ? n - 1 - index : index;
      let other = integer(lookup, place >> LOOKUP_SHIFT);
      while (integer(starts, other + 1) <= place) ++other;
      const start = integer(starts, other), after = integer(starts, other + 1);
      low = reversed ? n - after : start;
      length = after - start;
      LOW = i32x4.splat(low);
      LENGTH = i32x4.splat(length);
      if (integer(seen, other) == run) continue;
      i32.store(seen + (<usize>other << 2), run);
      i32.store(near + (<usize>(found++ - before) << 2), other);
    }
    i32.store(pointers + (<usize>(run + 1) << 2), found);
  }
  return count;
}
