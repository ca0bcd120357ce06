import type { RunLines, SparseTriangle, StoredLines, SystemKernels } from "../engines/kernels.ts";
import { LOOKUP } from "../engines/wasm/assembly/layout.ts";
import type { Format, Real } from "../types.ts";
import { type AddProducts, quotient } from "./dense.ts";
import { formatOf, store } from "./store.ts";
import { Superaccumulator } from "./superaccumulator.ts";

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

function solveExactly(
  addProducts: AddProducts,
  { begins, ends, indices, values, diagonal }: SparseTriangle,
  i: number,
  b: Real,
  x: Real,
  format: Format,
): number {
  const offset = begins[i] as number;
  const length = (ends[i] as number) - offset;
  const known = Float64Array.from({ length }, (_, p) => x[indices[offset + p] as number] as number);
  const like = x.BYTES_PER_ELEMENT === 8 ? known : Float32Array.from(known);
  addProducts({ data: values, offset, step: 1, length }, { data: like, offset: 0, step: 1, length }, sum.clear());
  sum.negate().add(b[i] as number);
  return diagonal ? quotient(sum, diagonal[i] as number, format) : sum.round("nearest", format);
}

function solvePlainly({ begins, ends, indices, values, diagonal }: SparseTriangle, i: number, b: Real, x: Real, format: Format): number {
  const round = format === "binary64" ? (v: number) => v : Math.fround;
  let s = b[i] as number;
  for (let p = begins[i] as number; p < (ends[i] as number); p++)
    s = round(s - round((values[p] as number) * (x[indices[p] as number] as number)));
  return diagonal ? round(s / (diagonal[i] as number)) : s;
}

/** Where lines that are copied as they are stored end, their diagonal, and which of them do not need the one before: see SystemKernels. */
export function bound(lines: StoredLines, from: number, to: number, breaks: Int32Array): number {
  const { n, upper, before, byRows, pointers, indices, values, diagonal, bounds } = lines;
  const step = before ? -1 : 1; // from the diagonal into the line
  let found = 0;
  let count = 0;
  for (let k = from; k < to; k++) {
    const l = upper ? n - 1 - k : k;
    const first = pointers[l] as number;
    const end = pointers[l + 1] as number;
    let p = before ? end - 1 : first;
    if (first < end && (indices[p] as number) !== l && (indices[p] as number) > l === before) return -1;
    if (first < end && indices[p] === l) {
      if (diagonal) diagonal[l] = values[p] as number;
      if (values[p] !== 0) found++;
      p += step;
    }
    bounds[l] = before ? p + 1 : p;
    // The neighbour in a row is the unknown before, in a column the one after.
    if (p < first || p >= end || indices[p] !== l + step) breaks[++count] = byRows ? k : k + 1;
  }
  breaks[0] = count;
  return found;
}

/** The other runs that the entries of each run lead to: see SystemKernels. */
export function neighbours(runs: RunLines, from: number): number {
  const { n, reversed, begins, ends, indices, starts, lookup, seen, pointers, near } = runs;
  const count = starts.length - 1;
  const before = pointers[from] as number;
  let found = before;
  for (let run = from; run < count; run++) {
    if (found - before + count > near.length) return run;
    const first = starts[run] as number;
    const last = starts[run + 1] as number;
    let low = 0; // the run that was seen last
    let high = 0;
    let p = begins[reversed ? n - last : first] as number;
    const end = first < last ? (ends[reversed ? n - 1 - first : last - 1] as number) : p;
    for (; p < end; p++) {
      const place = reversed ? n - 1 - (indices[p] as number) : (indices[p] as number);
      if ((place >= first && place < last) || (place >= low && place < high)) continue;
      let other = lookup[place >> LOOKUP] as number;
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
