// The sparse routines as jobs: triangular solves, ILU(0), Kahn's algorithm, and two helpers of the analysis that are called directly. Called by
// wasm/index.ts and threads/index.ts; the kernels are in assembly/sparse/, with the schedules of the sparse paper in sptrsv.ts there.

import { copyColumns, interleave, separate } from "../../../arrays/columns.ts";
import type { StridedMatrix } from "../../../arrays/matrix.ts";
import type { StoredLines } from "../../../arrays/triangle.ts";
import type { Real } from "../../../arrays/types.ts";
import { aligned } from "../../../arrays/vectors.ts";
import type { Breakdown, HostLines, RowBlocks, Schedule, SparseTriangle } from "../../kernels.ts";
import type { Arena } from "../arena.ts";
import * as layout from "../assembly/layout.ts";
import { Space } from "../space.ts";
import { groupedColumns, groupsOf } from "./groups.ts";
import type { Job, JobSteps } from "./job.ts";

const { GROUP_COLUMNS } = layout;
const DIAGONAL_AT = { first: layout.FIRST, last: layout.LAST } as const;
const SCHEDULES: Record<Schedule, number> = {
  serial: layout.SERIAL,
  levr: layout.LEVR,
  levc: layout.LEVC,
  slfr: layout.SLFR,
  slfc: layout.SLFC,
  gsf: layout.GSF,
};

// The number of counters: one per task, its flag (slfr, slfc, in whole cache lines) or the rows it has done (gsf).
function counterCount({ tasks, schedule }: SparseTriangle): number {
  if (schedule === "gsf") return tasks.count;
  return tasks.list ? Math.ceil(tasks.count / layout.FLAGS_PER_LINE) * layout.FLAGS_PER_LINE : 0;
}

/** For `columns` right-hand sides at a time. */
export function sptrsvBytes(system: SparseTriangle, columns = 1): number {
  const vector = aligned(columns * system.n * system.values.BYTES_PER_ELEMENT);
  return (system.order ? 2 : 1) * vector + aligned(4 * counterCount(system));
}

/**
 * Solve a system that is in the arena. The right-hand side and the solution share a vector. The kernels copy to and from it what is in the
 * arena: b as they go, if rows are solved in natural order, and x at the end.
 */
export function* sptrsv(space: Space, job: Job, system: SparseTriangle, b: Real, x: Real): JobSteps {
  const { arena } = space;
  const right = space.reserve(b.byteLength);
  const index = right / b.BYTES_PER_ELEMENT;
  const byRows = system.exact || (system.schedule !== "levc" && system.schedule !== "slfc");
  const fetchesRhs = byRows && !system.order && arena.holds(b);
  if (!fetchesRhs) arena.heap(b).set(b, index);
  startSolve(space, job, system, right, 1)
    .set(layout.JOB_B, fetchesRhs ? b.byteOffset : 0)
    .set(layout.JOB_OUT, arena.holds(x) ? x.byteOffset : 0);
  try {
    yield;
    if (arena.holds(x)) return;
  } catch (error) {
    // A worker died. If that was after others had begun to write to x, the solution is complete and so is the call.
    if (job.get(layout.JOB_DONE) === 0) throw error;
  }
  x.set(arena.heap(b).subarray(index, index + x.length));
}

/** How many of these columns are solved in groups: none in plain arithmetic. */
export const sptrsmColumns = (system: SparseTriangle, cols: number): number => (system.exact ? groupedColumns(cols) : 0);

/** Solve for the columns of B, `width` at a time, a multiple of 8. Those left over from groups are solved one by one. */
export function* sptrsm(space: Space, job: Job, system: SparseTriangle, B: StridedMatrix, X: StridedMatrix, width: number): JobSteps {
  const bytes = sptrsvBytes(system, width);
  const start = space.reserve(bytes);
  const again = (): Space => new Space(space.arena, start, start + bytes);
  const cols = sptrsmColumns(system, B.cols);
  for (let first = 0; first < cols; first += width)
    yield* solveGroups(again(), job, system, B, X, first, Math.min(width, GROUP_COLUMNS * groupsOf(cols - first)));
  for (const [j, b] of copyColumns(B, "TriangularPlan.solve", cols).entries()) {
    yield* sptrsv(again(), job, system, b, b);
    separate(b, 0, 1, X, cols + j);
  }
}

// `width` columns of B from `first` on, interleaved.
function* solveGroups(
  space: Space,
  job: Job,
  system: SparseTriangle,
  B: StridedMatrix,
  X: StridedMatrix,
  first: number,
  width: number,
): JobSteps {
  const heap = space.arena.heap(B.data);
  const right = space.reserve(width * system.n * B.data.BYTES_PER_ELEMENT);
  const at = right / B.data.BYTES_PER_ELEMENT;
  interleave(B, first, heap, at, width);
  startSolve(space, job, system, right, width).set(layout.JOB_N, width);
  yield;
  separate(heap, at, width, X, first);
}

// The record of a solve with the right-hand sides at this address, which the solutions replace.
function startSolve(space: Space, job: Job, system: SparseTriangle, right: number, columns: number): Job {
  const { begins, ends, indices, values, diagonal, diagonalAt, shapes, order, tasks, schedule, exact } = system;
  const address = (array?: Real | Int32Array | Uint8Array): number => array?.byteOffset ?? 0;
  const counters = counterCount(system);
  const counts = space.reserve(4 * counters);
  space.arena.zero(counts, 4 * counters);
  job
    .start(layout.SPTRSV, values)
    .set(layout.JOB_SCHEDULE, SCHEDULES[schedule])
    .set(layout.JOB_EXACT, exact ? 1 : 0)
    .set(layout.JOB_UPPER, system.upper ? 1 : 0)
    .set(layout.JOB_M, system.n)
    .set(layout.JOB_X, order ? space.reserve(columns * system.n * values.BYTES_PER_ELEMENT) : right)
    .set(layout.JOB_Y, right);
  job
    .set(layout.JOB_BEGINS, address(begins))
    .set(layout.JOB_ENDS, address(ends))
    .set(layout.JOB_INDICES, address(indices))
    .set(layout.JOB_VALUES, address(values))
    .set(layout.JOB_DIAGONAL, address(diagonal))
    .set(layout.JOB_DIAGONAL_AT, diagonalAt ? DIAGONAL_AT[diagonalAt] : layout.APART)
    .set(layout.JOB_SHAPES, address(shapes?.ofLine))
    .set(layout.JOB_SHAPE_STARTS, address(shapes?.starts))
    .set(layout.JOB_ORDER, address(order));
  job
    .set(layout.JOB_TASK_COUNT, tasks.count)
    .set(layout.JOB_BLOCKS, address(tasks.blocks))
    .set(layout.JOB_SEQUENCE, address(tasks.sequence))
    .set(layout.JOB_PHASES, address(tasks.phases));
  return job
    .set(layout.JOB_COUNTS, counts)
    .set(layout.JOB_TARGETS, address(tasks.targets))
    .set(layout.JOB_LIST, address(tasks.list))
    .set(layout.JOB_LOOKUP, address(tasks.lookup));
}

/** See SystemKernels. Runs on the calling thread. */
export function firstZero(arena: Arena, { pointers, values, diagonalAt }: StoredLines, from: number, to: number): number {
  const single = values.BYTES_PER_ELEMENT === 4 ? 1 : 0;
  return arena.call("firstZero", single, diagonalAt === "last" ? 1 : 0, pointers.byteOffset, values.byteOffset, from, to);
}

/** See SystemKernels. Runs on the calling thread. */
export function neighbours(arena: Arena, blocks: RowBlocks, from: number): number {
  const { n, reversed, begins, ends, indices, starts, lookup, visitedBy, pointers, adjacent } = blocks;
  const addresses = [begins, ends, indices, starts, lookup, visitedBy, pointers, adjacent].map(({ byteOffset }) => byteOffset);
  return arena.call("neighbours", n, reversed ? 1 : 0, ...addresses, starts.length - 1, adjacent.length, from);
}

export function kahnBytes(begins: Int32Array, indices: Int32Array): number {
  return 4 * aligned(4 * begins.length) + aligned(4 * indices.length);
}

/** Levels by Kahn's algorithm, from the columns of a triangle and the number of unknowns that each unknown waits for. */
export function* kahn(
  space: Space,
  job: Job,
  begins: Int32Array,
  indices: Int32Array,
  counts: Int32Array,
): JobSteps<{ ilev: Int32Array; jlev: Int32Array }> {
  const n = counts.length;
  const { words } = space.arena;
  const copied = (array: Int32Array): number => {
    const at = space.reserve(array.byteLength);
    words.set(array, at / 4);
    return at;
  };
  job.start(layout.KAHN, new Float64Array()).set(layout.JOB_M, n);
  job.set(layout.JOB_BEGINS, copied(begins)).set(layout.JOB_INDICES, copied(indices)).set(layout.JOB_COUNTS, copied(counts));
  const order = space.reserve(4 * n);
  const starts = space.reserve(4 * n);
  job.set(layout.JOB_ORDER, order).set(layout.JOB_PHASES, starts);
  yield;
  const levels = job.get(layout.JOB_TASK_COUNT);
  const result = new Int32Array(space.arena.buffer);
  return {
    ilev: Int32Array.from([...result.subarray(starts / 4, starts / 4 + levels), n]),
    jlev: result.slice(order / 4, order / 4 + n),
  };
}

// What a worker needs: a number for each index, and two for the sum of each entry of a line.
function ilu0Work({ n, pointers }: HostLines): number {
  let longest = 0;
  for (let l = 0; l < n; l++) longest = Math.max(longest, (pointers[l + 1] as number) - (pointers[l] as number));
  return aligned(4 * n) + aligned(16 * longest);
}

export function ilu0Bytes(arena: Arena, A: HostLines, values: Real, workers: number): number {
  const copied = [A.pointers, A.indices, A.diagonal, values].map((array) => (arena.holds(array) ? 0 : aligned(array.byteLength)));
  return copied.reduce((sum, bytes) => sum + bytes, aligned(4 * A.n) + workers * ilu0Work(A));
}

/** See Kernels.ilu0. Values in the arena are factored in place. */
export function* ilu0(space: Space, job: Job, A: HostLines, values: Real, workers: number): JobSteps<Breakdown | undefined> {
  const { arena } = space;
  const { n, pointers, indices, diagonal } = A;
  const integers = (array: Int32Array): number => {
    if (arena.holds(array)) return array.byteOffset;
    const at = space.reserve(array.byteLength);
    arena.words.set(array, at / 4);
    return at;
  };
  const at = arena.holds(values) ? values.byteOffset : space.reserve(values.byteLength);
  const heap = arena.heap(values);
  const first = at / values.BYTES_PER_ELEMENT;
  if (A.values !== values || !arena.holds(values)) heap.set(A.values, first);
  const done = space.reserve(4 * n);
  arena.zero(done, 4 * n);
  const size = ilu0Work(A);
  job
    .start(layout.ILU0, values)
    .set(layout.JOB_COLUMNS, A.byRows ? 0 : 1)
    .set(layout.JOB_M, n)
    .set(layout.JOB_BEGINS, integers(pointers))
    .set(layout.JOB_INDICES, integers(indices))
    .set(layout.JOB_DIAGONAL, integers(diagonal))
    .set(layout.JOB_VALUES, at)
    .set(layout.JOB_COUNTS, done)
    .set(layout.JOB_WORK, space.reserve(workers * size))
    .set(layout.JOB_WORK_SIZE, size);
  yield;
  const position = job.get(layout.JOB_FAILED) - 1;
  const now = arena.heap(values); // the memory may have grown
  if (position >= 0) return { position, value: now[first + position] as number };
  if (!arena.holds(values)) values.set(now.subarray(first, first + values.length));
  return undefined;
}
