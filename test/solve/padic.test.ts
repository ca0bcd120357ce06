// Dixon's lifting against fractions by elimination in BigInt.

import { describe, expect, it } from "vitest";
import type { Routine } from "../../src/engines/steps.ts";
import { lastBits, type ScaleExponents } from "../../src/routines/solve/integers.ts";
import { digitPrimes, invertModulo, isDependent, residuesOf } from "../../src/routines/solve/modular.ts";
import { type Fractions, liftModulo } from "../../src/routines/solve/padic.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { vector } from "../generators.ts";
import { range } from "../oracles/matrices.ts";
import { Counting, integerScale, keepSlices, openRunners, shifted, slicesOf, solveWhole, timesVector, type Whole } from "./units.ts";

const runners = await openRunners();

/** An n by n matrix and its scale, whole. */
interface Problem {
  readonly n: number;
  readonly A: Float64Array;
  readonly scale: ScaleExponents;
  readonly M: Whole;
}

function problem(A: Float64Array, n: number): Problem {
  const scale = integerScale(lastBits(A), n);
  const power = (i: number, j: number): number => (scale.rows[i] as number) + (scale.cols[j] as number);
  return { n, A, scale, M: range(n).map((i) => range(n).map((j) => shifted(A[i * n + j] as number, power(i, j)))) };
}

// The fractions, the number of steps that they took, and as many as Hadamard's bounds ask for.
function* lifted(
  { n, A, scale }: Problem,
  whole: readonly bigint[],
  most?: number,
): Routine<{ found: Fractions | undefined; steps: number }> {
  const slices = slicesOf(A, n, scale);
  for (const p of digitPrimes(n)) {
    const inverse = yield* invertModulo("test", residuesOf(slices, p), n, p, new Counting());
    if (!inverse || isDependent(inverse)) continue;
    const kept = yield* keepSlices(slices);
    const progress = new Counting(most);
    try {
      return { found: yield* liftModulo("test", kept, inverse, whole, progress), steps: progress.count };
    } finally {
      kept.allocation.free();
      inverse.allocation.free();
    }
  }
  throw new Error("no prime is left");
}

function checkFractions(found: Fractions | undefined, M: Whole, c: readonly bigint[], what: string): void {
  const want = solveWhole(
    M,
    c.map((v) => [v]),
  );
  if (!found || !want) expect.fail(`${what}: no fractions`);
  const { numerators, denominator } = found;
  expect(denominator > 0n, what).toBe(true);
  expect(
    numerators.map((v) => v * want.d),
    what,
  ).toEqual(want.Y.map(([v]) => (v as bigint) * denominator));
}

const randomWhole = (random: Random, bits: number): bigint => {
  let v = 0n;
  for (let k = 0; k < bits; k += 32) v = (v << 32n) + BigInt(random.word() >>> 0);
  return (random.below(2) === 0 ? 1n : -1n) * (v >> BigInt((32 - (bits % 32)) % 32));
};

const isRegular = ({ M }: Problem): boolean =>
  solveWhole(
    M,
    M.map(() => []),
  ) !== undefined;

describe(`p-adic lifting, HALFULP_SEED=${SEED}`, () => {
  it.each([1, 2, 3, 7, 20, 33])("finds generic fractions, n = %i", async (n) => {
    const random = new Random(SEED + n);
    const A = Float64Array.from({ length: n * n }, () => random.signed());
    const system = problem(A, n);
    const c = range(n).map(() => randomWhole(random, 60));
    for (const { name, run } of runners) checkFractions((await run(lifted(system, c))).found, system.M, c, name);
  });

  it("finds the solutions of matrices of any bits, far apart in size", async () => {
    const random = new Random(SEED + 100);
    for (const kind of ["bits", "wide", "subnormal", "large", "ones", "edges"] as const) {
      for (let k = 0; k < 3; k++) {
        const n = 1 + k;
        const system = problem(vector(random, n * n, kind), n);
        if (!isRegular(system)) continue;
        const c = range(n).map(() => randomWhole(random, 1 + random.below(300)));
        for (const { name, run } of runners.slice(0, 2))
          checkFractions((await run(lifted(system, c))).found, system.M, c, `${kind}, ${name}`);
      }
    }
  });

  it("finds them for right-hand sides far longer and far shorter than the matrix, and for powers of two", async () => {
    const random = new Random(SEED + 101);
    for (const n of [1, 2, 5]) {
      for (const entryBits of [1, 20, 53]) {
        for (const rightBits of [1, 21, 22, 23, 43, 44, 45, 2000, 2001, 2002, 2003]) {
          const A = Float64Array.from(
            { length: n * n },
            (_, e) => Number(randomWhole(random, entryBits)) + (e % (n + 1) === 0 ? 2 ** entryBits : 0),
          );
          const system = problem(A, n);
          if (!isRegular(system)) continue;
          const power = 1n << BigInt(rightBits);
          for (const c of [
            range(n).map(() => randomWhole(random, rightBits)),
            range(n).map((i) => [power, power - 1n, -power][i % 3] as bigint),
          ]) {
            for (const { name, run } of runners.slice(0, 2))
              checkFractions((await run(lifted(system, c))).found, system.M, c, `${entryBits} and ${rightBits} bits, ${name}`);
          }
        }
      }
    }
  });

  it("finds them where products fill the top digits of a residual", async () => {
    const random = new Random(SEED + 105);
    const n = 40;
    // Numbers of 42 bits: two digits, and nearly half of the radix in the upper one.
    const A = Float64Array.from({ length: n * n }, () => (random.below(2) === 0 ? 1 : -1) * (2 ** 42 - 1 - random.below(2 ** 30)));
    const system = problem(A, n);
    const c = range(n).map(() => randomWhole(random, 10));
    for (const { name, run } of runners.slice(0, 2)) checkFractions((await run(lifted(system, c))).found, system.M, c, name);
  });

  it("needs few steps for small solutions, and for those with one small denominator", async () => {
    const random = new Random(SEED + 102);
    const n = 20;
    const A = Float64Array.from({ length: n * n }, () => random.signed());
    const { M, ...rest } = problem(A, n);
    for (const denominator of [1n, 3n, 1001n]) {
      const numerators = range(n).map((j) => (j === 3 ? 0n : randomWhole(random, 20)));
      // A column that is a multiple of the denominator keeps the right-hand side whole.
      const system = problem(
        A.map((v, e) => (e % n === 5 ? Math.round(v * 2 ** 30) * Number(denominator) : v)),
        n,
      );
      const y = numerators.map((v, j) => (j === 5 ? denominator * v + 1n : v * denominator));
      const c = timesVector(system.M, y).map((v) => v / denominator);
      expect(timesVector(system.M, y)).toEqual(c.map((v) => v * denominator));
      for (const { name, run } of runners) {
        const { found, steps } = await run(lifted(system, c));
        checkFractions(found, system.M, c, name);
        expect(found?.denominator, name).toBe(denominator);
        expect(found?.numerators, name).toEqual(y);
        expect(steps, name).toBe(8);
      }
    }
    const generic = range(n).map(() => randomWhole(random, 60));
    for (const { run } of runners.slice(0, 1)) expect((await run(lifted({ M, ...rest }, generic))).steps).toBeGreaterThan(60);
  });

  it("finds zeros for a right-hand side of zeros", async () => {
    const random = new Random(SEED + 103);
    for (const n of [1, 2, 9]) {
      const system = problem(
        Float64Array.from({ length: n * n }, () => random.signed()),
        n,
      );
      for (const { name, run } of runners) {
        const { found } = await run(
          lifted(
            system,
            range(n).map(() => 0n),
          ),
        );
        expect(found, name).toEqual({ numerators: range(n).map(() => 0n), denominator: 1n });
      }
    }
  });

  it("ends without an answer when it is aborted", async () => {
    const random = new Random(SEED + 104);
    const system = problem(
      Float64Array.from({ length: 25 }, () => random.signed()),
      5,
    );
    for (const { name, run } of runners)
      for (const most of [0, 1, 9]) {
        const c = range(5).map(() => randomWhole(random, 50));
        expect(await run(lifted(system, c, most)), name).toEqual({ found: undefined, steps: most + 1 });
      }
  });
});
