// The oracle of the sparse solves: the rows of the triangle, read from the stored entries, then the definition of SPEC.md in
// BigInt rationals; and for plain arithmetic the row-wise loop.
import type { Format, Real, Sparse } from "../../src/arrays/types.ts";
import { negated, product, quotient, sum, type Value, value } from "./matrices.ts";

/** What of a matrix is a triangle. */
export interface Part {
  readonly uplo?: "lower" | "upper" | undefined;
  readonly trans?: boolean | undefined;
  readonly unit?: boolean | undefined;
}

/** A row of the triangle: its entries beside the diagonal as they are stored, or by ascending columns if stored across it. */
export interface Row {
  readonly columns: number[];
  readonly values: number[];
  diagonal: number | undefined;
}

/** The rows of T, which is A or its transpose without the other triangle. */
export function rowsOf(A: Sparse<Real>, { uplo = "lower", trans = false, unit = false }: Part = {}): Row[] {
  const upper = (uplo === "upper") !== trans;
  const rows = Array.from({ length: A.rows }, (): Row => ({ columns: [], values: [], diagonal: unit ? 1 : undefined }));
  for (let line = 0; line < A.rows; line++)
    for (let p = A.pointers[line] as number; p < (A.pointers[line + 1] as number); p++) {
      const [i, j] = (A.format === "csr") !== trans ? [line, A.indices[p] as number] : [A.indices[p] as number, line];
      const row = rows[i] as Row;
      if (i === j) row.diagonal = unit ? 1 : (A.values[p] as number);
      else if (j > i === upper) {
        row.columns.push(j);
        row.values.push(A.values[p] as number);
      }
    }
  return rows;
}

/** The unknowns in the order of substitution. */
export function orderOf(n: number, { uplo = "lower", trans = false }: Part): number[] {
  return Array.from({ length: n }, (_, k) => ((uplo === "upper") !== trans ? n - 1 - k : k));
}

/** b minus the products of a row, exactly. */
export function leftOf({ columns, values }: Row, b: number, x: (j: number) => number): Value {
  return sum([value(b), ...columns.map((j, p) => negated(product(value(values[p] as number), value(x(j)))))]);
}

/** T x = b with one rounding an unknown. */
export function exactly(A: Sparse<Real>, b: Real, part: Part, format: Format): number[] {
  const rows = rowsOf(A, part);
  const x = new Array<number>(b.length).fill(0);
  for (const i of orderOf(b.length, part)) {
    const row = rows[i] as Row;
    const s = leftOf(row, b[i] as number, (j) => x[j] as number);
    x[i] = quotient(s, value(row.diagonal as number), format);
  }
  return x;
}

/** T x = b by the row-wise loop in ordinary arithmetic. */
export function plainly(A: Sparse<Real>, b: Real, part: Part, format: Format): number[] {
  const round = format === "binary64" ? (v: number) => v : Math.fround;
  const rows = rowsOf(A, part);
  const x = new Array<number>(b.length).fill(0);
  for (const i of orderOf(b.length, part)) {
    const { columns, values, diagonal } = rows[i] as Row;
    let s = b[i] as number;
    for (let p = 0; p < columns.length; p++) s = round(s - round((values[p] as number) * (x[columns[p] as number] as number)));
    x[i] = round(s / (diagonal as number));
  }
  return x;
}
