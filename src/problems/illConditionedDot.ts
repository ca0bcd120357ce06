import { checkCount, checkNumber } from "../arrays/checks.ts";
import { ShapeError } from "../arrays/errors.ts";
import { Random } from "../arrays/random.ts";
import { powerOfTwo } from "../exact/bits.ts";
import { exponentOf, Superaccumulator } from "../exact/superaccumulator.ts";

// How far one pair can bring the sum down: its product is off by 2^-53 of what it cancels, and the sum that is
// left should be right to a dozen bits.
const BITS_A_PAIR = 40;

/**
 * Vectors whose dot product has about the given condition number, 2 sum |x_i y_i| / |sum x_i y_i|, with the
 * exact dot product rounded. After Ogita, Rump and Oishi (Accurate sum and dot product, 2005, Algorithm 6.1):
 * most pairs have random exponents, up to sqrt(condition) each; the last ones are chosen so that the exact sum
 * of all before comes down, step by step, to what the condition asks for; then all are shuffled. Made of
 * integers and powers of two: every JavaScript engine makes the same problem from a seed.
 */
export function illConditionedDot(
  n: number,
  condition: number,
  seed: number,
): { x: Float64Array<ArrayBuffer>; y: Float64Array<ArrayBuffer>; dot: number } {
  const bits = checkProblem("illConditionedDot", 1, condition, seed);
  checkCount("illConditionedDot", "n", n, leastPairs(bits));

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

/** Checks what all generators take beside n, and returns the exponent of the condition: 2^bits <= condition < 2^(bits + 1). */
export function checkProblem(routine: string, least: number, condition: number, seed: number): number {
  checkNumber(routine, "condition", condition);
  if (!(condition >= least && condition <= 1e300))
    throw new ShapeError(`${routine}: condition is ${condition}, expected ${least} to 1e300`);
  checkCount(routine, "seed", seed, 0);
  return exponentOf(condition) + 52;
}

/** The fewest pairs that can cancel this far. */
export function leastPairs(bits: number): number {
  return Math.ceil(bits / BITS_A_PAIR) + 2;
}

/** How many of n pairs are random; the others close the sum. */
export function openPairs(n: number, bits: number): number {
  return n - Math.min(n >> 1, bits + 1);
}

/** Choose y from index `open` on so that the dot product has the given condition; returns the exact product. */
export function closeDot(x: Float64Array, y: Float64Array, open: number, condition: number, bits: number): Superaccumulator {
  const sum = new Superaccumulator();
  let size = 0;
  for (let i = 0; i < open; i++) {
    sum.addProduct(x[i] as number, y[i] as number);
    size += Math.abs((x[i] as number) * (y[i] as number));
  }
  // The first closing pair cancels what there is, and counts among the magnitudes.
  cancel(sum, x, y, open, (2 * (size + Math.abs(sum.round()))) / condition, bits);
  return sum;
}

/** Choose y from index `open` on so that the exact sum comes down by 2^bits, in equal steps, to `left`. */
export function cancel(sum: Superaccumulator, x: Float64Array, y: Float64Array, open: number, left: number, bits: number): void {
  const n = x.length;
  for (let i = open; i < n; i++) {
    const target = left * powerOfTwo(Math.floor((bits * (n - 1 - i)) / (n - open)));
    y[i] = (target - sum.round()) / (x[i] as number);
    sum.addProduct(x[i] as number, y[i] as number);
  }
}

/** In (-1, -1/2] or [1/2, 1), 53 bits. */
export function nonzero(random: Random): number {
  const v = random.signed() / 2;
  return v < 0 ? v - 0.5 : v + 0.5;
}

/** The nearest multiple of 2^-bits, halves up, for |v| < 2^(52 - bits); larger numbers and 53 bits stay as they are. */
export function toGrid(v: number, bits: number): number {
  return Math.abs(v) >= powerOfTwo(52 - bits) ? v : Math.floor(v * powerOfTwo(bits) + 0.5) / powerOfTwo(bits);
}

/** Exchange two entries. */
export function swap(a: Float64Array, i: number, j: number): void {
  const t = a[i] as number;
  a[i] = a[j] as number;
  a[j] = t;
}
