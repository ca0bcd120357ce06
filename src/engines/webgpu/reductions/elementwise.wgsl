// x := alpha x, x := x / alpha, y := alpha x + y, one rounding per element, launched by elementwise.ts. These are IEEE 754's operations, the
// signs of zeros included.
const SCAL = 0;
const INVSCAL = 1;
const AXPY = 2;

struct Args {
  count: u32,
  groups: u32,
  alpha: vec2<u32>,
}
@group(0) @binding(0) var<storage, read> x: array<u32>; // read by AXPY only
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(1) @binding(0) var<uniform> args: Args;

fn signed_(zero: vec2<u32>, negative: bool) -> vec2<u32> {
  let sign = select(0u, 0x80000000u, negative);
  return select(zero, select(vec2<u32>(0u, sign), vec2<u32>(sign, 0u), SINGLE == 1), (zero.x | zero.y) == 0u);
}

fn element(alpha: vec2<u32>, v: vec2<u32>, w: vec2<u32>) -> vec2<u32> {
  let single = SINGLE == 1;
  let negative = ((alpha.y ^ v.y) >> 31u) != 0u;
  var s: Window;
  var divides = false;
  if (OP == INVSCAL) {
    let t = termOfNumber(v);
    if (isNaN(alpha) || isNaN(v) || (isZero(alpha) && isZero(v)) || (!isNumber(alpha) && !isNumber(v))) { return notANumber(single); }
    if (isZero(alpha) || !isNumber(v)) { return infinity(negative, single); }
    if (isZero(v) || !isNumber(alpha)) { return signed_(vec2<u32>(0u, 0u), negative); }
    s = windowOf(t);
    divides = true;
  } else {
    s = windowOf(termOfProduct(alpha, v));
    if (OP == AXPY) { addExactly(&s, termOfNumber(w)); }
  }
  if (s.special != 0u) { return resultOfSpecial(s.special, single); }
  // An exact zero: of a product it has the product's sign, of a sum only if both terms are zeros of that sign.
  if (isZeroWindow(&s)) {
    let bothZero = (isZero(alpha) || isZero(v)) && isZero(w) && (w.y >> 31u) != 0u;
    return signed_(vec2<u32>(0u, 0u), negative && (OP != AXPY || bothZero));
  }
  return roundWindow(s, alpha, divides, single);
}

fn load(isY: bool, i: u32) -> vec2<u32> {
  if (SINGLE == 1) {
    if (isY) { return widened(y[i]); }
    return widened(x[i]);
  }
  if (isY) { return vec2<u32>(y[2u * i], y[2u * i + 1u]); }
  return vec2<u32>(x[2u * i], x[2u * i + 1u]);
}

@compute @workgroup_size(GROUP)
fn map(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  for (var i = group.x * u32(GROUP) + lane; i < args.count; i += args.groups * u32(GROUP)) {
    let r = element(args.alpha, load(OP != AXPY, i), load(true, i));
    if (SINGLE == 1) {
      y[i] = r.x;
    } else {
      y[2u * i] = r.x;
      y[2u * i + 1u] = r.y;
    }
  }
}
