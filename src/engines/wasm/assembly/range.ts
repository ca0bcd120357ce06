// The kinds of reduction, and the largest and smallest magnitude among the terms of a block: what grids are placed by.
import { load, mul, one, splat } from "./simd";

// What range() found.
export let largest: f64 = 0;
export let smallest: f64 = 0;

// A kind is a type, so that each kernel is compiled once for every kind as a function of its own. (A constant
// argument would need inlining, and a loop inlined into its driver loses registers: 0.43 ns an element
// against 0.30.) Any three types of different sizes will do.
export type Sum = i8;
export type Asum = i16;
export type Dot = i32;
@inline export function isDot<Op>(): bool { return sizeof<Op>() == sizeof<Dot>(); }
@inline export function isAsum<Op>(): bool { return sizeof<Op>() == sizeof<Asum>(); }

// Products of binary64 numbers are rounded and have an error term; all other terms are exact in binary64.
@inline export function isRounded<T, Op>(): bool { return isDot<Op>() && sizeof<T>() == 8; }

// The term made of x (and y).
@inline export function term<Op>(x: v128, y: v128): v128 {
  return isDot<Op>() ? mul(x, y) : isAsum<Op>() ? f64x2.abs(x) : x;
}
// The second factor, where there is one.
@inline export function second<T, Op>(py: usize, x: v128): v128 { return isDot<Op>() ? load<T>(py) : x; }

// NaN does not show here (pmax and pmin pass it over); the sums that follow catch it.
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

// The least k with x < 2^k, for x finite and normal.
@inline export function binade(x: f64): i32 { return (<i32>(reinterpret<i64>(x) >>> 52) & 0x7ff) - 1022; }
// The least k with n <= 2^k.
@inline export function log2Up(n: i32): i32 { return n <= 1 ? 0 : 32 - clz(n - 1); }
@inline export function powerOfTwo(k: i32): f64 { return reinterpret<f64>(<i64>(k + 1023) << 52); }
