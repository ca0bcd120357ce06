// Dot products of several rows with one vector: filter.ts for three rows at a time, on one grid. One row at a time is one
// stream from memory, and the processor fetches several nearly twice as fast (n = 4096: 0.73 ns an element by single rows,
// 0.48 by threes); x is loaded once for three. Four need more registers than there are (0.54).
//
// Every row has two lanes of n terms each. As in filter.ts, u = 2^-53 and h = 2^(k-53): |c| grows by at most h a term,
// and a lane errs by u h n (n + 1) / 2 in c and, where r is rounded, by u h n in that: together at most
// u h (n + 2)^2 for both. With Dekker's products r is the rounded sum of two numbers of at most h: twice as much.
import { closeBlock, filter } from "../exact/filter";
import { binade, log2Up, powerOfTwo, sameBinade } from "../grid";
import { BOUND, ENCLOSURE, GRID } from "../layout";
import { Dot, largest, range } from "../range";
import { U, add, fused, isFused, load, mul, productExcess, splat, sub } from "../simd";

@inline const BLOCK: i32 = 4096; // terms of a row on one grid

// How many binades the first sixteen terms of the rows before were too low: where large entries come later, as on a
// diagonal, only the first rows are summed twice.
let slack: i32 = 0;

// Where the rows of two groups in a row all needed more than this filter, the next are not brought before it: rows of one
// matrix are often alike. One that the filter would have known ends that; where it cannot be told, every 64th group is.
let failures: i32 = 0, skipped: i32 = 0;
export function skipFilter(): bool { return failures > 1 && (++skipped & 63) != 0; }
// Of a group so many were proved by the filter, or would have been.
export function remember(proved: i32): void { failures = proved == 0 ? failures + 1 : 0; }
export function forget(): void { slack = failures = 0; }

// The exponents of the largest among n terms of each of three rows; false where one is out of reach, or where they are so
// far apart that one grid would not do.
let lowest: i32 = 0, highest: i32 = 0;
function measure<T>(pa: usize, step: usize, px: usize, n: i32): bool {
  lowest = i32.MAX_VALUE; highest = i32.MIN_VALUE;
  for (let i = 0; i < 3; ++i, pa += step) {
    range<T, Dot>(pa, px, n);
    if (!(largest < 1e290)) return false;
    const k = binade(largest);
    lowest = min(lowest, k); highest = max(highest, k);
  }
  return highest - lowest <= 12;
}
@inline function gridFor(k: i32, n: i32): f64 { return 1.5 * powerOfTwo(max(k + log2Up(n >> 1) + 1, -900)); }

// n terms, an even number, of three rows.
function block<T>(records: usize, pa: usize, step: usize, px: usize, n: i32, grid: f64): bool {
  const exact = sizeof<T>() == 4, S = splat(grid);
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
  const m = <f64>((n >> 1) + 2), error = U * (grid * (U / 1.5)) * (exact || isFused() ? 1 : 2) * m * m + (exact ? 0 : m * 16 * f64.MIN_VALUE);
  closeBlock(records, sub(s0, S), c0, error);
  closeBlock(records + ENCLOSURE, sub(s1, S), c1, error);
  closeBlock(records + 2 * ENCLOSURE, sub(s2, S), c2, error);
  return true;
}

// n terms of three rows, even and at most BLOCK, by one grid; false where that cannot be done.
function three<T>(records: usize, pa: usize, step: usize, px: usize, n: i32): bool {
  const look = min(n, 16);
  if (!measure<T>(pa, step, px, look)) return false;
  const guess = highest;
  if (block<T>(records, pa, step, px, n, gridFor(guess + slack, n))) return true;
  if (!measure<T>(pa, step, px, n)) return false;
  slack = min(max(highest - guess, 0), 20);
  return block<T>(records, pa, step, px, n, gridFor(highest, n));
}

// Add the dot products of so many rows with x, n terms each, to their records. A record whose bound is not a number says
// nothing.
export function rowDots<T>(records: usize, pa: usize, step: usize, rows: i32, px: usize, n: i32): void {
  for (; rows > 0; rows -= 3, pa += 3 * step, records += 3 * ENCLOSURE) {
    let from = 0;
    if (rows >= 3 && n >= 16) {
      while (n - from >= 2) {
        const count = min(n - from, BLOCK) & ~1, at = <usize>from * sizeof<T>();
        if (!three<T>(records, pa + at, step, px + at, count)) break;
        from += count;
      }
    }
    if (from == n) continue;
    const at = <usize>from * sizeof<T>();
    for (let i = 0; i < min(rows, 3); ++i) {
      const record = records + <usize>i * ENCLOSURE;
      f64.store(record, 0, GRID);
      if (!filter<T, Dot>(record, pa + <usize>i * step + at, px + at, n - from)) f64.store(record, NaN, BOUND);
    }
  }
}
