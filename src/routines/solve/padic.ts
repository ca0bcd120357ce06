// Stage 5 of correct.ts: Dixon's p-adic lifting ("Exact solution of linear equations using p-adic expansions", 1982). It solves M y = c
// exactly for integers, whatever the condition of M. With the inverse modulo p (modular.ts), each step finds y modulo one more power of
// p. Fractions are reconstructed from the residues and proved, see isProved(). Called by exact.ts.
import type { Routine } from "../../engines/steps.ts";
import { bitLength, type EngineSlices, integerProducts, maxBitLength } from "./integers.ts";
import { type ModularInverse, remainder } from "./modular.ts";
import type { Progress } from "./progress.ts";

/** The solution y_j = numerators[j] / denominator; the denominator is positive. */
export interface Fractions {
  readonly numerators: readonly bigint[];
  readonly denominator: bigint;
}

const ATTEMPT_GROWTH = 1.5; // fractions are tried at steps that grow by this factor

/**
 * The exact solution of M y = c, or undefined if the call was aborted. Fractions are tried early, in case the solution is simple, and at
 * the latest when there are enough digits for the largest numerators and denominators that Hadamard's inequality allows.
 */
export function* liftModulo(
  routine: string,
  slices: EngineSlices,
  inverse: ModularInverse,
  c: readonly bigint[],
  progress: Progress,
): Routine<Fractions | undefined> {
  const { n } = slices;
  const { p, rows, allocation } = inverse;
  const residual = new Residual(c, slices, p);
  const digits: Float64Array[] = [];
  const rightBits = maxBitLength(c);
  const numeratorBits = slices.determinant + rightBits + Math.ceil(0.5 * Math.log2(n + 1)) + 1;
  const maxSteps = Math.ceil((numeratorBits + slices.determinant + 4) / Math.log2(p)) + 1;
  let nextAttempt = Math.min(8, maxSteps);
  for (let k = 0; ; k++) {
    if (k === nextAttempt) {
      const found = fractionsOf(digits, p, n, slices, rightBits, k >= maxSteps ? numeratorBits : undefined);
      if (found) return found;
      if (k >= maxSteps) throw new Error("halfulp: a p-adic expansion has no fraction within Hadamard's bounds");
      nextAttempt = Math.min(Math.ceil(k * ATTEMPT_GROWTH), maxSteps);
    }
    if (!(yield* progress.shouldContinue("lifting", k / maxSteps))) return undefined;
    const solved = yield* integerProducts(routine, allocation.value, residual.modulo(rows), 1);
    const digit = new Float64Array(n);
    for (let j = 0; j < n; j++) digit[j] = remainder(solved[rows[j] as number] as number, p);
    digits.push(digit);
    residual.subtract(yield* integerProducts(routine, slices.allocation.value, digit, 1));
  }
}

/**
 * The residual of M y = c in integers, as balanced digits of radix 2^bits, `length` for each row. Each step computes r := (r - M d) / p
 * exactly. The digits are doubles: at n = 200, bigints took three times as long as all products.
 */
class Residual {
  private readonly digits: Float64Array;
  private readonly length: number;
  private readonly radix: number;
  private readonly powers: Float64Array; // of the radix, modulo p

  constructor(
    c: readonly bigint[],
    private readonly slices: EngineSlices,
    private readonly p: number,
  ) {
    const { n, bits, count } = slices;
    this.radix = 2 ** bits;
    // A step makes numbers smaller than n times an entry of M, or does not make them larger.
    this.length = Math.max(count + Math.ceil(54 / bits), Math.floor(maxBitLength(c) / bits) + 2) + 1;
    this.digits = new Float64Array(n * this.length);
    for (let i = 0; i < n; i++) {
      let rest = c[i] as bigint;
      for (let s = 0; rest !== 0n; s++) {
        const digit = BigInt.asIntN(bits, rest);
        this.digits[i * this.length + s] = Number(digit);
        rest = (rest - digit) >> BigInt(bits);
      }
    }
    this.powers = new Float64Array(this.length);
    for (let s = 0, power = 1; s < this.length; s++, power = remainder(power * this.radix, p)) this.powers[s] = power;
  }

  /** The residual modulo p, with the rows in this order. */
  modulo(rows: Int32Array): Float64Array {
    const { digits, length, powers, p } = this;
    const residues = new Float64Array(rows.length);
    for (let l = 0; l < rows.length; l++) {
      const at = (rows[l] as number) * length;
      let sum = 0;
      for (let s = 0; s < length; s++) {
        sum += (digits[at + s] as number) * (powers[s] as number);
        if (s % 100 === 99) sum = remainder(sum, p);
      }
      residues[l] = remainder(sum, p);
    }
    return residues;
  }

  /** Subtract the products of all slices with a digit, and divide by p. Throws if that leaves a remainder. */
  subtract(products: Float64Array): void {
    const { digits, length, radix, p } = this;
    const { n, count } = this.slices;
    for (let i = 0; i < n; i++) {
      const at = i * length;
      let carry = 0;
      for (let s = 0; s < length; s++) {
        const sum = (digits[at + s] as number) - (s < count ? (products[s * n + i] as number) : 0) + carry;
        carry = Math.floor(sum / radix + 0.5);
        digits[at + s] = sum - carry * radix;
      }
      if (carry !== 0) throw new Error("halfulp: a p-adic residual is longer than it can be");
      let rest = 0;
      for (let s = length - 1; s >= 0; s--) {
        const sum = rest * radix + (digits[at + s] as number);
        const quotient = Math.floor(sum / p + 0.5);
        rest = sum - quotient * p;
        digits[at + s] = quotient;
      }
      if (rest !== 0) throw new Error("halfulp: a p-adic digit is not a solution modulo p"); // isProved() relies on this
    }
  }
}

// The fractions with these residues, if they are proved to be the solution.
function fractionsOf(
  digits: readonly Float64Array[],
  p: number,
  n: number,
  slices: EngineSlices,
  rightBits: number,
  numeratorBits: number | undefined,
): Fractions | undefined {
  const powers = digitPowers(p, digits.length);
  const modulus = powers.of(digits.length);
  const bits = bitLength(modulus) - 1;
  const maxNumeratorBits = numeratorBits ?? Math.floor(bits / 2) - 1;
  const limit = 1n << BigInt(maxNumeratorBits);
  const numerators: bigint[] = [];
  let denominator = 1n;
  for (let j = 0; j < n; j++) {
    const residue = powers.combine(digits, j, 0, digits.length);
    const value = balancedResidue(residue * denominator, modulus);
    if (value <= limit && value >= -limit) {
      numerators.push(value);
      continue;
    }
    const fraction = reconstructFraction(value, modulus, limit);
    denominator *= fraction.d;
    if (bitLength(denominator) + maxNumeratorBits > bits) return undefined;
    for (let i = 0; i < j; i++) numerators[i] = (numerators[i] as bigint) * fraction.d;
    numerators.push(fraction.n);
  }
  return isProved(numerators, denominator, n, slices, rightBits, bits) ? { numerators, denominator } : undefined;
}

/**
 * By construction M N = D c modulo p^k, with numerators N and denominator D. If both sides are so small that their difference is below
 * p^k, it is zero, and N / D is the solution.
 */
function isProved(
  numerators: readonly bigint[],
  denominator: bigint,
  n: number,
  slices: EngineSlices,
  rightBits: number,
  bits: number,
): boolean {
  const left = slices.size + maxBitLength(numerators) + Math.ceil(Math.log2(n + 1));
  return Math.max(left, bitLength(denominator) + rightBits) + 1 < bits;
}

function balancedResidue(x: bigint, modulus: bigint): bigint {
  const r = x % modulus;
  const half = modulus >> 1n;
  return r > half ? r - modulus : r < -half ? r + modulus : r;
}

// The fraction n / d = value modulo m with |n| <= limit and the smallest d > 0: Euclid's algorithm, stopped early.
function reconstructFraction(value: bigint, m: bigint, limit: bigint): { n: bigint; d: bigint } {
  let [r0, r1, t0, t1] = [m, value < 0n ? value + m : value, 0n, 1n];
  while (r1 > limit) {
    const q = r0 / r1;
    [r0, r1] = [r1, r0 - q * r1];
    [t0, t1] = [t1, t0 - q * t1];
  }
  return t1 < 0n ? { n: -r1, d: -t1 } : { n: r1, d: t1 };
}

// Powers of p, and numbers from their p-adic digits, by divide and conquer.
function digitPowers(
  p: number,
  count: number,
): { of(k: number): bigint; combine(digits: readonly Float64Array[], j: number, from: number, to: number): bigint } {
  const known = new Map<number, bigint>([
    [0, 1n],
    [1, BigInt(p)],
  ]);
  const of = (k: number): bigint => {
    let power = known.get(k);
    if (power === undefined) {
      power = of(k >> 1) * of(k - (k >> 1));
      known.set(k, power);
    }
    return power;
  };
  of(count);
  const combine = (digits: readonly Float64Array[], j: number, from: number, to: number): bigint => {
    if (to - from === 1) return BigInt(digits[from]?.[j] as number);
    if (to - from === 2) return BigInt((digits[from]?.[j] as number) + p * (digits[from + 1]?.[j] as number));
    if (to === from) return 0n;
    const middle = from + ((to - from) >> 1);
    return combine(digits, j, from, middle) + of(middle - from) * combine(digits, j, middle, to);
  };
  return { of, combine };
}
