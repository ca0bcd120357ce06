// Every routine, once: asynchronous engines and the synchronous functions differ only in how a routine is run (engines/steps.ts).
// src/api builds the public functions and engines from these.

import type { MatrixOperand, Operand, SparseOperand } from "../arrays/operands.ts";
import type { Real, TriangularOptions } from "../arrays/types.ts";
import type { Kernels } from "../engines/kernels.ts";
import { type AsyncKernels, type Routine, type Run, runAsync, runSync } from "../engines/steps.ts";
import { exgemm } from "./dense/gemm.ts";
import { exgemv } from "./dense/gemv.ts";
import { exlu, exluBatch, solveFactored } from "./dense/lu.ts";
import { extrsm, extrsv } from "./dense/trsv.ts";
import { solveIteratively } from "./krylov/krylov.ts";
import type { Iterative, IterativeOptions } from "./krylov/types.ts";
import { level1 } from "./level1.ts";
import { Lifetime } from "./lifetime.ts";
import { factor } from "./solve/factor.ts";
import { solve } from "./solve/solve.ts";
import type { SolveOptions, Solves } from "./solve/types.ts";
import { ilu0 } from "./sparse/ilu0.ts";
import { exspmv } from "./sparse/spmv.ts";
import { sptrsv } from "./sparse/sptrsv.ts";
import type { SparseOptions, SparseSolves } from "./sparse/types.ts";
import type { AsyncMethods, BothPrecisions, Dense, MatrixProductOptions, MatrixVectorOptions, RefineOptions, Routines } from "./types.ts";

type Matrices<V extends Real> = Dense<V> & SparseSolves<V> & Pick<Routines<V>, "exspmv" | "ilu0">;
type Systems = Solves & Iterative;
type AsyncBoth = AsyncMethods<Matrices<Float64Array>> & AsyncMethods<Matrices<Float32Array>> & AsyncMethods<Systems>;

/** All routines on a synchronous engine. */
export function routines(kernels: () => Kernels): BothPrecisions & Systems {
  return { ...level1(kernels), ...matrixRoutines(kernels) };
}

/** The matrix routines on a synchronous engine. */
export function matrixRoutines(kernels: () => Kernels): Pick<BothPrecisions, keyof Matrices<Real>> & Systems {
  return matrices((routine) => runSync(routine, kernels)) as ReturnType<typeof matrixRoutines>;
}

/** The matrix routines on an asynchronous engine. Invalid arguments reject the promise. */
export function asyncRoutines(kernels: () => AsyncKernels): AsyncBoth {
  return matrices((routine) => runAsync(routine, kernels)) as AsyncBoth;
}

// A method returns what `run` makes of its routine: the result, or a promise of it.
function matrices(run: Run): {
  readonly [K in keyof (Matrices<Real> & Systems)]: (...args: never[]) => unknown;
} {
  return {
    exgemv: (alpha: number, A: MatrixOperand, x: Operand, beta: number, y: Operand, options?: MatrixVectorOptions) =>
      run(exgemv(alpha, A, x, beta, y, options)),
    exgemm: (alpha: number, A: MatrixOperand, B: MatrixOperand, beta: number, C: MatrixOperand, options?: MatrixProductOptions) =>
      run(exgemm(alpha, A, B, beta, C, options)),
    extrsv: (T: MatrixOperand, b: Operand, options?: TriangularOptions) => run(extrsv(T, b, options)),
    extrsm: (T: MatrixOperand, B: MatrixOperand, options?: TriangularOptions) => run(extrsm(T, B, options)),
    exlu: (A: MatrixOperand) => run(factored(A)),
    exluBatch: (data: Operand, n: number, count: number) => run(exluBatch(data, n, count)),
    sptrsv: (A: SparseOperand, options?: SparseOptions) => run(sptrsv(A, options, run)),
    exspmv: (alpha: number, A: SparseOperand, x: Operand, beta: number, y: Operand, options?: MatrixVectorOptions) =>
      run(exspmv(alpha, A, x, beta, y, options)),
    ilu0: (A: SparseOperand) => run(ilu0(A)),
    cg: (A: MatrixOperand | SparseOperand, b: Operand, options?: IterativeOptions) => run(solveIteratively("cg", A, b, options, run)),
    bicgstab: (A: MatrixOperand | SparseOperand, b: Operand, options?: IterativeOptions) =>
      run(solveIteratively("bicgstab", A, b, options, run)),
    gmres: (A: MatrixOperand | SparseOperand, b: Operand, options?: IterativeOptions) => run(solveIteratively("gmres", A, b, options, run)),
    solve: (A: MatrixOperand | SparseOperand, b: Operand | MatrixOperand, options?: SolveOptions) => run(solve(A, b, options)),
    factor: (A: MatrixOperand | SparseOperand, options?: SolveOptions) => run(factor(A, options, run)),
  };

  function* factored(A: MatrixOperand): Routine<unknown> {
    const factors = yield* exlu(A);
    const { lu, pivots, free } = factors;
    const lifetime = free && new Lifetime("the factors were freed", { free, isCollected: false });
    const solveWith = (b: Operand | MatrixOperand, options?: RefineOptions): Routine<unknown> => {
      const solving = solveFactored(factors, b, options);
      return lifetime ? lifetime.use(solving) : solving;
    };
    return { lu, pivots, solve: (b: Operand | MatrixOperand, options?: RefineOptions) => run(solveWith(b, options)) };
  }
}
