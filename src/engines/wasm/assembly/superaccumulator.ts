// The superaccumulator, the twin of exact/superaccumulator.ts: carry-save digits of radix 2^32.
// A deposit adds less than 2^32 to three digits, so 2^30 deposits fit before carries must run;
// every chunk of a stream ends with normalize(), long before that.
import { DIGITS, DIGIT_COUNT, LADDER, LOWEST_EXPONENT, SPECIAL } from "./layout";

@inline function digit(i: i32): usize { return DIGITS + (i << 3); }

export function clear(): void {
  memory.fill(DIGITS, 0, DIGIT_COUNT << 3);
  store<i32>(SPECIAL, 0);
  store<i32>(LADDER, 0);
}

// Add x * 2^shift, x finite.
@inline export function deposit(x: f64, shift: i32): void {
  if (x == 0) return; // its exponent field would point anywhere
  const bits = reinterpret<i64>(x);
  const field = <i32>(bits >>> 52) & 0x7ff;
  const significand = (bits & 0xfffffffffffff) | (<i64>(field != 0) << 52);
  // x is significand * 2^(max(field, 1) - 1075)
  const position = (field == 0 ? 1 : field) - 1075 + shift - LOWEST_EXPONENT;
  const p = digit(position >> 5), s = <i64>(position & 31);
  const low = significand << s, high = s == 0 ? 0 : significand >>> (64 - s);
  const sign = bits >> 63; // 0 or -1
  store<i64>(p, load<i64>(p) + (((low & 0xffffffff) ^ sign) - sign));
  store<i64>(p + 8, load<i64>(p + 8) + (((low >>> 32) ^ sign) - sign));
  store<i64>(p + 16, load<i64>(p + 16) + ((high ^ sign) - sign));
}

// Add one term, whatever it is.
export function addNumber(x: f64): void {
  if (x - x == 0) { deposit(x, 0); return; }
  store<i32>(SPECIAL, load<i32>(SPECIAL) | (x != x ? 1 : x > 0 ? 2 : 4));
}

// Add x * y exactly, over the whole range: TwoProd on integer significands, which neither underflows nor
// overflows, then two deposits. Scalar code has no fused multiply-add in WebAssembly: Dekker's product.
export function addProduct(x: f64, y: f64): void {
  const t = x * y;
  if (!(x - x == 0 && y - y == 0)) { addNumber(t); return; }
  if (x == 0 || y == 0) return;
  const a = significandOf(x), b = significandOf(y), shift = exponentOf(x) + exponentOf(y);
  const p = a * b;
  const ah = head(a), bh = head(b), al = a - ah, bl = b - bh;
  const e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  deposit(p, shift);
  deposit(e, shift);
}

@inline function exponentOf(x: f64): i32 {
  const field = <i32>(reinterpret<i64>(x) >>> 52) & 0x7ff;
  return (field == 0 ? 1 : field) - 1075;
}
// x / 2^exponentOf(x): an integer below 2^53.
@inline function significandOf(x: f64): f64 {
  const bits = reinterpret<i64>(x), field = bits >>> 52 & 0x7ff;
  const m = <f64>((bits & 0xfffffffffffff) | (<i64>(field != 0) << 52));
  return bits < 0 ? -m : m;
}
@inline function head(x: f64): f64 { const c = 134217729.0 * x; return c - (c - x); }

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
