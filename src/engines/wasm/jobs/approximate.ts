// The approximate kernels of solve() as jobs: factorization, substitution, residuals, and inverses for its certificates. Called by
// wasm/approximate.ts and threads/approximate.ts; the kernels are in assembly/solve/, their contract is engines/approximate.ts.

import { contiguousLines, type StridedMatrix } from "../../../arrays/matrix.ts";
import type { Format, Real } from "../../../arrays/types.ts";
import { aligned } from "../../../arrays/vectors.ts";
import type { Scaling } from "../../approximate.ts";
import type { Arena } from "../arena.ts";
import * as layout from "../assembly/layout.ts";
import { bytesFor, type MatrixLocation, type Space } from "../space.ts";
import type { Job, JobSteps } from "./job.ts";

const STRIP = 32; // bytes of a row that the kernels process at a time

/** The layout of a matrix that is being factored, with k more columns to its right, followed by its row swaps. */
export interface Shape {
  readonly rows: number;
  readonly cols: number;
  readonly k: number;
  readonly like: Real; // an empty array of its format
  readonly rowBytes: number; // bytes of a row
  readonly rowStride: number; // bytes from one row to the next: an odd number of cache lines, which spreads a column over all cache sets
  readonly pivots: number; // offset of the row swaps, which follow the matrix
  readonly bytes: number; // in total
}

const LIKE = { binary32: new Float32Array(), binary64: new Float64Array() } as const;

export function shapeOf(rows: number, cols: number, k: number, format: Format): Shape {
  const like = LIKE[format];
  const strips = (numbers: number): number => Math.ceil((numbers * like.BYTES_PER_ELEMENT) / STRIP) * STRIP;
  const rowBytes = strips(cols) + strips(k);
  const cacheLines = Math.ceil(rowBytes / 64);
  const rowStride = 64 * (cacheLines + 1 - (cacheLines % 2));
  const pivots = rowStride * 8 * Math.ceil(rows / 8);
  return { rows, cols, k, like, rowBytes, rowStride, pivots, bytes: pivots + aligned(4 * cols) };
}

function isSingle(like: Real): number {
  return like.BYTES_PER_ELEMENT === 4 ? 1 : 0;
}

// Bytes of workspace, and bytes of k right-hand sides. The kernels return sizes as signed integers, but they may exceed 2^31.
function workBytes(arena: Arena, shape: Shape): number {
  return aligned(arena.call("solveWork", isSingle(shape.like), shape.rows, shape.rowBytes) >>> 0);
}
function vectorBytes(arena: Arena, shape: Shape, k: number): number {
  return k * arena.call("solveVector", isSingle(shape.like), shape.rows);
}

/** How a factorization ended: see ApproximateFactors. */
export interface FactorizationOutcome {
  readonly column: number;
  readonly minPivot: number;
  readonly maxPivot: number;
}

// The kernels recognize contiguous rows by a column stride of one entry. The column stride of a single column may be anything.
function locationByRows(A: StridedMatrix, space: Space): MatrixLocation {
  const location = space.matrix(A);
  return contiguousLines(A).byRows ? { ...location, col: A.data.BYTES_PER_ELEMENT } : location;
}

function startJob(job: Job, kind: number, shape: Shape, at: number): Job {
  return job
    .start(kind, shape.like)
    .set(layout.JOB_C, at)
    .set(layout.JOB_C_ROW, shape.rowStride)
    .set(layout.JOB_M, shape.rows)
    .set(layout.JOB_N, shape.cols)
    .set(layout.JOB_PIVOTS, at + shape.pivots);
}

function startLu(space: Space, job: Job, shape: Shape, at: number): { outcome(): FactorizationOutcome } {
  const outcome = space.reserve(layout.OUTCOME);
  startJob(job, layout.APPROXIMATE_LU, shape, at)
    .set(layout.JOB_K, shape.k)
    .set(layout.JOB_TO, shape.rowBytes)
    .set(layout.JOB_LAST, shape.cols)
    .set(layout.JOB_WORK, space.reserve(workBytes(space.arena, shape)))
    .set(layout.JOB_INFO, outcome);
  return {
    outcome: () => {
      const numbers = space.arena.binary64.subarray(outcome / 8, (outcome + layout.OUTCOME) / 8);
      const [minPivot, maxPivot] = [numbers[layout.SMALLEST / 8] as number, numbers[layout.LARGEST / 8] as number];
      return { column: space.arena.words[outcome / 4] as number, minPivot, maxPivot };
    },
  };
}

// A step factors as many panels as have this many products: 5 to 10 ms on one thread.
const PRODUCTS_PER_STEP = 2 ** 27;

// Where the step ends that begins at column `from` of a right-looking factorization.
function stepEnd(from: number, rows: number, cols: number): number {
  let products = 0;
  let to = from;
  while (to < cols && products < PRODUCTS_PER_STEP) {
    products += layout.PANEL_COLUMNS * Math.max(0, rows - to) * (cols - to);
    to += layout.PANEL_COLUMNS;
  }
  return Math.min(to, cols);
}

export function factorizeBytes(arena: Arena, A: StridedMatrix, shape: Shape): number {
  const numbers = (count: number): number => aligned(8 * count);
  const sides = 2 * numbers(shape.rows * shape.k) + aligned(vectorBytes(arena, shape, shape.k));
  return bytesFor(arena, [], [A]) + 2 * numbers(shape.rows) + sides + aligned(layout.OUTCOME) + workBytes(arena, shape);
}

/** See ApproximateKernels. The factors go to the address `at`. */
export function* factorize(
  space: Space,
  job: Job,
  A: StridedMatrix,
  scaling: Scaling,
  b: Float64Array,
  x: Float64Array,
  shape: Shape,
  at: number,
): JobSteps<FactorizationOutcome> {
  const { arena } = space;
  const length = shape.rows * shape.k;
  const { outcome } = startLu(space, job, shape, at);
  const out = space.reserve(8 * length);
  job
    .matrix(layout.JOB_A, locationByRows(A, space))
    .set(layout.JOB_FROM_SINGLE, isSingle(A.data))
    .set(layout.JOB_ROW_SCALE, space.copy(scaling.rows))
    .set(layout.JOB_COL_SCALE, space.copy(scaling.cols));
  job
    .set(layout.JOB_B, space.copy(b))
    .set(layout.JOB_X, space.reserve(vectorBytes(arena, shape, shape.k)))
    .set(layout.JOB_OUT, out);
  let result: FactorizationOutcome;
  let from = 0;
  do {
    const to = stepEnd(from, shape.rows, shape.cols);
    job.set(layout.JOB_FROM, from).set(layout.JOB_LAST, to);
    yield;
    result = outcome();
    from = to;
  } while (from < shape.cols && result.column < 0);
  if (result.column < 0) x.set(arena.binary64.subarray(out / 8, out / 8 + length));
  return result;
}

export function substituteBytes(arena: Arena, shape: Shape, k: number): number {
  return 2 * aligned(8 * shape.rows * k) + aligned(vectorBytes(arena, shape, k));
}

export function* substitute(space: Space, job: Job, shape: Shape, at: number, b: Float64Array, k: number, x: Float64Array): JobSteps {
  const length = shape.rows * k;
  const out = space.reserve(8 * length);
  startJob(job, layout.APPROXIMATE_SOLVE, shape, at)
    .set(layout.JOB_K, k)
    .set(layout.JOB_B, space.copy(b))
    .set(layout.JOB_X, space.reserve(vectorBytes(space.arena, shape, k)))
    .set(layout.JOB_OUT, out);
  yield;
  x.set(space.arena.binary64.subarray(out / 8, out / 8 + length));
}

export function magnitudesBytes(arena: Arena, A: StridedMatrix): number {
  return bytesFor(arena, [], [A]) + aligned(8 * A.cols) + 2 * aligned(8 * A.rows);
}

export function* magnitudes(
  space: Space,
  job: Job,
  A: StridedMatrix,
  scale: Float64Array,
  sums: Float64Array,
  largest: Float64Array,
): JobSteps {
  const [sumsAt, largestAt] = [space.reserve(8 * A.rows), space.reserve(8 * A.rows)];
  job
    .start(layout.MAGNITUDES, A.data)
    .set(layout.JOB_FROM_SINGLE, isSingle(A.data))
    .matrix(layout.JOB_A, locationByRows(A, space))
    .set(layout.JOB_M, A.rows)
    .set(layout.JOB_N, A.cols);
  job.set(layout.JOB_X, space.copy(scale)).set(layout.JOB_Y, sumsAt).set(layout.JOB_OUT, largestAt);
  yield;
  const { binary64 } = space.arena;
  sums.set(binary64.subarray(sumsAt / 8, sumsAt / 8 + A.rows));
  largest.set(binary64.subarray(largestAt / 8, largestAt / 8 + A.rows));
}

export function residualBytes(arena: Arena, A: StridedMatrix, k: number, workers: number): number {
  const sides = aligned(8 * A.cols * k) + 2 * aligned(8 * A.rows * k);
  return bytesFor(arena, [], [A]) + sides + aligned(8 * (A.cols * k + workers * layout.RESIDUAL_ROWS));
}

export function* residual(
  space: Space,
  job: Job,
  alpha: number,
  A: StridedMatrix,
  x: Float64Array,
  b: Float64Array,
  k: number,
  r: Float64Array,
  workers: number,
): JobSteps {
  const out = space.reserve(r.byteLength);
  job
    .start(layout.APPROXIMATE_RESIDUAL, A.data)
    .scalars(alpha, 0)
    .set(layout.JOB_FROM_SINGLE, isSingle(A.data))
    .matrix(layout.JOB_A, locationByRows(A, space))
    .set(layout.JOB_M, A.rows)
    .set(layout.JOB_N, A.cols)
    .set(layout.JOB_K, k);
  job
    .set(layout.JOB_X, space.copy(x))
    .set(layout.JOB_B, space.copy(b))
    .set(layout.JOB_WORK, space.reserve(8 * (A.cols * k + workers * layout.RESIDUAL_ROWS)))
    .set(layout.JOB_OUT, out);
  yield;
  r.set(space.arena.binary64.subarray(out / 8, out / 8 + r.length));
}

export function panelBytes(arena: Arena, shape: Shape): number {
  return aligned(4 * shape.rows * shape.cols) + aligned(shape.bytes) + aligned(layout.OUTCOME) + workBytes(arena, shape);
}

/**
 * P A = L U in place of a binary32 matrix, stored row by row, with rows >= cols. Returns -1, or the first column whose pivot is 0 or not
 * finite.
 */
export function* panel(space: Space, job: Job, data: Float32Array, shape: Shape, pivots: Int32Array): JobSteps<number> {
  const at = space.reserve(shape.bytes);
  const compact = space.copy(data);
  const { outcome } = startLu(space, job, shape, at);
  job.matrix(layout.JOB_A, { address: compact, row: 4 * shape.cols, col: 4 }).set(layout.JOB_FROM_SINGLE, 1);
  job.set(layout.JOB_COMPACT, compact);
  yield;
  const { column } = outcome();
  if (column >= 0) return column;
  const { arena } = space;
  data.set(arena.binary32.subarray(compact / 4, compact / 4 + data.length));
  pivots.set(arena.words.subarray((at + shape.pivots) / 4, (at + shape.pivots) / 4 + shape.cols));
  return -1;
}

// Start a job on n by n binary64 factors or inverses at the address `at`.
function startTriangle(job: Job, kind: number, shape: Shape, at: number): Job {
  return job.start(kind, shape.like).set(layout.JOB_C, at).set(layout.JOB_C_ROW, shape.rowStride).set(layout.JOB_N, shape.cols);
}

const inverseWork = (arena: Arena, shape: Shape): number => aligned(arena.call("inverseWork", shape.cols) >>> 0);

export function invertBytes(arena: Arena, shape: Shape, workers: number): number {
  return workers * inverseWork(arena, shape);
}

/** See ApproximateKernels. The inverses go to the address `to`, with a shape of their own. */
export function* invert(space: Space, job: Job, shape: Shape, at: number, toShape: Shape, to: number, workers: number): JobSteps {
  const workSize = inverseWork(space.arena, shape);
  startTriangle(job, layout.INVERT, shape, at)
    .set(layout.JOB_OUT, to)
    .set(layout.JOB_B_ROW, toShape.rowStride)
    .set(layout.JOB_WORK, space.reserve(workers * workSize))
    .set(layout.JOB_WORK_SIZE, workSize);
  yield;
}

export const weighBytes = (shape: Shape): number => 2 * aligned(8 * shape.cols);

export function* weigh(space: Space, job: Job, shape: Shape, at: number, upper: boolean, v: Float64Array, out: Float64Array): JobSteps {
  const sums = space.reserve(8 * shape.cols);
  startTriangle(job, layout.WEIGH, shape, at)
    .set(layout.JOB_X, space.copy(v))
    .set(layout.JOB_OUT, sums)
    .set(layout.JOB_UPPER, upper ? 1 : 0);
  yield;
  out.set(space.arena.binary64.subarray(sums / 8, sums / 8 + shape.cols));
}

const modularWork = (arena: Arena, { rows, cols }: StridedMatrix, depth: number, workers: number): number =>
  aligned(arena.call("modularWork", rows, cols, depth, workers) >>> 0);

export function modularBytes(arena: Arena, C: StridedMatrix, depth: number, workers: number): number {
  return bytesFor(arena, [], [C]) + modularWork(arena, C, depth, workers) + aligned(8 * C.rows * depth) + aligned(8 * C.cols * depth);
}

/** See ApproximateKernels. */
export function* subtractModulo(
  space: Space,
  job: Job,
  C: StridedMatrix,
  P: Float64Array,
  Q: Float64Array,
  depth: number,
  p: number,
  workers: number,
): JobSteps {
  const location = space.matrix(C);
  job
    .start(layout.SUBTRACT_MODULO, C.data)
    .scalars(p, 0)
    .set(layout.JOB_C, location.address)
    .set(layout.JOB_C_ROW, location.row)
    .set(layout.JOB_M, C.rows)
    .set(layout.JOB_N, C.cols)
    .set(layout.JOB_K, depth)
    .set(layout.JOB_A, space.copy(P))
    .set(layout.JOB_B, space.copy(Q))
    .set(layout.JOB_WORK, space.reserve(modularWork(space.arena, C, depth, workers)));
  yield;
  if (!space.arena.holds(C.data)) space.readMatrix(C, location);
}
