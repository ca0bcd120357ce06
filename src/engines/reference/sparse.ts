// Sparse products and triangular solves as SPEC.md defines them: each entry is an exact sum over the stored entries, rounded once; or, for
// solves, the row-wise loop of the sparse paper (Section 3) in ordinary arithmetic. Also the twin of the kernel neighbours(). Used by
// reference/index.ts and, for neighbours(), by the engine of the calling thread.
import { transposed } from "../../arrays/sparse.ts";
import type { Format, Real } from "../../arrays/types.ts";
import { formatOf, newVector } from "../../arrays/vectors.ts";
import { store } from "../../exact/store.ts";
import { quotient } from "../../exact/substitution.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { HostOperator } from "../hostKrylov.ts";
import type { RowBlocks, SparseTriangle, SystemKernels } from "../kernels.ts";
import { LOOKUP_SHIFT } from "../lookup.ts";
import type { AddProducts } from "./dense.ts";

const sum = new Superaccumulator();

/** y := alpha A x + beta y. A matrix by columns is transposed first. */
export function spmv(addProducts: AddProducts) {
  return (alpha: number, A: HostOperator, x: Real, beta: number, y: Real): void => {
    const format = formatOf(y);
    const { pointers, indices, values } = A.byRows ? A : byRows(A);
    for (let i = 0; i < y.length; i++) {
      const [offset, end] = [pointers[i] as number, pointers[i + 1] as number];
      const length = end - offset;
      const entries = gathered(x, indices, offset, length);
      sum.clear();
      if (!Number.isFinite(alpha)) {
        // Only the signs of the factors matter, and whether they are zero.
        for (let p = 0; p < length; p++) sum.add(alpha * Math.sign(values[offset + p] as number) * Math.sign(entries[p] as number));
      } else if (alpha !== 0) {
        addProducts({ data: values, offset, step: 1, length }, { data: entries, offset: 0, step: 1, length }, sum);
        sum.scale(alpha);
      }
      if (beta !== 0) sum.addProduct(beta, y[i] as number);
      store(y, i, sum.round("nearest", format));
    }
  };
}

function byRows({ rows, pointers, indices, values }: HostOperator): Pick<HostOperator, "pointers" | "indices" | "values"> {
  const to = newVector("exspmv", values, values.length);
  return { ...transposed("exspmv", { pointers, indices }, rows, values, to), values: to };
}

// The entries of x to which `length` indices refer.
function gathered(x: Real, indices: Int32Array, offset: number, length: number): Real {
  const entries = newVector("exspmv", x, length);
  for (let p = 0; p < length; p++) entries[p] = x[indices[offset + p] as number] as number;
  return entries;
}

/** sptrsv for systems in natural order. How the products of a row are added to its sum is a parameter, as in dense.ts. */
export function sparse(addProducts: AddProducts): SystemKernels["sptrsv"] {
  return (system, b, x) => {
    const format = formatOf(x);
    for (let k = 0; k < system.n; k++) {
      const i = system.upper ? system.n - 1 - k : k;
      const solution = system.exact ? solveExact(addProducts, system, i, b, x, format) : solvePlain(system, i, b, x, format);
      store(x, i, solution);
    }
  };
}

function solveExact(addProducts: AddProducts, system: SparseTriangle, i: number, b: Real, x: Real, format: Format): number {
  const { indices, values } = system;
  const { offset, length, divisor } = rowOf(system, i);
  const known = gathered(x, indices, offset, length);
  addProducts({ data: values, offset, step: 1, length }, { data: known, offset: 0, step: 1, length }, sum.clear());
  sum.negate().add(b[i] as number);
  return divisor === undefined ? sum.round("nearest", format) : quotient(sum, divisor, format);
}

function solvePlain(system: SparseTriangle, i: number, b: Real, x: Real, format: Format): number {
  const { indices, values } = system;
  const { offset, length, divisor } = rowOf(system, i);
  const round = format === "binary64" ? (v: number) => v : Math.fround;
  let s = b[i] as number;
  for (let p = offset; p < offset + length; p++) s = round(s - round((values[p] as number) * (x[indices[p] as number] as number)));
  return divisor === undefined ? s : round(s / divisor);
}

// The entries of a row without the diagonal, and the diagonal; undefined means one.
function rowOf(
  { begins, ends, diagonal, diagonalAt }: SparseTriangle,
  i: number,
): { offset: number; length: number; divisor?: number | undefined } {
  const offset = (begins[i] as number) + (diagonalAt === "first" ? 1 : 0);
  const end = (ends[i] as number) - (diagonalAt === "last" ? 1 : 0);
  const own = diagonalAt === undefined ? i : diagonalAt === "last" ? end : offset - 1;
  return { offset, length: end - offset, divisor: diagonal?.[own] };
}

/** For each block of rows the other blocks that its entries refer to: see SystemKernels. */
export function neighbours(blocks: RowBlocks, from: number): number {
  const { n, reversed, begins, ends, indices, starts, lookup, visitedBy, pointers, adjacent } = blocks;
  const count = starts.length - 1;
  const base = pointers[from] as number;
  let found = base;
  for (let block = from; block < count; block++) {
    if (found - base + count > adjacent.length) return block;
    const first = starts[block] as number;
    const last = starts[block + 1] as number;
    let low = 0; // the bounds of the block found last
    let high = 0;
    const own = reversed ? n - last : first;
    for (let row = own; row < own + last - first; row++)
      for (let p = begins[row] as number; p < (ends[row] as number); p++) {
        const position = reversed ? n - 1 - (indices[p] as number) : (indices[p] as number);
        if ((position >= first && position < last) || (position >= low && position < high)) continue;
        let other = lookup[position >> LOOKUP_SHIFT] as number;
        while ((starts[other + 1] as number) <= position) other++;
        low = starts[other] as number;
        high = starts[other + 1] as number;
        if (visitedBy[other] === block) continue;
        visitedBy[other] = block;
        adjacent[found++ - base] = other;
      }
    pointers[block + 1] = found;
  }
  return count;
}
