// The scaled residual of SPEC.md in BigInt integers, row by row: nothing of the code under test.
import type { Matrix } from "../../src/types.ts";
import { nearest } from "./matrices.ts";
import { units } from "./rational.ts";

const size = (n: bigint): bigint => (n < 0n ? -n : n);
const most = (all: readonly bigint[]): bigint => all.map(size).reduce((a, b) => [a, b][Number(b > a)] as bigint, 0n);

/** norm(b - A x) / (2^-53 n (norm(A) norm(x) + norm(b))) for one right-hand side, rounded once; 0 where there is no residual. */
export function scaledResidual(A: Matrix, x: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = A.rows;
  if (!Array.from(x).every(Number.isFinite)) return Number.NaN;
  const at = (i: number, j: number): number => A.data[A.offset + (A.order === "row" ? i * A.ld + j : j * A.ld + i)] as number;
  const [xs, bs] = [Array.from(x, units), Array.from(b, units)]; // in units of 2^-1074
  let norm = 0n;
  const residuals = bs.map((right, i) => {
    let [sum, sizes] = [right << 1074n, 0n]; // in units of 2^-2148, and of 2^-1074
    for (let j = 0; j < n; j++) {
      const entry = units(at(i, j));
      if (entry === 0n) continue;
      sum -= entry * (xs[j] as bigint);
      sizes += size(entry);
    }
    norm = most([norm, sizes]);
    return sum;
  });
  const above = most(residuals);
  if (above === 0n) return 0;
  return nearest(above, BigInt(n) * (norm * most(xs) + (most(bs) << 1074n)), 53, "binary64");
}
