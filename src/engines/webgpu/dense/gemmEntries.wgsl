// Entries of C := alpha A B + beta C, each by a work-group, launched by gemm.ts: those on the list, or all. The lanes share the terms of an
// entry; their windows are tried first if `windows` is 1, and the exact stage finishes what they do not prove.
struct Args {
  alpha: vec2<u32>,
  beta: vec2<u32>,
  aOffset: u32, aRow: u32, aCol: u32,
  bOffset: u32, bRow: u32, bCol: u32,
  cOffset: u32, cRow: u32,
  N: u32, K: u32,
  first: u32, count: u32,
  listed: u32,
  windows: u32,
}
@group(0) @binding(0) var<storage, read> A: array<REAL>;
@group(0) @binding(1) var<storage, read> B: array<REAL>;
@group(0) @binding(2) var<storage, read_write> C: array<REAL>;
@group(0) @binding(3) var<storage, read> list: array<u32>;
@group(1) @binding(0) var<uniform> args: Args;

// Where the entry is, and the first of its factors.
var<private> cAt: u32;
var<private> aAt: u32;
var<private> bAt: u32;

fn termAt(k: u32) -> Term {
  if (k == args.K) { return termOfProduct(args.beta, numberOf(C[cAt])); }
  return termOfProducts(numberOf(A[aAt + k * args.aCol]), args.alpha, numberOf(B[bAt + k * args.bRow]));
}

var<workgroup> isProved: u32;

// Try the windows of the lanes. alpha is finite.
fn byWindows(lane: u32) -> bool {
  var limbs = emptyLimbs();
  for (var k = lane; k < args.K; k += GROUP) {
    addProductLimbs(&limbs, numberOf(A[aAt + k * args.aCol]), numberOf(B[bAt + k * args.bRow]), 0u);
  }
  var a = windowOfLimbs(&limbs);
  gather(&a, lane, lane, GROUP, 1u);
  if (lane == 0u) {
    var old = vec2<u32>();
    if (!isZero(args.beta)) { old = numberOf(C[cAt]); }
    let entry = entryOf(sumOf(a, args.K + 4u * GROUP), args.alpha, args.beta, old);
    if (entry.proved) { C[cAt] = realOf(entry.bits); }
    isProved = u32(entry.proved);
  }
  return workgroupUniformLoad(&isProved) != 0u;
}

@compute @workgroup_size(GROUP)
fn entries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let at = groupIndex(group, groups);
  if (at >= args.count) { return; }
  var entry = args.first + at;
  if (args.listed != 0u) { entry = list[1u + entry]; }
  let i = entry / args.N;
  let j = entry % args.N;
  cAt = args.cOffset + i * args.cRow + j;
  aAt = args.aOffset + i * args.aRow;
  bAt = args.bOffset + j * args.bCol;
  if (args.windows != 0u) {
    if (byWindows(lane)) { return; }
  }
  sumTerms(lane, args.K + u32(!isZero(args.beta)));
  if (lane == 0u) { C[cAt] = realOf(roundSum(Sum(leadingDigits(), 0u, 0), SINGLE).bits); }
}
