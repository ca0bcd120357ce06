// The terms of a block one by one: the deposit of every term in the superaccumulator, which is stage 3 of a reduction, and the test
// whether the products of a block have exact error terms.
import { isAsum, isDot } from "../range";
import { load, mul, one, splat, sub } from "../simd";
import { addNumber, addProduct } from "./superaccumulator";

export function accumulate<T, Op>(px: usize, py: usize, n: i32): void {
  for (const end = px + <usize>n * sizeof<T>(); px != end; px += sizeof<T>(), py += sizeof<T>()) {
    const x = one<T>(px);
    if (isDot<Op>()) addProduct(x, one<T>(py));
    else addNumber(isAsum<Op>() ? abs(x) : x);
  }
}

// Whether TwoProd's error terms are exact: every product is at least 2^-960, or has a zero factor.
@inline export const MIN_PRODUCT: f64 = 1.0261342003245941e-289; // 2^-960
export function productsExact(px: usize, py: usize, n: i32): bool {
  const zero = splat(0), minProduct = splat(MIN_PRODUCT);
  let exact = i64x2.splat(-1);
  for (const end = px + (<usize>n << 3); px != end; px += 16, py += 16) {
    const x = load<f64>(px), y = load<f64>(py);
    exact = v128.and(exact, v128.or(v128.or(f64x2.eq(x, zero), f64x2.eq(y, zero)), f64x2.ge(f64x2.abs(mul(x, y)), minProduct)));
  }
  return i64x2.all_true(exact);
}

@inline export function finite(v: v128): bool { const z = sub(v, v); return f64x2.extract_lane(z, 0) == 0 && f64x2.extract_lane(z, 1) == 0; }
