// The public types of the vector and matrix routines, for one precision, for either and with promises. src/api and src/index.ts export
// them; those of solve() and sptrsv() are in their folders.

import type { Matrix, Real, Sparse, TriangularOptions } from "../arrays/types.ts";
import type { Level1, RoundOptions } from "./level1.ts";
import type { Factored } from "./solve/types.ts";
import type { SparseOptions, SparseSolves, TriangularPlan } from "./sparse/types.ts";

/** Options of exgemv() and exspmv(). */
export interface MatrixVectorOptions {
  /** Multiply by the transpose of A. */
  trans?: boolean | undefined;
}

/** Options of exgemm(). */
export interface MatrixProductOptions {
  /** Multiply the transpose of A. */
  transA?: boolean | undefined;
  /** Multiply by the transpose of B. */
  transB?: boolean | undefined;
}

/** Options of LU.solve(). */
export interface RefineOptions {
  /** Steps of iterative refinement with the copy of A; default: 0. */
  refine?: number | undefined;
}

/** P A = L U. */
export interface LU<V extends Real = Float64Array> {
  /** Unit L below the diagonal, U on and above it, row by row. */
  readonly lu: Matrix<V>;
  /** min(rows, cols) pivots: row k was swapped with row pivots[k], counted from 0. */
  readonly pivots: Int32Array;
  /** The solution of A x = b, a new vector; for square A. */
  solve(b: V, options?: RefineOptions): V;
  /** The same for every column of b, a new matrix in the order of b. A column's bits do not depend on its neighbours. */
  solve(b: Matrix<V>, options?: RefineOptions): Matrix<V>;
}

/** The factors of many matrices of order n, one after another, each row by row. */
export interface BatchLU<V extends Real = Float64Array> {
  readonly lu: V;
  /** n pivots for each matrix. */
  readonly pivots: Int32Array;
  /** For each matrix 0, or 1 + the column of its zero pivot; then its factors are NaN, and its pivots 0. */
  readonly info: Int32Array;
}

/** The dense matrix routines for one precision; src/api/matrixRoutines.ts documents each. */
export interface Dense<V extends Real> {
  exgemv(alpha: number, A: Matrix<V>, x: V, beta: number, y: V, options?: MatrixVectorOptions): V;
  exgemm(alpha: number, A: Matrix<V>, B: Matrix<V>, beta: number, C: Matrix<V>, options?: MatrixProductOptions): Matrix<V>;
  extrsv(T: Matrix<V>, b: V, options?: TriangularOptions): V;
  extrsm(T: Matrix<V>, B: Matrix<V>, options?: TriangularOptions): Matrix<V>;
  exlu(A: Matrix<V>): LU<V>;
  exluBatch(data: V, n: number, count: number): BatchLU<V>;
}

/** All routines for one precision. */
export interface Routines<V extends Real> extends Level1<V>, Dense<V>, SparseSolves<V> {
  exspmv(alpha: number, A: Sparse<V>, x: V, beta: number, y: V, options?: MatrixVectorOptions): V;
  ilu0(A: Sparse<V>): Sparse<V>;
}

/**
 * The routines for code that does not know the precision: for a `Real`, or for a type parameter `V extends Real`. All arguments of a call
 * have one type, so the compiler still rejects mixed precisions.
 */
export interface EitherPrecision {
  exsum<V extends Real>(x: V, options?: RoundOptions): number;
  exasum<V extends Real>(x: V, options?: RoundOptions): number;
  exdot<V extends Real>(x: V, y: V, options?: RoundOptions): number;
  exnrm2<V extends Real>(x: V, options?: RoundOptions): number;
  exaxpy<V extends Real>(alpha: number, x: V, y: V): V;
  exscal<V extends Real>(alpha: number, x: V): V;
  exinvscal<V extends Real>(alpha: number, x: V): V;
  exgemv<V extends Real>(alpha: number, A: Matrix<V>, x: V, beta: number, y: V, options?: MatrixVectorOptions): V;
  exgemm<V extends Real>(alpha: number, A: Matrix<V>, B: Matrix<V>, beta: number, C: Matrix<V>, options?: MatrixProductOptions): Matrix<V>;
  extrsv<V extends Real>(T: Matrix<V>, b: V, options?: TriangularOptions): V;
  extrsm<V extends Real>(T: Matrix<V>, B: Matrix<V>, options?: TriangularOptions): Matrix<V>;
  exlu<V extends Real>(A: Matrix<V>): LU<V>;
  exluBatch<V extends Real>(data: V, n: number, count: number): BatchLU<V>;
  sptrsv<V extends Real>(A: Sparse<V>, options?: SparseOptions): TriangularPlan<V>;
  exspmv<V extends Real>(alpha: number, A: Sparse<V>, x: V, beta: number, y: V, options?: MatrixVectorOptions): V;
  ilu0<V extends Real>(A: Sparse<V>): Sparse<V>;
}

/** All routines, for either precision. */
export type BothPrecisions = Routines<Float64Array> & Routines<Float32Array> & EitherPrecision;

/** The asynchronous version of a method. */
export type Method<F> = F extends (...args: infer P) => infer R ? (...args: P) => Promise<Deferred<R>> : F;
/** What its promise resolves to: the methods of a returned object are asynchronous too. */
export type Deferred<R> =
  R extends LU<infer V> ? AsyncLU<V> : R extends TriangularPlan<infer V> ? AsyncPlan<V> : R extends Factored ? AsyncMethods<Factored> : R;
/** The factors on an asynchronous engine. (Method<F> would keep only the last overload of solve().) */
export type AsyncLU<V extends Real> = Omit<LU<V>, "solve"> & {
  solve(b: V, options?: RefineOptions): Promise<V>;
  solve(b: Matrix<V>, options?: RefineOptions): Promise<Matrix<V>>;
};
/** A plan on an asynchronous engine. */
export type AsyncPlan<V extends Real> = AsyncMethods<Omit<TriangularPlan<V>, "solve">> & {
  solve(b: V, out?: V): Promise<V>;
  solve(B: Matrix<V>): Promise<Matrix<V>>;
};
/** An object whose methods return promises. */
export type AsyncMethods<O> = { [K in keyof O]: Method<O[K]> };
