// Binary64 and binary32 numbers in 32-bit integer arithmetic, since WGSL promises nothing about floating point. A binary64 number is its two
// words, vec2(low, high); a binary32 number is widened to that exactly. Every kernel of the engine on WebGPU is composed with this file.

// Digits are those of the superaccumulator (src/exact/superaccumulator.ts): digit 0 is worth 2^-3296, and each is 2^32 times the one before.
const LOWEST_EXPONENT = -3296;

// What terms that are not finite make of a sum, as bits.
const IS_NAN = 1u;
const IS_PLUS = 2u;
const IS_MINUS = 4u;

// A binary32 number as a binary64 number.
fn widened(x: u32) -> vec2<u32> {
  let field = (x >> 23u) & 0xffu;
  var fraction = x & 0x7fffffu;
  var exponent = field + 896u;
  if (field == 0xffu) {
    exponent = 0x7ffu;
  } else if (field == 0u) {
    // fraction 2^-149, with its top bit moved to bit 23, which is not stored
    let up = countLeadingZeros(fraction) - 8u;
    exponent = select(897u - up, 0u, fraction == 0u);
    fraction = (fraction << (up & 31u)) & 0x7fffffu;
  }
  return vec2<u32>(fraction << 29u, (x & 0x80000000u) | (exponent << 20u) | (fraction >> 3u));
}

fn fieldOf(x: vec2<u32>) -> u32 { return (x.y >> 20u) & 0x7ffu; }
fn isNumber(x: vec2<u32>) -> bool { return fieldOf(x) != 0x7ffu; }
fn isZero(x: vec2<u32>) -> bool { return (x.x | (x.y << 1u)) == 0u; }
fn isNaN(x: vec2<u32>) -> bool { return !isNumber(x) && (x.x | (x.y << 12u)) != 0u; }
fn isOne(x: vec2<u32>) -> bool { return x.x == 0u && x.y == 0x3ff00000u; }
fn negated(x: vec2<u32>) -> vec2<u32> { return vec2<u32>(x.x, x.y ^ 0x80000000u); }

// A finite number is its significand times 2^exponentOf(x).
fn significandOf(x: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(x.x, (x.y & 0xfffffu) | select(0u, 0x100000u, fieldOf(x) != 0u));
}
fn exponentOf(x: vec2<u32>) -> i32 { return i32(max(fieldOf(x), 1u)) - 1075; }

// The product of two significands, in four words. The pieces have 14 bits, and no sum below exceeds four products and a carry: 2^31.
fn productOf(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  let a0 = a.x & 0x3fffu; let a1 = (a.x >> 14u) & 0x3fffu; let a2 = (a.x >> 28u) | ((a.y << 4u) & 0x3fffu); let a3 = a.y >> 10u;
  let b0 = b.x & 0x3fffu; let b1 = (b.x >> 14u) & 0x3fffu; let b2 = (b.x >> 28u) | ((b.y << 4u) & 0x3fffu); let b3 = b.y >> 10u;
  let s0 = a0 * b0;
  let s1 = a0 * b1 + a1 * b0 + (s0 >> 14u);
  let s2 = a0 * b2 + a1 * b1 + a2 * b0 + (s1 >> 14u);
  let s3 = a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 + (s2 >> 14u);
  let s4 = a1 * b3 + a2 * b2 + a3 * b1 + (s3 >> 14u);
  let s5 = a2 * b3 + a3 * b2 + (s4 >> 14u);
  let s6 = a3 * b3 + (s5 >> 14u);
  let d2 = s2 & 0x3fffu;
  let d4 = s4 & 0x3fffu;
  return vec4<u32>((s0 & 0x3fffu) | ((s1 & 0x3fffu) << 14u) | (d2 << 28u), (d2 >> 4u) | ((s3 & 0x3fffu) << 10u) | (d4 << 24u),
                   (d4 >> 8u) | ((s5 & 0x3fffu) << 6u) | (s6 << 20u), s6 >> 12u);
}

// a b, in two words.
fn wideProduct(a: u32, b: u32) -> vec2<u32> {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let one = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let other = (a & 0xffffu) * (b >> 16u) + (one & 0xffffu);
  return vec2<u32>((low & 0xffffu) | (other << 16u), (a >> 16u) * (b >> 16u) + (one >> 16u) + (other >> 16u));
}

// A term: a sign, and `words` times 2^(32 digit - 3296). It has at most 159 + 31 bits. Bits of `special` are set if it is not finite, and then
// all words are 0.
struct Term {
  words: array<u32, 6>,
  digit: i32,
  negative: u32,
  special: u32,
}

fn shiftedTerm(p: array<u32, 5>, exponent: i32, negative: u32) -> Term {
  let position = u32(exponent - LOWEST_EXPONENT);
  let r = position & 31u;
  let l = 31u - r;
  var t: Term;
  t.words[0] = p[0] << r;
  for (var i = 1; i < 5; i++) { t.words[i] = (p[i] << r) | ((p[i - 1] >> 1u) >> l); }
  t.words[5] = (p[4] >> 1u) >> l;
  t.digit = i32(position >> 5u);
  t.negative = negative;
  return t;
}

fn specialBits(isNotANumber: bool, negative: u32) -> u32 { return select(select(IS_PLUS, IS_MINUS, negative != 0u), IS_NAN, isNotANumber); }

fn termOfNumber(x: vec2<u32>) -> Term {
  let negative = x.y >> 31u;
  var t: Term;
  if (!isNumber(x)) {
    t.special = specialBits(isNaN(x), negative);
    return t;
  }
  let m = significandOf(x);
  return shiftedTerm(array<u32, 5>(m.x, m.y, 0u, 0u, 0u), exponentOf(x), negative);
}

// x y: not a number if a factor is not, or if an infinity meets a zero.
fn termOfProduct(x: vec2<u32>, y: vec2<u32>) -> Term {
  let negative = (x.y ^ y.y) >> 31u;
  var t: Term;
  if (!isNumber(x) || !isNumber(y)) {
    t.special = specialBits(isNaN(x) || isNaN(y) || isZero(x) || isZero(y), negative);
    return t;
  }
  let p = productOf(significandOf(x), significandOf(y));
  return shiftedTerm(array<u32, 5>(p.x, p.y, p.z, p.w, 0u), exponentOf(x) + exponentOf(y), negative);
}

// x y z.
fn termOfProducts(x: vec2<u32>, y: vec2<u32>, z: vec2<u32>) -> Term {
  let negative = (x.y ^ y.y ^ z.y) >> 31u;
  var t: Term;
  if (!isNumber(x) || !isNumber(y) || !isNumber(z)) {
    t.special = specialBits(isNaN(x) || isNaN(y) || isNaN(z) || isZero(x) || isZero(y) || isZero(z), negative);
    return t;
  }
  let p = productOf(significandOf(x), significandOf(y));
  let m = significandOf(z);
  var words: array<u32, 5>;
  for (var i = 0; i < 4; i++) {
    let one = wideProduct(p[i], m.x);
    let other = wideProduct(p[i], m.y);
    // words[i + 2] is still 0: it takes the carries.
    let w0 = words[i] + one.x;
    let w1 = words[i + 1] + one.y;
    let w2 = w1 + other.x;
    let w3 = w2 + u32(w0 < one.x);
    words[i] = w0;
    words[i + 1] = w3;
    if (i < 3) { words[i + 2] = other.y + u32(w1 < one.y) + u32(w2 < w1) + u32(w3 < w2); }
  }
  return shiftedTerm(words, exponentOf(x) + exponentOf(y) + exponentOf(z), negative);
}
