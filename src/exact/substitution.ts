// The roundings of substitution: an unknown of a triangular system from its exact numerator, as docs/spec.md defines extrsv. The reference
// engine and the ranks use them.
import type { Format, TriangularOptions } from "../arrays/types.ts";
import { Superaccumulator } from "./superaccumulator.ts";

const scratch = new Superaccumulator();

/** s / d rounded once. An exact zero has no sign: 0 / d and s / Inf are +0. */
export function quotient(s: Superaccumulator, d: number, format: Format): number {
  const q = s.quotient(d, "nearest", format);
  return q === 0 && (s.sign() === 0 || !Number.isFinite(d)) ? 0 : q;
}

/** RN(a / d). */
export const divide = (a: number, d: number, format: Format): number => quotient(scratch.clear().add(a), d, format);
/** RN(a + b). */
export const add = (a: number, b: number, format: Format): number => scratch.clear().add(a).add(b).round("nearest", format);

/**
 * x_k from its exact numerator, which is changed, and its diagonal entry: undefined if the diagonal is all ones. If a term is not finite,
 * there is nothing to round or correct.
 */
export function unknown(
  sum: Superaccumulator,
  diagonal: number | undefined,
  rounding: Exclude<TriangularOptions["rounding"], undefined>,
  format: Format,
): number {
  if (diagonal === undefined) return unknownOfUnit(sum, rounding === "corrected", format);
  if (rounding === "single" || sum.special() !== undefined) return quotient(sum, diagonal, format);
  const rounded = sum.round("nearest", format);
  const q = divide(rounded, diagonal, format);
  return rounding === "paper" ? q : add(q, quotient(sum.add(-rounded), diagonal, format), format);
}

// The same without a division.
function unknownOfUnit(sum: Superaccumulator, corrected: boolean, format: Format): number {
  const rounded = sum.round("nearest", format);
  if (!corrected || sum.special() !== undefined) return rounded;
  return add(rounded, sum.add(-rounded).round("nearest", format), format);
}
