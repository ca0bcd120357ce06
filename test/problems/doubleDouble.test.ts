import { describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import { Random } from "../../src/arrays/random.ts";
import { doubleDoubleTrsv } from "../../src/exact/doubleDouble.ts";
import { illConditionedTriangular } from "../../src/problems/illConditionedTriangular.ts";
import { units } from "../oracles/rational.ts";
import { largest, magnitude, quotient, solution, system } from "./rationals.ts";

// The largest error relative to the largest element of the exact solution.
function error(T: Parameters<typeof system>[0], b: Float64Array, x: Float64Array): number {
  const { T: rows, b: right } = system(T, b);
  const exact = solution(rows, right);
  const differences = exact.map((v, i) => magnitude(v - (units(x[i] as number) << 926n)));
  return quotient(largest(differences), largest(exact.map(magnitude)));
}

describe("doubleDoubleTrsv", () => {
  test("is right to the last bits while the condition is far below 1e32, and lost beyond", () => {
    for (let seed = 0; seed < 5; seed++) {
      for (const condition of [1e5, 1e10, 1e14]) {
        const { T, b } = illConditionedTriangular(40, condition, seed);
        expect(error(T, b, doubleDoubleTrsv(T, b)), `${condition}`).toBeLessThan(2 ** -52.9);
      }
      const hard = illConditionedTriangular(40, 1e25, seed);
      expect(error(hard.T, hard.b, doubleDoubleTrsv(hard.T, hard.b))).toBeLessThan(1e-5);
      const lost = illConditionedTriangular(40, 1e41, seed);
      expect(error(lost.T, lost.b, doubleDoubleTrsv(lost.T, lost.b))).toBeGreaterThan(1);
    }
  });

  test("upper or lower, plain or transposed, unit or not: the triangle and nothing else is read", () => {
    const random = new Random(3);
    for (let k = 0; k < 8; k++) {
      const [upper, trans, unit] = [k & 1, k & 2, k & 4].map(Boolean) as [boolean, boolean, boolean];
      const n = 7;
      const x = Float64Array.from({ length: n }, () => random.below(64) - 32);
      const data = new Float64Array(n * n).fill(Number.NaN);
      const b = new Float64Array(n);
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          if (i === j ? unit : upper ? j < i : j > i) continue;
          data[i * n + j] = random.below(100) + 1;
          const [to, from] = trans ? [j, i] : [i, j];
          b[to] = (b[to] as number) + (data[i * n + j] as number) * (x[from] as number);
        }
      if (unit) for (let i = 0; i < n; i++) b[i] = (b[i] as number) + (x[i] as number);
      const options = { uplo: upper ? "upper" : "lower", trans, unit } as const;
      expect(
        doubleDoubleTrsv(matrix(data, n, n), b, options).map((v) => v + 0),
        JSON.stringify(options),
      ).toEqual(x);
    }
  });

  test("a zero on the diagonal and lengths that do not match are named", () => {
    const T = matrix(Float64Array.of(1, 0, 1, 0), 2, 2);
    expect(() => doubleDoubleTrsv(T, new Float64Array(2))).toThrow(expect.objectContaining({ name: "SingularError", index: 1 }));
    expect(() => doubleDoubleTrsv(T, new Float64Array(3))).toThrow("doubleDoubleTrsv: b has length 3, expected 2 (the order of T)");
  });
});
