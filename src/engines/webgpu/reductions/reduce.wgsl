// Sums, sums of magnitudes, dot products and sums of squares, launched by reduce.ts. `reduce` needs one pass over memory: each lane adds its
// terms to a window, and each work-group writes the sum of its windows. `reduceExactly` adds the bits of every term that lie in a window of
// given digits; one launch has several such windows, one below the other.
//
// Loads have 16 bytes. A unit is WIDTH elements: 2 if both operands are binary64, else 4.
const SUM = 0;
const ASUM = 1;
const DOT = 2;
const SQUARE = 3;

struct Args {
  count: u32,  // elements
  groups: u32, // of one window
  first: u32,  // the first record
  top: i32,    // reduceExactly: the digit above the first window
}
@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> y: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> records: array<u32>;
@group(1) @binding(0) var<uniform> args: Args;

// The window of a work-group, and the digit above all of its terms, or in reduceExactly of what its terms have below the window.
const WORDS = RECORD + 1u;

// The 16 bytes of an operand in which element k of a unit is, and the element.
fn loadIndex(unit: u32, k: u32, single: bool) -> u32 {
  if (single || WIDTH == 2) { return unit; }
  return 2u * unit + k / 2u;
}

fn elementOf(v: vec4<u32>, k: u32, single: bool) -> vec2<u32> {
  if (single) { return widened(v[k]); }
  return select(v.zw, v.xy, (k & 1u) == 0u);
}

fn termAt(p: vec2<u32>, q: vec2<u32>) -> Term {
  if (OP == SUM || OP == ASUM) { return termOfNumber(p); }
  return termOfProduct(p, q);
}

// Element k of a unit of x, with the sign that OP gives it.
fn elementOfX(k: u32, v: vec4<u32>) -> vec2<u32> {
  var p = elementOf(v, k, X_SINGLE == 1);
  if (OP == ASUM) { p.y &= 0x7fffffffu; }
  return p;
}

var<workgroup> top: atomic<i32>;

fn write(a: ptr<function, Window>, lane: u32, record: u32) {
  workgroupBarrier();
  gather(a, lane, lane, u32(GROUP), 1u);
  if (lane == 0u) {
    let r = recordOf(a);
    for (var i = 0u; i < RECORD; i++) { records[record * WORDS + i] = r[i]; }
    records[record * WORDS + RECORD] = bitcast<u32>(atomicLoad(&top));
  }
}

@compute @workgroup_size(GROUP)
fn reduce(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) { atomicStore(&top, EMPTY); }
  var a = emptyLimbs();
  let units = (args.count + u32(WIDTH) - 1u) / u32(WIDTH);
  for (var unit = group.x * u32(GROUP) + lane; unit < units; unit += args.groups * u32(GROUP)) {
    var v = x[loadIndex(unit, 0u, X_SINGLE == 1)];
    var w = v;
    if (OP == DOT) { w = y[loadIndex(unit, 0u, Y_SINGLE == 1)]; }
    let left = args.count - unit * u32(WIDTH);
    for (var k = 0u; k < u32(WIDTH); k++) {
      if (WIDTH == 4 && k == 2u) {
        if (X_SINGLE == 0) { v = x[loadIndex(unit, k, false)]; }
        if (OP == DOT && Y_SINGLE == 0) { w = y[loadIndex(unit, k, false)]; }
      }
      var p = elementOfX(k, v);
      if (k >= left) { p = vec2<u32>(0u, 0u); }
      if (OP == SUM || OP == ASUM) {
        addNumberLimbs(&a, p, 0u);
      } else if (OP == SQUARE) {
        addProductLimbs(&a, p, p, 0u);
      } else {
        var q = elementOf(w, k, Y_SINGLE == 1);
        if (k >= left) { q = p; }
        addProductLimbs(&a, p, q, 0u);
      }
    }
  }
  workgroupBarrier();
  atomicMax(&top, endOfLimbs(&a));
  var sum = windowOfLimbs(&a);
  write(&sum, lane, args.first + group.x);
}

// The window that begins 6 (group.y + 1) digits below args.top.
@compute @workgroup_size(GROUP)
fn reduceExactly(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (lane == 0u) { atomicStore(&top, EMPTY); }
  let digit = args.top - 6 * i32(group.y + 1u);
  var a = emptyWindow();
  a.digit = digit;
  var below = EMPTY;
  for (var i = group.x * u32(GROUP) + lane; i < args.count; i += args.groups * u32(GROUP)) {
    let unit = i / u32(WIDTH);
    let k = i % u32(WIDTH);
    let p = elementOfX(k, x[loadIndex(unit, k, X_SINGLE == 1)]);
    var q = p;
    if (OP == DOT) { q = elementOf(y[loadIndex(unit, k, Y_SINGLE == 1)], k, Y_SINGLE == 1); }
    below = max(below, addInside(&a, termAt(p, q)));
  }
  workgroupBarrier();
  atomicMax(&top, below);
  write(&a, lane, args.first + group.y * args.groups + group.x);
}
