// Whether a vector has an element other than -0, launched by reduce.ts.
struct Args {
  count: u32,
}
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> other: atomic<u32>;
@group(1) @binding(0) var<uniform> args: Args;

@compute @workgroup_size(GROUP)
fn anyOther(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) lane: u32) {
  var found = 0u;
  for (var i = group.x * u32(GROUP) + lane; i < args.count * u32(WORDS_EACH); i += groups.x * u32(GROUP)) {
    // the sign is in the last word of an element
    found |= x[i] ^ select(0u, 0x80000000u, WORDS_EACH == 1 || (i & 1u) == 1u);
  }
  if (found != 0u) { atomicOr(&other, 1u); }
}
