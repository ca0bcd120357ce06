// The sparse product y := alpha A x + beta y as a job. Called by wasm/index.ts and threads/index.ts; the kernels are in assembly/sparse/spmv.ts
// and spmvColumns.ts.

import type { Real } from "../../../arrays/types.ts";
import { aligned, part } from "../../../arrays/vectors.ts";
import type { HostOperator } from "../../hostKrylov.ts";
import type { Arena } from "../arena.ts";
import * as layout from "../assembly/layout.ts";
import { bytesFor, type Space } from "../space.ts";
import type { Job, JobSteps } from "./job.ts";

const { CHUNK, ENCLOSURE, LONG_ROW, ROW_PIECE, SUM_RECORD } = layout;
const MIN_ROOM = 16384; // products of rows by columns that are gathered at a time, at least

/** How a product is computed. */
export interface Product {
  readonly alpha: number;
  readonly A: HostOperator;
  readonly x: Real;
  readonly beta: number;
  readonly y: Real;
  readonly workers: number;
  /** Whether the lines of A are copied into the arena a few at a time, unless all of A is there. */
  readonly streams: boolean;
  /** Whether y, in the arena, is written while the job runs. */
  readonly inPlace: boolean;
}

const linesOf = ({ pointers }: HostOperator): number => pointers.length - 1;
const arraysOf = ({ pointers, indices, values }: HostOperator): (Real | Int32Array)[] => [pointers, indices, values];
const isStreamed = (arena: Arena, { A, streams }: Product): boolean => streams && !arraysOf(A).every((array) => arena.holds(array));

// Entries copied at a time: a chunk, or the longest line.
function entriesAtOnce(A: HostOperator): number {
  const { indices, pointers } = A;
  let most = Math.min(CHUNK, indices.length);
  if (Math.min(indices.length, A.byRows ? A.cols : A.rows) > CHUNK)
    for (let l = 0; l < linesOf(A); l++) most = Math.max(most, (pointers[l + 1] as number) - (pointers[l] as number));
  return most;
}

// The products of rows that are gathered at a time, for each worker. A stream has room for any row.
function roomFor({ A, workers }: Product, streamed: boolean): number {
  const entries = A.indices.length;
  return streamed
    ? Math.max(Math.ceil(entries / 4), Math.min(A.cols, entries))
    : Math.min(entries, Math.max(MIN_ROOM, Math.ceil(entries / (2 * workers))));
}

// Without terms the product is one by columns, without columns: its sums are zero, and neither A nor x is read.
const hasTerms = ({ alpha, A }: Product): boolean => alpha !== 0 && A.indices.length > 0;
const isByRows = (product: Product): boolean => hasTerms(product) && product.A.byRows;

export function spmvBytes(arena: Arena, product: Product): number {
  const { A, x, y, workers } = product;
  const entries = A.indices.length;
  const width = y.BYTES_PER_ELEMENT;
  const streamed = isStreamed(arena, product);
  const room = hasTerms(product) ? roomFor(product, streamed) * workers : 0;
  const long = Math.ceil(entries / LONG_ROW);
  const work = !isByRows(product)
    ? aligned(A.rows * SUM_RECORD) + aligned(room * width) + aligned(4 * room)
    : workers === 1
      ? 0
      : 2 * aligned(4 * long) + aligned(4 * long + 4) + aligned((Math.ceil(entries / ROW_PIECE) + long) * ENCLOSURE);
  const once = streamed ? entriesAtOnce(A) : 0;
  const matrix = streamed
    ? aligned(4 * Math.min(CHUNK, linesOf(A)) + 4) + aligned(4 * once) + aligned(once * width)
    : bytesFor(arena, arraysOf(A), []);
  return (hasTerms(product) ? bytesFor(arena, [x], []) + matrix : 0) + aligned(y.byteLength) + work;
}

export function* spmv(space: Space, job: Job, product: Product): JobSteps {
  const { alpha, A, x, beta, y, inPlace } = product;
  const { arena } = space;
  const Y = inPlace ? y.byteOffset : space.vector(y, beta !== 0, true);
  const X = hasTerms(product) ? space.vector(x) : 0;
  const streamed = hasTerms(product) && isStreamed(arena, product);
  const lines = !hasTerms(product) ? none(job) : streamed ? stream(space, job, A) : whole(space, job, A);
  const start = (kind: number): void => {
    job.start(kind, y).scalars(hasTerms(product) ? alpha : 1, beta);
    job.set(layout.JOB_M, A.rows).set(layout.JOB_X, X).set(layout.JOB_Y, Y);
  };
  yield* isByRows(product) ? byRows(space, job, product, start, lines) : byColumns(space, job, product, streamed, start, lines);
  if (!inPlace) space.readVector(y, Y);
}

/** Sets the lines of A in the record, some at a time, and runs the kernels for each. */
type Lines = () => JobSteps;

// No lines, once.
function none(job: Job): Lines {
  return function* () {
    job.set(layout.JOB_FROM, 0).set(layout.JOB_TO, 0);
    yield;
  };
}

// All lines at once.
function whole(space: Space, job: Job, A: HostOperator): Lines {
  const [begins, indices, values] = [space.integers(A.pointers), space.integers(A.indices), space.vector(A.values)];
  return function* () {
    job.set(layout.JOB_BEGINS, begins).set(layout.JOB_INDICES, indices).set(layout.JOB_VALUES, values);
    job.set(layout.JOB_FROM, 0).set(layout.JOB_TO, linesOf(A));
    yield;
  };
}

// As many lines at a time as fit into a chunk. Addresses are those that line and entry 0 would have.
function stream(space: Space, job: Job, A: HostOperator): Lines {
  const { pointers } = A;
  const { arena } = space;
  const once = entriesAtOnce(A);
  const width = A.values.BYTES_PER_ELEMENT;
  const begins = space.reserve(4 * Math.min(CHUNK, linesOf(A)) + 4);
  const indices = space.reserve(4 * once);
  const values = space.reserve(once * width);
  return function* () {
    for (let first = 0, end = 0; first < linesOf(A); first = end) {
      end = endOfChunk(pointers, first, once);
      const [from, to] = [pointers[first] as number, pointers[end] as number];
      arena.words.set(pointers.subarray(first, end + 1), begins / 4);
      arena.words.set(A.indices.subarray(from, to), indices / 4);
      arena.heap(A.values).set(part(A.values, from, to - from), values / width);
      job.set(layout.JOB_BEGINS, begins - 4 * first).set(layout.JOB_INDICES, indices - 4 * from);
      job.set(layout.JOB_VALUES, values - width * from);
      job.set(layout.JOB_FROM, first).set(layout.JOB_TO, end);
      yield;
    }
  };
}

// The end of the lines from `first` on that have at most `entries` entries, and are at most CHUNK.
function endOfChunk(pointers: Int32Array, first: number, entries: number): number {
  const limit = (pointers[first] as number) + entries;
  let low = first + 1;
  let high = Math.min(pointers.length - 1, first + CHUNK);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pointers[middle] as number) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

function* byRows(space: Space, job: Job, { A, workers }: Product, start: (kind: number) => void, lines: Lines): JobSteps {
  start(layout.SPMV_ROWS);
  if (workers === 1) return yield* lines();
  const long = Math.ceil(A.indices.length / LONG_ROW);
  const list = space.reserve(4 * long);
  job.set(layout.JOB_LIST, list);
  yield* lines();
  const count = job.get(layout.JOB_TASK_COUNT);
  if (count === 0) return;
  // The pieces of long rows. There are fewer such rows than entries / LONG_ROW, so this takes no time.
  const starts = space.reserve(4 * long + 4);
  const counts = space.reserve(4 * long);
  const { words } = space.arena;
  let pieces = 0;
  for (let k = 0; k < count; k++) {
    const row = words[list / 4 + k] as number;
    const ofRow = Math.ceil(((A.pointers[row + 1] as number) - (A.pointers[row] as number)) / ROW_PIECE);
    words[starts / 4 + k] = pieces;
    words[counts / 4 + k] = ofRow;
    pieces += ofRow;
  }
  words[starts / 4 + count] = pieces;
  start(layout.SPMV_LONG_ROWS);
  job.set(layout.JOB_LIST, list).set(layout.JOB_TASK_COUNT, count).set(layout.JOB_BLOCKS, starts).set(layout.JOB_COUNTS, counts);
  job.set(layout.JOB_WORK, space.reserve(pieces * ENCLOSURE));
  yield* lines();
}

function* byColumns(space: Space, job: Job, product: Product, streamed: boolean, start: (kind: number) => void, lines: Lines): JobSteps {
  const { A, workers, y } = product;
  const room = hasTerms(product) ? roomFor(product, streamed) : 0;
  const records = space.reserve(A.rows * SUM_RECORD);
  const values = space.reserve(room * workers * y.BYTES_PER_ELEMENT);
  const indices = space.reserve(4 * room * workers);
  const stage = (k: number): void => void job.set(layout.JOB_REFINE, k);
  start(layout.SPMV_COLUMNS);
  job.set(layout.JOB_WORK, records).set(layout.JOB_WORK_SIZE, room).set(layout.JOB_A, values).set(layout.JOB_B, indices);
  if (!streamed) return yield* lines();
  stage(layout.SUM_COLUMNS);
  yield* lines();
  stage(layout.CLOSE_ROWS);
  yield;
  while (job.get(layout.JOB_TASK_COUNT) > 0) {
    stage(layout.GATHER_ROWS);
    yield* lines();
    stage(layout.SETTLE_ROWS);
    yield;
  }
}
