// The rows of U of a block in the columns to the right of it: a lane for each column, row by row; see luCommon.wgsl.
fn upperEntry(k: u32, j: u32) -> vec2<u32> { return entry(args.first + k, j); }

var<workgroup> ended: u32;

@compute @workgroup_size(GROUP)
fn luRow(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let count = args.cols - args.right;
  let at = group.x * u32(GROUP) + lane;
  let j = args.right + at;
  if (lane == 0u) {
    atomicStore(&openCount, 0u);
    ended = u32(atomicLoad(&state[INFO]) != 0u);
  }
  if (workgroupUniformLoad(&ended) != 0u) { return; }
  for (var k = 0u; k < args.width; k++) {
    let i = args.first + k;
    var bits: vec2<u32>;
    if (at < count) {
      let s = sumOfEntry(windowBefore(k * count + at, args.width * count), i, j, k);
      bits = provedOrOpen(roundSum(s, SINGLE == 1), lane);
    }
    bits = settleOpen(bits, lane, i, j, k);
    if (at < count) { putEntry(i, j, finiteOr0(bits, i, j)); }
  }
}
