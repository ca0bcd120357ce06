// Entries of C := alpha A B + beta C from the windows of gemv.wgsl or tiles.wgsl, one per lane. A vector is a matrix of one column. An entry
// that is not proved is listed, for entries.wgsl.
struct Args {
  alphaLow: u32,
  alphaHigh: u32,
  betaLow: u32,
  betaHigh: u32,
  offset: u32, // entry (i, j) of C is element offset + i rowStride + j colStride
  rowStride: u32,
  colStride: u32,
  rows: u32,
  cols: u32,
  parts: u32, // windows of an entry
  loss: u32,  // the units that they may have lost
}
@group(0) @binding(0) var<storage, read> records: array<u32>;
@group(0) @binding(1) var<storage, read_write> C: array<u32>;
@group(0) @binding(2) var<storage, read_write> list: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> args: Args;

fn oldEntry(i: u32) -> vec2<u32> {
  if (SINGLE == 1) { return widened(C[i]); }
  return vec2<u32>(C[2u * i], C[2u * i + 1u]);
}

@compute @workgroup_size(GROUP)
fn finishEntries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
  let e = groupIndex(group, groups) * u32(GROUP) + lane;
  if (e >= args.rows * args.cols) { return; }
  var a = emptyWindow();
  for (var part = 0u; part < args.parts; part++) {
    let at = (part * args.rows * args.cols + e) * RECORD;
    var r: array<u32, RECORD>;
    for (var k = 0u; k < RECORD; k++) { r[k] = records[at + k]; }
    var b = windowOfRecord(r);
    addWindow(&a, &b);
  }
  let alpha = vec2<u32>(args.alphaLow, args.alphaHigh);
  let beta = vec2<u32>(args.betaLow, args.betaHigh);
  let to = args.offset + (e / args.cols) * args.rowStride + (e % args.cols) * args.colStride;
  var result: Result;
  if (isNumber(alpha)) { // else signs and zeros of terms matter
    var s = sumOf(a, args.loss);
    scaleSum(&s, alpha);
    if (!isZero(beta)) { addToSum(&s, termOfProduct(beta, oldEntry(to))); }
    result = roundSum(s, SINGLE == 1);
  }
  if (!result.proved) {
    atomicStore(&list[1u + atomicAdd(&list[0], 1u)], e);
  } else if (SINGLE == 1) {
    C[to] = result.bits.x;
  } else {
    C[2u * to] = result.bits.x;
    C[2u * to + 1u] = result.bits.y;
  }
}
