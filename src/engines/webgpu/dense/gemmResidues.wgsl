// Residues of the integers of a factor's lines, rows of A or columns of B, launched by gemmResidues.ts.
//
// A line whose numbers are below 2^e in magnitude becomes integers x' = RN(x 2^(b - e)), |x'| <= 2^b. Cutting costs at most 1/2 an entry,
// and nothing where the entry has no lower bits: `cuts` counts the others. In units of 2^(eA + eB - bA - bB) the product is the sum of
//   (a' + d)(b' + f) = a' b' + a' f + d (b' + f),   |a'| <= 2^bA, |b' + f| <= 2^bB, |d|, |f| <= 1/2,
// so the integer sum S of all a' b' is off by at most 2^(bA - 1) times the number of cut entries of B's line plus 2^(bB - 1) times that
// of A's. |S| <= K 2^(bA + bB), which moduli.ts keeps below a quarter of the product of the moduli.
struct Args {
  offset: u32, lineStep: u32, step: u32,
  first: u32, // the line of `measured` that is line 0 here
  lines: u32, n: u32,
  bits: u32,
  right: u32, // whether the weights are those of the right factor
  moduli: u32,
  pitch: u32, // lines in memory, beyond `lines` zeros
  words: u32, // of a line
}
@group(0) @binding(0) var<storage, read> M: array<REAL>;
@group(0) @binding(1) var<storage, read> measured: array<u32>; // see gemmMeasure.wgsl
@group(0) @binding(2) var<storage, read> table: array<i32>;    // see moduli.ts
// For each modulus, for each four terms, a word for each line, a byte for each term.
@group(0) @binding(3) var<storage, read_write> to: array<u32>;
@group(0) @binding(4) var<storage, read_write> cuts: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> args: Args;

const PIECE = u32((1 << PIECE_BITS) - 1);

// The pieces of the integer of a number, 0 or negative for a negative one, and whether something was cut off.
struct Integer {
  pieces: vec4<i32>,
  cut: bool,
}

// x' = RN(x 2^(bits - e)), halves away from zero. `end` is that of the line: e = end - 1075.
fn integerOf(x: vec2<u32>, end: u32, bits: u32) -> Integer {
  var m = significandOf(x);
  let shift = i32(max(fieldOf(x), 1u) + bits) - i32(end);
  var w = vec3<u32>();
  var cut = false;
  if (shift >= 0) {
    // x' is below 2^84, so shift <= 83 unless m is 0.
    let r = u32(shift) & 31u;
    let l = 31u - r;
    w = vec3<u32>(m.x << r, (m.y << r) | ((m.x >> 1u) >> l), (m.y >> 1u) >> l);
    if (shift >= 64) { w = vec3<u32>(0u, 0u, w.x); } else if (shift >= 32) { w = vec3<u32>(0u, w.x, w.y); }
  } else {
    let lost = u32(min(-shift, 55)); // a significand below 2^53 becomes 0
    let half_ = select(vec2<u32>(1u << ((lost - 1u) & 31u), 0u), vec2<u32>(0u, 1u << ((lost - 1u) & 31u)), lost > 32u);
    let mask = vec2<u32>(half_.x - u32(lost <= 32u), half_.y - u32(lost > 32u)) | half_ | select(vec2<u32>(), vec2<u32>(0xffffffffu, 0u), lost > 32u);
    cut = any((m & mask) != vec2<u32>());
    m.x += half_.x;
    m.y += half_.y + u32(m.x < half_.x);
    let r = lost & 31u;
    if (lost >= 32u) { m = vec2<u32>(m.y, 0u); }
    w = vec3<u32>((m.x >> r) | ((m.y << 1u) << (31u - r)), m.y >> r, 0u);
  }
  let sign = 1 - 2 * i32(x.y >> 31u);
  let pieces = vec4<u32>(w.x, (w.x >> 21u) | (w.y << 11u), w.y >> 10u, (w.y >> 31u) | (w.z << 1u)) & vec4<u32>(PIECE, PIECE, PIECE, 0xffffffffu);
  return Integer(sign * vec4<i32>(pieces), cut);
}

@compute @workgroup_size(GROUP)
fn residues(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let line = group.x * u32(GROUP) + lane;
  let word = group.y;
  if (line >= args.pitch) { return; }
  var x: array<vec4<i32>, 4>;
  var cut = 0u;
  if (line < args.lines) {
    let end = measured[2u * (args.first + line)];
    for (var q = 0u; q < 4u; q++) {
      let k = 4u * word + q;
      if (k < args.n) {
        let v = integerOf(numberOf(M[args.offset + line * args.lineStep + k * args.step]), end, args.bits);
        x[q] = v.pieces;
        cut += u32(v.cut);
      }
    }
    if (cut != 0u) { atomicAdd(&cuts[line], cut); }
  }
  for (var l = 0u; l < args.moduli; l++) {
    let record = l * RECORD;
    let at = record + WEIGHTS + select(0u, 4u, args.right != 0u);
    let weights = vec4<i32>(table[at], table[at + 1u], table[at + 2u], table[at + 3u]);
    var four = 0u;
    for (var q = 0u; q < 4u; q++) {
      // At most 4 * 2^21 * 128 = 2^30 in magnitude. Between -128 and 127: 128 and more stand for themselves minus m.
      let r = reduced(dot(x[q], weights), record);
      four |= ((r - select(0u, u32(table[record]), r > 127u)) & 255u) << (8u * q);
    }
    to[(l * args.words + word) * args.pitch + line] = four;
  }
}
