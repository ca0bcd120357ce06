// Ill-conditioned dot products and the generator of random numbers, which the other test problems rest on.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exdot, illConditionedDot } from "../src/index.ts";
import { Random } from "../src/study.ts";
import { exactReduction, round } from "./oracles/rational.ts";

// 2 sum |x y| / |sum x y|, from exact sums.
function condition(x: Float64Array, y: Float64Array): number {
  const size = exactReduction("dot", x.map(Math.abs), y.map(Math.abs)) as bigint;
  const sum = exactReduction("dot", x, y) as bigint;
  return Number((size << 10n) / (sum < 0n ? -sum : sum)) / 2 ** 9;
}

describe("illConditionedDot", () => {
  test.each([1, 2, 10, 1e5, 1e10, 1e16, 1e20, 1e30, 1e50, 1e100, 1e300])("a condition of %d is met within a factor of 10", (wanted) => {
    for (const n of [12, 100, 1001, 5000]) {
      for (let seed = 0; seed < 5; seed++) {
        if (n < 20 && wanted > 1e50) continue;
        const { x, y, dot } = illConditionedDot(n, wanted, seed);
        expect([x.length, y.length]).toEqual([n, n]);
        const got = condition(x, y);
        expect(got / wanted, `n = ${n}, seed = ${seed}: ${got}`).toBeGreaterThan(0.1);
        expect(got / wanted, `n = ${n}, seed = ${seed}: ${got}`).toBeLessThan(10);
        expect(dot).toBe(round(exactReduction("dot", x, y), "nearest", "binary64"));
        expect(exdot(x, y)).toBe(dot);
      }
    }
  });

  test("at 1e30 the plain loop has no right digit", () => {
    const { x, y, dot } = illConditionedDot(1000, 1e30, 1);
    const plain = x.reduce((s, v, i) => s + v * (y[i] as number), 0);
    expect(Math.abs(plain - dot)).toBeGreaterThan(Math.abs(dot));
  });

  test("the smallest lengths still meet the condition", () => {
    for (const [n, wanted] of [
      [2, 1],
      [3, 1e3],
      [5, 1e30],
    ] as const) {
      const { x, y } = illConditionedDot(n, wanted, 4);
      expect(condition(x, y) / wanted).toBeGreaterThan(0.1);
      expect(condition(x, y) / wanted).toBeLessThan(10);
    }
  });

  test("a seed makes the same bits on every engine, another seed makes others", () => {
    const hash = (seed: number): string => {
      const { x, y } = illConditionedDot(1000, 1e30, seed);
      return createHash("sha256").update(new Uint8Array(x.buffer)).update(new Uint8Array(y.buffer)).digest("hex").slice(0, 16);
    };
    expect(hash(2)).not.toBe(hash(1));
    expect(hash(1)).toBe("9434f39f5bd95cfb");
  });
});

describe("Random", () => {
  test("is uniform enough: bits, range and mean", () => {
    const random = new Random(5);
    const ones = new Float64Array(32);
    let sum = 0;
    for (let i = 0; i < 20000; i++) {
      const w = random.word();
      for (let b = 0; b < 32; b++) ones[b] = (ones[b] as number) + ((w >>> b) & 1);
      const s = random.signed();
      expect(s >= -1 && s < 1).toBe(true);
      sum += s;
      const k = random.below(7);
      expect(Number.isInteger(k) && k >= 0 && k < 7).toBe(true);
    }
    expect(ones.every((count) => Math.abs(count - 10000) < 500)).toBe(true);
    expect(Math.abs(sum / 20000)).toBeLessThan(0.02);
  });

  test("neighbouring and large seeds are unlike", () => {
    const first = [0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2 ** 52].map((seed) => new Random(seed).word());
    expect(new Set(first).size).toBe(6);
  });
});
