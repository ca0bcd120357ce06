// The vector updates of the iterative solvers that are not IEEE operations, entry by entry in binary64 (Combination of engines/kernels.ts): an
// exact zero is stored as +0. Composed with exact/round.wgsl, launched by workspace.ts.
const XPAY = 0;
const DIRECTION = 1;
const QUOTIENT = 2;
const SUM = 3;

struct Combine {
  count: u32,
  aLow: u32,
  aHigh: u32,
  bLow: u32,
  bHigh: u32,
}
@group(0) @binding(0) var<storage, read> x: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> z: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2<u32>>;
@group(1) @binding(0) var<uniform> args: Combine;

// RN(x + a b).
fn plusProduct(x: vec2<u32>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  var s = windowOf(termOfProduct(a, b));
  addExactly(&s, termOfNumber(x));
  if (s.special != 0u) { return resultOfSpecial(s.special, false); }
  return roundWindow(s, a, false, false);
}

// RN(x / d) with d != 0.
fn quotient(x: vec2<u32>, d: vec2<u32>) -> vec2<u32> { return roundQuotient(sumOfNumber(x), d, true, false).bits; }

@compute @workgroup_size(GROUP)
fn combine(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = groupIndex(group, groups) * u32(GROUP) + lane;
  if (i >= args.count) { return; }
  let one = vec2<u32>(0u, 0x3ff00000u);
  let a = vec2<u32>(args.aLow, args.aHigh);
  let b = vec2<u32>(args.bLow, args.bHigh);
  if (OP == XPAY) {
    y[i] = plusProduct(x[i], a, y[i]);
  } else if (OP == DIRECTION) {
    y[i] = plusProduct(x[i], a, plusProduct(y[i], b, z[i]));
  } else if (OP == QUOTIENT) {
    y[i] = quotient(x[i], z[i]);
  } else {
    y[i] = plusProduct(x[i], one, y[i]);
  }
}
