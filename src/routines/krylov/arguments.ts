// The arguments of cg(), bicgstab() and gmres(), checked and with defaults. Called by krylov.ts.

import { checkCount, checkNumber, checkOptions, checkSameFormat, checkSize, checkVectorOf, describe } from "../../arrays/checks.ts";
import { ShapeError, ValueError } from "../../arrays/errors.ts";
import { checkMatrix, stridedView } from "../../arrays/matrix.ts";
import { type EngineArray, isOnHost, isSparse, type MatrixOperand, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import { checkSparse } from "../../arrays/sparse.ts";
import type { Routine } from "../../engines/steps.ts";
import type { AbortSignalLike } from "../solve/types.ts";
import { download } from "../transfer.ts";
import type { IterativeOptions } from "./types.ts";

/** The options of a call, with defaults filled in. */
export interface Settings {
  readonly preconditioner: "none" | "jacobi" | "ilu0" | readonly object[];
  readonly tolerance: number;
  readonly absolute: number;
  readonly maxIterations: number;
  readonly maxRestarts: number;
  readonly restart: number;
  readonly x0: Operand | undefined;
  readonly onIteration: IterativeOptions["onIteration"];
  readonly signal: AbortSignalLike | undefined;
}

const NAMES = ["preconditioner", "tolerance", "absolute", "maxIterations", "maxRestarts", "restart", "x0", "onIteration", "signal"];
const PRECONDITIONERS = ["none", "jacobi", "ilu0"] as const;

/** Check the options of a call on a system of order n and fill in defaults; `part` is the length of x0 if that is only a part. */
export function settingsOf(routine: string, n: number, options: IterativeOptions, part?: number): Settings {
  checkOptions(routine, options, NAMES);
  const { preconditioner = "none", tolerance = 1e-10, absolute = 0, maxIterations = Math.max(100, 10 * n) } = options;
  const { maxRestarts = 3, restart = 30, x0, onIteration, signal } = options;
  const isPreconditioner = typeof preconditioner === "string" ? PRECONDITIONERS.includes(preconditioner) : Array.isArray(preconditioner);
  if (!isPreconditioner)
    throw new ShapeError(
      `${routine}: preconditioner is ${describe(preconditioner)}, expected "none", "jacobi", "ilu0" or an array of plans from sptrsv`,
    );
  checkTolerance(routine, "tolerance", tolerance);
  checkTolerance(routine, "absolute", absolute);
  checkCount(routine, "maxIterations", maxIterations, 0);
  checkCount(routine, "maxRestarts", maxRestarts, 0);
  checkCount(routine, "restart", restart, 1);
  if (x0 !== undefined) {
    checkVectorOf(routine, "x0", x0, "binary64", "A");
    checkSize(routine, "x0", x0, part ?? n, part === undefined ? "the order of A" : "the rows of A on this rank");
  }
  if (onIteration !== undefined && typeof onIteration !== "function")
    throw new ShapeError(`${routine}: onIteration is ${describe(onIteration)}, expected a function`);
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function")
    throw new ShapeError(`${routine}: signal is ${describe(signal)}, expected an AbortSignal`);
  return { preconditioner, tolerance, absolute, maxIterations, maxRestarts, restart, x0, onIteration, signal };
}

function checkTolerance(routine: string, name: string, value: number): void {
  checkNumber(routine, name, value);
  if (!(value >= 0)) throw new ShapeError(`${routine}: ${name} is ${value}, expected a number of at least 0`);
}

/** A must be a square binary64 matrix, and b a vector of its order. */
export function checkSystem(routine: string, A: MatrixOperand | SparseOperand, b: Operand): void {
  if (typeof A !== "object" || A === null || !("pointers" in A || "data" in A))
    throw new ShapeError(`${routine}: A is ${describe(A)}, expected a matrix or a sparse matrix (see matrix(), csr() and csc())`);
  const format = isSparse(A) ? checkSparse(routine, "A", A) : checkMatrix(routine, "A", A);
  checkSameFormat(routine, "A", format, "binary64", "iterative solvers");
  if (A.rows !== A.cols) throw new ShapeError(`${routine}: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  checkVectorOf(routine, "b", b, "binary64", "A");
  checkSize(routine, "b", b, A.rows, "the order of A");
}

/** All entries of A, b and x0 must be finite. Row 0 is named as row `first`. */
export function* checkFinite(
  routine: string,
  A: MatrixOperand | SparseOperand,
  b: Operand,
  x0: Operand | undefined,
  first = 0,
): Routine<void> {
  yield* checkFiniteMatrix(routine, A, first);
  yield* checkFiniteVector(routine, "b", b, first);
  if (x0) yield* checkFiniteVector(routine, "x0", x0, first);
}

function* checkFiniteVector(routine: string, name: string, x: Operand, first: number): Routine<void> {
  const i = yield* firstNotFinite(routine, x);
  if (i < 0) return;
  const value = (isOnHost(x) ? x : yield* download<Float64Array>(routine, x, i, 1))[isOnHost(x) ? i : 0];
  throw new ValueError(`${routine}: entry ${first + i} of ${name} is ${value}, expected a finite number`, first + i, 0);
}

function* checkFiniteMatrix(routine: string, A: MatrixOperand | SparseOperand, first: number): Routine<void> {
  if (isSparse(A)) {
    const p = yield* firstNotFinite(routine, A.values);
    if (p < 0) return;
    const pointers = isOnHost(A.pointers) ? A.pointers : yield* download<Int32Array>(routine, A.pointers);
    const indices = isOnHost(A.indices) ? A.indices : yield* download<Int32Array>(routine, A.indices);
    const values = isOnHost(A.values) ? A.values : yield* download<Float64Array>(routine, A.values);
    const line = pointers.findIndex((end) => end > p) - 1;
    const [row, column] = A.format === "csr" ? [line, indices[p] as number] : [indices[p] as number, line];
    throw notFinite(routine, first + row, column, values[p] as number);
  }
  const { data, offset, rows, cols, rowStride, colStride } = stridedView(A);
  if (isOnHost(data)) {
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < cols; j++) {
        const v = data[offset + i * rowStride + j * colStride] as number;
        if (v - v !== 0) throw notFinite(routine, i, j, v);
      }
    return;
  }
  const p = yield* firstNotFinite(routine, data); // residents have no gaps
  if (p < 0) return;
  const [value] = yield* download<Float64Array>(routine, data, p, 1);
  throw notFinite(routine, Math.floor(p / rowStride) % rows, Math.floor(p / colStride) % cols, value as number);
}

function notFinite(routine: string, row: number, column: number, value: number): ValueError {
  return new ValueError(`${routine}: entry (${row}, ${column}) of A is ${value}, expected a finite number`, row, column);
}

function* firstNotFinite(routine: string, x: Operand): Routine<number> {
  if (!isOnHost(x)) return (yield (kernels) => kernels.memory.firstNotFinite?.(routine, x as EngineArray)) as number;
  for (let i = 0; i < x.length; i++) {
    const v = x[i] as number;
    if (v - v !== 0) return i;
  }
  return -1;
}
