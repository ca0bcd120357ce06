// The unknowns of a diagonal block of a triangular system, launched by trsv.ts: a work-group for each right-hand side, a lane for each row of
// the block. Unknowns are numbered in the order of substitution, so every triangle is lower, with strides of either sign: u32 arithmetic
// wraps. The windows of the products with the unknowns before the block are those of gemv.wgsl. The products within the block are added
// as soon as an unknown is known. A row whose window does not prove its unknown is summed exactly by the whole group.
struct Args {
  offset: u32, // entry (i, j) of T is element offset + i rowStride + j colStride
  rowStride: u32,
  colStride: u32,
  first: u32, // the first row of the block
  rows: u32,
  parts: u32, // windows of a row
  loss: u32,  // the units that the window of a row may lose
  bOffset: u32, // element i of column c is bOffset + c bColumn + i bStep; and the same for x
  bStep: u32,
  bColumn: u32,
  xOffset: u32,
  xStep: u32,
  xColumn: u32,
  unit: u32,
  rounding: u32,
}
@group(0) @binding(0) var<storage, read> T: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read> records: array<u32>;
@group(0) @binding(3) var<storage, read_write> x: array<u32>;
@group(1) @binding(0) var<uniform> args: Args;

fn entry(i: u32, j: u32) -> vec2<u32> {
  let at = args.offset + i * args.rowStride + j * args.colStride;
  if (SINGLE == 1) { return widened(T[at]); }
  return vec2<u32>(T[2u * at], T[2u * at + 1u]);
}
fn right(i: u32) -> vec2<u32> {
  let at = args.bOffset + column * args.bColumn + i * args.bStep;
  if (SINGLE == 1) { return widened(b[at]); }
  return vec2<u32>(b[2u * at], b[2u * at + 1u]);
}
fn placeOf(i: u32) -> u32 { return args.xOffset + column * args.xColumn + i * args.xStep; }

var<workgroup> column: u32;
var<workgroup> known: array<vec2<u32>, GROUP>;
var<workgroup> open: u32; // 1 + the row of the block that is not proved, or 0
var<workgroup> row: u32;  // of the exact stage

fn termAt(j: u32) -> Term {
  if (j == row) { return termOfNumber(right(row)); }
  var v = known[max(j, args.first) - args.first];
  if (j < args.first) {
    let at = placeOf(j);
    if (SINGLE == 1) { v = widened(x[at]); } else { v = vec2<u32>(x[2u * at], x[2u * at + 1u]); }
  }
  return termOfProduct(negated(entry(row, j)), v);
}

fn put(k: u32, bits: vec2<u32>) {
  known[k] = resultAsNumber(bits, SINGLE == 1);
  let at = placeOf(args.first + k);
  if (SINGLE == 1) {
    x[at] = bits.x;
  } else {
    x[2u * at] = bits.x;
    x[2u * at + 1u] = bits.y;
  }
}

@compute @workgroup_size(GROUP)
fn trsv(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) {
    column = group.x;
    open = 0u;
  }
  workgroupBarrier();
  let i = args.first + lane;
  let isRow = lane < args.rows;
  var a = emptyWindow();
  var d = vec2<u32>(0u, 0x3ff00000u);
  if (isRow) {
    for (var part = 0u; part < args.parts; part++) {
      let at = ((column * args.parts + part) * args.rows + lane) * RECORD;
      var r: array<u32, RECORD>;
      for (var k = 0u; k < RECORD; k++) { r[k] = records[at + k]; }
      var c = windowOfRecord(r);
      addWindow(&a, &c);
    }
    addTerm(&a, termOfNumber(right(i)));
    if (args.unit == 0u) { d = entry(i, i); }
  }
  var inBlock = emptyWindow();
  for (var k = 0u; k < args.rows; k++) {
    if (lane == k) {
      extend(&inBlock);
      addWindow(&a, &inBlock);
      let result = unknownOf(sumOf(a, args.loss), d, args.unit == 1u, args.rounding, SINGLE == 1);
      if (result.proved) { put(k, result.bits); } else { open = k + 1u; }
    }
    if (workgroupUniformLoad(&open) != 0u) {
      if (lane == 0u) { row = args.first + k; }
      workgroupBarrier();
      sumTerms(lane, args.first + k + 1u);
      if (lane == k) {
        put(k, exactUnknown(d, args.unit == 1u, args.rounding, SINGLE == 1));
        open = 0u;
      }
      workgroupBarrier();
    }
    if (isRow && lane > k) { addProduct(&inBlock, entry(i, args.first + k), known[k], 0x80000000u); }
  }
}
