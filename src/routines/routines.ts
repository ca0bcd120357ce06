import type { Matrix, Real, Sparse, TriangularOptions } from "../arrays/types.ts";
import type { Kernels } from "../engines/kernels.ts";
import { type AsyncKernels, type Routine, runAsync, runSync } from "../engines/steps.ts";
import { exgemm } from "./dense/gemm.ts";
import { exgemv } from "./dense/gemv.ts";
import { exlu, exluBatch, solveFactored } from "./dense/lu.ts";
import { extrsv } from "./dense/trsv.ts";
import { level1 } from "./level1.ts";
import { factor } from "./solve/factor.ts";
import { solve } from "./solve/solve.ts";
import type { SolveOptions, Solves } from "./solve/types.ts";
import { sptrsv } from "./sparse/sptrsv.ts";
import type { SparseOptions, SparseSolves } from "./sparse/types.ts";
import type { AsyncMethods, BothPrecisions, Dense, MatrixProductOptions, MatrixVectorOptions, RefineOptions } from "./types.ts";

type Matrices<V extends Real> = Dense<V> & SparseSolves<V>;
type AsyncBoth = AsyncMethods<Matrices<Float64Array>> & AsyncMethods<Matrices<Float32Array>> & AsyncMethods<Solves>;

/** All routines on a synchronous engine. */
export function routines(kernels: () => Kernels): BothPrecisions & Solves {
  return { ...level1(kernels), ...matrixRoutines(kernels) };
}

/** The matrix routines on a synchronous engine. */
export function matrixRoutines(kernels: () => Kernels): Pick<BothPrecisions, keyof Matrices<Real>> & Solves {
  return matrices((routine) => runSync(routine, kernels)) as ReturnType<typeof matrixRoutines>;
}

/** The matrix routines on an asynchronous engine: what is wrong with the arguments rejects the promise. */
export function asyncRoutines(kernels: () => AsyncKernels): AsyncBoth {
  return matrices((routine) => runAsync(routine, kernels)) as AsyncBoth;
}

// The methods are the same for both: what `run` makes of a routine, its result or a promise of it, is what they return.
function matrices(run: (routine: Routine<unknown>) => unknown): {
  readonly [K in keyof (Matrices<Real> & Solves)]: (...args: never[]) => unknown;
} {
  return {
    exgemv: (alpha: number, A: Matrix<Real>, x: Real, beta: number, y: Real, options?: MatrixVectorOptions) =>
      run(exgemv(alpha, A, x, beta, y, options)),
    exgemm: (alpha: number, A: Matrix<Real>, B: Matrix<Real>, beta: number, C: Matrix<Real>, options?: MatrixProductOptions) =>
      run(exgemm(alpha, A, B, beta, C, options)),
    extrsv: (T: Matrix<Real>, b: Real, options?: TriangularOptions) => run(extrsv(T, b, options)),
    exlu: (A: Matrix<Real>) => run(withSolve(A)),
    exluBatch: (data: Real, n: number, count: number) => run(exluBatch(data, n, count)),
    sptrsv: (A: Sparse<Real>, options?: SparseOptions) => run(sptrsv(A, options, run)),
    solve: (A: Matrix | Sparse, b: Float64Array | Matrix, options?: SolveOptions) => run(solve(A, b, options)),
    factor: (A: Matrix | Sparse, options?: SolveOptions) => run(factor(A, options, run)),
  };

  function* withSolve(A: Matrix<Real>): Routine<unknown> {
    const factors = yield* exlu(A);
    const { lu, pivots } = factors;
    return { lu, pivots, solve: (b: Real, options?: RefineOptions) => run(solveFactored(factors, b, options)) };
  }
}
