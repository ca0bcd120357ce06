// Products of 8-bit numbers modulo each m, launched by gemmResidues.ts: T_ij := the sum of A_ik B_jk mod m, a byte. A work-group has a tile of
// 128 by 128 entries for a modulus, a lane 8 by 8 of them: rows 4 ty to 4 ty + 3, and 64 more, and columns likewise. Factors are stored as
// gemmResidues.wgsl says; four neighbouring lines are a vector here. |sums| <= 2^14 K <= 2^30.
struct Args {
  modulus: u32, // the first of this launch
  aPitch: u32,  // vectors
  bPitch: u32,
  pitch: u32,   // words of a row of T
  rows: u32,    // of T in memory
  words: u32,   // of a line of a factor, a multiple of DEEP
}
@group(0) @binding(0) var<storage, read> A: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> B: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> table: array<i32>;
@group(0) @binding(3) var<storage, read_write> T: array<u32>;
@group(1) @binding(0) var<uniform> args: Args;

const DEEP = 8u;   // words of a line at a time
const SIDE = 32u;  // vectors of a tile's side
const PART = 256u; // vectors at a time: one per lane

// Two buffers each, one read while the other is written: one barrier is enough.
var<workgroup> left: array<vec4<u32>, 512>;
var<workgroup> right: array<vec4<u32>, 512>;

fn times(a: u32, b: vec4<u32>) -> vec4<i32> { return vec4<i32>(dotOfBytes(a, b.x), dotOfBytes(a, b.y), dotOfBytes(a, b.z), dotOfBytes(a, b.w)); }

fn packed(v: vec4<i32>, record: u32) -> u32 {
  return reduced(v.x, record) | (reduced(v.y, record) << 8u) | (reduced(v.z, record) << 16u) | (reduced(v.w, record) << 24u);
}

@compute @workgroup_size(256)
fn product(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let modulus = args.modulus + group.z;
  let tx = lane % 16u;
  let ty = lane / 16u;
  let line = lane % SIDE;
  let word = lane / SIDE;
  var aAt = (modulus * args.words + word) * args.aPitch + group.y * SIDE + line;
  var bAt = (modulus * args.words + word) * args.bPitch + group.x * SIDE + line;
  // Rows one after another, each as its left and its right half.
  var c0 = vec4<i32>(); var d0 = vec4<i32>();
  var c1 = vec4<i32>(); var d1 = vec4<i32>();
  var c2 = vec4<i32>(); var d2 = vec4<i32>();
  var c3 = vec4<i32>(); var d3 = vec4<i32>();
  var c4 = vec4<i32>(); var d4 = vec4<i32>();
  var c5 = vec4<i32>(); var d5 = vec4<i32>();
  var c6 = vec4<i32>(); var d6 = vec4<i32>();
  var c7 = vec4<i32>(); var d7 = vec4<i32>();
  var nextA = A[aAt];
  var nextB = B[bAt];
  var buffer = 0u;
  for (var k = 0u; k < args.words; k += DEEP) {
    left[buffer + lane] = nextA;
    right[buffer + lane] = nextB;
    workgroupBarrier();
    aAt += DEEP * args.aPitch;
    bAt += DEEP * args.bPitch;
    if (k + DEEP < args.words) {
      nextA = A[aAt];
      nextB = B[bAt];
    }
    for (var at = buffer; at < buffer + PART; at += SIDE) {
      let a = left[at + ty];
      let e = left[at + 16u + ty];
      let b = right[at + tx];
      let f = right[at + 16u + tx];
      c0 += times(a.x, b); d0 += times(a.x, f);
      c1 += times(a.y, b); d1 += times(a.y, f);
      c2 += times(a.z, b); d2 += times(a.z, f);
      c3 += times(a.w, b); d3 += times(a.w, f);
      c4 += times(e.x, b); d4 += times(e.x, f);
      c5 += times(e.y, b); d5 += times(e.y, f);
      c6 += times(e.z, b); d6 += times(e.z, f);
      c7 += times(e.w, b); d7 += times(e.w, f);
    }
    buffer ^= PART;
  }
  let c = array<vec4<i32>, 16>(c0, d0, c1, d1, c2, d2, c3, d3, c4, d4, c5, d5, c6, d6, c7, d7);
  let record = modulus * RECORD;
  for (var r = 0u; r < 8u; r++) {
    let row = group.y * 128u + 4u * ty + (r & 3u) + 64u * (r >> 2u);
    let at = (modulus * args.rows + row) * args.pitch + group.x * SIDE + tx;
    T[at] = packed(c[2u * r], record);
    T[at + 16u] = packed(c[2u * r + 1u], record);
  }
}
