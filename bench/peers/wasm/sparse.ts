// The plain loops of a sparse product and of conjugate gradients, in AssemblyScript: every product and sum rounded. Matrices are stored
// by rows with indices of 32 bits; lengths are counted in entries.

// One entry of y: two sums, so that an addition need not wait for the one before.
@inline function row(p: i32, end: i32, indices: usize, values: usize, px: usize): f64 {
  let a: f64 = 0;
  let b: f64 = 0;
  for (; p + 1 < end; p += 2) {
    const pi = indices + ((p as usize) << 2);
    const pv = values + ((p as usize) << 3);
    a += f64.load(pv) * f64.load(px + ((i32.load(pi) as usize) << 3));
    b += f64.load(pv, 8) * f64.load(px + ((i32.load(pi, 4) as usize) << 3));
  }
  if (p < end) a += f64.load(values + ((p as usize) << 3)) * f64.load(px + ((i32.load(indices + ((p as usize) << 2)) as usize) << 3));
  return a + b;
}

/** y := A x */
export function spmv(n: i32, pointers: usize, indices: usize, values: usize, px: usize, py: usize): void {
  let from = i32.load(pointers);
  for (let i = 0; i < n; i++) {
    const end = i32.load(pointers + (((i + 1) as usize) << 2));
    f64.store(py + ((i as usize) << 3), row(from, end, indices, values, px));
    from = end;
  }
}

/** y := alpha x + y */
export function axpy(n: i32, alpha: f64, px: usize, py: usize): void {
  const factor = f64x2.splat(alpha);
  const whole = py + ((n & ~1) as usize) * 8;
  for (; py !== whole; px += 16, py += 16) v128.store(py, f64x2.add(f64x2.mul(factor, v128.load(px)), v128.load(py)));
  if (n & 1) f64.store(py, alpha * f64.load(px) + f64.load(py));
}

/** y := x + beta y */
export function xpay(n: i32, px: usize, beta: f64, py: usize): void {
  const factor = f64x2.splat(beta);
  const whole = py + ((n & ~1) as usize) * 8;
  for (; py !== whole; px += 16, py += 16) v128.store(py, f64x2.add(v128.load(px), f64x2.mul(factor, v128.load(py))));
  if (n & 1) f64.store(py, f64.load(px) + beta * f64.load(py));
}

/** z := x y, entry by entry */
export function multiply(n: i32, px: usize, py: usize, pz: usize): void {
  const whole = pz + ((n & ~1) as usize) * 8;
  for (; pz !== whole; px += 16, py += 16, pz += 16) v128.store(pz, f64x2.mul(v128.load(px), v128.load(py)));
  if (n & 1) f64.store(pz, f64.load(px) * f64.load(py));
}
