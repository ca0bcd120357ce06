// The oracle of sparse products, and of the vector operations that the iterative solvers are made of: the definitions of SPEC.md in
// BigInt rationals, nothing of the code under test. Vectors are plain numbers, or typed arrays that are only read.
import type { Format, Real, Sparse } from "../../src/arrays/types.ts";
import { product, range, rounded, sum, type Value, value } from "./matrices.ts";
import { exactReduction, roundRoot } from "./rational.ts";

export type Numbers = ArrayLike<number>;

/** The stored entries of a row, in the order in which they are found. */
export interface StoredRow {
  readonly columns: number[];
  readonly values: Value[];
}

/** The rows of A or of its transpose. */
export function storedRows(A: Sparse<Real>, trans = false): StoredRow[] {
  const rows = range(trans ? A.cols : A.rows).map((): StoredRow => ({ columns: [], values: [] }));
  const lines = A.pointers.length - 1;
  for (let line = 0; line < lines; line++)
    for (let p = A.pointers[line] as number; p < (A.pointers[line + 1] as number); p++) {
      const [i, j] = (A.format === "csr") !== trans ? [line, A.indices[p] as number] : [A.indices[p] as number, line];
      rows[i]?.columns.push(j);
      rows[i]?.values.push(value(A.values[p] as number));
    }
  return rows;
}

/** The products of a row with x. */
export function terms({ columns, values }: StoredRow, x: readonly Value[]): Value[] {
  return columns.map((j, p) => product(values[p] as Value, x[j] as Value));
}

/** RN(alpha A x + beta y), or with A transposed. */
export function spmv(alpha: number, A: Sparse<Real>, x: Numbers, beta: number, y: Numbers, trans: boolean, format: Format): number[] {
  const [a, b] = [value(alpha), value(beta)];
  const xs = Array.from(x, value);
  return storedRows(A, trans).map((row, i) => {
    const all = alpha === 0 ? [] : terms(row, xs).map((t) => product(a, t));
    if (beta !== 0) all.push(product(b, value(y[i] as number)));
    return rounded(sum(all), format);
  });
}

/** RN of the dot product. */
export function dot(x: Numbers, y: Numbers): number {
  return rounded(sum(Array.from(x, (v, i) => product(value(v), value(y[i] as number)))), "binary64");
}

/** RN of the square root of the sum of squares. */
export function nrm2(x: Numbers): number {
  return roundRoot(exactReduction("dot", Float64Array.from(x)), "nearest", "binary64");
}

/** RN(a x + y) as IEEE 754 has it: an exact zero is -0 where both addends are, else +0. */
export function fma(a: number, x: number, y: number): number {
  const result = rounded(sum([product(value(a), value(x)), value(y)]), "binary64");
  const isZero = (a === 0 || x === 0) && y === 0 && !Number.isNaN(result);
  return isZero ? a * x + y : result; // a zero times a finite number, plus a zero: plain arithmetic is exact
}

/** y_i := RN(a x_i + y_i). With a = 0 neither x nor a is read. */
export function axpy(a: number, x: Numbers, y: Numbers): number[] {
  return Array.from(y, (v, i) => (a === 0 ? v : fma(a, x[i] as number, v)));
}
