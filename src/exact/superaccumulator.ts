import { HalfulpError } from "../arrays/errors.ts";
import type { Format, Rounding } from "../arrays/types.ts";
import { highWord, lowWord } from "./bits.ts";
import { roundRational, roundSquareRoot, roundWords } from "./rounding.ts";
import { twoProd } from "./transforms.ts";

// Kulisch's superaccumulator: a fixed-point number wide enough for any sum. 204 digits of radix 2^32, digit
// 0 worth 2^-3296: products of three binary64 numbers (a product scaled by alpha) reach from 2^-3222 to
// 2^3072, 2^53 of them stay below 2^3125, and the 53-bit significand of the smallest ends 52 bits lower.
// The digits are carry-save: doubles, each an integer of any sign, that take 2^20 additions of less than
// 2^32 before carries must run.
const DIGITS = 204;
export const LOWEST_EXPONENT = -3296;
const RADIX = 2 ** 32;
const ROOM = 2 ** 20;

/** An exact sum of finite numbers and products, and a note of what was not finite. */
export class Superaccumulator {
  /** Digits of radix 2^32, least significant first. */
  readonly digits = new Float64Array(DIGITS);
  private additions = 0;
  nan = false;
  positiveInfinity = false;
  negativeInfinity = false;

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

  // Add x * 2^shift, x finite: a significand of 53 bits, shifted, covers three digits.
  private deposit(x: number, shift: number): void {
    if (x === 0) return; // its exponent field would point anywhere
    this.makeRoom();
    const high = highWord(x);
    const low = lowWord();
    const field = (high >>> 20) & 0x7ff;
    const top = (high & 0xfffff) | (field === 0 ? 0 : 0x100000);
    // x is (top * 2^32 + low) * 2^(max(field, 1) - 1075)
    const position = (field === 0 ? 1 : field) - 1075 + shift - LOWEST_EXPONENT;
    const i = position >> 5;
    const s = position & 31;
    const sign = high >>> 31 === 0 ? 1 : -1;
    // >>> 1 >>> (31 - s): a shift by 32 - s that is right for s = 0
    this.digits[i] = (this.digits[i] as number) + sign * ((low << s) >>> 0);
    this.digits[i + 1] = (this.digits[i + 1] as number) + sign * (((top << s) | ((low >>> 1) >>> (31 - s))) >>> 0);
    this.digits[i + 2] = (this.digits[i + 2] as number) + sign * ((top >>> 1) >>> (31 - s));
  }

  private makeRoom(): void {
    if (++this.additions >= ROOM) this.normalize();
  }

  /** Run the carries: all digits but the last end in [0, 2^32), the last keeps the sign. */
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

  /** Add digits of magnitude below 2^32, the first of them worth digit `from` of this one. */
  addDigits(digits: ArrayLike<number>, from: number): void {
    this.makeRoom();
    for (let i = 0; i < digits.length; i++) this.digits[from + i] = (this.digits[from + i] as number) + (digits[i] as number);
  }

  /** Add what was not finite, as bits: 1 a NaN, 2 a +Inf, 4 a -Inf. */
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
   * Multiply by a finite factor exactly: every digit times the factor is a product again. For sums of
   * numbers or of products of two; a second scaling could leave the range.
   */
  scale(factor: number): this {
    const negative = this.toMagnitude(); // a negative sum has digits all the way up, and they would leave the range
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

  /** NaN or the infinity that special terms make of the sum, or undefined where all terms were finite. */
  special(): number | undefined {
    if (this.nan || (this.positiveInfinity && this.negativeInfinity)) return Number.NaN;
    if (this.positiveInfinity) return Number.POSITIVE_INFINITY;
    if (this.negativeInfinity) return Number.NEGATIVE_INFINITY;
    return undefined;
  }

  // Make all digits those of the magnitude, and say whether the sum is negative; negate() puts it back.
  private toMagnitude(): boolean {
    const negative = this.sign() < 0;
    if (negative) this.negate().normalize();
    return negative;
  }

  // The index of the last digit that is not zero, -1 if there is none.
  private top(): number {
    let i = DIGITS - 1;
    while (i >= 0 && this.digits[i] === 0) i--;
    return i;
  }

  // Whether any digit before this one is not zero.
  private anyBefore(i: number): boolean {
    for (let k = i - 1; k >= 0; k--) if (this.digits[k] !== 0) return true;
    return false;
  }

  /** The finite part as a sign and the digits of its magnitude, from the first to the last that is not zero. */
  magnitude(): { negative: boolean; first: number; digits: number[] } {
    const negative = this.toMagnitude();
    const end = this.top() + 1;
    let first = 0;
    while (first < end && this.digits[first] === 0) first++;
    const digits = Array.from(this.digits.subarray(first, end));
    if (negative) this.negate();
    return { negative, first, digits };
  }

  /** Add a number given as magnitude() gives it; false, and nothing added, if its digits lie outside. */
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
    // The leading 64 bits: two digits, moved up until the top bit is set.
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

  // The finite part as an integer and its exponent, near enough for quotients and roots: the five leading
  // digits, at least 129 bits, and one more bit that is set when there are digits below them. What decides a
  // rounding is a comparison with a midpoint times the divisor, or squared, of at most 108 bits: that last bit
  // settles it as the whole tail would.
  private leading(): [bigint, number] {
    const { negative, first, digits } = this.magnitude();
    const head = digits.slice(-5).reduceRight((n, digit) => (n << 32n) | BigInt(digit), 0n);
    const n = (head << 1n) | (digits.length > 5 ? 1n : 0n);
    return [negative ? -n : n, LOWEST_EXPONENT + 32 * (first + Math.max(digits.length - 5, 0)) - 1];
  }

  /** The sum divided by d, rounded once; as IEEE 754 has it where either is zero or not finite. */
  quotient(d: number, mode: Rounding = "nearest", format: Format = "binary64"): number {
    const special = this.special();
    if (special !== undefined || d - d !== 0 || d === 0) return (special ?? this.sign()) / d;
    const [n, exponent] = this.leading();
    const m = significand(d);
    return roundRational(m < 0 ? -n : n, BigInt(Math.abs(m)), exponent - exponentOf(d), mode, format);
  }

  /** The square root of the sum, rounded once; NaN for a negative one. */
  squareRoot(mode: Rounding = "nearest", format: Format = "binary64"): number {
    const special = this.special();
    if (special !== undefined) return Math.sqrt(special);
    const [n, exponent] = this.leading();
    return n < 0n ? Number.NaN : roundSquareRoot(n, exponent, mode, format);
  }
}

/** x / 2^exponentOf(x): an integer below 2^53, for finite x. */
export function significand(x: number): number {
  const high = highWord(x);
  const m = ((high & 0xfffff) | ((high & 0x7ff00000) === 0 ? 0 : 0x100000)) * RADIX + lowWord();
  return high >>> 31 === 0 ? m : -m;
}

/** The weight of the last bit of x's significand, for finite x. */
export function exponentOf(x: number): number {
  return Math.max((highWord(x) >>> 20) & 0x7ff, 1) - 1075;
}
