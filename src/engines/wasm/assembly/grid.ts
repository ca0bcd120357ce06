// Grids: a sum that starts at G = 1.5 * 2^k and stays in the binade [2^k, 2^(k+1)) is a multiple of 2^(k-52), so that what an
// addition to it loses is exact. exact/filter.ts has the proof; every exact kernel sums on such grids.
import { U } from "./simd";

// Terms must be below this, so that no sum of them can overflow.
@inline export const MAX_TERM: f64 = 1e290;
// The exponent of the finest grid. On a finer one the error bounds would underflow.
@inline export const MIN_GRID: i32 = -900;

// The smallest k with x < 2^k, for x finite and normal.
@inline export function binade(x: f64): i32 { return (<i32>(reinterpret<i64>(x) >>> 52) & 0x7ff) - 1022; }
// The smallest k with n <= 2^k.
@inline export function log2Up(n: i32): i32 { return n <= 1 ? 0 : 32 - clz(n - 1); }
@inline export function powerOfTwo(k: i32): f64 { return reinterpret<f64>(<i64>(k + 1023) << 52); }

// The start of a sum on the grid with exponent k.
@inline export function grid(k: i32): f64 { return 1.5 * powerOfTwo(k); }
// h = 2^(k-53), the most that one addition on the grid G can lose.
@inline export function halfStep(G: f64): f64 { return G * (U / 1.5); }

// Whether numbers whose bits were combined with OR and with AND all have the same sign and exponent.
@inline export function sameBinade(or: v128, and: v128): bool {
  const x = v128.xor(or, and);
  return ((i64x2.extract_lane(x, 0) | i64x2.extract_lane(x, 1)) >>> 52) == 0;
}
