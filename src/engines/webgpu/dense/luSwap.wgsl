// Moves the rows of a block to where its pivots put them, and stores its U: a lane for each column; see luCommon.wgsl.
fn upperEntry(k: u32, j: u32) -> vec2<u32> { return workAt(upper(k, j)); } // for sums and the exact stage, which this kernel does not use

@compute @workgroup_size(GROUP)
fn luSwap(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let j = group.x * u32(GROUP) + lane;
  if (atomicLoad(&state[INFO]) != 0u || j >= args.cols) { return; }
  for (var k = 0u; k < args.width; k++) {
    let i = args.first + k;
    let p = atomicLoad(&state[PIVOTS + i]);
    for (var word = j * (2u - u32(SINGLE)); p != i && word < (j + 1u) * (2u - u32(SINGLE)); word++) {
      let stride = args.cols * (2u - u32(SINGLE));
      let v = A[i * stride + word];
      A[i * stride + word] = A[p * stride + word];
      A[p * stride + word] = v;
    }
  }
  if (j >= args.first && j < args.first + args.width) {
    let c = j - args.first;
    for (var k = 0u; k <= c; k++) { putEntry(args.first + k, j, workAt(upper(k, c))); }
  }
}
