// The rows of matrices that this process holds. On one machine these are all rows. On the ranks of an MPI job each process holds some, and
// what it finds there is combined with what the others find, by the steps below; on one machine these steps do nothing. The exact stages
// of solve() (exact.ts) work on held rows, so that they are distributed too.
import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { ApproximateFactors } from "../../engines/approximate.ts";
import type { Distribution, HeldRows } from "../../engines/distribution.ts";
import type { Allocation, Later } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { copyToHost, keepMatrix } from "../transfer.ts";

export type { HeldRows } from "../../engines/distribution.ts";

/** The indices of n rows. */
export const allRows = (n: number): Int32Array => Int32Array.from({ length: n }, (_, i) => i);

// What `ask` returns if matrices are spread over processes; undefined on one machine.
function* distributed<T>(ask: (distribution: Distribution) => Later<T>): Routine<{ readonly answer: T } | undefined> {
  let isDistributed = false;
  const answer = yield ({ distribution }) => {
    isDistributed = distribution !== undefined;
    return distribution && ask(distribution);
  };
  return isDistributed ? { answer: answer as T } : undefined;
}

/** The rows of a matrix on the engine that this process holds; undefined on one machine. They must not be changed. */
export function* distributedRows(A: StridedOperand): Routine<HeldRows | undefined> {
  return (yield* distributed((distribution) => distribution.heldRows(A)))?.answer;
}

/** The same on the host; on one machine a copy of all rows. */
export function* heldRows(routine: string, A: StridedOperand): Routine<HeldRows> {
  return (yield* distributedRows(A)) ?? { rows: allRows(A.rows), data: (yield* copyToHost(routine, A)) as Float64Array };
}

/** Keep a matrix of `total` rows on the engine, of which this process has the held ones. */
export function* keepRows(routine: string, held: HeldRows, total: number, cols: number): Routine<Allocation<StridedOperand>> {
  const found = yield* distributed((distribution) => distribution.keepRows(routine, held, total, cols));
  return found ? found.answer : yield* keepMatrix(routine, rowMajor(held.data, total, cols), true);
}

/** All rows of a matrix of which each process has the held ones, row by row. */
export function* shareRows(held: HeldRows, total: number, cols: number): Routine<Float64Array> {
  return (yield* distributed((distribution) => distribution.shareRows(held, total, cols)))?.answer ?? held.data;
}

/** One number for each row, from those of the held rows. */
export function* shareNumbers(rows: Int32Array, numbers: ArrayLike<number>, total: number): Routine<Float64Array> {
  return yield* shareRows({ rows, data: Float64Array.from(numbers) }, total, 1);
}

/** These rows of a matrix on the engine, row by row; undefined on one machine. */
export function* readDistributedRows(A: StridedOperand, rows: Int32Array): Routine<Float64Array | undefined> {
  return (yield* distributed((distribution) => distribution.readRows(A, rows)))?.answer;
}

/** Columns of a matrix on the engine, row by row; undefined on one machine. */
export function* readDistributedColumns(A: StridedOperand, first: number, width: number): Routine<Float64Array | undefined> {
  return (yield* distributed((distribution) => distribution.readColumns(A, first, width)))?.answer;
}

/** Factors by exlu of a matrix, from its held rows; undefined on one machine. */
export function* distributedExactFactors(routine: string, held: HeldRows, n: number): Routine<ApproximateFactors | undefined> {
  return (yield* distributed((distribution) => distribution.exactFactors(routine, held, n)))?.answer;
}

/** values := their largest over all processes, element by element. None is NaN. */
export function* maximumOver(values: Float64Array): Routine<Float64Array> {
  yield* distributed((distribution) => distribution.maximum(values));
  return values;
}

/** The largest of a number over all processes. */
export function* largestOver(value: number): Routine<number> {
  return (yield* maximumOver(Float64Array.of(value)))[0] as number;
}

/** Whether something holds on one process at least. */
export function* onAny(holds: boolean): Routine<boolean> {
  return (yield* largestOver(holds ? 1 : 0)) === 1;
}

/** If a process has an error, all throw: each its own, or one that names the first that has one. */
export function* throwTogether(error: unknown): Routine<void> {
  const found = yield* distributed((distribution) => distribution.throwTogether(error));
  if (!found && error !== undefined) throw error;
}

/** A new vector of this process; if there is no memory on one process, all throw. */
export function* newHeldVector(routine: string, length: number): Routine<Float64Array> {
  let vector: Float64Array | undefined;
  let error: unknown;
  try {
    vector = newVector(routine, new Float64Array(0), length);
  } catch (refused) {
    error = refused;
  }
  yield* throwTogether(error);
  return vector as Float64Array;
}

// Columns of a factor that a process collects at a time: 32 MB.
const COLLECTED = 2 ** 22;

/** The held rows of P A, from the held rows of P and a matrix on the engine: exact, each entry rounded once. */
export function* multiplyHeld(routine: string, { rows, data }: HeldRows, A: StridedOperand): Routine<HeldRows> {
  const { rows: n, cols } = A;
  const product = yield* newHeldVector(routine, rows.length * cols);
  const width = Math.max(1, Math.min(cols, Math.floor(COLLECTED / n)));
  for (let first = 0; first < cols; first += width) {
    const count = Math.min(width, cols - first);
    const columns = yield* readDistributedColumns(A, first, count);
    const [right, wide] = columns ? [rowMajor(columns, n, count), count] : [A, cols];
    const out = { ...rowMajor(product, rows.length, wide), offset: columns ? first : 0, rowStride: cols };
    yield (kernels) => kernels.gemm(1, rowMajor(data, rows.length, n), right, 0, out);
    if (!columns) break;
  }
  return { rows, data: product };
}
