import { checkCount, checkOptions, checkSize, checkVector, checkVectorOf } from "../../arrays/checks.ts";
import { EngineError, ShapeError, SingularError, ValueError } from "../../arrays/errors.ts";
import { asRow, checkMatrix, type StridedMatrix, stridedView } from "../../arrays/matrix.ts";
import type { Matrix, Real } from "../../arrays/types.ts";
import { copyOf, newIntegers, newVector } from "../../arrays/vectors.ts";
import { remoteMemory } from "../../engines/remote.ts";
import type { Routine } from "../../engines/steps.ts";
import { correct } from "../../exact/store.ts";
import type { BatchLU, RefineOptions } from "../types.ts";
import { exgemv } from "./gemv.ts";
import { extrsv } from "./trsv.ts";

/** What exlu computes: L and U, the pivots, and for a square A its copy, which solve refines with. */
export interface Factors<V extends Real> {
  readonly lu: Matrix<V>;
  readonly pivots: Int32Array;
  readonly copy: Matrix<V> | undefined;
  /** L and U for solve, where the engine keeps them. */
  readonly kept: Matrix<V>;
}

/** P A = L U with partial pivoting. */
export function* exlu<V extends Real>(A: Matrix<V>): Routine<Factors<V>> {
  checkMatrix("exlu", "A", A);
  const { rows, cols } = A;
  const kept = yield* keep("exlu", stridedView(A));
  const copy = kept ? compact(kept as V, rows, cols) : rowByRow("exlu", A);
  if (kept) yield* checkFiniteThere("exlu", kept, rows, cols, () => "A");
  else checkFinite("exlu", copy.data, rows, cols, () => "A");
  const pivots = newIntegers("exlu", Math.min(rows, cols));
  const info = new Int32Array(1);
  const there = kept && (yield* keep("exlu", stridedView(copy)));
  const data = (there ?? copyOf("exlu", copy.data)) as V;
  if (data.length > 0) {
    const overflowed = (yield (kernels) => kernels.lu(data, rows, cols, 1, pivots, info)) as number;
    checkOverflow("exlu", overflowed, rows, cols, () => "A");
    const column = (info[0] as number) - 1;
    if (column >= 0) throw new SingularError(`exlu: the pivot of column ${column} is 0, expected a matrix of full rank`, column);
  }
  const lu = compact(there ? ((yield* fetch("exlu", there)) as V) : data, rows, cols);
  return { lu, pivots, copy: rows === cols ? copy : undefined, kept: { ...lu, data } };
}

// Matrices of order 0 have no data that bounds their number, and each has an entry in `info`.
const MAX_EMPTY = 2 ** 24;

/** The same for many matrices of order n, one after another, each row by row. */
export function* exluBatch<V extends Real>(data: V, n: number, count: number): Routine<BatchLU<V>> {
  checkVector("exluBatch", "data", data);
  checkCount("exluBatch", "n", n, 0);
  checkCount("exluBatch", "count", count, 0);
  if (n === 0 && count > MAX_EMPTY)
    throw new EngineError(
      `exluBatch: no memory for ${count} numbers: count is ${count}, expected at most ${MAX_EMPTY} for matrices of order 0`,
    );
  checkSize("exluBatch", "data", data, count * n * n, `${count} matrices of order ${n}`);
  const name = (k: number) => `matrix ${k}`;
  const kept = yield* keep("exluBatch", asRow(data));
  if (kept) yield* checkFiniteThere("exluBatch", kept, n, n, name);
  else checkFinite("exluBatch", data, n, n, name);
  const lu = (kept ?? copyOf("exluBatch", data)) as V;
  const pivots = newIntegers("exluBatch", count * n);
  const info = newIntegers("exluBatch", count);
  if (lu.length > 0) {
    const overflowed = (yield (kernels) => kernels.lu(lu, n, n, count, pivots, info)) as number;
    checkOverflow("exluBatch", overflowed, n, n, name);
  }
  const factors = kept ? ((yield* fetch("exluBatch", kept)) as V) : lu;
  // How far the work on a singular matrix went is an engine's own business: what is left of it must not look like factors.
  for (const [k, column] of info.entries())
    if (column !== 0) {
      factors.fill(Number.NaN, k * n * n, (k + 1) * n * n);
      pivots.fill(0, k * n, (k + 1) * n);
    }
  return { lu: factors, pivots, info };
}

// A copy where the engine keeps data, if it does, and of such a one a copy here.
function* keep(routine: string, A: StridedMatrix): Routine<Real | undefined> {
  return (yield (kernels) => kernels.keeping?.keep(routine, A)) as Real | undefined;
}
function* fetch(routine: string, x: Real, from = 0, length = x.length): Routine<Real> {
  return (yield (kernels) => kernels.keeping?.fetch(routine, x, from, length)) as Real;
}

/** The solution of A x = b from the factors of A. */
export function* solveFactored<V extends Real>(factors: Factors<V>, b: V, options: RefineOptions = {}): Routine<V> {
  const { lu, copy } = factors;
  if (copy === undefined) throw new ShapeError(`LU.solve: the matrix is ${lu.rows} by ${lu.cols}, expected a square one`);
  checkVectorOf("LU.solve", "b", b, checkVector("LU.solve", "lu.data", lu.data), "A");
  checkSize("LU.solve", "b", b, lu.rows, "the order of A");
  checkOptions("LU.solve", options, ["refine"]);
  const { refine = 0 } = options;
  checkCount("LU.solve", "refine", refine, 0);

  // The caller may change b between two steps.
  const right = remoteMemory(b) ? ((yield* fetch("LU.solve", b)) as V) : copyOf("LU.solve", b);
  const x = yield* substitute(factors, copyOf("LU.solve", right));
  for (let step = 0; step < refine && x.every(Number.isFinite); step++) {
    const r = yield* exgemv(-1, copy, x, 1, copyOf("LU.solve", right));
    correct(x, yield* substitute(factors, r));
  }
  return x;
}

// Row swaps, which change b, then L, then U.
function* substitute<V extends Real>({ kept, pivots }: Factors<V>, b: V): Routine<V> {
  for (const [k, p] of pivots.entries()) [b[k], b[p]] = [b[p] as number, b[k] as number];
  return yield* extrsv(kept, yield* extrsv(kept, b, { unit: true }), { uplo: "upper" });
}

function rowByRow<V extends Real>(routine: string, A: Matrix<V>): Matrix<V> {
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A);
  const copy = newVector(routine, A.data, rows * cols);
  const lines = copy.length === 0 ? 0 : rows; // there may be any number of empty rows
  for (let i = 0; i < lines; i++) {
    if (colStride === 1) copy.set(data.subarray(offset + i * rowStride, offset + i * rowStride + cols), i * cols);
    else for (let j = 0; j < cols; j++) copy[i * cols + j] = data[offset + i * rowStride + j * colStride] as number;
  }
  return compact(copy, rows, cols);
}

function compact<V extends Real>(data: V, rows: number, cols: number): Matrix<V> {
  return { data, rows, cols, order: "row", ld: cols, offset: 0 };
}

function checkFinite(routine: string, data: Real, rows: number, cols: number, name: (matrix: number) => string): void {
  let zero = 0; // stays so while all are finite: a tenth of the time of a search
  for (let i = 0; i < data.length; i++) zero += (data[i] as number) * 0;
  if (zero === 0) return;
  const index = data.findIndex((v) => !Number.isFinite(v));
  if (index >= 0) throw entryError(routine, index, rows, cols, name, `is ${data[index]}, expected a finite number`);
}

function* checkFiniteThere(routine: string, data: Real, rows: number, cols: number, name: (matrix: number) => string): Routine<void> {
  const index = (yield (kernels) => kernels.keeping?.firstNotFinite(data)) as number;
  if (index < 0) return;
  const [value] = yield* fetch(routine, data, index, 1);
  throw entryError(routine, index, rows, cols, name, `is ${value}, expected a finite number`);
}

function checkOverflow(routine: string, index: number, rows: number, cols: number, name: (matrix: number) => string): void {
  if (index >= 0) throw entryError(routine, index, rows, cols, (k) => `the factors of ${name(k)}`, "overflows, expected a finite number");
}

function entryError(routine: string, index: number, rows: number, cols: number, name: (k: number) => string, what: string): ValueError {
  const row = Math.floor(index / cols);
  const [k, i, j] = [Math.floor(row / rows), row % rows, index % cols];
  return new ValueError(`${routine}: entry (${i}, ${j}) of ${name(k)} ${what}`, i, j);
}
