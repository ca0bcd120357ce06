// The oracle of solve() against answers that were computed in another language, against another way to round, and against itself.
import { describe, expect, test } from "vitest";
import { illConditionedMatrix } from "../../src/problems/illConditionedMatrix.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { toHex } from "../hex.ts";
import { readCases } from "../solve/cases.ts";
import { randoms } from "../solve/checks.ts";
import { roundRatio as searched } from "./rational.ts";
import { eliminate, enclose, measures, roundRatio, solution } from "./system.ts";

const SHARED = readCases("solve.jsonl");
const TIES = readCases("solve-ties.jsonl");
const hex = (x: number[] | number | undefined): string[] | number | undefined => (typeof x === "object" ? x.map(toHex) : x);

describe("elimination", () => {
  test(`gives the answers of solve.jsonl, ${SHARED.length} of them`, () => {
    expect(SHARED.length).toBe(540);
    for (const { system, want } of SHARED) {
      const { kind, n, A, b } = system;
      const x = solution(n, A, b);
      if (want === undefined) expect(x, kind).toBeTypeOf("number");
      else expect(hex(x), kind).toEqual(hex(want));
    }
  });

  test(`gives those of solve-ties.jsonl, ${TIES.length} of them, and dependent columns`, () => {
    expect(TIES.length).toBe(47);
    for (const { system, want, index } of TIES)
      expect(hex(solution(system.n, system.A, system.b)), system.kind).toEqual(hex(want ?? index));
  });

  test("finds the first column that depends on those before it", () => {
    expect(solution(1, [0], [1])).toBe(0);
    expect(solution(2, [1, 2, 2, 4], [1, 2])).toBe(1);
    expect(solution(3, [0, 1, 2, 0, 3, 4, 0, 5, 7], [1, 2, 3])).toBe(0);
    expect(solution(3, [1, 2, 3, 4, 8, 6, 7, 14, 10], [1, 2, 3])).toBe(1);
    expect(solution(3, [1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3])).toBe(2);
    expect(solution(3, [1, 2, 3, 2, 4, 6, 3, 6, 9], [1, 2, 3])).toBe(1); // rank 1
    expect(solution(0, [], [])).toEqual([]);
  });

  test("solves by hand", () => {
    expect(solution(2, [2, 1, 1, 3], [4, 7])).toEqual([1, 2]);
    expect(solution(2, [0, 1, 1, 0], [3, 4])).toEqual([4, 3]);
    expect(solution(1, [3], [-1])).toEqual([-1 / 3]);
    expect(solution(2, [1, 0, 0, 1], [-0, 0])).toEqual([0, 0]);
    const ends = solution(4, [2 ** -600, 0, 0, 0, 0, 2 ** 600, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2 ** -10], [-(2 ** 600), -(2 ** -600), 5, 7]);
    expect(ends).toEqual([Number.NEGATIVE_INFINITY, 0, 5, 7 * 2 ** 10]);
  });

  test("takes several right-hand sides at once", () => {
    const random = new Random(SEED);
    for (let round = 0; round < 20; round++) {
      const n = 1 + random.below(8);
      const [A, rights] = [randoms(random, n * n), [randoms(random, n), randoms(random, n, 2 ** -900), randoms(random, n, 2 ** 900)]];
      const all = eliminate(n, A, rights);
      if ("dependent" in all) expect.fail("a random matrix that is singular");
      else expect(all.columns.map((x) => x.map((v) => roundRatio(v)))).toEqual(rights.map((b) => solution(n, A, b)));
    }
  });
});

test(`rounding, against a search among the doubles, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED + 1);
  const integer = (): bigint => BigInt(random.word() >>> 0) * BigInt(random.word() >>> 0) + 1n;
  for (let round = 0; round < 3000; round++) {
    const sign = random.below(2) === 0 ? 1n : -1n;
    const half = round % 3 === 0; // a midpoint, or next to one
    const p = sign * (half ? ((1n << 53n) + 2n * BigInt(random.below(2 ** 32)) + 1n) << 70n : integer());
    const q = half ? 1n : integer();
    const nudge = half ? BigInt(random.below(3) - 1) : 0n;
    const e = [random.below(2200) - 1150, 970 - 70, -1127 - 70, -1129 - 70 + random.below(60)][round % 4] as number;
    const shift = e + 2148; // what `searched` counts in units of 2^-2148
    const want = shift >= 0 ? searched((p + nudge) << BigInt(shift), q, "nearest", "binary64") : 0;
    if (shift >= 0) expect(toHex(roundRatio({ p: p + nudge, q, e }))).toBe(toHex(want + 0));
  }
  expect(roundRatio({ p: 2n ** 54n - 1n, q: 1n, e: 970 })).toBe(Number.POSITIVE_INFINITY);
  expect(roundRatio({ p: 2n ** 64n - 2n ** 10n - 1n, q: 1n, e: 960 })).toBe(Number.MAX_VALUE);
  expect(roundRatio({ p: 1n, q: 1n, e: -1075 })).toBe(0);
  expect(roundRatio({ p: -1025n, q: 1n, e: -1085 })).toBe(-Number.MIN_VALUE);
  expect(toHex(roundRatio({ p: -1n, q: 1n, e: -1075 }))).toBe(toHex(0));
});

describe(`enclosures, HALFULP_SEED=${SEED}`, () => {
  test.each([
    [10, 1e5],
    [25, 1e20],
    [30, 1e60],
    [45, 1e12],
  ])("of order %d, condition %d agree with elimination", (n, condition) => {
    const A = illConditionedMatrix(n, condition, 1 + (SEED % 1000)).data;
    const b = randoms(new Random(SEED + 2), n);
    expect(enclose(n, A, b)).toEqual(solution(n, A, b));
  });

  test("prove nothing about ties and singular matrices", () => {
    // x is 2^53 + 1 and 2^53 - 1, of which the first is a midpoint.
    expect(enclose(2, [1, 1, 1, -1], [2 ** 54, 2])).toEqual([undefined, 2 ** 53 - 1]);
    expect(enclose(2, [3, 0, 0, 1], [1, 0])).toEqual([1 / 3, 0]);
    expect(enclose(2, [1, 2, 2, 4], [1, 1])).toEqual([undefined, undefined]);
  });

  test("are never wrong, whatever they prove", () => {
    for (const { system, want } of [...TIES, ...SHARED.slice(0, 120)]) {
      const proved = enclose(system.n, system.A, system.b);
      for (const [i, x] of proved.entries()) if (x !== undefined) expect(toHex(x), system.kind).toBe(toHex(want?.[i] as number));
    }
  });
});

test("measures by hand", () => {
  // 1 - 3 x is 2^-54: the norms are 3 x + 1, of which 3 x = 1 - 2^-54
  expect(measures(1, [3], [1 / 3], [1]).residual).toBe(0.25);
  expect(measures(1, [3], [1 / 3], [1]).backwardError).toBe(2 ** -55);
  expect(measures(2, [2, 1, 1, 3], [1, 2], [4, 7])).toEqual({ residual: 0, backwardError: 0 });
  expect(measures(2, [1, 0, 0, 1], [0, 0], [0, 0])).toEqual({ residual: 0, backwardError: 0 }); // 0/0
  expect(measures(2, [1, 0, 0, 1], [0, 1], [0, 1.5])).toEqual({ residual: 0.5 / (2 * 2.5 * 2 ** -53), backwardError: 0.5 / 2.5 });
  expect(measures(1, [1], [Number.POSITIVE_INFINITY], [1])).toEqual({ residual: Number.NaN, backwardError: Number.NaN });
  expect(measures(0, [], [], [])).toEqual({ residual: 0, backwardError: 0 });
});
