import { describe, expect, test } from "vitest";
import { illConditionedMatrix } from "../../src/problems/illConditionedMatrix.ts";
import { hash } from "./hash.ts";
import { conditionNumber, integers, reduced } from "./rationals.ts";

describe("illConditionedMatrix", () => {
  test.each([1e2, 1e3, 1e5, 1e10, 1e16, 1e20, 1e30, 1e35, 1e41])("a condition of %d is met within a factor of 10", (wanted) => {
    for (const [n, seeds] of [
      [10, 10],
      [20, 4],
      [40, 1],
    ] as const) {
      for (let seed = 0; seed < seeds; seed++) {
        const got = conditionNumber(reduced(integers(illConditionedMatrix(n, wanted, seed))));
        expect(got / wanted, `n = ${n}, seed = ${seed}: ${got}`).toBeGreaterThan(0.1);
        expect(got / wanted, `n = ${n}, seed = ${seed}: ${got}`).toBeLessThan(10);
      }
    }
  });

  test("the smallest orders still meet the condition", () => {
    for (const [n, wanted] of [
      [5, 100],
      [8, 1e41],
      [29, 1e300],
    ] as const) {
      const got = conditionNumber(reduced(integers(illConditionedMatrix(n, wanted, 4))));
      expect(got / wanted).toBeGreaterThan(0.1);
      expect(got / wanted).toBeLessThan(10);
    }
  });

  test("entries look random: no zeros, both signs, no two alike", () => {
    const { data } = illConditionedMatrix(40, 1e30, 1);
    expect(data.every((v) => v !== 0 && Math.abs(v) < 100)).toBe(true);
    expect(new Set(data).size).toBe(1600);
    expect(data.filter((v) => v < 0).length).toBeGreaterThan(600);
    expect(data.filter((v) => v > 0).length).toBeGreaterThan(600);
  });

  test("a seed makes the same bits on every engine, another seed makes others", () => {
    expect(hash(illConditionedMatrix(40, 1e30, 2).data)).not.toBe(hash(illConditionedMatrix(40, 1e30, 1).data));
    expect(hash(illConditionedMatrix(40, 1e30, 1).data)).toBe("e16be3cb68db15cd");
  });

  test("arguments that make no problem are named", () => {
    expect(() => illConditionedMatrix(5, 1e30, 1)).toThrow("illConditionedMatrix: n is 5, expected a whole number of at least 7");
    expect(() => illConditionedMatrix(10, 99, 1)).toThrow("illConditionedMatrix: condition is 99, expected 100 to 1e300");
    expect(() => illConditionedMatrix(10, 100, Number.NaN)).toThrow("illConditionedMatrix: seed is NaN");
  });
});
