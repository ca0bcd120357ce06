// The exact stage of y := alpha A x + beta y: a work-group for each row that spmv.wgsl listed. Composed with exact/settle.wgsl, launched by
// spmv.ts.
struct Product {
  first: u32, // of the listed rows
  count: u32,
  firstEntry: u32, // as in spmv.wgsl
  reads: u32,
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
@group(0) @binding(5) var<storage, read> undecided: array<u32>;
@group(1) @binding(0) var<uniform> args: Product;

// The row of this group.
var<private> row: u32;
var<private> begin: u32;
var<private> entries: u32;

fn termAt(k: u32) -> Term {
  if (k < entries) {
    let p = begin + k;
    return termOfProducts(numberOf(values[p]), numberOf(x[indices[p]]), vec2<u32>(args.alphaLow, args.alphaHigh));
  }
  return termOfProduct(vec2<u32>(args.betaLow, args.betaHigh), numberOf(y[row]));
}

@compute @workgroup_size(GROUP)
fn spmvExact(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let place = groupIndex(group, groups);
  if (place >= args.count) { return; }
  let i = undecided[1u + args.first + place];
  let start = pointers[i] - args.firstEntry;
  let length = select(0u, pointers[i + 1u] - args.firstEntry - start, args.reads != 0u);
  row = i;
  begin = start;
  entries = length;
  sumTerms(lane, length + u32(!isZero(vec2<u32>(args.betaLow, args.betaHigh))));
  if (lane == 0u) { y[i] = storedOf(roundSum(Sum(leadingDigits(), 0u, 0), SINGLE).bits); }
}
