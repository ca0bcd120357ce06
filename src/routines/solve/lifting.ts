// Stages 3 and 4 of correct.ts: refinement in exact arithmetic, after Wan ("An algorithm to solve integer linear systems exactly using
// numerical methods", 2006). The residual is kept in integers, each correction is truncated to a few digits, and the new residual is
// computed exactly. So x gains 20 to 40 bits per step, from the top, without limit. With a bound on the inverse (certificate.ts), each
// step gives an enclosure. This decides components that are zero, next to a tie or exactly a tie.
import type { Routine } from "../../engines/steps.ts";
import { roundRational } from "../../exact/rounding.ts";
import { bitLength, type EngineSlices, integerProducts, maxBitLength, type ScaleExponents } from "./integers.ts";
import { exponent, largest, timesPower } from "./powers.ts";
import type { Progress } from "./progress.ts";

/** The system F z = c, F = R A C, and x = C z. */
export interface LiftedSystem {
  readonly routine: string;
  readonly scale: ScaleExponents;
  readonly slices: EngineSlices;
  /** |F^-1 r| <= weights * size, for the size that `correct` returns. */
  readonly weights: Float64Array;
  /** Called for a component that may be a tie. */
  tieBound(j: number): Routine<TieBound>;
  /** How many words of 53 bits of a residual `correct` uses. */
  readonly words: 1 | 3;
  /** d, an approximation of F^-1 r for r = the sum of the words, which are below 1; and the size for `weights`. */
  correct(words: readonly Float64Array[]): Routine<{ d: Float64Array; size: number }>;
}

/**
 * By Cramer's rule z_j = N 2^unit / d with integers N and d, |d| < 2^denominator. d is the determinant of the rows that determine z_j,
 * each divided by the power of two that its entries have in common; the right-hand side is divided likewise.
 */
export interface TieBound {
  readonly unit: number;
  readonly denominator: number;
}

/** The sum of the digits so far: total * 2^-scale. */
interface Sum {
  total: bigint;
  scale: number;
}

const MIN_GAIN = 4; // bits per step; with fewer the factors are too inaccurate
const CHECK_GROWTH = 1.3; // enclosures are checked at steps that grow by this factor

/**
 * Decide the components `open` of the solution for the right-hand side `integers` * 2^-shift, which is already scaled. Calls `decide`
 * with each component and its rounded value. Returns whether all are decided: false if the call was aborted or the factors are too
 * inaccurate.
 */
export function* liftNumerically(
  { routine, scale, slices, weights, words, correct, tieBound }: LiftedSystem,
  right: { integers: bigint[]; shift: number },
  open: readonly number[],
  progress: Progress,
  decide: (j: number, value: number) => void,
): Routine<boolean> {
  const { n, bits, shift } = slices;
  const r = right.integers.slice();
  let residualShift = right.shift; // the residual is r * 2^-residualShift
  const sums = new Map<number, Sum>(open.map((j) => [j, { total: 0n, scale: 0 }]));
  let nextCheck = 2;
  let first = 0;
  for (let step = 0; sums.size > 0; step++) {
    const length = maxBitLength(r);
    if (length === 0) {
      for (const [j, sum] of sums) decide(j, roundSum(sum.total, scale.cols[j] as number, sum.scale));
      return true;
    }
    const top = length - residualShift; // the residual is below 2^top
    if (step <= 1) first = top; // if the solution is large, truncation may make the first residual larger than b
    if (!(yield* progress.shouldContinue("lifting", Math.min(1, (first - top) / (slices.determinant + 1200))))) return false;
    const { d, size } = yield* correct(wordsOf(r, length, words));
    if (step >= nextCheck) {
      nextCheck = Math.ceil(nextCheck * CHECK_GROWTH);
      for (const [j, sum] of sums) {
        const value = yield* roundEnclosed(sum, scale.cols[j] as number, (weights[j] as number) * size, top, () => tieBound(j));
        if (value === undefined) continue;
        decide(j, value);
        sums.delete(j);
      }
      if (sums.size === 0) return true;
      if (first - top < MIN_GAIN * (step - 1)) return false;
    }
    const maxCorrection = largest(d);
    if (!(maxCorrection > 0 && maxCorrection < Number.POSITIVE_INFINITY)) return false; // or NaN
    const digitsPower = 2 * bits - 2 - exponent(maxCorrection); // so that digits are below 2^(2 bits - 1)
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
    const products = yield* integerProducts(routine, slices.allocation.value, pairs, 2);
    // The matrix times the digits is `product` * 2^(unit - shift). Subtract it from the residual in the finer of the two units.
    const finer = shift - unit - residualShift;
    for (let i = 0; i < n; i++) {
      const product = productOfRow(products, i, slices);
      r[i] = finer >= 0 ? ((r[i] as bigint) << BigInt(finer)) - product : (r[i] as bigint) - (product << BigInt(-finer));
    }
    if (finer > 0) residualShift += finer;
  }
  return true;
}

// The product of row i of M with numbers of two digits of radix 2^bits, the higher digit first.
function productOfRow(products: Float64Array, i: number, { n, bits, count }: EngineSlices): bigint {
  let sum = 0n;
  for (let s = count - 1; s >= 0; s--) {
    const at = 2 * (s * n + i);
    sum = (sum << BigInt(bits)) + (BigInt(products[at] as number) << BigInt(bits)) + BigInt(products[at + 1] as number);
  }
  return sum;
}

/** r * 2^-length as a sum of `count` words of 53 bits. The remainder of each number is below 2^(-53 count + 1). */
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

const roundSum = (total: bigint, power: number, scale: number): number =>
  roundRational(total, 1n, power - scale, "nearest", "binary64") + 0;

// What z * 2^power rounds to for every z within `error` * 2^errorPower of a sum; undefined if that is more than one value.
function* roundEnclosed(
  { total, scale }: Sum,
  power: number,
  error: number,
  errorPower: number,
  tieBound: () => Routine<TieBound>,
): Routine<number | undefined> {
  const units = errorPower + scale;
  // The error in units of the last digit, rounded up.
  const above = error * (1 + 2 ** -40);
  const radius = units > 0 ? BigInt(Math.ceil(above)) << BigInt(units) : BigInt(Math.ceil(timesPower(above, units))) + 1n;
  const [low, high] = [roundSum(total - radius, power, scale), roundSum(total + radius, power, scale)];
  if (Object.is(low, high)) return low;
  if (!(yield* isTie(total, radius, power, scale, low, high, tieBound))) return undefined;
  const middle = tieBetween(low, high);
  return roundRational(middle.n, 1n, middle.e, "nearest", "binary64") + 0;
}

/** The number halfway between two neighbours, or between the largest number and 2^1024: n 2^e, n odd or 0. */
function tieBetween(low: number, high: number): { n: bigint; e: number } {
  const at = (x: number): bigint => {
    if (x === Number.POSITIVE_INFINITY) return 2n ** 2098n;
    if (x === Number.NEGATIVE_INFINITY) return -(2n ** 2098n);
    return BigInt(x < 0 ? -1 : 1) * inSmallestUnits(Math.abs(x));
  };
  const sum = at(low) + at(high);
  const zeros = sum === 0n ? 0 : bitLength(sum & -sum) - 1;
  return { n: sum >> BigInt(zeros), e: zeros - 1075 };
}

// x * 2^1074, for a finite x >= 0.
function inSmallestUnits(x: number): bigint {
  if (x === 0) return 0n;
  const e = Math.max(-1074, exponent(x) - 52);
  return BigInt(timesPower(x, -e)) << BigInt(e + 1074);
}

/**
 * Whether the component is exactly the tie between two neighbouring results, which is an integer times 2^e in units of z. Its
 * difference from z is an integer times 2^min(unit, e) / d: if it is smaller than 2^(min(unit, e) - denominator), it is zero.
 */
function* isTie(
  total: bigint,
  radius: bigint,
  power: number,
  scale: number,
  low: number,
  high: number,
  tieBound: () => Routine<TieBound>,
): Routine<boolean> {
  const { n, e } = tieBetween(low, high);
  // |z - tie| <= |total 2^-scale - n 2^(e - power)| + radius 2^-scale, all as multiples of 2^commonPower.
  const commonPower = Math.min(-scale, e - power);
  const difference = (total << BigInt(-scale - commonPower)) - (n << BigInt(e - power - commonPower));
  if ((difference < 0n ? -difference : difference) > radius << BigInt(-scale - commonPower)) return false; // outside the enclosure
  const maxDifference = bitLength(radius << BigInt(1 - scale - commonPower)) + commonPower; // log2 of a bound on |z - tie|
  if (maxDifference > e - power) return false;
  const { unit, denominator } = yield* tieBound();
  return maxDifference <= Math.min(unit, e - power) - denominator;
}
