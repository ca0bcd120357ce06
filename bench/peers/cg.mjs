// Conjugate gradients as a program writes them with the routines of a library: the loop of the peers on the CPU (plain WebAssembly) and on
// the GPU (cuBLAS and cuSPARSE). The operations are those of our `cg`, in the same order.

/**
 * This number of iterations from x = 0, without a stopping rule. The vectors are x, r, z, p and q; without a preconditioner z is r. The
 * operations: `start` sets x := 0 and r := b; product(p, q), precondition(r, z), dot, norm, copy(from, to), axpy(alpha, x, y), and
 * xpay(x, beta, y) for y := x + beta y. Returns the last norm of r.
 */
export function conjugateGradients(operations, { x, r, z, p, q }, iterations) {
  const { start, product, precondition, dot, norm, copy, axpy, xpay } = operations;
  start();
  precondition(r, z);
  copy(z, p);
  let rho = dot(r, z);
  let residual;
  for (let k = 0; k < iterations; k++) {
    product(p, q);
    const alpha = rho / dot(p, q);
    axpy(alpha, p, x);
    axpy(-alpha, q, r);
    residual = norm(r);
    precondition(r, z);
    const next = dot(r, z);
    xpay(z, next / rho, p);
    rho = next;
  }
  return residual;
}
