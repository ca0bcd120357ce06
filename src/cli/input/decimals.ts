// Numbers from bytes, correctly rounded, without a string: nearly all numbers that programs write, 15 ns each where Number() of a string
// takes 150. scan.ts reads cells with it. What is not simple is left to numberOf().
import { twoProd } from "../../exact/transforms.ts";

// Powers of ten that are doubles.
const POWERS = Float64Array.from({ length: 23 }, (_, k) => Number(`1e${k}`));

/** The position after the number that decimalAt() has read; -1 if it did not read one. */
export let decimalEnd = -1;

const NOT_SIMPLE = Number.NaN;

/**
 * The number at this position, if it is a decimal of up to 18 digits: digits with at most one point among them, an exponent, a sign. For
 * anything else `decimalEnd` is -1. The bytes end with one that belongs to no number.
 *
 * Rounding: the digits are an integer s + t, |t| <= u |s|, in two parts of up to 9 digits each (a product of such a part and a power of
 * ten up to 10^9 is exact: 2^30 and 5^9 have 51 bits). With t = 0, one multiplication or division by an exact power of ten rounds once.
 * Otherwise, with P the power and q = RN(s / P), (s + t) / P = q + (r + t) / P, where r = s - q P is a double (the remainder of a rounded
 * quotient); d = RN(RN(r + t) / P) is off by at most 2.01 u |d|. If q + d rounds to the same number for both ends of that, this is the
 * result.
 */
export function decimalAt(bytes: Uint8Array, from: number): number {
  decimalEnd = -1;
  let at = from;
  let byte = bytes[at] as number;
  const negative = byte === 0x2d;
  if (negative || byte === 0x2b) byte = bytes[++at] as number;
  const begin = at;
  let leading = 0; // the first 9 significant digits
  let trailing = 0; // the next 9
  let digits = 0;
  let point = -1;
  for (; ; byte = bytes[++at] as number) {
    const digit = byte - 0x30;
    if (digit >= 0 && digit <= 9) {
      if (digits < 9) {
        leading = leading * 10 + digit;
        if (leading !== 0) digits++;
      } else {
        if (digits === 18) return NOT_SIMPLE;
        trailing = trailing * 10 + digit;
        digits++;
      }
    } else if (byte === 0x2e && point < 0) {
      point = at;
    } else {
      break;
    }
  }
  if (at - begin === (point < 0 ? 0 : 1)) return NOT_SIMPLE; // no digits
  let exponent = point < 0 ? 0 : point + 1 - at;
  if (byte === 0x65 || byte === 0x45) {
    byte = bytes[++at] as number;
    const down = byte === 0x2d;
    if (down || byte === 0x2b) byte = bytes[++at] as number;
    const first = at;
    let given = 0;
    for (let digit = byte - 0x30; digit >= 0 && digit <= 9 && at < first + 4; digit = (bytes[++at] as number) - 0x30)
      given = given * 10 + digit;
    if (at === first || at === first + 4) return NOT_SIMPLE;
    exponent += down ? -given : given;
  }
  const value = digits <= 9 ? scaled(leading, 0, exponent) : longer(leading, trailing, digits, exponent);
  if (value !== value) return NOT_SIMPLE;
  decimalEnd = at;
  return negative ? -value : value;
}

function longer(leading: number, trailing: number, digits: number, exponent: number): number {
  const high = leading * (POWERS[digits - 9] as number);
  const s = high + trailing;
  return scaled(s, trailing - (s - high), exponent);
}

// (s + t) 10^exponent, rounded once, or NaN.
function scaled(s: number, t: number, exponent: number): number {
  if (exponent === 0 || s === 0) return s;
  if (exponent < -22 || exponent > 22) return NOT_SIMPLE;
  if (exponent > 0) return t === 0 ? s * (POWERS[exponent] as number) : NOT_SIMPLE;
  const power = POWERS[-exponent] as number;
  const q = s / power;
  if (t === 0) return q;
  const p = q * power;
  const d = (s - p - twoProd(q, power, p) + t) / power;
  const result = q + d * (1 + 2 ** -50);
  return q + d * (1 - 2 ** -50) === result ? result : NOT_SIMPLE;
}
