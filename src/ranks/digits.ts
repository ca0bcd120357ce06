// Exact sums as words that are added over all ranks by one exchange of integers. level1.ts exchanges one sum, the files of dense/ one for
// every row.
import { Superaccumulator } from "../exact/superaccumulator.ts";
import type { Context } from "./context.ts";

// The digits from 2^-2208 up: products of two numbers have none below.
const FIRST_DIGIT = 34;
const DIGITS = 204 - FIRST_DIGIT;
const [NAN, POSITIVE, NEGATIVE] = [DIGITS, DIGITS + 1, DIGITS + 2];
/** The words of a sum: its digits, and the numbers of ranks that have met a NaN and infinities of either sign. */
export const SUM_WORDS = DIGITS + 3;

/** Write a sum of numbers, or of products of two, to the words from `at` on. Normalized digits can be added on any number of ranks. */
export function writeSum(halves: Int32Array, at: number, sum: Superaccumulator): void {
  writeDigits(halves, at, sum.normalize().digits, FIRST_DIGIT, DIGITS);
  halves[2 * (at + NAN)] = sum.nan ? 1 : 0;
  halves[2 * (at + POSITIVE)] = sum.positiveInfinity ? 1 : 0;
  halves[2 * (at + NEGATIVE)] = sum.negativeInfinity ? 1 : 0;
}

/** The sum of what all ranks have written there. */
export function readSum(halves: Int32Array, at: number): Superaccumulator {
  const isSet = (flag: number): boolean => halves[2 * (at + flag)] !== 0;
  const sum = new Superaccumulator();
  readDigits(halves, at, sum.digits, FIRST_DIGIT, DIGITS);
  sum.normalize();
  sum.addSpecials((isSet(NAN) ? 1 : 0) | (isSet(POSITIVE) ? 2 : 0) | (isSet(NEGATIVE) ? 4 : 0));
  return sum;
}

/** Digits are integers below 2^53 in magnitude; a word is two halves, the low one first. */
export function writeDigits(halves: Int32Array, at: number, digits: Float64Array, from: number, count: number): void {
  for (let i = 0; i < count; i++) {
    const v = digits[from + i] as number;
    halves[2 * (at + i)] = v;
    halves[2 * (at + i) + 1] = Math.floor(v / 2 ** 32);
  }
}

export function readDigits(halves: Int32Array, at: number, digits: Float64Array, from: number, count: number): void {
  for (let i = 0; i < count; i++)
    digits[from + i] = (halves[2 * (at + i) + 1] as number) * 2 ** 32 + ((halves[2 * (at + i)] as number) >>> 0);
}

// Sums in one exchange: 1.4 MB.
const SUMS = 1024;

/**
 * Add `count` sums over all ranks. `part` returns what this rank has of the k-th, or undefined if it has nothing; `use` gets the
 * whole, on the ranks that have one.
 */
export async function addOverRanks(
  { comm }: Context,
  count: number,
  part: (k: number) => Superaccumulator | undefined,
  use: ((k: number, sum: Superaccumulator) => void) | undefined,
): Promise<void> {
  for (let from = 0; from < count; from += SUMS) {
    const end = Math.min(from + SUMS, count);
    const words = new BigInt64Array((end - from) * SUM_WORDS);
    const halves = new Int32Array(words.buffer);
    for (let k = from; k < end; k++) {
      const sum = part(k);
      if (sum) writeSum(halves, (k - from) * SUM_WORDS, sum);
    }
    await comm.sum(words).wait();
    for (let k = from; k < end && use; k++) use(k, readSum(halves, (k - from) * SUM_WORDS));
  }
}
