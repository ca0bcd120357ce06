// Ill-conditioned and singular systems: what each method does alone is what the chain reports.

import { describe, expect, test } from "vitest";
import { runSync } from "../../src/engines/steps.ts";
import { illConditionedMatrix, type Matrix, matrix, SingularError, type Solution, solve } from "../../src/index.ts";
import { exactMatrix, freeExactMatrix, proveRegular } from "../../src/routines/solve/exact.ts";
import { allRows } from "../../src/routines/solve/held.ts";
import { Progress } from "../../src/routines/solve/progress.ts";
import { kernels, type LocalKernels, Random } from "../../src/study.ts";
import { cases, FULL, SEED, sample } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { range } from "../oracles/matrices.ts";
import { checkSolution, failure, randomMatrix, randoms, SELECTED_BACKWARD_ENGINES, solved } from "./checks.ts";

const METHODS = ["mixed", "double", "exact"] as const;

// The first method that converges alone answers; the others before it have been tried.
async function checkChain(routines: AnyRoutines, A: Matrix, b: Float64Array, what: string): Promise<Solution[]> {
  const alone: Solution[] = [];
  for (const method of METHODS) {
    const solution = await solved(routines, A, b, { method, fallback: false }, `${what}, ${method} alone`);
    expect(solution, what).toMatchObject({ method, fellBack: false });
    alone.push(solution);
  }
  for (const [k, method] of METHODS.entries()) {
    const answers = alone.slice(k).find(({ converged }) => converged) ?? (alone.at(-1) as Solution);
    const solution = await routines.solve(A, b, { method });
    expect(solution, `${what} from ${method}`).toMatchObject({ method: answers.method, fellBack: answers.method !== method });
    if (answers.converged) expect(solution, `${what} from ${method}`).toEqual({ ...answers, fellBack: answers.method !== method });
    else checkSolution(solution, A, b, what);
  }
  return alone;
}

const hilbert = (n: number): Matrix =>
  matrix(
    Float64Array.from({ length: n * n }, (_, k) => 1 / (Math.floor(k / n) + (k % n) + 1)),
    n,
    n,
  );

describe(`ill-conditioned systems, HALFULP_SEED=${SEED}`, () => {
  test.each(sample([2, 4, 6, 7, 8, 9, 10, 11, 12, 14, 16], 3))("condition 1e%d", async (digits) => {
    const random = new Random(SEED);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
      const A = illConditionedMatrix(60, 10 ** digits, random.below(1000));
      const [mixed, double] = await checkChain(routines, A, randoms(random, 60), `condition 1e${digits} on ${name}`);
      if (digits <= 4) expect(mixed?.converged).toBe(true);
      if (digits >= 11) expect(mixed?.converged).toBe(false);
      expect(double?.converged).toBe(true);
    }
  });

  test.each(sample([2, 3, 5, 8, 11, 12, 13, 15], 3))("the Hilbert matrix of order %d", async (n) => {
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
      const alone = await checkChain(routines, hilbert(n), new Float64Array(n).fill(1), `order ${n} on ${name}`);
      expect(alone[1]?.converged).toBe(true);
    }
  });

  test("what maxIterations forbids", async () => {
    const random = new Random(SEED + 1);
    const [A, b] = [randomMatrix(random, 50), randoms(random, 50)];
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
      const { iterations } = await routines.solve(A, b, { method: "mixed" });
      expect(iterations, name).toBeGreaterThan(0);
      const none = await solved(routines, A, b, { method: "mixed", maxIterations: 0, fallback: false }, name);
      expect(none, name).toMatchObject({ converged: false, iterations: 0, method: "mixed" });
      const less = await solved(routines, A, b, { method: "mixed", maxIterations: iterations - 1, fallback: false }, name);
      expect(less.iterations, name).toBe(iterations - 1); // it may have converged: the last correction goes on to one unit
      const enough = await solved(routines, A, b, { method: "mixed", maxIterations: iterations, fallback: false }, name);
      expect(enough, name).toMatchObject({ converged: true, iterations });
      const double = await solved(routines, A, b, { method: "mixed", maxIterations: 0 }, name);
      expect(double, name).toMatchObject({ converged: true, method: "double", fellBack: true, iterations: 0 });
    }
  });

  test("elements that grow beyond binary32 and, scaled, beyond binary64", async () => {
    // Wilkinson's matrix: elimination doubles the last column at every step.
    for (const n of FULL ? [60, 150] : [60]) {
      const A = matrix(
        Float64Array.from({ length: n * n }, (_, k) => wilkinson(n, Math.floor(k / n), k % n)),
        n,
        n,
      );
      const b = randoms(new Random(SEED + 2), n);
      for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
        const solution = await solved(routines, A, b, { method: "mixed" }, `${n} on ${name}`);
        expect(solution.fellBack, `${n} on ${name}`).toBe(true);
      }
    }
  });
  const wilkinson = (n: number, i: number, j: number): number => (j === n - 1 || i === j ? 1 : j < i ? -1 : 0);

  test("some right-hand sides converge, others need another method", async () => {
    const random = new Random(SEED + 3);
    const A = illConditionedMatrix(60, 1e10, 4);
    const b = matrix(randoms(random, 120), 60, 2);
    for (let i = 0; i < 60; i++) b.data[2 * i] = 0;
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      expect(await solved(routines, A, b, { method: "mixed" }, name), name).toMatchObject({
        converged: true,
        method: "double",
        fellBack: true,
      });
  });
});

describe(`singular systems, HALFULP_SEED=${SEED}`, () => {
  const square = (values: readonly number[]): Matrix =>
    matrix(Float64Array.from(values), Math.sqrt(values.length), Math.sqrt(values.length));
  // A matrix, and the first column that depends on those before it.
  const SINGULAR: readonly [string, Matrix, number][] = [
    ["one zero", square([0]), 0],
    ["zeros", square(new Array(9).fill(0)), 0],
    ["1 to 9, whose binary64 factors have no zero", square([1, 2, 3, 4, 5, 6, 7, 8, 9]), 2],
    ["a row of zeros", square([1, 2, 3, 0, 0, 0, 3, 1, 4]), 2],
    ["a column of zeros", square([1, 0, 3, 2, 0, 5, 3, 0, 4]), 1],
    ["equal rows", square([0.1, 0.7, 0.3, 0.1, 0.7, 0.3, 3, 1, 4]), 2],
    ["equal columns", square([0.1, 0.1, 0.3, 0.7, 0.7, 0.9, 3, 3, 4]), 1],
    [
      "graded, 2 row 0 - row 1 - row 2 = 0, whose factors have no small pivot",
      square([0.00125885009765625, 0, -85.75, -1183744, 13888, -0.0000743865966796875, 1183744.0025177002, -13888, -171.49992561340332]),
      2,
    ],
    ["far from 1", square([2 ** 900, 2 ** 901, 2 ** -900, 2 ** -899]), 1],
    ["at the ends of the range", square([Number.MAX_VALUE, Number.MAX_VALUE, Number.MIN_VALUE, Number.MIN_VALUE]), 1],
  ];

  test.each(SINGULAR)("%s", async (_, A, index) => {
    const random = new Random(SEED);
    const inRange = Float64Array.from(range(A.rows), (i) => A.data.slice(i * A.cols, (i + 1) * A.cols).reduce((s, v) => s + v / 4, 0));
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const method of METHODS)
        for (const fallback of [true, false])
          for (const b of [randoms(random, A.rows), inRange, new Float64Array(A.rows)]) {
            const what = `${method} on ${name}`;
            const error = await failure(() => routines.solve(A, b, { method, fallback }));
            expect(error, what).toBeInstanceOf(SingularError);
            expect(error.index, what).toBe(index);
            expect(error.message, what).toBe(`solve: column ${index} of A depends on those before it, expected a matrix of full rank`);
            const other = await failure(() => routines.factor(A, { method }));
            expect(other.message, what).toBe(`factor: column ${index} of A depends on those before it, expected a matrix of full rank`);
          }
  });

  test("random integers with a column that is a sum of others", async () => {
    const random = new Random(SEED + 1);
    for (const n of [5, 20, 60, 130]) {
      const index = 2 + random.below(n - 2);
      const A = matrix(
        Float64Array.from({ length: n * n }, () => random.below(201) - 100),
        n,
        n,
      );
      for (let i = 0; i < n; i++) A.data[i * n + index] = (A.data[i * n] as number) - 3 * (A.data[i * n + index - 1] as number);
      const b = randoms(random, n);
      for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
        for (const method of METHODS) {
          const error = await failure(() => routines.solve(A, b, { method }));
          expect(error, `${method} on ${name}`).toBeInstanceOf(SingularError);
          expect(error.index, `${method} on ${name}`).toBe(index);
        }
    }
  });

  test("columns that depend on each other by enormous factors, which pivots do not show", async () => {
    const random = new Random(SEED + 3);
    for (const n of [30, 60]) {
      const Z = range(n).map(() => range(n).map(() => random.below(201) - 100));
      const data = Z.flatMap((row) => {
        let sum = 0;
        const columns = row.map((v) => {
          sum += v;
          return v - (sum - v);
        });
        columns[n - 1] = row.slice(0, -1).reduce((s, v, j) => s + v * (((j * 7) % 5) - 2), 0);
        return columns;
      });
      const b = randoms(random, n);
      for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
        for (const method of METHODS) {
          const error = await failure(() => routines.solve(square(data), b, { method }));
          expect(error, `${method} on ${name}`).toBeInstanceOf(SingularError);
          expect(error.index, `${method} on ${name}`).toBe(n - 1);
        }
    }
  });

  test("next to singular is not singular, and a Solution says how it went", async () => {
    const nearly = square([1, 2, 3, 4, 5, 6, 7, 8, 9 + 2 ** -49]);
    const rows = square([0.1, 0.7, 0.1, 0.7 + 2 ** -53]);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const A of [nearly, rows]) await checkChain(routines, A, randoms(new Random(SEED), A.rows), name);
  });

  test("the test itself, against integers whose determinant is known", () => {
    const random = new Random(SEED + 2);
    const engine = kernels("reference") as LocalKernels;
    const first = (A: Matrix): number => {
      const exact = exactMatrix("solve", A.rows, { rows: allRows(A.rows), data: A.data });
      try {
        expect(runSync(proveRegular(exact, new Progress(undefined, undefined)), () => engine)).toBe(true);
        return -1;
      } catch (error) {
        if (error instanceof SingularError) return error.index;
        throw error;
      } finally {
        freeExactMatrix(exact);
      }
    };
    for (let round = 0; round < cases(200, 40); round++) {
      const n = 1 + random.below(8);
      // L U with unit L and small integers, of full rank or with a zero on the diagonal of U; powers of two for rows and columns.
      const zero = random.below(2) === 0 ? random.below(n) : -1;
      const L = range(n).map((i) => range(n).map((j) => (i === j ? 1 : j < i ? random.below(9) - 4 : 0)));
      const U = range(n).map((i) =>
        range(n).map((j) => (i === j ? (i === zero ? 0 : 1 + random.below(5)) : j > i ? random.below(9) - 4 : 0)),
      );
      const powers = range(2 * n).map(() => 2 ** (random.below(900) - 450));
      const entry = (i: number, j: number): number => range(n).reduce((s, k) => s + (L[i]?.[k] as number) * (U[k]?.[j] as number), 0);
      const A = matrix(
        Float64Array.from(
          { length: n * n },
          (_, k) => entry(Math.floor(k / n), k % n) * (powers[Math.floor(k / n)] as number) * (powers[n + (k % n)] as number),
        ),
        n,
        n,
      );
      expect(first(A)).toBe(zero);
    }
    // Long enough for several reductions on the way.
    const n = 700;
    const A = matrix(
      Float64Array.from({ length: n * n }, () => random.below(2001) - 1000),
      n,
      n,
    );
    expect(first(A)).toBe(-1);
    for (let i = 0; i < n; i++)
      A.data[i * n + 690] = range(690).reduce((sum, j) => sum + (j % 6 === 0 ? 3 : -1) * (A.data[i * n + j] as number), 0);
    expect(first(A)).toBe(690);
    expect(() => solve(A, randoms(random, n))).toThrow(SingularError);
  });
});
