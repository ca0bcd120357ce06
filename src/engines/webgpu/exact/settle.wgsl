// The exact stage: a work-group adds all terms of one sum exactly, window by window from the highest digit down, into the digits of a
// superaccumulator in workgroup memory. Composed after gather.wgsl and round.wgsl, before or after a function of the kernel:
//   fn termAt(k: u32) -> Term
// the k-th term of the sum that the group is working on.
const DIGITS = 204; // those of src/exact/superaccumulator.ts

var<workgroup> digits: array<u32, DIGITS>; // two's complement
var<workgroup> topOfTerms: atomic<i32>;
var<workgroup> specialOfTerms: atomic<u32>;
var<workgroup> nextTop: i32;

// The digit above all those that the lanes gave to topOfTerms, for all lanes.
fn takeTop(lane: u32) -> i32 {
  workgroupBarrier();
  if (lane == 0u) {
    nextTop = atomicLoad(&topOfTerms);
    atomicStore(&topOfTerms, EMPTY);
  }
  return workgroupUniformLoad(&nextTop);
}

// digits += a, whose digit is not negative. By one lane.
fn addToDigits(a: ptr<function, Window>) {
  let fill = signWord((*a).w[6]);
  var carry = 0u;
  for (var i = max((*a).digit, 0); i < DIGITS; i++) {
    let k = i - (*a).digit;
    let v = select(fill, (*a).w[min(k, 6)], k < 7);
    let s = digits[i] + v;
    let t = s + carry;
    carry = u32(s < v) + u32(t < s);
    digits[i] = t;
  }
}

// The sum of `count` terms, in `digits` and specialOfTerms. All lanes of the group must call it, with the same count. Every pass lies below
// the one before it, and its top is the highest digit that any term still has, so there are at most DIGITS / 6 + 1 passes.
fn sumTerms(lane: u32, count: u32) {
  for (var i = lane; i < u32(DIGITS); i += GROUP) { digits[i] = 0u; }
  if (lane == 0u) {
    atomicStore(&topOfTerms, EMPTY);
    atomicStore(&specialOfTerms, 0u);
  }
  workgroupBarrier();
  var end = EMPTY;
  var special = 0u;
  for (var k = lane; k < count; k += GROUP) {
    let t = termAt(k);
    end = max(end, endOf(t));
    special |= t.special;
  }
  atomicMax(&topOfTerms, end);
  atomicOr(&specialOfTerms, special);
  var top = takeTop(lane);
  for (; top > EMPTY; top = takeTop(lane)) {
    var a = emptyWindow();
    a.digit = max(top - 6, 0);
    end = EMPTY;
    for (var k = lane; k < count; k += GROUP) { end = max(end, addInside(&a, termAt(k))); }
    atomicMax(&topOfTerms, end);
    let digit = a.digit;
    gather(&a, lane, lane, GROUP, 1u);
    if (lane == 0u) {
      a.digit = max(a.digit, digit); // an empty sum has none
      addToDigits(&a);
    }
  }
}

// What is in `digits`, exactly enough for every rounding: the six leading digits, and one more bit for those below them. By one lane.
//   A rounding, a quotient included, is decided by a comparison with a midpoint times the divisor, of at most 54 + 53 bits. The six digits have
//   at least 161, so between two even numbers of units of the last one no such comparison changes: an odd number may stand for everything
//   between them.
fn leadingDigits() -> Window {
  var a = emptyWindow();
  a.special = atomicLoad(&specialOfTerms);
  let fill = signWord(digits[DIGITS - 1]);
  var top = DIGITS - 1;
  for (; top > 0 && digits[top] == fill; top--) {}
  a.digit = max(top - 5, 0);
  for (var i = 0; i < 7; i++) { a.w[i] = select(fill, digits[min(a.digit + i, DIGITS - 1)], a.digit + i <= top); }
  var below = 0u;
  for (var i = 0; i < a.digit; i++) { below |= digits[i]; }
  a.w[0] |= u32(below != 0u);
  return a;
}

// The unknown of extrsv with the numerator in `digits`: unknownOf() of round.wgsl, which has the steps. By one lane.
fn exactUnknown(d: vec2<u32>, unit: bool, rounding: u32, single: bool) -> vec2<u32> {
  var current = Sum(leadingDigits(), 0u, 0);
  let once = rounding == SINGLE_ROUNDING || current.window.special != 0u;
  var first: vec2<u32>;
  var bits: vec2<u32>;
  for (var step = 0; step < 4; step++) {
    bits = roundQuotient(current, d, !unit && (once || step == 1 || step == 2), single).bits;
    if (once) { break; }
    let number = resultAsNumber(bits, single);
    if (step == 0) {
      // The rest of the numerator.
      let rounded = termOfNumber(negated(number));
      var a = windowOf(rounded);
      addToDigits(&a);
      if (rounded.special != 0u) { atomicOr(&specialOfTerms, rounded.special); }
    }
    if (step == 0 && !unit) {
      current = sumOfNumber(number);
      continue;
    }
    if (rounding == PAPER) { break; }
    if (step < 2) {
      current = Sum(leadingDigits(), 0u, 0);
      first = number;
      step = 1;
    } else {
      current = sumOfNumber(first);
      addToSum(&current, termOfNumber(number));
    }
  }
  return bits;
}
