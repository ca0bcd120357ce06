// The levels of a triangle: three algorithms against the definition, and the numbers in the sparse paper.
import { describe, expect, test } from "vitest";
import { csr, laplacian, powerLaw, type Sparse, toCsc } from "../../src/index.ts";
import { dependencyCounts, kahn, levels, openThreads } from "../../src/study.ts";

// The level of every unknown by its definition, recursively.
function levelOf(A: Sparse, uplo: "lower" | "upper"): number[] {
  const known: number[] = [];
  const order = Array.from({ length: A.rows }, (_, i) => (uplo === "upper" ? A.rows - 1 - i : i));
  for (const i of order) {
    const row = Array.from(A.indices.subarray(A.pointers[i], A.pointers[i + 1])).filter((j) => (uplo === "upper" ? j > i : j < i));
    known[i] = Math.max(0, ...row.map((j) => (known[j] as number) + 1));
  }
  return known;
}

const empty = csr(0, 0, new Int32Array(1), new Int32Array(), new Float64Array());
const diagonal = csr(3, 3, Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 1, 2), new Float64Array(3).fill(1));
const PROBLEMS: [string, Sparse][] = [
  ["empty", empty],
  ["diagonal", diagonal],
  ["5 points", laplacian(7, 5)],
  ["27 points", laplacian(4, 5, 6, 27)],
  ["power law", powerLaw(500, 2000, 3)],
];

describe.each(PROBLEMS)("levels of %s", (_, A) => {
  test.each(["lower", "upper"] as const)("%s: rows, columns and Kahn's algorithm agree with the definition", async (uplo) => {
    const level = levelOf(A, uplo);
    const byRows = levels(A, uplo, "rows");
    const { ilev, jlev } = byRows;
    const found: number[] = [];
    for (let m = 0; m + 1 < ilev.length; m++) for (const i of jlev.subarray(ilev[m], ilev[m + 1])) found[i] = m;
    expect(found).toEqual(level);
    expect(levels(A, uplo, "columns")).toEqual(byRows);
    expect(levels(toCsc(A), uplo, "rows")).toEqual(byRows);
    for (const threads of [1, 2, 5]) {
      const engine = await openThreads(threads);
      expect(await kahn(engine, A, uplo)).toEqual(byRows);
      expect(await kahn(engine, toCsc(A), uplo)).toEqual(byRows);
      await engine.close();
    }
  });

  test("dependency counts are the entries of rows", () => {
    const counts = Array.from(
      { length: A.rows },
      (_, i) => A.indices.subarray(A.pointers[i], A.pointers[i + 1]).filter((j) => j < i).length,
    );
    expect(Array.from(dependencyCounts(A, "lower"))).toEqual(counts);
    expect(Array.from(dependencyCounts(toCsc(A), "lower"))).toEqual(counts);
  });
});

test("the paper's numbers of levels", () => {
  expect(levels(laplacian(9, 7), "lower", "rows").ilev.length - 1).toBe(9 + 7 - 1);
  expect(levels(laplacian(5, 6, 7), "upper", "columns").ilev.length - 1).toBe(5 + 6 + 7 - 2);
});
