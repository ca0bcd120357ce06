// Windows: fixed-point numbers of seven words in registers, which are consecutive digits of the superaccumulator. A window moves up when a
// larger term arrives, so one pass over the terms is enough, and what is cut off at its lower end has a bound. Composed after words.wgsl.
//
// A lane adds its terms to a window of its own, or in long loops to limbs (limbs.wgsl), which are faster. A term is a significand shifted by
// at most 31 bits: below 2^(106 + 31) for a product, from digit q on. It is added at word 0 or 1, so it is below 2^169 in units of word 0. A
// window that holds the sum of n < 2^22 products stays below 2^191: the loop needs six words, and extend() makes the seventh of their
// sign. Up to 2^32 such windows have a sum below 2^223, which fits seven words with a sign.
//
// What is lost, in units of the window's last digit: a term that reaches below the window is cut towards zero and loses less than one
// unit. A window that moves up loses less than one unit of its new last digit; since every move is by at least one digit, all moves of a
// window lose less than 1 + 2^-32 + 2^-64 + ... < 2 units of its final one. Adding a window to another moves one of them once. So n
// terms in L lanes, added together by L - 1 additions, lose less than n + 3 L units of the last digit of the result, and nothing at all
// if no bit that was cut off was set: then `cut` is 0 and the window is exact.
struct Window {
  w: array<u32, 7>,
  digit: i32, // of word 0
  cut: u32,   // the union of all words that were cut off
  special: u32,
}

// The digit of an empty window: below all others.
const EMPTY = -1024;

fn emptyWindow() -> Window {
  var a: Window;
  a.digit = EMPTY;
  return a;
}

fn signWord(w: u32) -> u32 { return 0u - (w >> 31u); }

// The seventh word of a window in the hot loop.
fn extend(a: ptr<function, Window>) { (*a).w[6] = signWord((*a).w[5]); }

// Move up, by at least one digit.
fn moveUp(a: ptr<function, Window>, digit: i32) {
  let fill = signWord((*a).w[6]);
  if (!isZeroWindow(a)) {
    var left = min(digit - (*a).digit, 7);
    for (; left > 0; left--) {
      (*a).cut |= (*a).w[0];
      (*a).w[0] = (*a).w[1];
      (*a).w[1] = (*a).w[2];
      (*a).w[2] = (*a).w[3];
      (*a).w[3] = (*a).w[4];
      (*a).w[4] = (*a).w[5];
      (*a).w[5] = (*a).w[6];
      (*a).w[6] = fill;
    }
  }
  (*a).digit = digit;
}

// Move down towards this digit, as far as the value stays below 2^191 units. Not where bits were cut off: n + 3 L counts units of the last
// digit.
fn moveDown(a: ptr<function, Window>, digit: i32) {
  for (var i = 0; i < 5; i++) {
    let fill = signWord((*a).w[4]);
    if ((*a).digit <= digit || (*a).w[5] != fill || (*a).w[6] != fill || (*a).cut != 0u) { return; }
    (*a).w[5] = (*a).w[4];
    (*a).w[4] = (*a).w[3];
    (*a).w[3] = (*a).w[2];
    (*a).w[2] = (*a).w[1];
    (*a).w[1] = (*a).w[0];
    (*a).w[0] = 0u;
    (*a).digit--;
  }
}

fn isZeroWindow(a: ptr<function, Window>) -> bool {
  return ((*a).w[0] | (*a).w[1] | (*a).w[2] | (*a).w[3] | (*a).w[4] | (*a).w[5] | (*a).w[6]) == 0u;
}

// a += b. Where they do not begin at the same digit, the upper one moves down if it can; then the lower one moves up.
fn addWindow(a: ptr<function, Window>, b: ptr<function, Window>) {
  (*a).special |= (*b).special;
  if (isZeroWindow(b) && (*b).cut == 0u) { return; }
  if (isZeroWindow(a) && (*a).cut == 0u) {
    (*a).w = (*b).w;
    (*a).digit = (*b).digit;
    (*a).cut = (*b).cut;
    return;
  }
  moveDown(a, (*b).digit);
  moveDown(b, (*a).digit);
  if ((*b).digit > (*a).digit) { moveUp(a, (*b).digit); }
  if ((*b).digit < (*a).digit) { moveUp(b, (*a).digit); }
  (*a).cut |= (*b).cut;
  addWords(a, (*b).w);
}

// The sum of two words and a carry, and its carry.
fn addCarry(a: u32, b: u32, carry: u32) -> vec2<u32> {
  let s = a + b;
  let t = s + carry;
  return vec2<u32>(t, u32(s < b) + u32(t < s));
}

// Not a loop: an index that is not constant would keep windows out of registers.
fn addWords(a: ptr<function, Window>, b: array<u32, 7>) {
  let s0 = addCarry((*a).w[0], b[0], 0u);
  let s1 = addCarry((*a).w[1], b[1], s0.y);
  let s2 = addCarry((*a).w[2], b[2], s1.y);
  let s3 = addCarry((*a).w[3], b[3], s2.y);
  let s4 = addCarry((*a).w[4], b[4], s3.y);
  let s5 = addCarry((*a).w[5], b[5], s4.y);
  let s6 = addCarry((*a).w[6], b[6], s5.y);
  (*a).w = array<u32, 7>(s0.x, s1.x, s2.x, s3.x, s4.x, s5.x, s6.x);
}

fn negateWindow(a: ptr<function, Window>) {
  let w = (*a).w;
  (*a).w = array<u32, 7>(~w[0], ~w[1], ~w[2], ~w[3], ~w[4], ~w[5], ~w[6]);
  addWords(a, array<u32, 7>(1u, 0u, 0u, 0u, 0u, 0u, 0u));
}

// A term as a window.
fn windowOf(t: Term) -> Window {
  var a: Window;
  for (var i = 0; i < 6; i++) { a.w[i] = t.words[i]; }
  a.digit = select(t.digit, EMPTY, (t.words[0] | t.words[1] | t.words[2] | t.words[3] | t.words[4] | t.words[5]) == 0u);
  a.special = t.special;
  if (t.negative != 0u) { negateWindow(&a); }
  return a;
}

fn addTerm(a: ptr<function, Window>, t: Term) {
  var b = windowOf(t);
  addWindow(a, &b);
}

// Add a second term to a window that has only one, exactly for every rounding: what is cut off makes the last bit 1.
//   The upper of the two windows moves down as far as its value stays below 2^191, so if the lower one does not begin at the same digit
//   then, the upper has at least 160 bits and far more zeros at its end than one. The lower one is cut to the integer below it. Between
//   two even numbers of units is no midpoint of a format, so an odd number may stand for everything between them.
fn addExactly(a: ptr<function, Window>, t: Term) {
  addTerm(a, t);
  (*a).w[0] |= u32((*a).cut != 0u);
}

// Bring the words t of a term and the window together: the term then begins at word 0 or 1. For zeros and for terms that are not finite, t
// becomes 0. The hot loops below call it for the few terms that do not fit as they are.
fn fit(a: ptr<function, Window>, t: ptr<function, array<u32, 5>>, digit: i32) -> i32 {
  if (((*t)[0] | (*t)[1] | (*t)[2] | (*t)[3] | (*t)[4]) == 0u) { return 0; }
  if (digit > (*a).digit + 1) { moveUp(a, digit - 1); }
  var o = digit - (*a).digit;
  for (var i = 0; i < 5 && o < 0; i++) {
    (*a).cut |= (*t)[0];
    (*t)[0] = (*t)[1];
    (*t)[1] = (*t)[2];
    (*t)[2] = (*t)[3];
    (*t)[3] = (*t)[4];
    (*t)[4] = 0u;
    o++;
  }
  return max(o, 0);
}

// a += x y, with the sign changed if `flip` is 0x80000000. Six words: at most 2^22 times, then extend().
fn addProduct(a: ptr<function, Window>, x: vec2<u32>, y: vec2<u32>, flip: u32) {
  let ex = fieldOf(x);
  let ey = fieldOf(y);
  let p = productOf(significandOf(x), significandOf(y));
  let position = max(ex, 1u) + max(ey, 1u) + 1146u; // 3296 - 2 * 1075
  let r = position & 31u;
  let l = 31u - r;
  let digit = i32(position >> 5u);
  let negative = x.y ^ y.y ^ flip;
  var t = array<u32, 5>(p.x << r, (p.y << r) | ((p.x >> 1u) >> l), (p.z << r) | ((p.y >> 1u) >> l), (p.w << r) | ((p.z >> 1u) >> l), (p.w >> 1u) >> l);
  var o = digit - (*a).digit;
  if (u32(o) > 1u || max(ex, ey) == 0x7ffu) {
    if (max(ex, ey) == 0x7ffu) {
      (*a).special |= specialBits(isNaN(x) || isNaN(y) || isZero(x) || isZero(y), negative >> 31u);
      t = array<u32, 5>();
    }
    extend(a);
    o = fit(a, &t, digit);
  }
  let far = o == 1;
  let m = signWord(negative);
  let t0 = select(t[0], 0u, far) ^ m;
  let t1 = select(t[1], t[0], far) ^ m;
  let t2 = select(t[2], t[1], far) ^ m;
  let t3 = select(t[3], t[2], far) ^ m;
  let t4 = select(t[4], t[3], far) ^ m;
  let t5 = select(0u, t[4], far) ^ m;
  let s0 = addCarry((*a).w[0], t0, m & 1u);
  let s1 = addCarry((*a).w[1], t1, s0.y);
  let s2 = addCarry((*a).w[2], t2, s1.y);
  let s3 = addCarry((*a).w[3], t3, s2.y);
  let s4 = addCarry((*a).w[4], t4, s3.y);
  (*a).w[0] = s0.x;
  (*a).w[1] = s1.x;
  (*a).w[2] = s2.x;
  (*a).w[3] = s3.x;
  (*a).w[4] = s4.x;
  (*a).w[5] += t5 + s4.y;
}

// The exact stage: a window that stays where it is takes exactly those bits of a term that lie in its six lowest words; the seventh is for
// carries. Returns one more than the highest digit below the window in which the term has bits, or EMPTY. Passes with windows one below the
// other, until nothing is below, add every bit of every term once.
fn addInside(a: ptr<function, Window>, t: Term) -> i32 {
  (*a).special |= t.special;
  let o = t.digit - (*a).digit;
  var below = EMPTY;
  var b: Window;
  for (var i = 0; i < 6; i++) {
    let to = o + i;
    if (to < 0 && t.words[i] != 0u) { below = t.digit + i + 1; }
    if (to >= 0 && to < 6) { b.w[to] = t.words[i]; }
  }
  if (t.negative != 0u) { negateWindow(&b); }
  addWords(a, b.w);
  return below;
}

// One more than the highest digit in which a term has bits, or EMPTY.
fn endOf(t: Term) -> i32 {
  for (var i = 5; i >= 0; i--) { if (t.words[i] != 0u) { return t.digit + i + 1; } }
  return EMPTY;
}
