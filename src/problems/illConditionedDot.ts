import { checkCount, checkNumber } from "../checks.ts";
import { ShapeError } from "../errors.ts";
import { powerOfTwo } from "../exact/bits.ts";
import { exponentOf, Superaccumulator } from "../exact/superaccumulator.ts";
import { Random } from "./random.ts";

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
  checkNumber("illConditionedDot", "condition", condition);
  if (!(condition >= 1 && condition <= 1e300)) throw new ShapeError(`illConditionedDot: condition is ${condition}, expected 1 to 1e300`);
  const bits = exponentOf(condition) + 52;
  checkCount("illConditionedDot", "n", n, Math.ceil(bits / BITS_A_PAIR) + 2);
  checkCount("illConditionedDot", "seed", seed, 0);

  const random = new Random(seed);
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  const sum = new Superaccumulator();
  const closing = Math.min(n >> 1, bits + 1);
  const top = bits >> 1;
  let size = 0;
  for (let i = 0; i < n - closing; i++) {
    x[i] = nonzero(random) * powerOfTwo(i === 0 ? top : random.below(top + 1));
    y[i] = nonzero(random) * powerOfTwo(i === 0 ? top : random.below(top + 1));
    sum.addProduct(x[i] as number, y[i] as number);
    size += Math.abs((x[i] as number) * (y[i] as number));
  }
  // The first closing pair cancels what there is, and counts among the magnitudes.
  const left = (2 * (size + Math.abs(sum.round()))) / condition;
  for (let i = n - closing; i < n; i++) {
    const target = left * powerOfTwo(Math.floor((bits * (n - 1 - i)) / closing));
    x[i] = nonzero(random);
    y[i] = (target - sum.round()) / (x[i] as number);
    sum.addProduct(x[i] as number, y[i] as number);
  }
  for (let i = n - 1; i > 0; i--) {
    const j = random.below(i + 1);
    swap(x, i, j);
    swap(y, i, j);
  }
  return { x, y, dot: sum.round() };
}

// In (-1, -1/2] or [1/2, 1), 53 bits.
function nonzero(random: Random): number {
  const v = random.signed() / 2;
  return v < 0 ? v - 0.5 : v + 0.5;
}

function swap(a: Float64Array, i: number, j: number): void {
  const t = a[i] as number;
  a[i] = a[j] as number;
  a[j] = t;
}
