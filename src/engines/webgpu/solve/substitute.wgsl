// One step of a substitution by blocks with the factors in W, for one right-hand side in each row of groups: all rows that are left subtract
// the products with the block that the step before has solved, and the first of their groups solves its own block. UPPER: with U, from the
// last block up; else with unit L. Launched by substitute.ts, once for each block.
struct Step {
  size: u32,
  block: u32, // the block to be solved
  previous: u32, // whether there is one that was solved before
  sides: u32, // right-hand sides, row by row
}
@group(0) @binding(0) var<storage, read> W: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> args: Step;

var<workgroup> known: array<f32, BLOCK>;

@compute @workgroup_size(BLOCK)
fn substitute(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let own = select(args.block + group.x, args.block - group.x, UPPER != 0);
  let i = own * BLOCK + lane;
  let at = i * args.sides + group.y;
  var v = y[at];
  if (args.previous != 0u) {
    let first = select(args.block - 1u, args.block + 1u, UPPER != 0) * BLOCK;
    known[lane] = y[(first + lane) * args.sides + group.y];
    workgroupBarrier();
    for (var j = 0u; j < BLOCK; j++) { v -= W[(first + j) * args.size + i] * known[j]; }
    workgroupBarrier();
  }
  if (group.x == 0u) {
    for (var k = 0u; k < BLOCK; k++) {
      let j = select(k, BLOCK - 1u - k, UPPER != 0);
      if (lane == j) {
        if (UPPER != 0) { v /= W[i * args.size + i]; }
        known[j] = v;
      }
      workgroupBarrier();
      let isLeft = select(lane > j, lane < j, UPPER != 0);
      if (isLeft) { v -= W[(own * BLOCK + j) * args.size + i] * known[j]; }
    }
  }
  y[at] = v;
}
