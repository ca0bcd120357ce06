// Error-free transforms (Algorithms 1 and 2 of the triangular paper). A JavaScript function returns one number, so the caller computes
// the rounded result and these functions the error term: s = a + b, e = twoSum(a, b, s).

/** The error of s = RN(a + b): a + b = s + twoSum(a, b, s) exactly, barring overflow (Knuth). */
export function twoSum(a: number, b: number, s: number): number {
  const z = s - a;
  return a - (s - z) + (b - z);
}

/**
 * The error of p = RN(a b) without a hardware FMA (Dekker, with Veltkamp's split): a b = p + twoProd(a, b, p) exactly, if |a b| is 0 or
 * at least 2^-968 (the last bit of the error is then a double) and none of 2^27 a, 2^27 b and a b overflows.
 */
export function twoProd(a: number, b: number, p: number): number {
  let c = 134217729 * a; // 2^27 + 1
  const ah = c - (c - a); // the top 26 bits of a, rounded: the rest fits in 26 bits and a sign
  c = 134217729 * b;
  const bh = c - (c - b);
  const al = a - ah;
  const bl = b - bh;
  return ah * bh - p + ah * bl + al * bh + al * bl;
}
