// The entry point of the module for vectors: every stage for each kind of reduction in both precisions, and the element-wise routines.
// The host calls these exports by name (engines/wasm/arena.ts).
import { Axpy, Invscal, Scal, elementwise } from "./level1/elementwise";
import { expansion } from "./exact/expansion";
import { filter } from "./exact/filter";
import { frame } from "./frame";
import { exactLadder, ladder } from "./exact/ladder";
import { Asum, Dot, Sum } from "./range";
import { fused } from "./simd";
import { normalize } from "./exact/superaccumulator";
import { accumulate } from "./exact/terms";
export { clear } from "./exact/ladder";

function normalized(bound: f64): f64 { normalize(); return bound; }

export function filter_sum64(px: usize, py: usize, n: i32): bool { return filter<f64, Sum>(frame, px, py, n); }
export function ladder_sum64(px: usize, py: usize, n: i32): f64 { return normalized(ladder<f64, Sum>(px, py, n)); }
export function exact_sum64(px: usize, py: usize, n: i32): void { exactLadder<f64, Sum>(px, py, n); normalize(); }
export function expansion_sum64(px: usize, py: usize, n: i32, size: i32, early: bool): void { expansion<f64, Sum>(px, py, n, size, early); }
export function deposit_sum64(px: usize, py: usize, n: i32): void { accumulate<f64, Sum>(px, py, n); normalize(); }

export function filter_sum32(px: usize, py: usize, n: i32): bool { return filter<f32, Sum>(frame, px, py, n); }
export function ladder_sum32(px: usize, py: usize, n: i32): f64 { return normalized(ladder<f32, Sum>(px, py, n)); }
export function exact_sum32(px: usize, py: usize, n: i32): void { exactLadder<f32, Sum>(px, py, n); normalize(); }
export function expansion_sum32(px: usize, py: usize, n: i32, size: i32, early: bool): void { expansion<f32, Sum>(px, py, n, size, early); }
export function deposit_sum32(px: usize, py: usize, n: i32): void { accumulate<f32, Sum>(px, py, n); normalize(); }

export function filter_asum64(px: usize, py: usize, n: i32): bool { return filter<f64, Asum>(frame, px, py, n); }
export function ladder_asum64(px: usize, py: usize, n: i32): f64 { return normalized(ladder<f64, Asum>(px, py, n)); }
export function exact_asum64(px: usize, py: usize, n: i32): void { exactLadder<f64, Asum>(px, py, n); normalize(); }
export function expansion_asum64(px: usize, py: usize, n: i32, size: i32, early: bool): void { expansion<f64, Asum>(px, py, n, size, early); }
export function deposit_asum64(px: usize, py: usize, n: i32): void { accumulate<f64, Asum>(px, py, n); normalize(); }

export function filter_asum32(px: usize, py: usize, n: i32): bool { return filter<f32, Asum>(frame, px, py, n); }
export function ladder_asum32(px: usize, py: usize, n: i32): f64 { return normalized(ladder<f32, Asum>(px, py, n)); }
export function exact_asum32(px: usize, py: usize, n: i32): void { exactLadder<f32, Asum>(px, py, n); normalize(); }
export function expansion_asum32(px: usize, py: usize, n: i32, size: i32, early: bool): void { expansion<f32, Asum>(px, py, n, size, early); }
export function deposit_asum32(px: usize, py: usize, n: i32): void { accumulate<f32, Asum>(px, py, n); normalize(); }

export function filter_dot64(px: usize, py: usize, n: i32): bool { return filter<f64, Dot>(frame, px, py, n); }
export function ladder_dot64(px: usize, py: usize, n: i32): f64 { return normalized(ladder<f64, Dot>(px, py, n)); }
export function exact_dot64(px: usize, py: usize, n: i32): void { exactLadder<f64, Dot>(px, py, n); normalize(); }
export function expansion_dot64(px: usize, py: usize, n: i32, size: i32, early: bool): void { expansion<f64, Dot>(px, py, n, size, early); }
export function deposit_dot64(px: usize, py: usize, n: i32): void { accumulate<f64, Dot>(px, py, n); normalize(); }

export function filter_dot32(px: usize, py: usize, n: i32): bool { return filter<f32, Dot>(frame, px, py, n); }
export function ladder_dot32(px: usize, py: usize, n: i32): f64 { return normalized(ladder<f32, Dot>(px, py, n)); }
export function exact_dot32(px: usize, py: usize, n: i32): void { exactLadder<f32, Dot>(px, py, n); normalize(); }
export function expansion_dot32(px: usize, py: usize, n: i32, size: i32, early: bool): void { expansion<f32, Dot>(px, py, n, size, early); }
export function deposit_dot32(px: usize, py: usize, n: i32): void { accumulate<f32, Dot>(px, py, n); normalize(); }

export function scal64(alpha: f64, px: usize, py: usize, n: i32): i32 { return elementwise<f64, Scal>(alpha, px, py, n); }
export function scal32(alpha: f64, px: usize, py: usize, n: i32): i32 { return elementwise<f32, Scal>(alpha, px, py, n); }
export function invscal64(alpha: f64, px: usize, py: usize, n: i32): i32 { return elementwise<f64, Invscal>(alpha, px, py, n); }
export function invscal32(alpha: f64, px: usize, py: usize, n: i32): i32 { return elementwise<f32, Invscal>(alpha, px, py, n); }
export function axpy64(alpha: f64, px: usize, py: usize, n: i32): i32 { return elementwise<f64, Axpy>(alpha, px, py, n); }
export function axpy32(alpha: f64, px: usize, py: usize, n: i32): i32 { return elementwise<f32, Axpy>(alpha, px, py, n); }

// a * b + c as this machine computes it. The host passes a case where a single rounding gives a different result.
export function multiplyAdd(a: f64, b: f64, c: f64): f64 {
  return ASC_FEATURE_RELAXED_SIMD ? f64x2.extract_lane(fused(f64x2.splat(a), f64x2.splat(b), f64x2.splat(c)), 0) : a * b + c;
}
