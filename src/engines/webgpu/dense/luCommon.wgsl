// Common to the kernels of exlu, launched by lu.ts; see the LU paper. A is stored by rows. Each entry is one sum of products,
//   s_ij = RN(a_ij - sum over k < min(i, j) of l_ik u_kj),
// so the order of work is free. The sums over k < first, where a block of columns begins, are windows of tiles.wgsl.
struct Args {
  rows: u32,
  cols: u32,
  first: u32,  // of the block
  width: u32,  // columns of the block
  step: u32,   // the column of the block that a launch of luStep sums
  groups: u32, // of luStep
  parts: u32,  // windows of an entry
  right: u32,  // the first column to the right of the block
}
@group(0) @binding(0) var<storage, read_write> A: array<u32>;
@group(0) @binding(1) var<storage, read> records: array<u32>;
// For each row two words, the sum in the current column, then for each row its position; two lists of candidates, four words for each
// group; U in the block, by rows. Sums and U are results of the format: words as in Result.
@group(0) @binding(2) var<storage, read_write> work: array<u32>;
@group(0) @binding(3) var<storage, read_write> state: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> args: Args;

// The state: the first entry that overflowed, as column * rows + row; 1 + the column of a zero pivot; the pivots.
const OVERFLOW = 0;
const INFO = 1;
const PIVOTS = 2u;

fn positions() -> u32 { return 2u * args.rows; }
fn candidates(step: u32) -> u32 { return 3u * args.rows + 4u * args.groups * (step & 1u); }
fn upper(k: u32, c: u32) -> u32 { return 3u * args.rows + 8u * args.groups + 2u * (k * args.width + c); }

fn entry(i: u32, j: u32) -> vec2<u32> {
  let at = i * args.cols + j;
  if (SINGLE == 1) { return widened(A[at]); }
  return vec2<u32>(A[2u * at], A[2u * at + 1u]);
}

// Store a result.
fn putEntry(i: u32, j: u32, bits: vec2<u32>) {
  let at = i * args.cols + j;
  if (SINGLE == 1) {
    A[at] = bits.x;
  } else {
    A[2u * at] = bits.x;
    A[2u * at + 1u] = bits.y;
  }
}

fn numberOf(bits: vec2<u32>) -> vec2<u32> { return resultAsNumber(bits, SINGLE == 1); }

fn workAt(at: u32) -> vec2<u32> { return vec2<u32>(work[at], work[at + 1u]); }
fn putWork(at: u32, v: vec2<u32>) {
  work[at] = v.x;
  work[at + 1u] = v.y;
}

// A result for row position i and column j. An entry that overflows is noted and stored as 0: later entries stay finite, and are not used.
fn finiteOr0(bits: vec2<u32>, i: u32, j: u32) -> vec2<u32> {
  if (isNumber(numberOf(bits))) { return bits; }
  atomicMin(&state[OVERFLOW], j * args.rows + i);
  return vec2<u32>(0u, 0u);
}

// The window of the sum over k < first, entry `at` of `count`.
fn windowBefore(at: u32, count: u32) -> Window {
  var a = emptyWindow();
  for (var part = 0u; part < args.parts; part++) {
    var r: array<u32, RECORD>;
    for (var k = 0u; k < RECORD; k++) { r[k] = records[(part * count + at) * RECORD + k]; }
    var b = windowOfRecord(r);
    addWindow(&a, &b);
  }
  return a;
}

// n + 4 L of limbs.wgsl: the products and a_ij; a lane for each part, and two for what is added here.
fn lossOfEntry() -> u32 { return args.first + args.width + 1u + 4u * (args.parts + 2u); }

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
  if (k < args.first) { u = entry(k, exactCol); } else { u = upperEntry(k - args.first); }
  return termOfProduct(negated(entry(exactRow, k)), u);
}

// The lanes that the group must serve: their number, for all lanes.
fn takeOpen(lane: u32) -> u32 {
  storageBarrier();
  workgroupBarrier();
  if (lane == 0u) {
    openNow = atomicLoad(&openCount);
    atomicStore(&openCount, 0u);
  }
  return workgroupUniformLoad(&openNow);
}

fn sumExactly(lane: u32, within: u32) {
  if (lane == 0u) { exactWithin = within; }
  sumTerms(lane, args.first + within + 1u);
  if (lane == 0u) { exactBits = roundSum(Sum(leadingDigits(), 0u, 0), SINGLE == 1).bits; }
  workgroupBarrier();
}
