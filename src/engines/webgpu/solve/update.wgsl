// W := W - L U for the rows and columns after a panel, in tiles of 64 by 64: 256 lanes with 4 by 4 entries each. Launched by lu.ts.
struct Place {
  first: u32,
  size: u32,
  n: u32,
}
@group(0) @binding(0) var<storage, read_write> W: array<f32>;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(1) @binding(0) var<uniform> args: Place;

const TILE = 64u;
const DEPTH = 16u;

var<workgroup> L: array<array<f32, TILE>, DEPTH>;
var<workgroup> U: array<array<f32, TILE + 1>, DEPTH>;

@compute @workgroup_size(16, 16)
fn update(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  if (state[0] != 0u) { return; }
  let size = args.size;
  let i0 = args.first + PANEL + group.x * TILE;
  let j0 = args.first + PANEL + group.y * TILE;
  var s0 = vec4<f32>();
  var s1 = vec4<f32>();
  var s2 = vec4<f32>();
  var s3 = vec4<f32>();
  for (var k = args.first; k < args.first + PANEL; k += DEPTH) {
    for (var e = index; e < DEPTH * TILE; e += 256u) {
      let i = min(i0 + e % TILE, size - 1u);
      L[e / TILE][e % TILE] = W[(k + e / TILE) * size + i];
      let j = min(j0 + e / DEPTH, size - 1u);
      U[e % DEPTH][e / DEPTH] = W[j * size + k + e % DEPTH];
    }
    workgroupBarrier();
    for (var d = 0u; d < DEPTH; d++) {
      // Rows lane.x + 16 r and columns lane.y + 16 c: neighbours read neighbours.
      let l = vec4<f32>(L[d][lane.x], L[d][lane.x + 16u], L[d][lane.x + 32u], L[d][lane.x + 48u]);
      s0 += l * U[d][lane.y];
      s1 += l * U[d][lane.y + 16u];
      s2 += l * U[d][lane.y + 32u];
      s3 += l * U[d][lane.y + 48u];
    }
    workgroupBarrier();
  }
  subtract(i0 + lane.x, j0 + lane.y, s0);
  subtract(i0 + lane.x, j0 + lane.y + 16u, s1);
  subtract(i0 + lane.x, j0 + lane.y + 32u, s2);
  subtract(i0 + lane.x, j0 + lane.y + 48u, s3);
}

fn subtract(i: u32, j: u32, s: vec4<f32>) {
  for (var r = 0u; r < 4u; r++) {
    let row = i + 16u * r;
    if (row < args.size && j < args.size) { W[j * args.size + row] -= s[r]; }
  }
}
