import type { Routine } from "../dense/steps.ts";
import { bitLength, type KeptSlices, wholeProducts } from "./integers.ts";
import { combined } from "./lifting.ts";
import { type ModularInverse, remainder } from "./modular.ts";
import type { Progress } from "./progress.ts";

// Dixon's p-adic lifting ("Exact solution of linear equations using p-adic expansions", 1982): M y = c for whole numbers, exactly,
// whatever the condition of M. With the inverse modulo p, each step finds y modulo one more power of p, and the fractions come
// from their residues. Nothing is taken on trust: see `proved`.

/** The solution y_j = numerators[j] / denominator; the denominator is positive. */
export interface Fractions {
  readonly numerators: readonly bigint[];
  readonly denominator: bigint;
}

const GROWTH = 1.5; // steps from one attempt at the fractions to the next

/**
 * The exact solution of M y = whole, or undefined if it was aborted. Attempts at the fractions are made now and then, for solutions
 * that are simpler than they might be, and at the latest when there are residues enough for numerators and denominators of the
 * sizes that Hadamard's inequality allows.
 */
export function* liftModulo(
  routine: string,
  slices: KeptSlices,
  inverse: ModularInverse,
  whole: readonly bigint[],
  progress: Progress,
): Routine<Fractions | undefined> {
  const { n } = slices;
  const { p, rows, kept } = inverse;
  const P = BigInt(p);
  const r = whole.slice();
  const digits: Float64Array[] = [];
  const right = whole.reduce((most, v) => Math.max(most, bitLength(v)), 0);
  const numerator = slices.determinant + right + Math.ceil(0.5 * Math.log2(n + 1)) + 1;
  const enough = Math.ceil((numerator + slices.determinant + 4) / Math.log2(p)) + 1;
  let nextAttempt = Math.min(8, enough);
  for (let k = 0; ; k++) {
    if (k === nextAttempt || r.every((v) => v === 0n)) {
      const found = fractionsOf(digits, p, n, slices, right, k >= enough ? numerator : undefined);
      if (found) return found;
      if (k >= enough) throw new Error("halfulp: a p-adic expansion has no fraction within Hadamard's bounds");
      nextAttempt = Math.min(Math.ceil(k * GROWTH), enough);
    }
    if (!(yield* progress.goesOn("lifting", k / enough))) return undefined;
    const residues = new Float64Array(n);
    for (let l = 0; l < n; l++) residues[l] = remainder(Number((r[rows[l] as number] as bigint) % P), p);
    const solved = yield* wholeProducts(routine, kept, residues, 1);
    const digit = new Float64Array(n);
    for (let j = 0; j < n; j++) digit[j] = remainder(solved[rows[j] as number] as number, p);
    digits.push(digit);
    const products = yield* wholeProducts(routine, slices.kept, digit, 1);
    for (let i = 0; i < n; i++) r[i] = ((r[i] as bigint) - combined(products, i, slices, 1)) / P;
  }
}

// The fractions whose residues these are, if they are proved to be the solution.
function fractionsOf(
  digits: readonly Float64Array[],
  p: number,
  n: number,
  slices: KeptSlices,
  right: number,
  numeratorBits: number | undefined,
): Fractions | undefined {
  const powers = powersOf(p, digits.length);
  const modulus = powers.of(digits.length);
  const bits = bitLength(modulus) - 1;
  const most = numeratorBits ?? Math.floor(bits / 2) - 1;
  const limit = 1n << BigInt(most);
  const numerators: bigint[] = [];
  let denominator = 1n;
  for (let j = 0; j < n; j++) {
    const residue = powers.combine(digits, j, 0, digits.length);
    const value = balanced(residue * denominator, modulus);
    if (value <= limit && value >= -limit) {
      numerators.push(value);
      continue;
    }
    const fraction = reconstruct(value, modulus, limit);
    denominator *= fraction.d;
    if (bitLength(denominator) + most > bits) return undefined;
    for (let i = 0; i < j; i++) numerators[i] = (numerators[i] as bigint) * fraction.d;
    numerators.push(fraction.n);
  }
  return proved(numerators, denominator, n, slices, right, bits) ? { numerators, denominator } : undefined;
}

/**
 * By construction M N = D c modulo p^k, N being the numerators and D the denominator. If both sides are so small that their
 * difference is below p^k, it is zero: N / D is the solution.
 */
function proved(numerators: readonly bigint[], denominator: bigint, n: number, slices: KeptSlices, right: number, bits: number): boolean {
  const largest = numerators.reduce((most, v) => Math.max(most, bitLength(v)), 0);
  const left = slices.size + largest + Math.ceil(Math.log2(n + 1));
  return Math.max(left, bitLength(denominator) + right) + 1 < bits;
}

function balanced(x: bigint, modulus: bigint): bigint {
  const r = x % modulus;
  const half = modulus >> 1n;
  return r > half ? r - modulus : r < -half ? r + modulus : r;
}

// The fraction n / d = value modulo m with |n| <= limit and the least d > 0: Euclid's algorithm, ended early.
function reconstruct(value: bigint, m: bigint, limit: bigint): { n: bigint; d: bigint } {
  let [r0, r1, t0, t1] = [m, value < 0n ? value + m : value, 0n, 1n];
  while (r1 > limit) {
    const q = r0 / r1;
    [r0, r1] = [r1, r0 - q * r1];
    [t0, t1] = [t1, t0 - q * t1];
  }
  return t1 < 0n ? { n: -r1, d: -t1 } : { n: r1, d: t1 };
}

// Powers of p and numbers from their digits, by halves.
function powersOf(p: number, count: number): { of(k: number): bigint; combine(digits: readonly Float64Array[], j: number, from: number, to: number): bigint } {
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
