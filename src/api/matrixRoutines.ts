// Synchronous, on this thread, with the embedded engine. Each for both precisions, never mixed.

import { embedded } from "../engines/embedded.ts";
import { matrixRoutines } from "../routines/routines.ts";
import type { Solves } from "../routines/solve/types.ts";
import type { BothPrecisions } from "../routines/types.ts";

const matrices = /* @__PURE__ */ matrixRoutines(embedded);

/**
 * y := alpha A x + beta y, one rounding for the whole expression; with `trans: true` the transpose of A. With alpha = 0
 * neither A nor x is read, with beta = 0 not y. Writes y, which shares no entry with A or x, and returns it.
 */
export const exgemv: BothPrecisions["exgemv"] = matrices.exgemv;
/**
 * C := alpha A B + beta C, one rounding per entry; `transA` and `transB` use the transposes. With alpha = 0 neither A
 * nor B is read, with beta = 0 not C. Writes C, which shares no entry with A or B, and returns it.
 */
export const exgemm: BothPrecisions["exgemm"] = matrices.exgemm;
/**
 * The solution of T x = b by substitution, a new vector: each element is the exact sum, divided and rounded once. T is
 * lower triangular unless `uplo` says "upper"; the other triangle is not read. Throws a SingularError for a zero on the diagonal.
 */
export const extrsv: BothPrecisions["extrsv"] = matrices.extrsv;
/**
 * P A = L U of an m by n matrix with partial pivoting: every entry is an exact inner product, rounded once, and in L
 * divided by its pivot. A is copied, never changed. Throws a SingularError for a zero pivot, a ValueError for an entry that is
 * not finite or overflows.
 */
export const exlu: BothPrecisions["exlu"] = matrices.exlu;
/**
 * The same for `count` square matrices of order n, one after another in `data`, each row by row. `info` is 0 for a matrix
 * that is done, and 1 + the column of the zero pivot for one that is singular. `data` is copied, never changed.
 */
export const exluBatch: BothPrecisions["exluBatch"] = matrices.exluBatch;
/**
 * A plan for the solution of a sparse triangular system: analysed once, solved many times. A is lower triangular unless
 * `uplo` says "upper"; entries outside that triangle are ignored. Each element is the exact sum over the stored entries,
 * divided and rounded once, the bits of `extrsv`; with `exact: false` it is the row-wise loop in ordinary arithmetic.
 * Throws a SingularError for a zero on the diagonal or none.
 */
export const sptrsv: BothPrecisions["sptrsv"] = matrices.sptrsv;
/**
 * The exact solution of A x = b, every component rounded once and proved, for one right-hand side or, as the columns of a matrix,
 * several; with `rounding: "backward"` a faster one with a small backward error. The Solution says how it was found. Throws a
 * SingularError for a singular matrix, a ValueError for an entry that is not finite.
 */
export const solve: Solves["solve"] = matrices.solve;
/** The factors of A, for any number of right-hand sides. A is copied, never changed. */
export const factor: Solves["factor"] = matrices.factor;
