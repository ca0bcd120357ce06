// Multiply-adds in registers and nothing else, in AssemblyScript: the peak rate of the arithmetic. Twelve chains hide the
// latency of four cycles on machines that start up to three per cycle, and leave registers for the factors.

@inline function step32(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

@inline function step64(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f64x2.relaxed_madd(a, b, c) : f64x2.add(f64x2.mul(a, b), c);
}

@inline function step<T>(a: v128, b: v128, c: v128): v128 {
  return sizeof<T>() === 4 ? step32(a, b, c) : step64(a, b, c);
}

// `steps` times twelve multiply-adds of all lanes; the result goes to 16 bytes at `to`.
@inline function chains<T>(steps: i32, a: v128, b: v128, to: usize): void {
  let c0 = a, c1 = a, c2 = a, c3 = a, c4 = a, c5 = a, c6 = a, c7 = a, c8 = a, c9 = a, c10 = a, c11 = a;
  for (let i = 0; i < steps; i++) {
    c0 = step<T>(a, b, c0);
    c1 = step<T>(b, a, c1);
    c2 = step<T>(a, a, c2);
    c3 = step<T>(b, b, c3);
    c4 = step<T>(a, b, c4);
    c5 = step<T>(b, a, c5);
    c6 = step<T>(a, a, c6);
    c7 = step<T>(b, b, c7);
    c8 = step<T>(a, b, c8);
    c9 = step<T>(b, a, c9);
    c10 = step<T>(a, a, c10);
    c11 = step<T>(b, b, c11);
  }
  v128.store(to, v128.xor(v128.xor(v128.xor(c0, c1), v128.xor(c2, c3)), v128.xor(v128.xor(c4, c5), v128.xor(c6, c7))));
  v128.store(to, v128.xor(v128.load(to), v128.xor(v128.xor(c8, c9), v128.xor(c10, c11))));
}

/** 96 operations per step in binary32. */
export function peak32(steps: i32, x: f32, to: usize): void {
  chains<f32>(steps, f32x4.splat(x), f32x4.splat(x + x), to);
}

/** 48 operations per step in binary64. */
export function peak64(steps: i32, x: f64, to: usize): void {
  chains<f64>(steps, f64x2.splat(x), f64x2.splat(x + x), to);
}
