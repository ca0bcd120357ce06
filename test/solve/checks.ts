// What every Solution must be, and systems to solve.
import { expect } from "vitest";
import { type Matrix, matrix, residualNorm, type Solution, type SolveOptions } from "../../src/index.ts";
import type { Random } from "../../src/study.ts";
import type { DenseRoutines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { scaledResidual } from "../oracles/residual.ts";

export const SEED = Number(process.env.HALFULP_SEED ?? Date.now() % 2 ** 32);
export const LONG = process.env.HALFULP_LONG === "1";

export const randoms = (random: Random, length: number, size = 1): Float64Array =>
  Float64Array.from({ length }, () => random.signed() * size);

/** A random matrix; its entries may have a size. */
export const randomMatrix = (random: Random, n: number, size: (i: number, j: number) => number = () => 1): Matrix =>
  matrix(
    Float64Array.from({ length: n * n }, (_, k) => random.signed() * size(Math.floor(k / n), k % n)),
    n,
    n,
  );

/** The columns of a vector or matrix. */
export function columns(b: Float64Array | Matrix): number[][] {
  if (b instanceof Float64Array) return [Array.from(b)];
  const at = (i: number, c: number): number => b.data[b.offset + (b.order === "row" ? i * b.ld + c : c * b.ld + i)] as number;
  return Array.from({ length: b.cols }, (_, c) => Array.from({ length: b.rows }, (_, i) => at(i, c)));
}

/** x as a matrix like b. */
export function solutionColumns({ x }: Solution, b: Float64Array | Matrix): number[][] {
  if (b instanceof Float64Array) return [Array.from(x)];
  return columns(matrix(x, b.rows, b.cols, { order: b.order }));
}

/** Its residual is the exact one, and says whether it has converged; nothing is certified. */
export function checkSolution(solution: Solution, A: Matrix, b: Float64Array | Matrix, what: string): void {
  const xs = solutionColumns(solution, b);
  const want = columns(b).reduce((most, right, c) => Math.max(most, scaledResidual(A, xs[c] as number[], right)), 0);
  expect([solution.residual, solution.converged], what).toEqual([want, want <= 1]);
  expect(solution.certified, what).toBe(false);
  expect(solution.x.length, what).toBe(b instanceof Float64Array ? A.rows : A.rows * b.cols);
}

/** The same with the norm of the residual from residualNorm, for systems that are large for an oracle: nearly. */
export function checkNearly(solution: Solution, A: Matrix, b: Float64Array, what: string): void {
  const { rows: n, data, order, ld, offset } = A;
  const sums = new Float64Array(n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) (sums[i] as number) += Math.abs(data[offset + (order === "row" ? i * ld + j : j * ld + i)] as number);
  const norm = (x: Float64Array): number => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  const want = residualNorm(A, solution.x, b) / (n * 2 ** -53 * (norm(sums) * norm(solution.x) + norm(b)));
  expect(Math.abs(solution.residual - want), `${what}: ${solution.residual}, not ${want}`).toBeLessThanOrEqual(1e-9 * want);
  expect(solution.converged, what).toBe(solution.residual <= 1);
}

/** Solve, and see that the answer is right and inputs are as they were. */
export async function solved(
  routines: DenseRoutines,
  A: Matrix,
  b: Float64Array | Matrix,
  options: SolveOptions | undefined,
  what: string,
): Promise<Solution> {
  const inputs = [A.data, b instanceof Float64Array ? b : b.data];
  const before = inputs.map(storedBits);
  const solution = await routines.solve(A, b, options);
  expect(inputs.map(storedBits), `${what}: inputs`).toEqual(before);
  checkSolution(solution, A, b, what);
  return solution;
}

/** What a call throws, or its promise rejects with. */
export async function failure(call: () => unknown): Promise<Error & { row?: number; column?: number; index?: number }> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  return expect.fail("nothing was thrown");
}
