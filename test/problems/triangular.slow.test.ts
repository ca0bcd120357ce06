import { describe, expect, test } from "vitest";
import { doubleDoubleTrsv } from "../../src/exact/doubleDouble.ts";
import { illConditionedTriangular, representableTriangular } from "../../src/problems/illConditionedTriangular.ts";
import { describeEngines } from "../engines.ts";
import { hash } from "./hash.ts";
import { largest, magnitude, quotient, skeel, solution, system } from "./rationals.ts";

const CONDITIONS = [1, 10, 1e5, 1e10, 1e15, 1e20, 1e25, 1e30, 1e35, 1e41];

describe.each([
  ["illConditionedTriangular", illConditionedTriangular],
  ["representableTriangular", representableTriangular],
])("%s", (name, generate) => {
  test.each(CONDITIONS)("a condition of %d is met within a factor of 10", (wanted) => {
    for (const [n, seeds] of [
      [10, 30],
      [40, 6],
      [100, 1],
    ] as const) {
      for (let seed = 0; seed < seeds; seed++) {
        const { T, b } = generate(n, wanted, seed);
        const exact = system(T, b);
        const got = skeel(exact.T, exact.b);
        expect(got / wanted, `n = ${n}, seed = ${seed}: ${got}`).toBeGreaterThan(0.1);
        expect(got / wanted, `n = ${n}, seed = ${seed}: ${got}`).toBeLessThan(10);
      }
    }
  });

  test("the fewest unknowns still meet the condition", () => {
    for (const [n, wanted] of [
      [2, 1],
      [3, 1e7],
      [6, 1e30],
    ] as const) {
      const { T, b } = generate(n, wanted, 3);
      const exact = system(T, b);
      expect(skeel(exact.T, exact.b) / wanted).toBeGreaterThan(0.1);
      expect(skeel(exact.T, exact.b) / wanted).toBeLessThan(10);
    }
  });

  test("entries look random: lower triangular, no zeros there, both signs, no two alike", () => {
    const { T, b } = generate(40, 1e30, 1);
    const lower = Array.from({ length: 40 }, (_, i) => Array.from(T.data.subarray(40 * i, 40 * i + i + 1))).flat();
    const upper = T.data.filter((_, k) => k % 40 > Math.floor(k / 40));
    expect(upper.every((v) => Object.is(v, 0))).toBe(true);
    expect(lower.every((v) => v !== 0 && Math.abs(v) < 1000)).toBe(true);
    expect(new Set(lower).size).toBe(820);
    expect(lower.filter((v) => v < 0).length).toBeGreaterThan(250);
    expect(lower.filter((v) => v > 0).length).toBeGreaterThan(250);
    expect(b.every((v) => v !== 0 && Math.abs(v) < 1000)).toBe(true);
  });

  test("arguments that make no problem are named", () => {
    expect(() => generate(3, 1e30, 1)).toThrow(`${name}: n is 3, expected a whole number of at least 6`);
    expect(() => generate(10, 1e301, 1)).toThrow(`${name}: condition is 1e+301, expected 1 to 1e300`);
    expect(() => generate(10, 10, 0.5)).toThrow(`${name}: seed is 0.5`);
  });
});

describe("illConditionedTriangular", () => {
  test("the exact solution is about 1 and no double", () => {
    const exact = ((): bigint[] => {
      const { T, b } = illConditionedTriangular(40, 1e35, 2);
      const { T: rows, b: right } = system(T, b);
      return solution(rows, right);
    })();
    for (const [i, v] of exact.entries()) {
      const size = quotient(magnitude(v), 1n << 2000n);
      expect(size, `element ${i}`).toBeGreaterThan(0.49);
      expect(size, `element ${i}`).toBeLessThan(1.01);
      expect(v % (1n << 1900n), `element ${i}`).not.toBe(0n);
    }
  });

  test("a seed makes the same bits on every engine, another seed makes others", () => {
    const bits = (seed: number): string => {
      const { T, b } = illConditionedTriangular(40, 1e30, seed);
      return hash(T.data, b);
    };
    expect(bits(2)).not.toBe(bits(1));
    expect(bits(1)).toBe("ce754842f80d75b0");
  });
});

describe("representableTriangular", () => {
  test("T x is b to the last bit", () => {
    for (const n of [2, 10, 40, 100, 1000]) {
      for (const condition of [1, 10, 1e6, 1e30, 1e41]) {
        if ((n === 2 && condition > 1) || (n === 1000 && condition !== 1e30)) continue;
        const { T, b, x } = representableTriangular(n, condition, n);
        const exact = system(T, b);
        const scaled = Array.from(x, (v) => BigInt(v * 2 ** 53));
        for (const [i, row] of exact.T.entries()) {
          const sum = row.reduce((s, entry, j) => s + entry * (scaled[j] as bigint), 0n);
          expect(sum, `n = ${n}, row ${i}`).toBe((exact.b[i] as bigint) << 53n);
        }
        expect(largest(scaled.map(magnitude))).toBeLessThanOrEqual(1n << 53n);
        expect(scaled.every((v) => v !== 0n)).toBe(true);
      }
    }
  });

  test("a seed makes the same bits on every engine, another seed makes others", () => {
    const bits = (seed: number): string => {
      const { T, b, x } = representableTriangular(40, 1e30, seed);
      return hash(T.data, b, x);
    };
    expect(bits(2)).not.toBe(bits(1));
    expect(bits(1)).toBe("bc26f441ea44c708");
  });
});

describeEngines("systems with a representable solution", ({ extrsv }) => {
  test.each([1e5, 1e30, 1e35, 1e60, 1e100])("extrsv returns it exactly at condition %d", async (condition) => {
    for (const n of [10, 40, 100]) {
      if (n === 10 && condition > 1e60) continue;
      for (let seed = 0; seed < 20; seed++) {
        const { T, b, x } = representableTriangular(n, condition, seed);
        expect(await extrsv(T, b)).toEqual(x);
        expect(await extrsv(T, b, { rounding: "corrected" })).toEqual(x);
      }
    }
  });

  test("plain substitution has no right digit left there, double-double arithmetic is wrong at 1e60", () => {
    const { T, b, x } = representableTriangular(40, 1e30, 1);
    const plain = new Float64Array(40);
    for (let i = 0; i < 40; i++) {
      let s = b[i] as number;
      for (let j = 0; j < i; j++) s -= (T.data[40 * i + j] as number) * (plain[j] as number);
      plain[i] = s / (T.data[41 * i] as number);
    }
    expect(Math.abs((plain[39] as number) - (x[39] as number))).toBeGreaterThan(1);
    const harder = representableTriangular(40, 1e60, 1);
    const double = doubleDoubleTrsv(harder.T, harder.b);
    expect(Math.abs((double[39] as number) - (harder.x[39] as number))).toBeGreaterThan(1e-3);
  });
});
