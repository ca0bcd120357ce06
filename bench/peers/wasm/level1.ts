// The plain loops that the exact ones are measured against, in AssemblyScript: four accumulators of two lanes, every product
// and sum rounded. One body for three operations: an operation is a type, distinguished by its size at compile time.
type Sum = i8;
type Asum = i16;
type Dot = i32;

function fold<Op>(px: usize, py: usize, n: i32): f64 {
  const isDot = sizeof<Op>() === sizeof<Dot>();
  const isAsum = sizeof<Op>() === sizeof<Asum>();
  let a = f64x2.splat(0);
  let b = a;
  let c = a;
  let d = a;
  const whole = px + ((n & ~7) as usize) * 8;
  const end = px + (n as usize) * 8;
  for (; px !== whole; px += 64, py += 64) {
    let x = v128.load(px);
    a = f64x2.add(a, isDot ? f64x2.mul(x, v128.load(py)) : isAsum ? f64x2.abs(x) : x);
    x = v128.load(px, 16);
    b = f64x2.add(b, isDot ? f64x2.mul(x, v128.load(py, 16)) : isAsum ? f64x2.abs(x) : x);
    x = v128.load(px, 32);
    c = f64x2.add(c, isDot ? f64x2.mul(x, v128.load(py, 32)) : isAsum ? f64x2.abs(x) : x);
    x = v128.load(px, 48);
    d = f64x2.add(d, isDot ? f64x2.mul(x, v128.load(py, 48)) : isAsum ? f64x2.abs(x) : x);
  }
  a = f64x2.add(f64x2.add(a, b), f64x2.add(c, d));
  let sum = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
  for (; px !== end; px += 8, py += 8) {
    const x = f64.load(px);
    sum += isDot ? x * f64.load(py) : isAsum ? abs(x) : x;
  }
  return sum;
}

export function sum(px: usize, n: i32): f64 {
  return fold<Sum>(px, px, n);
}

export function asum(px: usize, n: i32): f64 {
  return fold<Asum>(px, px, n);
}

export function dot(px: usize, py: usize, n: i32): f64 {
  return fold<Dot>(px, py, n);
}
