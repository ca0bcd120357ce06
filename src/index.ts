// The routines are in vectorRoutines.ts and matrixRoutines.ts: two modules, so that a bundler can leave the second one out.

export { Accumulator } from "./accumulator.ts";
export type { Level1, RoundOptions } from "./dense/level1.ts";
export { factorizationError, residualNorm } from "./dense/measures.ts";
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
} from "./dense/types.ts";
export type { Engine, EngineKind, Resident } from "./engines/engine.ts";
export { engines, type OpenOptions, open } from "./engines/open.ts";
export { EngineError, FormatError, HalfulpError, PatternError, ShapeError, SingularError, ValueError } from "./errors.ts";
export { readMatrixMarket, writeMatrixMarket } from "./files/matrixMarket.ts";
export { readNpy, writeNpy } from "./files/npy.ts";
export { matrix, type ViewOptions } from "./matrix.ts";
export { exgemm, exgemv, exlu, exluBatch, extrsv, factor, solve, sptrsv } from "./matrixRoutines.ts";
export { allocate, free } from "./memory.ts";
export { elasticity } from "./problems/elasticity.ts";
export { illConditionedDot } from "./problems/illConditionedDot.ts";
export { illConditionedMatrix } from "./problems/illConditionedMatrix.ts";
export { illConditionedMatrixVector } from "./problems/illConditionedMatrixVector.ts";
export { illConditionedTriangular, representableTriangular } from "./problems/illConditionedTriangular.ts";
export { laplacian } from "./problems/laplacian.ts";
export { powerLaw } from "./problems/powerLaw.ts";
export { skeelCondition } from "./problems/skeelCondition.ts";
export type { AbortSignalLike, Factored, Solution, SolveMethod, SolveOptions, SolveRounding } from "./solve/types.ts";
export { csc, csr, toCsc, toCsr } from "./sparse/formats.ts";
export { ilu0 } from "./sparse/ilu0.ts";
export type { Schedule, SparseOptions, SparseSolves, TriangularPlan } from "./sparse/types.ts";
export type { Format, Matrix, Real, Rounding, Sparse, TriangularOptions } from "./types.ts";
export { exasum, exaxpy, exdot, exinvscal, exnrm2, exscal, exsum } from "./vectorRoutines.ts";
