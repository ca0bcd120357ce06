// A dot product of few terms, for dense/trsv.ts and dense/rows.ts: a compensated sum with a bound (the papers' TwoProd and TwoSum), two terms
// at a time. It takes more operations per term than filter.ts, but needs no grid, and so no pass to place one.
//
// Two lanes of N terms p each, S = sum |p|, u = 2^-53. No partial sum exceeds S (up to a factor 1 + N u). A step adds RN(e - f) to c, where e is
// the error of the sum, at most u S, and f that of the product, at most u |p|: two roundings, of at most u^2 (S + |p|) and u |c| with
// |c| <= (i + 1) u S after i steps. Together at most u^2 S (N^2 / 2 + 2.5 N + 2), well below u^2 S (N + 5)^2, which also covers the rounding of
// S. An underflowing product adds less than four times the smallest number. closeBlock() counts what adding the lanes to the record costs.
import { closeBlock } from "./filter";
import { U, add, load, mul, one, productExcess, sub, sumError } from "../simd";

// As many terms are not slower this way than by filter(): on a Zen 4, extrsv of order 16 takes 1.7 instead of 2.4 us, of order 4096 5.4
// instead of 5.7 ms.
@inline export const SHORT: i32 = 64;

// Add n terms to the record. If a sum overflows, the bound does too, and the record encloses nothing.
export function shortDot<T>(record: usize, px: usize, py: usize, n: i32): void {
  let s = f64x2.splat(0), c = s, size = s;
  const steps = <f64>((n + 1) >> 1) + 5;
  for (; n > 0; n -= 2, px += 2 * sizeof<T>(), py += 2 * sizeof<T>()) {
    const isPair = n > 1, x = isPair ? load<T>(px) : f64x2(one<T>(px), 0), y = isPair ? load<T>(py) : f64x2(one<T>(py), 0);
    const product = mul(x, y), t = add(s, product), error = sumError(s, product, t);
    c = add(c, sizeof<T>() == 8 ? sub(error, productExcess(x, y, product)) : error);
    size = add(size, f64x2.abs(product));
    s = t;
  }
  const S = f64x2.extract_lane(size, 0) + f64x2.extract_lane(size, 1);
  closeBlock(record, s, c, steps * steps * (U * U * S + (sizeof<T>() == 8 ? 2 * f64.MIN_VALUE : 0)));
}
