import type { StridedOperand } from "../arrays/matrix.ts";
import type { Format } from "../arrays/types.ts";
import type { Later } from "./memory.ts";

// What solve() is made of beside the exact kernels: a factorisation in ordinary arithmetic. The exact residual decides what its
// result is worth, so an engine may compute it in any order; its last bits are the engine's own.

/** Powers of two for rows and columns: what is factored is rows[i] * a_ij * cols[j], rounded to the format. */
export interface Scaling {
  readonly rows: Float64Array;
  readonly cols: Float64Array;
}

/** L and U of a scaled matrix, and the row swaps, on an engine. */
export interface ApproximateFactors {
  readonly n: number;
  readonly format: Format;
  /** The first column whose pivot is 0 or not finite, where the work ended; -1 if there is none. */
  readonly column: number;
  /** The least and the largest magnitude on the diagonal of U, if there is no such column. */
  readonly least: number;
  readonly largest: number;
  /**
   * No product l_ik u_kj goes through more roundings than this on its way into an entry: those of the sums it is part of, and those of the
   * subtractions that follow. So |P R A C - L U| <= gamma |L| |U| with gamma = roundings u / (1 - roundings u), up to underflow.
   */
  readonly roundings: number;
  free(): void;
}

/**
 * Approximate inverses X of L and Y of U, stored like the factors: X is unit lower triangular, Y upper triangular. Every entry comes
 * from substitution with the factor, in any order of summation, with or without fused multiply-adds:
 * |L X - I| <= gamma |L| |X| and |U Y - I| <= gamma |U| |Y| hold entry by entry, up to underflow (solve/certificate.ts).
 */
export interface ApproximateInverses {
  readonly n: number;
  /** As those of factors. */
  readonly roundings: number;
  free(): void;
}

/**
 * The kernels of solve(). Arguments have been checked. An asynchronous engine answers later, has read what it needs when a call
 * returns, and writes its outputs when it resolves.
 */
export interface ApproximateKernels {
  /**
   * For each row of A (for each column, with the steps exchanged) the sum and the largest of the magnitudes scale[j] * abs(a_ij),
   * in binary64, roundings as they come. A NaN in a row makes its largest NaN.
   */
  magnitudes(routine: string, A: StridedOperand, scale: Float64Array, sums: Float64Array, largest: Float64Array): Later<void>;
  /**
   * P (R A C) = L U with partial pivoting in that format. The k right-hand sides b, n by k row by row and scaled already, go
   * through the elimination with the matrix; x is what back substitution makes of them. Without any, k is 0. x is left alone
   * where a pivot is 0 or not finite.
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
  /** r := b + alpha A x in binary64, roundings as they come, for k right-hand sides as above. An engine may have none. */
  residual?(routine: string, alpha: number, A: StridedOperand, x: Float64Array, b: Float64Array, k: number, r: Float64Array): Later<void>;
  /** Row swaps, forward and backward substitution in the factors' format, for k right-hand sides as above. */
  substitute(routine: string, factors: ApproximateFactors, b: Float64Array, k: number, x: Float64Array): Later<void>;
  /** The inverses of both factors, which are of binary64 and have no bad pivot. */
  invert(routine: string, factors: ApproximateFactors): Later<ApproximateInverses>;
  /**
   * out := |T| v with T the lower (unit) or upper triangle of factors of binary64 or of their inverses, v >= 0, in binary64,
   * roundings as they come: the relative error of an entry is below (n + 2) 2^-53 where nothing underflows.
   */
  weigh(
    routine: string,
    triangles: ApproximateFactors | ApproximateInverses,
    part: "lower" | "upper",
    v: Float64Array,
    out: Float64Array,
  ): Later<void>;
  /**
   * C := C - P Q modulo p, for a C that keepMatrix() returned, P of rows by depth and Q of depth by columns, row by row. All are whole
   * numbers: those of C and the results at most p in magnitude, those of P and Q at most p / 2, and p < 2^23, depth <= 64. An engine
   * may have none.
   */
  subtractModulo?(routine: string, C: StridedOperand, P: Float64Array, Q: Float64Array, depth: number, p: number): Later<void>;
  /** The same for one right-hand side, on an engine that can compute the next residual meanwhile. */
  refine?(routine: string, factors: ApproximateFactors, b: Float64Array, x: Float64Array, next: NextResidual): Later<void>;
}

/** r := c - alpha A y as in twice the working precision, then rounded; `update` is called for each block of x that is there, to bring that of y up to date. */
export interface NextResidual {
  readonly A: StridedOperand;
  readonly alpha: number;
  readonly c: Float64Array;
  readonly y: Float64Array;
  readonly r: Float64Array;
  update(from: number, to: number): void;
}
