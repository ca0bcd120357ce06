// Applies a panel to the other columns of W, a lane for each column: the row swaps, and in columns to the right the rows of U, by substitution
// with the unit triangle of L. Launched by lu.ts.
struct Place {
  first: u32,
  size: u32,
  n: u32,
}
@group(0) @binding(0) var<storage, read_write> W: array<f32>;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(1) @binding(0) var<uniform> args: Place;

var<workgroup> L: array<array<f32, PANEL>, PANEL>; // by columns

@compute @workgroup_size(GROUP)
fn rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let size = args.size;
  let first = args.first;
  if (state[0] != 0u) { return; }
  for (var e = lane; e < PANEL * PANEL; e += GROUP) { L[e / PANEL][e % PANEL] = W[(first + e / PANEL) * size + first + e % PANEL]; }
  workgroupBarrier();
  let place = group.x * GROUP + lane;
  if (place >= size - PANEL) { return; }
  let isRight = place >= first;
  let at = (place + select(0u, PANEL, isRight)) * size;
  for (var p = 0u; p < PANEL; p++) {
    let pivot = state[1u + first + p];
    let v = W[at + pivot];
    W[at + pivot] = W[at + first + p];
    W[at + first + p] = v;
  }
  if (!isRight) { return; }
  var u: array<f32, PANEL>;
  for (var p = 0u; p < PANEL; p++) { u[p] = W[at + first + p]; }
  for (var p = 0u; p < PANEL; p++) {
    for (var q = p + 1u; q < PANEL; q++) { u[q] -= L[p][q] * u[p]; }
  }
  for (var p = 0u; p < PANEL; p++) { W[at + first + p] = u[p]; }
}
