// The layout of the device's superaccumulator, stated once: sources.ts compiles it into the kernels, and host code that sizes local
// memory or reads accumulators back imports it.
import { LOWEST_EXPONENT } from "../../../exact/superaccumulator.ts";

/**
 * Digits of radix 2^32 in 64-bit integers, digit k worth 2^(32 k + LOWEST). Products of two binary64 numbers reach from 2^-2148 to
 * 2^2048, and half of the last place of a quotient by one reaches down to 2^-2149.
 */
export const DIGITS = 138;
export const LOWEST = -2176;
/** After the digits, counters of terms that were not finite. */
export const NANS = DIGITS;
export const POSITIVE = DIGITS + 1;
export const NEGATIVE = DIGITS + 2;
/** The size of an accumulator, in 64-bit words. */
export const ACCUMULATOR = DIGITS + 3;

/** The index of the device's first digit in a Superaccumulator of the host. */
export const FIRST_DIGIT = (LOWEST - LOWEST_EXPONENT) / 32;

/** The counters as Superaccumulator.addSpecials takes them. */
export function specialsOf(accumulator: BigInt64Array | Float64Array): number {
  return (accumulator[NANS] ? 1 : 0) | (accumulator[POSITIVE] ? 2 : 0) | (accumulator[NEGATIVE] ? 4 : 0);
}
