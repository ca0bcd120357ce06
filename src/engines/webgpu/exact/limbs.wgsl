// Windows of limbs, for loops over many terms: like the windows of window.wgsl, but of seven limbs of 28 bits in 32, so that adding a term needs no
// carries, and 14-bit pieces of products are limbs already. About 100 operations a product instead of 140. windowOfLimbs() turns one into
// a window at the end. Composed after window.wgsl.
//
// A term is a significand shifted by at most 27 bits, from limb q on: a product has 133 bits, five limbs, and is added at limb 0 or 1. A limb
// is below 2^28 after its carries have been taken, and seven more terms leave it within 7 2^28 + 2^28 = 2^31. All terms of a lane are
// below 2^161 in units of limb 0, so 2^32 of them stay below 2^193, and the last limb within 2^25.
//
// A lane loses what window.wgsl says, n + 2 units of its limb 0. A window whose bits were cut off is made to begin at the next digit above
// limb 0, which loses less than one unit of that digit. So n terms in L lanes lose less than n + 4 L units of the sum's last digit.
struct Limbs {
  l: array<i32, 7>,
  digit: i32, // of limb 0: it is worth 2^(28 digit - 3296)
  room: u32,  // terms until carries must be taken
  cut: u32,
  special: u32,
}
const LIMB = 0xfffffffu;
const ROOM = 7u;

fn emptyLimbs() -> Limbs {
  var a: Limbs;
  a.digit = EMPTY;
  a.room = ROOM;
  return a;
}

fn takeCarries(a: ptr<function, Limbs>) {
  let l0 = (*a).l[0];
  let l1 = (*a).l[1] + (l0 >> 28u);
  let l2 = (*a).l[2] + (l1 >> 28u);
  let l3 = (*a).l[3] + (l2 >> 28u);
  let l4 = (*a).l[4] + (l3 >> 28u);
  let l5 = (*a).l[5] + (l4 >> 28u);
  let m = i32(LIMB);
  (*a).l = array<i32, 7>(l0 & m, l1 & m, l2 & m, l3 & m, l4 & m, l5 & m, (*a).l[6] + (l5 >> 28u));
  (*a).room = ROOM;
}

// Bring the limbs t of a term and those of the window together: see fit() of window.wgsl.
fn fitLimbs(a: ptr<function, Limbs>, t: ptr<function, array<u32, 5>>, digit: i32) -> i32 {
  if (((*t)[0] | (*t)[1] | (*t)[2] | (*t)[3] | (*t)[4]) == 0u) { return 0; }
  if (digit > (*a).digit + 1) {
    var left = min(digit - 1 - (*a).digit, 8);
    for (; left > 0; left--) {
      (*a).cut |= u32((*a).l[0]);
      (*a).l = array<i32, 7>((*a).l[1], (*a).l[2], (*a).l[3], (*a).l[4], (*a).l[5], (*a).l[6] & i32(LIMB), (*a).l[6] >> 28u);
    }
    (*a).digit = digit - 1;
  }
  var o = digit - (*a).digit;
  for (var i = 0; i < 5 && o < 0; i++) {
    (*a).cut |= (*t)[0];
    *t = array<u32, 5>((*t)[1], (*t)[2], (*t)[3], (*t)[4], 0u);
    o++;
  }
  return max(o, 0);
}

// position / 28, for position < 5460: 2341 28 = 2^16 + 12.
fn limbAt(position: u32) -> u32 { return (position * 2341u) >> 16u; }

// a += x y, with the sign changed if `flip` is 0x80000000.
fn addProductLimbs(a: ptr<function, Limbs>, x: vec2<u32>, y: vec2<u32>, flip: u32) {
  let ex = fieldOf(x);
  let ey = fieldOf(y);
  let u = significandOf(x);
  let v = significandOf(y);
  // As in productOf() of words.wgsl.
  let a0 = u.x & 0x3fffu; let a1 = (u.x >> 14u) & 0x3fffu; let a2 = (u.x >> 28u) | ((u.y << 4u) & 0x3fffu); let a3 = u.y >> 10u;
  let b0 = v.x & 0x3fffu; let b1 = (v.x >> 14u) & 0x3fffu; let b2 = (v.x >> 28u) | ((v.y << 4u) & 0x3fffu); let b3 = v.y >> 10u;
  let s0 = a0 * b0;
  let s1 = a0 * b1 + a1 * b0 + (s0 >> 14u);
  let s2 = a0 * b2 + a1 * b1 + a2 * b0 + (s1 >> 14u);
  let s3 = a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0 + (s2 >> 14u);
  let s4 = a1 * b3 + a2 * b2 + a3 * b1 + (s3 >> 14u);
  let s5 = a2 * b3 + a3 * b2 + (s4 >> 14u);
  let p3 = a3 * b3 + (s5 >> 14u);
  let p0 = (s0 & 0x3fffu) + ((s1 & 0x3fffu) << 14u);
  let p1 = (s2 & 0x3fffu) + ((s3 & 0x3fffu) << 14u);
  let p2 = (s4 & 0x3fffu) + ((s5 & 0x3fffu) << 14u);
  let position = max(ex, 1u) + max(ey, 1u) + 1146u; // 3296 - 2 * 1075
  let q = limbAt(position);
  let r = position - 28u * q;
  let l = 28u - r;
  let negative = x.y ^ y.y ^ flip;
  var t = array<u32, 5>((p0 << r) & LIMB, ((p1 << r) & LIMB) | (p0 >> l), ((p2 << r) & LIMB) | (p1 >> l), ((p3 << r) & LIMB) | (p2 >> l), p3 >> l);
  var o = i32(q) - (*a).digit;
  (*a).room--;
  if (u32(o) > 1u || max(ex, ey) == 0x7ffu || (*a).room == 0u) {
    if (max(ex, ey) == 0x7ffu) {
      (*a).special |= specialBits(isNaN(x) || isNaN(y) || isZero(x) || isZero(y), negative >> 31u);
      t = array<u32, 5>();
    }
    takeCarries(a);
    o = fitLimbs(a, &t, i32(q));
  }
  let far = o == 1;
  let sign = (bitcast<i32>(negative) >> 31u) | 1;
  (*a).l[0] += i32(select(t[0], 0u, far)) * sign;
  (*a).l[1] += i32(select(t[1], t[0], far)) * sign;
  (*a).l[2] += i32(select(t[2], t[1], far)) * sign;
  (*a).l[3] += i32(select(t[3], t[2], far)) * sign;
  (*a).l[4] += i32(select(t[4], t[3], far)) * sign;
  (*a).l[5] += i32(select(0u, t[4], far)) * sign;
}

// a += x, with its sign changed if `flip` is 0x80000000.
fn addNumberLimbs(a: ptr<function, Limbs>, x: vec2<u32>, flip: u32) {
  let ex = fieldOf(x);
  let u = significandOf(x);
  let p0 = u.x & LIMB;
  let p1 = (u.x >> 28u) | (u.y << 4u);
  let position = max(ex, 1u) + 2221u; // 3296 - 1075
  let q = limbAt(position);
  let r = position - 28u * q;
  let l = 28u - r;
  let negative = x.y ^ flip;
  var t = array<u32, 5>((p0 << r) & LIMB, ((p1 << r) & LIMB) | (p0 >> l), p1 >> l, 0u, 0u);
  var o = i32(q) - (*a).digit;
  (*a).room--;
  if (u32(o) > 1u || ex == 0x7ffu || (*a).room == 0u) {
    if (ex == 0x7ffu) {
      (*a).special |= specialBits(isNaN(x), negative >> 31u);
      t = array<u32, 5>();
    }
    takeCarries(a);
    o = fitLimbs(a, &t, i32(q));
  }
  let far = o == 1;
  let sign = (bitcast<i32>(negative) >> 31u) | 1;
  (*a).l[0] += i32(select(t[0], 0u, far)) * sign;
  (*a).l[1] += i32(select(t[1], t[0], far)) * sign;
  (*a).l[2] += i32(select(t[2], t[1], far)) * sign;
  (*a).l[3] += i32(select(0u, t[2], far)) * sign;
}

// The digit above all terms: they begin at limb 0 or 1, and have at most 133 bits.
fn endOfLimbs(a: ptr<function, Limbs>) -> i32 {
  return select(((28 * (*a).digit + 161) >> 5u) + 1, EMPTY, (*a).digit == EMPTY);
}

fn windowOfLimbs(a: ptr<function, Limbs>) -> Window {
  takeCarries(a);
  let k = (*a).l;
  let w0 = u32(k[0]) | (u32(k[1]) << 28u);
  let w1 = (u32(k[1]) >> 4u) | (u32(k[2]) << 24u);
  let w2 = (u32(k[2]) >> 8u) | (u32(k[3]) << 20u);
  let w3 = (u32(k[3]) >> 12u) | (u32(k[4]) << 16u);
  let w4 = (u32(k[4]) >> 16u) | (u32(k[5]) << 12u);
  let w5 = (u32(k[5]) >> 20u) | (bitcast<u32>(k[6]) << 8u);
  let w6 = bitcast<u32>(k[6] >> 24u);
  let position = 28 * (*a).digit;
  let r = u32(position & 31);
  let l = 31u - r;
  var b: Window;
  b.w = array<u32, 7>(w0 << r, (w1 << r) | ((w0 >> 1u) >> l), (w2 << r) | ((w1 >> 1u) >> l), (w3 << r) | ((w2 >> 1u) >> l),
                      (w4 << r) | ((w3 >> 1u) >> l), (w5 << r) | ((w4 >> 1u) >> l), (w6 << r) | ((w5 >> 1u) >> l));
  b.digit = position >> 5u;
  b.cut = (*a).cut;
  b.special = (*a).special;
  if ((*a).digit == EMPTY) { b.digit = EMPTY; }
  if (b.cut != 0u && r != 0u) { moveUp(&b, b.digit + 1); }
  return b;
}
