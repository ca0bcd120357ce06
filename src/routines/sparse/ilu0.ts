// ilu0, the incomplete LU factorization without fill: checks, the kernel of the engine, and its errors. Called by routines.ts, and by the
// iterative solvers (krylov/preconditioner.ts). A "line" is a row of a matrix by rows and a column of one by columns.
import { ShapeError, SingularError, ValueError } from "../../arrays/errors.ts";
import { type EngineArray, isOnHost, isSparseOnHost, type Operand, type SparseOperand } from "../../arrays/operands.ts";
import { checkSparse, patternInfoOf, positionOf, sortLines, trusted } from "../../arrays/sparse.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import { newIntegers, newVector } from "../../arrays/vectors.ts";
import type { Breakdown, HostLines, SparseLines } from "../../engines/kernels.ts";
import type { Routine } from "../../engines/steps.ts";
import { download, downloadSparse } from "../transfer.ts";

/** The factors, in the pattern of A: shared with A on a synchronous engine, otherwise a copy. */
export function* ilu0(A: SparseOperand): Routine<Sparse<Real>> {
  checkSparse("ilu0", "A", A);
  checkSquare(A);
  const info = patternInfoOf(A);
  if (!isSparseOnHost(A) && info.ascends) {
    const values = newVector("ilu0", A.values, A.values.length);
    yield* factorOnEngine(A, values);
    const { pointers, indices } = yield* patternOnHost(A);
    return trusted({ ...A, pointers, indices, values } as Sparse<Real>, info);
  }
  const later = (yield (_, later) => later) as boolean;
  const host = isSparseOnHost(A) ? A : yield* downloadSparse("ilu0", A);
  const own = later && host === A ? { ...host, pointers: host.pointers.slice(), indices: host.indices.slice() } : host;
  const S = info.ascends ? own : sortLines(own);
  const lines = linesOf(S);
  checkFinite(own);
  const values = newVector("ilu0", S.values, S.values.length);
  yield* factorLines(S, lines, values);
  return trusted({ ...own, values: info.ascends ? values : inOrderOf(own, S.indices, values) }, info);
}

function checkSquare({ rows, cols }: SparseOperand): void {
  if (rows !== cols) throw new ShapeError(`ilu0: A is ${rows} by ${cols}, expected a square matrix`);
}

/** Run the kernel; throws the error of a factorization that ends early. */
export function* factorLines(pattern: SparseOperand, lines: SparseLines, values: Operand): Routine<void> {
  const breakdown = (yield (kernels) => kernels.ilu0(lines, values)) as Breakdown | undefined;
  if (breakdown) throw breakdownError({ format: pattern.format, ...(yield* patternOnHost(pattern)) }, breakdown);
}

/**
 * Factor a matrix with ascending lines on an engine whose memory the host cannot read, where A is, and leave the values
 * there or on the host.
 */
export function* factorOnEngine(A: SparseOperand, values: Operand): Routine<void> {
  const { format, rows: n, pointers, indices } = A;
  const p = (yield (kernels) => kernels.memory.firstNotFinite?.("ilu0", A.values as EngineArray)) as number;
  if (p >= 0) {
    const host = yield* downloadSparse("ilu0", A);
    linesOf(host); // a missing diagonal comes first
    checkFinite(host);
  }
  yield* factorLines(A, { n, byRows: format === "csr", pointers, indices, values: A.values, diagonal: undefined }, values);
}

function* patternOnHost({ pointers, indices }: SparseOperand): Routine<Pick<Sparse<Real>, "pointers" | "indices">> {
  return {
    pointers: isOnHost(pointers) ? pointers : yield* download<Int32Array>("ilu0", pointers),
    indices: isOnHost(indices) ? indices : yield* download<Int32Array>("ilu0", indices),
  };
}

/** A matrix with ascending lines on the host, for the kernel. Throws for the first line without a diagonal. */
export function linesOf({ format, rows: n, pointers, indices, values }: Sparse<Real>): HostLines {
  const diagonal = newIntegers("ilu0", n);
  for (let l = 0; l < n; l++) {
    const position = positionOf(indices, pointers[l] as number, pointers[l + 1] as number, l);
    if (position < 0) throw missing(l);
    diagonal[l] = position;
  }
  return { n, byRows: format === "csr", pointers, indices, values, diagonal };
}

/** Throws for the first entry that is not finite. */
export function checkFinite(A: Sparse<Real>): void {
  for (let p = 0; p < A.values.length; p++) {
    const v = A.values[p] as number;
    if (v - v !== 0) throw entryError(A, p, `A is ${v}`);
  }
}

type Pattern = Pick<Sparse<Real>, "format" | "pointers" | "indices">;

// The error for a factorization that ended early.
function breakdownError(pattern: Pattern, breakdown: Breakdown): SingularError | ValueError {
  if ("missing" in breakdown) return missing(breakdown.missing);
  const { position, value } = breakdown;
  if (value !== 0) return entryError(pattern, position, "the factors of A overflows");
  const i = pattern.indices[position] as number;
  return new SingularError(`ilu0: the pivot of row ${i} is 0, expected another number (rows are not exchanged)`, i);
}

function missing(l: number): SingularError {
  return new SingularError(`ilu0: A has no entry (${l}, ${l}), expected a full diagonal`, l);
}

function entryError({ format, pointers, indices }: Pattern, position: number, what: string): ValueError {
  const line = pointers.findIndex((end) => end > position) - 1;
  const index = indices[position] as number;
  const [row, column] = format === "csr" ? [line, index] : [index, line];
  return new ValueError(`ilu0: entry (${row}, ${column}) of ${what}, expected a finite number`, row, column);
}

// The values of a matrix with ascending lines, in the order of A.
function inOrderOf({ rows: n, pointers, indices: order }: Sparse<Real>, indices: Int32Array, sorted: Real): Real {
  const values = newVector("ilu0", sorted, sorted.length);
  const line = newVector("ilu0", sorted, n);
  for (let i = 0; i < n; i++) {
    const [from, end] = [pointers[i] as number, pointers[i + 1] as number];
    for (let p = from; p < end; p++) line[indices[p] as number] = sorted[p] as number;
    for (let p = from; p < end; p++) values[p] = line[order[p] as number] as number;
  }
  return values;
}
