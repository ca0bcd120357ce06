// The public types of solve() and factor(). SPEC.md, "Solving A x = b", defines every field of the result to the bit; docs/solve.md is
// the guide for users.
import type { Matrix, Sparse } from "../../arrays/types.ts";

/** The methods, cheapest first: binary32 factors, binary64 factors, exact arithmetic. */
export const METHODS = ["mixed", "double", "exact"] as const;
/** The methods that solve() can begin with. */
export type SolveMethod = (typeof METHODS)[number];

export const SOLVE_ROUNDINGS = ["correct", "backward"] as const;
/** The accuracy of a solution: correctly rounded, or with a small backward error. */
export type SolveRounding = (typeof SOLVE_ROUNDINGS)[number];

/** The part of an AbortSignal that is used. Its own type needs "DOM" or Node's types, and a program may be compiled with neither. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  throwIfAborted(): void;
}

/** Options of solve() and factor(). */
export interface SolveOptions {
  /** The method to begin with; default "auto". */
  method?: "auto" | SolveMethod | undefined;
  /** "correct" (default): the exact solution, every component rounded once. "backward": the solution of a nearby system, faster. */
  rounding?: SolveRounding | undefined;
  /** Whether to fall back to costlier methods if needed; default: true. If false, the result may not have converged. */
  fallback?: boolean | undefined;
  /** The maximum number of corrections with one set of factors; default: 30. It does not limit exact arithmetic. */
  maxIterations?: number | undefined;
  /** An AbortSignal. It ends exact arithmetic early; the solution is then not certified. If aborted before the call, the call fails. */
  signal?: AbortSignalLike | undefined;
  /** Called repeatedly during exact arithmetic; `done` is from 0 to 1. */
  onProgress?: ((stage: string, done: number) => void) | undefined;
}

/** The result of solve(). */
export interface Solution {
  /** n values, or n by k, contiguous, in the order of b. */
  readonly x: Float64Array;
  /** `certified` with rounding "correct"; residual <= 1 and backwardError <= (n + 1) 2^-53 with "backward". */
  readonly converged: boolean;
  /** The method that gave the solution, "modular" for exact arithmetic; if none converged, the last one tried. */
  readonly method: SolveMethod | "modular";
  /** A cheaper method was tried and did not converge. */
  readonly fellBack: boolean;
  /** The number of corrections with that method's factors; the maximum over all right-hand sides. */
  readonly iterations: number;
  /** norm(b - A x) / (2^-53 n (norm(A) norm(x) + norm(b))) in the infinity norm, exact and rounded once; the largest over right-hand sides. */
  readonly residual: number;
  /** The largest |b - A x|_i / (|A| |x| + |b|)_i, exact and rounded once; the largest over right-hand sides. */
  readonly backwardError: number;
  /** An estimate of norm(A) norm(A^-1) in the infinity norm: usually within a factor of 10, rarely too large. */
  readonly condition: number;
  /** Every component is proved to be the exact solution, rounded once. */
  readonly certified: boolean;
}

/** A factorisation for any number of right-hand sides. */
export interface Factored {
  /** Like solve(A, b) with the A of factor(). Options default to those of factor(). */
  solve(b: Float64Array | Matrix, options?: SolveOptions): Solution;
  /** Free its memory now, rather than when it is garbage-collected. */
  free(): void;
}

/** The routines of this folder, for binary64 systems. */
export interface Solves {
  solve(A: Matrix | Sparse, b: Float64Array | Matrix, options?: SolveOptions): Solution;
  factor(A: Matrix | Sparse, options?: SolveOptions): Factored;
}
