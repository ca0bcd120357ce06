// The routine alone, on kernels that do what a test wants: how refinement ends, what is kept, and the exact measures.

import { describe, expect, test } from "vitest";
import { stridedView } from "../../src/arrays/matrix.ts";
import type { ApproximateKernels } from "../../src/engines/approximate.ts";
import { runSync } from "../../src/engines/steps.ts";
import { illConditionedMatrix, type Matrix, matrix, SingularError, type Solution } from "../../src/index.ts";
import { measure } from "../../src/routines/solve/refine.ts";
import { systemOf } from "../../src/routines/solve/system.ts";
import { kernels, type LocalKernels, Random, routinesOn } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { measures } from "../oracles/residual.ts";
import { backward } from "./backward.ts";
import { checkSolution, randomMatrix, randoms } from "./checks.ts";

const reference = kernels("reference") as LocalKernels;
const unchanged = backward(routinesOn(reference));

// The reference engine with some of its plain kernels replaced.
const withPlain = (plain: Partial<ApproximateKernels>): ReturnType<typeof routinesOn> =>
  backward(routinesOn({ ...reference, approximate: { ...reference.approximate, ...plain } }));

const byRows = (data: Float64Array, cols: number) => ({ data, offset: 0, rows: data.length / cols, cols, rowStride: cols, colStride: 1 });

// With corrections that are multiplied by these numbers, one after another, and then by the last of them.
function correcting(...factors: number[]): ReturnType<typeof routinesOn> {
  let turn = 0;
  return withPlain({
    substitute(...args) {
      const x = args[4];
      reference.approximate.substitute(...args);
      const factor = factors[Math.min(turn++, factors.length - 1)] as number;
      for (let i = 0; i < x.length; i++) x[i] = (x[i] as number) * factor;
    },
  });
}

describe("refinement", () => {
  const random = new Random(3);
  const n = 20;
  const A = randomMatrix(random, n, (i, j) => (i === j ? 8 : 1));
  const b = randoms(random, n);
  const alone = { method: "mixed", fallback: false } as const;

  test("one slow correction is forgiven", () => {
    const solution = correcting(0.3, 1).solve(A, b, alone);
    checkSolution(solution, A, b, "slow once");
    expect(solution).toMatchObject({ converged: true, iterations: unchanged.solve(A, b, alone).iterations + 1 });
    expect(correcting(0.3, 0.8, 0.3, 0.8, 0.3, 1).solve(A, b, alone).converged).toBe(true);
  });

  test("two in a row are not, and the last x is the best", () => {
    const solution = correcting(0.3).solve(A, b, alone);
    checkSolution(solution, A, b, "slow");
    expect(solution).toMatchObject({ converged: false, iterations: 2 });
    expect(solution.residual).toBeLessThan(unchanged.solve(A, b, { ...alone, maxIterations: 0 }).residual);
  });

  // 3 x = b with corrections that leave a part of the error, step by step: of the last, small component, and of the others.
  const b4 = Float64Array.of(1, 1, 1, 2 ** -30);
  const A4 = matrix(
    Float64Array.from({ length: 16 }, (_, k) => (k % 5 === 0 ? 3 : 0)),
    4,
    4,
  );
  const leaving = (...parts: (readonly [last: number, others: number])[]): ReturnType<typeof routinesOn> => {
    let turn = 0;
    return withPlain({
      substitute(...args) {
        const x = args[4];
        reference.approximate.substitute(...args);
        const [last, others] = parts[turn++] ?? [0, 0];
        if (args[3] === 1) for (let i = 0; i < x.length; i++) x[i] = (x[i] as number) * (1 - (i === 3 ? last : others));
      },
    });
  };
  // The norm converges in the second step, and only then the small component counts.
  const SMALL_LAST = [
    [1, 2 ** -23],
    [2 ** -10, 0],
    [0.6, 0],
  ] as const;

  test("a step after which the small components are looked at is not slow", () => {
    const solution = leaving(...SMALL_LAST).solve(A4, b4, alone);
    checkSolution(solution, A4, b4, "small last");
    expect(solution).toMatchObject({ converged: true, iterations: 4 });
  });

  test("x whose norms have converged is better than one whose norms have not", () => {
    const [one, two] = [1, 2].map((maxIterations) => leaving(...SMALL_LAST).solve(A4, b4, { ...alone, maxIterations }));
    for (const solution of [one, two]) checkSolution(solution as Solution, A4, b4, "small last");
    expect(one?.residual).toBeGreaterThan(1);
    expect(two?.residual).toBeLessThanOrEqual(1);
    expect(two).toMatchObject({ converged: false, iterations: 2 });
  });

  test.each([1000, 0, -1000])("components that are small beside others, in rows of their own, A by 2^%d", (power) => {
    const M = matrix(
      Float64Array.of(1, 0, 0, 0, 3, 7, 0, 5, -11).map((v) => v * 2 ** power),
      3,
      3,
    );
    for (const small of [2 ** -70, 2 ** -90])
      for (const method of ["mixed", "double", "exact"] as const)
        for (let round = 0; round < 10; round++) {
          const right = Float64Array.of(1, random.signed() * small, 0).map((v) => v * 2 ** (power / 2));
          const solution = unchanged.solve(M, right, { method, fallback: false });
          checkSolution(solution, M, right, `${method}, ${small}`);
          expect(solution).toMatchObject({ converged: true });
        }
  });

  test("residuals in ordinary arithmetic serve while they are far off, whatever their last bits", () => {
    let taken = 0;
    const rough = (off: number) =>
      withPlain({
        residual(_routine, alpha, M, x, right, k, r) {
          taken++;
          r.set(right);
          reference.gemm(alpha, M, byRows(x, k), 1, byRows(r, k));
          r[0] = (r[0] as number) + off;
        },
      });
    const size = 2 ** -53 * n * 20; // about 1 as a scaled residual
    for (const off of [0, size, -size]) {
      const solution = rough(off).solve(A, b, alone);
      checkSolution(solution, A, b, `off by ${off}`);
      expect(solution.converged).toBe(true);
      const none = rough(off).solve(A, b, { ...alone, maxIterations: 0 });
      expect(none).toEqual(unchanged.solve(A, b, { ...alone, maxIterations: 0 }));
    }
    expect(taken).toBeGreaterThan(3);
    expect(rough(Number.NaN).solve(A, b, alone)).toEqual(unchanged.solve(A, b, alone));
  });

  test("where x becomes worse the best one is kept", () => {
    const solution = correcting(-3).solve(A, b, alone);
    expect(solution).toMatchObject({ converged: false, iterations: 2 });
    const first = unchanged.solve(A, b, { ...alone, maxIterations: 0 });
    expect(solution.x).toEqual(first.x);
    expect(solution.residual).toBe(first.residual);
  });

  test("x that is not finite ends it, and never counts as converged", () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const spoilt = withPlain({
        factorize(...args) {
          const factors = reference.approximate.factorize(...args);
          args[6][3] = bad;
          return factors;
        },
        substitute(...args) {
          reference.approximate.substitute(...args);
          args[4][3] = bad;
        },
      });
      const solution = spoilt.solve(A, b, alone);
      expect(solution).toMatchObject({ converged: false, iterations: 0, residual: Number.NaN });
      expect(spoilt.solve(A, b, { method: "mixed" })).toMatchObject({ converged: true, method: "exact", fellBack: true });
      const later = correcting(bad).solve(A, b, alone);
      expect(later).toMatchObject({ converged: false, iterations: 1 });
      expect(later.x).toEqual(unchanged.solve(A, b, { ...alone, maxIterations: 0 }).x);
    }
  });

  test.each([1, 1e-9])("of methods that do not converge the best x is kept, and the last is named; binary64 off by %d", (off) => {
    const factorize: ApproximateKernels["factorize"] = (...args) => {
      const factors = reference.approximate.factorize(...args);
      if (args[3] === "binary64") args[6][0] = (args[6][0] as number) + off;
      return factors;
    };
    const spoilt = backward(
      routinesOn({
        ...reference,
        // biome-ignore lint/correctness/useYield: a single step
        *lu(_data, _rows, _cols, _count, _pivots, info) {
          info[0] = 1;
          return -1;
        },
        approximate: { ...reference.approximate, factorize },
      }),
    );
    const solution = spoilt.solve(A, b, { method: "mixed", maxIterations: 0 });
    expect(solution).toMatchObject({ converged: false, method: "exact", fellBack: true, iterations: 0 });
    const better = off < 1e-6 ? "double" : "mixed";
    expect(solution.x).toEqual(spoilt.solve(A, b, { method: better, fallback: false, maxIterations: 0 }).x);
  });

  test("a pivot that breaks off leaves it to the next method", () => {
    const broken = withPlain({
      factorize(...args) {
        const factors = reference.approximate.factorize(...args);
        return args[3] === "binary32" ? { ...factors, column: 3 } : factors;
      },
    });
    expect(broken.solve(A, b, { method: "mixed" })).toMatchObject({ converged: true, method: "double", fellBack: true });
    const none = broken.solve(A, b, alone);
    expect(none).toMatchObject({ converged: false, method: "mixed", iterations: 0, residual: Number.NaN });
    expect(none.x).toEqual(new Float64Array(n).fill(Number.NaN));
    const factored = broken.factor(A, { method: "mixed" });
    expect(factored.solve(b)).toMatchObject({ converged: true, method: "double", fellBack: true });
  });

  test("a singular matrix whose pivots say nothing is found where nothing converges", () => {
    const blind = withPlain({
      factorize(...args) {
        const factors = reference.approximate.factorize(...args);
        args[6].set(args[4]);
        return { ...factors, column: -1, least: 1, largest: 1 };
      },
      substitute: (_routine, _factors, right, _k, x) => x.set(right),
    });
    const singular = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3);
    expect(() => blind.solve(singular, Float64Array.of(1, 5, 1), { method: "double", fallback: false })).toThrow(SingularError);
  });

  test("nor is one regular because ordinary arithmetic says so", () => {
    const hopeful = withPlain({
      factorize: (...args) => ({ ...reference.approximate.factorize(...args), column: -1, least: 1, largest: 1 }),
      substitute: (_routine, _factors, right, _k, x) => x.set(right.map((v) => v * 2 ** 40)),
      residual: (_routine, alpha, M, x, _b, k, r) => {
        r.fill(0);
        // The products of whole numbers that prove it have a factor of 1.
        if (alpha === 1) reference.gemm(1, M, byRows(x, k), 0, byRows(r, k));
      },
    });
    const singular = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3);
    expect(() => hopeful.solve(singular, Float64Array.of(6, 15, 24), { method: "double", fallback: false })).toThrow(SingularError);
  });

  test.each([
    [2, 1],
    [4, 1],
    [6, 1],
    [7, 1],
    [6, 6],
    [7, 6],
    [7.4, 12],
  ])("binary32 factors show that a matrix of condition 1e%d, with %d blocks, is regular", (digits, blocks) => {
    const formats: string[] = [];
    const watched = withPlain({
      factorize(...args) {
        formats.push(args[3]);
        return reference.approximate.factorize(...args);
      },
    });
    const size = Math.ceil(128 / blocks); // smaller matrices are proved regular by binary64 factors
    const ill = matrix(new Float64Array((blocks * size) ** 2), blocks * size, blocks * size);
    for (let k = 0; k < blocks; k++) {
      const block = illConditionedMatrix(size, 10 ** digits, k);
      for (let i = 0; i < size; i++) ill.data.set(block.data.subarray(i * size, (i + 1) * size), (k * size + i) * ill.ld + k * size);
    }
    expect(watched.solve(ill, randoms(new Random(blocks), ill.rows), { method: "mixed" })).toMatchObject({
      converged: true,
      method: "mixed",
    });
    expect(formats).toEqual(["binary32"]);
  });

  test("factors that fell back once are not made again", () => {
    let made = 0;
    const routines = withPlain({
      factorize(...args) {
        made++;
        const [, , , format, , k, x] = args;
        const factors = reference.approximate.factorize(...args);
        if (format === "binary32" && k > 0) x.fill(Number.NaN);
        return factors;
      },
      substitute(...args) {
        reference.approximate.substitute(...args);
        if (args[1].format === "binary32") args[4].fill(Number.NaN);
      },
    });
    const factored = routines.factor(A, { method: "mixed" });
    expect(made).toBe(2); // binary64 factors prove that A is regular, and are not kept
    for (let round = 0; round < 3; round++) {
      expect(factored.solve(b)).toMatchObject({ converged: true, method: "double", fellBack: true });
      expect(made).toBe(3);
    }
  });
});

describe(`the exact measures, HALFULP_SEED=${SEED}`, () => {
  const measured = (A: Matrix, x: Float64Array, b: Float64Array): ReturnType<typeof measures> => {
    const system = runSync(systemOf("solve", { value: stridedView(A), free() {} }), () => reference);
    const { residual, backwardError } = runSync(measure(system, b, x), () => reference);
    return { residual, backwardError };
  };

  test("rows that differ only below the last place", () => {
    const random = new Random(SEED + 1);
    for (let round = 0; round < 2000; round++) {
      // Sums of magnitudes and residuals that are next to 1, most of which round to 1.
      const n = 2 + random.below(5);
      const tiny = (): number => (random.below(2 ** 16) - 2 ** 15) * 2 ** -70;
      const A = matrix(
        Float64Array.from({ length: n * n }, (_, k) => (k % n === 0 ? 1 : tiny())),
        n,
        n,
      );
      const [x, b] = [new Float64Array(n).fill(1), Float64Array.from({ length: n }, (_, i) => (i === 0 ? 3 * 2 ** -60 : 0))];
      expect(measured(A, x, b)).toEqual(measures(A, x, b));
    }
  });

  test("products of large and small numbers", () => {
    const random = new Random(SEED + 3);
    for (let round = 0; round < 1000; round++) {
      const n = 2 + random.below(4);
      const powers = Array.from({ length: n }, () => (random.below(2) === 0 ? 0 : 900 + random.below(120)));
      const A = randomMatrix(random, n, (_, j) => 2 ** (powers[j] as number));
      const x = Float64Array.from(powers, (power) => random.signed() * 2 ** -power);
      const b = Float64Array.from({ length: n }, () => random.signed() * 2 ** random.below(200));
      expect(measured(A, x, b)).toEqual(measures(A, x, b));
    }
  });

  test("of anything but a solution", () => {
    const random = new Random(SEED + 2);
    for (let round = 0; round < 300; round++) {
      const n = 1 + random.below(6);
      const size = (): number => 2 ** (random.below(2000) - 1000);
      const A = randomMatrix(random, n, () => (round % 2 === 0 ? 1 : size()));
      const [x, b] = [randoms(random, n, size()), randoms(random, n, size())];
      expect(measured(A, x, b)).toEqual(measures(A, x, b));
    }
  });
});
