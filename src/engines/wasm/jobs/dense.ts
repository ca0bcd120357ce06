// The dense matrix routines as jobs: exgemv, exgemm, extrsv, extrsm and exlu. Called by wasm/index.ts and threads/index.ts; the kernels are in
// assembly/dense/.

import { interleave, separate } from "../../../arrays/columns.ts";
import { contiguousLines, type StridedMatrix } from "../../../arrays/matrix.ts";
import type { Real } from "../../../arrays/types.ts";
import { aligned, copyPart, formatOf } from "../../../arrays/vectors.ts";
import { clearColumns, correct, correctColumns, finiteColumns } from "../../../exact/store.ts";
import type { Substitution } from "../../kernels.ts";
import type { Arena } from "../arena.ts";
import * as layout from "../assembly/layout.ts";
import { bytesFor, locationOf, type MatrixLocation, type Space } from "../space.ts";
import { groupedColumns, groupsOf } from "./groups.ts";
import type { Job, JobSteps } from "./job.ts";

const { GROUP_COLUMNS, RECORD, TRSM_GROUP } = layout;
const FINISH = { single: layout.SINGLE, paper: layout.PAPER, corrected: layout.CORRECTED } as const;

/** How a matrix outside the arena is copied into it: this number of contiguous lines at a time. */
export interface Streamed {
  readonly lines: number;
}

// ---------------------------------------------------------------- y := alpha A x + beta y

export function gemvBytes(arena: Arena, A: StridedMatrix, x: Real, y: Real, streamed: Streamed | undefined): number {
  const { byRows, length } = contiguousLines(A);
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
): JobSteps {
  const terms = alpha === 0 ? 0 : A.cols;
  const { byRows, lines, length } = contiguousLines(A);
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
    if (terms > 0) job.matrix(layout.JOB_A, space.matrix(A));
    job.set(layout.JOB_TO, byRows ? A.rows : terms);
    yield;
  } else {
    const chunk = space.reserve(streamed.lines * length * width);
    const stride = length * width;
    if (!byRows) job.set(layout.JOB_ROW, fetchInto(space, A));
    for (let first = 0; first < lines; first += streamed.lines) {
      const end = Math.min(first + streamed.lines, lines);
      space.copyLines(A, first, end, 0, length, chunk);
      job.matrix(layout.JOB_A, locationOf(byRows, chunk - first * stride, stride, width));
      job
        .set(layout.JOB_FROM, first)
        .set(layout.JOB_TO, end)
        .set(layout.JOB_NEXT, byRows ? first : 0);
      yield;
    }
  }
  space.readVector(y, Y);
}

// Space for one row. The kernels fetch a row if its columns are no longer in the arena.
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

export function* gemm(space: Space, job: Job, alpha: number, A: StridedMatrix, B: StridedMatrix, beta: number, C: StridedMatrix): JobSteps {
  const terms = alpha === 0 ? 0 : A.cols;
  const to = space.matrix(C, beta !== 0, true);
  job
    .start(layout.GEMM, C.data)
    .set(layout.JOB_M, C.rows)
    .set(layout.JOB_N, C.cols)
    .set(layout.JOB_K, terms)
    .set(layout.JOB_WORK, space.reserve(4 * (C.rows + C.cols)));
  job.scalars(terms > 0 ? alpha : 1, beta).matrix(layout.JOB_C, to);
  if (terms > 0) job.matrix(layout.JOB_A, space.matrix(A)).matrix(layout.JOB_B, space.matrix(B));
  yield;
  space.readMatrix(C, to);
}

// ---------------------------------------------------------------- T x = b

// Bytes per worker: enclosures, residual and correction; if the columns are contiguous, also the sums and the diagonal block.
function trsvWork(T: StridedMatrix, size: number): number {
  return aligned(size * (layout.ENCLOSURE + 16) + (contiguousLines(T).byRows ? 0 : size * size * T.data.BYTES_PER_ELEMENT));
}

// Unknowns per block, unless the caller chooses: the kernels sum three rows at a time, or 12 columns.
const ROW_BLOCK = 48;
const COLUMN_BLOCK = 12;
// If more than this fraction of each line is needed, copying whole lines is faster: 16 GB/s in pieces of 16 KiB, 25 GB/s in pieces of
// 512 KiB.
const WHOLE_LINES = 0.6;

/** The same solve with a block size: the caller's, or the engine's if the caller has no preference. */
export function withBlocks(T: StridedMatrix, how: Substitution, chunk = Number.POSITIVE_INFINITY): Substitution {
  if (how.blockSize > 0) return how;
  const { byRows, length } = contiguousLines(T);
  const inChunk = Math.max(3, 3 * Math.floor(chunk / length / 3)); // rows that fit in a chunk
  const blockSize = Math.min(T.rows, byRows ? Math.min(ROW_BLOCK, inChunk) : COLUMN_BLOCK);
  const { upper, unit, rounding, refine, refineBlocks } = how; // spreading it takes 0.1 µs more
  return { upper, unit, rounding, refine, refineBlocks, blockSize };
}

export function trsvBytes(
  arena: Arena,
  T: StridedMatrix,
  b: Real,
  how: Substitution,
  streamed: Streamed | undefined,
  workers: number,
): number {
  const { byRows, length } = contiguousLines(T);
  const width = b.BYTES_PER_ELEMENT;
  const work = workers * trsvWork(T, how.blockSize) + (byRows ? 0 : aligned(Math.ceil(T.rows / 8) * RECORD));
  const matrix = streamed ? aligned(streamed.lines * length * width) + aligned(T.cols * width) : bytesFor(arena, [], [T]);
  return bytesFor(arena, [b], []) + 3 * aligned(b.byteLength) + work + matrix;
}

/** The memory of a solve: addresses, and T itself if it is in the arena. */
interface TrsvMemory {
  readonly work: number;
  readonly workSize: number;
  readonly records: number;
  readonly row: number;
  readonly chunk: number;
  readonly whole: MatrixLocation | undefined;
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
): JobSteps {
  const { byRows, length } = contiguousLines(T);
  const n = b.length;
  const width = b.BYTES_PER_ELEMENT;
  const right = space.vector(b);
  const solution = space.reserve(b.byteLength);
  const residual = space.reserve(b.byteLength);
  const correction = space.reserve(b.byteLength);
  const records = byRows ? 0 : Math.ceil(n / 8) * RECORD;
  const workSize = trsvWork(T, how.blockSize);
  const memory: TrsvMemory = {
    work: space.reserve(aligned(records) + workers * workSize),
    workSize,
    records,
    whole: streamed ? undefined : space.matrix(T),
    chunk: streamed ? space.reserve(streamed.lines * length * width) : 0,
    row: streamed && !byRows ? fetchInto(space, T) : 0,
  };
  const finish = FINISH[how.rounding];
  const heap = space.arena.heap(b);
  yield* trsvPass(space, job, T, how, streamed, memory, finish, right, solution, solution);
  for (let step = 0; step < how.refine; step++) {
    const now = heap.subarray(solution / width, solution / width + n);
    if (!now.every(Number.isFinite)) break;
    yield* trsvPass(space, job, T, how, streamed, memory, layout.RESIDUAL, right, solution, residual);
    yield* trsvPass(space, job, T, how, streamed, memory, finish, residual, correction, correction);
    correct(now, heap.subarray(correction / width, correction / width + n));
  }
  copyPart(heap, solution / width, n, x, 0);
}

// One substitution, or the residual of a solution (`given`): all of T passes the kernels once.
function* trsvPass(
  space: Space,
  job: Job,
  T: StridedMatrix,
  how: Substitution,
  streamed: Streamed | undefined,
  memory: TrsvMemory,
  finish: number,
  rhs: number,
  given: number,
  out: number,
): JobSteps {
  const { byRows, length } = contiguousLines(T);
  const n = T.rows;
  const width = T.data.BYTES_PER_ELEMENT;
  const blocks = Math.ceil(n / how.blockSize);
  job
    .start(byRows ? layout.TRSV_ROWS : layout.TRSV_COLUMNS, T.data)
    .set(layout.JOB_M, n)
    .set(layout.JOB_X, given)
    .set(layout.JOB_Y, rhs)
    .set(layout.JOB_OUT, out);
  job
    .set(layout.JOB_WORK, memory.work)
    .set(layout.JOB_WORK_SIZE, memory.workSize)
    .set(layout.JOB_UPPER, how.upper ? 1 : 0)
    .set(layout.JOB_UNIT, how.unit ? 1 : 0)
    .set(layout.JOB_ROW, memory.row);
  job
    .set(layout.JOB_FINISH, finish)
    .set(layout.JOB_REFINE, how.refineBlocks)
    .set(layout.JOB_BLOCK_SIZE, how.blockSize)
    .set(layout.JOB_TO, blocks);
  if (memory.records > 0) space.arena.zero(memory.work, memory.records);
  if (memory.whole) {
    job.matrix(layout.JOB_A, memory.whole);
    yield;
    return;
  }
  const { chunk } = memory;
  const stride = length * width;
  const blocksAtOnce = Math.max(1, Math.floor((streamed as Streamed).lines / how.blockSize));
  for (let k = 0; k < blocks; k += blocksAtOnce) {
    const end = Math.min(k + blocksAtOnce, blocks);
    const first = how.upper ? Math.max(0, n - end * how.blockSize) : k * how.blockSize;
    const last = how.upper ? n - k * how.blockSize : Math.min(n, end * how.blockSize);
    const beforeDiagonal = how.upper !== byRows; // whether the triangle's part of a line lies before the diagonal
    if ((beforeDiagonal ? last : n - first) > WHOLE_LINES * n) space.copyLines(T, first, last, 0, n, chunk);
    else space.copyLines(T, first, last, beforeDiagonal ? 0 : first, beforeDiagonal ? last : n, chunk);
    job.matrix(layout.JOB_A, locationOf(byRows, chunk - first * stride, stride, width));
    job.set(layout.JOB_FROM, k).set(layout.JOB_TO, end).set(layout.JOB_NEXT, k).set(layout.JOB_DONE, k);
    yield;
  }
}

// ---------------------------------------------------------------- T X = B

/** The number of columns that trsm() solves in groups. The others are solved by trsv(). */
export function trsmColumns(cols: number, how: Substitution, workers: number): number {
  const grouped = groupedColumns(cols);
  // A group is the work of one worker, while all workers share a column.
  return how.refineBlocks > 0 || 2 * groupsOf(grouped) < workers ? 0 : grouped;
}

const groupBytes = (n: number, cols: number): number => aligned(8 * n * GROUP_COLUMNS) * groupsOf(cols);
const trsmWork = (arena: Arena, n: number): number => aligned(arena.call("trsmWork", n));

/** Without the matrix itself, if it is not streamed. */
export function trsmBytes(
  arena: Arena,
  T: StridedMatrix,
  cols: number,
  how: Substitution,
  streamed: Streamed | undefined,
  workers: number,
): number {
  const vectors = (how.refine > 0 ? 4 : 2) * groupBytes(T.rows, cols) + aligned(groupsOf(cols) * TRSM_GROUP);
  const chunk = streamed ? aligned(streamed.lines * T.cols * T.data.BYTES_PER_ELEMENT) : 0;
  return vectors + workers * trsmWork(arena, T.rows) + chunk;
}

/**
 * Solve for the first `cols` columns of B. The kernels work on binary64 copies, eight columns interleaved, with rows in the order of
 * substitution. A matrix that is streamed has contiguous rows.
 */
export function* trsm(
  space: Space,
  job: Job,
  T: StridedMatrix,
  B: StridedMatrix,
  X: StridedMatrix,
  cols: number,
  how: Substitution,
  streamed: Streamed | undefined,
  workers: number,
): JobSteps {
  const { arena } = space;
  const { rows: n, data } = T;
  const width = data.BYTES_PER_ELEMENT;
  const groups = groupsOf(cols);
  const size = groupBytes(n, GROUP_COLUMNS) / 8;
  const [right, solution] = [0, 0].map(() => space.reserve(groups * size * 8)) as [number, number];
  const [residual, correction] = how.refine > 0 ? ([0, 0].map(() => space.reserve(groups * size * 8)) as [number, number]) : [0, 0];
  const sizes = space.reserve(groups * TRSM_GROUP);
  const workSize = trsmWork(arena, n);
  const work = space.reserve(workers * workSize);
  const whole = streamed ? undefined : space.matrix(T);
  const chunk = streamed ? space.reserve(streamed.lines * T.cols * width) : 0;
  for (let g = 0; g < groups; g++) interleave(B, g * GROUP_COLUMNS, arena.binary64, right / 8 + g * size, GROUP_COLUMNS, how.upper);

  function* pass(finish: number, rhs: number, given: number, out: number): JobSteps {
    job
      .start(layout.TRSM, data)
      .set(layout.JOB_M, n)
      .set(layout.JOB_N, groups * GROUP_COLUMNS);
    job.set(layout.JOB_B, rhs).set(layout.JOB_X, given).set(layout.JOB_OUT, out).set(layout.JOB_C, sizes);
    job.set(layout.JOB_WORK, work).set(layout.JOB_WORK_SIZE, workSize);
    job.set(layout.JOB_UNIT, how.unit ? 1 : 0).set(layout.JOB_FINISH, finish);
    // In the order of substitution every triangle is lower: an upper one begins at its last entry.
    const locate = ({ address, row, col }: MatrixLocation): void => {
      const reversed = { address: address + (n - 1) * (row + col), row: -row, col: -col };
      job.matrix(layout.JOB_A, how.upper ? reversed : { address, row, col });
    };
    if (whole) {
      locate(whole);
      job.set(layout.JOB_TO, n);
      yield;
      return;
    }
    const { lines } = streamed as Streamed;
    for (let k = 0; k < n; k += lines) {
      const end = Math.min(k + lines, n);
      const [first, last] = how.upper ? [n - end, n - k] : [k, end];
      space.copyLines(T, first, last, how.upper ? first : 0, how.upper ? n : last, chunk);
      locate(locationOf(true, chunk - first * n * width, n * width, width));
      job.set(layout.JOB_FROM, k).set(layout.JOB_TO, end);
      yield;
    }
  }

  const finish = FINISH[how.rounding];
  const at = (address: number, g: number): Float64Array => arena.binary64.subarray(address / 8 + g * size, address / 8 + g * size + 8 * n);
  yield* pass(finish, right, solution, solution);
  for (let step = 0; step < how.refine; step++) {
    const finite = Array.from({ length: groups }, (_, g) => finiteColumns(at(solution, g), GROUP_COLUMNS));
    if (!finite.flat().includes(true)) break;
    yield* pass(layout.RESIDUAL, right, solution, residual);
    for (const [g, columns] of finite.entries()) clearColumns(at(residual, g), columns);
    yield* pass(finish, residual, correction, correction);
    for (const [g, columns] of finite.entries()) correctColumns(at(solution, g), at(correction, g), columns, formatOf(data));
  }
  for (let g = 0; g < groups; g++) separate(arena.binary64, solution / 8 + g * size, GROUP_COLUMNS, X, g * GROUP_COLUMNS, how.upper);
}

// ---------------------------------------------------------------- P A = L U

export function luBytes(arena: Arena, data: Real, rows: number, cols: number, count: number, workers: number): number {
  const steps = Math.min(rows, cols);
  return aligned(8 * data.length) + luWorkers(count, workers) * luWork(arena, rows, cols) + aligned(4 * steps * count) + aligned(4 * count);
}

const luWork = (arena: Arena, rows: number, cols: number): number => aligned(arena.call("luWork", rows, cols));
const luWorkers = (count: number, workers: number): number => (count === 1 ? 1 : workers); // all workers share the workspace of a single matrix

// A step does as many blocks as have this many products for each worker: 3 to 6 ms.
const PRODUCTS_PER_STEP = 2 ** 24;

// Where the step ends that begins at column `from`. A block has the products of its rows below and of the rows of U to its right.
function stepEnd(from: number, rows: number, cols: number, workers: number): number {
  let products = 0;
  let to = from;
  while (to < cols && products < workers * PRODUCTS_PER_STEP) {
    products += layout.LU_BLOCK * Math.min(to, rows) * (Math.max(rows - to, 0) + cols - to);
    to += layout.LU_BLOCK;
  }
  return Math.min(to, cols);
}

/**
 * See Kernels.lu. The kernels work on binary64 copies, also of binary32 matrices, and round to the format of `data`. A single matrix takes
 * a step per group of blocks.
 */
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
): JobSteps<number> {
  const { arena } = space;
  const at = space.reserve(8 * data.length);
  copyPart(data, 0, data.length, arena.binary64, at / 8);
  const workSize = luWork(arena, rows, cols);
  const work = space.reserve(luWorkers(count, workers) * workSize);
  const pivotsAt = space.reserve(4 * pivots.length);
  const infoAt = space.reserve(4 * count);
  job.start(count === 1 ? layout.LU : layout.LU_BATCH, data).set(layout.JOB_A, at);
  job.set(layout.JOB_M, rows).set(layout.JOB_N, cols).set(layout.JOB_K, count);
  job.set(layout.JOB_WORK, work).set(layout.JOB_WORK_SIZE, workSize).set(layout.JOB_PIVOTS, pivotsAt).set(layout.JOB_INFO, infoAt);
  if (count === 1) arena.words[infoAt / 4] = 0;
  else arena.zero(infoAt, 4 * count);
  let failed = -1;
  for (let from = 0; from < cols && failed < 0 && arena.words[infoAt / 4] === 0; ) {
    const to = count === 1 ? stepEnd(from, rows, cols, workers) : cols;
    job.set(layout.JOB_FROM, from).set(layout.JOB_TO, to);
    yield;
    const overflowed = job.get(layout.JOB_FAILED) - 1;
    if (overflowed % cols < to) failed = overflowed; // an overflow further right counts once its column is done
    from = to;
  }
  if (failed >= 0) return failed;
  copyPart(arena.binary64, at / 8, data.length, data, 0);
  copyPart(arena.words, pivotsAt / 4, pivots.length, pivots, 0);
  copyPart(arena.words, infoAt / 4, count, info, 0);
  return -1;
}
