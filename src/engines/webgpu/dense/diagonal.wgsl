// Looks for a zero on the diagonal of a matrix of order n, launched by trsv.ts: `found` becomes n minus the first row that has one, and stays
// 0 if none has.
struct Args {
  offset: u32,
  step: u32, // to the next entry of the diagonal
  n: u32,
}
@group(0) @binding(0) var<storage, read> T: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: atomic<u32>;
@group(1) @binding(0) var<uniform> args: Args;

@compute @workgroup_size(GROUP)
fn zeroOnDiagonal(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * u32(GROUP) + lane;
  if (i >= args.n) { return; }
  let at = args.offset + i * args.step;
  var bits = 0u;
  if (SINGLE == 1) { bits = T[at] << 1u; } else { bits = T[2u * at] | (T[2u * at + 1u] << 1u); }
  if (bits == 0u) { atomicMax(&found, args.n - i); }
}
