// The public types of the iterative solvers. SPEC.md, "Sparse products, incomplete factors, iterative solvers", defines the results to
// the bit; docs/guides/sparse.md is the guide for users. Exported by src/index.ts.
import type { Matrix, Sparse } from "../../arrays/types.ts";
import type { AbortSignalLike } from "../solve/types.ts";
import type { TriangularPlan } from "../sparse/types.ts";

/** z := M^-1 r. "jacobi" and "ilu0" are made of A; plans of your own are applied one after the other. */
export type Preconditioner = "none" | "jacobi" | "ilu0" | readonly TriangularPlan[];

/** Options of cg(), bicgstab() and gmres(). */
export interface IterativeOptions {
  /** Default: "none". */
  preconditioner?: Preconditioner | undefined;
  /** The norm of the residual to reach, relative to the norm of b; default: 1e-10. */
  tolerance?: number | undefined;
  /** The norm of the residual that is enough in any case; default: 0. */
  absolute?: number | undefined;
  /** Default: 10 n, at least 100. */
  maxIterations?: number | undefined;
  /** How often the recurrence starts again from the exact residual; default: 3. */
  maxRestarts?: number | undefined;
  /** gmres: the number of vectors kept; default: 30. */
  restart?: number | undefined;
  /** The start; default: zeros. */
  x0?: Float64Array | undefined;
  /** Called for every iteration, in order; on a device possibly late. */
  onIteration?: ((iteration: number, residual: number) => void) | undefined;
  /** An AbortSignal. The call fails with its reason. */
  signal?: AbortSignalLike | undefined;
}

/** Why an iterative solver ended. */
export type IterativeReason = "tolerance" | "maxIterations" | "breakdown" | "stagnation" | "notFinite";

/** The result of an iterative solver: the same on every engine. */
export interface IterativeSolution {
  readonly x: Float64Array;
  /** Whether the exact residual meets the tolerance. */
  readonly converged: boolean;
  /** Why it ended. */
  readonly reason: IterativeReason;
  readonly iterations: number;
  /** The norm of b - A x divided by that of b, with the exact residual rounded once. */
  readonly residual: number;
  /** The norms of the recurrence's residuals: at the start, and after every iteration. */
  readonly history: Float64Array;
}

/** The routines of this folder, for binary64 systems. */
export interface Iterative {
  cg(A: Sparse | Matrix, b: Float64Array, options?: IterativeOptions): IterativeSolution;
  bicgstab(A: Sparse | Matrix, b: Float64Array, options?: IterativeOptions): IterativeSolution;
  gmres(A: Sparse | Matrix, b: Float64Array, options?: IterativeOptions): IterativeSolution;
}
