// illConditionedMatrix, for tests of LU and solve.
import { checkCount } from "../arrays/checks.ts";
import { matrix } from "../arrays/matrix.ts";
import { Random } from "../arrays/random.ts";
import type { Matrix } from "../arrays/types.ts";
import { exponentOf, Superaccumulator } from "../exact/superaccumulator.ts";
import { cancel, checkProblem, minPairs, nonzero, swap, toGrid } from "./illConditionedDot.ts";

const NULL_BITS = 10;

/**
 * A dense square matrix with about the given condition number ||A|| ||A^-1|| in the infinity norm, at least 100.
 * All rows but one are exactly orthogonal to a vector v with few bits: random entries with a stronger diagonal
 * form a well-conditioned block B, and the last column is chosen so that A v = 0 there. The last row r is random
 * except for a few entries that reduce r v to a small s, as in illConditionedDot. Then
 * A^-1 = B^-1, bordered by zeros, plus (v / s) (-w, 1) with w B = r (without its last entry), and
 * s = ||A|| (||w||_1 + 1) / condition gives the condition. Finally rows and columns are shuffled.
 * @example
 * const A = illConditionedMatrix(20, 1e25, 1);
 * solve(A, new Float64Array(20).fill(1)).certified; // true
 */
export function illConditionedMatrix(n: number, condition: number, seed: number): Matrix {
  const bits = checkProblem("illConditionedMatrix", 100, condition, seed);
  const closing = minPairs(bits);
  checkCount("illConditionedMatrix", "n", n, closing + 2);

  const random = new Random(seed);
  const rows = Array.from({ length: n }, () => new Float64Array(n));
  const last = rows.pop() as Float64Array;
  const v = Float64Array.from({ length: n }, (_, j) => (j < n - 1 ? toGrid(nonzero(random), NULL_BITS) : 1));
  // |B v| < 4 n: n entries below 1, and a diagonal of at most 2 n more. In units of 2^-(grid + NULL_BITS) it is below 2^53, so a
  // floating-point sum of products is exact.
  const grid = 53 - NULL_BITS - 2 - (32 - Math.clz32(n));
  // The off-diagonal entries form a matrix of norm about 2 sqrt(n / 3), so B is far from singular.
  const diagonal = Math.ceil(2 * Math.sqrt(n));
  for (const [i, row] of rows.entries()) {
    for (let j = 0; j < n - 1; j++) row[j] = toGrid(random.signed(), grid) + (i === j ? diagonal : 0);
    row[n - 1] = -row.reduce((sum, entry, j) => sum + entry * (v[j] as number), 0);
  }
  for (let j = 0; j < n - closing; j++) last[j] = random.signed();
  close(rows, last, v, n - closing, condition, diagonal);
  return shuffled([...rows, last], random);
}

// Chooses the end of the last row. Its product with v depends on the norms of A and w, which depend weakly on the row: a few
// iterations converge.
function close(rows: Float64Array[], last: Float64Array, v: Float64Array, open: number, condition: number, diagonal: number): void {
  for (let round = 0; round < 4; round++) {
    const norm = Math.max(oneNorm(last), ...rows.map(oneNorm));
    const s = (norm * (oneNorm(leftSolution(rows, last, diagonal)) + 1)) / condition;
    const sum = new Superaccumulator();
    for (let j = 0; j < open; j++) sum.addProduct(last[j] as number, v[j] as number);
    cancel(sum, v, last, open, s, Math.max(0, exponentOf(sum.round()) - exponentOf(s)));
  }
}

// w with w B = r, by Jacobi iteration: a step reduces the error by a factor of about 3.5, and one digit is enough.
function leftSolution(rows: Float64Array[], r: Float64Array, diagonal: number): Float64Array {
  const n = rows.length;
  let w = new Float64Array(n);
  for (let step = 0; step < 8; step++) {
    const next = r.slice(0, n);
    for (const [i, row] of rows.entries())
      for (let j = 0; j < n; j++) next[j] = (next[j] as number) - (w[i] as number) * ((row[j] as number) - (i === j ? diagonal : 0));
    w = next.map((entry) => entry / diagonal);
  }
  return w;
}

function oneNorm(x: Float64Array): number {
  return x.reduce((sum, entry) => sum + Math.abs(entry), 0);
}

function shuffled(rows: Float64Array[], random: Random): Matrix {
  const n = rows.length;
  for (let i = n - 1; i > 0; i--) {
    const [j, k] = [random.below(i + 1), random.below(i + 1)];
    [rows[i], rows[j]] = [rows[j] as Float64Array, rows[i] as Float64Array];
    for (const row of rows) swap(row, i, k);
  }
  const A = new Float64Array(n * n);
  for (const [i, row] of rows.entries()) A.set(row, i * n);
  return matrix(A, n, n);
}
