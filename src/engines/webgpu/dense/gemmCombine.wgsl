// Entries of C from their residues, launched by gemmResidues.ts: what is not proved is listed, and the entry stays as it was.
//
// The residues y_l are the coefficients of cofactors Q_l: sum y_l Q_l = S + q P for the integer S of gemmResidues.wgsl, P = m_l Q_l and an
// integer q. q is the sum of all y_l / m_l, rounded: S / P is below 1/4 in magnitude, and the sum of up to 22 numbers
// y_l floor(2^24 / m_l) is less than 22 * 255 below 2^24 times that: 2^-11. Both sums below have fewer than 22 * 2^24 < 2^29.
struct Args {
  alpha: vec2<u32>,
  beta: vec2<u32>,
  cOffset: u32, cRow: u32,
  M: u32, N: u32,
  moduli: u32,
  pitch: u32, // words of a row of T
  rows: u32,  // of T in memory
  row: u32, col: u32, // the lines of `rowEnds` and `colEnds` that are line 0 here
  rowBits: u32, colBits: u32,
}
@group(0) @binding(0) var<storage, read> T: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<u32>;
@group(0) @binding(2) var<storage, read_write> C: array<REAL>;
@group(0) @binding(3) var<storage, read> rowEnds: array<u32>; // see gemmMeasure.wgsl
@group(0) @binding(4) var<storage, read> colEnds: array<u32>;
@group(0) @binding(5) var<storage, read> rowCuts: array<u32>;
@group(0) @binding(6) var<storage, read> colCuts: array<u32>;
@group(0) @binding(7) var<storage, read_write> list: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> args: Args;

const HALVES = 12; // of 16 bits: P < 2^168, and all are there for the sign

// S of an entry, as words.
fn integerAt(i: u32, j: u32) -> array<u32, 7> {
  var sums: array<u32, HALVES>;
  var quotient = 0u;
  for (var l = 0u; l < args.moduli; l++) {
    let y = (T[(l * args.rows + i) * args.pitch + j / 4u] >> (8u * (j & 3u))) & 255u;
    let record = l * RECORD;
    for (var h = 0u; h < u32(HALVES); h++) { sums[h] += y * ((table[record + COFACTOR + h / 2u] >> (16u * (h & 1u))) & 0xffffu); }
    quotient += y * (table[record + RECIPROCAL] >> 8u);
  }
  let q = i32((quotient + (1u << 23u)) >> 24u);
  let product = args.moduli * RECORD + COFACTOR;
  var s: array<u32, 7>;
  var carry = 0;
  for (var h = 0u; h < u32(HALVES); h++) {
    carry += i32(sums[h]) - q * i32((table[product + h / 2u] >> (16u * (h & 1u))) & 0xffffu);
    s[h / 2u] |= u32(carry & 0xffff) << (16u * (h & 1u));
    carry >>= 16u;
  }
  s[6] = u32(carry); // 0 or -1
  return s;
}

// The sum is off by at most size 2^at units of digit 0, before it was multiplied by alpha; size <= 2^17.
//   Of alpha the 12 leading bits, rounded up. Then a loss of up to 2^31 units of a digit: where `size` has no room to be shifted, rounded
//   up to units of the digit above, of which it has at least a half. Losses of different digits: at most 2^31 units of the lower one are
//   less than one of the upper.
fn loseCuts(s: ptr<function, Sum>, given: u32, at: i32, alpha: vec2<u32>) {
  if (given == 0u) { return; }
  var size = given;
  var position = at;
  if (!isOne(alpha)) {
    let m = significandOf(alpha);
    let length = select(32u - countLeadingZeros(m.x), 64u - countLeadingZeros(m.y), m.y != 0u);
    let drop = max(length, 12u) - 12u;
    var top = m.x;
    if (drop >= 32u) { top = m.y >> (drop - 32u); } else if (drop > 0u) { top = (m.x >> drop) | (m.y << (32u - drop)); }
    size *= top + u32(drop > 0u);
    position += exponentOf(alpha) + i32(drop);
  }
  let r = u32(position & 31);
  var digit = position >> 5u;
  var loss = size << r;
  if ((size >> (31u - r)) != 0u) {
    loss = (size >> (32u - r)) + 1u;
    digit++;
  }
  if ((*s).loss == 0u || (*s).lossDigit < digit) {
    (*s).loss = loss + u32((*s).loss != 0u);
    (*s).lossDigit = digit;
  } else {
    (*s).loss += select(1u, loss, (*s).lossDigit == digit);
  }
}

@compute @workgroup_size(GROUP)
fn combine(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.y;
  let j = group.x * u32(GROUP) + lane;
  if (j >= args.N) { return; }
  var v = integerAt(i, j);
  // S is in units of 2^position, from digit 0 on.
  let position = i32(rowEnds[2u * (args.row + i)] + colEnds[2u * (args.col + j)]) - 2150 - LOWEST_EXPONENT - i32(args.rowBits + args.colBits);
  let r = u32(position & 31);
  var a: Window;
  a.w[0] = v[0] << r;
  for (var k = 1; k < 7; k++) { a.w[k] = (v[k] << r) | ((v[k - 1] >> 1u) >> (31u - r)); }
  a.digit = position >> 5u;
  var s = Sum(a, 0u, 0);
  scaleSum(&s, args.alpha);
  let rowCut = rowCuts[i];
  let colCut = colCuts[j];
  loseCuts(&s, rowCut + colCut, position - 1 + i32(max(select(0u, args.colBits, rowCut != 0u), select(0u, args.rowBits, colCut != 0u))), args.alpha);
  let at = args.cOffset + i * args.cRow + j;
  var old = vec2<u32>();
  if (!isZero(args.beta)) { old = numberOf(C[at]); }
  let entry = finished(s, args.beta, old);
  if (entry.proved) {
    C[at] = realOf(entry.bits);
  } else {
    atomicStore(&list[1u + atomicAdd(&list[0], 1u)], i * args.N + j);
  }
}
