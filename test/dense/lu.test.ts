// What exlu, exluBatch and LU.solve do around the kernels; the bits of the factors are tested with the other kernels.
import { describe, expect, test } from "vitest";
import type { Format } from "../../src/arrays/types.ts";
import { type LU, type Matrix, matrix, type Real, SingularError, ValueError } from "../../src/index.ts";
import { type Kernels, kernels, Random, routinesOn } from "../../src/study.ts";
import { caught } from "../caught.ts";
import { storedBits } from "../hex.ts";
import * as oracle from "../oracles/matrices.ts";

const { exlu, exluBatch } = routinesOn(kernels("reference") as Kernels);

describe("exlu", () => {
  test("of a matrix by hand", () => {
    // rows are swapped for the pivot 4; 2 / 4 = 0.5; 3 - 0.5 * 5 = 0.5
    const { lu, pivots } = exlu(matrix(Float64Array.of(2, 3, 4, 5), 2, 2));
    expect(lu).toEqual({ data: Float64Array.of(4, 5, 0.5, 0.5), rows: 2, cols: 2, order: "row", ld: 2, offset: 0 });
    expect(pivots).toEqual(Int32Array.of(1, 1));
  });

  test("of wide and tall matrices has min(rows, cols) pivots", () => {
    const data = Float64Array.of(1, 2, 4, 3, 5, 6);
    const wide = exlu(matrix(data, 2, 3));
    expect([Array.from(wide.lu.data), Array.from(wide.pivots)]).toEqual([
      [3, 5, 6, 1 / 3, expect.any(Number), expect.any(Number)],
      [1, 1],
    ]);
    const tall = exlu(matrix(data, 3, 2));
    expect([tall.lu.rows, tall.lu.cols, Array.from(tall.pivots)]).toEqual([3, 2, [2, 1]]);
  });

  test("reads both orders, ld and offset, and returns a row-ordered copy", () => {
    const rows = matrix(Float64Array.of(2, 3, 4, 5), 2, 2);
    const columns = matrix(Float64Array.of(9, 2, 4, 9, 3, 5), 2, 2, { order: "column", ld: 3, offset: 1 });
    expect(exlu(columns).lu).toEqual(exlu(rows).lu);
    expect(Array.from(columns.data)).toEqual([9, 2, 4, 9, 3, 5]);
    expect(Array.from(rows.data)).toEqual([2, 3, 4, 5]);
  });

  test("of a singular matrix throws the column of the zero pivot", () => {
    const error = caught(() => exlu(matrix(Float64Array.of(1, 2, 3, 2, 4, 7, 4, 8, 5), 3, 3)));
    expect(error).toBeInstanceOf(SingularError);
    expect(error).toMatchObject({ index: 1, message: "exlu: the pivot of column 1 is 0, expected a matrix of full rank" });
    expect(caught(() => exlu(matrix(new Float64Array(1), 1, 1)))).toMatchObject({ index: 0 });
  });

  test("that overflows throws the place", () => {
    // 1e308 + 1 * 1e308, in row 1 and column 1
    const error = caught(() => exlu(matrix(Float64Array.of(1, -1e308, 1, 1e308), 2, 2)));
    expect(error).toBeInstanceOf(ValueError);
    expect(error).toMatchObject({
      row: 1,
      column: 1,
      message: "exlu: entry (1, 1) of the factors of A overflows, expected a finite number",
    });
    expect(caught(() => exlu(matrix(Float32Array.of(1, -3e38, 1, 3e38), 2, 2)))).toMatchObject({ row: 1, column: 1 });
  });
});

describe("exluBatch", () => {
  test("is exlu of each matrix", () => {
    const random = new Random(11);
    const data = Float32Array.from({ length: 5 * 9 }, () => random.signed());
    const kept = data.slice();
    const { lu, pivots, info } = exluBatch(data, 3, 5);
    expect(data).toEqual(kept);
    expect(info).toEqual(new Int32Array(5));
    for (let k = 0; k < 5; k++) {
      const one = exlu(matrix(data.slice(9 * k, 9 * (k + 1)), 3, 3));
      expect(storedBits(lu.slice(9 * k, 9 * (k + 1)))).toEqual(storedBits(one.lu.data));
      expect(pivots.slice(3 * k, 3 * (k + 1))).toEqual(one.pivots);
    }
  });

  test("reports singular matrices and does the others", () => {
    const { lu, info } = exluBatch(Float64Array.of(1, 2, 2, 4, 2, 3, 4, 5, 0, 1, 0, 1), 2, 3);
    expect(info).toEqual(Int32Array.of(2, 0, 1));
    expect(Array.from(lu.subarray(4, 8))).toEqual([4, 5, 0.5, 0.5]);
  });

  test("throws where one of them overflows, and says which", () => {
    const error = caught(() => exluBatch(Float64Array.of(1, 0, 0, 1, 1, -1e308, 1, 1e308), 2, 2));
    expect(error).toMatchObject({
      row: 1,
      column: 1,
      message: "exluBatch: entry (1, 1) of the factors of matrix 1 overflows, expected a finite number",
    });
  });
});

describe("LU.solve", () => {
  // SPEC.md: swaps, unit L, U; then r := RN(b - A x), d := solve(r), x := RN(x + d).
  function solution<V extends Real>(A: Matrix<V>, { lu, pivots }: LU<V>, b: Real, refine: number, format: Format): number[] {
    const n = A.rows;
    const entry = (i: number, j: number) => lu.data[i * n + j] as number;
    const triangle = { n, T: entry, rounding: "single", refine: 0, refineBlocks: 0, blockSize: 1, format } as const;
    const solve = (right: number[]) => {
      const swapped = right.slice();
      pivots.forEach((p, k) => {
        [swapped[k], swapped[p]] = [swapped[p] as number, swapped[k] as number];
      });
      const middle = oracle.trsv({ ...triangle, upper: false, unit: true }, swapped);
      return oracle.trsv({ ...triangle, upper: true, unit: false }, middle);
    };
    let x = solve(Array.from(b));
    for (let step = 0; step < refine && x.every(Number.isFinite); step++) {
      const current = x;
      const r = Array.from(b, (right, i) => {
        const products = current.map((v, j) => oracle.product(oracle.value(-(A.data[i * n + j] as number)), oracle.value(v)));
        return oracle.rounded(oracle.sum([oracle.value(right), ...products]), format);
      });
      const d = solve(r);
      x = x.map((v, i) => oracle.rounded(oracle.sum([oracle.value(v), oracle.value(d[i] as number)]), format));
    }
    return x;
  }

  test.each(["binary64", "binary32"] as const)("has the bits of its definition, %s", (format) => {
    const random = new Random(5);
    const type = format === "binary64" ? Float64Array : Float32Array;
    const make = (n: number, spread: number) =>
      new type(Array.from({ length: n }, () => random.signed() * 2 ** (random.below(2 * spread + 1) - spread))) as Float64Array;
    for (let k = 0; k < 150; k++) {
      const n = 1 + random.below(8);
      const [spread, refine] = [random.below(2) ? 2 : 60, random.below(4)];
      const A = matrix(make(n * n, spread), n, n);
      // next to singular, where refinement has something to do
      if (n > 1 && k % 2) for (let j = 0; j < n; j++) A.data[j] = (A.data[n + j] as number) * (1 + (j % 2) * 2 ** -20);
      const b = make(n, spread);
      const factors = exlu(A);
      const wanted = new type(solution(A, factors, b, refine, format));
      expect(storedBits(factors.solve(b, { refine }))).toEqual(storedBits(wanted));
    }
  });

  test("by hand, with row swaps", () => {
    const A = matrix(Float64Array.of(0, 2, 3, 1), 2, 2);
    const b = Float64Array.of(4, 5);
    expect(exlu(A).solve(b)).toEqual(Float64Array.of(1, 2));
    expect(b).toEqual(Float64Array.of(4, 5));
  });

  test("refines with A as it was, whatever has become of it", () => {
    const random = new Random(6);
    const A = matrix(
      Float64Array.from({ length: 25 }, () => random.signed()),
      5,
      5,
    );
    const b = Float64Array.from({ length: 5 }, () => random.signed());
    const wanted = exlu(A).solve(b, { refine: 3 });
    const factors = exlu(A);
    A.data.fill(Number.NaN);
    expect(storedBits(factors.solve(b, { refine: 3 }))).toEqual(storedBits(wanted));
    expect(storedBits(factors.solve(b, { refine: 3 }))).toEqual(storedBits(wanted));
  });

  test("stops refining where x is not finite", () => {
    const factors = exlu(matrix(Float64Array.of(1e-300, 0, 0, 1), 2, 2));
    expect(factors.solve(Float64Array.of(1e300, 3), { refine: 5 })).toEqual(Float64Array.of(Number.POSITIVE_INFINITY, 3));
    const nan = factors.solve(Float64Array.of(Number.NaN, 3), { refine: 1 });
    expect(storedBits(nan)[0]).toBe("7ff8000000000000");
  });

  test("an exact zero is +0", () => {
    const factors = exlu(matrix(Float64Array.of(1), 1, 1));
    expect(storedBits(factors.solve(Float64Array.of(-0), { refine: 1 }))).toEqual(["0000000000000000"]);
    // x underflows to -0, and so does its correction: the sum is exactly zero
    const large = exlu(matrix(Float64Array.of(2 ** 1000), 1, 1));
    expect(storedBits(large.solve(Float64Array.of(-(2 ** -1000))))).toEqual(["8000000000000000"]);
    expect(storedBits(large.solve(Float64Array.of(-(2 ** -1000)), { refine: 1 }))).toEqual(["0000000000000000"]);
  });
});
