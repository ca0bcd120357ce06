// Ordinary binary64 arithmetic, one rounding per operation: the baseline for the exact routines. Matrices are square, stored by rows.
import { matrix } from "../../arrays/matrix.ts";
import type { Matrix } from "../../arrays/types.ts";

export function plainSum(x: Float64Array): number {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += x[i] as number;
  return s;
}

export function plainDot(x: Float64Array, y: Float64Array): number {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += (x[i] as number) * (y[i] as number);
  return s;
}

export function plainProduct({ data }: Matrix, x: Float64Array, y: Float64Array = new Float64Array(x.length)): Float64Array {
  const n = x.length;
  for (let i = 0; i < n; i++) {
    let s = 0;
    for (let j = 0; j < n; j++) s += (data[i * n + j] as number) * (x[j] as number);
    y[i] = s;
  }
  return y;
}

export function plainSubstitution({ data }: Matrix, b: Float64Array, { upper = false, unit = false } = {}): Float64Array {
  const n = b.length;
  const x = new Float64Array(n);
  for (let count = 0; count < n; count++) {
    const i = upper ? n - 1 - count : count;
    const [from, to] = upper ? [i + 1, n] : [0, i];
    let s = b[i] as number;
    for (let j = from; j < to; j++) s -= (data[i * n + j] as number) * (x[j] as number);
    x[i] = unit ? s : s / (data[i * n + i] as number);
  }
  return x;
}

/** The factors with partial pivoting. */
export interface PlainFactors {
  readonly lu: Matrix;
  readonly pivots: Int32Array;
}

export function plainFactors(A: Matrix): PlainFactors {
  const n = A.rows;
  const a = A.data.slice();
  const pivots = new Int32Array(n);
  for (let k = 0; k < n; k++) {
    let p = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i * n + k] as number) > Math.abs(a[p * n + k] as number)) p = i;
    pivots[k] = p;
    if (p !== k) swapRows(a, n, k, p);
    const pivot = a[k * n + k] as number;
    for (let i = k + 1; i < n; i++) {
      const factor = (a[i * n + k] as number) / pivot;
      a[i * n + k] = factor;
      for (let j = k + 1; j < n; j++) a[i * n + j] = (a[i * n + j] as number) - factor * (a[k * n + j] as number);
    }
  }
  return { lu: matrix(a, n, n), pivots };
}

function swapRows(a: Float64Array, n: number, k: number, p: number): void {
  const row = a.slice(k * n, (k + 1) * n);
  a.copyWithin(k * n, p * n, (p + 1) * n);
  a.set(row, p * n);
}

export function plainSolve({ lu, pivots }: PlainFactors, b: Float64Array): Float64Array {
  const right = b.slice();
  for (const [k, p] of pivots.entries()) {
    const value = right[k] as number;
    right[k] = right[p] as number;
    right[p] = value;
  }
  return plainSubstitution(lu, plainSubstitution(lu, right, { unit: true }), { upper: true });
}
