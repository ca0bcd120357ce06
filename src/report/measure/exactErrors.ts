// Exact solutions, and the errors of computed ones, in BigInt: vectors are integers over a common denominator. accuracy.ts calls it.
import type { Matrix } from "../../arrays/types.ts";
import { magnitude, onGrid } from "../../problems/integers.ts";

/** A vector of fractions over a common positive denominator. */
export interface Rationals {
  readonly numerators: readonly bigint[];
  readonly denominator: bigint;
}

const rowsOf = (integers: readonly bigint[], n: number): bigint[][] =>
  Array.from({ length: integers.length / n }, (_, i) => integers.slice(i * n, (i + 1) * n));

function largest(v: readonly bigint[]): bigint {
  let max = 0n;
  for (const n of v) if (magnitude(n) > max) max = magnitude(n);
  return max;
}

/** a / b to a double's precision, for b > 0. */
function quotient(a: bigint, b: bigint): number {
  if (a === 0n) return 0;
  const shift = b.toString(2).length - a.toString(2).length + 64; // the quotient then has 64 or 65 bits
  const q = shift > 0 ? (a << BigInt(shift)) / b : a / (b << BigInt(-shift));
  return Number(q) * 2 ** -shift;
}

/** ||exact - computed|| / ||exact|| in the max norm; null if an element is not finite. */
export function relativeError({ numerators, denominator }: Rationals, computed: Float64Array): number | null {
  if (!computed.every(Number.isFinite)) return null;
  const { integers, exponent } = onGrid(computed);
  const [up, down] = [BigInt(Math.max(exponent, 0)), BigInt(Math.max(-exponent, 0))];
  const errors = numerators.map((n, i) => (n << down) - (((integers[i] as bigint) * denominator) << up));
  return quotient(largest(errors), largest(numerators) << down);
}

/** A x, and || |A| |x| || / ||A x||, for a square A stored row by row. */
export function exactProduct(A: Matrix, x: Float64Array): { y: Rationals; condition: number } {
  const left = onGrid(A.data);
  const right = onGrid(x);
  const products = rowsOf(left.integers, x.length).map((row) => row.map((a, j) => a * (right.integers[j] as bigint)));
  const sums = products.map((row) => row.reduce((s, p) => s + p, 0n));
  const sizes = products.map((row) => row.reduce((s, p) => s + magnitude(p), 0n));
  const exponent = left.exponent + right.exponent;
  return {
    y: {
      numerators: exponent > 0 ? sums.map((s) => s << BigInt(exponent)) : sums,
      denominator: 1n << BigInt(Math.max(-exponent, 0)),
    },
    condition: quotient(largest(sizes), largest(sums)),
  };
}

/** The solution of T x = b for a lower triangular T stored row by row. */
export function exactSubstitution(T: Matrix, b: Float64Array): Rationals {
  const n = b.length;
  const rows = rowsOf(onGrid([...T.data, ...b]).integers, n);
  const right = rows.pop() as bigint[];
  // x_i is numerators[i] over the product of the diagonal entries so far, and finally of all of them.
  const numerators: bigint[] = [];
  let denominator = 1n;
  for (let i = 0; i < n; i++) {
    const row = rows[i] as bigint[];
    const diagonal = row[i] as bigint;
    const sum = numerators.reduce((s, x, j) => s - (row[j] as bigint) * x, (right[i] as bigint) * denominator);
    for (let j = 0; j < i; j++) numerators[j] = (numerators[j] as bigint) * diagonal;
    numerators.push(sum);
    denominator *= diagonal;
  }
  return positive(numerators, denominator);
}

/** The solution of A x = b, and ||A|| ||A^-1|| in the infinity norm, for a square A stored row by row, by Bareiss elimination. */
export function exactSolution(A: Matrix, b: Float64Array): { x: Rationals; condition: number } {
  const n = b.length;
  const rows = rowsOf(onGrid([...A.data, ...b]).integers, n);
  const right = rows.pop() as bigint[];
  const norm = rowNorm(rows);
  for (const [i, row] of rows.entries()) for (let j = 0; j < n; j++) row.push(i === j ? 1n : 0n);
  let previous = 1n;
  for (let k = 0; k < n; k++) {
    const chosen = pivotRow(rows, k);
    const pivot = chosen[k] as bigint;
    for (const row of rows) {
      if (row === chosen) continue;
      const factor = row[k] as bigint;
      for (let j = k; j < 2 * n; j++) row[j] = (pivot * (row[j] as bigint) - factor * (chosen[j] as bigint)) / previous;
    }
    previous = pivot;
  }
  const inverse = rows.map((row) => row.slice(n));
  const numerators = inverse.map((row) => row.reduce((s, v, j) => s + v * (right[j] as bigint), 0n));
  return { x: positive(numerators, previous), condition: quotient(norm * rowNorm(inverse), magnitude(previous)) };
}

/** Only the solution of A x = b, for a square A stored row by row: a fifth of the work, since the inverse is not needed. */
export function exactSolve(A: Matrix, b: Float64Array): Rationals {
  const n = b.length;
  const rows = rowsOf(onGrid([...A.data, ...b]).integers, n);
  for (const [i, v] of (rows.pop() as bigint[]).entries()) rows[i]?.push(v);
  let previous = 1n;
  for (let k = 0; k < n; k++) {
    const chosen = pivotRow(rows, k);
    const pivot = chosen[k] as bigint;
    for (const row of rows.slice(k + 1)) {
      const factor = row[k] as bigint;
      for (let j = k + 1; j <= n; j++) row[j] = (pivot * (row[j] as bigint) - factor * (chosen[j] as bigint)) / previous;
    }
    previous = pivot;
  }
  // The last pivot is the determinant: by Cramer's rule all numerators over it are integers.
  const numerators = new Array<bigint>(n);
  for (let i = n - 1; i >= 0; i--) {
    const row = rows[i] as bigint[];
    let sum = previous * (row[n] as bigint);
    for (let j = i + 1; j < n; j++) sum -= (row[j] as bigint) * (numerators[j] as bigint);
    numerators[i] = sum / (row[i] as bigint);
  }
  return positive(numerators, previous);
}

// Swaps a row with a nonzero pivot for column k into row k, and returns it.
function pivotRow(rows: bigint[][], k: number): bigint[] {
  const p = rows.findIndex((row, i) => i >= k && row[k] !== 0n);
  const chosen = rows[p] as bigint[];
  rows[p] = rows[k] as bigint[];
  rows[k] = chosen;
  return chosen;
}

const rowNorm = (rows: readonly bigint[][]): bigint => largest(rows.map((row) => row.reduce((s, v) => s + magnitude(v), 0n)));

function positive(numerators: bigint[], denominator: bigint): Rationals {
  return denominator < 0n ? { numerators: numerators.map((n) => -n), denominator: -denominator } : { numerators, denominator };
}
