import { checkCount, checkFlag, checkOptions, checkSameFormat, checkSize, checkVector, checkWord } from "../checks.ts";
import type { Entries } from "../engines/kernels.ts";
import { ShapeError, ValueError } from "../errors.ts";
import { asRow, checkMatrix, entries } from "../matrix.ts";
import type { Matrix } from "../types.ts";
import { beside } from "./columns.ts";
import { largest } from "./powers.ts";
import { METHODS, type SolveMethod, type SolveOptions } from "./types.ts";

/** The options of a call, all set. */
export interface Settings {
  readonly method: "auto" | SolveMethod;
  readonly fallback: boolean;
  readonly maxIterations: number;
}

const DEFAULTS: Settings = { method: "auto", fallback: true, maxIterations: 30 };

/** Options of a call over those that hold otherwise. */
export function settingsOf(routine: string, options: SolveOptions, otherwise: Settings = DEFAULTS): Settings {
  checkOptions(routine, options, ["method", "rounding", "fallback", "maxIterations"]);
  const { method = otherwise.method, fallback = otherwise.fallback, maxIterations = otherwise.maxIterations } = options;
  const { rounding = "backward" } = options;
  checkWord(routine, "method", method, ["auto", ...METHODS]);
  checkWord(routine, "rounding", rounding, ["backward", "correct"]);
  if (rounding === "correct") throw new ShapeError(`${routine}: rounding is "correct", which there is not yet, expected "backward"`);
  checkFlag(routine, "fallback", fallback);
  checkCount(routine, "maxIterations", maxIterations, 0);
  return { method, fallback, maxIterations };
}

/** A square matrix of binary64 numbers, as kernels see it. */
export function checkSquare(routine: string, A: Matrix): Entries {
  checkSameFormat(routine, "A", checkMatrix(routine, "A", A), "binary64", "systems");
  if (A.rows !== A.cols) throw new ShapeError(`${routine}: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  return entries(A);
}

/** One right-hand side or several, as the columns of a matrix. */
export interface RightHandSides {
  readonly entries: Entries;
  /** The caller's: a vector, or a matrix in an order. */
  readonly order: "vector" | "row" | "column";
}

export function checkRight(routine: string, b: Float64Array | Matrix, n: number): RightHandSides {
  const isMatrix = typeof b === "object" && b !== null && !ArrayBuffer.isView(b) && "data" in b;
  if (!isMatrix) {
    const format = checkVector(routine, "b", b as Float64Array, "a matrix, ");
    checkSameFormat(routine, "b", format, "binary64", "A");
    checkSize(routine, "b", b as Float64Array, n, "the order of A");
    const { data, offset, cols } = asRow(b as Float64Array);
    return { entries: { data, offset, rows: cols, cols: 1, rowStep: 1, colStep: 1 }, order: "vector" };
  }
  checkSameFormat(routine, "b", checkMatrix(routine, "b", b), "binary64", "A");
  if (b.rows !== n) throw new ShapeError(`${routine}: b has ${b.rows} rows, expected ${n} (the order of A)`);
  return { entries: entries(b), order: b.order };
}

/** The columns of b, copied. */
export function columnsOf({ entries: { data, offset, rows, cols, rowStep, colStep } }: RightHandSides): Float64Array[] {
  const columns: Float64Array[] = [];
  for (let c = 0; c < cols; c++) {
    const column = new Float64Array(rows);
    for (let i = 0; i < rows; i++) column[i] = data[offset + i * rowStep + c * colStep] as number;
    columns.push(column);
  }
  return columns;
}

/** No entry of b that is not finite. */
export function checkColumns(routine: string, columns: readonly Float64Array[], order: RightHandSides["order"]): void {
  for (const [c, column] of columns.entries()) {
    if (Number.isFinite(largest(column))) continue;
    const i = column.findIndex((v) => !Number.isFinite(v));
    const place = order === "vector" ? `${i}` : `(${i}, ${c})`;
    throw new ValueError(`${routine}: entry ${place} of b is ${column[i]}, expected a finite number`, i, c);
  }
}

/** The columns of x as the caller has those of b, without gaps. */
export function inOrder(columns: readonly Float64Array[], n: number, order: RightHandSides["order"]): Float64Array {
  if (order === "row") return beside(columns, n);
  const x = new Float64Array(n * columns.length);
  for (const [c, column] of columns.entries()) x.set(column, c * n);
  return x;
}
