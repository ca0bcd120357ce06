// Tiles of C := alpha A B + beta C by windows, launched by gemm.ts: a work-group computes TILE by TILE entries, a lane one of them. What the
// window of an entry does not prove is listed, and the entry stays as it was. alpha is finite.
struct Args {
  alpha: vec2<u32>,
  beta: vec2<u32>,
  aOffset: u32, aRow: u32, aCol: u32,
  bOffset: u32, bRow: u32, bCol: u32,
  cOffset: u32, cRow: u32,
  M: u32, N: u32, K: u32,
  row: u32, col: u32, // where this launch begins
}
@group(0) @binding(0) var<storage, read> A: array<REAL>;
@group(0) @binding(1) var<storage, read> B: array<REAL>;
@group(0) @binding(2) var<storage, read_write> C: array<REAL>;
@group(0) @binding(3) var<storage, read_write> list: array<atomic<u32>>; // its length, then i N + j for each entry
@group(1) @binding(0) var<uniform> args: Args;

const AREA = u32(TILE * TILE);
var<workgroup> left: array<vec2<u32>, AREA>;
var<workgroup> right: array<vec2<u32>, AREA>;

@compute @workgroup_size(TILE, TILE)
fn tiles(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = u32(TILE);
  let i0 = args.row + group.y * tile;
  let j0 = args.col + group.x * tile;
  // Neighbouring lanes load neighbouring elements.
  let aLine = select(id.x, id.y, args.aCol == 1u);
  let aTerm = select(id.y, id.x, args.aCol == 1u);
  let bLine = select(id.y, id.x, args.bCol == 1u);
  let bTerm = select(id.x, id.y, args.bCol == 1u);
  let aAt = args.aOffset + (i0 + aLine) * args.aRow;
  let bAt = args.bOffset + (j0 + bLine) * args.bCol;
  var a = emptyLimbs();
  for (var k0 = 0u; k0 < args.K; k0 += tile) {
    // Beyond the edges all factors are zeros: beyond K both of a product are, so that no infinity meets one.
    var x = vec2<u32>();
    var y = vec2<u32>();
    if (i0 + aLine < args.M && k0 + aTerm < args.K) { x = numberOf(A[aAt + (k0 + aTerm) * args.aCol]); }
    if (j0 + bLine < args.N && k0 + bTerm < args.K) { y = numberOf(B[bAt + (k0 + bTerm) * args.bRow]); }
    left[aLine * tile + aTerm] = x;
    right[bTerm * tile + bLine] = y;
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) { addProductLimbs(&a, left[id.y * tile + k], right[k * tile + id.x], 0u); }
    workgroupBarrier();
  }
  let i = i0 + id.y;
  let j = j0 + id.x;
  if (i >= args.M || j >= args.N) { return; }
  let at = args.cOffset + i * args.cRow + j;
  var old = vec2<u32>();
  if (!isZero(args.beta)) { old = numberOf(C[at]); }
  let entry = entryOf(sumOf(windowOfLimbs(&a), args.K + 4u), args.alpha, args.beta, old);
  if (entry.proved) {
    C[at] = realOf(entry.bits);
  } else {
    atomicStore(&list[1u + atomicAdd(&list[0], 1u)], i * args.N + j);
  }
}
