// y := alpha A x + beta y for the rows of a piece of a matrix: PARTS lanes add the products of a row, and one rounds. Rows that are not
// proved keep their y and are listed in `undecided`, for spmvExact.wgsl. Launched by spmv.ts.
//
// The loss of a row of n entries is that of PARTS lanes: less than n + 3 PARTS units (window.wgsl). A lane adds at most 2^22 products:
// spmv.ts sees to that.
struct Product {
  firstRow: u32, // the rows of the piece
  rows: u32,
  firstEntry: u32, // the entry at which the bindings of indices and values begin
  reads: u32, // whether alpha is not 0
  alphaLow: u32,
  alphaHigh: u32,
  betaLow: u32,
  betaHigh: u32,
}
@group(0) @binding(0) var<storage, read> pointers: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<Stored>;
@group(0) @binding(3) var<storage, read> x: array<Stored>;
@group(0) @binding(4) var<storage, read_write> y: array<Stored>;
@group(0) @binding(5) var<storage, read_write> undecided: array<atomic<u32>>; // how many, and which
@group(1) @binding(0) var<uniform> args: Product;

const ROWS = GROUP / PARTS;

@compute @workgroup_size(GROUP)
fn spmv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let part = lane % PARTS;
  let place = groupIndex(group, groups) * ROWS + lane / PARTS;
  let row = args.firstRow + place;
  let isRow = place < args.rows;
  var a = emptyWindow();
  var entries = 0u;
  if (isRow && args.reads != 0u) {
    let begin = pointers[row] - args.firstEntry;
    let end = pointers[row + 1u] - args.firstEntry;
    entries = end - begin;
    for (var p = begin + part; p < end; p += PARTS) { addProduct(&a, numberOf(values[p]), numberOf(x[indices[p]]), 0u); }
  }
  extend(&a);
  gather(&a, lane, part, PARTS, 1u);
  if (part == 0u && isRow) {
    var s = sumOf(a, entries + 3u * PARTS);
    if (args.reads != 0u) { scaleSum(&s, vec2<u32>(args.alphaLow, args.alphaHigh)); }
    let beta = vec2<u32>(args.betaLow, args.betaHigh);
    if (!isZero(beta)) { addToSum(&s, termOfProduct(beta, numberOf(y[row]))); }
    let result = roundSum(s, SINGLE);
    if (result.proved) {
      y[row] = storedOf(result.bits);
    } else {
      let at = atomicAdd(&undecided[0], 1u);
      atomicStore(&undecided[1u + at], row);
    }
  }
}
