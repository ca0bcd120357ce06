// The largest and the smallest magnitude among the terms of a block: what the grids are placed by.
import { LARGEST, SMALLEST } from "./layout";
import { load, mul, splat } from "./simd";

@inline export const SUM: i32 = 0;
@inline export const ASUM: i32 = 1;
@inline export const DOT: i32 = 2;

// The term made of x (and y). For binary32 data a product of two is exact in binary64; for binary64 it is rounded.
@inline export function term(op: i32, x: v128, y: v128): v128 {
  return op == DOT ? mul(x, y) : op == ASUM ? f64x2.abs(x) : x;
}

// NaN does not show here (pmax and pmin pass it over); the sums that follow catch it.
@inline export function range<T>(op: i32, px: usize, py: usize, n: i32): void {
  let large = splat(0), small = splat(Infinity);
  for (let i: usize = 0; i < <usize>n; i += 2) {
    const x = load<T>(px, i), a = f64x2.abs(op == DOT ? mul(x, load<T>(py, i)) : x);
    large = f64x2.pmax(large, a);
    small = f64x2.pmin(small, a);
  }
  store<f64>(LARGEST, max(f64x2.extract_lane(large, 0), f64x2.extract_lane(large, 1)));
  store<f64>(SMALLEST, min(f64x2.extract_lane(small, 0), f64x2.extract_lane(small, 1)));
}

// The least k with x < 2^k, for x finite and normal.
@inline export function binade(x: f64): i32 { return (<i32>(reinterpret<i64>(x) >>> 52) & 0x7ff) - 1022; }
// The least k with n <= 2^k.
@inline export function log2Up(n: i32): i32 { return n <= 1 ? 0 : 32 - clz(n - 1); }
@inline export function powerOfTwo(k: i32): f64 { return reinterpret<f64>(<i64>(k + 1023) << 52); }
