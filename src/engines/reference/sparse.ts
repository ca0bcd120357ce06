import type { Format, Real } from "../../arrays/types.ts";
import { formatOf } from "../../arrays/vectors.ts";
import { store } from "../../exact/store.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { RunLines, SparseTriangle, SystemKernels } from "../kernels.ts";
import { LOOKUP_SHIFT } from "../lookup.ts";
import { type AddProducts, quotient } from "./dense.ts";

// The sparse triangular solve as SPEC.md defines it, unknown by unknown in the natural order: every one an exact sum over
// the stored entries, one division, one rounding; or the row-wise loop of the sparse paper in ordinary arithmetic. How the
// products of a row get into the sum is a parameter, as in dense.ts.

const sum = new Superaccumulator();

/** The routine for systems in the natural order, with the products of every row added in this way. */
export function sparse(addProducts: AddProducts): SystemKernels["sptrsv"] {
  return (system, b, x) => {
    const format = formatOf(x);
    for (let k = 0; k < system.n; k++) {
      const i = system.upper ? system.n - 1 - k : k;
      const solution = system.exact ? solveExactly(addProducts, system, i, b, x, format) : solvePlainly(system, i, b, x, format);
      store(x, i, solution);
    }
  };
}

function solveExactly(addProducts: AddProducts, system: SparseTriangle, i: number, b: Real, x: Real, format: Format): number {
  const { indices, values } = system;
  const { offset, length, divisor } = lineOf(system, i);
  const known = Float64Array.from({ length }, (_, p) => x[indices[offset + p] as number] as number);
  const like = x.BYTES_PER_ELEMENT === 8 ? known : Float32Array.from(known);
  addProducts({ data: values, offset, step: 1, length }, { data: like, offset: 0, step: 1, length }, sum.clear());
  sum.negate().add(b[i] as number);
  return divisor === undefined ? sum.round("nearest", format) : quotient(sum, divisor, format);
}

function solvePlainly(system: SparseTriangle, i: number, b: Real, x: Real, format: Format): number {
  const { indices, values } = system;
  const { offset, length, divisor } = lineOf(system, i);
  const round = format === "binary64" ? (v: number) => v : Math.fround;
  let s = b[i] as number;
  for (let p = offset; p < offset + length; p++) s = round(s - round((values[p] as number) * (x[indices[p] as number] as number)));
  return divisor === undefined ? s : round(s / divisor);
}

// The entries of a line without the diagonal, and that; undefined: one.
function lineOf(
  { begins, diagonal, diagonalAt }: SparseTriangle,
  i: number,
): { offset: number; length: number; divisor?: number | undefined } {
  const offset = (begins[i] as number) + (diagonalAt === "first" ? 1 : 0);
  const end = (begins[i + 1] as number) - (diagonalAt === "last" ? 1 : 0);
  const own = diagonalAt === undefined ? i : diagonalAt === "last" ? end : offset - 1;
  return { offset, length: end - offset, divisor: diagonal?.[own] };
}

/** The other runs that the entries of each run lead to: see SystemKernels. */
export function neighbours(runs: RunLines, from: number): number {
  const { n, reversed, begins, indices, starts, lookup, seen, pointers, near } = runs;
  const count = starts.length - 1;
  const before = pointers[from] as number;
  let found = before;
  for (let run = from; run < count; run++) {
    if (found - before + count > near.length) return run;
    const first = starts[run] as number;
    const last = starts[run + 1] as number;
    let low = 0; // the run that was seen last
    let high = 0;
    const own = reversed ? n - last : first;
    let p = begins[own] as number;
    const end = begins[own + last - first] as number;
    for (; p < end; p++) {
      const place = reversed ? n - 1 - (indices[p] as number) : (indices[p] as number);
      if ((place >= first && place < last) || (place >= low && place < high)) continue;
      let other = lookup[place >> LOOKUP_SHIFT] as number;
      while ((starts[other + 1] as number) <= place) other++;
      low = starts[other] as number;
      high = starts[other + 1] as number;
      if (seen[other] === run) continue;
      seen[other] = run;
      near[found++ - before] = other;
    }
    pointers[run + 1] = found;
  }
  return count;
}
