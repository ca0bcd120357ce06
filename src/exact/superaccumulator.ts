// Kulisch's superaccumulator: a fixed-point number wide enough for any sum. It has 204 digits of radix 2^32, digit 0 worth 2^-3296:
// products of three binary64 numbers (a product scaled by alpha) range from 2^-3222 to 2^3072, 2^53 of them stay below 2^3125, and the
// 53-bit significand of the smallest ends 52 bits lower. The digits are carry-save: doubles, each an integer of either sign, that take
// 2^20 additions of less than 2^32 before carries must be propagated. Twins in the kernels: assembly/exact/superaccumulator.ts and
// opencl/exact/superaccumulator.cl.
import { HalfulpError } from "../arrays/errors.ts";
import type { Format, Rounding } from "../arrays/types.ts";
import { highWord, lowWord } from "./bits.ts";
import { roundRational, roundSquareRoot, roundWords } from "./rounding.ts";
import { twoProd } from "./transforms.ts";

const DIGITS = 204;
export const LOWEST_EXPONENT = -3296;
const RADIX = 2 ** 32;
const MAX_ADDITIONS = 2 ** 20;

/** An exact sum of finite numbers and products, with flags for the terms that were not finite. */
export class Superaccumulator {
  /** Digits of radix 2^32, least significant first. */
  readonly digits = new Float64Array(DIGITS);
  private additions = 0;
  nan = false;
  positiveInfinity = false;
  negativeInfinity = false;

  /** Start a new sum. */
  clear(): this {
    this.digits.fill(0);
    this.additions = 0;
    this.nan = this.positiveInfinity = this.negativeInfinity = false;
    return this;
  }

  /** Add x. */
  add(x: number): this {
    if (x - x === 0) this.deposit(x, 0);
    else this.addSpecial(x);
    return this;
  }

  /** Add x y exactly: TwoProd on integer significands, which neither underflows nor overflows. */
  addProduct(x: number, y: number): this {
    if (!(x - x === 0 && y - y === 0)) {
      this.addSpecial(x * y);
    } else if (x !== 0 && y !== 0) {
      this.depositProduct(significand(x), significand(y), exponentOf(x) + exponentOf(y));
    }
    return this;
  }

  private addSpecial(x: number): void {
    if (x > 0) this.positiveInfinity = true;
    else if (x < 0) this.negativeInfinity = true;
    else this.nan = true;
  }

  // Add a b * 2^shift for integers a and b of at most 53 bits.
  private depositProduct(a: number, b: number, shift: number): void {
    const p = a * b;
    this.deposit(p, shift);
    this.deposit(twoProd(a, b, p), shift);
  }

  // Add x * 2^shift, x finite: a 53-bit significand, shifted, covers three digits.
  private deposit(x: number, shift: number): void {
    if (x === 0) return; // its exponent field says nothing
    this.countAddition();
    const high = highWord(x);
    const low = lowWord();
    const field = (high >>> 20) & 0x7ff;
    const top = (high & 0xfffff) | (field === 0 ? 0 : 0x100000);
    // x is (top * 2^32 + low) * 2^(max(field, 1) - 1075)
    const position = (field === 0 ? 1 : field) - 1075 + shift - LOWEST_EXPONENT;
    const i = position >> 5;
    const s = position & 31;
    const sign = high >>> 31 === 0 ? 1 : -1;
    // >>> 1 >>> (31 - s) is a shift by 32 - s that also works for s = 0
    this.digits[i] = (this.digits[i] as number) + sign * ((low << s) >>> 0);
    this.digits[i + 1] = (this.digits[i + 1] as number) + sign * (((top << s) | ((low >>> 1) >>> (31 - s))) >>> 0);
    this.digits[i + 2] = (this.digits[i + 2] as number) + sign * ((top >>> 1) >>> (31 - s));
  }

  private countAddition(): void {
    if (++this.additions >= MAX_ADDITIONS) this.normalize();
  }

  /** Propagate all carries: all digits but the last end in [0, 2^32), and the last keeps the sign. */
  normalize(): this {
    let carry = 0;
    for (let i = 0; i < DIGITS - 1; i++) {
      const v = (this.digits[i] as number) + carry;
      carry = Math.floor(v / RADIX);
      this.digits[i] = v - carry * RADIX;
    }
    const top = (this.digits[DIGITS - 1] as number) + carry;
    this.digits[DIGITS - 1] = top;
    if (Math.abs(top) >= 2 ** 31) throw new HalfulpError("Superaccumulator: the sum has left its range, after many more than 2^53 terms");
    this.additions = 1;
    return this;
  }

  /** Add another accumulator. */
  merge(other: Superaccumulator): this {
    other.normalize();
    this.addDigits(other.digits, 0);
    this.nan ||= other.nan;
    this.positiveInfinity ||= other.positiveInfinity;
    this.negativeInfinity ||= other.negativeInfinity;
    return this;
  }

  /** Add digits of magnitude below 2^32, the first of them to digit `from`. */
  addDigits(digits: ArrayLike<number>, from: number): void {
    this.countAddition();
    for (let i = 0; i < digits.length; i++) this.digits[from + i] = (this.digits[from + i] as number) + (digits[i] as number);
  }

  /** Add terms that are not finite, as bits: 1 for a NaN, 2 for +Inf, 4 for -Inf. */
  addSpecials(bits: number): void {
    this.nan ||= (bits & 1) !== 0;
    this.positiveInfinity ||= (bits & 2) !== 0;
    this.negativeInfinity ||= (bits & 4) !== 0;
  }

  /** Change the sign. */
  negate(): this {
    for (let i = 0; i < DIGITS; i++) this.digits[i] = -(this.digits[i] as number);
    this.swapInfinities();
    return this;
  }

  private swapInfinities(): void {
    const positive = this.positiveInfinity;
    this.positiveInfinity = this.negativeInfinity;
    this.negativeInfinity = positive;
  }

  /**
   * Multiply by a finite factor exactly: every digit times the factor is a product again. For sums of numbers or of products of
   * two; a second scaling could leave the range.
   */
  scale(factor: number): this {
    const negative = this.toMagnitude(); // the digits of a negative sum extend all the way up and would leave the range
    const old = this.digits.slice();
    this.digits.fill(0);
    const f = significand(factor);
    const e = exponentOf(factor) + LOWEST_EXPONENT;
    for (let i = 0; i < DIGITS; i++) {
      if (old[i] !== 0 && f !== 0) this.depositProduct(old[i] as number, f, e + 32 * i);
    }
    if (negative) this.negate();
    if (factor === 0) this.nan ||= this.positiveInfinity || this.negativeInfinity;
    if (factor < 0) this.swapInfinities();
    return this;
  }

  /** The sign of the finite part: -1, 0 or 1. */
  sign(): -1 | 0 | 1 {
    this.normalize();
    if ((this.digits[DIGITS - 1] as number) < 0) return -1;
    return this.top() >= 0 ? 1 : 0;
  }

  /** The NaN or infinity that the sum has because of special terms, or undefined if all terms were finite. */
  special(): number | undefined {
    if (this.nan || (this.positiveInfinity && this.negativeInfinity)) return Number.NaN;
    if (this.positiveInfinity) return Number.POSITIVE_INFINITY;
    if (this.negativeInfinity) return Number.NEGATIVE_INFINITY;
    return undefined;
  }

  // Replace the sum by its magnitude. Returns whether it was negative; negate() then restores it.
  private toMagnitude(): boolean {
    const negative = this.sign() < 0;
    if (negative) this.negate().normalize();
    return negative;
  }

  // The index of the last nonzero digit, -1 if there is none.
  private top(): number {
    let i = DIGITS - 1;
    while (i >= 0 && this.digits[i] === 0) i--;
    return i;
  }

  // Whether any digit before this one is nonzero.
  private anyBefore(i: number): boolean {
    for (let k = i - 1; k >= 0; k--) if (this.digits[k] !== 0) return true;
    return false;
  }

  /** The finite part as a sign and the digits of its magnitude, from the first nonzero digit to the last. */
  magnitude(): { negative: boolean; first: number; digits: number[] } {
    const negative = this.toMagnitude();
    const end = this.top() + 1;
    let first = 0;
    while (first < end && this.digits[first] === 0) first++;
    const digits = Array.from(this.digits.subarray(first, end));
    if (negative) this.negate();
    return { negative, first, digits };
  }

  /** Add a number in the form that magnitude() returns. If its digits are out of range, returns false and adds nothing. */
  addMagnitude(negative: boolean, first: number, digits: number[]): boolean {
    if (first + digits.length > DIGITS) return false;
    this.addDigits(negative ? digits.map((d) => -d) : digits, first);
    return true;
  }

  /** The sum, rounded once. */
  round(mode: Rounding = "nearest", format: Format = "binary64"): number {
    const special = this.special();
    if (special !== undefined) return special;
    const negative = this.toMagnitude();
    const i = this.top();
    if (i < 0) return 0;
    // The leading 64 bits, from the top three digits.
    const a = this.digits[i] as number;
    const b = (this.digits[i - 1] ?? 0) >>> 0;
    const c = (this.digits[i - 2] ?? 0) >>> 0;
    const s = Math.clz32(a);
    const high = ((a << s) | ((b >>> 1) >>> (31 - s))) >>> 0;
    const low = ((b << s) | ((c >>> 1) >>> (31 - s))) >>> 0;
    const sticky = c << s !== 0 || this.anyBefore(i - 2);
    if (negative) this.negate();
    return roundWords(negative, high, low, sticky, LOWEST_EXPONENT + 32 * i - 32 - s, mode, format);
  }

  // The finite part as an integer and its exponent, accurate enough for quotients and roots: the five leading digits, at least 129
  // bits, and one more bit that is set if there are digits below them. A rounding is decided by a comparison with a midpoint times
  // the divisor, or with a squared midpoint, of at most 108 bits: the last bit decides it as the whole tail would.
  private leading(): [bigint, number] {
    const { negative, first, digits } = this.magnitude();
    const n = (integerOf(digits.slice(-5)) << 1n) | (digits.length > 5 ? 1n : 0n);
    return [negative ? -n : n, LOWEST_EXPONENT + 32 * (first + Math.max(digits.length - 5, 0)) - 1];
  }

  /** The finite part as an integer and its exponent, all of it. */
  integer(): [n: bigint, exponent: number] {
    const { negative, first, digits } = this.magnitude();
    const n = integerOf(digits);
    return [negative ? -n : n, LOWEST_EXPONENT + 32 * first];
  }

  /** The sum divided by d, rounded once. If either is zero or not finite, the result follows IEEE 754. */
  quotient(d: number, mode: Rounding = "nearest", format: Format = "binary64"): number {
    const special = this.special();
    if (special !== undefined || d - d !== 0 || d === 0) return (special ?? this.sign()) / d;
    const [n, exponent] = this.leading();
    const m = significand(d);
    return roundRational(m < 0 ? -n : n, BigInt(Math.abs(m)), exponent - exponentOf(d), mode, format);
  }

  /** The square root of the sum, rounded once; NaN for a negative sum. */
  squareRoot(mode: Rounding = "nearest", format: Format = "binary64"): number {
    const special = this.special();
    if (special !== undefined) return Math.sqrt(special);
    const [n, exponent] = this.leading();
    return n < 0n ? Number.NaN : roundSquareRoot(n, exponent, mode, format);
  }
}

// Digits of radix 2^32, least significant first, as an integer.
function integerOf(digits: readonly number[]): bigint {
  return digits.reduceRight((n, digit) => (n << 32n) | BigInt(digit), 0n);
}

/** x / 2^exponentOf(x): an integer below 2^53, for finite x. */
export function significand(x: number): number {
  const high = highWord(x);
  const m = ((high & 0xfffff) | ((high & 0x7ff00000) === 0 ? 0 : 0x100000)) * RADIX + lowWord();
  return high >>> 31 === 0 ? m : -m;
}

/** The exponent of the last bit of x's significand, for finite x. */
export function exponentOf(x: number): number {
  return Math.max((highWord(x) >>> 20) & 0x7ff, 1) - 1075;
}
