import type { Superaccumulator } from "../exact/superaccumulator.ts";
import type { Real, Reduction } from "../types.ts";

/** The routines that work element by element. */
export type Elementwise = "scal" | "invscal" | "axpy";

const SIZES = [2, 3, 4, 5, 6, 7, 8] as const;

/** The papers' exact stages, each of which can be run alone: the superaccumulator, and expansions in front of it. */
export type ExactStage = "superaccumulator" | `fpe${(typeof SIZES)[number]}${"" | "ee"}`;
export const EXACT_STAGES: readonly ExactStage[] = [
  "superaccumulator",
  ...SIZES.flatMap((size) => [`fpe${size}`, `fpe${size}ee`] as const),
];

/**
 * The contract of a synchronous engine: the kernels that every routine above is made of. Arguments have been
 * checked. x and y are of one length; where a reduction has one operand, y is x.
 */
export interface Kernels {
  readonly name: string;
  /** Stage 1: one pass that writes high, low and bound of the sum into `enclosure`. A bound of NaN says nothing. */
  enclose(op: Reduction, x: Real, y: Real): void;
  /**
   * Stages 2 and 3: add the terms to an accumulator and return a bound of what was lost on the way. It is 0
   * when `exact` is asked for; the two widths may then differ.
   */
  accumulate(op: Reduction, x: Real, y: Real, into: Superaccumulator, exact: boolean): number;
  /** The same by one of the papers' stages, exactly: for study and comparison. */
  accumulateBy(stage: ExactStage, op: Reduction, x: Real, y: Real, into: Superaccumulator): void;
  /** x := alpha x, x := x / alpha, or y := alpha x + y, one rounding an element. */
  map(op: Elementwise, alpha: number, x: Real, y: Real): void;
}
