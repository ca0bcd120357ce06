// The scaled matrix R A C in binary32, by columns, from A in binary64 with any strides; R and C are powers of two, by their exponents. Rows and
// columns from n on are those of the identity. In integers, because WGSL has no binary64; what is too small becomes zero, and what is too
// large infinite. Launched by lu.ts.
const TILE = 32u;
const LINES = 8u;

struct Layout {
  first: u32, // the place of entry (0, 0) of A, in entries, like the strides
  rowStride: u32,
  colStride: u32,
  n: u32,
  size: u32,
}
@group(0) @binding(0) var<storage, read> A: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> exponents: array<i32>; // of the rows, then of the columns
@group(0) @binding(2) var<storage, read_write> W: array<f32>;
@group(1) @binding(0) var<uniform> args: Layout;

var<workgroup> tile: array<array<u32, TILE + 1>, TILE>;

fn rounded(x: vec2<u32>, exponent: i32) -> u32 {
  let sign = x.y & 0x80000000u;
  var field = i32((x.y >> 20u) & 0x7ffu);
  var m = vec2<u32>(x.x, x.y & 0xfffffu);
  if (field == 0x7ff) { return sign | 0x7f800000u | select(0u, 0x400000u, (m.x | m.y) != 0u); }
  if (field == 0) {
    // Subnormal: its first bit becomes the hidden one.
    if ((m.x | m.y) == 0u) { return sign; }
    field = 1;
    if (m.y == 0u && m.x < 0x200000u) {
      m = vec2<u32>(0u, m.x);
      field -= 32;
    }
    for (; m.y < 0x100000u; field--) { m = vec2<u32>(m.x << 1u, (m.y << 1u) | (m.x >> 31u)); }
    m.y &= 0xfffffu;
  }
  let e = field + exponent - 896; // 1023 - 127
  if (e < 1) { return sign; }
  if (e > 254) { return sign | 0x7f800000u; }
  return sign | ((u32(e) << 23u) + ((m.y << 3u) | (m.x >> 29u)) + ((m.x >> 28u) & 1u)); // a carry makes the exponent larger
}

fn entry(i: u32, j: u32) -> u32 {
  if (i >= args.n || j >= args.n) { return select(0u, 0x3f800000u, i == j); }
  return rounded(A[args.first + i * args.rowStride + j * args.colStride], exponents[i] + exponents[args.n + j]);
}

@compute @workgroup_size(TILE, LINES)
fn convert(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let i0 = group.y * TILE;
  let j0 = group.x * TILE;
  let across = args.rowStride == 1u; // neighbours read along what is contiguous
  for (var k = lane.y; k < TILE; k += LINES) {
    let i = select(k, lane.x, across);
    let j = select(lane.x, k, across);
    tile[j][i] = entry(i0 + i, j0 + j);
  }
  workgroupBarrier();
  for (var k = lane.y; k < TILE; k += LINES) { W[(j0 + k) * args.size + i0 + lane.x] = bitcast<f32>(tile[k][lane.x]); }
}
