// The matrices of krylov.mjs and of the products and iterations of gpu.mjs, and the bytes that an operation with them moves at least.
import { main } from "../harness/library.mjs";
import { quick } from "../harness/options.mjs";
import { count } from "../harness/table.mjs";
import { bytesOf, laplacianOf, titleOf, traffic } from "../sparse/cases.mjs";

const SIDE = quick ? 16 : 128;
const WEB = quick ? { n: 2 ** 12, entries: 2 ** 15 } : { n: 2 ** 21, entries: 2 ** 24 };

const gridOf = (points) => ({ sizes: [SIDE, SIDE, SIDE], points });
const grid = (points) => ({ title: titleOf(gridOf(points)), symmetric: true, make: () => laplacianOf(gridOf(points)) });

/** Products: each { title, symmetric, make }, where `make` returns a matrix stored by rows. */
export const PRODUCTS = [
  grid(7),
  grid(27),
  { title: `power law, n = ${count(WEB.n)}`, symmetric: false, make: () => main.powerLaw(WEB.n, WEB.entries, 1) },
];

/** The system of the iterations: the matrix of the first grid. */
export const [SYSTEM] = PRODUCTS;

/** The bytes of y := A x: A and x are read and y is written, once. */
export const productBytes = traffic;

// Numbers per unknown that an iteration reads or writes at least, if every step is one pass: q := A p with its dot product (2); x and r
// updated with p and q, and the norm (6); p := z + beta p (3), where z is r without a preconditioner. Jacobi also reads the diagonal and
// writes z in the second pass. The two solves of ILU(0) read r, write and read the vector between them, and write z.
const VECTORS = { none: 11, jacobi: 13, ilu0: 15 };

/** The bytes of an iteration of conjugate gradients: A, with ILU(0) also its factors, and the passes over the vectors. */
export function iterationBytes(A, preconditioner) {
  return (preconditioner === "ilu0" ? 2 : 1) * bytesOf(A) + 8 * VECTORS[preconditioner] * A.rows;
}

/** The reciprocals of the diagonal of A, stored by rows. */
export function inverseDiagonal({ rows, pointers, indices, values }) {
  const inverse = new Float64Array(rows);
  for (let i = 0; i < rows; i++) for (let p = pointers[i]; p < pointers[i + 1]; p++) if (indices[p] === i) inverse[i] = 1 / values[p];
  return inverse;
}

/** In words: what it is, its size, and the floor in bytes. */
export function headline(title, A, what, bytes) {
  return `${title}: ${count(A.rows)} rows, ${count(A.values.length)} entries; ${what} moves at least ${count(bytes)} bytes`;
}
