// The kinds of reduction, and the largest and smallest magnitude among the terms of a block, from which the kernels place their
// grids (grid.ts).
import { load, mul, one, splat } from "./simd";

// The results of range().
export let largest: f64 = 0;
export let smallest: f64 = 0;

// A kind is a type, so that every kernel is compiled as a separate function for each kind. (A constant argument would need
// inlining, and a loop inlined into its caller loses registers: 0.43 ns per element instead of 0.30.) Any three types of different
// sizes will do.
export type Sum = i8;
export type Asum = i16;
export type Dot = i32;
@inline export function isDot<Op>(): bool { return sizeof<Op>() == sizeof<Dot>(); }
@inline export function isAsum<Op>(): bool { return sizeof<Op>() == sizeof<Asum>(); }

// Products of binary64 numbers are rounded and have an error term; all other terms are exact in binary64.
@inline export function isRounded<T, Op>(): bool { return isDot<Op>() && sizeof<T>() == 8; }

// The term for x (and y).
@inline export function term<Op>(x: v128, y: v128): v128 {
  return isDot<Op>() ? mul(x, y) : isAsum<Op>() ? f64x2.abs(x) : x;
}
// The second factor, if there is one.
@inline export function second<T, Op>(py: usize, x: v128): v128 { return isDot<Op>() ? load<T>(py) : x; }

// pmax and pmin ignore NaN; the sums that follow detect it.
export function range<T, Op>(px: usize, py: usize, n: i32): void {
  let large = splat(0), small = splat(Infinity);
  const stride = 2 * sizeof<T>();
  for (const end = px + <usize>(n >> 1) * stride; px != end; px += stride, py += stride) {
    const x = load<T>(px), a = f64x2.abs(term<Op>(x, second<T, Op>(py, x)));
    large = f64x2.pmax(large, a);
    small = f64x2.pmin(small, a);
  }
  if (n & 1) {
    const x = splat(one<T>(px)), a = f64x2.abs(term<Op>(x, isDot<Op>() ? splat(one<T>(py)) : x));
    large = f64x2.pmax(large, a);
    small = f64x2.pmin(small, a);
  }
  largest = max(f64x2.extract_lane(large, 0), f64x2.extract_lane(large, 1));
  smallest = min(f64x2.extract_lane(small, 0), f64x2.extract_lane(small, 1));
}
