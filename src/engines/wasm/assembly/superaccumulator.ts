// The superaccumulator, the twin of exact/superaccumulator.ts: carry-save digits of radix 2^32.
// A deposit adds less than 2^32 to three digits (a product to five), so 2^30 deposits fit before carries must run;
// every chunk of a stream ends with normalize(), long before that.
import { DIGITS, DIGIT_COUNT, LADDER, LOWEST_EXPONENT, SPECIAL } from "./layout";

@inline function digit(i: i32): usize { return DIGITS + (i << 3); }

export function clear(): void {
  memory.fill(DIGITS, 0, DIGIT_COUNT << 3);
  store<i32>(SPECIAL, 0);
  store<i32>(LADDER, 0);
}

// Add x, finite.
@inline export function deposit(x: f64): void {
  const significand = significandOf(x), position = exponentOf(x) - LOWEST_EXPONENT;
  const p = digit(position >> 5), s = <i64>(position & 31);
  const low = significand << s, high = s == 0 ? 0 : significand >>> (64 - s);
  const sign = reinterpret<i64>(x) >> 63; // 0 or -1
  store<i64>(p, load<i64>(p) + (((low & 0xffffffff) ^ sign) - sign));
  store<i64>(p + 8, load<i64>(p + 8) + (((low >>> 32) ^ sign) - sign));
  store<i64>(p + 16, load<i64>(p + 16) + ((high ^ sign) - sign));
}

// Add one term, whatever it is.
export function addNumber(x: f64): void {
  if (x - x == 0) { deposit(x); return; }
  store<i32>(SPECIAL, load<i32>(SPECIAL) | (x != x ? 1 : x > 0 ? 2 : 4));
}

// Add x * y exactly, over the whole range: a product of integers of 53 bits, shifted, covers five digits. (The twin in
// exact/ has no 64-bit integers and deposits the two parts of TwoProd.)
export function addProduct(x: f64, y: f64): void {
  if (!(x - x == 0 && y - y == 0)) { addNumber(x * y); return; }
  const a = significandOf(x), b = significandOf(y);
  if (a == 0 || b == 0) return;
  const al = a & 0xffffffff, ah = a >>> 32, bl = b & 0xffffffff, bh = b >>> 32;
  const middle = al * bh + ah * bl; // below 2^54
  const low = al * bl, bottom = low + (middle << 32), carry = <i64>(<u64>bottom < <u64>low);
  const top = ah * bh + (middle >>> 32) + carry; // below 2^42
  const position = exponentOf(x) + exponentOf(y) - LOWEST_EXPONENT, p = digit(position >> 5), s = <i64>(position & 31);
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

@inline function exponentOf(x: f64): i32 {
  const field = <i32>(reinterpret<i64>(x) >>> 52) & 0x7ff;
  return (field == 0 ? 1 : field) - 1075;
}
// |x| / 2^exponentOf(x): an integer below 2^53.
@inline function significandOf(x: f64): i64 {
  const bits = reinterpret<i64>(x);
  return (bits & 0xfffffffffffff) | (<i64>((bits & 0x7ff0000000000000) != 0) << 52);
}

// Run the carries: digits 0 to 134 end in [0, 2^32), the last one keeps the sign.
export function normalize(): void {
  let carry: i64 = 0;
  for (let i = 0; i < DIGIT_COUNT - 1; ++i) {
    const v = load<i64>(digit(i)) + carry;
    store<i64>(digit(i), v & 0xffffffff);
    carry = v >> 32;
  }
  const top = digit(DIGIT_COUNT - 1);
  store<i64>(top, load<i64>(top) + carry);
}
