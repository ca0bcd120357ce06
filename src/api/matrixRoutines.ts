// The synchronous functions on matrices, on the embedded engine. Each takes either precision, but does not mix them.

import { embedded } from "../engines/embedded.ts";
import type { Iterative } from "../routines/krylov/types.ts";
import { matrixRoutines } from "../routines/routines.ts";
import type { Solves } from "../routines/solve/types.ts";
import type { BothPrecisions } from "../routines/types.ts";

const matrices = /* @__PURE__ */ matrixRoutines(embedded);

/**
 * y := alpha A x + beta y, one rounding for the whole expression; with `trans: true`, A is transposed. If alpha is 0, A and x are
 * not read; if beta is 0, y is not. Writes y, which must not share an entry with A or x, and returns it.
 * @example
 * const A = matrix(Float64Array.of(1e16, 1, -1e16, 1, 2, 3), 2, 3);
 * exgemv(1, A, Float64Array.of(1, 1, 1), 0, new Float64Array(2)); // Float64Array(2) [ 1, 6 ]
 */
export const exgemv: BothPrecisions["exgemv"] = matrices.exgemv;
/**
 * C := alpha A B + beta C, one rounding per entry; `transA` and `transB` transpose A and B. If alpha is 0, A and B are not read;
 * if beta is 0, C is not. Writes C, which must not share an entry with A or B, and returns it.
 * @example
 * const A = fromRows([[1, 2], [3, 4]]);
 * toRows(exgemm(1, A, A, 0, fromRows([[0, 0], [0, 0]]))); // [ [ 7, 10 ], [ 15, 22 ] ]
 */
export const exgemm: BothPrecisions["exgemm"] = matrices.exgemm;
/**
 * The solution of T x = b by substitution, a new vector: each element is the exact sum, divided and rounded once. T is lower
 * triangular, or upper triangular with `uplo: "upper"`; the other triangle is not read. Throws a SingularError for a zero on the diagonal.
 * @example
 * extrsv(fromRows([[2, 0], [1, 3]]), Float64Array.of(4, 8)); // Float64Array(2) [ 2, 2 ]
 */
export const extrsv: BothPrecisions["extrsv"] = matrices.extrsv;
/**
 * The solution of T X = B, a new matrix in the order of B: every column has the bits of `extrsv`, which takes the same options. With many
 * columns, a column takes less time than a call of `extrsv`.
 * @example
 * toRows(extrsm(fromRows([[2, 0], [1, 3]]), fromRows([[4, 2], [8, 1]]))); // [ [ 2, 1 ], [ 2, 0 ] ]
 */
export const extrsm: BothPrecisions["extrsm"] = matrices.extrsm;
/**
 * P A = L U of an m by n matrix with partial pivoting: every entry is an exact inner product, rounded once, and in L divided by its
 * pivot. A is copied, never changed. Throws a SingularError for a zero pivot, and a ValueError for an entry that is not finite or
 * overflows.
 * @example
 * const factors = exlu(fromRows([[1, 2], [4, 4]]));
 * toRows(factors.lu); // [ [ 4, 4 ], [ 0.25, 1 ] ]
 * factors.solve(Float64Array.of(3, 8)); // Float64Array(2) [ 1, 1 ]
 */
export const exlu: BothPrecisions["exlu"] = matrices.exlu;
/**
 * The same for `count` square matrices of order n, one after another in `data`, each row by row. `info` is 0 for a matrix that was
 * factored, and 1 + the column of the zero pivot for a singular one. `data` is copied, never changed.
 * @example
 * const { lu, pivots, info } = exluBatch(Float64Array.of(1, 2, 4, 4, 2, 0, 0, 2), 2, 2);
 * lu.subarray(0, 4); // Float64Array(4) [ 4, 4, 0.25, 1 ]
 * info; // Int32Array(2) [ 0, 0 ]
 */
export const exluBatch: BothPrecisions["exluBatch"] = matrices.exluBatch;
/**
 * A plan for solving a sparse triangular system many times, analysed once. A is lower triangular, or upper triangular with
 * `uplo: "upper"`; entries outside that triangle are ignored. Each element is the exact sum over the stored entries, divided and
 * rounded once, with the bits of `extrsv`; with `exact: false` it is the row-wise loop in ordinary arithmetic. Throws a SingularError
 * if a diagonal entry is zero or missing.
 * @example
 * const L = csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), Float64Array.of(2, 1, 3));
 * const plan = sptrsv(L);
 * plan.solve(Float64Array.of(4, 8)); // Float64Array(2) [ 2, 2 ]
 */
export const sptrsv: BothPrecisions["sptrsv"] = matrices.sptrsv;
/**
 * y := alpha A x + beta y for a sparse A, over its stored entries, one rounding for the whole expression: the bits of `exgemv`. With
 * `trans: true`, A is transposed. If alpha is 0, A and x are not read; if beta is 0, y is not. Writes y, which must not share an entry with
 * A or x, and returns it.
 * @example
 * const A = csr(2, 3, Int32Array.of(0, 2, 3), Int32Array.of(0, 2, 1), Float64Array.of(1, 2, 3));
 * exspmv(1, A, Float64Array.of(1, 1, 1), 0, new Float64Array(2)); // Float64Array(2) [ 3, 3 ]
 */
export const exspmv: BothPrecisions["exspmv"] = matrices.exspmv;
/**
 * Incomplete LU without fill of a square matrix: unit L below the diagonal and U on and above it, in the pattern of A, whose
 * pointers and indices the result shares. Where A has an entry (i, j), with the sum over those k < min(i, j) for which it has both
 * (i, k) and (k, j), `s = RN(a_ij - sum l_ik u_kj)`, exact and rounded once; `u_ij = s` for i <= j, and `l_ij = RN(s / u_jj)` below.
 * There is no pivoting: throws a SingularError for a zero pivot or a missing diagonal entry, and a ValueError for an entry that
 * is not finite or overflows.
 * @example
 * ilu0(laplacian(2, 2)).values; // Float64Array(12) [ 4, -1, -1, -0.25, 3.75, -1, -0.25, 3.75, -1, -0.26666666666666666, -0.26666666666666666, 3.466666666666667 ]
 */
export const ilu0: BothPrecisions["ilu0"] = matrices.ilu0;
/**
 * The exact solution of A x = b, every component rounded once and proved, for one right-hand side or, as the columns of a matrix,
 * several; with `rounding: "backward"`, a solution with a small backward error, which is faster. The Solution tells how it was found.
 * Throws a SingularError for a singular matrix, and a ValueError for an entry that is not finite.
 * @example
 * const { x, certified } = solve(fromRows([[4, 1], [2, 3]]), Float64Array.of(6, 8));
 * x; // Float64Array(2) [ 1, 2 ]
 * certified; // true
 */
export const solve: Solves["solve"] = matrices.solve;
/**
 * The factors of A, for any number of right-hand sides. A is copied, never changed.
 * @example
 * const factors = factor(fromRows([[4, 1], [2, 3]]));
 * factors.solve(Float64Array.of(6, 8)).x; // Float64Array(2) [ 1, 2 ]
 * factors.solve(Float64Array.of(5, 5)).x; // Float64Array(2) [ 1, 1 ]
 */
export const factor: Solves["factor"] = matrices.factor;
/**
 * A x = b for a symmetric positive definite A, sparse or dense, by conjugate gradients. Every operation is defined to the bit, so x, the
 * number of iterations and the history are the same on every engine. It ends when the norm of the exact residual is at most
 * `tolerance` times that of b, or with the reason why it could not get there.
 * @example
 * const { x, iterations } = cg(laplacian(2, 2), Float64Array.of(1, 1, 1, 1), { preconditioner: "ilu0" });
 * x; // Float64Array(4) [ 0.5, 0.5, 0.5, 0.5 ]
 */
export const cg: Iterative["cg"] = matrices.cg;
/**
 * The same for any square A, by the stabilized method of biconjugate gradients with right preconditioning.
 * @example
 * const A = convectionDiffusion(2, 2);
 * const { x, reason } = bicgstab(A, exspmv(1, A, Float64Array.of(1, 2, 3, 4), 0, new Float64Array(4)));
 * reason; // 'tolerance'
 */
export const bicgstab: Iterative["bicgstab"] = matrices.bicgstab;
/**
 * The same for any square A, by GMRES with right preconditioning, restarted after `restart` steps.
 * @example
 * const A = convectionDiffusion(2, 2);
 * const { converged } = gmres(A, Float64Array.of(1, 2, 3, 4), { restart: 10 });
 * converged; // true
 */
export const gmres: Iterative["gmres"] = matrices.gmres;
