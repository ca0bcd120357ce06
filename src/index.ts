// The public names of the package. The routines are in two modules, vectorRoutines.ts and matrixRoutines.ts, so that a bundler can leave
// out the second one with its kernels.

export { Accumulator } from "./api/accumulator.ts";
export type { Engine, EngineIterativeOptions, EngineKind, EnginePreconditioner, Resident } from "./api/engine.ts";
export {
  bicgstab,
  cg,
  exgemm,
  exgemv,
  exlu,
  exluBatch,
  exspmv,
  extrsm,
  extrsv,
  factor,
  gmres,
  ilu0,
  solve,
  sptrsv,
} from "./api/matrixRoutines.ts";
export { allocate, free } from "./api/memory.ts";
export { Moments } from "./api/moments.ts";
export { engines, type OpenOptions, open } from "./api/open.ts";
export { excovariance, exmean, exvariance } from "./api/statistics.ts";
export { exasum, exaxpy, exdot, exinvscal, exnrm2, exscal, exsum } from "./api/vectorRoutines.ts";
export { EngineError, FormatError, HalfulpError, PatternError, ShapeError, SingularError, ValueError } from "./arrays/errors.ts";
export { matrix, type ViewOptions } from "./arrays/matrix.ts";
export { fromRows, type Rows, toRows } from "./arrays/rows.ts";
export { csc, csr, toCsc, toCsr } from "./arrays/sparse.ts";
export type { Format, Matrix, Real, Rounding, Sparse, TriangularOptions } from "./arrays/types.ts";
export type { MatrixMarketOptions } from "./files/header.ts";
export { readMatrixMarket, writeMatrixMarket } from "./files/matrixMarket.ts";
export { readNpy, writeNpy } from "./files/npy.ts";
export { convectionDiffusion } from "./problems/convectionDiffusion.ts";
export { elasticity } from "./problems/elasticity.ts";
export { illConditionedDot } from "./problems/illConditionedDot.ts";
export { illConditionedMatrix } from "./problems/illConditionedMatrix.ts";
export { illConditionedMatrixVector } from "./problems/illConditionedMatrixVector.ts";
export { illConditionedTriangular, representableTriangular } from "./problems/illConditionedTriangular.ts";
export { laplacian } from "./problems/laplacian.ts";
export { powerLaw } from "./problems/powerLaw.ts";
export { skeelCondition } from "./problems/skeelCondition.ts";
export { factorizationError, residualNorm } from "./routines/dense/measures.ts";
export type { Iterative, IterativeOptions, IterativeReason, IterativeSolution, Preconditioner } from "./routines/krylov/types.ts";
export type { Level1, RoundOptions } from "./routines/level1.ts";
export type { AbortSignalLike, Factored, Solution, SolveMethod, SolveOptions, SolveRounding } from "./routines/solve/types.ts";
export type { Schedule, SparseOptions, SparseSolves, TriangularPlan } from "./routines/sparse/types.ts";
export type {
  AsyncMethods,
  BatchLU,
  BothPrecisions,
  Dense,
  EitherPrecision,
  LU,
  MatrixProductOptions,
  MatrixVectorOptions,
  RefineOptions,
  Routines,
} from "./routines/types.ts";
