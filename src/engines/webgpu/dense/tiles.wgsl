// The windows of the entries of a product A B, launched by tiles.ts: those of a tile of TILE by TILE entries by a work-group, one per lane,
// and one for each part of the columns of A.
struct Args {
  aOffset: u32, // in elements, as the strides
  aRow: u32,
  aCol: u32,
  bOffset: u32,
  bRow: u32,
  bCol: u32,
  rows: u32,
  cols: u32,
  inner: u32,
  length: u32, // of a part
  flip: u32,   // 0x80000000 for -A B
}
@group(0) @binding(0) var<storage, read> A: array<u32>;
@group(0) @binding(1) var<storage, read> B: array<u32>;
@group(0) @binding(2) var<storage, read_write> records: array<u32>;
@group(1) @binding(0) var<uniform> args: Args;

const SIDE = u32(TILE);

fn entryOfA(i: u32, k: u32, end: u32) -> vec2<u32> {
  if (i >= args.rows || k >= end) { return vec2<u32>(0u, 0u); }
  let at = args.aOffset + i * args.aRow + k * args.aCol;
  if (SINGLE == 1) { return widened(A[at]); }
  return vec2<u32>(A[2u * at], A[2u * at + 1u]);
}
fn entryOfB(k: u32, j: u32, end: u32) -> vec2<u32> {
  if (j >= args.cols || k >= end) { return vec2<u32>(0u, 0u); }
  let at = args.bOffset + k * args.bRow + j * args.bCol;
  if (SINGLE == 1) { return widened(B[at]); }
  return vec2<u32>(B[2u * at], B[2u * at + 1u]);
}

var<workgroup> left: array<array<vec2<u32>, SIDE + 1>, SIDE>;
var<workgroup> right: array<array<vec2<u32>, SIDE + 1>, SIDE>;

@compute @workgroup_size(TILE * TILE)
fn tiles(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let slow = lane / SIDE;
  let fast = lane % SIDE;
  let i0 = group.y * SIDE;
  let j0 = group.x * SIDE;
  let end = min(args.inner, (group.z + 1u) * args.length);
  let aAcross = args.aRow == 1u && args.aCol != 1u; // neighbours read contiguous memory
  let bAcross = args.bRow == 1u && args.bCol != 1u;
  var a = emptyLimbs();
  for (var k = group.z * args.length; k < end; k += SIDE) {
    if (aAcross) { left[fast][slow] = entryOfA(i0 + fast, k + slow, end); } else { left[slow][fast] = entryOfA(i0 + slow, k + fast, end); }
    if (bAcross) { right[fast][slow] = entryOfB(k + fast, j0 + slow, end); } else { right[slow][fast] = entryOfB(k + slow, j0 + fast, end); }
    workgroupBarrier();
    // Zeros past the end would make infinities of other rows NaN.
    let count = min(SIDE, end - k);
    for (var d = 0u; d < count; d++) { addProductLimbs(&a, left[slow][d], right[d][fast], args.flip); }
    workgroupBarrier();
  }
  var sum = windowOfLimbs(&a);
  let i = i0 + slow;
  let j = j0 + fast;
  if (i < args.rows && j < args.cols) {
    let r = recordOf(&sum);
    let to = ((group.z * args.rows + i) * args.cols + j) * RECORD;
    for (var n = 0u; n < RECORD; n++) { records[to + n] = r[n]; }
  }
}
