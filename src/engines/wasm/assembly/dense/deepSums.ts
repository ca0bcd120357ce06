// Sums of exlu over their first products, for columns in which those nearly cancel: eight sums as in strip.ts, on two grids and a rest
// instead of one grid and a rest. Called by lu.ts.
//
// Where the leading columns of A are nearly dependent, as in Hilbert's matrix, what is left after eliminating with them is smaller than
// the entries of A by a factor of up to 2^53 or more. A sum on the grid of the entries is then too coarse. But all later products are small
// as well: they fit on a much finer grid. So the first N products are summed here, and strip() continues on the finer grid.
//
// On the first grid G = 1.5 * 2^k, with h = 2^(k-53) and u = 2^-53, as in strip.ts: s - a b = t + r + e, where t = RN(s - p), p = RN(a b), the
// loss r = s - t - p is exact and at most h, and e = p - a b is exact and at most h / 4, since |p| < 2^(k-2) (luEntries.ts). Each goes to a
// second grid of its own, so that no addition waits for another: k2 = k - 53 + ceil(log2 N) + 2, and sums move by at most (N + 1) h, below
// 2^(k2-1). What is lost there, exact and at most h2 = 2^(k2-53) each time, is added to the rest with rounding: after i products the rest is at
// most (2 i + 1) h2, and the errors add up to less than u h2 (N^2 + 4 N). An error term that underflows is off by at most 5 * 2^-1074.
import { MOVES, COARSE, COLUMN } from "./luEntries";
import { halfStep, log2Up, powerOfTwo } from "../grid";
import { REST } from "./strip";
import { U, add, mul, productExcess, splat, sub, sumError } from "../simd";

@inline function secondGrid(N: i32): f64 { return powerOfTwo(log2Up(N) - 51); } // divided by the first

// The bound of the error of deepSums(), and of one rounding of the rest, which is at most (2 N + 2) h2.
export function deepBound(G: f64, N: i32): f64 {
  return U * halfStep(G * secondGrid(N)) * <f64>(N + 4) * <f64>(N + 4) + <f64>N * 8 * f64.MIN_VALUE;
}

@inline function pairOf(columns: usize, field: usize): v128 {
  return f64x2.replace_lane(splat(f64.load(columns + field)), 1, f64.load(columns + COLUMN + field));
}

// The record has eight entries of A. Subtract N products of a row of L and packed rows of U from them, and put the sums on the grids of their
// columns. A sum that is too large for its grid becomes NaN, which luEntries.ts takes as undecided.
//
// The sum is x + y + z + d, with x, y and z what the grids have summed. y + z is exact, a multiple of 2^(k2-52) below 2^k2; x + (y + z) = s + e
// exactly, v = RN(e + d), s + v = high + low exactly. On the finer grid F, with hF = u F / 1.5, |high| <= F / 16: the rounding of v costs
// u |e| <= u hF / 8 beside what deepBound() counts. The rest there is at most hF + |low| < 9/8 hF and is rounded once. That is less than one
// step of strip() more: MOVES counts it.
export function deepSums(pa: usize, pb: usize, N: i32, columns: usize, record: usize): void {
  for (const end = record + 64; record != end; record += 16, pb += 16, columns += 2 * COLUMN) {
    const G = pairOf(columns, COARSE), G2 = mul(G, splat(secondGrid(N))), a = v128.load(record);
    let s = add(G, a), c = add(G2, sub(a, sub(s, G))), z = G2, d = sub(sub(a, sub(s, G)), sub(c, G2));
    for (let p = pa, q = pb, last = pa + (<usize>N << 3); p != last; p += 8, q += 64) {
      const l = splat(f64.load(p)), u = v128.load(q), product = mul(l, u), e = productExcess(l, u, product), t = sub(s, product);
      const r = sub(sub(s, t), product), y = add(c, r), w = add(z, e);
      d = add(d, add(sub(r, sub(y, c)), sub(e, sub(w, z))));
      s = t; c = y; z = w;
    }
    const x = sub(s, G), rest = add(sub(c, G2), sub(z, G2)), sum = add(x, rest), v = add(sumError(x, rest, sum), d);
    const high = add(sum, v), low = sumError(sum, v, high);
    const F = pairOf(columns, 0), t = add(F, high), fits = f64x2.le(f64x2.abs(high), mul(F, splat(0.0625)));
    v128.store(record, v128.bitselect(t, splat(NaN), fits));
    v128.store(record, add(sub(high, sub(t, F)), low), REST);
  }
}
