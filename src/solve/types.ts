import type { Matrix } from "../types.ts";

/** The methods, from the cheapest on: binary32 factors, binary64 factors, those of exlu; each with refinement. */
export const METHODS = ["mixed", "double", "exact"] as const;
/** One of the methods of solve(), from the cheapest on. */
export type SolveMethod = (typeof METHODS)[number];

/** What solve() and factor() are asked for. */
export interface SolveOptions {
  /** The method to begin with; "auto" unless said otherwise. */
  method?: "auto" | SolveMethod | undefined;
  /** "backward" unless said otherwise: x satisfies the criterion, its last bits are the engine's own. */
  rounding?: "backward" | "correct" | undefined;
  /** Go on to the next method where one does not converge; true unless said otherwise. */
  fallback?: boolean | undefined;
  /** The most corrections of a method; 30 unless said otherwise. */
  maxIterations?: number | undefined;
}

/** What solve() found, and how. */
export interface Solution {
  /** n values, or n by k without gaps in the order of b. */
  readonly x: Float64Array;
  /** The scaled residual is at most 1, for every right-hand side. */
  readonly converged: boolean;
  /** The method that answered; if none converged the last that was tried, and x is the best that was found. */
  readonly method: SolveMethod;
  /** A cheaper method was tried and did not converge. */
  readonly fellBack: boolean;
  /** How many corrections that method made, the most over right-hand sides. */
  readonly iterations: number;
  /** norm(b - A x) / (2^-53 n (norm(A) norm(x) + norm(b))) in the infinity norm, exact and rounded once; the largest over right-hand sides. */
  readonly residual: number;
  /** Every component was proved to be the rounded exact solution. */
  readonly certified: boolean;
}

/** A factorisation that is kept, for any number of right-hand sides. */
export interface Factored {
  /** As solve(A, b) with the A that factor() was given; options are those of factor() but for what is said here. */
  solve(b: Float64Array | Matrix, options?: SolveOptions): Solution;
  /** Give its memory back now, not only when it is collected. */
  free(): void;
}

/** The routines of this folder: binary64 systems. */
export interface Solves {
  solve(A: Matrix, b: Float64Array | Matrix, options?: SolveOptions): Solution;
  factor(A: Matrix, options?: SolveOptions): Factored;
}
