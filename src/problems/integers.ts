// Binary64 numbers as exact integers, for skeelCondition and the report's exact errors.
import { exponentOf, significand } from "../exact/superaccumulator.ts";

/** Finite numbers as integers times 2^exponent, the smallest last bit among them. */
export function onGrid(numbers: ArrayLike<number>): { integers: bigint[]; exponent: number } {
  const values = Array.from(numbers);
  const exponent = values.reduce((min, v) => (v === 0 ? min : Math.min(min, exponentOf(v))), 1024);
  return { integers: values.map((v) => (v === 0 ? 0n : BigInt(significand(v)) << BigInt(exponentOf(v) - exponent))), exponent };
}

export const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);
