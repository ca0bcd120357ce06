export { Accumulator } from "./accumulator.ts";
export type { Level1, RoundOptions } from "./dense/level1.ts";
export { factorizationError, residualNorm } from "./dense/measures.ts";
export type {
  AsyncMethods,
  BatchLU,
  Dense,
  LU,
  MatrixProductOptions,
  MatrixVectorOptions,
  RefineOptions,
  Routines,
} from "./dense/types.ts";
export type { Engine, EngineKind, Resident } from "./engines/engine.ts";
export { engines, type OpenOptions, open } from "./engines/open.ts";
export { EngineError, FormatError, HalfulpError, PatternError, ShapeError, SingularError, ValueError } from "./errors.ts";
export { readMatrixMarket, writeMatrixMarket } from "./files/matrixMarket.ts";
export { matrix, type ViewOptions } from "./matrix.ts";
export { allocate, free } from "./memory.ts";
export { elasticity } from "./problems/elasticity.ts";
export { illConditionedDot } from "./problems/illConditionedDot.ts";
export { illConditionedMatrix } from "./problems/illConditionedMatrix.ts";
export { illConditionedMatrixVector } from "./problems/illConditionedMatrixVector.ts";
export { illConditionedTriangular, representableTriangular } from "./problems/illConditionedTriangular.ts";
export { laplacian } from "./problems/laplacian.ts";
export { powerLaw } from "./problems/powerLaw.ts";
export { skeelCondition } from "./problems/skeelCondition.ts";
export { csc, csr, toCsc, toCsr } from "./sparse/formats.ts";
export { ilu0 } from "./sparse/ilu0.ts";
export type { Schedule, SparseOptions, SparseSolves, TriangularPlan } from "./sparse/types.ts";
export type { Format, Matrix, Real, Rounding, Sparse, TriangularOptions } from "./types.ts";

import { routines } from "./dense/routines.ts";
import type { Routines } from "./dense/types.ts";
import { embedded } from "./engines/embedded.ts";

// Synchronous, on this thread, with the embedded engine. Each for both precisions, never mixed.
type Both = Routines<Float64Array> & Routines<Float32Array>;
const all: Both = /* @__PURE__ */ routines(embedded);

/** The sum of x, rounded once (`round`: "nearest", "up", "down" or "zero"). As `Math.sumPrecise`, -0 if there are no terms but -0. */
export const exsum: Both["exsum"] = all.exsum;
/** The sum of the magnitudes of x, rounded once (`round`: "nearest", "up", "down" or "zero"). */
export const exasum: Both["exasum"] = all.exasum;
/** The dot product of x and y, rounded once (`round`: "nearest", "up", "down" or "zero"). No product overflows or underflows on the way. */
export const exdot: Both["exdot"] = all.exdot;
/** The Euclidean norm of x: the root of the exact sum of squares, rounded once (`round`: "nearest", "up", "down" or "zero"). */
export const exnrm2: Both["exnrm2"] = all.exnrm2;
/** y := alpha x + y, a fused multiply-add an element. With alpha = 0, x is not read. Writes y and returns it. */
export const exaxpy: Both["exaxpy"] = all.exaxpy;
/** x := alpha x, one rounding an element. Writes x and returns it. */
export const exscal: Both["exscal"] = all.exscal;
/** x := x / alpha, a true division an element, never a product with 1 / alpha. Writes x and returns it. */
export const exinvscal: Both["exinvscal"] = all.exinvscal;
/**
 * y := alpha A x + beta y, one rounding for the whole expression; with `trans: true` the transpose of A. With alpha = 0
 * neither A nor x is read, with beta = 0 not y. Writes y, which shares no entry with A or x, and returns it.
 */
export const exgemv: Both["exgemv"] = all.exgemv;
/**
 * C := alpha A B + beta C, one rounding an entry; `transA` and `transB` take the transposes. With alpha = 0 neither A
 * nor B is read, with beta = 0 not C. Writes C, which shares no entry with A or B, and returns it.
 */
export const exgemm: Both["exgemm"] = all.exgemm;
/**
 * The solution of T x = b by substitution, a new vector: each element is the exact sum, divided and rounded once. T is
 * lower triangular unless `uplo` says "upper"; the other triangle is not read. Throws a SingularError for a zero on the diagonal.
 */
export const extrsv: Both["extrsv"] = all.extrsv;
/**
 * P A = L U of an m by n matrix with partial pivoting: every entry is an exact inner product, rounded once, and in L
 * divided by its pivot. A is copied, never changed. Throws a SingularError for a zero pivot, a ValueError for an entry that is
 * not finite or overflows.
 */
export const exlu: Both["exlu"] = all.exlu;
/**
 * The same for `count` square matrices of order n, one after another in `data`, each row by row. `info` is 0 for a matrix
 * that is done, and 1 + the column of the zero pivot for one that is singular. `data` is copied, never changed.
 */
export const exluBatch: Both["exluBatch"] = all.exluBatch;
/**
 * A plan for the solution of a sparse triangular system: analysed once, solved many times. A is lower triangular unless
 * `uplo` says "upper"; entries outside that triangle are ignored. Each element is the exact sum over the stored entries,
 * divided and rounded once, the bits of `extrsv`; with `exact: false` it is the row-wise loop in ordinary arithmetic.
 * Throws a SingularError for a zero on the diagonal or none.
 */
export const sptrsv: Both["sptrsv"] = all.sptrsv;
