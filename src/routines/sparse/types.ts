// The public types of sptrsv: options, plans, and the routines for one precision. Exported by src/index.ts.
import type { Matrix, Real, Sparse } from "../../arrays/types.ts";
import type { Schedule as Scheduled } from "../../engines/kernels.ts";

/** A schedule of the sparse paper, the serial loop, or "auto", which lets the analysis choose. */
export type Schedule = "auto" | Scheduled;

/** Options of sptrsv(). */
export interface SparseOptions {
  /** Which triangle of A is used; default: "lower". Entries outside it are ignored. */
  uplo?: "lower" | "upper" | undefined;
  /** Solve with the transpose. */
  trans?: boolean | undefined;
  /** Ones on the diagonal, which is not read and need not be stored. */
  unit?: boolean | undefined;
  /** Correctly rounded, the same bits on every schedule (the default); or the ordinary arithmetic of the sparse paper. */
  exact?: boolean | undefined;
  /** Default: "auto". On the calling thread all schedules run serially. */
  schedule?: Schedule | undefined;
  /** How many solves the plan is for, where you know: helps "auto" weigh the analysis against them. */
  expectedSolves?: number | undefined;
}

/** A triangular system, analysed once, to be solved many times. It has its own copy of the values, and refers to the pattern of A. */
export interface TriangularPlan<V extends Real = Float64Array> {
  readonly schedule: Scheduled;
  /** Why this schedule, in one line. */
  readonly reason: string;
  /** Sets of unknowns that do not depend on each other; 0 where the schedule does not need them. */
  readonly levels: number;
  /** The memory that the plan holds. */
  readonly bytes: number;
  /** The solution for this right-hand side: in `out`, which shares nothing with b, or in a new vector. */
  solve(b: V, out?: V): V;
  /** The solution for every column of B, a new matrix in the order of B. A column's bits do not depend on its neighbours. */
  solve(B: Matrix<V>): Matrix<V>;
  /** Take new values on the same pattern, in the order of A.values. If they are invalid, the plan is unchanged. */
  update(values: V): void;
  /** Free the memory now, rather than when the plan is garbage-collected. The plan cannot be used afterwards. */
  free(): void;
}

/** The sparse routines for one precision; src/index.ts says what each returns. */
export interface SparseSolves<V extends Real> {
  sptrsv(A: Sparse<V>, options?: SparseOptions): TriangularPlan<V>;
}
