// exlu, exluBatch and LU.solve: P A = L U with partial pivoting, after the LU paper. On an engine whose memory the host cannot read, the
// factors and the copy of A stay there for LU.solve.

import { checkCount, checkOptions, checkSameFormat, checkSize, checkVector } from "../../arrays/checks.ts";
import { EngineError, ShapeError, SingularError, ValueError } from "../../arrays/errors.ts";
import {
  asRow,
  checkMatrix,
  checkMatrixOf,
  rowMajorCopy,
  type StridedMatrix,
  type StridedOperand,
  stridedView,
} from "../../arrays/matrix.ts";
import { type EngineArray, isMatrix, isOnHost, type MatrixOperand, type Operand } from "../../arrays/operands.ts";
import type { Matrix, Real } from "../../arrays/types.ts";
import { copyOf, newIntegers } from "../../arrays/vectors.ts";
import type { EngineMemory } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { clearColumns, correct, correctColumns, finiteColumns } from "../../exact/store.ts";
import { copyToHost, download, keepMatrix } from "../transfer.ts";
import type { BatchLU, RefineOptions } from "../types.ts";
import { exgemm } from "./gemm.ts";
import { exgemv } from "./gemv.ts";
import { checkRows, extrsm, extrsv } from "./trsv.ts";

/** What exlu computes: L and U, the pivots, and what LU.solve works with. */
export interface Factors {
  readonly lu: Matrix<Real>;
  readonly pivots: Int32Array;
  /** L and U in the engine's memory, and the copy of A that refinement uses. */
  readonly kept: MatrixOperand;
  readonly copy: MatrixOperand;
  /** Frees what is in the engine's memory; undefined if nothing is. */
  readonly free: (() => void) | undefined;
}

/** P A = L U with partial pivoting. */
export function* exlu(A: MatrixOperand): Routine<Factors> {
  checkMatrix("exlu", "A", A);
  const { rows, cols } = A;
  const view = stridedView(A);
  const memory = (yield (kernels) => kernels.memory) as EngineMemory;
  if (!memory.isOnHost) return yield* factorOnEngine(view);
  const copy = rowMajorCopy("exlu", view as StridedMatrix);
  checkFinite("exlu", copy, rows, cols, nameOfA);
  const data = copyOf("exlu", copy);
  const pivots = yield* factor(data, rows, cols);
  const lu = compact(data, rows, cols);
  return { lu, pivots, kept: lu, copy: compact(copy, rows, cols), free: undefined };
}

const nameOfA = (): string => "A";

function* factorOnEngine(A: StridedOperand): Routine<Factors> {
  const { rows, cols } = A;
  const copy = yield* keepMatrix("exlu", A, true);
  let kept = copy;
  const free = (): void => {
    copy.free();
    if (kept !== copy) kept.free();
  };
  try {
    yield* checkFiniteOnEngine("exlu", copy.value.data, rows, cols, nameOfA);
    kept = yield* keepMatrix("exlu", copy.value, true);
    const { data } = kept.value;
    const pivots = yield* factor(data, rows, cols);
    const lu = compact(yield* download<Real>("exlu", data), rows, cols);
    if (rows === cols) return { lu, pivots, kept: compact(data, rows, cols), copy: compact(copy.value.data, rows, cols), free };
    free(); // LU.solve needs a square matrix
    return { lu, pivots, kept: lu, copy: lu, free: undefined };
  } catch (error) {
    free();
    throw error;
  }
}

// In place. Returns the pivots.
function* factor(data: Operand, rows: number, cols: number): Routine<Int32Array> {
  const pivots = newIntegers("exlu", Math.min(rows, cols));
  if (data.length === 0) return pivots;
  const info = new Int32Array(1);
  const steps = (yield (kernels) => kernels.lu(data, rows, cols, 1, pivots, info)) as Routine<number>;
  const overflowed = yield* steps;
  checkOverflow("exlu", overflowed, rows, cols, nameOfA);
  const column = (info[0] as number) - 1;
  if (column >= 0) throw new SingularError(`exlu: the pivot of column ${column} is 0, expected a matrix of full rank`, column);
  return pivots;
}

// Matrices of order 0 have no data that bounds their number, and each has an entry in `info`.
const MAX_EMPTY = 2 ** 24;

/** P A = L U of many matrices of order n, one after another, each row by row. */
export function* exluBatch(data: Operand, n: number, count: number): Routine<BatchLU<Real>> {
  checkVector("exluBatch", "data", data);
  checkCount("exluBatch", "n", n, 0);
  checkCount("exluBatch", "count", count, 0);
  if (n === 0 && count > MAX_EMPTY)
    throw new EngineError(
      `exluBatch: no memory for ${count} numbers: count is ${count}, expected at most ${MAX_EMPTY} for matrices of order 0`,
    );
  checkSize("exluBatch", "data", data, count * n * n, `${count} matrices of order ${n}`);
  const pivots = newIntegers("exluBatch", count * n);
  const info = newIntegers("exluBatch", count);
  const name = (k: number) => `matrix ${k}`;
  function* factorAll(lu: Operand): Routine<void> {
    if (lu.length === 0) return;
    const steps = (yield (kernels) => kernels.lu(lu, n, n, count, pivots, info)) as Routine<number>;
    const overflowed = yield* steps;
    checkOverflow("exluBatch", overflowed, n, n, name);
  }
  const memory = (yield (kernels) => kernels.memory) as EngineMemory;
  let lu: Real;
  if (memory.isOnHost && isOnHost(data)) {
    checkFinite("exluBatch", data, n, n, name);
    lu = copyOf("exluBatch", data);
    yield* factorAll(lu);
  } else {
    const kept = yield* keepMatrix("exluBatch", asRow(data), true);
    try {
      yield* checkFiniteOnEngine("exluBatch", kept.value.data, n, n, name);
      yield* factorAll(kept.value.data);
      lu = yield* download<Real>("exluBatch", kept.value.data);
    } finally {
      kept.free();
    }
  }
  // How far an engine gets with a singular matrix is undefined: what it leaves must not look like factors.
  for (const [k, column] of info.entries())
    if (column !== 0) {
      lu.fill(Number.NaN, k * n * n, (k + 1) * n * n);
      pivots.fill(0, k * n, (k + 1) * n);
    }
  return { lu, pivots, info };
}

/** The solution of A x = b from the factors of A; of A X = B if b is a matrix. */
export function* solveFactored(factors: Factors, b: Operand | MatrixOperand, options: RefineOptions = {}): Routine<Real | Matrix<Real>> {
  const { lu } = factors;
  if (lu.rows !== lu.cols) throw new ShapeError(`LU.solve: the matrix is ${lu.rows} by ${lu.cols}, expected a square one`);
  const format = checkVector("LU.solve", "lu.data", lu.data);
  if (isMatrix(b)) {
    checkMatrixOf("LU.solve", "b", b, format, "A");
    checkRows("LU.solve", "b", b, lu.rows, "the order of A");
  } else {
    checkSameFormat("LU.solve", "b", checkVector("LU.solve", "b", b, "a matrix, "), format, "A");
    checkSize("LU.solve", "b", b, lu.rows, "the order of A");
  }
  checkOptions("LU.solve", options, ["refine"]);
  const { refine = 0 } = options;
  checkCount("LU.solve", "refine", refine, 0);
  return yield* isMatrix(b) ? solveMatrix(factors, b, refine) : solveVector(factors, b, refine);
}

function* solveVector(factors: Factors, b: Operand, refine: number): Routine<Real> {
  // The caller may change b between two steps.
  const right = isOnHost(b) ? copyOf("LU.solve", b) : yield* download<Real>("LU.solve", b);
  const x = yield* substitute(factors, copyOf("LU.solve", right));
  for (let step = 0; step < refine && x.every(Number.isFinite); step++) {
    const r = yield* exgemv(-1, factors.copy, x, 1, copyOf("LU.solve", right));
    correct(x, yield* substitute(factors, r));
  }
  return x;
}

// Swap the rows of b, then solve with L and with U.
function* substitute({ kept, pivots }: Factors, b: Real): Routine<Real> {
  for (const [k, p] of pivots.entries()) [b[k], b[p]] = [b[p] as number, b[k] as number];
  return yield* extrsv(kept, yield* extrsv(kept, b, { unit: true }), { uplo: "upper" });
}

// The same for the columns of B.
function* solveMatrix(factors: Factors, b: MatrixOperand, refine: number): Routine<Matrix<Real>> {
  const { rows, cols, order } = b;
  const right = yield* copyToHost("LU.solve", stridedView(b));
  const X = yield* substituteMatrix(factors, compact(copyOf("LU.solve", right), rows, cols));
  for (let step = 0; step < refine; step++) {
    const finite = finiteColumns(X.data, cols);
    if (!finite.includes(true)) break;
    const R = yield* exgemm(-1, factors.copy, X, 1, compact(copyOf("LU.solve", right), rows, cols));
    clearColumns(R.data, finite);
    correctColumns(X.data, (yield* substituteMatrix(factors, R)).data, finite);
  }
  if (order === "row") return X;
  return { ...X, order, ld: rows, data: rowMajorCopy("LU.solve", stridedView(X, true)) };
}

// Swap the rows of B, then solve with L and with U.
function* substituteMatrix({ kept, pivots }: Factors, B: Matrix<Real>): Routine<Matrix<Real>> {
  const { data, cols } = B;
  for (const [k, p] of pivots.entries()) {
    if (p === k) continue;
    const row = data.slice(k * cols, (k + 1) * cols);
    data.copyWithin(k * cols, p * cols, (p + 1) * cols);
    data.set(row, p * cols);
  }
  return yield* extrsm(kept, yield* extrsm(kept, B, { unit: true }), { uplo: "upper" });
}

function compact<V extends Operand>(data: V, rows: number, cols: number): MatrixOperand<V> {
  return { data, rows, cols, order: "row", ld: cols, offset: 0 };
}

function checkFinite(routine: string, data: Real, rows: number, cols: number, name: (matrix: number) => string): void {
  let zero = 0; // stays 0 while all are finite: takes a tenth of the time of a search
  for (let i = 0; i < data.length; i++) zero += (data[i] as number) * 0;
  if (zero === 0) return;
  const index = data.findIndex((v) => !Number.isFinite(v));
  if (index >= 0) throw entryError(routine, index, rows, cols, name, `is ${data[index]}, expected a finite number`);
}

function* checkFiniteOnEngine(routine: string, data: Operand, rows: number, cols: number, name: (matrix: number) => string): Routine<void> {
  const index = (yield (kernels) => kernels.memory.firstNotFinite?.(routine, data as EngineArray)) as number;
  if (index < 0) return;
  const [value] = yield* download<Real>(routine, data, index, 1);
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
