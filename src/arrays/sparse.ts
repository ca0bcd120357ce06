// Sparse matrices by rows (CSR) or by columns (CSC). A pattern is checked once, when the matrix is created. What the check finds is kept,
// and every sparse routine relies on it. A "line" is a row of a matrix by rows and a column of one by columns.

import { checkCount, checkVector, describe, typedArrayTag } from "./checks.ts";
import { PatternError, ShapeError } from "./errors.ts";
import { isOnHost, type SparseOperand } from "./operands.ts";
import { Repeats, TriangleFinder, type Triangular, triangularOf } from "./triangular.ts";
import type { Format, Real, Sparse } from "./types.ts";
import { formatOf, newIntegers, newVector } from "./vectors.ts";

/** What is known of a pattern. */
export interface PatternInfo {
  /** Whether the indices of every line ascend. */
  readonly ascends: boolean;
  /** Set if the lines ascend and the matrix is triangular. */
  readonly triangular?: Triangular | undefined;
}

// The patterns that have been checked, and what is known of them.
const checked = new WeakMap<SparseOperand, PatternInfo>();
const NOTHING: PatternInfo = { ascends: false };

/** Rows, columns and entries are counted in 32 bits. */
export const MAX = 2 ** 31 - 1;

/**
 * A sparse matrix by rows, in your arrays, which are not copied: the columns of row i and their values are at pointers[i] to
 * pointers[i + 1] - 1, in any order, none twice. Throws a PatternError if the pattern is invalid.
 * @example
 * // 1 0 2
 * // 0 3 0
 * const A = csr(2, 3, Int32Array.of(0, 2, 3), Int32Array.of(0, 2, 1), Float64Array.of(1, 2, 3));
 * exspmv(1, A, Float64Array.of(1, 1, 1), 0, new Float64Array(2)); // Float64Array(2) [ 3, 3 ]
 */
export function csr(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: Float64Array): Sparse<Float64Array>;
export function csr(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: Float32Array): Sparse<Float32Array>;
export function csr<V extends Real>(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: V): Sparse<V>;
export function csr(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: Real): Sparse<Real> {
  return checkedMatrix("csr", { format: "csr", rows, cols, pointers, indices, values });
}

/**
 * The same by columns: `indices` are rows.
 * @example
 * // 1 0 2
 * // 0 3 0
 * const A = csc(2, 3, Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 1, 0), Float64Array.of(1, 3, 2));
 * toCsr(A).indices; // Int32Array(3) [ 0, 2, 1 ]
 */
export function csc(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: Float64Array): Sparse<Float64Array>;
export function csc(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: Float32Array): Sparse<Float32Array>;
export function csc<V extends Real>(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: V): Sparse<V>;
export function csc(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: Real): Sparse<Real> {
  return checkedMatrix("csc", { format: "csc", rows, cols, pointers, indices, values });
}

function checkedMatrix<V extends Real>(routine: string, A: Sparse<V>): Sparse<V> {
  return trusted(A, checkPattern(routine, "", A));
}

/** A matrix whose pattern needs no check. It is frozen, so that it stays valid. */
export function trusted<S extends SparseOperand>(A: S, pattern: PatternInfo): S {
  checked.set(Object.freeze(A), pattern);
  return A;
}

/** A matrix whose lines are known to ascend. */
export function ascending<V extends Real>(routine: string, A: Sparse<V>): Sparse<V> {
  return trusted(A, { ascends: true, triangular: triangularOf(routine, A) });
}

/** What is known of a matrix: nothing, unless csr(), csc() or this library made it. */
export function patternInfoOf(A: SparseOperand): PatternInfo {
  return checked.get(A) ?? NOTHING;
}

/** The format of a sparse matrix; throws if its pattern is invalid. `name` is what the routine calls it. */
export function checkSparse(routine: string, name: string, A: SparseOperand): Format {
  if (checked.has(A) && A.values.length === A.indices.length) checkPatternAttached(routine, name, A);
  else {
    if (typeof A !== "object" || A === null || ArrayBuffer.isView(A) || Array.isArray(A))
      throw new ShapeError(`${routine}: ${name} is ${describe(A)}, expected a sparse matrix (see csr() and csc())`);
    checkPattern(routine, `${name}.`, A as Sparse<Real>);
  }
  return formatOf(A.values);
}

/** Throws if the arrays of a checked pattern have been detached since, for instance transferred to a worker. */
export function checkPatternAttached(routine: string, name: string, A: SparseOperand): void {
  const { format, rows, cols, pointers, indices } = A;
  const lines = format === "csr" ? rows : cols;
  const entries = (isOnHost(pointers) ? pointers[lines] : undefined) ?? indices.length;
  if (pointers.length !== lines + 1 || indices.length !== entries) checkPattern(routine, `${name}.`, A as Sparse<Real>);
}

function checkPattern(routine: string, of: string, { format, rows, cols, pointers, indices, values }: Sparse<Real>): PatternInfo {
  if (format !== "csr" && format !== "csc")
    throw new ShapeError(`${routine}: ${of}format is ${describe(format)}, expected "csr" or "csc" (see csr() and csc())`);
  for (const [name, count] of [["rows", rows] as const, ["cols", cols] as const]) {
    checkCount(routine, of + name, count, 0);
    if (count > MAX) throw new ShapeError(`${routine}: ${of}${name} is ${count}, expected at most ${MAX} (indices have 32 bits)`);
  }
  checkIntegers(routine, `${of}pointers`, pointers);
  checkIntegers(routine, `${of}indices`, indices);
  checkVector(routine, `${of}values`, values);
  const [lines, length, line] = format === "csr" ? [rows, cols, "row"] : [cols, rows, "column"];
  if (pointers.length !== lines + 1)
    throw new PatternError(
      `${routine}: ${of}pointers has length ${pointers.length}, expected ${lines + 1} (one for each ${line} and an end)`,
    );
  if (pointers[0] !== 0) throw new PatternError(`${routine}: ${of}pointers[0] is ${pointers[0]}, expected 0`);
  for (let i = 0; i < lines; i++)
    if ((pointers[i + 1] as number) < (pointers[i] as number))
      throw new PatternError(
        `${routine}: ${of}pointers[${i + 1}] is ${pointers[i + 1]}, expected at least ${pointers[i]}, the one before it`,
      );
  const end = pointers[lines] as number;
  for (const [name, array] of [["indices", indices] as const, ["values", values] as const])
    if (array.length !== end)
      throw new PatternError(`${routine}: ${of}${name} has length ${array.length}, expected ${end} (${of}pointers[${lines}])`);
  return checkIndices(routine, of, pointers, indices, lines, length, line);
}

function checkIntegers(routine: string, name: string, array: Int32Array): void {
  if (typedArrayTag(array) !== "Int32Array") throw new ShapeError(`${routine}: ${name} is ${describe(array)}, expected an Int32Array`);
}

// How many lines are checked at a time if they do not repeat each other.
const LINES_AT_A_TIME = 1024;

// Lines that ascend have no index twice. Only other lines need a record of where each index occurred.
function checkIndices(
  routine: string,
  of: string,
  pointers: Int32Array,
  indices: Int32Array,
  lines: number,
  length: number,
  line: string,
): PatternInfo {
  let lastAt: Int32Array | undefined; // 1 + the last position at which each index occurred
  let finder: TriangleFinder | undefined = new TriangleFinder(routine, { pointers, indices });
  const repeats = new Repeats({ pointers, indices });
  for (let i = 0; i < lines; ) {
    const to = finder?.isRegular() ? i + 1 : Math.min(i + LINES_AT_A_TIME, lines);
    const end = ascendsUntil(pointers, indices, i, to, length);
    finder?.add(i, end);
    i = end;
    if (i < to) {
      finder = undefined;
      lastAt ??= newIntegers(routine, length);
      checkLine(i++, lastAt);
    } else if (finder?.isRegular()) {
      // Skipped lines repeat this one, each shifted by one. The last that is still in range proves the others, since indices ascend.
      const last = pointers[i] === pointers[i - 1] ? -1 : (indices[(pointers[i] as number) - 1] as number);
      i += Math.min(repeats.countAfter(i - 1), length - 1 - last);
    }
  }
  return lastAt ? NOTHING : { ascends: true, triangular: finder?.found() };

  function checkLine(i: number, lastAt: Int32Array): void {
    const from = pointers[i] as number;
    for (let p = from; p < (pointers[i + 1] as number); p++) {
      const j = indices[p] as number;
      if (j < 0 || j >= length)
        throw new PatternError(`${routine}: ${of}indices[${p}] is ${j}, expected at least 0 and below ${length} (in ${line} ${i})`);
      if ((lastAt[j] as number) > from)
        throw new PatternError(`${routine}: ${of}indices[${p}] is ${j}, which ${line} ${i} has already at ${(lastAt[j] as number) - 1}`);
      lastAt[j] = p + 1;
    }
  }
}

// The first line in [from, to) whose indices do not ascend, or are not at least 0 and below `length`.
function ascendsUntil(pointers: Int32Array, indices: Int32Array, from: number, to: number, length: number): number {
  for (let i = from, p = pointers[from] as number; i < to; i++) {
    const end = pointers[i + 1] as number;
    for (let last = -1; p < end; p++) {
      const j = indices[p] as number;
      if (j <= last || j >= length) return i;
      last = j;
    }
  }
  return to;
}

/**
 * The same matrix by rows. A matrix that is already by rows is returned unchanged; otherwise the new rows ascend.
 * @example
 * toCsr(toCsc(laplacian(2, 1))).values; // Float64Array(4) [ 4, -1, -1, 4 ]
 */
export function toCsr<V extends Real>(A: Sparse<V>): Sparse<V> {
  checkSparse("toCsr", "A", A);
  return A.format === "csr" ? A : converted("toCsr", A, "csr", A.rows);
}

/**
 * The same matrix by columns. A matrix that is already by columns is returned unchanged; otherwise the new columns ascend.
 * @example
 * toCsc(laplacian(2, 1)).format; // 'csc'
 */
export function toCsc<V extends Real>(A: Sparse<V>): Sparse<V> {
  checkSparse("toCsc", "A", A);
  return A.format === "csc" ? A : converted("toCsc", A, "csc", A.cols);
}

function converted<V extends Real>(routine: string, A: Sparse<V>, format: "csr" | "csc", lines: number): Sparse<V> {
  const values = newVector(routine, A.values, A.values.length);
  const { pointers, indices } = transposed(routine, A, lines, A.values, values);
  return ascending(routine, { ...A, format, pointers, indices, values });
}

/** The indices of a matrix, line by line. */
export type Pattern = Pick<Sparse<Real>, "pointers" | "indices">;

/** The transpose of a pattern, with `lines` lines, by counting sort. Values, if given, are moved too. */
export function transposed(routine: string, from: Pattern, lines: number, values?: Real, to?: Real): Pattern {
  const pointers = newIntegers(routine, lines + 1);
  const indices = newIntegers(routine, from.indices.length);
  const next = bucketStarts(from.indices, pointers);
  for (let i = 0, p = 0; i + 1 < from.pointers.length; i++) {
    const end = from.pointers[i + 1] as number;
    for (; p < end; p++) {
      const j = from.indices[p] as number;
      const at = next[j] as number;
      next[j] = at + 1;
      indices[at] = i;
      if (values && to) to[at] = values[p] as number;
    }
  }
  return { pointers, indices };
}

/** pointers[j] := the number of indices below j, where bucket j of a counting sort begins. Returns a copy. */
export function bucketStarts(indices: Int32Array, pointers: Int32Array): Int32Array {
  for (let p = 0; p < indices.length; p++) {
    const j = (indices[p] as number) + 1;
    pointers[j] = (pointers[j] as number) + 1;
  }
  return prefixSums(pointers).slice();
}

/** In-place prefix sums: a 0 and then the lengths of lines become the beginnings of the lines. */
export function prefixSums(lengths: Int32Array): Int32Array {
  for (let k = 1; k < lengths.length; k++) lengths[k] = (lengths[k] as number) + (lengths[k - 1] as number);
  return lengths;
}

/** The position of `index` in indices[from] to indices[end - 1], which ascend, or -1. */
export function positionOf(indices: Int32Array, from: number, end: number, index: number): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((indices[middle] as number) < index) low = middle + 1;
    else high = middle;
  }
  return low < end && indices[low] === index ? low : -1;
}

/** The same matrix with ascending lines. */
export function sortLines<V extends Real>(A: Sparse<V>): Sparse<V> {
  return A.format === "csr" ? toCsr(toCsc(A)) : toCsc(toCsr(A));
}
