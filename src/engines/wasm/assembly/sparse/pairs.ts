// The entries of a sparse row and the elements of x that they refer to, two at a time, as lanes. Used by sparse products (spmv.ts) and
// triangular solves (exactRows.ts).

// Two entries, or the last one of an odd row, with a zero in the other lane.
@inline export function entries<T>(value: usize, alone: bool): v128 {
  return sizeof<T>() == 8
    ? alone ? v128.load64_zero(value) : v128.load(value)
    : f64x2.promote_low_f32x4(alone ? v128.load32_zero(value) : v128.load64_zero(value));
}
// The elements of x, `step` bytes apart, at two indices, or at one.
@inline export function gathered<T>(x: usize, index: usize, alone: bool, step: usize = sizeof<T>()): v128 {
  const p = x + <usize>i32.load(index) * step;
  if (sizeof<T>() == 8) return alone ? v128.load64_zero(p) : v128.load_lane<f64>(x + <usize>i32.load(index, 4) * step, v128.load64_zero(p), 1);
  return f64x2.promote_low_f32x4(alone ? v128.load32_zero(p) : v128.load_lane<f32>(x + <usize>i32.load(index, 4) * step, v128.load32_zero(p), 1));
}
