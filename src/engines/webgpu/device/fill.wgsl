// Fills words of a buffer with a pattern of two words. Launched by device.ts.
struct Fill {
  low: u32,
  high: u32,
  first: u32,
  count: u32,
}
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(1) @binding(0) var<uniform> args: Fill;

@compute @workgroup_size(GROUP)
fn fill(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = groupIndex(group, groups) * u32(GROUP) + lane;
  if (i < args.count) {
    words[args.first + i] = select(args.high, args.low, (i & 1u) == 0u);
  }
}
