// Ordinary binary64 arithmetic for the part "Try", one rounding per operation, as a textbook would write it. Dense systems and sums are
// those of the report (src/report/measure/plain.ts).
import { matrix } from "../../src/arrays/matrix.ts";
import { toCsr } from "../../src/arrays/sparse.ts";
import type { Matrix, Sparse } from "../../src/arrays/types.ts";
import { plainDot, plainFactors, plainProduct, plainSolve } from "../../src/report/measure/plain.ts";

/** A B, for a vector or a matrix B by rows. */
export function plainMultiply(A: Matrix, B: Float64Array | Matrix): Float64Array {
  const { rows, cols, data } = A;
  const columns = B instanceof Float64Array ? 1 : B.cols;
  const right = B instanceof Float64Array ? B : B.data;
  const C = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) {
      let s = 0;
      for (let k = 0; k < cols; k++) s += (data[i * cols + k] as number) * (right[k * columns + j] as number);
      C[i * columns + j] = s;
    }
  return C;
}

/** Gaussian elimination with partial pivoting, for one or more right-hand sides. */
export function plainSystem(A: Matrix, b: Float64Array | Matrix): Float64Array {
  const factors = plainFactors(A);
  if (b instanceof Float64Array) return plainSolve(factors, b);
  const x = new Float64Array(b.rows * b.cols);
  for (let j = 0; j < b.cols; j++) {
    const column = Float64Array.from({ length: b.rows }, (_, i) => b.data[i * b.cols + j] as number);
    for (const [i, value] of plainSolve(factors, column).entries()) x[i * b.cols + j] = value;
  }
  return x;
}

/** Substitution with one triangle of a sparse matrix. */
export function plainTriangle(A: Sparse, b: Float64Array, upper: boolean): Float64Array {
  const { rows, pointers, indices, values } = toCsr(A);
  const x = new Float64Array(rows);
  for (let count = 0; count < rows; count++) {
    const i = upper ? rows - 1 - count : count;
    let s = b[i] as number;
    let diagonal = Number.NaN;
    for (let p = pointers[i] as number; p < (pointers[i + 1] as number); p++) {
      const j = indices[p] as number;
      if (j === i) diagonal = values[p] as number;
      else if (upper ? j > i : j < i) s -= (values[p] as number) * (x[j] as number);
    }
    x[i] = s / diagonal;
  }
  return x;
}

/** Conjugate gradients, with the stopping rule of cg(): 1e-10 of the norm of b, at most 10 n iterations. */
export function plainConjugateGradients(A: Sparse, b: Float64Array): Float64Array {
  const { rows: n, pointers, indices, values } = toCsr(A);
  const x = new Float64Array(n);
  const r = b.slice();
  const p = b.slice();
  const q = new Float64Array(n);
  let rho = plainDot(r, r);
  const bound = 1e-20 * rho;
  for (let iteration = 0; iteration < Math.max(100, 10 * n) && rho > bound; iteration++) {
    for (let i = 0; i < n; i++) {
      let s = 0;
      for (let k = pointers[i] as number; k < (pointers[i + 1] as number); k++)
        s += (values[k] as number) * (p[indices[k] as number] as number);
      q[i] = s;
    }
    const alpha = rho / plainDot(p, q);
    for (let i = 0; i < n; i++) {
      x[i] = (x[i] as number) + alpha * (p[i] as number);
      r[i] = (r[i] as number) - alpha * (q[i] as number);
    }
    const next = plainDot(r, r);
    for (let i = 0; i < n; i++) p[i] = (r[i] as number) + (next / rho) * (p[i] as number);
    rho = next;
  }
  return x;
}

/** A x in ordinary arithmetic, for a square matrix of order n. */
export const plainSquare = (data: Float64Array, x: Float64Array, y: Float64Array): Float64Array =>
  plainProduct(matrix(data, x.length, x.length), x, y);
