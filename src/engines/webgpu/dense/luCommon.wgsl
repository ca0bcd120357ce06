// Common to the kernels of exlu and exluBatch, launched by lu.ts and luBatch.ts; see the LU paper. A is stored by rows. Each entry is one sum
// of products,
//   s_ij = RN(a_ij - sum over k < min(i, j) of l_ik u_kj),
// so the order of work is free. A kernel has a function
//   fn upperEntry(k: u32, j: u32) -> vec2<u32>
// which is u in row k of the block of columns that it works on, and column j. In luBatch the block is the matrix.
struct Args {
  rows: u32,
  cols: u32,
  first: u32,  // of the block
  width: u32,  // columns of the block
  step: u32,   // the column of the block that a launch of luStep sums
  groups: u32, // of luStep; matrices, of luBatch
  parts: u32,  // windows of an entry
  right: u32,  // the first column to the right of the block
  matrix: u32, // of luBatch: the first matrix, and the element at which it begins
  origin: u32,
}
@group(0) @binding(0) var<storage, read_write> A: array<u32>;
@group(0) @binding(1) var<storage, read_write> state: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> args: Args;

// The state of a matrix: the first entry that overflowed, as column * rows + row; 1 + the column of a zero pivot; the pivots.
const OVERFLOW = 0u;
const INFO = 1u;
const PIVOTS = 2u;

// Where the matrix and its state begin: other than 0 in luBatch only.
var<private> matrixAt: u32;
var<private> stateAt: u32;

fn entry(i: u32, j: u32) -> vec2<u32> {
  let at = matrixAt + i * args.cols + j;
  if (SINGLE == 1) { return widened(A[at]); }
  return vec2<u32>(A[2u * at], A[2u * at + 1u]);
}

// Store a result.
fn putEntry(i: u32, j: u32, bits: vec2<u32>) {
  let at = matrixAt + i * args.cols + j;
  if (SINGLE == 1) {
    A[at] = bits.x;
  } else {
    A[2u * at] = bits.x;
    A[2u * at + 1u] = bits.y;
  }
}

fn numberOf(bits: vec2<u32>) -> vec2<u32> { return resultAsNumber(bits, SINGLE == 1); }

// A result for row position i and column j. An entry that overflows is noted and stored as 0: later entries stay finite, and are not used.
fn finiteOr0(bits: vec2<u32>, i: u32, j: u32) -> vec2<u32> {
  if (isNumber(numberOf(bits))) { return bits; }
  atomicMin(&state[stateAt + OVERFLOW], j * args.rows + i);
  return vec2<u32>(0u, 0u);
}

// The sum of an entry: `before` is that over k < first, and `within` the number of products in the block.
fn sumOfEntry(before: Window, i: u32, j: u32, within: u32) -> Sum {
  var a = before;
  addTerm(&a, termOfNumber(entry(i, j)));
  var inBlock = emptyWindow();
  for (var k = 0u; k < within; k++) { addProduct(&inBlock, entry(i, args.first + k), upperEntry(k, j), 0x80000000u); }
  extend(&inBlock);
  addWindow(&a, &inBlock);
  // n + 4 L of limbs.wgsl: the products and a_ij; a lane for each part, and two for what is added here.
  return sumOf(a, args.first + args.width + 1u + 4u * (args.parts + 2u));
}

// The entry that the group sums exactly: its place, and how many products are within the block.
var<workgroup> exactRow: u32;
var<workgroup> exactCol: u32;
var<workgroup> exactWithin: u32;
var<workgroup> open: array<u32, GROUP>; // the lanes whose entries are not proved
var<workgroup> openCount: atomic<u32>;
var<workgroup> openNow: u32;
var<workgroup> exactBits: vec2<u32>;

fn termAt(k: u32) -> Term {
  if (k == args.first + exactWithin) { return termOfNumber(entry(exactRow, exactCol)); }
  var u: vec2<u32>;
  if (k < args.first) { u = entry(k, exactCol); } else { u = upperEntry(k - args.first, exactCol); }
  return termOfProduct(negated(entry(exactRow, k)), u);
}

// A result that is not proved is left to settleOpen().
fn provedOrOpen(result: Result, lane: u32) -> vec2<u32> {
  if (!result.proved) { open[atomicAdd(&openCount, 1u)] = lane; }
  return result.bits;
}

// The results of all lanes, whose entries are (i, j): those that are not proved are summed exactly, one after another, by the whole group.
// All lanes must call it, with openCount 0 before provedOrOpen().
fn settleOpen(bits: vec2<u32>, lane: u32, i: u32, j: u32, within: u32) -> vec2<u32> {
  storageBarrier();
  workgroupBarrier();
  if (lane == 0u) {
    openNow = atomicLoad(&openCount);
    atomicStore(&openCount, 0u);
  }
  var settled = bits;
  let count = workgroupUniformLoad(&openNow);
  for (var o = 0u; o < count; o++) {
    if (lane == open[o]) {
      exactRow = i;
      exactCol = j;
      exactWithin = within;
    }
    workgroupBarrier();
    sumTerms(lane, args.first + exactWithin + 1u);
    if (lane == 0u) { exactBits = roundSum(Sum(leadingDigits(), 0u, 0), SINGLE == 1).bits; }
    workgroupBarrier();
    if (lane == open[o]) { settled = exactBits; }
    workgroupBarrier();
  }
  return settled;
}
