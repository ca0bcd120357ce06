// The two measures of SPEC.md in BigInt integers, row by row: nothing of the code under test.
import type { Matrix } from "../../src/arrays/types.ts";
import { nearest } from "./matrices.ts";
import { units } from "./rational.ts";

const size = (n: bigint): bigint => (n < 0n ? -n : n);
const most = (all: readonly bigint[]): bigint => all.map(size).reduce((a, b) => [a, b][Number(b > a)] as bigint, 0n);

interface Rows {
  /** b - A x and |A| |x| + |b|, in units of 2^-2148. */
  readonly residuals: bigint[];
  readonly weights: bigint[];
  /** The sums of magnitudes in rows of A, in units of 2^-1074. */
  readonly sums: bigint[];
}

function rowsOf(A: Matrix, xs: readonly bigint[], bs: readonly bigint[]): Rows {
  const at = (i: number, j: number): number => A.data[A.offset + (A.order === "row" ? i * A.ld + j : j * A.ld + i)] as number;
  const rows: Rows = { residuals: [], weights: [], sums: [] };
  for (const [i, right] of bs.entries()) {
    let [residual, weight, sum] = [right << 1074n, size(right) << 1074n, 0n];
    for (const [j, x] of xs.entries()) {
      const entry = units(at(i, j));
      if (entry === 0n) continue;
      const product = entry * x;
      residual -= product;
      weight += size(product);
      sum += size(entry);
    }
    rows.residuals.push(residual);
    rows.weights.push(weight);
    rows.sums.push(sum);
  }
  return rows;
}

interface Measures {
  readonly residual: number;
  readonly backwardError: number;
}

/** Both measures for one right-hand side, rounded once; 0 where there is no residual, NaN where x is not finite. */
export function measures(A: Matrix, x: ArrayLike<number>, b: ArrayLike<number>): Measures {
  if (!Array.from(x).every(Number.isFinite)) return { residual: Number.NaN, backwardError: Number.NaN };
  const [xs, bs] = [Array.from(x, units), Array.from(b, units)]; // in units of 2^-1074
  const rows = rowsOf(A, xs, bs);
  return { residual: normwise(rows, xs, bs), backwardError: componentwise(rows) };
}

// norm(b - A x) / (2^-53 n (norm(A) norm(x) + norm(b)))
function normwise({ residuals, sums }: Rows, xs: readonly bigint[], bs: readonly bigint[]): number {
  const above = most(residuals);
  if (above === 0n) return 0;
  return nearest(above, BigInt(xs.length) * (most(sums) * most(xs) + (most(bs) << 1074n)), 53, "binary64");
}

// max_i |b - A x|_i / (|A| |x| + |b|)_i
function componentwise({ residuals, weights }: Rows): number {
  let [above, below] = [0n, 1n];
  for (const [i, residual] of residuals.entries()) {
    const weight = weights[i] as bigint;
    if (size(residual) * below > above * weight) [above, below] = [size(residual), weight];
  }
  return nearest(above, below, 0, "binary64");
}
