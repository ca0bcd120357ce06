// Every kind of system is what it says it is, by the oracle.

import { describe, expect, test } from "vitest";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { range } from "../oracles/matrices.ts";
import { type Elimination, eliminate, type Ratio, roundRatio, solution } from "../oracles/system.ts";
import {
  described,
  knownIntegers,
  permuted,
  SINGULAR_KINDS,
  SYSTEM_KINDS,
  SYSTEMS,
  type System,
  type SystemKind,
  scaled,
  singular,
  systemOf,
  times,
} from "./systems.ts";

const ROUNDS = 60;
const absolute = (v: bigint): bigint => (v < 0n ? -v : v);

/** The exact solution, of a system that is regular. */
function exact(system: System): Ratio[] {
  const result: Elimination = eliminate(system.n, system.A, [system.b]);
  return "dependent" in result ? expect.fail(`singular: ${described(system)}`) : (result.columns[0] as Ratio[]);
}

/**
 * How far the nearest midpoint of two doubles is, as a power of two of the number's size: -Infinity for a midpoint. A number
 * between 2^53 and 2^54 has midpoints at odd integers; one that is subnormal, at odd multiples of 2^-1075.
 */
function distance({ p, q, e }: Ratio): number {
  if (p === 0n) return 0;
  const bits = (v: bigint): number => v.toString(2).length;
  let [above, below] = [absolute(p), absolute(q)];
  const lift = bits(below) - bits(above) + 54;
  [above, below] = lift >= 0 ? [above << BigInt(lift), below] : [above, below << BigInt(-lift)]; // between 2^53 and 2^55
  let exponent = e - lift;
  if (above >= below << 54n) [below, exponent] = [below << 1n, exponent + 1];
  if (exponent < -1075) [below, exponent] = [below << BigInt(-1075 - exponent), -1075];
  const odd = (above / below) | 1n;
  const gap = [-2n, 0n, 2n].map((step) => absolute(above - (odd + step) * below)).reduce((a, b) => [a, b][Number(b < a)] as bigint);
  return gap === 0n ? Number.NEGATIVE_INFINITY : bits(gap) - bits(above);
}

const each = <K extends SystemKind>(kind: K, check: (system: ReturnType<(typeof SYSTEMS)[K]["make"]>) => void): void => {
  const random = new Random(SEED);
  for (let round = 0; round < ROUNDS; round++) check(systemOf(random, kind));
};

describe(`kinds of systems, HALFULP_SEED=${SEED}`, () => {
  test.each(SYSTEM_KINDS)("%s: finite, of its orders, the same for a seed, and nearly always regular", (kind) => {
    const [one, two] = [new Random(SEED), new Random(SEED)];
    let regular = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const system: System = systemOf(one, kind);
      expect(system).toEqual(systemOf(two, kind));
      const [least, most] = SYSTEMS[kind].orders;
      expect(system.n).toBeGreaterThanOrEqual(least);
      expect(system.n).toBeLessThanOrEqual(most);
      expect([system.A.length, system.b.length]).toEqual([system.n ** 2, system.n]);
      expect([...system.A, ...system.b].every(Number.isFinite), described(system)).toBe(true);
      regular += Number(typeof solution(system.n, system.A, system.b) !== "number");
    }
    expect(regular).toBeGreaterThan(ROUNDS * (kind === "integers" || kind === "hugeAndTiny" || kind === "badlyScaled" ? 0.6 : 0.95));
  });

  test("bit patterns reach all exponents", () => {
    const sizes: number[] = [];
    each("bitPatterns", ({ A }) => sizes.push(...A.map((v) => Math.log2(Math.abs(v)))));
    expect(Math.min(...sizes)).toBeLessThan(-1000);
    expect(Math.max(...sizes)).toBeGreaterThan(1000);
  });

  test("representable solutions are what they say", () => {
    each("representable", ({ n, A, b, x }) => expect(solution(n, A, b)).toEqual(x));
  });

  test("ties: all components but one are midpoints", () => {
    each("ties", (system) => {
      const distances = exact(system).map(distance);
      expect(distances.filter((d) => d === Number.NEGATIVE_INFINITY).length, described(system)).toBeGreaterThanOrEqual(system.n - 1);
    });
  });

  test("near ties: all components but three are as near as they say, and no nearer", () => {
    const reached: number[] = [];
    each("nearTies", (system) => {
      const distances = exact(system).map(distance);
      const near = distances.filter((d) => d < -55 && Math.abs(d + system.below + 54) <= 2);
      expect(near.length, described(system)).toBe(system.n - 3);
      reached.push(...near);
    });
    expect(Math.min(...reached)).toBeLessThan(-600);
    expect(Math.max(...reached)).toBeGreaterThan(-200);
  });

  test("edges: infinities that are just that, largest numbers, zeros and smallest numbers of both signs", () => {
    const seen = new Set<number>();
    let zeros = 0;
    each("edges", (system) => {
      for (const x of exact(system)) {
        seen.add(roundRatio(x));
        if (roundRatio(x) === 0) {
          expect(distance(x), described(system)).toBe(Number.NEGATIVE_INFINITY); // 2^-1075 exactly
          zeros += x.p < 0n !== x.q < 0n ? 1 : 0;
        }
      }
    });
    const { MAX_VALUE, MIN_VALUE, POSITIVE_INFINITY } = Number;
    for (const value of [MAX_VALUE, MIN_VALUE, 2 * MIN_VALUE, POSITIVE_INFINITY])
      expect([...seen]).toEqual(expect.arrayContaining([value, -value]));
    expect(zeros).toBeGreaterThan(0); // negative ones, which are +0 all the same
  });

  test("hilbert: entries are 1 / (i + j + 1), that times a number, or binomials", () => {
    each("hilbert", ({ n, A }) => {
      const [first, last] = [A[0] as number, A[n * n - 1] as number];
      if (n > 1) expect([first / (2 * n - 1), binomial(2 * n - 2, n - 1)]).toContain(last);
    });
  });

  test("nearly singular: without its unit it is singular, in the last column", () => {
    each("nearlySingular", ({ n, A, b, place }) => {
      expect(typeof solution(n, A, b)).toBe("object");
      const without = A.slice();
      without[place] = (without[place] as number) - 1;
      expect(solution(n, without, b)).toBe(n - 1);
    });
  });

  test("unimodular: solutions are integers", () => {
    each("unimodular", (system) => {
      for (const { p, q, e } of exact(system)) expect((e >= 0 ? p * 2n ** BigInt(e) : p) % (e < 0 ? q * 2n ** BigInt(-e) : q)).toBe(0n);
    });
  });

  test("badly scaled: the solution follows, and entries are far apart", () => {
    const sizes: number[] = [];
    each("badlyScaled", ({ n, A, b, base, columns }) => {
      sizes.push(...A.filter((v) => v !== 0).map((v) => Math.log2(Math.abs(v))));
      const want = solution(n, base.A, base.b);
      expect(solution(n, A, b)).toEqual(typeof want === "number" ? want : want.map((x, j) => times(x, -(columns[j] as number))));
    });
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeGreaterThan(1200);
  });

  test("blocks: many zeros", () => {
    let [zeros, all] = [0, 0];
    each("blocks", ({ n, A }) => {
      if (n < 4) return;
      zeros += A.filter((v) => v === 0).length;
      all += n * n;
    });
    expect(zeros / all).toBeGreaterThan(0.4);
  });

  test("huge and tiny: numbers from both ends", () => {
    const sizes: number[] = [];
    each("hugeAndTiny", ({ A }) => sizes.push(...A.map(Math.abs)));
    expect(sizes.filter((v) => v > 2 ** 1000).length).toBeGreaterThan(30);
    expect(sizes.filter((v) => v !== 0 && v < 2 ** -1022).length).toBeGreaterThan(30);
  });

  test("out of range: infinities, subnormal numbers, zeros and others", () => {
    const counts = { infinite: 0, subnormal: 0, zero: 0, other: 0 };
    each("outOfRange", (system) => {
      for (const x of exact(system).map((v) => Math.abs(roundRatio(v))))
        counts[x === Number.POSITIVE_INFINITY ? "infinite" : x === 0 ? "zero" : x < 2 ** -1022 ? "subnormal" : "other"]++;
    });
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(4);
  });
});

function binomial(n: number, k: number): number {
  return k === 0 ? 1 : Math.round((binomial(n, k - 1) * (n - k + 1)) / k);
}

test(`singular systems: the index is that of the oracle, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED + 1);
  const kinds = new Set<string>();
  const places = new Set<string>();
  for (let round = 0; round < 400; round++) {
    const system = singular(random, 1 + random.below(14));
    const { n, A, b, index, kind } = system;
    expect(solution(n, A, b), described(system)).toBe(index);
    kinds.add(kind);
    if (n > 2) places.add(index === 0 ? "first" : index === n - 1 ? "last" : "middle");
  }
  expect(kinds.size).toBe(SINGULAR_KINDS.length);
  expect(places.size).toBe(3);
});

test(`integers with a known solution, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED + 2);
  for (const n of [1, 2, 5, 13, 30]) {
    const { A, b, x } = knownIntegers(random, n);
    expect(solution(n, A, b)).toEqual(Array.from(x, (v) => v + 0));
  }
});

test("scaling and permuting: exactly, or not at all", () => {
  expect([times(3, 5), times(-3, -1074), times(3, -1075), times(1, 1024), times(2 ** -1074, 2097), times(0, 3000)]).toEqual([
    96,
    -3 * Number.MIN_VALUE,
    undefined,
    undefined,
    2 ** 1023,
    0,
  ]);
  const system: System = { kind: "by hand", n: 2, A: Float64Array.of(1, 2, 3, 4), b: Float64Array.of(5, 6) };
  expect(permuted(system, [1, 0], [0, 1])).toMatchObject({ A: Float64Array.of(3, 4, 1, 2), b: Float64Array.of(6, 5) });
  expect(permuted(system, [0, 1], [1, 0])).toMatchObject({ A: Float64Array.of(2, 1, 4, 3), b: Float64Array.of(5, 6) });
  expect(scaled(system, [1, 0], [0, 2])).toMatchObject({ A: Float64Array.of(2, 16, 3, 16), b: Float64Array.of(10, 6) });
  expect(scaled(system, range(2), [0, -1100])).toBeUndefined();
});
