// Stages 2 and 3 for one entry of a matrix routine that the certificate does not decide: the terms go through the ladder and, if
// that does not decide either, exactly into the superaccumulator.
import { frame } from "../frame";
import { CORRECTED, HIGH, PAPER, ROUND, SCRATCH_OUT, SINGLE } from "../layout";
import { clear, depositGathered, dropGathered, encloseGathered, exactLadder, gather } from "./ladder";
import { Dot } from "../range";
import { mul, one, splat } from "../simd";
import { BOUND_SLACK, addExactly, certifiedEntry, combine, divide } from "./certificate";
import { addNumber, addProduct, quotient, round, scale, special } from "./superaccumulator";

// The entry: alpha * (sum of a_k b_k) + beta * y + extra, then the finish (JOB_FINISH). a and b have any strides (in bytes); in a sparse
// row, b_k is at an index.
let pa: usize = 0, stepA: usize = 0, pb: usize = 0, stepB: usize = 0, count: i32 = 0, indices: usize = 0;
let alpha: f64 = 0, beta: f64 = 0, y: f64 = 0, extra: f64 = 0;

export function setTerms(a: usize, aStep: usize, b: usize, bStep: usize, n: i32): void {
  pa = a; stepA = aStep; pb = b; stepB = bStep; count = n; indices = 0;
}
// After setTerms: b_k is the element of b at the k-th of these indices.
export function setGathered(at: usize): void { indices = at; }
export function setScalars(a: f64, b: f64, value: f64, more: f64): void { alpha = a; beta = b; y = value; extra = more; }

// Terms packed at a time, in two halves of one block of scratch memory.
@inline const MAX_PACKED: i32 = 4096;

// n elements with a stride or, if `index` is set, at indices, followed by zeros up to a multiple of 8.
function pack<T>(p: usize, step: usize, index: usize, n: i32, to: usize): void {
  let i = 0;
  if (index != 0) for (; i < n; ++i, index += 4) f64.store(to + (i << 3), one<T>(p + <usize>i32.load(index) * step));
  else for (; i < n; ++i, p += step) f64.store(to + (i << 3), one<T>(p));
  for (; (i & 7) != 0; ++i) f64.store(to + (i << 3), 0);
}

// Pack the products that are not zero if there are at most FEW of them, as in rows of sparse matrices, and make them the terms. A product
// is left out only if it is exactly zero: a factor is, and the other is finite (an infinity times zero is NaN).
@inline const FEW: i32 = 32;
function packFew<T>(): bool {
  if (count <= FEW || alpha - alpha != 0) return false;
  const x = frame + SCRATCH_OUT, z = x + (MAX_PACKED << 3);
  const inPlace = sizeof<T>() == 8 && stepA == 8 && stepB == 8 && indices == 0;
  let found = 0;
  for (let i = 0, p = pa, q = pb; i < count; ++i, p += stepA, q += stepB) {
    if (inPlace) // two at a time
      for (; i + 1 < count && !v128.any_true(isTerm(v128.load(p), v128.load(q))); i += 2) { p += 16; q += 16; }
    if (i >= count) break;
    const a = one<T>(p), b = one<T>(indices == 0 ? q : pb + <usize>i32.load(indices + (<usize>i << 2)) * stepB);
    if (a * b == 0 && (a == 0 || b == 0)) continue;
    if (found == FEW) return false;
    f64.store(x + (found << 3), a);
    f64.store(z + (found << 3), b);
    ++found;
  }
  for (; (found & 7) != 0; ++found) { f64.store(x + (found << 3), 0); f64.store(z + (found << 3), 0); }
  setTerms(x, 8, z, 8, found);
  return true;
}
@inline function isTerm(a: v128, b: v128): v128 {
  const zero = splat(0);
  return v128.or(f64x2.ne(mul(a, b), zero), v128.and(f64x2.ne(a, zero), f64x2.ne(b, zero)));
}

// Add the products to the accumulator; returns the bound of what was lost. Unless `exact`, the last of them are gathered and not
// deposited yet.
function addProducts<T>(exact: bool): f64 {
  clear();
  let bound: f64 = 0;
  const x = frame + SCRATCH_OUT, z = x + (MAX_PACKED << 3);
  let from = 0;
  if (sizeof<T>() == 8 && stepA == 8 && stepB == 8 && indices == 0 && alpha - alpha == 0) { // in place, except for the last few
    from = count & ~7;
    if (exact) exactLadder<f64, Dot>(pa, pb, from);
    else bound = gather<f64, Dot>(pa, pb, from);
  }
  for (; from < count; from += MAX_PACKED) {
    const n = min(MAX_PACKED, count - from), padded = (n + 7) & ~7;
    pack<T>(pa + <usize>from * stepA, stepA, 0, n, x);
    if (indices != 0) pack<T>(pb, stepB, indices + (<usize>from << 2), n, z);
    else pack<T>(pb + <usize>from * stepB, stepB, 0, n, z);
    if (!(alpha - alpha == 0)) addInfinite(x, z, n);
    else if (exact) exactLadder<f64, Dot>(x, z, padded);
    else bound += gather<f64, Dot>(x, z, padded);
  }
  return bound;
}

// Scale the products in the accumulator by alpha and add the other terms. Returns the scaled bound.
function addOthers(bound: f64): f64 {
  if (alpha != 1 && alpha - alpha == 0) {
    scale(alpha);
    if (bound != 0) bound = bound * abs(alpha) + 4 * f64.MIN_VALUE; // must not underflow to 0
  }
  if (beta != 0) addProduct(beta, y);
  addNumber(extra);
  return bound;
}

// Terms with an infinite alpha, or a NaN: each is NaN or an infinity.
function addInfinite(x: usize, z: usize, n: i32): void {
  for (let i = 0; i < n; ++i) addNumber(alpha * sign(f64.load(x + (i << 3))) * sign(f64.load(z + (i << 3))));
}
@inline export function sign(v: f64): f64 { return v > 0 ? 1 : v < 0 ? -1 : v; }

function finish(kind: i32, d: f64, single: bool): f64 {
  if (kind == SINGLE) return quotient(d, single);
  const s = round(single);
  if (kind == ROUND) return s;
  const q = divide(s, d, single);
  if (kind == PAPER || special() != 0) return q;
  if (!(s - s == 0)) return NaN; // the sum overflowed: an infinity, corrected by the opposite one
  addNumber(-s);
  const r = quotient(d, single);
  addNumber(s);
  const sum = single ? <f64>(<f32>q + <f32>r) : q + r;
  return sum == 0 ? 0 : sum;
}

// Whether the filter would have decided the last entry: on 4096 terms it loses 2^-72 of the largest and must know 54 bits; the ladder
// loses 2^-163.
export let filterSuffices: bool = false;
@inline const FILTER_MARGIN: f64 = 4.460149039706125e43; // 2^145

// The entry that setTerms and setScalars describe. A bound that is NaN, or an infinity among the terms, does no harm: the
// accumulator's flags for special terms are exact in both cases.
export function settle<T>(kind: i32, d: f64, single: bool): f64 {
  return packFew<T>() ? settleTerms<f64>(kind, d, single) : settleTerms<T>(kind, d, single);
}
function settleTerms<T>(kind: i32, d: f64, single: bool): f64 {
  const bound = addProducts<T>(false);
  filterSuffices = false;
  if (alpha - alpha == 0 && encloseGathered(frame, bound)) {
    // Without the accumulator, which saves 0.3 us.
    if (alpha != 1 || beta != 0) combine(frame, alpha, beta, y);
    if (extra != 0) addExactly(frame, extra);
    filterSuffices = abs(f64.load(frame, HIGH)) > abs(alpha) * bound * FILTER_MARGIN;
    const v = certifiedEntry(frame, kind, d, single);
    if (v == v) { dropGathered(); return v; }
  }
  depositGathered();
  const lost = addOthers(bound) * BOUND_SLACK; // the bound is itself a sum of rounded numbers
  if (lost == 0) return finish(kind, d, single);
  if (lost < 1e300 && count > FEW) { // a few terms are added exactly sooner
    addNumber(lost);
    const over = finish(kind, d, single), top = kind == CORRECTED ? round(single) : 0;
    addNumber(-lost);
    addNumber(-lost);
    const under = finish(kind, d, single), bottom = kind == CORRECTED ? round(single) : 0;
    // Compare bits, because -0 and +0 are the two ends of an interval around zero. Equation (3) is monotone in s only while RN(s)
    // does not change, so the ends of RN(s) must agree too.
    if (reinterpret<i64>(over) == reinterpret<i64>(under) && reinterpret<i64>(top) == reinterpret<i64>(bottom)) return over;
  }
  addProducts<T>(true);
  addOthers(0);
  return finish(kind, d, single);
}
