// From windows to rounded numbers: sums, multiples of sums, quotients and the roundings of extrsv, to nearest, as docs/spec.md defines them.
// A result is proved if both ends of the interval in which the exact value lies round to the same bits. Composed after window.wgsl.

// A sum that is within `loss` units of digit `lossDigit` of its window. `loss` is at most 2^31.
struct Sum {
  window: Window,
  loss: u32,
  lossDigit: i32,
}

// A number as its words (binary32: its bits and 0), and whether it is proved.
struct Result {
  bits: vec2<u32>,
  proved: bool,
}

// The sum in a window to which terms and windows were added: if bits were cut off it is off by at most `loss` units (see window.wgsl).
fn sumOf(window: Window, loss: u32) -> Sum {
  return Sum(window, select(0u, loss, window.cut != 0u), window.digit);
}

// Add a term. Moving a window up loses less than a unit of its last digit. An earlier loss, of at most 2^31 units of a digit below that, is
// less than one such unit.
fn addToSum(s: ptr<function, Sum>, t: Term) {
  var window = (*s).window;
  window.cut = 0u;
  addTerm(&window, t);
  (*s).window = window;
  if (window.cut != 0u) { loseUnit(s); }
}

fn loseUnit(s: ptr<function, Sum>) {
  let digit = (*s).window.digit;
  if ((*s).loss == 0u || (*s).lossDigit < digit) {
    (*s).loss = 1u + u32((*s).loss != 0u);
    (*s).lossDigit = digit;
  } else {
    (*s).loss += 1u;
  }
}

// s := alpha s for a finite alpha that is not 0. The magnitude, below 2^223, times a 53-bit significand, shifted, has at most ten words; the
// upper six that are not 0 are kept. A loss of `loss` units becomes less than loss 2^(53 + 31) units of the product's last digit.
fn scaleSum(s: ptr<function, Sum>, alpha: vec2<u32>) {
  if (isOne(alpha)) { return; }
  var window = (*s).window;
  let negative = (window.w[6] >> 31u) != 0u;
  if (negative) { negateWindow(&window); }
  let m = significandOf(alpha);
  var p: array<u32, 10>;
  for (var i = 0; i < 7; i++) {
    var carry = 0u;
    for (var k = 0; k < 2; k++) {
      // p + a b + carry < 2^64
      let ab = wideProduct(window.w[i], m[k]);
      let one = p[i + k] + ab.x;
      let two = one + carry;
      p[i + k] = two;
      carry = ab.y + u32(one < ab.x) + u32(two < one);
    }
    p[i + 2] = carry; // nothing has been added there yet
  }
  let position = 32 * window.digit + exponentOf(alpha);
  let r = u32(position & 31);
  let l = 31u - r;
  for (var i = 9; i > 0; i--) { p[i] = (p[i] << r) | ((p[i - 1] >> 1u) >> l); }
  p[0] <<= r;
  var digit = position >> 5u;
  if ((*s).loss != 0u) {
    let few = (*s).loss < 2048u;
    (*s).loss = select(((*s).loss >> 12u) + 1u, (*s).loss << 20u, few);
    (*s).lossDigit = digit + (*s).lossDigit - window.digit + select(3, 2, few);
  }
  var used = 10;
  for (; used > 0 && p[used - 1] == 0u; used--) {}
  let drop = max(0, used - 6);
  var cut = 0u;
  for (var i = 0; i < drop; i++) { cut |= p[i]; }
  var b: Window;
  for (var i = 0; i < 6; i++) { b.w[i] = p[min(i + drop, 9)]; }
  for (var i = used - drop; i < 6; i++) { b.w[i] = 0u; }
  digit += drop;
  b.digit = digit;
  b.special = window.special;
  if ((alpha.y >> 31u) != 0u) { b.special = (b.special & IS_NAN) | ((b.special & IS_PLUS) << 1u) | ((b.special & IS_MINUS) >> 1u); }
  if (negative != ((alpha.y >> 31u) != 0u)) { negateWindow(&b); }
  (*s).window = b;
  if (cut != 0u) { loseUnit(s); }
}

// The 128 leading bits of a magnitude, the first of them set unless it is 0, and whether any bit below them is set. `exponent` is that of the
// last of the 128 bits; v.w is the highest word.
struct Leading {
  v: vec4<u32>,
  sticky: bool,
  exponent: i32,
  negative: bool,
}

fn leadingOf(given: Window) -> Leading {
  var a = given;
  let negative = (a.w[6] >> 31u) != 0u;
  if (negative) { negateWindow(&a); }
  var top = 6;
  for (; top > 0 && a.w[6] == 0u; top--) {
    a.w[6] = a.w[5];
    a.w[5] = a.w[4];
    a.w[4] = a.w[3];
    a.w[3] = a.w[2];
    a.w[2] = a.w[1];
    a.w[1] = a.w[0];
    a.w[0] = 0u;
  }
  let s = countLeadingZeros(a.w[6]) & 31u;
  let l = 31u - s;
  let v = vec4<u32>((a.w[3] << s) | ((a.w[2] >> 1u) >> l), (a.w[4] << s) | ((a.w[3] >> 1u) >> l), (a.w[5] << s) | ((a.w[4] >> 1u) >> l),
                    (a.w[6] << s) | ((a.w[5] >> 1u) >> l));
  return Leading(v, ((a.w[2] << s) | a.w[1] | a.w[0]) != 0u, 32 * (a.digit + top - 3) + LOWEST_EXPONENT - i32(s), negative);
}

// (high 2^32 + low) 2^exponent, with the top bit set, plus less than one unit if `sticky`, rounded to nearest. Twin: roundWords() of
// src/exact/rounding.ts.
fn roundWords(negative: bool, high: u32, low: u32, sticky: bool, exponent: i32, single: bool) -> vec2<u32> {
  let top = exponent + 63;
  let emin = select(-1022, -126, single);
  let sign = select(0u, 0x80000000u, negative);
  if (top > select(1023, 127, single)) { return infinity(negative, single); }
  // The bits that are not kept: at least 11, and all 64 of a magnitude far below the smallest subnormal.
  let shift = u32(min(select(11, 40, single) + max(emin - top, 0), 66));
  var kept = vec2<u32>(0u, 0u);
  var half_ = false;
  var rest = sticky;
  if (shift < 32u) {
    kept = vec2<u32>((low >> shift) | (high << (32u - shift)), high >> shift);
    half_ = ((low >> (shift - 1u)) & 1u) != 0u;
    rest = rest || (low & ((1u << (shift - 1u)) - 1u)) != 0u;
  } else if (shift == 32u) {
    kept = vec2<u32>(high, 0u);
    half_ = (low >> 31u) != 0u;
    rest = rest || (low << 1u) != 0u;
  } else if (shift <= 64u) {
    kept = vec2<u32>((high >> 1u) >> (shift - 33u), 0u);
    half_ = ((high >> (shift - 33u)) & 1u) != 0u;
    rest = rest || low != 0u || (high & ((1u << (shift - 33u)) - 1u)) != 0u;
  } else {
    rest = true;
  }
  if (half_ && (rest || (kept.x & 1u) != 0u)) {
    kept.x += 1u;
    kept.y += u32(kept.x == 0u);
  }
  // The hidden bit adds one to the exponent field, and so does a carry out of the significand.
  let field = u32(max(top - emin, 0));
  if (single) {
    return vec2<u32>(sign | (kept.x + (field << 23u)), 0u); // a carry past the largest number makes the bits of infinity
  }
  return vec2<u32>(kept.x, sign | (kept.y + (field << 20u)));
}

fn infinity(negative: bool, single: bool) -> vec2<u32> {
  let sign = select(0u, 0x80000000u, negative);
  return select(vec2<u32>(0u, sign | 0x7ff00000u), vec2<u32>(sign | 0x7f800000u, 0u), single);
}

fn notANumber(single: bool) -> vec2<u32> { return select(vec2<u32>(0u, 0x7ff80000u), vec2<u32>(0x7fc00000u, 0u), single); }

fn resultOfSpecial(special: u32, single: bool) -> vec2<u32> {
  if ((special & IS_NAN) != 0u || (special & (IS_PLUS | IS_MINUS)) == (IS_PLUS | IS_MINUS)) { return notANumber(single); }
  return infinity((special & IS_MINUS) != 0u, single);
}

// A result in the other form: binary64.
fn resultAsNumber(bits: vec2<u32>, single: bool) -> vec2<u32> {
  if (single) { return widened(bits.x); }
  return bits;
}

// The lower or the upper end of the interval.
fn endOfSum(s: ptr<function, Sum>, upper: bool) -> Window {
  var window = (*s).window;
  if ((*s).loss == 0u) { return window; }
  var b: Window;
  let at = (*s).lossDigit - window.digit;
  if (at < 0) { b.w[0] = 1u; } else { b.w[min(at, 6)] = (*s).loss; }
  b.digit = window.digit;
  if (!upper) { negateWindow(&b); }
  addWindow(&window, &b);
  return window;
}

// An interval that a window of seven words cannot hold proves nothing.
fn isTooWide(s: ptr<function, Sum>) -> bool { return (*s).loss != 0u && (*s).lossDigit - (*s).window.digit > 5; }

// n / m for the 128 bits of n and an m of 64 bits, both with their top bits set: the first 64 bits of the quotient, of 64 or 65, in the
// upper words. What is left is sticky.
fn divideLeading(n: Leading, m: vec2<u32>) -> Leading {
  // The remainder r < m; bits of n enter it from the right. The first 64 bits of n are less than 2 m.
  var r = vec2<u32>(n.v.z, n.v.w);
  var q = vec2<u32>(0u, 0u);
  let long = r.y > m.y || (r.y == m.y && r.x >= m.x); // whether there is a 65th bit
  if (long) { r = vec2<u32>(r.x - m.x, r.y - m.y - u32(r.x < m.x)); }
  var below = vec2<u32>(n.v.x, n.v.y);
  for (var i = 0; i < 64; i++) {
    let carry = r.y >> 31u;
    r = vec2<u32>((r.x << 1u) | (below.y >> 31u), (r.y << 1u) | (r.x >> 31u));
    below = vec2<u32>(below.x << 1u, (below.y << 1u) | (below.x >> 31u));
    let fits = carry != 0u || r.y > m.y || (r.y == m.y && r.x >= m.x);
    if (fits) { r = vec2<u32>(r.x - m.x, r.y - m.y - u32(r.x < m.x)); }
    q = vec2<u32>((q.x << 1u) | u32(fits), (q.y << 1u) | (q.x >> 31u));
  }
  var sticky = n.sticky || (r.x | r.y) != 0u;
  if (long) {
    sticky = sticky || (q.x & 1u) != 0u;
    q = vec2<u32>((q.x >> 1u) | (q.y << 31u), (q.y >> 1u) | 0x80000000u);
  }
  return Leading(vec4<u32>(0u, 0u, q.x, q.y), sticky, n.exponent + i32(long), n.negative);
}

// A finite window, or its quotient by d, a finite number that is not zero, rounded once. Twin: Superaccumulator.round() and .quotient().
//   What is below the 128 leading bits makes the quotient larger by less than a unit of its 64th bit: it is sticky.
fn roundWindow(window: Window, d: vec2<u32>, divides: bool, single: bool) -> vec2<u32> {
  var a = window;
  if (isZeroWindow(&a)) { return vec2<u32>(0u, 0u); }
  var n = leadingOf(a);
  var exponent = n.exponent + 64;
  if (divides) {
    var m = significandOf(d);
    exponent = n.exponent - exponentOf(d);
    if (m.y == 0u) {
      m = vec2<u32>(0u, m.x);
      exponent += 32;
    }
    let s = countLeadingZeros(m.y) & 31u;
    m = vec2<u32>(m.x << s, (m.y << s) | ((m.x >> 1u) >> (31u - s)));
    let q = divideLeading(n, m);
    exponent += i32(s) + q.exponent - n.exponent;
    n = q;
    n.negative = n.negative != ((d.y >> 31u) != 0u);
  }
  return roundWords(n.negative, n.v.w, n.v.z, n.sticky || (n.v.x | n.v.y) != 0u, exponent, single);
}

// s, or s / d, rounded once, for d != 0. An exact zero has no sign: 0 / d and s / Inf are +0. Twin: quotient() of src/exact/substitution.ts.
fn roundQuotient(given: Sum, d: vec2<u32>, divides: bool, single: bool) -> Result {
  var s = given;
  let special = s.window.special;
  if (special != 0u) {
    let v = resultOfSpecial(special, single);
    let number = resultAsNumber(v, single);
    if (!divides || isNaN(number)) { return Result(v, true); }
    if (!isNumber(d)) { return Result(notANumber(single), true); }
    return Result(infinity(((number.y ^ d.y) >> 31u) != 0u, single), true);
  }
  if (divides && !isNumber(d)) { return Result(select(vec2<u32>(0u, 0u), notANumber(single), isNaN(d)), true); }
  if (isTooWide(&s)) { return Result(vec2<u32>(0u, 0u), false); }
  var ends: array<vec2<u32>, 2>;
  // A loop, so that the code is there once: shader compilers inline everything.
  for (var i = 0; i < 2; i++) {
    if (i == 1 && s.loss == 0u) { return Result(ends[0], true); }
    ends[i] = roundWindow(endOfSum(&s, i == 1), d, divides, single);
  }
  return Result(ends[0], all(ends[0] == ends[1]));
}

fn roundSum(s: Sum, single: bool) -> Result { return roundQuotient(s, vec2<u32>(0u, 0u), false, single); }

fn sumOfNumber(x: vec2<u32>) -> Sum { return Sum(windowOf(termOfNumber(x)), 0u, 0); }

const SINGLE_ROUNDING = 0u;
const PAPER = 1u;
const CORRECTED = 2u;

// An unknown of a triangular system from its numerator and its diagonal entry, which is not read if `unit`. Twin: unknown() of
// src/exact/substitution.ts. The steps are RN(s), RN(RN(s) / d), RN((s - RN(s)) / d) and the sum of the last two, which is always proved:
// bits are cut off only of numbers that are so far apart that an interval of one unit of the window contains no midpoint.
fn unknownOf(s: Sum, d: vec2<u32>, unit: bool, rounding: u32, single: bool) -> Result {
  var current = s;
  var first: vec2<u32>;
  var result: Result;
  for (var step = 0; step < 4; step++) {
    let once = rounding == SINGLE_ROUNDING || s.window.special != 0u;
    result = roundQuotient(current, d, !unit && (once || step == 1 || step == 2), single);
    if (once || !result.proved) { break; }
    let number = resultAsNumber(result.bits, single);
    if (step == 0 && !unit) {
      first = number;
      current = sumOfNumber(number);
      continue;
    }
    if (rounding == PAPER) { break; }
    // Without a division the first two steps are one.
    let rounded = select(first, number, step == 0);
    if (step < 2) {
      current = s;
      first = number;
      step = 1;
    } else {
      current = sumOfNumber(first);
    }
    addToSum(&current, termOfNumber(select(number, negated(rounded), step == 1)));
  }
  return result;
}
