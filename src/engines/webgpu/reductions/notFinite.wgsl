// The first element of a vector that is not finite, launched by reduce.ts.
struct Args {
  count: u32,
  start: u32, // the index of x[0] in the whole vector
}
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> first: atomic<u32>;
@group(1) @binding(0) var<uniform> args: Args;

@compute @workgroup_size(GROUP)
fn firstNotFinite(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                  @builtin(local_invocation_index) lane: u32) {
  for (var i = group.x * u32(GROUP) + lane; i < args.count; i += groups.x * u32(GROUP)) {
    // the exponent is in the last word of an element
    let exponent = select(0x7f800000u, 0x7ff00000u, WORDS_EACH == 2);
    if ((x[(i + 1u) * u32(WORDS_EACH) - 1u] & exponent) == exponent) {
      atomicMin(&first, args.start + i);
      return;
    }
  }
}
