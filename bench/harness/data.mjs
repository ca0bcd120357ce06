// The data sets of the CPU and GPU benchmarks. All are generated from seeds, so every machine measures the same numbers.
import { measurements, study } from "./library.mjs";

export const { dominant, HARD, hardMatrix, hardProduct, hardTriangle, uniform } = measurements.data;
const { dotOfCondition, sumOfCondition } = measurements.data;

/** Entries in (-1, 1): the condition of a sum is about the square root of its length. */
export const WELL_CONDITIONED = "well-conditioned";

const CONDITIONS = { "condition 1e16": 1e16, [HARD]: 1e30 };
const SPREADS = { "exponents ±20": 20, "exponents ±300": 300 };

/** The kinds of data on which an operation is measured. Sums of positive terms always have condition 1. */
export function kindsFor(op) {
  const cancels = op === "dot" || op === "sum";
  return [WELL_CONDITIONED, ...(cancels ? Object.keys(CONDITIONS) : []), ...Object.keys(SPREADS)];
}

/** x, and y where the operation takes two vectors. */
export function vectors(kind, op, n) {
  if (kind in CONDITIONS) return op === "dot" ? dotOfCondition(n, CONDITIONS[kind]) : { x: sumOfCondition(n, CONDITIONS[kind]) };
  const make = kind === WELL_CONDITIONED ? uniform : (length, seed) => spread(length, SPREADS[kind], seed);
  return op === "dot" ? { x: make(n, 1), y: make(n, 2) } : { x: make(n, 1) };
}

// A random sign, 53 random bits, and an exponent from -max to max.
function spread(n, max, seed) {
  const random = new study.Random(seed);
  return Float64Array.from({ length: n }, () => {
    const v = random.signed();
    return (v < 0 ? v - 1 : v + 1) * 2 ** (random.below(2 * max + 1) - max);
  });
}

/** `count` square matrices of order n, one after another, entries in (-1, 1). */
export function square(n, seed, count = 1) {
  return uniform(count * n * n, seed);
}

/** The transposes of square matrices, one after another. */
export function transposed(data, n) {
  const result = new Float64Array(data.length);
  for (let first = 0; first < data.length; first += n * n)
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) result[first + j * n + i] = data[first + i * n + j];
  return result;
}
