// Dot products of several rows with one vector, for gemv.ts and trsv.ts: exact/filter.ts on three rows at a time, with one grid. One
// row at a time is one stream from memory, and the processor fetches several streams nearly twice as fast (n = 4096: 0.73 ns per
// element by single rows, 0.48 ns by threes); x is loaded once for three rows. Four rows need too many registers (0.54 ns).
//
// Every row has two lanes of n terms each. As in filter.ts, u = 2^-53 and h = 2^(k-53): |c| grows by at most h per term, and a lane
// errs by u h n (n + 1) / 2 in c and, if r is rounded, by another u h n: together at most u h (n + 2)^2 for both lanes. With Dekker's
// products r is the rounded sum of two numbers of at most h each, which doubles the bound.
//
// Zeros at the beginning and at the end of the rows, as in bands and grids, are not summed.
import { closeBlock, filter } from "../exact/filter";
import { MAX_TERM, MIN_GRID, binade, grid, halfStep, log2Up, sameBinade } from "../grid";
import { NO_BINADE, extraBinades, setExtraBinades, setUsualBinade, usualBinade } from "./history";
import { SHORT, shortDot } from "../exact/shortDot";
import { BOUND, ENCLOSURE, GRID } from "../layout";
import { Dot, largest, range } from "../range";
import { U, add, fused, isFused, load, mul, productExcess, splat, sub } from "../simd";

@inline const BLOCK: i32 = 4096; // terms of a row on one grid

// Whether 64 bytes of several rows are zero, where x is finite: then all products are zero. (An infinity times zero is NaN. x - x is +0 if
// x is finite and NaN if not.)
@inline const ZEROS: usize = 64;
@inline function areZeros<T>(pa: usize, step: usize, rows: i32, px: usize): bool {
  const single = sizeof<T>() == 4, size = single ? i32x4.splat(0x7fffffff) : i64x2.splat(0x7fffffffffffffff);
  let or = i64x2.splat(0);
  for (let i = 0; i < rows; ++i, pa += step)
    or = v128.or(or, v128.or(v128.or(v128.load(pa), v128.load(pa, 16)), v128.or(v128.load(pa, 32), v128.load(pa, 48))));
  or = v128.and(or, size);
  if (v128.any_true(or)) return false;
  for (let i: usize = 0; i < ZEROS; i += 16) {
    const x = v128.load(px + i);
    or = v128.or(or, single ? f32x4.sub(x, x) : sub(x, x));
  }
  return !v128.any_true(or);
}

// The range of the exponents of the largest term among n of each of three rows, where rows of zeros do not count. False if a term is out
// of range, or if the rows are too different for one grid.
let lowest: i32 = 0, highest: i32 = 0;
function measure<T>(pa: usize, step: usize, px: usize, n: i32): bool {
  lowest = -NO_BINADE; highest = NO_BINADE;
  for (let i = 0; i < 3; ++i, pa += step) {
    range<T, Dot>(pa, px, n);
    if (!(largest < MAX_TERM)) return false;
    if (largest == 0) continue;
    const k = binade(largest);
    lowest = min(lowest, k); highest = max(highest, k);
  }
  return highest - lowest <= 12;
}
@inline function gridFor(k: i32, n: i32): f64 { return grid(max(k + log2Up(n >> 1) + 1, MIN_GRID)); }

// n terms, an even number, of three rows.
function block<T>(records: usize, pa: usize, step: usize, px: usize, n: i32, G: f64): bool {
  const exact = sizeof<T>() == 4, S = splat(G);
  let s0 = S, s1 = S, s2 = S, c0 = splat(0), c1 = c0, c2 = c0, or = S, and = S;
  let p1 = pa + step, p2 = p1 + step;
  const stride = 2 * sizeof<T>();
  for (const end = px + <usize>(n >> 1) * stride; px != end; px += stride, pa += stride, p1 += stride, p2 += stride) {
    let x = load<T>(px), a = load<T>(pa), p = isFused() && !exact ? a : mul(a, x), t = isFused() && !exact ? fused(a, x, s0) : add(s0, p);
    c0 = add(c0, exact ? sub(p, sub(t, s0)) : isFused() ? fused(a, x, sub(s0, t)) : sub(sub(p, sub(t, s0)), productExcess(a, x, p)));
    or = v128.or(or, t); and = v128.and(and, t); s0 = t;
    a = load<T>(p1); p = isFused() && !exact ? a : mul(a, x); t = isFused() && !exact ? fused(a, x, s1) : add(s1, p);
    c1 = add(c1, exact ? sub(p, sub(t, s1)) : isFused() ? fused(a, x, sub(s1, t)) : sub(sub(p, sub(t, s1)), productExcess(a, x, p)));
    or = v128.or(or, t); and = v128.and(and, t); s1 = t;
    a = load<T>(p2); p = isFused() && !exact ? a : mul(a, x); t = isFused() && !exact ? fused(a, x, s2) : add(s2, p);
    c2 = add(c2, exact ? sub(p, sub(t, s2)) : isFused() ? fused(a, x, sub(s2, t)) : sub(sub(p, sub(t, s2)), productExcess(a, x, p)));
    or = v128.or(or, t); and = v128.and(and, t); s2 = t;
  }
  if (!sameBinade(or, and)) return false;
  const m = <f64>((n >> 1) + 2), error = U * halfStep(G) * (exact || isFused() ? 1 : 2) * m * m + (exact ? 0 : m * 16 * f64.MIN_VALUE);
  closeBlock(records, sub(s0, S), c0, error);
  closeBlock(records + ENCLOSURE, sub(s1, S), c1, error);
  closeBlock(records + 2 * ENCLOSURE, sub(s2, S), c2, error);
  return true;
}

// Add n terms of each of three rows, n even and at most BLOCK, on one grid. False if that cannot be done.
function threeRows<T>(records: usize, pa: usize, step: usize, px: usize, n: i32): bool {
  const sample = min(n, 16);
  if (!measure<T>(pa, step, px, sample)) return false;
  const guess = highest;
  if (guess != NO_BINADE) setUsualBinade(guess + extraBinades);
  if (block<T>(records, pa, step, px, n, gridFor(usualBinade, n))) return true;
  if (!measure<T>(pa, step, px, n)) return false;
  if (guess != NO_BINADE) setExtraBinades(min(max(highest - guess, 0), 20));
  setUsualBinade(highest);
  return block<T>(records, pa, step, px, n, gridFor(highest, n));
}

// Add the dot products of `rows` rows with x, n terms each, to their records. A NaN as the bound means that a record encloses nothing.
export function rowDots<T>(records: usize, pa: usize, step: usize, rows: i32, px: usize, n: i32): void {
  for (; rows > 0; rows -= 3, pa += 3 * step, records += 3 * ENCLOSURE) {
    let from = 0, end = n;
    const width = <i32>(ZEROS / sizeof<T>());
    while (from + width <= end && areZeros<T>(pa + <usize>from * sizeof<T>(), step, min(rows, 3), px + <usize>from * sizeof<T>())) from += width;
    while (from + width <= end && areZeros<T>(pa + <usize>(end - width) * sizeof<T>(), step, min(rows, 3), px + <usize>(end - width) * sizeof<T>())) end -= width;
    if (rows >= 3 && n >= 16) {
      while (end - from >= 2) {
        const count = min(end - from, BLOCK) & ~1, at = <usize>from * sizeof<T>();
        if (!threeRows<T>(records, pa + at, step, px + at, count)) break;
        from += count;
      }
    }
    if (from == end) continue;
    const at = <usize>from * sizeof<T>();
    for (let i = 0; i < min(rows, 3); ++i) {
      const record = records + <usize>i * ENCLOSURE;
      const a = pa + <usize>i * step + at, count = end - from;
      f64.store(record, 0, GRID);
      if (count <= SHORT) shortDot<T>(record, a, px + at, count);
      else if (!filter<T, Dot>(record, a, px + at, count)) f64.store(record, NaN, BOUND);
    }
  }
}
