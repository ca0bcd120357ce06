// The inner kernel of the approximate factorization, in either format: C - A B on a tile of four rows of 32 bytes, with eight sums in
// registers. A is packed in groups of four: for each k the four numbers that belong to the rows.

/** Bytes of a row of a tile: 8 numbers of binary32, 4 of binary64. A strip is a column of such rows. */
@inline export const STRIP: usize = 32;
/** Numbers in a row of a strip. */
@inline export function across<T>(): i32 { return <i32>(STRIP / sizeof<T>()); }

/** n rounded up to a multiple of four. */
@inline export function roundUp4(n: i32): i32 { return (n + 3) & ~3; }

/** c - a b, with one rounding or with two. */
@inline export function minusProduct<T>(c: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? v128.relaxed_nmadd<T>(a, b, c) : v128.sub<T>(c, v128.mul<T>(a, b));
}

// V8 moves all loads of an iteration before its arithmetic. Eight sums, six loaded numbers and a product take the 15 registers that it
// has: with two steps per iteration, or a larger tile, sums would go through memory. (On a Zen 4 at 3.3 GHz in binary32, depth 64:
// 39 Gflop/s with two roundings and 51 with one, of a peak of 53; 32 and 35 with four steps per iteration.)
// The products are summed first and then subtracted: an entry that several tiles update is rounded once per tile, not once per
// product, as the bounds in routines/solve/certificate.ts assume.
@inline export function tile<T>(a: usize, b: usize, bStep: usize, c: usize, cStep: usize, depth: i32): void {
  const d = c + cStep, e = d + cStep, f = e + cStep;
  let c0 = v128.splat<T>(0), c1 = c0, d0 = c0, d1 = c0, e0 = c0, e1 = c0, f0 = c0, f1 = c0;
  for (const end = a + <usize>depth * (4 * sizeof<T>()); a != end; a += 4 * sizeof<T>(), b += bStep) {
    const b0 = v128.load(b), b1 = v128.load(b, 16), ac = v128.load_splat<T>(a), ad = v128.load_splat<T>(a, sizeof<T>());
    const ae = v128.load_splat<T>(a, 2 * sizeof<T>()), af = v128.load_splat<T>(a, 3 * sizeof<T>());
    c0 = minusProduct<T>(c0, ac, b0); c1 = minusProduct<T>(c1, ac, b1);
    d0 = minusProduct<T>(d0, ad, b0); d1 = minusProduct<T>(d1, ad, b1);
    e0 = minusProduct<T>(e0, ae, b0); e1 = minusProduct<T>(e1, ae, b1);
    f0 = minusProduct<T>(f0, af, b0); f1 = minusProduct<T>(f1, af, b1);
  }
  addTo<T>(c, c0, c1); addTo<T>(d, d0, d1); addTo<T>(e, e0, e1); addTo<T>(f, f0, f1);
}

@inline function addTo<T>(c: usize, x: v128, y: v128): void {
  v128.store(c, v128.add<T>(v128.load(c), x));
  v128.store(c, v128.add<T>(v128.load(c, 16), y), 16);
}
