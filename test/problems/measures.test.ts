import { describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import { Random } from "../../src/arrays/random.ts";
import { csc, csr } from "../../src/arrays/sparse.ts";
import type { Matrix, Sparse } from "../../src/arrays/types.ts";
import { illConditionedMatrix } from "../../src/problems/illConditionedMatrix.ts";
import { factorizationError, residualNorm } from "../../src/routines/dense/measures.ts";
import { describeEngines } from "../engines.ts";
import { type Exact, exactNumber, exactProduct, exactSum, round } from "../oracles/rational.ts";

const magnitude = (v: Exact): Exact => (v < 0 ? -v : v);
const [INF, NAN, MAX] = [Number.POSITIVE_INFINITY, Number.NaN, Number.MAX_VALUE];

function largestRounded(values: Exact[]): number {
  return Math.max(0, ...values.map((v) => round(magnitude(v), "nearest", "binary64")));
}

// A view with padding, in either order, of the entries given row by row.
function view(entries: Float64Array, rows: number, cols: number, random: Random): Matrix {
  const order = random.below(2) === 0 ? "row" : "column";
  const ld = (order === "row" ? cols : rows) + random.below(3);
  const offset = random.below(3);
  const data = new Float64Array(offset + (order === "row" ? rows : cols) * ld).fill(NAN);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < cols; j++) data[offset + (order === "row" ? i * ld + j : j * ld + i)] = entries[i * cols + j] as number;
  return matrix(data, rows, cols, { order, ld, offset });
}

// Numbers that cancel and cover many exponents.
function vector(length: number, random: Random): Float64Array {
  return Float64Array.from({ length }, () => Math.floor(random.signed() * 8) * 2 ** (random.below(40) * random.below(2)) + random.signed());
}

// The same matrix by rows and by columns, without some of its zeros, the entries of each line in any order.
function sparseViews(entries: Float64Array, rows: number, cols: number, random: Random): Sparse[] {
  return (["csr", "csc"] as const).map((format) => {
    const [lines, length] = format === "csr" ? [rows, cols] : [cols, rows];
    const [pointers, indices, values] = [[0], [] as number[], [] as number[]];
    for (let line = 0; line < lines; line++) {
      const shift = random.below(length + 1);
      for (let k = 0; k < length; k++) {
        const at = (k + shift) % length;
        const entry = entries[format === "csr" ? line * cols + at : at * cols + line] as number;
        if (entry === 0 && random.below(4) > 0) continue;
        indices.push(at);
        values.push(entry);
      }
      pointers.push(indices.length);
    }
    const make = format === "csr" ? csr : csc;
    return make(rows, cols, Int32Array.from(pointers), Int32Array.from(indices), Float64Array.from(values));
  });
}

describe("residualNorm", () => {
  test("is the largest of the exact residuals, rounded once", () => {
    const random = new Random(7);
    for (let round = 0; round < 300; round++) {
      const [m, n] = [random.below(7), random.below(7)];
      const A = vector(m * n, random).map((entry) => (random.below(3) === 0 ? 0 : entry));
      const x = vector(n, random);
      const b = vector(m, random);
      const rows = Array.from({ length: m }, (_, i) =>
        exactSum([exactNumber(b[i] as number), ...Array.from(x, (v, j) => exactProduct(-(A[i * n + j] as number), v))]),
      );
      for (const of of [view(A, m, n, random), ...sparseViews(A, m, n, random)]) expect(residualNorm(of, x, b)).toBe(largestRounded(rows));
    }
  });

  test("of a sparse matrix with rows without entries, and in binary32", () => {
    const A = csr(3, 2, Int32Array.of(0, 0, 1, 1), Int32Array.of(1), Float32Array.of(0.1));
    const exact = (Math.fround(0.1) as number) * 3 - 7; // 24 by 2 bits, then a sum that fits
    expect(residualNorm(A, Float32Array.of(5, 3), Float32Array.of(2, 7, -4))).toBe(Math.max(4, Math.abs(exact)));
    expect(residualNorm(A, Float32Array.of(5, 3), Float32Array.of(2, 1, 0))).toBe(2);
    expect(
      residualNorm(csc(0, 2, new Int32Array(3), new Int32Array(0), new Float64Array(0)), new Float64Array(2), new Float64Array(0)),
    ).toBe(0);
  });

  test("only stored entries count: a stored zero times an infinity is NaN", () => {
    const x = Float64Array.of(1, INF);
    const of = (indices: number[], values: number[]): number =>
      residualNorm(csr(1, 2, Int32Array.of(0, indices.length), Int32Array.from(indices), Float64Array.from(values)), x, Float64Array.of(3));
    expect(of([0], [1])).toBe(2);
    expect(of([1, 0], [0, 1])).toBe(NAN);
    expect(of([1], [-2])).toBe(INF);
  });

  test("sparse patterns and lengths are checked", () => {
    const A = csr(2, 3, Int32Array.of(0, 1, 2), Int32Array.of(2, 0), new Float64Array(2));
    expect(() => residualNorm(A, new Float64Array(2), new Float64Array(2))).toThrow(
      "residualNorm: x has length 2, expected 3 (the columns of A)",
    );
    expect(() => residualNorm({ ...A, indices: Int32Array.of(2, 3) }, new Float64Array(3), new Float64Array(2))).toThrow(
      "residualNorm: A.indices[1] is 3, expected at least 0 and below 3 (in row 1)",
    );
    expect(() => residualNorm(null as never, new Float64Array(3), new Float64Array(2))).toThrow("residualNorm: A is null, expected");
  });

  test("no product overflows or is lost on the way", () => {
    const A = matrix(Float64Array.of(MAX, MAX, 2 ** -600, 0), 2, 2);
    expect(residualNorm(A, Float64Array.of(MAX, -MAX), Float64Array.of(1, 0))).toBe(MAX * 2 ** -600);
    expect(residualNorm(A, Float64Array.of(1, 1), Float64Array.of(1, 0))).toBe(INF);
    expect(residualNorm(matrix(Float64Array.of(MAX, MAX), 1, 2), Float64Array.of(2, -2), Float64Array.of(3))).toBe(3);
    expect(residualNorm(matrix(Float64Array.of(2 ** -600), 1, 1), Float64Array.of(2 ** -474), Float64Array.of(0))).toBe(2 ** -1074);
  });

  test("special values: NaN wins over everything, an infinity over numbers", () => {
    const of = (a: number, x: number, b: number): number =>
      residualNorm(matrix(Float64Array.of(1, a), 2, 1), Float64Array.of(x), Float64Array.of(1, b));
    expect(of(1, 1, -INF)).toBe(INF);
    expect(of(INF, 1, 1)).toBe(INF);
    expect(of(INF, 1, INF)).toBe(NAN);
    expect(of(INF, 0, 1)).toBe(NAN);
    expect(of(NAN, 1, 1)).toBe(NAN);
    // a NaN in the first row is not forgotten in the second
    expect(residualNorm(matrix(Float64Array.of(NAN, 1), 2, 1), Float64Array.of(1), Float64Array.of(1, INF))).toBe(NAN);
  });

  test("lengths are checked", () => {
    const A = matrix(new Float64Array(6), 2, 3);
    expect(() => residualNorm(A, new Float64Array(2), new Float64Array(2))).toThrow(
      "residualNorm: x has length 2, expected 3 (the columns of A)",
    );
    expect(() => residualNorm(A, new Float64Array(3), new Float64Array(3))).toThrow(
      "residualNorm: b has length 3, expected 2 (the rows of A)",
    );
  });
});

describe("factorizationError", () => {
  test("is the largest row sum of the exact differences, rounded once", () => {
    const random = new Random(8);
    for (let round = 0; round < 300; round++) {
      const [m, n] = [random.below(6), random.below(6)];
      const k = Math.min(m, n);
      const A = vector(m * n, random);
      const lu = vector(m * n, random);
      const pivots = Int32Array.from({ length: k }, (_, i) => i + random.below(m - i));
      const order = Array.from({ length: m }, (_, i) => i);
      for (const [i, p] of pivots.entries()) [order[i], order[p]] = [order[p] as number, order[i] as number];
      const L = (i: number, p: number): number => (i === p ? 1 : i > p ? (lu[i * n + p] as number) : 0);
      const U = (p: number, j: number): number => (p <= j ? (lu[p * n + j] as number) : 0);
      const sums = order.map((from, i) =>
        exactSum(
          Array.from({ length: n }, (_, j) =>
            magnitude(
              exactSum([exactNumber(A[from * n + j] as number), ...Array.from({ length: k }, (_, p) => exactProduct(-L(i, p), U(p, j)))]),
            ),
          ),
        ),
      );
      const got = factorizationError(view(A, m, n, random), { lu: view(lu, m, n, random), pivots });
      expect(got, `${m} by ${n}`).toBe(largestRounded(sums));
    }
  });

  test("magnitudes are added: infinities of both signs in a row make Infinity, a NaN stays", () => {
    const A = matrix(new Float64Array(2), 1, 2);
    const pivots = Int32Array.of(0);
    expect(factorizationError(A, { lu: matrix(Float64Array.of(INF, -INF), 1, 2), pivots })).toBe(INF);
    expect(factorizationError(A, { lu: matrix(Float64Array.of(NAN, -INF), 1, 2), pivots })).toBe(NAN);
  });

  test("factors of another shape are named", () => {
    const A = matrix(new Float64Array(6), 2, 3);
    const of = (lu: Matrix, pivots: Int32Array) => () => factorizationError(A, { lu, pivots });
    expect(of(matrix(new Float64Array(6), 3, 2), new Int32Array(2))).toThrow(
      "factorizationError: factors.lu is 3 by 2, expected 2 by 3 (as A)",
    );
    expect(of(A, new Int32Array(3))).toThrow("factorizationError: factors.pivots has length 3, expected 2");
    expect(of(A, Int32Array.of(0, 2))).toThrow("factorizationError: factors.pivots[1] is 2, expected 1 to 1");
    expect(of(A, Int32Array.of(1, 0))).toThrow("factorizationError: factors.pivots[1] is 0, expected 1 to 1");
    expect(() => factorizationError(A, { lu: A, pivots: [0, 1] as unknown as Int32Array })).toThrow("factors.pivots is a plain array");
    expect(() => factorizationError(A, undefined as never)).toThrow("factorizationError: factors is undefined");
  });
});

describeEngines("measures of what the routines return", ({ exlu }) => {
  test("P A - L U of exlu is a few units of 2^-53, whatever the condition", async () => {
    for (const condition of [1e2, 1e16, 1e41]) {
      const A = illConditionedMatrix(40, condition, 1);
      const factors = await exlu(A);
      expect(factorizationError(A, factors)).toBeLessThan(40 * 40 * 2 ** -50);
    }
  });

  test("factors without an error measure 0, and the solution of a small system leaves no residual", async () => {
    const A = matrix(Float64Array.of(1, 2, 4, 4), 2, 2);
    const factors = await exlu(A);
    expect(factorizationError(A, factors)).toBe(0);
    const b = Float64Array.of(5, 12);
    expect(residualNorm(A, await factors.solve(b), b)).toBe(0);
  });
});
