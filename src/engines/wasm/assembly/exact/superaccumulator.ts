// Stage 3, Kulisch's superaccumulator, the twin of src/exact/superaccumulator.ts: carry-save digits of radix 2^32 in the frame, here
// 64-bit integers. A deposit adds less than 2^32 to three digits (a product to five), so that carries must be propagated after 2^30
// deposits; every chunk of a stream ends with normalize(), long before that.
import { frame } from "../frame";
import { DIGITS, DIGIT_COUNT, LOWEST_EXPONENT, SPECIAL, UNSCALED } from "../layout";
import { powerOfTwo } from "../grid";

@inline function digit(i: i32): usize { return frame + DIGITS + (i << 3); }

// The range of digits that may be nonzero. A sum touches only a few of them, and a loop over all 204 takes 0.2 us.
let lowest: i32 = DIGIT_COUNT, highest: i32 = -1;
@inline function touch(from: i32, to: i32): void {
  lowest = min(lowest, from);
  highest = max(highest, to);
}

export function clearDigits(): void {
  if (highest >= lowest) memory.fill(digit(lowest), 0, <usize>(highest - lowest + 1) << 3);
  lowest = DIGIT_COUNT;
  highest = -1;
  store<i32>(frame + SPECIAL, 0);
}

// Add x, finite.
@inline export function deposit(x: f64): void {
  const significand = significandOf(x), position = exponentOf(x) - LOWEST_EXPONENT;
  const i = position >> 5, p = digit(i), s = <i64>(position & 31);
  touch(i, i + 2);
  const low = significand << s, high = s == 0 ? 0 : significand >>> (64 - s);
  const sign = reinterpret<i64>(x) >> 63; // 0 or -1
  store<i64>(p, load<i64>(p) + (((low & 0xffffffff) ^ sign) - sign));
  store<i64>(p + 8, load<i64>(p + 8) + (((low >>> 32) ^ sign) - sign));
  store<i64>(p + 16, load<i64>(p + 16) + ((high ^ sign) - sign));
}

// Add x, finite or not.
export function addNumber(x: f64): void {
  if (x - x == 0) { deposit(x); return; }
  addSpecial(x != x ? 1 : x > 0 ? 2 : 4);
}

function addSpecial(bit: i32): void { store<i32>(frame + SPECIAL, load<i32>(frame + SPECIAL) | bit); }

// Add x y exactly, over the whole range: a product of two 53-bit integers, shifted, covers five digits. (The twin has no 64-bit
// integers and deposits the two parts of TwoProd.)
export function addProduct(x: f64, y: f64): void {
  if (!(x - x == 0 && y - y == 0)) { addNumber(x * y); return; }
  const a = significandOf(x), b = significandOf(y);
  if (a == 0 || b == 0) return;
  const al = a & 0xffffffff, ah = a >>> 32, bl = b & 0xffffffff, bh = b >>> 32;
  const middle = al * bh + ah * bl; // below 2^54
  const low = al * bl, bottom = low + (middle << 32), carry = <i64>(<u64>bottom < <u64>low);
  const top = ah * bh + (middle >>> 32) + carry; // below 2^42
  const position = exponentOf(x) + exponentOf(y) - LOWEST_EXPONENT, i = position >> 5, p = digit(i), s = <i64>(position & 31);
  touch(i, i + 4);
  const w0 = bottom << s;
  const w1 = s == 0 ? top : top << s | bottom >>> (64 - s);
  const w2 = s == 0 ? 0 : top >>> (64 - s);
  const sign = (reinterpret<i64>(x) ^ reinterpret<i64>(y)) >> 63; // 0 or -1
  store<i64>(p, load<i64>(p) + (((w0 & 0xffffffff) ^ sign) - sign));
  store<i64>(p + 8, load<i64>(p + 8) + (((w0 >>> 32) ^ sign) - sign));
  store<i64>(p + 16, load<i64>(p + 16) + (((w1 & 0xffffffff) ^ sign) - sign));
  store<i64>(p + 24, load<i64>(p + 24) + (((w1 >>> 32) ^ sign) - sign));
  store<i64>(p + 32, load<i64>(p + 32) + ((w2 ^ sign) - sign));
}

// The exponent of the last bit of x's significand, for finite x.
@inline function exponentOf(x: f64): i32 {
  const field = <i32>(reinterpret<i64>(x) >>> 52) & 0x7ff;
  return (field == 0 ? 1 : field) - 1075;
}
// |x| / 2^exponentOf(x): an integer below 2^53.
@inline function significandOf(x: f64): i64 {
  const bits = reinterpret<i64>(x);
  return (bits & 0xfffffffffffff) | (<i64>((bits & 0x7ff0000000000000) != 0) << 52);
}

// Propagate carries up to one digit above those touched, which keeps the sign; all below end in [0, 2^32). The memory map has room
// for the digits that this appends.
function propagate(): void {
  let over: i64 = 0;
  for (let i = lowest; i <= highest; ++i) {
    const v = load<i64>(digit(i)) + over;
    store<i64>(digit(i), v & 0xffffffff);
    over = v >> 32;
  }
  if (highest >= lowest) { ++highest; store<i64>(digit(highest), load<i64>(digit(highest)) + over); }
}

// Propagate all carries: all digits but the last end in [0, 2^32), and the last keeps the sign.
export function normalize(): void {
  lowest = 0;
  highest = DIGIT_COUNT - 2;
  propagate();
}

// Change the sign of the finite part.
function negate(): void {
  for (let i = lowest; i <= highest; ++i) store<i64>(digit(i), -load<i64>(digit(i)));
  propagate();
}
@inline function isNegative(): bool { return highest >= lowest && load<i64>(digit(highest)) < 0; }

// Multiply by alpha, finite and nonzero: every digit times the significand of alpha is a product again. For sums of numbers or of
// products of two; a second scaling could leave the range. (The caller multiplies by an infinite alpha term by term.)
export function scale(alpha: f64): void {
  propagate();
  const negative = isNegative(), from = lowest, to = highest;
  if (to < from) return scaleSpecials(alpha);
  if (negative) negate();
  memory.copy(frame + UNSCALED, digit(from), <usize>(highest - from + 1) << 3);
  memory.fill(digit(from), 0, <usize>(highest - from + 1) << 3);
  const end = highest;
  lowest = DIGIT_COUNT;
  highest = -1;
  const f = significandOf(alpha), fl = f & 0xffffffff, fh = f >>> 32, e = exponentOf(alpha);
  for (let i = from; i <= end; ++i) {
    const d = load<i64>(frame + UNSCALED + ((i - from) << 3));
    if (d == 0) continue;
    depositWord(d * fl, 32 * i + e);
    depositWord(d * fh, 32 * i + e + 32);
  }
  propagate();
  if (negative != (alpha < 0)) negate();
  scaleSpecials(alpha);
}
function scaleSpecials(alpha: f64): void {
  if (alpha < 0) {
    const special = load<i32>(frame + SPECIAL);
    store<i32>(frame + SPECIAL, special & 1 | (special & 2) << 1 | (special & 4) >> 1);
  }
}

// Add w * 2^position, in units of the first digit. A zero w may have a position below it.
function depositWord(w: i64, position: i32): void {
  if (w == 0) return;
  const i = position >> 5, p = digit(i), s = <i64>(position & 31);
  touch(i, i + 2);
  const low = w << s, high = s == 0 ? 0 : w >>> (64 - s);
  store<i64>(p, load<i64>(p) + (low & 0xffffffff));
  store<i64>(p + 8, load<i64>(p + 8) + (low >>> 32));
  store<i64>(p + 16, load<i64>(p + 16) + high);
}

// The NaN or infinity that the sum has because of special terms, or 0 if all terms were finite.
export function special(): f64 {
  const bits = load<i32>(frame + SPECIAL);
  return bits == 0 ? 0 : bits == 2 ? Infinity : bits == 4 ? -Infinity : NaN;
}

// The leading 128 bits of a magnitude, the exponent of the last of them, and whether any bit below is set.
let upper: u64 = 0;
let lower: u64 = 0;
let lowerExponent: i32 = 0;
let below: bool = false;

// Set these from the digits of a magnitude; false if it is zero.
function leading(): bool {
  let i = highest;
  while (i >= lowest && load<i64>(digit(i)) == 0) --i;
  if (i < lowest) return false;
  const s = <u64>clz(<i32>load<i64>(digit(i)));
  const a = pair(i), b = pair(i - 2), c = <u64>at(i - 4);
  upper = s == 0 ? a : a << s | b >> (64 - s);
  lower = s == 0 ? b : b << s | c >> (32 - s);
  lowerExponent = LOWEST_EXPONENT + 32 * (i - 3) - <i32>s;
  below = (c << s & 0xffffffff) != 0;
  for (i -= 5; i >= lowest && !below; --i) below = load<i64>(digit(i)) != 0;
  return true;
}
@inline function at(i: i32): i64 { return i < lowest ? 0 : load<i64>(digit(i)); }
// Digits i and i - 1.
@inline function pair(i: i32): u64 { return <u64>at(i) << 32 | <u64>at(i - 1); }

// The number w * 2^exponent, plus something less than 2^exponent if `sticky`, rounded to nearest. The top bit of w is set. The twin
// of roundWords in src/exact/rounding.ts: `last` is the exponent of the result's last bit, `drop` the number of bits below it.
function roundWord(negative: bool, w: u64, sticky: bool, exponent: i32, single: bool): f64 {
  const last = max(exponent + (single ? 40 : 11), single ? -149 : -1074), drop = last - exponent;
  let units: u64 = 0;
  if (drop < 64) {
    const half = w >> <u64>(drop - 1) & 1, rest = (w & (<u64>1 << <u64>(drop - 1)) - 1) != 0 || sticky;
    units = w >> <u64>drop;
    units += half & <u64>(rest || (units & 1) != 0);
  } else if (drop == 64) {
    units = <u64>((w << 1) != 0 || sticky); // at least half of the smallest number
  }
  let size: f64 = last > 971 ? Infinity : last >= -1000 ? <f64>units * powerOfTwo(last) : <f64>units * powerOfTwo(last + 100) * powerOfTwo(-100);
  if (single) size = <f64><f32>size;
  return negative ? -size : size;
}

// The sum, rounded once, to nearest. An exact zero is +0.
export function round(single: bool): f64 {
  if (load<i32>(frame + SPECIAL) != 0) return special();
  propagate();
  const negative = isNegative();
  if (negative) negate();
  const found = leading();
  if (negative) negate();
  return found ? roundWord(negative, upper, lower != 0 || below, lowerExponent + 64, single) : 0;
}

// The sum divided by a nonzero d, rounded once, to nearest: a long division of the leading 128 bits by the significand of d, for 64
// bits of quotient. What lies below the 128 bits is less than one unit in the remainder's last place and changes no quotient bit.
export function quotient(d: f64, single: bool): f64 {
  if (load<i32>(frame + SPECIAL) != 0) return special() / d;
  if (!(d - d == 0)) return d != d ? NaN : 0;
  propagate();
  const negative = isNegative();
  if (negative) negate();
  const found = leading();
  let exponent = lowerExponent;
  if (negative) negate();
  if (!found) return 0;
  const m = <u64>significandOf(d), shift = clz(m), divisor = m << shift;
  let r = upper, w = lower, q: u64 = 0, sticky = below;
  exponent -= exponentOf(d) - <i32>shift;
  if (r >= divisor) { // so that the quotient is at least 2^63 and below 2^64 in either case
    sticky = sticky || (w & 1) != 0;
    w = w >> 1 | r << 63;
    r >>= 1;
    ++exponent;
  }
  for (let i = 0; i < 64; ++i) {
    const carry = r >> 63;
    r = r << 1 | w >> 63;
    w <<= 1;
    q <<= 1;
    if (carry != 0 || r >= divisor) { r -= divisor; q |= 1; }
  }
  return roundWord(negative != (d < 0), q, r != 0 || sticky, exponent, single);
}
