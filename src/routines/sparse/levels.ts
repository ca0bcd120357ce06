// The set-up phases of the sparse paper, each on its own: the two loops for levels (Section 4.1), the dependency counts of Algorithms 3
// and 4, and Kahn's algorithm. For study and the paper's tables (src/study.ts); plans compute what they need themselves.
import { checkWord } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { checkSparse, patternInfoOf, prefixSums, toCsc, toCsr } from "../../arrays/sparse.ts";
import type { HostTriangle } from "../../arrays/triangle.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import { newIntegers, newVector } from "../../arrays/vectors.ts";
import type { Levels } from "../../engines/kernels.ts";
import type { ThreadKernels } from "../../engines/threads/index.ts";
import { count, fill, levelsOf, positionsByLevels } from "./analysis.ts";

export type { Levels };

/** The levels of a triangle of A by the paper's loop over rows, or the one over columns. */
export function levels(A: Sparse<Real>, uplo: "lower" | "upper", by: "rows" | "columns"): Levels {
  const triangle = triangleOf("levels", by === "rows" ? toCsr(A) : toCsc(A), uplo);
  const lev = newIntegers("levels", triangle.n);
  const ilev = positionsByLevels(lev, levelsOf(triangle, lev));
  const jlev = newIntegers("levels", triangle.n);
  for (let i = 0; i < lev.length; i++) jlev[lev[i] as number] = i;
  return { ilev, jlev };
}

/** How many unknowns each unknown waits for. */
export function dependencyCounts(A: Sparse<Real>, uplo: "lower" | "upper"): Int32Array {
  const triangle = triangleOf("dependencyCounts", A, uplo);
  return count(triangle, !triangle.byRows).perLine;
}

/** The levels by Kahn's algorithm on a pool of threads, from dependency counts and the transposed pattern. */
export async function kahn(engine: Pick<ThreadKernels, "kahn">, A: Sparse<Real>, uplo: "lower" | "upper"): Promise<Levels> {
  const triangle = triangleOf("kahn", A, uplo);
  const { n, byRows } = triangle;
  const { entries, perLine } = count(triangle, byRows); // of columns
  const begins = newIntegers("kahn", n + 1);
  begins.set(perLine, 1);
  prefixSums(begins);
  const indices = newIntegers("kahn", entries);
  const values = newVector("kahn", A.values, entries);
  fill(triangle, byRows, undefined, { begins, indices, values, diagonal: undefined });
  const { ilev, jlev } = await engine.kahn(begins, indices, dependencyCounts(A, uplo));
  for (let m = 0; m + 1 < ilev.length; m++) jlev.subarray(ilev[m], ilev[m + 1]).sort();
  return { ilev, jlev };
}

function triangleOf(routine: string, A: Sparse<Real>, uplo: "lower" | "upper"): HostTriangle {
  checkSparse(routine, "A", A);
  if (A.rows !== A.cols) throw new ShapeError(`${routine}: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  checkWord(routine, "uplo", uplo, ["lower", "upper"]);
  return { A, n: A.rows, upper: uplo === "upper", byRows: A.format === "csr", unit: true, info: patternInfoOf(A) };
}
