import type { Format, Real, Reduction, Rounding } from "../../../arrays/types.ts";
import { addEnclosure, startEnclosure } from "../../../exact/enclosure.ts";
import { correct } from "../../../exact/store.ts";
import { Superaccumulator } from "../../../exact/superaccumulator.ts";
import { certify, roundSum, settleWithin } from "../../../routines/reduce.ts";
import type { RunLines, Schedule, SparseTriangle, StoredLines, StridedMatrix, Substitution } from "../../kernels.ts";
import type { Arena } from "../arena.ts";
import * as layout from "../assembly/layout.ts";
import { aligned, bytesFor, linesOf, type Operand, operandOf, type Space } from "../space.ts";

// The matrix routines as jobs for the kernels. A job is a record in the arena; who works on it, one thread or a pool, is
// not its business. Each routine here is: the bytes it needs, and what it makes of a space of that size, as a generator
// that yields whenever the kernels are to run.

/** A routine that yields whenever its job is to be run. */
export type Run = Generator<void, void, void>;

const { RECORD, PIECE } = layout;
const IN_LINE = { first: layout.FIRST, last: layout.LAST } as const;
const FINISH = { single: layout.SINGLE, paper: layout.PAPER, corrected: layout.CORRECTED } as const;

/** The record of a job: fields at their offsets in layout.ts. What is not set is zero. */
export class Job {
  private readonly words: Int32Array;
  private readonly numbers: Float64Array;

  constructor(
    arena: Arena,
    at: number,
    private readonly workers: number,
  ) {
    this.words = new Int32Array(arena.buffer, at, layout.JOB_SIZE / 4);
    this.numbers = new Float64Array(arena.buffer, at, layout.JOB_SIZE / 8);
  }

  start(kind: number, like: Real): this {
    this.words.fill(0);
    return this.set(layout.JOB_KIND, kind)
      .set(layout.JOB_SINGLE, like.BYTES_PER_ELEMENT === 4 ? 1 : 0)
      .set(layout.JOB_WORKERS, this.workers);
  }

  set(field: number, value: number): this {
    this.words[field / 4] = value;
    return this;
  }

  /** An address and two steps, one after another. */
  operand(field: number, { address, row, col }: Operand): this {
    return this.set(field, address)
      .set(field + 4, row)
      .set(field + 8, col);
  }

  scalars(alpha: number, beta: number): this {
    this.numbers[layout.JOB_ALPHA / 8] = alpha;
    this.numbers[layout.JOB_BETA / 8] = beta;
    return this;
  }

  get(field: number): number {
    return this.words[field / 4] as number;
  }
}

/** Lines of a matrix that is not in the arena, brought there a few at a time. */
export interface Streamed {
  readonly lines: number; // at a time
}

// ---------------------------------------------------------------- y := alpha A x + beta y

export function gemvBytes(arena: Arena, A: StridedMatrix, x: Real, y: Real, streamed: Streamed | undefined): number {
  const { byRows, length } = linesOf(A);
  const width = y.BYTES_PER_ELEMENT;
  const records = byRows ? 0 : aligned(Math.ceil(A.rows / 8) * RECORD);
  const matrix = streamed ? aligned(streamed.lines * length * width) + aligned(A.cols * width) : bytesFor(arena, [], [A]);
  return bytesFor(arena, [x], []) + aligned(y.byteLength) + records + matrix;
}

export function* gemv(
  space: Space,
  job: Job,
  alpha: number,
  A: StridedMatrix,
  x: Real,
  beta: number,
  y: Real,
  streamed: Streamed | undefined,
): Run {
  const terms = alpha === 0 ? 0 : A.cols;
  const { byRows, lines, length } = linesOf(A);
  const width = y.BYTES_PER_ELEMENT;
  const X = space.vector(x, terms > 0);
  const Y = space.vector(y, beta !== 0, true);
  job
    .start(byRows ? layout.GEMV_ROWS : layout.GEMV_COLUMNS, y)
    .set(layout.JOB_M, A.rows)
    .set(layout.JOB_K, terms)
    .set(layout.JOB_X, X)
    .set(layout.JOB_Y, Y);
  job.scalars(terms > 0 ? alpha : 1, beta);
  if (!byRows) {
    const bytes = Math.ceil(A.rows / 8) * RECORD;
    const records = space.reserve(bytes);
    space.arena.zero(records, bytes);
    job.set(layout.JOB_WORK, records);
  }
  if (!streamed || terms === 0) {
    if (terms > 0) job.operand(layout.JOB_A, space.matrix(A));
    job.set(layout.JOB_TO, byRows ? A.rows : terms);
    yield;
  } else {
    const chunk = space.reserve(streamed.lines * length * width);
    const step = length * width;
    if (!byRows) job.set(layout.JOB_ROW, fetchInto(space, A));
    for (let first = 0; first < lines; first += streamed.lines) {
      const end = Math.min(first + streamed.lines, lines);
      space.copyLines(A, first, end, 0, length, chunk);
      job.operand(layout.JOB_A, operandOf(byRows, chunk - first * step, step, width));
      job
        .set(layout.JOB_FROM, first)
        .set(layout.JOB_TO, end)
        .set(layout.JOB_NEXT, byRows ? first : 0);
      yield;
    }
  }
  space.readVector(y, Y);
}

// The kernels ask for a row when its columns have gone by.
function fetchInto(space: Space, A: StridedMatrix): number {
  const at = space.reserve(A.cols * A.data.BYTES_PER_ELEMENT);
  const heap = space.arena.heap(A.data);
  const index = at / A.data.BYTES_PER_ELEMENT;
  space.arena.fetch = (row) => {
    for (let j = 0; j < A.cols; j++) heap[index + j] = A.data[A.offset + row * A.rowStride + j * A.colStride] as number;
  };
  return at;
}

// ---------------------------------------------------------------- C := alpha A B + beta C

export function gemmBytes(arena: Arena, A: StridedMatrix, B: StridedMatrix, C: StridedMatrix): number {
  return bytesFor(arena, [], [A, B]) + aligned(C.rows * C.cols * C.data.BYTES_PER_ELEMENT) + aligned(4 * (C.rows + C.cols));
}

export function* gemm(space: Space, job: Job, alpha: number, A: StridedMatrix, B: StridedMatrix, beta: number, C: StridedMatrix): Run {
  const terms = alpha === 0 ? 0 : A.cols;
  const to = space.matrix(C, beta !== 0, true);
  job
    .start(layout.GEMM, C.data)
    .set(layout.JOB_M, C.rows)
    .set(layout.JOB_N, C.cols)
    .set(layout.JOB_K, terms)
    .set(layout.JOB_WORK, space.reserve(4 * (C.rows + C.cols)));
  job.scalars(terms > 0 ? alpha : 1, beta).operand(layout.JOB_C, to);
  if (terms > 0) job.operand(layout.JOB_A, space.matrix(A)).operand(layout.JOB_B, space.matrix(B));
  yield;
  space.readMatrix(C, to);
}

// ---------------------------------------------------------------- T x = b

// Of each worker: enclosures, residual, correction; and where columns are contiguous, sums and the diagonal block.
function trsvWork(T: StridedMatrix, size: number): number {
  return aligned(size * (layout.ENCLOSURE + 16) + (linesOf(T).byRows ? 0 : size * size * T.data.BYTES_PER_ELEMENT));
}

// Unknowns in a block where nobody asked: three rows are summed at a time, and 12 columns.
const ROWS = 48;
const COLUMNS = 12;
// The part of a line from which on copying all of it is faster: 16 KiB at a time come with 16 GB/s, 512 KiB with 25.
const WHOLE = 0.6;

/** A solve with the size of its blocks settled, as that of the engine's choice if it does not matter. */
export function withBlocks(T: StridedMatrix, how: Substitution, chunk = Number.POSITIVE_INFINITY): Substitution {
  if (how.blockSize > 0) return how;
  const { byRows, length } = linesOf(T);
  const atHand = Math.max(3, 3 * Math.floor(chunk / length / 3)); // rows that a chunk holds
  return { ...how, blockSize: Math.min(T.rows, byRows ? Math.min(ROWS, atHand) : COLUMNS) };
}

export function trsvBytes(
  arena: Arena,
  T: StridedMatrix,
  b: Real,
  how: Substitution,
  streamed: Streamed | undefined,
  workers: number,
): number {
  const { byRows, length } = linesOf(T);
  const width = b.BYTES_PER_ELEMENT;
  const work = workers * trsvWork(T, how.blockSize) + (byRows ? 0 : aligned(Math.ceil(T.rows / 8) * RECORD));
  const matrix = streamed ? aligned(streamed.lines * length * width) + aligned(T.cols * width) : bytesFor(arena, [], [T]);
  return bytesFor(arena, [b], []) + 3 * aligned(b.byteLength) + work + matrix;
}

export function* trsv(
  space: Space,
  job: Job,
  T: StridedMatrix,
  b: Real,
  x: Real,
  how: Substitution,
  streamed: Streamed | undefined,
  workers: number,
): Run {
  const { arena } = space;
  const { byRows, length } = linesOf(T);
  const n = b.length;
  const width = b.BYTES_PER_ELEMENT;
  const blocks = Math.ceil(n / how.blockSize);
  const right = space.vector(b);
  const [solution, residual, correction] = [0, 0, 0].map(() => space.reserve(b.byteLength)) as [number, number, number];
  const records = byRows ? 0 : Math.ceil(n / 8) * RECORD;
  const workSize = trsvWork(T, how.blockSize);
  const work = space.reserve(aligned(records) + workers * workSize);
  const whole = streamed ? undefined : space.matrix(T);
  const chunk = streamed ? space.reserve(streamed.lines * length * width) : 0;
  const row = streamed && !byRows ? fetchInto(space, T) : 0;

  function* pass(finish: number, rhs: number, given: number, out: number): Run {
    job
      .start(byRows ? layout.TRSV_ROWS : layout.TRSV_COLUMNS, b)
      .set(layout.JOB_M, n)
      .set(layout.JOB_X, given)
      .set(layout.JOB_Y, rhs)
      .set(layout.JOB_OUT, out);
    job
      .set(layout.JOB_WORK, work)
      .set(layout.JOB_WORK_SIZE, workSize)
      .set(layout.JOB_UPPER, how.upper ? 1 : 0)
      .set(layout.JOB_UNIT, how.unit ? 1 : 0)
      .set(layout.JOB_ROW, row);
    job
      .set(layout.JOB_FINISH, finish)
      .set(layout.JOB_REFINE, how.refineBlocks)
      .set(layout.JOB_BLOCK_SIZE, how.blockSize)
      .set(layout.JOB_TO, blocks);
    arena.zero(work, records);
    if (whole) {
      job.operand(layout.JOB_A, whole);
      yield;
      return;
    }
    const step = length * width;
    const each = Math.max(1, Math.floor((streamed as Streamed).lines / how.blockSize));
    for (let k = 0; k < blocks; k += each) {
      const end = Math.min(k + each, blocks);
      const first = how.upper ? Math.max(0, n - end * how.blockSize) : k * how.blockSize;
      const last = how.upper ? n - k * how.blockSize : Math.min(n, end * how.blockSize);
      const before = how.upper !== byRows; // whether the triangle's part of a line lies before the diagonal
      // Of long lines only that part; but what is next to each other in memory is copied faster as a whole.
      if ((before ? last : n - first) > WHOLE * n) space.copyLines(T, first, last, 0, n, chunk);
      else space.copyLines(T, first, last, before ? 0 : first, before ? last : n, chunk);
      job.operand(layout.JOB_A, operandOf(byRows, chunk - first * step, step, width));
      job.set(layout.JOB_FROM, k).set(layout.JOB_TO, end).set(layout.JOB_NEXT, k).set(layout.JOB_DONE, k);
      yield;
    }
  }

  const heap = arena.heap(b);
  const at = (address: number): Real => heap.subarray(address / width, address / width + n);
  yield* pass(FINISH[how.rounding], right, solution, solution);
  for (let step = 0; step < how.refine && at(solution).every(Number.isFinite); step++) {
    yield* pass(layout.RESIDUAL, right, solution, residual);
    yield* pass(FINISH[how.rounding], residual, correction, correction);
    correct(at(solution), at(correction));
  }
  x.set(at(solution));
}

// ---------------------------------------------------------------- P A = L U

export function luBytes(arena: Arena, data: Real, rows: number, cols: number, count: number, workers: number): number {
  const least = Math.min(rows, cols);
  return aligned(8 * data.length) + luWorkers(count, workers) * luWork(arena, rows, cols) + aligned(4 * least * count) + aligned(4 * count);
}

const luWork = (arena: Arena, rows: number, cols: number): number => aligned(arena.call("luWork", rows, cols));
const luWorkers = (count: number, workers: number): number => (count === 1 ? 1 : workers); // one matrix is worked on together

/** The kernels work in binary64, on numbers that are binary32 where that was asked for. Returns as Kernels.lu does. */
export function* lu(
  space: Space,
  job: Job,
  data: Real,
  rows: number,
  cols: number,
  count: number,
  pivots: Int32Array,
  info: Int32Array,
  workers: number,
): Generator<void, number, void> {
  const { arena } = space;
  const at = space.reserve(8 * data.length);
  const numbers = arena.binary64.subarray(at / 8, at / 8 + data.length);
  numbers.set(data);
  const workSize = luWork(arena, rows, cols);
  const work = space.reserve(luWorkers(count, workers) * workSize);
  const pivotsAt = space.reserve(4 * pivots.length);
  const infoAt = space.reserve(4 * count);
  job.start(count === 1 ? layout.LU : layout.LU_BATCH, data).set(layout.JOB_A, at);
  job.set(layout.JOB_M, rows).set(layout.JOB_N, cols).set(layout.JOB_K, count);
  job.set(layout.JOB_WORK, work).set(layout.JOB_WORK_SIZE, workSize).set(layout.JOB_PIVOTS, pivotsAt).set(layout.JOB_INFO, infoAt);
  arena.zero(infoAt, 4 * count);
  yield;
  const failed = job.get(layout.JOB_FAILED) - 1;
  if (failed >= 0) return failed;
  data.set(numbers);
  pivots.set(new Int32Array(arena.buffer, pivotsAt, pivots.length));
  info.set(new Int32Array(arena.buffer, infoAt, count));
  return -1;
}

// ---------------------------------------------------------------- sparse triangular systems

const SCHEDULED: Record<Schedule, number> = {
  serial: layout.SERIAL,
  levr: layout.LEVR,
  levc: layout.LEVC,
  slfr: layout.SLFR,
  slfc: layout.SLFC,
  gsf: layout.GSF,
};

// Tasks with a counter each: of what they wait for, or of what they have done.
function countersOf({ tasks, schedule }: SparseTriangle): number {
  return tasks.counts || schedule === "gsf" ? tasks.count : 0;
}

export function sptrsvBytes(system: SparseTriangle): number {
  const vector = aligned(system.n * system.values.BYTES_PER_ELEMENT);
  return (system.order ? 2 : 1) * vector + aligned(4 * countersOf(system));
}

/** The system is in the arena; right-hand side and solution share a vector there. */
export function* sptrsv(space: Space, job: Job, system: SparseTriangle, b: Real, x: Real): Run {
  const { arena } = space;
  const { begins, indices, values, diagonal, diagonalAt, shapes, order, tasks } = system;
  const address = (array?: Real | Int32Array | Uint8Array): number => array?.byteOffset ?? 0;
  const right = space.reserve(b.byteLength);
  const counters = countersOf(system);
  const counts = space.reserve(4 * counters);
  const index = right / b.BYTES_PER_ELEMENT;
  arena.heap(b).set(b, index);
  if (tasks.counts) arena.words.set(tasks.counts, counts / 4);
  else arena.zero(counts, 4 * counters);
  job
    .start(layout.SPTRSV, b)
    .set(layout.JOB_SCHEDULE, SCHEDULED[system.schedule])
    .set(layout.JOB_EXACT, system.exact ? 1 : 0)
    .set(layout.JOB_UPPER, system.upper ? 1 : 0)
    .set(layout.JOB_M, system.n)
    .set(layout.JOB_X, order ? space.reserve(b.byteLength) : right)
    .set(layout.JOB_Y, right);
  job
    .set(layout.JOB_BEGINS, address(begins))
    .set(layout.JOB_INDICES, address(indices))
    .set(layout.JOB_VALUES, address(values))
    .set(layout.JOB_DIAGONAL, address(diagonal))
    .set(layout.JOB_IN_LINE, diagonalAt ? IN_LINE[diagonalAt] : layout.APART)
    .set(layout.JOB_SHAPES, address(shapes?.ofLine))
    .set(layout.JOB_SHAPE_STARTS, address(shapes?.starts))
    .set(layout.JOB_ORDER, address(order));
  job
    .set(layout.JOB_TASK_COUNT, tasks.count)
    .set(layout.JOB_RUNS, address(tasks.runs))
    .set(layout.JOB_SEQUENCE, address(tasks.sequence))
    .set(layout.JOB_PHASES, address(tasks.phases))
    .set(layout.JOB_BLOCK_SIZE, tasks.together ?? 1);
  job
    .set(layout.JOB_COUNTS, counts)
    .set(layout.JOB_TARGETS, address(tasks.targets))
    .set(layout.JOB_LIST, address(tasks.list))
    .set(layout.JOB_LOOKUP, address(tasks.lookup));
  yield;
  x.set(arena.heap(b).subarray(index, index + x.length));
}

/** See Kernels: on the calling thread. */
export function firstZero(arena: Arena, { pointers, values, diagonalAt }: StoredLines, from: number, to: number): number {
  const single = values.BYTES_PER_ELEMENT === 4 ? 1 : 0;
  return arena.call("firstZero", single, diagonalAt === "last" ? 1 : 0, pointers.byteOffset, values.byteOffset, from, to);
}

/** See Kernels: on the calling thread. */
export function neighbours(arena: Arena, runs: RunLines, from: number): number {
  const { n, reversed, begins, indices, starts, lookup, seen, pointers, near } = runs;
  const places = [begins, indices, starts, lookup, seen, pointers, near].map(({ byteOffset }) => byteOffset);
  return arena.call("neighbours", n, reversed ? 1 : 0, ...places, starts.length - 1, near.length, from);
}

export function kahnBytes(begins: Int32Array, indices: Int32Array): number {
  return 4 * aligned(4 * begins.length) + aligned(4 * indices.length);
}

/** Levels by Kahn's algorithm, from the columns of a triangle and how many rows each unknown waits for. */
export function* kahn(
  space: Space,
  job: Job,
  begins: Int32Array,
  indices: Int32Array,
  counts: Int32Array,
): Generator<void, { ilev: Int32Array; jlev: Int32Array }, void> {
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
  const found = new Int32Array(space.arena.buffer);
  return {
    ilev: Int32Array.from([...found.subarray(starts / 4, starts / 4 + levels), n]),
    jlev: found.slice(order / 4, order / 4 + n),
  };
}

// ---------------------------------------------------------------- reductions, by a pool

const STAGES = { filter: layout.FILTER, ladder: layout.LADDER, exact: layout.EXACT } as const;
const OPERATIONS = { sum: layout.SUM, asum: layout.ASUM, dot: layout.DOT } as const;

export function reduceBytes(arena: Arena, x: Real, y: Real, workers: number): number {
  const results = Math.max(Math.ceil(x.length / PIECE) * layout.ENCLOSURE, 8 * layout.DIGIT_COUNT + 8);
  const padded = (v: Real): number => aligned((v.length + 8) * v.BYTES_PER_ELEMENT);
  return (arena.holds(x) && x.length % 8 === 0 ? 0 : padded(x)) + (y === x ? 0 : padded(y)) + aligned(results) + aligned(8 * workers);
}

/** The stages of dense/reduce.ts, one job each. */
export function* reduce(
  space: Space,
  job: Job,
  op: Reduction,
  x: Real,
  y: Real,
  root: boolean,
  mode: Rounding,
  format: Format,
  workers: number,
): Generator<void, number, void> {
  const stage = stages(space, job, op, x, y, workers);
  const records = yield* stage.filter();
  startEnclosure();
  for (let i = 0; i < records.length; i += layout.ENCLOSURE / 8)
    addEnclosure(records[i] as number, records[i + 1] as number, records[i + 2] as number);
  const certified = certify(root, mode, format);
  if (certified === certified) return certified;
  const sum = new Superaccumulator();
  const settled = settleWithin(sum, yield* stage.accumulate("ladder", sum), root, mode, format);
  if (settled !== undefined) return settled;
  yield* stage.accumulate("exact", sum.clear());
  return roundSum(sum, root, mode, format);
}

/** All terms, exactly. */
export function* accumulate(space: Space, job: Job, op: Reduction, x: Real, y: Real, workers: number, into: Superaccumulator): Run {
  yield* stages(space, job, op, x, y, workers).accumulate("exact", into);
}

function stages(space: Space, job: Job, op: Reduction, x: Real, y: Real, workers: number) {
  const { arena } = space;
  const X = space.padded(x);
  const Y = y === x ? X : space.padded(y);
  const pieces = Math.ceil(x.length / PIECE);
  const digits = 8 * layout.DIGIT_COUNT;
  const out = space.reserve(Math.max(pieces * layout.ENCLOSURE, digits + 8));
  const bounds = space.reserve(8 * workers);
  const start = (stage: keyof typeof STAGES): void => {
    job
      .start(layout.REDUCE, x)
      .set(layout.JOB_A, X)
      .set(layout.JOB_B, Y)
      .set(layout.JOB_K, x.length)
      .set(layout.JOB_OUT, out)
      .set(layout.JOB_WORK, bounds);
    job.set(layout.JOB_FINISH, OPERATIONS[op]).set(layout.JOB_REFINE, STAGES[stage]);
  };
  return {
    /** The enclosures of all pieces. */
    *filter(): Generator<void, Float64Array, void> {
      start("filter");
      yield;
      return arena.binary64.slice(out / 8, out / 8 + (pieces * layout.ENCLOSURE) / 8);
    },
    /** Add all terms to an accumulator; returns the bound of what was lost. */
    *accumulate(stage: "ladder" | "exact", into: Superaccumulator): Generator<void, number, void> {
      start(stage);
      arena.zero(out, digits + 8);
      yield;
      // From each worker digits below 2^32 and a last one with the sign.
      const words = arena.words.subarray(out / 4, out / 4 + digits / 4 + 1);
      const digit = (i: number): number => (words[2 * i + 1] as number) * 2 ** 32 + ((words[2 * i] as number) >>> 0);
      into.addDigits(
        Float64Array.from({ length: layout.DIGIT_COUNT }, (_, i) => digit(i)),
        0,
      );
      into.normalize();
      into.addSpecials(words[digits / 4] as number);
      return arena.binary64.subarray(bounds / 8, bounds / 8 + workers).reduce((a, b) => a + b, 0);
    },
  };
}
