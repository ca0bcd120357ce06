import { checkWord } from "../../arrays/checks.ts";
import { ShapeError } from "../../arrays/errors.ts";
import { addUp, checkSparse, patternInfoOf, toCsc, toCsr } from "../../arrays/sparse.ts";
import type { HostTriangle } from "../../arrays/triangle.ts";
import type { Real, Sparse } from "../../arrays/types.ts";
import { newIntegers, newVector } from "../../arrays/vectors.ts";
import type { ThreadKernels } from "../../engines/threads/index.ts";
import { count, fill, levelsOf, placesOf } from "./analysis.ts";

// The set-up phases of the sparse paper, each by itself: for study and for its tables. Plans find what they need on the way.

/** The unknowns by levels: those of level m are jlev[ilev[m]] to jlev[ilev[m + 1] - 1], ascending. */
export interface Levels {
  readonly ilev: Int32Array;
  readonly jlev: Int32Array;
}

/** The levels of a triangle of A by the paper's loop over rows, or the one over columns. */
export function levels(A: Sparse<Real>, uplo: "lower" | "upper", by: "rows" | "columns"): Levels {
  const triangle = stored("levels", by === "rows" ? toCsr(A) : toCsc(A), uplo);
  const lev = newIntegers("levels", triangle.n);
  const ilev = placesOf(lev, levelsOf(triangle, lev));
  const jlev = newIntegers("levels", triangle.n);
  for (let i = 0; i < lev.length; i++) jlev[lev[i] as number] = i;
  return { ilev, jlev };
}

/** How many unknowns each unknown waits for. */
export function dependencyCounts(A: Sparse<Real>, uplo: "lower" | "upper"): Int32Array {
  const triangle = stored("dependencyCounts", A, uplo);
  return count(triangle, !triangle.byRows).ofLine;
}

/** The levels by Kahn's algorithm on a pool of threads, from dependency counts and the transposed pattern. */
export async function kahn(engine: Pick<ThreadKernels, "kahn">, A: Sparse<Real>, uplo: "lower" | "upper"): Promise<Levels> {
  const triangle = stored("kahn", A, uplo);
  const { n, byRows } = triangle;
  const { entries, ofLine } = count(triangle, byRows); // of columns
  const begins = newIntegers("kahn", n + 1);
  begins.set(ofLine, 1);
  addUp(begins);
  const indices = newIntegers("kahn", entries);
  const values = newVector("kahn", A.values, entries);
  fill(triangle, byRows, undefined, { begins, indices, values, diagonal: undefined });
  const { ilev, jlev } = await engine.kahn(begins, indices, dependencyCounts(A, uplo));
  for (let m = 0; m + 1 < ilev.length; m++) jlev.subarray(ilev[m], ilev[m + 1]).sort();
  return { ilev, jlev };
}

function stored(routine: string, A: Sparse<Real>, uplo: "lower" | "upper"): HostTriangle {
  checkSparse(routine, "A", A);
  if (A.rows !== A.cols) throw new ShapeError(`${routine}: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  checkWord(routine, "uplo", uplo, ["lower", "upper"]);
  return { A, n: A.rows, upper: uplo === "upper", byRows: A.format === "csr", unit: true, info: patternInfoOf(A) };
}
