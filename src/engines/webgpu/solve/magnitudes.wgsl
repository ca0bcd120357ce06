// For each row of a matrix, the sum and the largest of the magnitudes scale[j] abs(a_ij), rounded from the exact ones, or nearly so: PARTS
// lanes take a row. Composed with exact/round.wgsl, launched by magnitudes.ts.
struct Layout {
  first: u32, // the place of entry (0, 0), in entries, like the strides
  rowStride: u32,
  colStride: u32,
  rows: u32,
  cols: u32,
}
@group(0) @binding(0) var<storage, read> A: array<Stored>;
@group(0) @binding(1) var<storage, read> scale: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> found: array<vec2<u32>>; // the sum and the largest of each row
@group(1) @binding(0) var<uniform> args: Layout;

const ROWS = GROUP / PARTS;

var<workgroup> largest: array<vec2<u32>, GROUP>;

// Magnitudes are ordered like their bits, and NaN is the largest.
fn larger(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, a.y > b.y || (a.y == b.y && a.x > b.x)); }

fn rounded(a: Window) -> vec2<u32> { return roundSum(Sum(a, 0u, 0), false).bits; }

@compute @workgroup_size(GROUP)
fn magnitudes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let part = lane % PARTS;
  let row = groupIndex(group, groups) * ROWS + lane / PARTS;
  var a = emptyWindow();
  var best = vec2<u32>(0u, 0u);
  if (row < args.rows) {
    for (var j = part; j < args.cols; j += PARTS) {
      let v = numberOf(A[args.first + row * args.rowStride + j * args.colStride]);
      let x = vec2<u32>(v.x, v.y & 0x7fffffffu);
      addProduct(&a, x, scale[j], 0u);
      best = larger(best, rounded(windowOf(termOfProduct(x, scale[j]))));
    }
  }
  extend(&a);
  gather(&a, lane, part, PARTS, 1u);
  largest[lane] = best;
  for (var n = PARTS / 2u; n > 0u; n /= 2u) {
    workgroupBarrier();
    if (part < n) { largest[lane] = larger(largest[lane], largest[lane + n]); }
  }
  if (part == 0u && row < args.rows) {
    found[2u * row] = rounded(a);
    found[2u * row + 1u] = largest[lane];
  }
}
