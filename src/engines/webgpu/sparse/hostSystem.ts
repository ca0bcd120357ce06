// A triangle as the embedded engine solves it: its rows in natural order, on the calling thread. Called by plan.ts.
import { zeroOnDiagonal } from "../../../arrays/matrix.ts";
import { missingOnDiagonal, type TriangleSource } from "../../../arrays/triangle.ts";
import type { Real } from "../../../arrays/types.ts";
import { aligned, newIntegers } from "../../../arrays/vectors.ts";
import { embedded } from "../../embedded.ts";
import type { SparseTriangle } from "../../kernels.ts";
import type { Allocation } from "../../memory.ts";

/** The arrays of a matrix on the host. */
export interface HostPattern {
  readonly pointers: Int32Array;
  readonly indices: Int32Array;
}

/** The entries of a strict triangle by rows, and where A has them; and where it has the diagonal. */
export interface TriangleRows {
  readonly begins: Int32Array;
  readonly columns: Int32Array;
  /** The position of each entry in A. */
  readonly source: Int32Array;
  /** The position of the diagonal of each unknown in A, or -1. */
  readonly diagonalAt: Int32Array;
}

/** The rows of a triangle. */
export function triangleRows(
  { n, upper, byRows }: Pick<TriangleSource, "n" | "upper" | "byRows">,
  { pointers, indices }: HostPattern,
): TriangleRows {
  const begins = newIntegers("sptrsv", n + 1);
  const diagonalAt = newIntegers("sptrsv", n).fill(-1);
  // In two passes over the entries of the triangle: count, then place.
  const forEach = (place: (row: number, column: number, p: number) => void): void => {
    for (let l = 0; l < n; l++)
      for (let p = pointers[l] as number; p < (pointers[l + 1] as number); p++) {
        const m = indices[p] as number;
        const [row, column] = byRows ? [l, m] : [m, l];
        if (row === column) diagonalAt[l] = p;
        else if (upper ? column > row : column < row) place(row, column, p);
      }
  };
  forEach((row) => {
    begins[row + 1] = (begins[row + 1] as number) + 1;
  });
  for (let i = 0; i < n; i++) begins[i + 1] = (begins[i + 1] as number) + (begins[i] as number);
  const next = begins.slice();
  const [columns, source] = [newIntegers("sptrsv", begins[n] as number), newIntegers("sptrsv", begins[n] as number)];
  forEach((row, column, p) => {
    const at = next[row] as number;
    next[row] = at + 1;
    columns[at] = column;
    source[at] = p;
  });
  return { begins, columns, source, diagonalAt };
}

/** Throws for the first unknown whose diagonal entry is missing or zero. */
export function checkDiagonal(routine: string, { diagonalAt }: TriangleRows, values: Real): void {
  const l = diagonalAt.findIndex((p) => p < 0 || values[p] === 0);
  if (l >= 0) throw (diagonalAt[l] as number) < 0 ? missingOnDiagonal(routine, l) : zeroOnDiagonal(routine, "A", l);
}

/** The triangle in the memory of the embedded engine, and that memory. */
export function hostSystem(
  { n, upper, unit }: Pick<TriangleSource, "n" | "upper" | "unit">,
  rows: TriangleRows,
  values: Real,
  exact: boolean,
): { readonly system: SparseTriangle; readonly memory: Allocation<Uint8Array> } {
  const entries = rows.columns.length;
  const width = values.BYTES_PER_ELEMENT;
  const sizes = [4 * (n + 1), 4 * entries, width * entries, width * n, width * n];
  const memory = embedded().memory.reserve(
    "sptrsv",
    sizes.reduce((sum, bytes) => sum + aligned(bytes), 0),
  );
  const { buffer, byteOffset } = memory.value;
  const starts = sizes.map((_, k) => byteOffset + sizes.slice(0, k).reduce((sum, bytes) => sum + aligned(bytes), 0));
  const integers = (k: number, length: number): Int32Array => new Int32Array(buffer, starts[k], length);
  const reals = (k: number, length: number): Real =>
    width === 8 ? new Float64Array(buffer, starts[k], length) : new Float32Array(buffer, starts[k], length);
  const begins = integers(0, n + 1);
  begins.set(rows.begins);
  const indices = integers(1, entries);
  indices.set(rows.columns);
  const [own, diagonal] = [reals(2, entries), reals(3, n)];
  for (let e = 0; e < entries; e++) own[e] = values[rows.source[e] as number] as number;
  if (!unit) for (let i = 0; i < n; i++) diagonal[i] = values[rows.diagonalAt[i] as number] as number;
  const system: SparseTriangle = {
    n,
    upper,
    exact,
    schedule: "serial",
    begins,
    ends: begins.subarray(1),
    indices,
    values: own,
    diagonal: unit ? undefined : diagonal,
    diagonalAt: undefined,
    order: undefined,
    tasks: { count: 1 },
    work: reals(4, n),
  };
  return { system, memory };
}
