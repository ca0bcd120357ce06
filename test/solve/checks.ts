// What every Solution of rounding "backward" must be, routines that round that way, and systems to solve.
import { expect } from "vitest";
import { exgemv, type Matrix, matrix, type Solution, type SolveOptions } from "../../src/index.ts";
import type { Random } from "../../src/study.ts";
import { type AnyRoutines, describeEngines, ENGINES, SELECTED_ENGINES } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { measures } from "../oracles/residual.ts";
import { backward } from "./backward.ts";

const rowsOf = <T extends { readonly routines: AnyRoutines }>(rows: readonly T[]): T[] =>
  rows.map((row) => ({ ...row, routines: backward(row.routines) }));
/** The engines of ENGINES and SELECTED_ENGINES, with rounding "backward". */
export const BACKWARD_ENGINES = rowsOf(ENGINES);
export const SELECTED_BACKWARD_ENGINES = rowsOf(SELECTED_ENGINES);

/** A block of tests for each engine, with rounding "backward". */
export const describeBackward = (title: string, body: (routines: AnyRoutines) => void): void =>
  describeEngines(title, (routines) => body(backward(routines)));

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

const isSmall = ({ residual, backwardError }: Solution, n: number): boolean => residual <= 1 && backwardError <= (n + 1) * 2 ** -53;

/** Its measures are the exact ones, and say whether it has converged; nothing is certified. */
export function checkSolution(solution: Solution, A: Matrix, b: Float64Array | Matrix, what: string): void {
  const xs = solutionColumns(solution, b);
  const want = columns(b).map((right, c) => measures(A, xs[c] as number[], right));
  const residual = Math.max(0, ...want.map((each) => each.residual));
  const backwardError = Math.max(0, ...want.map((each) => each.backwardError));
  expect([solution.residual, solution.backwardError], what).toEqual([residual, backwardError]);
  expect(solution.converged, what).toBe(isSmall(solution, A.rows));
  expect(solution.certified, what).toBe(false);
  expect(solution.x.length, what).toBe(b instanceof Float64Array ? A.rows : A.rows * b.cols);
}

/** The same with the residual from exgemv and sums in binary64, for systems that are large for an oracle: nearly. */
export function checkNearly(solution: Solution, A: Matrix, b: Float64Array, what: string): void {
  const { rows: n, data, order, ld, offset } = A;
  const [sums, weights] = [new Float64Array(n), b.map(Math.abs)];
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const size = Math.abs(data[offset + (order === "row" ? i * ld + j : j * ld + i)] as number);
      sums[i] = (sums[i] as number) + size;
      weights[i] = (weights[i] as number) + size * Math.abs(solution.x[j] as number);
    }
  const r = exgemv(-1, A, solution.x, 1, b.slice());
  const norm = (x: Float64Array): number => x.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  const want = norm(r) / (n * 2 ** -53 * (norm(sums) * norm(solution.x) + norm(b)));
  expect(Math.abs(solution.residual - want), `${what}: ${solution.residual}, not ${want}`).toBeLessThanOrEqual(1e-9 * want);
  const error = norm(r.map((v, i) => (v === 0 ? 0 : v / (weights[i] as number))));
  const far = Math.abs(solution.backwardError - error);
  expect(far, `${what}: ${solution.backwardError}, not ${error}`).toBeLessThanOrEqual(1e-9 * error);
  expect(solution.converged, what).toBe(isSmall(solution, n));
}

/** Solve, and see that the answer is right and inputs are as they were. */
export async function solved(
  routines: AnyRoutines,
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
