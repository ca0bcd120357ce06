// Numbers that make products by residues hard, for the tests of such products on OpenCL and WebGPU.
import type { Random } from "../src/study.ts";

const ONES = 2 - 2 ** -52; // a significand of ones

/** An entry of a factor, from the indices of its line and of the term. */
export type Entry = (random: Random, line: number, term: number) => number;
export const uniform: Entry = (random) => random.signed();

/** Kinds of factors: the entries of A and of B. */
export const KINDS: Record<string, [A: Entry, B: Entry]> = {
  "random numbers": [uniform, uniform],
  "integers, exactly": [(random) => random.below(2001) - 1000, (random) => random.below(2001) - 1000],
  "binary32 numbers": [(random) => Math.fround(random.signed()), (random) => Math.fround(random.signed())],
  "significands of ones": [(random) => (random.below(2) ? ONES : -ONES), (random) => (random.below(2) ? ONES : -ONES) / 2],
  "powers of two": [(random) => 2 ** (random.below(40) - 20), (random) => -(2 ** (random.below(40) - 20))],
  "entries of a row apart by 2^±500": [(random) => random.signed() * 2 ** (random.below(1001) - 500), uniform],
  "entries of both apart by 2^±30": [
    (random) => random.signed() * 2 ** (random.below(61) - 30),
    (random) => random.signed() * 2 ** (random.below(61) - 30),
  ],
  "lines far apart": [
    (random, line) => random.signed() * 2 ** (40 * line - 500),
    (random, line) => random.signed() * 2 ** (300 - 40 * line),
  ],
  "sums that cancel to the last bit": [
    (_, line, term) => (term % 2 ? -1 : 1) * (1 + (line + (term >> 1) * 7919) * 2 ** -52) * (term === 5 ? 1 + 2 ** -52 : 1),
    (_, line, term) => 1 + (line + (term >> 1) * 104729) * 2 ** -52,
  ],
  "near ties": [
    (random, _, term) => (term === 0 ? 1 + 2 ** -52 : random.signed() * 2 ** -70),
    (_, __, term) => (term === 0 ? 1 + 2 ** -1 : 2 ** -3),
  ],
  "ties, exactly": [(_, __, term) => (term === 0 ? 1 + 2 ** -52 : 0), (_, line) => 1.5 + line * 2 ** -30],
  "subnormal numbers": [(random) => random.signed() * 2 ** -1030, (random) => random.signed() * 2 ** 40],
  "products that underflow": [(random) => random.signed() * 2 ** -560, (random) => random.signed() * 2 ** -500],
  "sums near the overflow threshold": [(random) => random.signed() * 2 ** 600, (random) => random.signed() * 2 ** 422],
  "zeros and numbers": [(random) => (random.below(3) ? 0 : random.signed()), (random) => (random.below(2) ? -0 : random.signed())],
  "bands, and lines of zeros": [
    (random, line, term) => (line % 3 === 1 ? 0 : Math.abs(line - term) <= 2 ? random.signed() : 0),
    (random, line, term) => (Math.abs(line - term) <= 3 ? random.signed() : -0),
  ],
  "the largest numbers": [
    (random, _, term) => (term === 0 ? 1 : random.below(2) ? 2 ** -1022 : -1) * Number.MAX_VALUE,
    (random) => (random.below(2) ? 1 : -(2 ** -53)),
  ],
  "an infinity and a NaN": [
    (random, line, term) => (line === 1 && term === 2 ? Number.POSITIVE_INFINITY : random.signed()),
    (random, line, term) => (line === 3 && term === 4 ? Number.NaN : random.signed()),
  ],
};

/** The entries of a factor, line by line. */
export const lines = (random: Random, count: number, terms: number, entry: Entry): Float64Array =>
  Float64Array.from({ length: count * terms }, (_, at) => entry(random, Math.floor(at / terms), at % terms));
