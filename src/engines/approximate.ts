// The contract of the kernels of solve() in ordinary arithmetic: approximate factors, their inverses, residuals. Every engine implements
// it; src/routines/solve calls it. Exact residuals and proofs decide what the results are worth, so an engine may compute in any order,
// and the last bits may differ between engines.

import type { StridedOperand } from "../arrays/matrix.ts";
import type { Format } from "../arrays/types.ts";
import type { Later } from "./memory.ts";

/** Powers of two for rows and columns: the matrix that is factored has the entries rows[i] * a_ij * cols[j], rounded to the format. */
export interface Scaling {
  readonly rows: Float64Array;
  readonly cols: Float64Array;
}

/** L and U of a scaled matrix, and the row swaps, on an engine. */
export interface ApproximateFactors {
  readonly n: number;
  readonly format: Format;
  /** The first column whose pivot is 0 or not finite, where the factorisation stopped; -1 if there is none. */
  readonly column: number;
  /** The smallest and the largest magnitude on the diagonal of U, if there is no such column. */
  readonly minPivot: number;
  readonly maxPivot: number;
  /**
   * The largest number of roundings that a product l_ik u_kj goes through: in the sum that it is part of, and in the subtractions that
   * follow. So |P R A C - L U| <= gamma |L| |U| with gamma = roundings u / (1 - roundings u), up to underflow.
   */
  readonly roundings: number;
  free(): void;
}

/**
 * Approximate inverses X of L and Y of U, stored like the factors: X is unit lower triangular, Y upper triangular. Every entry is computed
 * by substitution with the factor, in any order of summation, with or without fused multiply-adds. So |L X - I| <= gamma |L| |X| and
 * |U Y - I| <= gamma |U| |Y| hold entry by entry, up to underflow (solve/certificate.ts).
 */
export interface ApproximateInverses {
  readonly n: number;
  /** As in ApproximateFactors. */
  readonly roundings: number;
  free(): void;
}

/**
 * The approximate kernels of solve(). Arguments have been checked. An asynchronous engine has read its inputs when a call returns, and
 * writes its outputs when the promise resolves.
 */
export interface ApproximateKernels {
  /**
   * For each row of A, the sum and the largest of the magnitudes scale[j] * abs(a_ij), in ordinary binary64 arithmetic. (For columns,
   * exchange the strides.) If a row has a NaN, its largest magnitude is NaN.
   */
  magnitudes(routine: string, A: StridedOperand, scale: Float64Array, sums: Float64Array, largest: Float64Array): Later<void>;
  /**
   * P (R A C) = L U with partial pivoting in that format. The k right-hand sides b, n by k row by row and already scaled, go through the
   * elimination with the matrix; x has their solutions, after back substitution. k may be 0. If a pivot is 0 or not finite, x is not
   * written.
   */
  factorize(
    routine: string,
    A: StridedOperand,
    scaling: Scaling,
    format: Format,
    b: Float64Array,
    k: number,
    x: Float64Array,
  ): Later<ApproximateFactors>;
  /** r := b + alpha A x in ordinary binary64 arithmetic, for k right-hand sides as above. Optional. */
  residual?(routine: string, alpha: number, A: StridedOperand, x: Float64Array, b: Float64Array, k: number, r: Float64Array): Later<void>;
  /** Row swaps, forward and backward substitution in the factors' format, for k right-hand sides as above. */
  substitute(routine: string, factors: ApproximateFactors, b: Float64Array, k: number, x: Float64Array): Later<void>;
  /** The inverses of both factors. The factors are binary64, and no pivot is 0 or not finite. */
  invert(routine: string, factors: ApproximateFactors): Later<ApproximateInverses>;
  /**
   * out := |T| v with T the lower (unit) or upper triangle of binary64 factors or of their inverses, and v >= 0, in ordinary binary64
   * arithmetic: the relative error of an entry is below (n + 2) 2^-53 if nothing underflows.
   */
  weigh(
    routine: string,
    triangles: ApproximateFactors | ApproximateInverses,
    part: "lower" | "upper",
    v: Float64Array,
    out: Float64Array,
  ): Later<void>;
  /**
   * C := C - P Q modulo p, for a C that keepMatrix() returned, P rows by depth and Q depth by columns, row by row. All entries are
   * integers: those of C and of the result at most p in magnitude, those of P and Q at most p / 2, with p < 2^23 and depth <= 64.
   */
  subtractModulo(routine: string, C: StridedOperand, P: Float64Array, Q: Float64Array, depth: number, p: number): Later<void>;
  /** substitute() for one right-hand side, while the engine computes the next residual. Optional. */
  refine?(routine: string, factors: ApproximateFactors, b: Float64Array, x: Float64Array, next: NextResidual): Later<void>;
}

/**
 * r := c - alpha A y, as accurate as in twice the working precision, then rounded. As soon as a block of x is known, `update` is called
 * with its range to update that block of y.
 */
export interface NextResidual {
  readonly A: StridedOperand;
  readonly alpha: number;
  readonly c: Float64Array;
  readonly y: Float64Array;
  readonly r: Float64Array;
  update(from: number, to: number): void;
}
