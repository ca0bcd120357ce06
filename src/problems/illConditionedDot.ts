// illConditionedDot, and the parts that the other ill-conditioned problems share.
import { checkCount, checkNumber } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import { Random } from "../arrays/random.ts";
import { powerOfTwo } from "../exact/bits.ts";
import { exponentOf, Superaccumulator } from "../exact/superaccumulator.ts";

// How many bits one pair can cancel: its product is off by 2^-53 of what it cancels, and the remaining sum should be right to a dozen
// bits.
const BITS_PER_PAIR = 40;

/**
 * Vectors whose dot product has about the given condition number, 2 sum |x_i y_i| / |sum x_i y_i|, and the exact dot product, rounded.
 * After Ogita, Rump and Oishi (Accurate sum and dot product, 2005, Algorithm 6.1): most pairs have random exponents, up to
 * sqrt(condition) each; the last pairs reduce the exact sum, step by step, to the size that the condition requires; then all pairs are
 * shuffled. Uses only integers and powers of two: every JavaScript engine generates the same problem from a seed.
 * @example
 * const { x, y, dot } = illConditionedDot(100, 1e30, 1);
 * exdot(x, y) === dot; // true
 */
export function illConditionedDot(
  n: number,
  condition: number,
  seed: number,
): { x: Float64Array<ArrayBuffer>; y: Float64Array<ArrayBuffer>; dot: number } {
  const bits = checkProblem("illConditionedDot", 1, condition, seed);
  checkCount("illConditionedDot", "n", n, minPairs(bits));

  const random = new Random(seed);
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  const open = openPairs(n, bits);
  const top = bits >> 1;
  for (let i = 0; i < open; i++) {
    x[i] = nonzero(random) * powerOfTwo(i === 0 ? top : random.below(top + 1));
    y[i] = nonzero(random) * powerOfTwo(i === 0 ? top : random.below(top + 1));
  }
  for (let i = open; i < n; i++) x[i] = nonzero(random);
  const sum = closeDot(x, y, open, condition, bits);
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1);
    swap(x, i, j);
    swap(y, i, j);
  }
  return { x, y, dot: sum.round() };
}

/** Checks the condition and the seed, and returns the exponent of the condition: 2^bits <= condition < 2^(bits + 1). */
export function checkProblem(routine: string, min: number, condition: number, seed: number): number {
  checkNumber(routine, "condition", condition);
  if (!(condition >= min && condition <= 1e300)) throw new ShapeError(`${routine}: condition is ${condition}, expected ${min} to 1e300`);
  checkCount(routine, "seed", seed, 0);
  return exponentOf(condition) + 52;
}

/** The smallest number of pairs that can cancel this many bits. */
export function minPairs(bits: number): number {
  return Math.ceil(bits / BITS_PER_PAIR) + 2;
}

/** How many of n pairs are random; the others cancel the sum. */
export function openPairs(n: number, bits: number): number {
  return n - Math.min(n >> 1, bits + 1);
}

/** Chooses y from index `open` on so that the dot product has the given condition. Returns the exact dot product. */
export function closeDot(x: Float64Array, y: Float64Array, open: number, condition: number, bits: number): Superaccumulator {
  const sum = new Superaccumulator();
  let size = 0;
  for (let i = 0; i < open; i++) {
    sum.addProduct(x[i] as number, y[i] as number);
    size += Math.abs((x[i] as number) * (y[i] as number));
  }
  // The first closing pair cancels the sum so far, and adds as much to the magnitudes.
  cancel(sum, x, y, open, (2 * (size + Math.abs(sum.round()))) / condition, bits);
  return sum;
}

/** Chooses y from index `open` on so that the exact sum shrinks by 2^bits, in equal steps, to `rest`. */
export function cancel(sum: Superaccumulator, x: Float64Array, y: Float64Array, open: number, rest: number, bits: number): void {
  const n = x.length;
  for (let i = open; i < n; i++) {
    const target = rest * powerOfTwo(Math.floor((bits * (n - 1 - i)) / (n - open)));
    y[i] = (target - sum.round()) / (x[i] as number);
    sum.addProduct(x[i] as number, y[i] as number);
  }
}

/** A random number in (-1, -1/2] or [1/2, 1), with 53 bits. */
export function nonzero(random: Random): number {
  const v = random.signed() / 2;
  return v < 0 ? v - 0.5 : v + 0.5;
}

/** The nearest multiple of 2^-bits, halves up, for |v| < 2^(52 - bits); larger numbers are returned unchanged. */
export function toGrid(v: number, bits: number): number {
  return Math.abs(v) >= powerOfTwo(52 - bits) ? v : Math.floor(v * powerOfTwo(bits) + 0.5) / powerOfTwo(bits);
}

/** Exchanges two entries. */
export function swap(a: Float64Array, i: number, j: number): void {
  const t = a[i] as number;
  a[i] = a[j] as number;
  a[j] = t;
}
