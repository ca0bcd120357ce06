// Kernels of the analysis of a sparse triangle: levels by Kahn's algorithm, as a job; the search for zeros on the diagonal and the graph
// of the blocks of rows that a schedule works on, called directly (jobs/sparse.ts). The levels are those of the sparse paper, Section 4.1.
import { JOB_BEGINS, JOB_COUNTS, JOB_DONE, JOB_INDICES, JOB_M, JOB_ORDER, JOB_PHASES, JOB_TASK_COUNT, JOB_WORKERS, LOOKUP_SHIFT } from "../layout";
import { integer } from "./triangle";
import { addressAt, barrier, i32At } from "../team";

// Kahn's algorithm, level by level. Lines are columns in natural order; JOB_COUNTS has the number of unknowns that each unknown
// depends on. JOB_ORDER receives the unknowns by levels, in any order within a level, JOB_PHASES where the levels begin, JOB_DONE the
// number of unknowns found.
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
    barrier(job, 0); // no worker finds more before all have read the number
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

// The first line in [from, to) whose diagonal, its first or last entry, is zero; `to` if there is none. The twin of firstZero() in
// arrays/triangle.ts.
export function firstZero(single: bool, last: bool, pointers: usize, values: usize, from: i32, to: i32): i32 {
  return single ? firstZeroOf<f32>(last, pointers, values, from, to) : firstZeroOf<f64>(last, pointers, values, from, to);
}
function firstZeroOf<T>(last: bool, pointers: usize, values: usize, from: i32, to: i32): i32 {
  for (let l = from, shift = <i32>last; l < to; ++l) if (load<T>(values + <usize>(integer(pointers, l + shift) - shift) * sizeof<T>()) == 0) return l;
  return to;
}

// For each block of rows the other blocks that its entries refer to, from block `from` on while there is room; returns the next block. The twin
// of neighbours() in engines/reference/sparse.ts. Four entries at a time are skipped if all of them refer to the block itself or to
// the block found last, as nearly all do. Indices are compared as they are stored: if the order is reversed, the bounds of the blocks
// are reversed instead.
export function neighbours(n: i32, reversed: i32, begins: usize, ends: usize, indices: usize, starts: usize, lookup: usize, visitedBy: usize, pointers: usize, adjacent: usize, count: i32, room: i32, from: i32): i32 {
  const base = integer(pointers, from);
  let found = base;
  for (let block = from; block < count; ++block) {
    if (found - base + count > room) return block;
    const first = integer(starts, block), last = integer(starts, block + 1);
    const own = reversed ? n - last : first, size = last - first, OWN = i32x4.splat(own), SIZE = i32x4.splat(size);
    let low = 0, length = 0, LOW = i32x4.splat(0), LENGTH = i32x4.splat(0); // the block found last
    // Rows that follow each other in memory are read as one.
    for (let row = own, step = ends == begins + 4 ? size : 1; row < own + size; row += step) {
      let p = integer(begins, row);
      const end = integer(ends, row + step - 1);
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
        const position = reversed ? n - 1 - index : index;
        let other = integer(lookup, position >> LOOKUP_SHIFT);
        while (integer(starts, other + 1) <= position) ++other;
        const start = integer(starts, other), stop = integer(starts, other + 1);
        low = reversed ? n - stop : start;
        length = stop - start;
        LOW = i32x4.splat(low);
        LENGTH = i32x4.splat(length);
        if (integer(visitedBy, other) == block) continue;
        i32.store(visitedBy + (<usize>other << 2), block);
        i32.store(adjacent + (<usize>(found++ - base) << 2), other);
      }
    }
    i32.store(pointers + (<usize>(block + 1) << 2), found);
  }
  return count;
}
