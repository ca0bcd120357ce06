// One triangle T of a sparse matrix A, as the analysis in src/routines/sparse and the set-up phase of a device see it. T is A or its
// transpose, without the entries of the other triangle. A "line" is a row of A, or a column if A is stored by columns; it is a row or a
// column of T.

import { SingularError } from "./errors.ts";
import { zeroOnDiagonal } from "./matrix.ts";
import { isSparseOnHost, type SparseOperand } from "./operands.ts";
import type { PatternInfo } from "./sparse.ts";
import type { Real, Sparse } from "./types.ts";

/** A triangle of a sparse matrix, not copied. */
export interface TriangleSource<S extends SparseOperand = SparseOperand> {
  readonly A: S;
  readonly n: number;
  readonly upper: boolean; // whether T is upper triangular
  readonly byRows: boolean; // whether the lines of A are rows of T
  readonly unit: boolean;
  readonly info: PatternInfo;
  /** Set if both triangles of A stay in the memory of an engine as long as its plans, which may use them there. */
  readonly inPlace?: InPlace | undefined;
}

/** The positions of the diagonal in the lines of A, which ascend, and n numbers for solves: in the memory where A is. */
export interface InPlace {
  readonly diagonal: Int32Array;
  readonly work: Real;
}

/** A triangle on the host. */
export type HostTriangle = TriangleSource<Sparse<Real>>;

export function isTriangleOnHost(triangle: TriangleSource): triangle is HostTriangle {
  return isSparseOnHost(triangle.A);
}

/** Whether the diagonal is the first or the last entry of its row or column. */
export type DiagonalPosition = "first" | "last";

/** Lines with their diagonal: line l has the entries pointers[l] to pointers[l + 1] - 1. */
export interface StoredLines {
  readonly pointers: Int32Array;
  readonly values: Real;
  readonly diagonalAt: DiagonalPosition;
}

/** Whether the lines of the triangle end at the diagonal. Otherwise they start there. */
export const linesEndAtDiagonal = ({ upper, byRows }: Pick<TriangleSource, "upper" | "byRows">): boolean => byRows !== upper;

/** Which entry of every line the diagonal is, if known. */
export function diagonalPositionOf({ triangular }: PatternInfo): DiagonalPosition | undefined {
  return triangular?.diagonal ? (triangular.endsAtDiagonal ? "last" : "first") : undefined;
}

/** The error for an unknown without a diagonal entry. */
export function missingOnDiagonal(routine: string, l: number): SingularError {
  return new SingularError(`${routine}: A has no entry (${l}, ${l}), expected a diagonal without gaps or unit: true`, l);
}

/** Throws a SingularError for the first unknown whose diagonal entry is missing or zero. */
export function checkDiagonal(routine: string, { A, n, info }: HostTriangle): void {
  const { pointers, indices, values } = A;
  const diagonalAt = diagonalPositionOf(info);
  if (diagonalAt) {
    const zero = firstZero({ pointers, values, diagonalAt }, 0, n);
    if (zero < n) throw zeroOnDiagonal(routine, "A", zero);
    return;
  }
  for (let l = 0, p = 0; l < n; l++) {
    const end = pointers[l + 1] as number;
    let found = -1;
    for (; p < end; p++) if (indices[p] === l) found = p;
    if (found < 0) throw missingOnDiagonal(routine, l);
    if (values[found] === 0) throw zeroOnDiagonal(routine, "A", l);
  }
}

/** The first line in [from, to) whose diagonal entry is zero; `to` if there is none. */
export function firstZero({ pointers, values, diagonalAt }: StoredLines, from: number, to: number): number {
  const shift = diagonalAt === "last" ? 1 : 0;
  for (let l = from; l < to; l++) if (values[(pointers[l + shift] as number) - shift] === 0) return l;
  return to;
}
