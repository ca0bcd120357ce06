// The public types of halfulp/mpi: the ranks of a job and what is spread over them.
import type { Matrix, Sparse } from "../arrays/types.ts";
import type { Solution, SolveOptions } from "../routines/solve/types.ts";

/** How a matrix is laid out over the ranks. */
export interface GridOptions {
  /** Rows and columns of a block. Default: 64. */
  blockSize?: number | undefined;
  /** Rows and columns of the grid of ranks; their product is the number of ranks. Default: as square as possible. */
  grid?: readonly [rows: number, cols: number] | undefined;
}

/** A matrix of which each rank holds a part: `local`. */
export interface Distributed<M extends Matrix | Sparse> {
  readonly rows: number;
  readonly cols: number;
  readonly local: M;
  readonly grid: readonly [rows: number, cols: number];
  readonly blockSize: number;
  /** Free the part of this rank. Later calls with it fail. */
  free(): void;
}

/** P A = L U of a distributed matrix. */
export interface DistributedLU {
  /** Unit L below the diagonal, U on and above it, laid out like A. */
  readonly lu: Distributed<Matrix>;
  /** Row k was swapped with row pivots[k]. The same on every rank. */
  readonly pivots: Int32Array;
  /** x for a right-hand side b, both whole on every rank. */
  solve(b: Float64Array, options?: { refine?: number | undefined }): Promise<Float64Array>;
}

/** The factors of a distributed matrix with their proof, for several right-hand sides. */
export interface DistributedFactors {
  /** As solve() of Ranks, without the factorisation. */
  solve(b: Float64Array | Matrix, options?: SolveOptions): Promise<Solution>;
  /** Free the factors, on every rank. */
  free(): Promise<void>;
}
