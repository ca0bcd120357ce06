import { describe, expect, test } from "vitest";
import { illConditionedMatrixVector } from "../../src/problems/illConditionedMatrixVector.ts";
import { hash } from "./hash.ts";
import { integers, largest, magnitude, quotient } from "./rationals.ts";

describe("illConditionedMatrixVector", () => {
  test.each([1, 1e2, 1e5, 1e10, 1e16, 1e20, 1e30, 1e40, 1e100])(
    "a condition of %d is met within a factor of 10, in every row",
    (wanted) => {
      for (const n of [10, 40, 100]) {
        if (n === 10 && wanted > 1e50) continue;
        for (let seed = 0; seed < 3; seed++) {
          const { A, x } = illConditionedMatrixVector(n, wanted, seed);
          const v = integers({ data: x, rows: 1, cols: n })[0] as bigint[];
          const products = integers(A).map((row) => row.map((entry, j) => entry * (v[j] as bigint)));
          const sums = products.map((row) => magnitude(row.reduce((s, p) => s + p, 0n)));
          const sizes = products.map((row) => row.reduce((s, p) => s + magnitude(p), 0n));
          const conditions = sizes.map((size, i) => 2 * quotient(size, sums[i] as bigint));
          expect(Math.min(...conditions) / wanted, `n = ${n}, seed = ${seed}`).toBeGreaterThan(0.1);
          expect(Math.max(...conditions) / wanted, `n = ${n}, seed = ${seed}`).toBeLessThan(10);
          const inNorms = quotient(largest(sizes), largest(sums));
          expect(inNorms / wanted, `n = ${n}, seed = ${seed}`).toBeGreaterThan(0.1);
          expect(inNorms / wanted, `n = ${n}, seed = ${seed}`).toBeLessThan(10);
        }
      }
    },
  );

  test("a seed makes the same bits on every engine, another seed makes others", () => {
    const bits = (seed: number): string => {
      const { A, x } = illConditionedMatrixVector(40, 1e30, seed);
      return hash(A.data, x);
    };
    expect(bits(2)).not.toBe(bits(1));
    expect(bits(1)).toBe("7b068dc95ad80d3b");
  });

  test("arguments that make no problem are named", () => {
    expect(() => illConditionedMatrixVector(3, 1e30, 1)).toThrow(
      "illConditionedMatrixVector: n is 3, expected a whole number of at least 5",
    );
    expect(() => illConditionedMatrixVector(10, 0.5, 1)).toThrow("illConditionedMatrixVector: condition is 0.5, expected 1 to 1e300");
    expect(() => illConditionedMatrixVector(10, 10, -1)).toThrow("illConditionedMatrixVector: seed is -1");
  });
});
