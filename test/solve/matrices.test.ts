// Real matrices, and random ones that are badly scaled: rounding "backward" is about as near to the exact solution as LAPACK's dgesvx, which equilibrates and refines.

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Matrix, matrix, readMatrixMarket, type Sparse, solve } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { FULL, LONG, SEED } from "../effort.ts";
import { measures, solution } from "../oracles/system.ts";
import { randoms } from "./checks.ts";
import { type Dgesvx, loadDgesvx } from "./lapack.ts";

const FOLDER = ["../../shared/", "../../../shared/"].map((at) => new URL(`${at}matrices/`, import.meta.url)).find((at) => existsSync(at));
const loaded = await loadDgesvx();

// Of two refinements that both end at a small backward error, either may come nearer to the solution, and which one it is depends on the
// kernels of the processor. So an error within the bound that dgesvx gives for its own is good enough.
const seed = LONG ? SEED : 1;
const reason = FOLDER === undefined ? "shared/matrices is not here" : typeof loaded === "string" ? loaded : "";
const dgesvx = loaded as Dgesvx; // where it is not, its tests are skipped

// rajat01 has no values, and is singular with ones.
const NAMES = ["west0479", "reorientation_1", "mahindas", "nnc1374"];
const MORE = ["adder_dcop_05", "bcsstk13", "cryg2500", "hangGlider_2", "watt_2"];

async function dense(name: string): Promise<Matrix> {
  const S = (await readMatrixMarket(readFileSync(new URL(`${name}.mtx`, FOLDER), "latin1"))) as Sparse;
  const A = matrix(new Float64Array(S.rows * S.cols), S.rows, S.cols);
  for (let line = 0; line + 1 < S.pointers.length; line++)
    for (let p = S.pointers[line] as number; p < (S.pointers[line + 1] as number); p++) {
      const [i, j] = S.format === "csr" ? [line, S.indices[p] as number] : [S.indices[p] as number, line];
      A.data[i * S.cols + j] = S.values[p] as number;
    }
  return A;
}

/** norm(x - exact) / norm(exact), both norms the largest component. */
function normwiseError(x: Float64Array, exact: Float64Array): number {
  const norm = exact.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  return x.reduce((most, v, i) => Math.max(most, Math.abs(v - (exact[i] as number))), 0) / norm;
}

describe.skipIf(typeof loaded === "string")(`dgesvx itself${typeof loaded === "string" ? ` (${loaded})` : ""}`, () => {
  test("solves two equations, of rows in either order", () => {
    expect(dgesvx(matrix(Float64Array.of(2, 1, 4, 3), 2, 2), Float64Array.of(4, 10)).x).toEqual(Float64Array.of(1, 2));
    expect(dgesvx(matrix(Float64Array.of(2, 4, 1, 3), 2, 2, { order: "column" }), Float64Array.of(4, 10)).x).toEqual(Float64Array.of(1, 2));
  });

  test("equilibrates: rows and columns far apart in size", () => {
    const random = new Random(seed);
    const n = 12;
    const powers = Array.from({ length: 2 * n }, () => 2 ** (random.below(80) - 40));
    const A = matrix(
      randoms(random, n * n).map((v, k) => v * (powers[Math.floor(k / n)] as number) * (powers[n + (k % n)] as number)),
      n,
      n,
    );
    const b = randoms(random, n).map((v, i) => v * (powers[i] as number));
    const { x, rcond } = dgesvx(A, b);
    expect(rcond).toBeGreaterThan(1e-6); // of the scaled matrix; of A it would be far less
    expect(measures(n, A.data, x, b).backwardError).toBeLessThan(2 ** -51);
    expect(normwiseError(x, Float64Array.from(solution(n, A.data, b) as number[]))).toBeLessThan(1e-9);
  });
});

/** solve(A, b, { rounding: "backward" }) has at most twice the error of dgesvx, or keeps the bound that dgesvx gives for it. */
function expectAsGoodAsLapack(A: Matrix, b: Float64Array, what: string): void {
  const exact = solve(A, b);
  expect(exact, what).toMatchObject({ certified: true, converged: true });
  const [ours, theirs] = [solve(A, b, { rounding: "backward" }), dgesvx(A, b)];
  expect(ours.converged, what).toBe(true);
  const limit = Math.max(2 * normwiseError(theirs.x, exact.x) + 2 ** -52, theirs.errorBound);
  expect(normwiseError(ours.x, exact.x), `${what}, rcond of dgesvx ${theirs.rcond}`).toBeLessThanOrEqual(limit);
}

describe.skipIf(typeof loaded === "string")(`badly scaled random matrices, HALFULP_SEED=${seed}`, () => {
  const none = (): number => 0;
  test.each([
    ["first column times 2^30", none, (j: number) => (j === 0 ? 30 : 0)],
    ["first row times 2^30", (i: number) => (i === 0 ? 30 : 0), none],
    ["graded columns", none, (j: number) => (j * 7) % 60],
    ["graded rows and columns", (i: number) => (i * 11) % 50, (j: number) => -((j * 13) % 50)],
  ])("%s: the error is about that of dgesvx", (what, row, col) => {
    for (const n of [100, 300]) {
      const random = new Random(seed + n);
      const A = matrix(
        randoms(random, n * n).map((v, k) => v * 2 ** (row(Math.floor(k / n)) + col(k % n))),
        n,
        n,
      );
      expectAsGoodAsLapack(A, randoms(random, n), `${what}, n = ${n}`);
    }
  });
});

describe.skipIf(reason !== "")(`the matrices in shared/, HALFULP_SEED=${seed}${reason ? ` (${reason})` : ""}`, () => {
  test.each(LONG ? [...NAMES, ...MORE] : FULL ? NAMES : NAMES.slice(0, 2))("%s: the error is about that of dgesvx", async (name) => {
    const A = await dense(name);
    const n = A.rows;
    const random = new Random(seed + 1);
    const ones = new Float64Array(n);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) (ones[i] as number) += A.data[i * n + j] as number;
    for (const [kind, b] of [["random", randoms(random, n)] as const, ["A times ones", ones] as const]) {
      expectAsGoodAsLapack(A, b, kind);
    }
  });
});
