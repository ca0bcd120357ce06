// factor(): one factorisation for many right-hand sides, kept and given back.

import { describe, expect, test } from "vitest";
import type { ApproximateKernels } from "../../src/engines/approximate.ts";
import type { HostMemory } from "../../src/engines/memory.ts";
import { factor, illConditionedMatrix, type Matrix, matrix, ShapeError, SingularError, type Solution, solve } from "../../src/index.ts";
import { type AsyncKernels, asyncRoutines, kernels, type LocalKernels, Random, routinesOn } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { range } from "../oracles/matrices.ts";
import { backward } from "./backward.ts";
import { checkSolution, failure, randomMatrix, randoms, SELECTED_BACKWARD_ENGINES } from "./checks.ts";

const METHODS = ["mixed", "double", "exact"] as const;

describe(`on every engine, HALFULP_SEED=${SEED}`, () => {
  test("many right-hand sides, after A was changed", async () => {
    const random = new Random(SEED);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const method of METHODS) {
        const n = 5 + random.below(40);
        const A = randomMatrix(random, n);
        const same: Matrix = { ...A, data: A.data.slice() };
        const factored = await routines.factor(A, { method });
        A.data.fill(Number.NaN);
        for (let round = 0; round < 3; round++) {
          const b = round === 2 ? matrix(randoms(random, 3 * n), n, 3, { order: "column" }) : randoms(random, n);
          const solution = await factored.solve(b);
          checkSolution(solution, same, b, `${method} on ${name}`);
          expect(solution, `${method} on ${name}`).toMatchObject({ converged: true, method, fellBack: false });
        }
        await factored.free();
      }
  });

  test("falls back when a right-hand side needs it, and stays there", async () => {
    const random = new Random(SEED + 1);
    const n = 60;
    const A = illConditionedMatrix(n, 1e11, 3);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
      const factored = await routines.factor(A, { method: "mixed" });
      expect(await factored.solve(new Float64Array(n)), name).toMatchObject({ converged: true, method: "mixed", fellBack: false });
      expect(await factored.solve(randoms(random, n), { fallback: false }), name).toMatchObject({ converged: false, method: "mixed" });
      for (let round = 0; round < 3; round++) {
        const b = randoms(random, n);
        const solution = await factored.solve(b);
        checkSolution(solution, A, b, name);
        expect(solution, name).toMatchObject({ converged: true, method: "double", fellBack: true });
      }
      // What is asked for in so many words is done.
      expect(await factored.solve(randoms(random, n), { method: "mixed", fallback: false }), name).toMatchObject({
        converged: false,
        method: "mixed",
        fellBack: false,
      });
      expect(await factored.solve(randoms(random, n), { method: "exact" }), name).toMatchObject({
        converged: true,
        method: "exact",
        fellBack: false,
      });
    }
  });

  test("options of factor hold for its solves unless they have their own", async () => {
    const random = new Random(SEED + 2);
    const A = randomMatrix(random, 40);
    const b = randoms(random, 40);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
      const factored = await routines.factor(A, { method: "mixed", maxIterations: 0, fallback: false });
      expect(await factored.solve(b), name).toMatchObject({ converged: false, iterations: 0 });
      expect(await factored.solve(b, { maxIterations: 9 }), name).toMatchObject({ converged: true, method: "mixed" });
      expect(await factored.solve(b, { fallback: true }), name).toMatchObject({ converged: true, method: "double", fellBack: true });
    }
  });

  test("no unknowns", async () => {
    for (const { routines } of SELECTED_BACKWARD_ENGINES) {
      const controller = new AbortController();
      const factored = await routines.factor(matrix(new Float64Array(0), 0, 0), { signal: controller.signal });
      controller.abort(); // the signal was that of factor()
      expect(await factored.solve(new Float64Array(0))).toMatchObject({ converged: true, residual: 0, x: new Float64Array(0) });
      await factored.free();
    }
  });

  test("once freed it refuses, by name", async () => {
    for (const { routines } of SELECTED_BACKWARD_ENGINES) {
      const factored = await routines.factor(matrix(Float64Array.of(2), 1, 1));
      await factored.free();
      for (const [name, call] of [
        ["solve", () => factored.solve(Float64Array.of(1))],
        ["free", () => factored.free()],
      ] as const) {
        const error = await failure(call);
        expect(error).toBeInstanceOf(ShapeError);
        expect(error.message).toBe(`Factored.${name}: the factors were freed, expected factors that are in use`);
      }
    }
  });
});

// The engine, answering some turns later.
function hesitating({ gemv, gemm, trsv, lu, approximate, ...others }: LocalKernels, random: Random): AsyncKernels {
  const later = <K extends object>(kernels: K): never =>
    Object.fromEntries(
      Object.entries(kernels).map(([name, kernel]) => [
        name,
        async (...args: unknown[]) => {
          const result = (kernel as (...args: unknown[]) => unknown)(...args);
          for (let turns = random.below(4); turns > 0; turns--) await undefined;
          return result;
        },
      ]),
    ) as never;
  return {
    ...others,
    ...(later({ gemv, gemm, trsv, lu }) as Pick<AsyncKernels, "gemv">),
    approximate: later(approximate),
  } as unknown as AsyncKernels;
}

describe("memory", () => {
  // The engine, counting what is kept, factored and inverted and not given back. Memory runs out at the call number `limit`.
  function counting(limit = Number.POSITIVE_INFINITY): { engine: LocalKernels; count: () => number; calls: () => number } {
    const engine = kernels("reference") as LocalKernels;
    const { approximate: plain } = engine;
    let calls = 0;
    let count = 0;
    const counted = <T extends { free(): void }>(make: () => T | Promise<T>): T => {
      if (calls++ === limit) throw new Error("no memory");
      const each = make() as T;
      let freed = false;
      count++;
      return Object.assign(each, {
        free() {
          expect(freed, "freed twice").toBe(false);
          freed = true;
          count--;
        },
      });
    };
    const counter: ApproximateKernels = {
      ...plain,
      factorize: (...args) => counted(() => plain.factorize(...args)),
      invert: (...args) => counted(() => plain.invert(...args)),
    };
    const memory: HostMemory = { ...engine.memory, keepMatrix: (...args) => counted(() => engine.memory.keepMatrix(...args)) };
    return { engine: { ...engine, memory, approximate: counter }, count: () => count, calls: () => calls };
  }
  const random = new Random(SEED + 3);
  const n = 60;
  const ill = illConditionedMatrix(n, 1e11, 3);

  test("solve leaves nothing behind, whatever happens", () => {
    const { engine, count } = counting();
    const routines = backward(routinesOn(engine));
    const singular = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3);
    routines.solve(randomMatrix(random, n), randoms(random, n), { method: "mixed" });
    expect(count()).toBe(0);
    routines.solve(ill, randoms(random, n), { method: "mixed" });
    expect(count()).toBe(0);
    for (const method of METHODS) expect(() => routines.solve(singular, Float64Array.of(1, 2, 3), { method })).toThrow(SingularError);
    expect(() => routines.solve(matrix(Float64Array.of(Number.NaN), 1, 1), Float64Array.of(1))).toThrow("is NaN");
    for (const method of METHODS) expect(() => routines.factor(singular, { method })).toThrow(SingularError);
    expect(count()).toBe(0);
    const broken = backward(
      routinesOn({
        ...engine,
        gemv: () => {
          throw new Error("lost");
        },
      }),
    );
    expect(() => broken.solve(randomMatrix(random, n), randoms(random, n), { method: "mixed" })).toThrow("lost");
    expect(count()).toBe(0);
  });

  test("factor keeps one matrix and one factorisation, the dearer one", () => {
    const { engine, count } = counting();
    const factored = backward(routinesOn(engine)).factor(ill, { method: "mixed" });
    const before = count();
    expect(before).toBeGreaterThanOrEqual(2);
    factored.solve(randoms(random, n));
    expect(count()).toBe(2);
    factored.free();
    expect(count()).toBe(0);
  });

  // Systems that take every stage of rounding "correct", and what their factors keep: the matrix and its binary64 factors, a scaled
  // copy where rows are unlike or a balanced one did better, slices, and the inverse modulo a prime.
  const wide = randomMatrix(random, 12, (i) => 2 ** (i % 2 === 0 ? 300 : -300));
  const graded = randomMatrix(random, 12, (i, j) => 2 ** (-40 * Math.abs(i - j)));
  const near = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9 + 2 ** -49), 3, 3);
  const skipFilter = illConditionedMatrix(20, 1e30, 2);
  const singular = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3);
  const SYSTEMS: readonly [string, Matrix][] = [
    ["random", randomMatrix(random, 12)],
    ["rows that are unlike", wide],
    ["graded", graded],
    ["next to singular", near],
    ["beyond binary64", skipFilter],
    ["singular", singular],
  ];
  // Whose rows and columns have to be scaled by an assignment.
  const wild = (): Matrix => randomMatrix(random, 8, () => 2 ** (random.below(400) - 200));
  const ROUNDINGS = ["correct", "backward"] as const;

  test.each([...SYSTEMS.slice(0, -1), ...range(8).map((k) => [`wild exponents ${k}`, wild()] as const)])(
    "solves that overlap, with either rounding, disturb nothing and leave nothing behind: %s",
    async (_, A) => {
      const { engine, count } = counting();
      const later = asyncRoutines(() => hesitating(engine, random));
      const rights = range(3).map(() => randoms(random, A.rows));
      const { solve } = routinesOn(engine);
      const alone = rights.map((b) => ROUNDINGS.map((each) => solve(A, b, { rounding: each })) as [Solution, Solution]);
      for (const rounding of ROUNDINGS) {
        const factored = await later.factor(A, { rounding });
        for (const isLast of [false, true]) {
          const pending = rights.map((b) => ROUNDINGS.map((each) => factored.solve(b, { rounding: each })));
          if (isLast) await factored.free();
          for (const [k, calls] of pending.entries()) {
            const [correct, near] = (await Promise.all(calls)) as [Solution, Solution];
            const [wanted, nearly] = alone[k] as [Solution, Solution];
            expect(correct).toMatchObject({ certified: true, x: wanted.x });
            checkSolution(near, A, rights[k] as Float64Array, rounding);
            if (nearly.converged) expect(near.converged, rounding).toBe(true);
          }
        }
        expect(count(), rounding).toBe(0);
      }
    },
  );

  test.each(SYSTEMS)("nothing is left behind with either rounding, wherever memory runs out: %s", (_, A) => {
    // Ties and zeros, which take whole numbers to decide.
    const b = Float64Array.from({ length: A.rows }, (_, i) => A.data[i * A.rows] as number);
    const run = (limit: number): number => {
      const { engine, count, calls } = counting(limit);
      const routines = routinesOn(engine);
      for (const rounding of ROUNDINGS)
        for (const method of METHODS) {
          try {
            routines.solve(A, b, { rounding, method });
          } catch (error) {
            expect(String(error)).toMatch(/no memory|SingularError/);
          }
          expect(count(), `solve, ${rounding}, ${method}, limit ${limit}`).toBe(0);
        }
      for (const rounding of ROUNDINGS) {
        let factored: ReturnType<typeof routines.factor> | undefined;
        try {
          factored = routines.factor(A, { rounding });
          factored.solve(b);
          factored.solve(b, { rounding: "correct" });
          const kept = count();
          factored.solve(b);
          factored.solve(b, { rounding: "correct" });
          if (limit === Number.POSITIVE_INFINITY) expect(count(), `kept for the next solve, ${rounding}`).toBe(kept);
        } catch (error) {
          expect(String(error)).toMatch(/no memory|SingularError/);
        }
        factored?.free();
        expect(count(), `factor, ${rounding}, limit ${limit}`).toBe(0);
      }
      return calls();
    };
    const all = run(Number.POSITIVE_INFINITY);
    for (let limit = 0; limit < all; limit++) run(limit);
  });
});

test("the synchronous functions", () => {
  const A = matrix(Float64Array.of(4, 1, 2, 3), 2, 2);
  expect(factor(A).solve(Float64Array.of(6, 8)).x).toEqual(solve(A, Float64Array.of(6, 8)).x);
});
