// The systems that solve() is measured on, what they cost at least, and what a solution is worth.
import { uniform } from "./data.mjs";
import { square } from "./denseData.mjs";
import { main } from "./library.mjs";

/** The orders, and those above which the exact method is left out: it takes tens of times as long as the others. */
export function ordersFor(quick) {
  return quick ? { orders: [200, 500], exact: 200 } : { orders: [1000, 2000], exact: 1000 };
}

/** A random system A x = b, A row by row. */
export function systemOf(n) {
  return { n, A: square(n, 1), b: uniform(n, 2) };
}

/** What everybody is credited with, however he does it: LINPACK's count. */
export function operationsOf(n) {
  return (2 / 3) * n ** 3 + 2 * n ** 2;
}

/** The bytes of A, which is read once at least. */
export function bytesOf(n) {
  return 8 * n * n;
}

/** The norms in the scaled residual of this system, || A || and || b ||. */
export function normsOf({ n, A, b }) {
  let norm = 0;
  for (let i = 0; i < n; i++) norm = Math.max(norm, main.exasum(A.subarray(i * n, (i + 1) * n)));
  return { A: norm, b: maxNorm(b) };
}

export function maxNorm(v) {
  return v.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
}

/** LINPACK's scaled residual, of a residual || b - A x || that is exact. */
export function scaled(residual, n, norms, x) {
  return residual / (2 ** -53 * n * (norms.A * maxNorm(x) + norms.b));
}

/** The same of a computed solution. */
export function scaledResidual({ n, A, b }, norms, x) {
  return scaled(main.residualNorm(main.matrix(A, n, n), x, b), n, norms, x);
}
