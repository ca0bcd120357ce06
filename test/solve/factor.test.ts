// factor(): one factorisation for many right-hand sides, kept and given back.
import { describe, expect, test } from "vitest";
import { factor, illConditionedMatrix, type Matrix, matrix, ShapeError, solve } from "../../src/index.ts";
import { type Kernels, kernels, Random, routinesOn } from "../../src/study.ts";
import { DENSE_FEW } from "../engines.ts";
import { checkSolution, failure, randomMatrix, randoms, SEED } from "./checks.ts";

const METHODS = ["mixed", "double", "exact"] as const;

describe(`on every engine, HALFULP_SEED=${SEED}`, () => {
  test("many right-hand sides, after A was changed", async () => {
    const random = new Random(SEED);
    for (const { name, routines } of DENSE_FEW)
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
    for (const { name, routines } of DENSE_FEW) {
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
    for (const { name, routines } of DENSE_FEW) {
      const factored = await routines.factor(A, { method: "mixed", maxIterations: 0, fallback: false });
      expect(await factored.solve(b), name).toMatchObject({ converged: false, iterations: 0 });
      expect(await factored.solve(b, { maxIterations: 9 }), name).toMatchObject({ converged: true, method: "mixed" });
      expect(await factored.solve(b, { fallback: true }), name).toMatchObject({ converged: true, method: "double", fellBack: true });
    }
  });

  test("no unknowns", async () => {
    for (const { routines } of DENSE_FEW) {
      const factored = await routines.factor(matrix(new Float64Array(0), 0, 0));
      expect(await factored.solve(new Float64Array(0))).toMatchObject({ converged: true, residual: 0, x: new Float64Array(0) });
      await factored.free();
    }
  });

  test("once freed it refuses, by name", async () => {
    for (const { routines } of DENSE_FEW) {
      const factored = await routines.factor(matrix(Float64Array.of(2), 1, 1));
      await factored.free();
      for (const [name, call] of [
        ["solve", () => factored.solve(Float64Array.of(1))],
        ["free", () => factored.free()],
      ] as const) {
        const error = await failure(call);
        expect(error).toBeInstanceOf(ShapeError);
        expect(error.message).toBe(`Factored.${name}: the factors were freed, expected some that are in use`);
      }
    }
  });
});

describe("memory", () => {
  // The engine, counting what is kept and factored and not given back.
  function counting(): { engine: Kernels; count: () => number } {
    const engine = kernels("reference") as Kernels;
    const { plain } = engine;
    let count = 0;
    const counted = <T extends { free(): void }>(each: T): T => {
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
    if (!plain) return expect.fail("no kernels");
    const counter = {
      keep: (...args: Parameters<typeof plain.keep>) => counted(plain.keep(...args) as { A: never; free(): void }),
      magnitudes: plain.magnitudes,
      factorize: (...args: Parameters<typeof plain.factorize>) => counted(plain.factorize(...args) as never),
      substitute: plain.substitute,
    };
    return { engine: { ...engine, plain: counter } as Kernels, count: () => count };
  }
  const random = new Random(SEED + 3);
  const n = 60;
  const ill = illConditionedMatrix(n, 1e11, 3);

  test("solve leaves nothing behind, whatever happens", () => {
    const { engine, count } = counting();
    const routines = routinesOn(engine);
    const singular = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3);
    routines.solve(randomMatrix(random, n), randoms(random, n), { method: "mixed" });
    expect(count()).toBe(0);
    routines.solve(ill, randoms(random, n), { method: "mixed" });
    expect(count()).toBe(0);
    for (const method of METHODS) expect(() => routines.solve(singular, Float64Array.of(1, 2, 3), { method })).toThrow("is 0");
    expect(() => routines.solve(matrix(Float64Array.of(Number.NaN), 1, 1), Float64Array.of(1))).toThrow("is NaN");
    for (const method of METHODS) expect(() => routines.factor(singular, { method })).toThrow("is 0");
    expect(count()).toBe(0);
    const broken = routinesOn({
      ...engine,
      gemv: () => {
        throw new Error("lost");
      },
    });
    expect(() => broken.solve(randomMatrix(random, n), randoms(random, n), { method: "mixed" })).toThrow("lost");
    expect(count()).toBe(0);
  });

  test("factor keeps one matrix and one factorisation, the dearer one", () => {
    const { engine, count } = counting();
    const factored = routinesOn(engine).factor(ill, { method: "mixed" });
    const before = count();
    expect(before).toBeGreaterThanOrEqual(2);
    factored.solve(randoms(random, n));
    expect(count()).toBe(2);
    factored.free();
    expect(count()).toBe(0);
  });
});

test("the synchronous functions", () => {
  const A = matrix(Float64Array.of(4, 1, 2, 3), 2, 2);
  expect(factor(A).solve(Float64Array.of(6, 8)).x).toEqual(solve(A, Float64Array.of(6, 8)).x);
});
