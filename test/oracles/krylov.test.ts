// The oracle of the iterative solvers: systems that a reader can follow by hand, what the methods are defined to minimise, in exact
// rationals, and how they end.
import { describe, expect, test } from "vitest";
import { csr, exlu, ilu0 as factors, laplacian, matrix, type Sparse } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { ilu0, iterate, type Method } from "./krylov.ts";
import { range } from "./matrices.ts";
import { eliminate, type Ratio, roundRatio, solution } from "./system.ts";

const METHODS: readonly Method[] = ["cg", "bicgstab", "gmres"];
const { MAX_VALUE: MAX } = Number;

const dense = (...rows: number[][]) => matrix(Float64Array.from(rows.flat()), rows.length, rows.length);
const root = Math.sqrt;

describe("by hand", () => {
  test("cg", () => {
    const A = dense([1, 0, 0], [0, 1, 0], [0, 0, 4]);
    // alpha 1/2, r (1/2, 1/2, -1), beta 1/2, p (1, 1, -1/2), alpha 1/2
    expect(iterate("cg", A, [1, 1, 1])).toEqual({
      x: [1, 1, 0.25],
      converged: true,
      reason: "tolerance",
      iterations: 2,
      residual: 0,
      history: [root(3), root(1.5), 0],
    });
    expect(iterate("cg", A, [1, 1, 1], { preconditioner: "jacobi" })).toMatchObject({ x: [1, 1, 0.25], history: [root(3), 0] });
    expect(iterate("cg", A, [1, 1, 1], { maxIterations: 1 })).toMatchObject({
      x: [0.5, 0.5, 0.5],
      reason: "maxIterations",
      converged: false,
      residual: root(1.5) / root(3),
      history: [root(3), root(1.5)],
    });
  });

  test("bicgstab", () => {
    const A = dense([1, 1], [-1, 1]);
    // alpha 1, s (0, 1), omega 1/2, r (-1/2, 1/2), beta -1, p (-1, 0), alpha 1/2, s 0
    expect(iterate("bicgstab", A, [1, 0])).toMatchObject({ x: [0.5, 0.5], reason: "tolerance", history: [1, root(0.5), 0] });
    expect(iterate("bicgstab", A, [1, 0], { maxIterations: 1 })).toMatchObject({ x: [1, 0.5], reason: "maxIterations" });
    // x0 (0, 1/2): r (1/2, -1/2), rho 1/2, v (0, -1), s0 v 1/2, alpha 1, s (1/2, 1/2), t (1, 0), omega 1/2, r (0, 1/2)
    expect(iterate("bicgstab", A, [1, 0], { x0: [0, 0.5], maxIterations: 1 })).toMatchObject({
      x: [0.75, 0.25],
      history: [root(0.5), 0.5],
    });
  });

  test("gmres", () => {
    // v (1, 0), A v (3, 4), rotation by 3/5 and 4/5, then A v (0, 5), which is in the space
    const { history, x } = iterate("gmres", dense([3, 0], [4, 5]), [1, 0]);
    expect(history).toEqual([1, 0.8, 0]);
    for (const [i, v] of [1 / 3, -4 / 15].entries()) expect(x[i]).toBeCloseTo(v, 14);
    expect(iterate("gmres", dense([2, 0], [0, 2]), [6, 8])).toMatchObject({ x: [3, 4], history: [10, 0], iterations: 1 });
  });

  test("gmres of a cyclic shift stands still until the last step", () => {
    const shift = csr(4, 4, Int32Array.of(0, 1, 2, 3, 4), Int32Array.of(3, 0, 1, 2), Float64Array.of(1, 1, 1, 1));
    const b = [1, 0, 0, 0];
    expect(iterate("gmres", shift, b)).toMatchObject({ x: [0, 0, 0, 1], reason: "tolerance", history: [1, 1, 1, 1, 0] });
    expect(iterate("gmres", shift, b, { restart: 3, maxIterations: 7 })).toMatchObject({
      x: [0, 0, 0, 0],
      reason: "maxIterations",
      history: [1, 1, 1, 1, 1, 1, 1, 1],
      residual: 1,
    });
  });

  test("incomplete factors", () => {
    // row 1: l = 1/2, u = 5 - 2/2; row 2 has no (2, 0), and (1, 2) no counterpart in row 0: l = 8/4, u = 9 - 2 * 3
    const A = csr(3, 3, Int32Array.of(0, 2, 5, 7), Int32Array.of(0, 1, 0, 1, 2, 1, 2), Float64Array.of(2, 2, 1, 5, 3, 8, 9));
    expect(ilu0(A).values).toEqual(Float64Array.of(2, 2, 0.5, 4, 3, 2, 3));
    const grid = laplacian(5, 4);
    expect(ilu0(grid).values).toEqual(factors(grid).values);
    const random = new Random(1);
    const values = Float64Array.from({ length: 36 }, (_, p) => random.signed() + (p % 7 === 0 ? 6 : 0));
    expect(ilu0(matrix(values, 6, 6)).values).toEqual(exlu(matrix(values, 6, 6)).lu.data);
  });
});

// ---------------------------------------------------------------- in exact rationals

// The method's space of dimension k for a matrix of integers: b, A b, A^2 b, ...
function krylov(A: number[][], b: number[], k: number): number[][] {
  const space = [b];
  while (space.length < k) space.push(A.map((row) => row.reduce((s, v, j) => s + v * (space.at(-1)?.[j] as number), 0)));
  return space;
}
const inner = (x: number[], y: number[]): number => x.reduce((s, v, i) => s + v * (y[i] as number), 0);
const times = (A: number[][], x: number[]): number[] => A.map((row) => inner(row, x));

/** sum_j y_j v_j for the exact solution y of the equations G y = g, rounded. */
function combination(G: number[][], g: number[], space: number[][]): number[] {
  const k = g.length;
  const result = eliminate(k, G.flat(), [g]);
  const y = ("columns" in result ? result.columns[0] : []) as Ratio[];
  return range(space[0]?.length as number).map((i) => space.reduce((s, v, j) => s + roundRatio(y[j] as Ratio) * (v[i] as number), 0));
}

describe("exact rationals", () => {
  const random = new Random(2);
  const n = 5;
  const integers = (): number[][] => range(n).map((i) => range(n).map((j) => random.below(7) - 3 + (i === j ? 9 : 0)));
  const close = (got: readonly number[], want: readonly number[]): void => {
    const size = Math.max(...want.map(Math.abs));
    for (const [i, v] of want.entries()) expect(Math.abs((got[i] as number) - v)).toBeLessThanOrEqual(1e-10 * size);
  };

  test("cg minimises the error: r is orthogonal to the space", () => {
    for (const _ of range(10)) {
      const B = integers();
      const A = range(n).map((i) => range(n).map((j) => (B[i]?.[j] as number) + (B[j]?.[i] as number)));
      const b = range(n).map(() => random.below(9) - 4 || 1);
      for (const k of [1, 2, 3]) {
        const space = krylov(A, b, k);
        const G = space.map((v) => space.map((w) => inner(v, times(A, w))));
        const x = combination(
          G,
          space.map((v) => inner(v, b)),
          space,
        );
        close(iterate("cg", dense(...A), b, { maxIterations: k }).x, x);
      }
    }
  });

  test("gmres minimises the residual, with and without a preconditioner", () => {
    for (const jacobi of [false, true])
      for (const _ of range(10)) {
        const A = integers();
        if (jacobi) for (const [i, row] of A.entries()) row[i] = [4, 8, 16, -8][random.below(4)] as number;
        const b = range(n).map(() => random.below(9) - 4 || 1);
        // A M^-1, of which the space is made; x = M^-1 u
        const C = jacobi ? A.map((row) => row.map((v, j) => v / (A[j]?.[j] as number))) : A;
        for (const k of [1, 2, 3]) {
          const space = krylov(C, b, k);
          const images = space.map((v) => times(C, v));
          const G = images.map((v) => images.map((w) => inner(v, w)));
          const u = combination(
            G,
            images.map((v) => inner(v, b)),
            space,
          );
          const x = jacobi ? u.map((v, i) => v / (A[i]?.[i] as number)) : u;
          const got = iterate("gmres", dense(...A), b, { maxIterations: k, preconditioner: jacobi ? "jacobi" : "none" });
          close(got.x, x);
          close([got.history[k] as number], [root(inner(b, b)) * got.residual]);
        }
      }
  });

  test("the residual of the recurrence is that of x, in every iteration", () => {
    const A = laplacian(5, 4);
    const b = range(20).map(() => random.signed());
    for (const method of METHODS)
      for (const preconditioner of ["none", "jacobi", "ilu0"] as const)
        for (const k of range(6)) {
          const { history, residual, iterations } = iterate(method, A, b, { preconditioner, maxIterations: k, restart: 3 });
          expect(iterations).toBe(k);
          expect(Math.abs(residual * root(inner(b, b)) - (history[k] as number))).toBeLessThan(1e-14);
        }
  });

  test("bicgstab reduces s as far as one step along t can", () => {
    for (const _ of range(10)) {
      const A = integers();
      const b = range(n).map(() => random.below(9) - 4 || 1);
      const v = times(A, b);
      const alpha = inner(b, b) / inner(b, v);
      const s = b.map((r, i) => r - alpha * (v[i] as number));
      const t = times(A, s);
      const least = root(inner(s, s) - inner(t, s) ** 2 / inner(t, t));
      close([iterate("bicgstab", dense(...A), b, { maxIterations: 1 }).history[1] as number], [least]);
    }
  });

  test("all reach the solution, and factors without fill reach it at once", () => {
    const A = laplacian(4, 4);
    const full = new Float64Array(256);
    for (const i of range(16))
      for (const p of range(A.pointers[i + 1] as number))
        if (p >= (A.pointers[i] as number)) full[16 * i + (A.indices[p] as number)] = A.values[p] as number;
    const b = range(16).map(() => random.signed());
    for (const method of METHODS) close(iterate(method, A, b, { tolerance: 1e-13 }).x, solution(16, full, b) as number[]);
    const chain = laplacian(12, 1);
    const [first, second] = [
      { A: ilu0(chain), part: { unit: true } },
      { A: ilu0(chain), part: { uplo: "upper" } as const },
    ];
    for (const method of METHODS) {
      const c = range(12).map(() => random.signed());
      const got = iterate(method, chain, c, { preconditioner: "ilu0" });
      expect(got).toMatchObject({ reason: "tolerance", iterations: 1 });
      expect(iterate(method, chain, c, { preconditioner: [first, second] })).toEqual(got);
      expect(iterate(method, chain, c, { preconditioner: [second, first] }).iterations).toBeGreaterThan(1);
    }
  });
});

describe("ends", () => {
  const A = laplacian(3, 3);
  const ones = new Array<number>(9).fill(1);

  test("b of zeros, and no unknowns", () => {
    const zero = { converged: true, reason: "tolerance", iterations: 0, residual: 0, history: [0] };
    for (const method of METHODS) {
      expect(iterate(method, A, new Array(9).fill(-0), { x0: ones })).toEqual({ ...zero, x: new Array(9).fill(0) });
      const none: Sparse = csr(0, 0, Int32Array.of(0), new Int32Array(0), new Float64Array(0));
      expect(iterate(method, none, [])).toEqual({ ...zero, x: [] });
    }
  });

  test("a start that is good enough, by either bound", () => {
    const b = [2, 1, 2, 1, 0, 1, 2, 1, 2];
    for (const method of METHODS) {
      expect(iterate(method, A, b, { x0: ones, tolerance: 0 })).toMatchObject({ x: ones, reason: "tolerance", history: [0], residual: 0 });
      expect(iterate(method, A, b, { absolute: 100 })).toMatchObject({ reason: "tolerance", iterations: 0, residual: 1 });
      expect(iterate(method, A, b, { tolerance: 1 })).toMatchObject({ reason: "tolerance", iterations: 0, residual: 1 });
      expect(iterate(method, A, b, { maxIterations: 0 })).toMatchObject({ reason: "maxIterations", iterations: 0, residual: 1 });
    }
  });

  test("no solution in reach of the arithmetic: stagnation", () => {
    const b = range(9).map((i) => 1 / (i + 3));
    for (const method of METHODS)
      for (const maxRestarts of [0, 1, 3]) {
        const got = iterate(method, A, b, { tolerance: 1e-17, maxRestarts });
        expect(got.reason).toBe("stagnation");
        expect(got.residual).toBeLessThan(1e-15);
        expect(got.history.at(-1)).toBeLessThanOrEqual(1e-17);
      }
  });

  test("indefinite, skew-symmetric and singular matrices", () => {
    const skew = dense([0, 1], [-1, 0]);
    expect(iterate("cg", skew, [1, 1])).toMatchObject({ reason: "breakdown", x: [0, 0], history: [root(2)], residual: 1 });
    expect(iterate("bicgstab", skew, [1, 1])).toMatchObject({ reason: "breakdown", x: [0, 0], history: [root(2)] });
    expect(iterate("gmres", skew, [1, 0])).toMatchObject({ reason: "tolerance", x: [0, 1] });
    expect(iterate("cg", dense([1, 0], [0, -1]), [1, 2])).toMatchObject({ reason: "breakdown", iterations: 0 });
    const zero = dense([0, 0], [0, 0]);
    for (const method of METHODS) expect(iterate(method, zero, [1, 1])).toMatchObject({ reason: "breakdown", iterations: 0, x: [0, 0] });
    // v (0, 1), A v (1, 0), and A^2 v is 0: the second rotation's norm is 0
    expect(iterate("gmres", dense([0, 1], [0, 0]), [0, 1])).toMatchObject({ reason: "breakdown", history: [1, 1], x: [0, 0] });
  });

  test("overflow", () => {
    const large = dense([MAX, 0], [0, MAX / 4]);
    expect(iterate("gmres", large, [1, 1e5])).toMatchObject({ reason: "tolerance" });
    expect(iterate("cg", dense([1, 0], [0, 1]), [MAX, MAX])).toMatchObject({
      reason: "notFinite",
      iterations: 0,
      history: [Number.POSITIVE_INFINITY],
    });
    expect(iterate("bicgstab", dense([1, 0], [0, 2]), [1e200, 1e200])).toMatchObject({ reason: "breakdown", iterations: 0 });
    expect(iterate("gmres", dense([MAX, MAX], [MAX, -MAX]), [1, 1])).toMatchObject({ reason: "notFinite", iterations: 0, x: [0, 0] });
  });
});
