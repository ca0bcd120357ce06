// solve() with rounding "backward" on every engine: systems that can be checked by hand, random ones of every order, scaled, badly scaled and
// ill-conditioned ones, many right-hand sides, and the matrices in shared/ taken dense.

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Matrix, matrix, readMatrixMarket, SingularError, type Sparse, solve } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { FULL, LONG, SEED } from "../effort.ts";
import { LAYOUTS, place } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import {
  BACKWARD_ENGINES,
  checkNearly,
  columns,
  describeBackward,
  failure,
  randomMatrix,
  randoms,
  SELECTED_BACKWARD_ENGINES,
  solutionColumns,
  solved,
} from "./checks.ts";

const METHODS = ["mixed", "double", "exact"] as const;
const { MAX_VALUE: MAX, MIN_VALUE: TINY } = Number;

// Engines whose factorizations are fast enough for large systems.
const FAST_ENGINES = SELECTED_BACKWARD_ENGINES.filter(({ name, kind }) => name === "embedded" || kind === "threads");

describeBackward("by hand", ({ solve }) => {
  test("two unknowns", async () => {
    const A = matrix(Float64Array.of(2, 1, 1, 3), 2, 2);
    for (const method of [...METHODS, "auto"] as const) {
      const solution = await solve(A, Float64Array.of(4, 7), { method });
      expect(Array.from(solution.x)).toEqual([1, 2]);
      expect(solution).toMatchObject({ converged: true, fellBack: false, certified: false });
      if (method !== "auto") expect(solution.method).toBe(method);
    }
  });

  test("no unknowns, and one", async () => {
    for (const method of METHODS) {
      const none = await solve(matrix(new Float64Array(0), 0, 0), new Float64Array(0), { method });
      expect(none).toEqual({
        x: new Float64Array(0),
        converged: true,
        method,
        fellBack: false,
        iterations: 0,
        residual: 0,
        backwardError: 0,
        condition: 1,
        certified: false,
      });
      const one = await solve(matrix(Float64Array.of(-4), 1, 1), Float64Array.of(2), { method });
      expect(one).toEqual({
        x: Float64Array.of(-0.5),
        converged: true,
        method,
        fellBack: false,
        iterations: 0,
        residual: 0,
        backwardError: 0,
        condition: 1,
        certified: false,
      });
    }
  });

  test("no right-hand sides, and zeros", async () => {
    const A = matrix(Float64Array.of(2, 1, 1, 3), 2, 2);
    const none = await solve(A, matrix(new Float64Array(0), 2, 0));
    expect([none.x.length, none.converged, none.residual]).toEqual([0, true, 0]);
    for (const method of METHODS) {
      const { x, converged, residual, iterations } = await solve(A, Float64Array.of(0, -0), { method });
      expect([...x, converged, residual, iterations]).toEqual([0, 0, true, 0, 0]);
    }
  });

  test("a residual that is rounded once: 3 x = 1", async () => {
    // x is 1/3 less 2^-54 / 3, so that 1 - 3 x is 2^-54; over 2^-53 (3 x + 1)
    const { residual, backwardError } = await solve(matrix(Float64Array.of(3), 1, 1), Float64Array.of(1), { method: "double" });
    expect([residual, backwardError]).toEqual([0.5 / 2, 2 ** -55]);
  });

  test("rows that must be swapped, and a permutation", async () => {
    const swapped = await solve(matrix(Float64Array.of(0, 1, 1, 0), 2, 2), Float64Array.of(3, 4));
    expect([...swapped.x, swapped.residual]).toEqual([4, 3, 0]);
    const n = 70;
    const P = new Float64Array(n * n);
    for (let i = 0; i < n; i++) P[i * n + ((i * 27 + 5) % n)] = 2 ** (i % 5);
    const { x, residual } = await solve(matrix(P, n, n), Float64Array.from(range(n)), { method: "mixed" });
    for (let i = 0; i < n; i++) expect(x[(i * 27 + 5) % n]).toBe(i / 2 ** (i % 5));
    expect(residual).toBe(0);
  });
});

describe(`random systems, HALFULP_SEED=${SEED}`, () => {
  test.each(METHODS)("of every order up to 200, %s: all of them converge", async (method) => {
    const random = new Random(SEED);
    for (let n = 1; n <= 200; n += FULL || n < 10 ? 1 : n < 40 ? 5 : 40) {
      const [A, b] = [randomMatrix(random, n), randoms(random, n)];
      for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
        // The oracle takes its time.
        if (name !== "embedded" && n > 20 && (n % 20 !== 0 || (name === "reference" && n > 100))) continue;
        const what = `n = ${n}, ${method} on ${name}`;
        const solution = n <= 30 || n % 40 === 0 ? await solved(routines, A, b, { method }, what) : await routines.solve(A, b, { method });
        expect(solution, what).toMatchObject({ converged: true });
        expect(solution.residual, what).toBeLessThanOrEqual(1);
        if (n > 30 && n % 40 !== 0) checkNearly(solution, A, b, what);
      }
    }
  });

  const orders = LONG ? range(2000).map((k) => k + 1) : FULL ? [257, 500, 1000] : [257];
  test.each(FAST_ENGINES)(`of orders up to ${orders.at(-1)}, on $name`, async ({ name, routines }) => {
    const random = new Random(SEED + 1);
    for (const n of orders) {
      const [A, b] = [randomMatrix(random, n), randoms(random, n)];
      const solution = await routines.solve(A, b);
      checkNearly(solution, A, b, `n = ${n} on ${name}`);
      expect(solution, `n = ${n} on ${name}`).toMatchObject({ converged: true, method: "mixed" });
    }
  });

  test("in every layout", async () => {
    const random = new Random(SEED + 2);
    for (const { name, routines } of FULL ? BACKWARD_ENGINES : SELECTED_BACKWARD_ENGINES)
      for (const at of LAYOUTS)
        for (const method of METHODS) {
          const n = 17 + random.below(20);
          const values = randoms(random, n * n);
          const A = place({ rows: n, cols: n, values }, at) as Matrix;
          const b = randoms(random, n);
          const solution = await solved(routines, A, b, { method }, `${JSON.stringify(at)}, ${method} on ${name}`);
          expect(solution.converged).toBe(true);
          const plain = await routines.solve(matrix(values, n, n), b, { method });
          if (method === "exact") expect(solution.x, name).toEqual(plain.x);
        }
  });
});

describe(`scaled systems, HALFULP_SEED=${SEED}`, () => {
  // Powers of A and b.
  const POWERS = [500, -500].flatMap((a) => [500, 0, -500].map((b) => [a, b] as const));
  const EDGES = [[1023, 1023] as const, [1020, 20] as const, [-1050, -1050] as const, [-1060, -100] as const, [-1020, -1020] as const];

  test.each(FULL ? [...POWERS, ...EDGES] : [POWERS[0], POWERS[5], ...EDGES].map((each) => each as readonly [number, number]))(
    "A by 2^%d, b by 2^%d: x, far from the ends to the bit what it was, scaled",
    async (p, q) => {
      const random = new Random(SEED + 3);
      for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
        for (const method of METHODS) {
          const n = 12 + random.below(20);
          const A = randomMatrix(random, n, () => 2 ** p);
          const b = randoms(random, n, 2 ** q);
          const what = `${method} on ${name}, n = ${n}`;
          const solution = await solved(routines, A, b, { method }, what);
          expect(solution, what).toMatchObject({ converged: true, method, fellBack: false });
          expect(solution.condition, what).toBeGreaterThan(1);
          expect(solution.condition, what).toBeLessThan(1e9);
          if (Math.abs(p) > 900) continue; // entries may have lost bits, and residuals are taken in another way
          const plain = matrix(
            A.data.map((v) => v * 2 ** -p),
            n,
            n,
          );
          const same = await routines.solve(
            plain,
            b.map((v) => v * 2 ** -q),
            { method },
          );
          expect(Array.from(solution.x), what).toEqual(
            Array.from(same.x, (v) => v * 2 ** Math.ceil((q - p) / 2) * 2 ** Math.floor((q - p) / 2)),
          );
          expect([solution.residual, solution.backwardError], what).toEqual([same.residual, same.backwardError]);
          expect(solution.condition, what).toBe(same.condition);
        }
    },
  );

  test("rows and columns that are badly scaled", async () => {
    const random = new Random(SEED + 4);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const kind of ["rows", "columns", "both"])
        for (const method of METHODS) {
          const n = 10 + random.below(30);
          const [rows, cols] = [range(n).map(() => 2 ** (random.below(400) - 200)), range(n).map(() => 2 ** (random.below(400) - 200))];
          const A = randomMatrix(
            random,
            n,
            (i, j) => (kind === "columns" ? 1 : (rows[i] as number)) * (kind === "rows" ? 1 : (cols[j] as number)),
          );
          const b = Float64Array.from(rows, (row) => random.signed() * (kind === "columns" ? 1 : row));
          const what = `${kind}, ${method} on ${name}, n = ${n}`;
          expect(await solved(routines, A, b, { method }, what), what).toMatchObject({ converged: true, method, fellBack: false });
        }
  });

  test("rows so unlike that x times the norm of A is out of range", async () => {
    const A = matrix(Float64Array.of(2 ** 520, 0, 0, 2 ** -520), 2, 2);
    const b = Float64Array.of(1, 1);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const method of ["double", "exact"] as const) {
        const solution = await routines.solve(A, b, { method });
        expect([...solution.x], `${method} on ${name}`).toEqual([2 ** -520, 2 ** 520]);
        expect(solution, `${method} on ${name}`).toMatchObject({ converged: true, method, residual: 0 });
      }
  });

  test("norms that overflow, and numbers at both ends of the range", async () => {
    const A = matrix(Float64Array.of(MAX, -MAX, MAX, MAX, MAX, MAX / 2, -MAX, MAX / 4, MAX), 3, 3);
    const small = matrix(Float64Array.of(TINY, 0, 0, 0, 3 * TINY, TINY, 0, TINY, 7 * TINY), 3, 3);
    const both = matrix(Float64Array.of(MAX, TINY, TINY, TINY), 2, 2);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const method of METHODS) {
        const what = `${method} on ${name}`;
        expect(await solved(routines, A, Float64Array.of(MAX, MAX, -MAX), { method }, what), what).toMatchObject({ converged: true });
        expect(await solved(routines, small, Float64Array.of(TINY, 5 * TINY, 0), { method }, what), what).toMatchObject({
          converged: true,
        });
        await solved(routines, both, Float64Array.of(MAX, TINY), { method }, what);
      }
  });

  test("a solution outside the range does not count as converged, and is no reason to fall back", async () => {
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
      const large = await solved(routines, matrix(Float64Array.of(2 ** -600), 1, 1), Float64Array.of(2 ** 600), { method: "mixed" }, name);
      expect(large).toMatchObject({
        x: Float64Array.of(Number.POSITIVE_INFINITY),
        converged: false,
        method: "mixed",
        fellBack: false,
        residual: Number.NaN,
      });
      const little = await solved(routines, matrix(Float64Array.of(2 ** 600), 1, 1), Float64Array.of(2 ** -600), { method: "mixed" }, name);
      expect(little).toMatchObject({ x: Float64Array.of(0), converged: false, method: "mixed", fellBack: false, residual: 2 ** 53 });
    }
  });
});

describe(`solutions that lose bits, HALFULP_SEED=${SEED}`, () => {
  test("have the residual of what is left", async () => {
    const random = new Random(SEED + 8);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const method of METHODS) {
        const n = 5 + random.below(10);
        const A = randomMatrix(random, n, () => 2 ** 600);
        const what = `${method} on ${name}, n = ${n}`;
        const solution = await solved(routines, A, randoms(random, n, 2 ** -460), { method }, what);
        expect(solution, what).toMatchObject({ converged: false, method, fellBack: false });
      }
  });
});

describe(`several right-hand sides, HALFULP_SEED=${SEED}`, () => {
  test("in every layout, each as if it were alone", async () => {
    const random = new Random(SEED + 5);
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES)
      for (const at of LAYOUTS)
        for (const method of METHODS) {
          const [n, k] = [10 + random.below(30), 1 + random.below(7)];
          const A = randomMatrix(random, n);
          const sizes = range(k).map((c) => (c === 1 ? 0 : 2 ** (random.below(1000) - 500)));
          const values = Float64Array.from({ length: n * k }, (_, i) => random.signed() * (sizes[i % k] as number));
          const b = place({ rows: n, cols: k, values }, at) as Matrix;
          const what = `${JSON.stringify(at)}, ${method} on ${name}, ${n} by ${k}`;
          const solution = await solved(routines, A, b, { method }, what);
          expect(solution, what).toMatchObject({ converged: true, method, fellBack: false });
          const xs = solutionColumns(solution, b);
          for (const [c, right] of columns(b).entries()) {
            const alone = await routines.solve(A, Float64Array.from(right), { method });
            const scale = Math.max(...alone.x.map(Math.abs));
            for (let i = 0; i < n; i++)
              expect(Math.abs((alone.x[i] as number) - (xs[c]?.[i] as number)), what).toBeLessThanOrEqual(1e-9 * scale);
          }
        }
  });

  test("of which one needs more corrections than others", async () => {
    const random = new Random(SEED + 6);
    const n = 40;
    const A = randomMatrix(random, n, (_, j) => (j === 3 ? 2 ** -12 : 1));
    const b = matrix(randoms(random, 3 * n), n, 3);
    for (let i = 0; i < n; i++) b.data[3 * i + 1] = 0; // needs none
    for (const { name, routines } of SELECTED_BACKWARD_ENGINES) {
      const all = await solved(routines, A, b, { method: "mixed" }, name);
      expect(all).toMatchObject({ converged: true, method: "mixed" });
      const each = await Promise.all(columns(b).map((right) => routines.solve(A, Float64Array.from(right), { method: "mixed" })));
      expect(all.iterations).toBe(Math.max(...each.map(({ iterations }) => iterations)));
      expect(Math.min(...each.map(({ iterations }) => iterations))).toBeLessThan(all.iterations);
    }
  });
});

const FOLDER = ["../../shared/", "../../../shared/"].map((at) => new URL(`${at}matrices/`, import.meta.url)).find((at) => existsSync(at));

describe.skipIf(FOLDER === undefined)(`the matrices in shared/ taken dense${FOLDER ? "" : " (which is not here)"}`, () => {
  async function dense(name: string): Promise<Matrix> {
    const S = (await readMatrixMarket(readFileSync(new URL(`${name}.mtx`, FOLDER), "latin1"))) as Sparse;
    const A = matrix(new Float64Array(S.rows * S.cols), S.rows, S.cols);
    for (let i = 0; i < S.rows; i++)
      for (let p = S.pointers[i] as number; p < (S.pointers[i + 1] as number); p++)
        A.data[i * S.cols + (S.indices[p] as number)] = S.values[p] as number;
    return A;
  }

  // rajat01 has no values: with ones it is singular, as a rank by singular values says too.
  if (LONG)
    test("rajat01 is singular", async () => {
      const A = await dense("rajat01");
      const error = await failure(() => solve(A, new Float64Array(A.rows).fill(1)));
      expect(error).toBeInstanceOf(SingularError);
      expect(error.index).toBe(498);
    });

  const names = FULL ? ["adder_dcop_05", "bcsstk13", "cryg2500", "hangGlider_2", "watt_2"] : ["hangGlider_2"];
  test.each(names)("%s", async (name) => {
    const A = await dense(name);
    const b = randoms(new Random(SEED + 7), A.rows);
    const [first] = FAST_ENGINES;
    for (const { name: engine, routines } of LONG || !first ? FAST_ENGINES : [first]) {
      const solution = await routines.solve(A, b);
      checkNearly(solution, A, b, `${name} on ${engine}`);
      expect(solution.converged, `${name} on ${engine}`).toBe(true);
    }
  });
});
