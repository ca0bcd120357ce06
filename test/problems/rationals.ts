// Exact linear algebra in BigInt integers, for conditions and errors. Nothing here comes from src.
import { units } from "../oracles/rational.ts";

/** Rows of integers. */
export type Integers = bigint[][];

/** The entries of a matrix stored row by row, in units of 2^-1074. */
export function integers(A: { data: Float64Array; rows: number; cols: number }): Integers {
  return Array.from({ length: A.rows }, (_, i) => Array.from({ length: A.cols }, (_, j) => units(A.data[i * A.cols + j] as number)));
}

export const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

/** The largest of some numbers that are not negative. */
export function largest(v: readonly bigint[]): bigint {
  let most = 0n;
  for (const x of v) if (x > most) most = x;
  return most;
}

/** Divide by the largest power of two that divides all entries. */
export function reduced(A: Integers): Integers {
  const bits = A.flat().reduce((all, v) => all | magnitude(v), 0n);
  const shift = BigInt(bits.toString(2).length - bits.toString(2).replace(/0+$/, "").length);
  return A.map((row) => row.map((v) => v >> shift));
}

/** The inverse as integers over one denominator: fraction-free Gauss-Jordan elimination (Bareiss). */
export function inverse(A: Integers): { numerators: Integers; denominator: bigint } {
  const n = A.length;
  const work = A.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  let previous = 1n;
  for (let k = 0; k < n; k++) {
    const p = work.findIndex((row, i) => i >= k && row[k] !== 0n);
    if (p < 0) throw new Error("singular");
    [work[k], work[p]] = [work[p] as bigint[], work[k] as bigint[]];
    const pivotRow = work[k] as bigint[];
    const pivot = pivotRow[k] as bigint;
    for (const row of work) {
      if (row === pivotRow) continue;
      const factor = row[k] as bigint;
      // Columns before k are done, but for the diagonal, which every step brings to the pivot's value.
      for (let j = k; j < 2 * n; j++) row[j] = (pivot * (row[j] as bigint) - factor * (pivotRow[j] as bigint)) / previous;
    }
    previous = pivot;
  }
  return { numerators: work.map((row) => row.slice(n)), denominator: previous };
}

/** a / b as a number, to about 60 bits. */
export function quotient(a: bigint, b: bigint): number {
  const q = (magnitude(a) << 1200n) / magnitude(b);
  const excess = Math.max(0, q.toString(2).length - 64);
  return (a < 0n !== b < 0n ? -1 : 1) * Number(q >> BigInt(excess)) * 2 ** (excess - 1200);
}

/** A system T x = b with lower triangular T: integers in common units. */
export function system(T: { data: Float64Array; rows: number; cols: number }, b: Float64Array): { T: Integers; b: bigint[] } {
  const rows = reduced(integers(T).map((row, i) => [...row, units(b[i] as number)]));
  return { T: rows.map((row) => row.slice(0, -1)), b: rows.map((row) => row.at(-1) as bigint) };
}

// So many bits that what is cut off stays far below everything, whatever the condition magnifies it by.
const FIXED = 2000n;

/** The solution of a lower triangular system, in units of 2^-2000, by forward substitution. */
export function solution(T: Integers, b: readonly bigint[]): bigint[] {
  const x: bigint[] = [];
  for (const [i, row] of T.entries()) {
    const sum = x.reduce((s, v, j) => s - (row[j] as bigint) * v, (b[i] as bigint) << FIXED);
    x.push(sum / (row[i] as bigint));
  }
  return x;
}

/** || |T^-1| |T| |x| || / ||x|| for the solution x of a lower triangular system. */
export function skeel(T: Integers, b: readonly bigint[]): number {
  const n = T.length;
  const x = solution(T, b).map(magnitude);
  const image = T.map((row) => row.reduce((sum, entry, j) => sum + magnitude(entry) * (x[j] as bigint), 0n));
  const e = x.map(() => 0n);
  for (let j = 0; j < n; j++) {
    const column = solution(
      T.slice(j).map((row) => row.slice(j)),
      x.slice(j).map((_, i) => (i === 0 ? 1n : 0n)),
    );
    for (const [i, entry] of column.entries()) e[j + i] = (e[j + i] as bigint) + magnitude(entry) * (image[j] as bigint);
  }
  return quotient(largest(e), largest(x) << FIXED);
}

/** ||A|| in the infinity norm. */
export function rowNorm(A: Integers): bigint {
  return largest(A.map((row) => row.reduce((sum, entry) => sum + magnitude(entry), 0n)));
}

/** ||A|| ||A^-1|| in the infinity norm. */
export function conditionNumber(A: Integers): number {
  const { numerators, denominator } = inverse(A);
  return quotient(rowNorm(A) * rowNorm(numerators), magnitude(denominator));
}
