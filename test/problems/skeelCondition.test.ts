import { describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import { Random } from "../../src/arrays/random.ts";
import { illConditionedTriangular, representableTriangular } from "../../src/problems/illConditionedTriangular.ts";
import { skeelCondition } from "../../src/problems/skeelCondition.ts";
import { roundRatio, units } from "../oracles/rational.ts";
import { type Integers, inverse, largest, magnitude, skeel, system } from "./rationals.ts";

// || |T^-1| |T| |x| || / ||x|| by the definition, with the whole inverse, rounded once.
function byDefinition(T: Integers, x: Float64Array): number {
  const v = Array.from(x, (e) => magnitude(units(e)));
  const { numerators, denominator } = inverse(T);
  const times = (A: Integers, u: readonly bigint[]): bigint[] =>
    A.map((row) => row.reduce((sum, entry, j) => sum + magnitude(entry) * (u[j] as bigint), 0n));
  const e = largest(times(numerators, times(T, v)));
  return roundRatio(e << 2148n, magnitude(denominator) * largest(v), "nearest", "binary64");
}

// The triangle that is meant, as integers in units of 2^-60.
function triangle(dense: (i: number, j: number) => number, n: number, upper: boolean, trans: boolean, unit: boolean): Integers {
  const entry = (i: number, j: number): bigint => {
    if (i === j && unit) return 1n << 60n;
    return (upper ? j >= i : j <= i) ? units(dense(i, j)) >> 1014n : 0n;
  };
  return Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (trans ? entry(j, i) : entry(i, j))));
}

describe("skeelCondition", () => {
  test("by hand: T = [[1, 0], [1, 1/2]], x = (1, 1)", () => {
    // T^-1 = [[1, 0], [-2, 2]], |T| |x| = (1, 3/2), |T^-1| times that = (1, 5)
    expect(skeelCondition(matrix(Float64Array.of(1, 0, 1, 0.5), 2, 2), Float64Array.of(1, 1))).toBe(5);
    // the same divided by the larger of 1 and 2: |T| |x| = (1, 2), then (1, 6)
    expect(skeelCondition(matrix(Float64Array.of(1, 0, 1, 0.5), 2, 2), Float64Array.of(1, -2))).toBe(3);
  });

  test("the eight cases, two orders, padded rows and an offset: the definition, to the bit", () => {
    const random = new Random(1);
    for (let n = 1; n <= 9; n++) {
      for (const [upper, trans, unit, column] of Array.from({ length: 16 }, (_, k) => [k & 1, k & 2, k & 4, k & 8].map(Boolean))) {
        const options = { uplo: upper ? "upper" : "lower", trans: trans as boolean, unit: unit as boolean } as const;
        const order = column ? "column" : "row";
        const ld = n + random.below(3);
        const offset = random.below(4);
        // Entries of the other triangle, the padding and a unit diagonal are not read.
        const data = new Float64Array(offset + n * ld).fill(Number.NaN);
        const at = (i: number, j: number): number => offset + (column ? j * ld + i : i * ld + j);
        for (let i = 0; i < n; i++)
          for (let j = 0; j < n; j++)
            if ((upper ? j > i : j < i) || (i === j && !unit)) data[at(i, j)] = Math.floor(random.signed() * 2 ** 50) / 2 ** 50 || 1;
        const x = Float64Array.from({ length: n }, () => random.signed());
        const exact = triangle((i, j) => data[at(i, j)] as number, n, upper as boolean, trans as boolean, unit as boolean);
        const got = skeelCondition(matrix(data, n, n, { order, ld, offset }), x, options);
        expect(got, JSON.stringify({ n, ...options, order })).toBe(byDefinition(exact, x));
      }
    }
  });

  test.each([1e5, 1e20, 1e35, 1e100])("at condition %d, with the exact solution", (condition) => {
    for (const n of [20, 40, 100]) {
      const { T, b, x } = representableTriangular(n, condition, 5);
      const exact = system(T, b);
      const got = skeelCondition(T, x);
      expect(Math.abs(got / skeel(exact.T, exact.b) - 1)).toBeLessThan(1e-15);
    }
  });

  test("n = 100 at a condition of 1e35", () => {
    const { T } = illConditionedTriangular(100, 1e35, 1);
    expect(skeelCondition(T, new Float64Array(100).fill(1))).toBeGreaterThan(1e30);
  });

  test("scaling rows changes nothing, entries of any size are exact", () => {
    const { T, x } = representableTriangular(12, 1e30, 2);
    const scaled = T.data.map((v, k) => v * 2 ** ((Math.floor(k / 12) - 6) * 140));
    expect(skeelCondition(matrix(scaled, 12, 12), x)).toBe(skeelCondition(T, x));
    expect(skeelCondition(matrix(Float64Array.of(2 ** -1074), 1, 1), Float64Array.of(2 ** -1074))).toBe(1);
  });

  test("arguments without an answer are named", () => {
    const T = matrix(Float64Array.of(1, 0, 2, 3), 2, 2);
    const x = Float64Array.of(1, 1);
    expect(() => skeelCondition(T, Float64Array.of(0, -0))).toThrow("skeelCondition: x is 0, expected a nonzero element");
    expect(() => skeelCondition(T, Float64Array.of(1))).toThrow("skeelCondition: x has length 1, expected 2 (the order of T)");
    expect(() => skeelCondition(T, Float64Array.of(1, Number.NaN))).toThrow(
      "skeelCondition: element 1 of x is NaN, expected a finite number",
    );
    expect(() => skeelCondition(matrix(Float64Array.of(1, 0, 2, 0), 2, 2), x)).toThrow(
      expect.objectContaining({ name: "SingularError", index: 1, message: expect.stringContaining("entry (1, 1) of T is 0") }),
    );
    const infinite = matrix(Float64Array.of(1, 0, Number.POSITIVE_INFINITY, 1), 2, 2);
    expect(() => skeelCondition(infinite, x)).toThrow(expect.objectContaining({ name: "ValueError", row: 1, column: 0 }));
    expect(skeelCondition(infinite, x, { uplo: "upper" })).toBe(1);
    expect(() => skeelCondition(matrix(new Float64Array(6), 2, 3), x)).toThrow("skeelCondition: T is 2 by 3, expected a square matrix");
    expect(() => skeelCondition(T, x, { uplo: "left" as "lower" })).toThrow('skeelCondition: uplo is "left"');
  });
});
