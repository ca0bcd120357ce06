// Checks the plain WebAssembly kernels against their definitions before dense.mjs measures anything against them.
import { dominant, square } from "../../harness/data.mjs";

const ORDER = 300; // several blocks of each kind, the last one partial

export function checkPlain(space, kernels) {
  const n = ORDER;
  const [A, B, T, x] = [square(n, 21), square(n, 22), dominant(n), square(n, 23).slice(0, n)];
  const own = space.place({ A, B, T, x, y: new Float64Array(n), C: new Float64Array(n * n), pivots: new Int32Array(n) });

  small("gemv", kernels.gemv(n, own.A, own.x, own.y), product(A, n, x, 1));
  small("gemv, transposed", kernels.gemv(n, own.A, own.x, own.y, { trans: true }), product(x, n, A, n));
  small("trsv", product(lower(T, true), n, kernels.trsv(n, own.T, own.x, own.y), 1), x);
  small("gemm", kernels.gemm(n, own.A, own.B, own.C), product(A, n, B, n));
  own.C.set(A);
  kernels.lu(n, own.C, own.pivots);
  small("lu", product(lower(own.C, false), n, upper(own.C), n), permuted(A, own.pivots));

  function small(what, computed, expected) {
    const error = computed.reduce((largest, v, i) => Math.max(largest, Math.abs(v - expected[i])), 0);
    if (!(error < 1e-12 * n))
      throw new Error(`plain ${what} ${kernels.engine}: an error of ${error} at n = ${n}, expected rounding errors`);
  }
}

// (rows by k) times (k by cols), row by row.
function product(A, k, B, cols) {
  return Float64Array.from({ length: (A.length / k) * cols }, (_, index) => {
    const i = Math.floor(index / cols);
    let sum = 0;
    for (let p = 0; p < k; p++) sum += A[i * k + p] * B[p * cols + (index % cols)];
    return sum;
  });
}

function lower(A, hasDiagonal) {
  return A.map((v, index) => part(index, (i, j) => (i > j || (hasDiagonal && i === j) ? v : i === j ? 1 : 0)));
}

function upper(A) {
  return A.map((v, index) => part(index, (i, j) => (i <= j ? v : 0)));
}

function part(index, value) {
  return value(Math.floor(index / ORDER), index % ORDER);
}

function permuted(A, pivots) {
  const rows = Array.from({ length: ORDER }, (_, i) => A.subarray(i * ORDER, (i + 1) * ORDER));
  for (const [k, p] of pivots.entries()) [rows[k], rows[p]] = [rows[p], rows[k]];
  return Float64Array.from(rows.flatMap((row) => [...row]));
}
