import type { SparseTriangle } from "../engines/kernels.ts";
import type { Format, Real } from "../types.ts";
import { quotient } from "./dense.ts";
import { formatOf, store } from "./store.ts";
import { Superaccumulator } from "./superaccumulator.ts";

// The sparse triangular solve as SPEC.md defines it, unknown by unknown in the natural order: every one an exact sum over
// the stored entries, one division, one rounding; or the row-wise loop of the sparse paper in ordinary arithmetic.

const sum = new Superaccumulator();

/** x := the solution of a system whose order is the natural one. */
export function sptrsv(system: SparseTriangle, b: Real, x: Real): void {
  const solve = system.exact ? solveExactly : solvePlainly;
  const format = formatOf(x);
  for (let k = 0; k < system.n; k++) {
    const i = system.upper ? system.n - 1 - k : k;
    store(x, i, solve(system, i, b[i] as number, x, format));
  }
}

function solveExactly({ begins, ends, indices, values, diagonal }: SparseTriangle, i: number, b: number, x: Real, format: Format): number {
  sum.clear();
  for (let p = begins[i] as number; p < (ends[i] as number); p++) sum.addProduct(values[p] as number, x[indices[p] as number] as number);
  sum.negate().add(b);
  return diagonal ? quotient(sum, diagonal[i] as number, format) : sum.round("nearest", format);
}

function solvePlainly({ begins, ends, indices, values, diagonal }: SparseTriangle, i: number, b: number, x: Real, format: Format): number {
  const round = format === "binary64" ? (v: number) => v : Math.fround;
  let s = b;
  for (let p = begins[i] as number; p < (ends[i] as number); p++)
    s = round(s - round((values[p] as number) * (x[indices[p] as number] as number)));
  return diagonal ? round(s / (diagonal[i] as number)) : s;
}
