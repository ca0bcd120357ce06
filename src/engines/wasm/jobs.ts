import { certify, roundSum, settleWithin } from "../../dense/reduce.ts";
import { addEnclosure, startEnclosure } from "../../exact/enclosure.ts";
import { store } from "../../exact/store.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Format, Real, Reduction, Rounding } from "../../types.ts";
import type { Entries, Substitution } from "../kernels.ts";
import type { Arena } from "./arena.ts";
import * as layout from "./assembly/layout.ts";
import { aligned, bytesFor, linesOf, type Operand, type Space } from "./space.ts";

// The matrix routines as jobs for the kernels. A job is a record in the arena; who works on it, one thread or a pool, is
// not its business. Each routine here is: the bytes it needs, and what it makes of a space of that size, as a generator
// that yields whenever the kernels are to run.

/** How an engine runs a job whose record has been written. */
export type Run = Generator<void, void, void>;

const RECORD = 192; // assembly/strip.ts
const RESIDUAL = 4; // assembly/trsv.ts
const FINISH = { single: 1, paper: 2, corrected: 3 } as const; // assembly/certificate.ts

type Field = keyof typeof layout & `JOB_${string}`;

/** Write a record: fields that are not named are zero. */
export class Job {
  private readonly words: Int32Array;

  constructor(
    private readonly arena: Arena,
    private readonly at: number,
    private readonly workers: number,
  ) {
    this.words = new Int32Array(arena.buffer, at, layout.JOB_SIZE / 4);
  }

  start(kind: number, like: Real, fields: Partial<Record<Field, number>>): this {
    this.words.fill(0);
    this.set({ JOB_KIND: kind, JOB_SINGLE: like.BYTES_PER_ELEMENT === 4 ? 1 : 0, JOB_WORKERS: this.workers, ...fields });
    return this;
  }

  set(fields: Partial<Record<Field, number>>): this {
    for (const [name, value] of Object.entries(fields)) this.words[layout[name as Field] / 4] = value;
    return this;
  }

  scalars(alpha: number, beta: number): this {
    this.arena.binary64[(this.at + layout.JOB_ALPHA) / 8] = alpha;
    this.arena.binary64[(this.at + layout.JOB_BETA) / 8] = beta;
    return this;
  }

  get(field: Field): number {
    return this.words[layout[field] / 4] as number;
  }
}

function operand(name: "A" | "B" | "C", { address, row, col }: Operand): Partial<Record<Field, number>> {
  return { [`JOB_${name}`]: address, [`JOB_${name}_ROW`]: row, [`JOB_${name}_COL`]: col };
}

/** Lines of a matrix that is not in the arena, brought there a few at a time. */
export interface Streamed {
  readonly lines: number; // at a time
}

// ---------------------------------------------------------------- y := alpha A x + beta y

export function gemvBytes(arena: Arena, A: Entries, x: Real, y: Real, streamed: Streamed | undefined): number {
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
  A: Entries,
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
  job.start(byRows ? layout.GEMV_ROWS : layout.GEMV_COLUMNS, y, { JOB_M: A.rows, JOB_K: terms, JOB_X: X, JOB_Y: Y });
  job.scalars(terms > 0 ? alpha : 1, beta);
  if (!byRows) {
    const bytes = Math.ceil(A.rows / 8) * RECORD;
    const records = space.reserve(bytes);
    space.arena.zero(records, bytes);
    job.set({ JOB_WORK: records });
  }
  if (!streamed || terms === 0) {
    if (terms > 0) job.set(operand("A", space.matrix(A)));
    job.set({ JOB_TO: byRows ? A.rows : terms });
    yield;
  } else {
    const chunk = space.reserve(streamed.lines * length * width);
    const step = length * width;
    if (!byRows) job.set({ JOB_ROW: fetchInto(space, A) });
    for (let first = 0; first < lines; first += streamed.lines) {
      const end = Math.min(first + streamed.lines, lines);
      space.copyLines(A, first, end, 0, length, chunk);
      job.set({ JOB_A: chunk - first * step, JOB_A_ROW: byRows ? step : width, JOB_A_COL: byRows ? width : step });
      job.set({ JOB_FROM: first, JOB_TO: end, JOB_NEXT: byRows ? first : 0 });
      yield;
    }
  }
  space.readVector(y, Y);
}

// The kernels ask for a row when its columns have gone by.
function fetchInto(space: Space, A: Entries): number {
  const at = space.reserve(A.cols * A.data.BYTES_PER_ELEMENT);
  const heap = space.arena.heap(A.data);
  const index = at / A.data.BYTES_PER_ELEMENT;
  space.arena.fetch = (row) => {
    for (let j = 0; j < A.cols; j++) heap[index + j] = A.data[A.offset + row * A.rowStep + j * A.colStep] as number;
  };
  return at;
}

// ---------------------------------------------------------------- C := alpha A B + beta C

export function gemmBytes(arena: Arena, A: Entries, B: Entries, C: Entries): number {
  return bytesFor(arena, [], [A, B]) + aligned(C.rows * C.cols * C.data.BYTES_PER_ELEMENT) + aligned(4 * (C.rows + C.cols));
}

export function* gemm(space: Space, job: Job, alpha: number, A: Entries, B: Entries, beta: number, C: Entries): Run {
  const terms = alpha === 0 ? 0 : A.cols;
  const to = space.matrix(C, beta !== 0, true);
  job.start(layout.GEMM, C.data, { JOB_M: C.rows, JOB_N: C.cols, JOB_K: terms, JOB_WORK: space.reserve(4 * (C.rows + C.cols)) });
  job.scalars(terms > 0 ? alpha : 1, beta).set(operand("C", to));
  if (terms > 0) job.set(operand("A", space.matrix(A))).set(operand("B", space.matrix(B)));
  yield;
  space.readMatrix(C, to);
}

// ---------------------------------------------------------------- T x = b

// Of each worker: enclosures, residual, correction; and where columns are contiguous, sums and the diagonal block.
function trsvWork(T: Entries, size: number): number {
  return aligned(size * (layout.ENCLOSURE + 16) + (linesOf(T).byRows ? 0 : size * size * T.data.BYTES_PER_ELEMENT));
}

export function trsvBytes(arena: Arena, T: Entries, b: Real, how: Substitution, streamed: Streamed | undefined, workers: number): number {
  const { byRows, length } = linesOf(T);
  const width = b.BYTES_PER_ELEMENT;
  const work = workers * trsvWork(T, how.blockSize) + (byRows ? 0 : aligned(Math.ceil(T.rows / 8) * RECORD));
  const matrix = streamed ? aligned(streamed.lines * length * width) + aligned(T.cols * width) : bytesFor(arena, [], [T]);
  return bytesFor(arena, [b], []) + 3 * aligned(b.byteLength) + work + matrix;
}

export function* trsv(
  space: Space,
  job: Job,
  T: Entries,
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
    job.start(byRows ? layout.TRSV_ROWS : layout.TRSV_COLUMNS, b, { JOB_M: n, JOB_X: given, JOB_Y: rhs, JOB_OUT: out });
    job.set({ JOB_WORK: work, JOB_WORK_SIZE: workSize, JOB_UPPER: how.upper ? 1 : 0, JOB_UNIT: how.unit ? 1 : 0, JOB_ROW: row });
    job.set({ JOB_FINISH: finish, JOB_REFINE: how.refineBlocks, JOB_BLOCK_SIZE: how.blockSize, JOB_TO: blocks });
    arena.zero(work, records);
    if (whole) {
      job.set(operand("A", whole));
      yield;
      return;
    }
    const step = length * width;
    const each = Math.max(1, Math.floor((streamed as Streamed).lines / how.blockSize));
    for (let k = 0; k < blocks; k += each) {
      const end = Math.min(k + each, blocks);
      const first = how.upper ? Math.max(0, n - end * how.blockSize) : k * how.blockSize;
      const last = how.upper ? n - k * how.blockSize : Math.min(n, end * how.blockSize);
      for (let i = first; i < last; i++) {
        const before = how.upper !== byRows; // whether the triangle's part of this line lies before the diagonal
        space.copyLines(T, i, i + 1, before ? 0 : i, before ? i + 1 : n, chunk + (i - first) * step);
      }
      job.set({ JOB_A: chunk - first * step, JOB_A_ROW: byRows ? step : width, JOB_A_COL: byRows ? width : step });
      job.set({ JOB_FROM: k, JOB_TO: end, JOB_NEXT: k, JOB_DONE: k });
      yield;
    }
  }

  const heap = arena.heap(b);
  const at = (address: number): Real => heap.subarray(address / width, address / width + n);
  yield* pass(FINISH[how.rounding], right, solution, solution);
  for (let step = 0; step < how.refine && at(solution).every(Number.isFinite); step++) {
    yield* pass(RESIDUAL, right, solution, residual);
    yield* pass(FINISH[how.rounding], residual, correction, correction);
    const sum = at(solution);
    const d = at(correction);
    for (let i = 0; i < n; i++) store(sum, i, (sum[i] as number) + (d[i] as number) + 0);
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
  const fields = {
    JOB_A: at,
    JOB_M: rows,
    JOB_N: cols,
    JOB_K: count,
    JOB_WORK: space.reserve(luWorkers(count, workers) * workSize),
    JOB_WORK_SIZE: workSize,
    JOB_PIVOTS: space.reserve(4 * pivots.length),
    JOB_INFO: space.reserve(4 * count),
  };
  job.start(count === 1 ? layout.LU : layout.LU_BATCH, data, fields);
  arena.zero(fields.JOB_INFO, 4 * count);
  yield;
  const failed = job.get("JOB_FAILED") - 1;
  if (failed >= 0) return failed;
  data.set(numbers);
  pivots.set(new Int32Array(arena.buffer, fields.JOB_PIVOTS, pivots.length));
  info.set(new Int32Array(arena.buffer, fields.JOB_INFO, count));
  return -1;
}

// ---------------------------------------------------------------- reductions, by a pool

const PIECE = 65536; // assembly/reduce.ts
const STAGES = { filter: 0, ladder: 1, exact: 2 } as const;
const OPERATIONS = { sum: 0, asum: 1, dot: 2 } as const;

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
    job.start(layout.REDUCE, x, { JOB_A: X, JOB_B: Y, JOB_K: x.length, JOB_OUT: out, JOB_WORK: bounds });
    job.set({ JOB_FINISH: OPERATIONS[op], JOB_REFINE: STAGES[stage] });
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
