// The rows of U of a block in the columns to the right of it: a lane for each column, row by row; see luCommon.wgsl.
fn upperEntry(k: u32) -> vec2<u32> { return entry(args.first + k, exactCol); }

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
      var a = windowBefore(k * count + at, args.width * count);
      addTerm(&a, termOfNumber(entry(i, j)));
      var inBlock = emptyWindow();
      for (var n = 0u; n < k; n++) { addProduct(&inBlock, entry(i, args.first + n), entry(args.first + n, j), 0x80000000u); }
      extend(&inBlock);
      addWindow(&a, &inBlock);
      let result = roundSum(sumOf(a, lossOfEntry()), SINGLE == 1);
      bits = result.bits;
      if (!result.proved) { open[atomicAdd(&openCount, 1u)] = lane; }
    }
    let opened = takeOpen(lane);
    for (var o = 0u; o < opened; o++) {
      if (lane == open[o]) {
        exactRow = i;
        exactCol = j;
      }
      workgroupBarrier();
      sumExactly(lane, k);
      if (lane == open[o]) { bits = exactBits; }
      workgroupBarrier();
    }
    if (at < count) { putEntry(i, j, finiteOr0(bits, i, j)); }
  }
}
