// The exact stage of the papers: floating-point expansions of 2 to 8 components in registers, Algorithm 3 of the triangular paper
// (ExpansionAccumulate, see src/exact/expansion.ts), in front of the superaccumulator. Kept for study and comparison: the ladder
// does the same work in half the operations. Always exact: a block in which TwoSum or TwoProd is not exact is deposited term by term.
import { frame } from "../frame";
import { SCRATCH_OUT } from "../layout";
import { MAX_TERM } from "../grid";
import { MIN_PRODUCT, accumulate, finite, productsExact } from "./terms";
import { isRounded, largest, range, second, smallest, term } from "../range";
import { add, load, productExcess, splat, sumError } from "../simd";
import { addNumber, normalize } from "./superaccumulator";

@inline function nonzero(x: v128): bool { return v128.any_true(f64x2.ne(x, splat(0))); }
function spill(x: v128): void {
  addNumber(f64x2.extract_lane(x, 0));
  addNumber(f64x2.extract_lane(x, 1));
}

// Terms in one block. What does not fit in the expansion, at most 32 bytes per pair of terms, is stored in SCRATCH_OUT until the
// loop is done. (A call inside the loop would cost it its registers.)
@inline const BLOCK: i32 = 2048;

function block<T, Op>(px: usize, py: usize, n: i32, size: i32, earlyExit: bool): void {
  const start = px;
  const rounded = isRounded<T, Op>();
  range<T, Op>(px, py, n);
  if (!(largest < MAX_TERM)
    || rounded && smallest < MIN_PRODUCT && !productsExact(px, py, n)) {
    accumulate<T, Op>(px, py, n);
    return;
  }
  let spilled: usize = frame + SCRATCH_OUT;
  let a0 = splat(0), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  const stride = 2 * sizeof<T>();
  for (const end = px + <usize>(n >> 1) * stride; px != end; px += stride, py += stride) {
    const u = load<T>(px), v = second<T, Op>(py, u);
    let x = term<Op>(u, v), s = add(a0, x);
    if (rounded) {
      // The error term of a product is 2^53 times smaller. It has a tail of its own, half as long, which is independent of the
      // product's expansion. (The LU paper gained 35 % by sending error terms past the head.)
      let e = f64x2.neg(productExcess(u, v, x)), t = add(b0, e);
      e = sumError(b0, e, t); b0 = t;
      if (size > 2 && (!earlyExit || nonzero(e))) { t = add(b1, e); e = sumError(b1, e, t); b1 = t; }
      if (size > 4 && (!earlyExit || nonzero(e))) { t = add(b2, e); e = sumError(b2, e, t); b2 = t; }
      if (size > 6 && (!earlyExit || nonzero(e))) { t = add(b3, e); e = sumError(b3, e, t); b3 = t; }
      if (nonzero(e)) { v128.store(spilled, e); spilled += 16; }
    }
    x = sumError(a0, x, s); a0 = s;
    if (!earlyExit || nonzero(x)) { s = add(a1, x); x = sumError(a1, x, s); a1 = s; }
    if (size > 2 && (!earlyExit || nonzero(x))) { s = add(a2, x); x = sumError(a2, x, s); a2 = s; }
    if (size > 3 && (!earlyExit || nonzero(x))) { s = add(a3, x); x = sumError(a3, x, s); a3 = s; }
    if (size > 4 && (!earlyExit || nonzero(x))) { s = add(a4, x); x = sumError(a4, x, s); a4 = s; }
    if (size > 5 && (!earlyExit || nonzero(x))) { s = add(a5, x); x = sumError(a5, x, s); a5 = s; }
    if (size > 6 && (!earlyExit || nonzero(x))) { s = add(a6, x); x = sumError(a6, x, s); a6 = s; }
    if (size > 7 && (!earlyExit || nonzero(x))) { s = add(a7, x); x = sumError(a7, x, s); a7 = s; }
    if (nonzero(x)) { v128.store(spilled, x); spilled += 16; }
  }
  // A NaN, from the terms or from an overflow in the split, stays in the expansion.
  if (!finite(add(add(add(add(a0, a1), add(a2, a3)), add(add(a4, a5), add(a6, a7))), add(add(b0, b1), add(b2, b3))))) {
    accumulate<T, Op>(start, py - px + start, n);
    return;
  }
  for (let p: usize = frame + SCRATCH_OUT; p != spilled; p += 16) spill(v128.load(p));
  spill(a0); spill(a1); spill(a2); spill(a3); spill(a4); spill(a5); spill(a6); spill(a7);
  if (rounded) { spill(b0); spill(b1); spill(b2); spill(b3); }
}

export function expansion<T, Op>(px: usize, py: usize, n: i32, size: i32, earlyExit: bool): void {
  while (n > 0) {
    const m = min(n, BLOCK);
    block<T, Op>(px, py, m, size, earlyExit);
    const step = <usize>m * sizeof<T>();
    px += step;
    py += step;
    n -= m;
  }
  normalize();
}
