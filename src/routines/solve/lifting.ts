// Refinement in exact arithmetic, after Wan ("An algorithm to solve integer linear systems exactly using numerical methods", 2006): the
// residual is kept as whole numbers, each correction is cut to digits, and what it leaves of the residual is computed exactly. So
// digits of the solution come from the top, some 20 to 40 bits a step, as many as anybody wants. With a bound of the inverse
// (certificate.ts) each step is an enclosure. Components that are zero, near to a tie or exactly one are decided that way.
import type { Routine } from "../../engines/steps.ts";
import { roundRational } from "../../exact/rounding.ts";
import { bitLength, type KeptSlices, type Scale, wholeProducts } from "./integers.ts";
import { exponent, largest, timesPower } from "./powers.ts";
import type { Progress } from "./progress.ts";

/** The system F z = c, F = R A C, and x = C z. */
export interface LiftedSystem {
  readonly routine: string;
  readonly scale: Scale;
  readonly slices: KeptSlices;
  /** |F^-1 r| <= weights * size, for the size that `correct` returns. */
  readonly weights: Float64Array;
  /** See TieBound; asked for if a component may be a tie. */
  tieBound(j: number): TieBound;
  /** How many words of 53 bits `correct` needs of a residual. */
  readonly words: 1 | 3;
  /** F^-1 r, nearly, for r = the sum of words, which are below 1; and a size, as above. */
  correct(words: readonly Float64Array[]): Routine<{ d: Float64Array; size: number }>;
}

/**
 * By Cramer's rule z_j = N 2^unit / d with whole numbers N and d, |d| < 2^denominator: for d the determinant of the rows that determine
 * z_j, each divided by the power of two that its entries have in common, and the right-hand side divided likewise.
 */
export interface TieBound {
  readonly unit: number;
  readonly denominator: number;
}

/** A sum of digits that have come so far: total * 2^-scale. */
interface Sum {
  total: bigint;
  scale: number;
}

const MIN_GAIN = 4; // bits a step: with fewer the factors are no good for this
const CHECK_GROWTH = 1.3; // steps from one look at the enclosures to the next

/**
 * Decide the components `open` of the solution for the right-hand side `whole` * 2^-grid, scaled already. Calls `decide` with each
 * component and its rounded value. Returns whether all are decided; not if the work was aborted or the factors are too poor.
 */
export function* liftNumerically(
  { routine, scale, slices, weights, words, correct, tieBound }: LiftedSystem,
  { whole, grid }: { whole: bigint[]; grid: number },
  open: readonly number[],
  progress: Progress,
  decide: (j: number, value: number) => void,
): Routine<boolean> {
  const { n, bits, shift } = slices;
  const r = whole.slice();
  let t = grid; // the residual is r * 2^-t
  const sums = new Map<number, Sum>(open.map((j) => [j, { total: 0n, scale: 0 }]));
  let nextCheck = 2;
  let first = 0;
  for (let step = 0; sums.size > 0; step++) {
    const length = longest(r);
    if (length === 0) {
      for (const [j, sum] of sums) decide(j, rounded(sum.total, scale.cols[j] as number, sum.scale));
      return true;
    }
    const top = length - t; // the residual is below 2^top
    if (step <= 1) first = top; // digits of a large solution may leave more of a residual than there was at first
    if (!(yield* progress.goesOn("lifting", Math.min(1, (first - top) / (slices.determinant + 1200))))) return false;
    const { d, size } = yield* correct(wordsOf(r, length, words));
    if (step >= nextCheck) {
      nextCheck = Math.ceil(nextCheck * CHECK_GROWTH);
      for (const [j, sum] of sums) {
        const value = enclosed(sum, scale.cols[j] as number, (weights[j] as number) * size, top, () => tieBound(j));
        if (value === undefined) continue;
        decide(j, value);
        sums.delete(j);
      }
      if (sums.size === 0) return true;
      if (first - top < MIN_GAIN * (step - 1)) return false;
    }
    const most = largest(d);
    if (!(most > 0 && most < Number.POSITIVE_INFINITY)) return false; // NaN too
    const digitsPower = 2 * bits - 2 - exponent(most); // so that digits are below 2^(2 bits - 1)
    const pairs = new Float64Array(2 * n);
    const unit = top - digitsPower; // digits are worth 2^unit
    for (let j = 0; j < n; j++) {
      const digit = Math.round(timesPower(d[j] as number, digitsPower));
      const high = Math.round(digit / 2 ** bits);
      pairs[2 * j] = high;
      pairs[2 * j + 1] = digit - high * 2 ** bits;
      const sum = sums.get(j);
      if (sum) addDigit(sum, digit, -unit);
    }
    const products = yield* wholeProducts(routine, slices.kept.value, pairs, 2);
    // F D is the sum of the slices times 2^(unit - shift).
    const g = shift - unit - t;
    for (let i = 0; i < n; i++) {
      const product = combined(products, i, slices);
      r[i] = g >= 0 ? ((r[i] as bigint) << BigInt(g)) - product : (r[i] as bigint) - (product << BigInt(-g));
    }
    if (g > 0) t += g;
  }
  return true;
}

// The product of row i of M with numbers of two digits of radix 2^bits, the higher one first.
function combined(products: Float64Array, i: number, { n, bits, count }: KeptSlices): bigint {
  let sum = 0n;
  for (let s = count - 1; s >= 0; s--) {
    const at = 2 * (s * n + i);
    sum = (sum << BigInt(bits)) + (BigInt(products[at] as number) << BigInt(bits)) + BigInt(products[at + 1] as number);
  }
  return sum;
}

// The bits of the largest.
function longest(r: readonly bigint[]): number {
  let [top, size] = [0n, 0];
  for (const v of r) {
    const rough = Math.abs(Number(v));
    if (rough < size) continue;
    const magnitude = v < 0n ? -v : v;
    if (magnitude > top) [top, size] = [magnitude, rough];
  }
  return bitLength(top);
}

/** r * 2^-length as a sum of words of 53 bits: what is left of each number after all of them is below 2^(-53 words + 1). */
function wordsOf(r: readonly bigint[], length: number, count: number): Float64Array[] {
  const words = Array.from({ length: count }, () => new Float64Array(r.length));
  for (let i = 0; i < r.length; i++) {
    let rest = r[i] as bigint;
    for (let k = 0, end = length; k < count && end > 0; k++) {
      const bits = Math.max(0, end - 53);
      const part = bits === 0 ? rest : rest >> BigInt(bits);
      (words[k] as Float64Array)[i] = timesPower(Number(part), bits - length);
      if (k + 1 < count) rest -= part << BigInt(bits);
      end = bits;
    }
  }
  return words;
}

function addDigit(sum: Sum, digit: number, scale: number): void {
  if (scale >= sum.scale || sum.total === 0n) {
    sum.total = (sum.total << BigInt(Math.max(0, scale - sum.scale))) + BigInt(digit);
    sum.scale = scale;
  } else sum.total += BigInt(digit) << BigInt(sum.scale - scale);
}

const rounded = (total: bigint, power: number, scale: number): number => roundRational(total, 1n, power - scale, "nearest", "binary64") + 0;

// The rounded value of every number within `error` * 2^errorPower of a sum times 2^power, or undefined.
function enclosed({ total, scale }: Sum, power: number, error: number, errorPower: number, tieBound: () => TieBound): number | undefined {
  const units = errorPower + scale;
  // Error in units of the last digit, rounded up.
  const above = error * (1 + 2 ** -40);
  const radius = units > 0 ? BigInt(Math.ceil(above)) << BigInt(units) : BigInt(Math.ceil(timesPower(above, units))) + 1n;
  const [low, high] = [rounded(total - radius, power, scale), rounded(total + radius, power, scale)];
  if (Object.is(low, high)) return low;
  if (!isTie(total, radius, power, scale, low, high, tieBound)) return undefined;
  const middle = tieBetween(low, high);
  return roundRational(middle.n, 1n, middle.e, "nearest", "binary64") + 0;
}

/** The number half way between two neighbours, or between the largest number and where infinity begins: n 2^e, n odd or 0. */
function tieBetween(low: number, high: number): { n: bigint; e: number } {
  const at = (x: number): bigint => {
    if (x === Number.POSITIVE_INFINITY) return 2n ** 2098n;
    if (x === Number.NEGATIVE_INFINITY) return -(2n ** 2098n);
    return BigInt(x < 0 ? -1 : 1) * scaledUp(Math.abs(x));
  };
  const sum = at(low) + at(high);
  const zeros = sum === 0n ? 0 : bitLength(sum & -sum) - 1;
  return { n: sum >> BigInt(zeros), e: zeros - 1075 };
}

// x * 2^1074, for a finite x >= 0.
function scaledUp(x: number): bigint {
  if (x === 0) return 0n;
  const e = Math.max(-1074, exponent(x) - 52);
  return BigInt(timesPower(x, -e)) << BigInt(e + 1074);
}

/**
 * Whether the component is exactly the tie between two neighbouring results, which is a whole number times 2^e in units of z. Its
 * difference from z is then a whole number times 2^min(unit, e) / d: if it is smaller than 2^(min(unit, e) - denominator) it is zero.
 */
function isTie(total: bigint, radius: bigint, power: number, scale: number, low: number, high: number, tieBound: () => TieBound): boolean {
  const { n, e } = tieBetween(low, high);
  // |z - tie| <= |total 2^-scale - n 2^(e - power)| + radius 2^-scale, all as multiples of 2^grain.
  const grain = Math.min(-scale, e - power);
  const difference = (total << BigInt(-scale - grain)) - (n << BigInt(e - power - grain));
  if ((difference < 0n ? -difference : difference) > radius << BigInt(-scale - grain)) return false; // no tie in sight
  const most = bitLength(radius << BigInt(1 - scale - grain)) + grain; // log2 of the most that z and the tie can differ by
  if (most > e - power) return false;
  const { unit, denominator } = tieBound();
  return most <= Math.min(unit, e - power) - denominator;
}
