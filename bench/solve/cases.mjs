// The systems of the solve benchmarks, lower bounds on their cost, and the residual of a solution.

import { square, uniform } from "../harness/data.mjs";
import { main } from "../harness/library.mjs";

/** The orders, and the largest one for the exact method, which takes tens of times as long as the others. */
export function ordersFor(quick) {
  return quick ? { orders: [200, 500], exact: 200 } : { orders: [1000, 2000], exact: 1000 };
}

/** A random system A x = b, A stored by rows. */
export function systemOf(n) {
  return { n, A: square(n, 1), b: uniform(n, 2) };
}

/** The operation count of LINPACK, used for every method. */
export function operationsOf(n) {
  return (2 / 3) * n ** 3 + 2 * n ** 2;
}

/** The bytes of A, which must be read at least once. */
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

/** LINPACK's scaled residual, from an exact || b - A x ||. */
export function scaled(residual, n, norms, x) {
  return residual / (2 ** -53 * n * (norms.A * maxNorm(x) + norms.b));
}

/** The same for a computed solution. */
export function scaledResidual({ n, A, b }, norms, x) {
  return scaled(main.residualNorm(main.matrix(A, n, n), x, b), n, norms, x);
}
