// The arguments of solve() and factor(): options, the matrix and the right-hand sides, checked and converted. Called by solve.ts and
// factor.ts.

import { checkCount, checkFlag, checkOptions, checkSameFormat, checkSize, checkVector, checkWord, describe } from "../../arrays/checks.ts";
import { ShapeError, ValueError } from "../../arrays/errors.ts";
import { asRow, checkMatrix, rowMajor, type StridedMatrix, type StridedOperand, stridedView } from "../../arrays/matrix.ts";
import { isMatrix, isSparse, type MatrixOperand, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import { checkSparse } from "../../arrays/sparse.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { Routine } from "../../engines/steps.ts";
import { downloadSparse } from "../transfer.ts";
import { joinColumns } from "./columns.ts";
import { largest } from "./powers.ts";
import { type AbortSignalLike, METHODS, SOLVE_ROUNDINGS, type SolveMethod, type SolveOptions, type SolveRounding } from "./types.ts";

/** The options of a call, with defaults filled in. */
export interface Settings {
  readonly method: "auto" | SolveMethod;
  readonly rounding: SolveRounding;
  readonly fallback: boolean;
  readonly maxIterations: number;
  readonly signal: AbortSignalLike | undefined;
  readonly onProgress: SolveOptions["onProgress"];
}

const DEFAULTS: Settings = {
  method: "auto",
  rounding: "correct",
  fallback: true,
  maxIterations: 30,
  signal: undefined,
  onProgress: undefined,
};
const NAMES = Object.keys(DEFAULTS);

/** Check the options of a call and fill in defaults. Throws the signal's reason if it is aborted. */
export function settingsOf(routine: string, options: SolveOptions, defaults: Settings = DEFAULTS): Settings {
  checkOptions(routine, options, NAMES);
  const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings: Settings = { ...defaults, ...set };
  const { method, rounding, fallback, maxIterations, signal, onProgress } = settings;
  checkWord(routine, "method", method, ["auto", ...METHODS]);
  checkWord(routine, "rounding", rounding, SOLVE_ROUNDINGS);
  checkFlag(routine, "fallback", fallback);
  checkCount(routine, "maxIterations", maxIterations, 0);
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function")
    throw new ShapeError(`${routine}: signal is ${describe(signal)}, expected an AbortSignal`);
  if (onProgress !== undefined && typeof onProgress !== "function")
    throw new ShapeError(`${routine}: onProgress is ${describe(onProgress)}, expected a function`);
  signal?.throwIfAborted();
  return settings;
}

// A sparse matrix is solved as a dense one: 800 MB at this order, and as much again for the factors and for their inverses.
const MAX_SPARSE = 10_000;

/** A must be a square binary64 matrix, dense or sparse. */
export function checkSquare(routine: string, A: MatrixOperand | SparseOperand): void {
  const format = isSparse(A) ? checkSparse(routine, "A", A) : checkMatrix(routine, "A", A);
  checkSameFormat(routine, "A", format, "binary64", "systems");
  if (A.rows !== A.cols) throw new ShapeError(`${routine}: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  if (isSparse(A) && A.rows > MAX_SPARSE)
    throw new ShapeError(`${routine}: A is sparse and of order ${A.rows}, expected at most ${MAX_SPARSE}: it is solved as a dense matrix`);
}

/** The matrix as kernels take it: dense, with strides. */
export function* denseView(routine: string, A: MatrixOperand | SparseOperand): Routine<StridedOperand> {
  return isSparse(A) ? denseCopy(routine, yield* downloadSparse(routine, A)) : stridedView(A);
}

function denseCopy(routine: string, { format, rows: n, pointers, indices, values }: Sparse<Real>): StridedMatrix {
  const data = newVector(routine, values, n * n);
  const [lineStep, step] = format === "csr" ? [n, 1] : [1, n];
  for (let l = 0; l < n; l++) {
    for (let e = pointers[l] as number; e < (pointers[l + 1] as number); e++)
      data[l * lineStep + (indices[e] as number) * step] = values[e] as number;
  }
  return rowMajor(data, n, n);
}

/** One right-hand side or several, as the columns of a matrix. */
export interface RightHandSides {
  readonly entries: StridedOperand;
  /** What b is: a vector, or a matrix in row or column order. x is returned likewise. */
  readonly order: "vector" | "row" | "column";
}

/** b must be a binary64 vector of length n, or a matrix with n rows. */
export function checkRightHandSides(routine: string, b: Operand | MatrixOperand, n: number): RightHandSides {
  if (!isMatrix(b)) {
    const format = checkVector(routine, "b", b, "a matrix, ");
    checkSameFormat(routine, "b", format, "binary64", "A");
    checkSize(routine, "b", b, n, "the order of A");
    const { data, offset, cols } = asRow(b);
    return { entries: { data, offset, rows: cols, cols: 1, rowStride: 1, colStride: 1 }, order: "vector" };
  }
  checkSameFormat(routine, "b", checkMatrix(routine, "b", b), "binary64", "A");
  if (b.rows !== n) throw new ShapeError(`${routine}: b has ${b.rows} rows, expected ${n} (the order of A)`);
  return { entries: stridedView(b), order: b.order };
}

/** Copies of the columns of b. */
export function copyColumns({ data, offset, rows, cols, rowStride, colStride }: StridedMatrix): Float64Array[] {
  const columns: Float64Array[] = [];
  for (let c = 0; c < cols; c++) {
    const column = new Float64Array(rows);
    for (let i = 0; i < rows; i++) column[i] = data[offset + i * rowStride + c * colStride] as number;
    columns.push(column);
  }
  return columns;
}

/** All entries of b must be finite. */
export function checkFiniteColumns(routine: string, columns: readonly Float64Array[], order: RightHandSides["order"]): void {
  for (const [c, column] of columns.entries()) {
    if (Number.isFinite(largest(column))) continue;
    const i = column.findIndex((v) => !Number.isFinite(v));
    const place = order === "vector" ? `${i}` : `(${i}, ${c})`;
    throw new ValueError(`${routine}: entry ${place} of b is ${column[i]}, expected a finite number`, i, c);
  }
}

/** The columns of x in the order of b, contiguous. */
export function arrangeColumns(columns: readonly Float64Array[], n: number, order: RightHandSides["order"]): Float64Array {
  if (order === "row") return joinColumns(columns, n);
  const x = new Float64Array(n * columns.length);
  for (const [c, column] of columns.entries()) x.set(column, c * n);
  return x;
}
