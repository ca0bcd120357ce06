// Listed entries of C := alpha A B + beta C exactly, one after another by each work-group, launched by entries.ts. A vector is a matrix of
// one column.
struct Args {
  aOffset: u32,
  aRow: u32,
  aCol: u32,
  bOffset: u32,
  bRow: u32,
  bCol: u32,
  cOffset: u32,
  cRow: u32,
  cCol: u32,
  cols: u32,  // of C
  inner: u32, // the columns of A
  start: u32, // in the list: those from `start` on, at most `limit`
  limit: u32,
  alphaLow: u32,
  alphaHigh: u32,
  betaLow: u32,
  betaHigh: u32,
}
@group(0) @binding(0) var<storage, read> A: array<u32>;
@group(0) @binding(1) var<storage, read> B: array<u32>;
@group(0) @binding(2) var<storage, read_write> C: array<u32>;
@group(0) @binding(3) var<storage, read> list: array<u32>; // their number, then i cols + j for each
@group(1) @binding(0) var<uniform> args: Args;

var<workgroup> listed: u32;
var<workgroup> row: u32;
var<workgroup> col: u32;

fn placeInC() -> u32 { return args.cOffset + row * args.cRow + col * args.cCol; }

fn termAt(k: u32) -> Term {
  let i = select(args.aOffset + row * args.aRow + k * args.aCol, 0u, k == args.inner);
  let j = select(args.bOffset + k * args.bRow + col * args.bCol, 0u, k == args.inner);
  var p: vec2<u32>;
  var q: vec2<u32>;
  if (SINGLE == 1) {
    p = widened(A[i]);
    q = widened(B[j]);
  } else {
    p = vec2<u32>(A[2u * i], A[2u * i + 1u]);
    q = vec2<u32>(B[2u * j], B[2u * j + 1u]);
  }
  var alpha = vec2<u32>(args.alphaLow, args.alphaHigh);
  if (k == args.inner) {
    let c = placeInC();
    alpha = vec2<u32>(args.betaLow, args.betaHigh);
    p = vec2<u32>(0u, 0x3ff00000u);
    if (SINGLE == 1) { q = widened(C[c]); } else { q = vec2<u32>(C[2u * c], C[2u * c + 1u]); }
  }
  return termOfProducts(p, q, alpha);
}

@compute @workgroup_size(GROUP)
fn settleEntries(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                 @builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) { listed = list[0]; }
  let end = min(workgroupUniformLoad(&listed), args.start + args.limit);
  let count = args.inner + select(1u, 0u, isZero(vec2<u32>(args.betaLow, args.betaHigh)));
  for (var at = args.start + group.x; at < end; at += groups.x) {
    if (lane == 0u) {
      row = list[1u + at] / args.cols;
      col = list[1u + at] % args.cols;
    }
    workgroupBarrier();
    sumTerms(lane, count);
    if (lane == 0u) {
      let bits = roundSum(Sum(leadingDigits(), 0u, 0), SINGLE == 1).bits;
      let to = placeInC();
      if (SINGLE == 1) {
        C[to] = bits.x;
      } else {
        C[2u * to] = bits.x;
        C[2u * to + 1u] = bits.y;
      }
    }
    workgroupBarrier();
  }
}
