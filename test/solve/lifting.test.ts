// Refinement in exact arithmetic, for systems whose exact solution is known: zeros, ties, and numbers next to ties.

import { describe, expect, it } from "vitest";
import type { ScaleExponents } from "../../src/routines/solve/integers.ts";
import { type LiftedSystem, liftNumerically } from "../../src/routines/solve/lifting.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { nearest, range } from "../oracles/matrices.ts";
import {
  Counting,
  identity,
  keepSlices,
  larger,
  magnitude,
  openRunners,
  type Runner,
  shifted,
  slicesOf,
  solveWhole,
  timesVector,
  type Whole,
} from "./units.ts";

const runners = await openRunners();

/** p / q * 2^e. */
interface Component {
  readonly p: bigint;
  readonly q: bigint;
  readonly e: number;
}
const dyadic = (p: bigint, e = 0): Component => ({ p, q: 1n, e });

interface Known {
  readonly n: number;
  readonly A: Float64Array;
  readonly scale: ScaleExponents;
  /** F = R A C, and its inverse, rounded. */
  readonly F: Whole;
  readonly inverse: Float64Array;
  readonly x: readonly Component[];
  readonly right: { integers: bigint[]; shift: number };
}

const PLACES = 64; // of quotients, for inverses

/**
 * A system with the solution x: F has small integers and a stronger diagonal, column j in multiples of the denominator of x_j,
 * so that right-hand sides are integers times a power of two. x = C z, F z = c.
 */
function known(random: Random, x: readonly Component[], powers: boolean): Known {
  const n = x.length;
  const power = (): number => (powers ? random.below(101) - 50 : 0);
  const scale = { rows: Int32Array.from(x, power), cols: Int32Array.from(x, power) };
  const F: Whole = range(n).map((i) => x.map(({ q }, j) => BigInt(random.below(9) - 4 + (i === j ? 8 * n : 0)) * q));
  const A = Float64Array.from({ length: n * n }, (_, e) => {
    const [i, j] = [Math.floor(e / n), e % n];
    return Number(F[i]?.[j] as bigint) * 2 ** -((scale.rows[i] as number) + (scale.cols[j] as number));
  });
  const shift = Math.max(...x.map(({ e }, j) => (scale.cols[j] as number) - e));
  const z = x.map(({ p, e }, j) => p << BigInt(shift + e - (scale.cols[j] as number)));
  // Entries of column j have the factor q_j, which x_j is divided by.
  const integers = timesVector(
    F.map((row) => row.map((v, j) => v / (x[j]?.q as bigint))),
    z,
  );
  const exact = solveWhole(F, identity(n));
  if (!exact) throw new Error("singular");
  const inverse = Float64Array.from({ length: n * n }, (_, e) => {
    const v = exact.Y[Math.floor(e / n)]?.[e % n] as bigint;
    return Number((v << BigInt(PLACES)) / exact.d) * 2 ** -PLACES;
  });
  return { n, A, scale, F, inverse, x, right: { integers, shift } };
}

const rounded = ({ p, q, e }: Component): number => nearest(p, q, e, "binary64") + 0;

type Correct = LiftedSystem["correct"];

// F^-1 r by the rounded inverse, off by a factor.
const byInverse = ({ n, inverse }: Known, factor = 1): Correct =>
  // biome-ignore lint/correctness/useYield: a corrector that needs no engine
  function* (words) {
    const d = new Float64Array(n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++)
        for (const word of words) d[i] = (d[i] as number) + factor * (inverse[i * n + j] as number) * (word[j] as number);
    return { d, size: 1 };
  };

interface Lifted {
  readonly all: boolean;
  readonly values: Map<number, number>;
}

async function lifted(
  { run }: Runner,
  system: Known,
  {
    open = range(system.n),
    correct = byInverse(system),
    words = 1,
    most,
  }: { open?: number[]; correct?: Correct; words?: 1 | 3; most?: number } = {},
): Promise<Lifted> {
  const { n, A, scale, inverse, right } = system;
  const weights = Float64Array.from({ length: n }, (_, i) =>
    inverse.subarray(i * n, (i + 1) * n).reduce((sum, v) => sum + Math.abs(v) * (1 + 2 ** -30), 2 ** -60),
  );
  const values = new Map<number, number>();
  const all = await run(
    (function* () {
      const slices = yield* keepSlices(slicesOf(A, n, scale));
      try {
        return yield* liftNumerically(
          {
            routine: "test",
            scale,
            slices,
            weights,
            words,
            correct,
            // biome-ignore lint/correctness/useYield: it is known
            *tieBound() {
              return { unit: slices.shift - right.shift, denominator: slices.determinant };
            },
          },
          right,
          open,
          new Counting(most),
          (j, v) => {
            expect(values.has(j)).toBe(false);
            values.set(j, v);
          },
        );
      } finally {
        slices.allocation.free();
      }
    })(),
  );
  return { all, values };
}

const odd = (random: Random): bigint => (1n << 53n) + 2n * BigInt(random.word() >>> 0) + 1n;
const sign = (random: Random): bigint => (random.below(2) === 0 ? 1n : -1n);

// Ties that end in every way: between normal numbers, subnormal ones, at the end of the range and at 0, and at a power of two.
const ties = (random: Random): Component[] => [
  dyadic(sign(random) * odd(random), random.below(1000) - 500),
  dyadic(sign(random) * odd(random)),
  dyadic(sign(random) * ((1n << 54n) - 1n), 7),
  dyadic(sign(random) * ((1n << 53n) + 1n), -9),
  dyadic(sign(random) * ((1n << 53n) + 3n), -9),
  dyadic(sign(random) * ((1n << 54n) - 1n), 970), // 2^1024 - 2^970
  dyadic(sign(random), -1075),
  dyadic(sign(random) * 3n, -1075),
  dyadic(sign(random) * (2n * BigInt(random.word() >>> 0) + 1n), -1075),
  dyadic(sign(random) * ((1n << 53n) - 1n), -1075), // below 2^-1022
];

// Near to a tie: 2^-distance of its size away.
function moved({ p, e }: Component, by: bigint, distance: number): Component {
  const bits = magnitude(p).toString(2).length;
  const shift = Math.max(0, distance - bits);
  return dyadic((p << BigInt(shift)) + by, e - shift);
}

// With thirds and sevenths beside them the residual never ends.
const generic = (random: Random): Component[] => [
  { p: sign(random) * (3n * BigInt(random.word() >>> 0) + 1n), q: 3n, e: -20 },
  { p: sign(random) * (7n * BigInt(random.word() >>> 0) + 2n), q: 7n, e: 3 },
];

function check({ all, values }: Lifted, { x }: Known, open: readonly number[], what: string): void {
  expect(all, what).toBe(true);
  expect(
    [...values.keys()].sort((a, b) => a - b),
    what,
  ).toEqual([...open].sort((a, b) => a - b));
  for (const [j, v] of values) expect(v, `${what}: component ${j}`).toBe(rounded(x[j] as Component));
}

describe(`refinement in whole numbers, HALFULP_SEED=${SEED}`, () => {
  it.each([false, true])("finds zeros and numbers of any size, residuals that never end: %s", async (endless) => {
    const random = new Random(SEED);
    for (const runner of runners)
      for (const powers of [false, true]) {
        const some = range(6).map(() => dyadic(sign(random) * BigInt(random.word() >>> 0), random.below(60) - 30));
        const x = [dyadic(0n), ...some, dyadic(0n), dyadic(1n, -1074), dyadic(5n, -1200), ...(endless ? generic(random) : [])];
        const system = known(random, x, powers);
        check(await lifted(runner, system), system, range(x.length), runner.name);
        check(await lifted(runner, system, { words: 3 }), system, range(x.length), `${runner.name}, three words`);
      }
  });

  it.each([false, true])("decides ties exactly, residuals that never end: %s", async (endless) => {
    const random = new Random(SEED + 1);
    for (const runner of runners)
      for (const powers of [false, true]) {
        const x = [...ties(random), ...(endless ? generic(random) : [])];
        const system = known(random, x, powers);
        check(await lifted(runner, system), system, range(x.length), runner.name);
      }
  });

  it("decides each kind of tie alone, beside a number that never ends", async () => {
    const random = new Random(SEED + 2);
    for (const tie of ties(random)) {
      const system = known(random, [tie, ...generic(random)], true);
      for (const runner of runners.slice(0, 2)) check(await lifted(runner, system, { open: [0] }), system, [0], `${tie.p} * 2^${tie.e}`);
    }
  });

  it("sees on which side of a tie a number is that is 2^-700 of its size away, or 2^-60", async () => {
    const random = new Random(SEED + 3);
    for (const runner of runners)
      for (const distance of [60, 700])
        for (const by of [1n, -1n]) {
          const x = [...ties(random).map((tie) => moved(tie, by, distance)), ...generic(random)];
          // Both sides of a tie are not the same number.
          for (const tie of ties(random)) expect(rounded(moved(tie, 1n, distance))).not.toBe(rounded(moved(tie, -1n, distance)));
          const system = known(random, x, random.below(2) === 0);
          check(await lifted(runner, system), system, range(x.length), `${runner.name}, 2^-${distance}`);
        }
  });

  it("sees on which side of a tie a fraction is that is nearer to it than the grid of the right-hand side", async () => {
    const random = new Random(SEED + 8);
    for (const runner of runners.slice(0, 2))
      for (const by of [1n, -1n]) {
        const thirds = ties(random).map((tie): Component => {
          const { p, e } = moved(tie, 0n, 1300);
          return { p: 3n * p + by, q: 3n, e };
        });
        const system = known(random, [...thirds, ...generic(random)], random.below(2) === 0);
        check(await lifted(runner, system), system, range(system.n), runner.name);
      }
  });

  it("sees it for quotients of whole numbers that are as near to a tie as any can be", async () => {
    const random = new Random(SEED + 9);
    for (let k = 0; k < 40; k++) {
      // m / 2^54 is a tie, and p / q is 1 / (2^54 q) away from it: m q + by = 2^54 p.
      const [q, by] = [(1n << 52n) + BigInt(random.word() >>> 0) * 2n ** 19n + 2n + sign(random), sign(random)];
      let inverse = q;
      for (let bits = 1; bits < 54; bits *= 2) inverse = BigInt.asUintN(54, inverse * (2n - q * inverse));
      const m = BigInt.asUintN(54, -by * inverse);
      if (m < 1n << 53n) continue;
      const p = (m * q + by) >> 54n;
      expect(p << 54n).toBe(m * q + by);
      const system: Known = {
        n: 1,
        A: Float64Array.of(Number(q)),
        scale: { rows: new Int32Array(1), cols: new Int32Array(1) },
        F: [[q]],
        inverse: Float64Array.of(1 / Number(q)),
        x: [{ p, q, e: 0 }],
        right: { integers: [p], shift: 0 },
      };
      for (const runner of runners.slice(0, 2)) check(await lifted(runner, system), system, [0], `${p} / ${q}`);
    }
  });

  it("decides what it is asked for and no more, also with corrections that are good to a few bits", async () => {
    const random = new Random(SEED + 4);
    for (const runner of runners.slice(0, 2)) {
      const x = [...ties(random), dyadic(0n), ...generic(random)];
      const system = known(random, x, true);
      const open = [11, 0, 10, 5];
      check(await lifted(runner, system, { open }), system, open, runner.name);
      check(await lifted(runner, system, { correct: byInverse(system, 1 + 2 ** -7) }), system, range(x.length), `${runner.name}, 7 bits`);
      check(await lifted(runner, system, { open: [] }), system, [], runner.name);
    }
  });

  it("gives the corrector 53 or 159 bits of the residual, below 1", async () => {
    const random = new Random(SEED + 5);
    const system = known(random, [...ties(random).slice(0, 5), ...generic(random)], true);
    const { integers } = system.right;
    const length = integers.reduce((most, v) => larger(most, magnitude(v)), 0n).toString(2).length;
    for (const words of [1, 3] as const) {
      let isFirst = true;
      const correct: Correct = function* (r) {
        expect(r.length).toBe(words);
        for (const word of r) for (const v of word) expect(Math.abs(v)).toBeLessThanOrEqual(1);
        if (isFirst) {
          for (const [i, v] of integers.entries()) {
            // In units of 2^-2000.
            const sum = r.reduce((s, word) => s + shifted(word[i] as number, 2000), 0n);
            const left = magnitude((v << 2000n) / (1n << BigInt(length)) - sum);
            expect(left <= 1n << BigInt(2001 - 53 * words)).toBe(true);
          }
          isFirst = false;
        }
        return yield* byInverse(system)(r);
      };
      check(await lifted(runners[0] as Runner, system, { correct, words }), system, range(system.n), `${words} words`);
      expect(isFirst).toBe(false);
    }
  });

  it("gives up when it is aborted, or when corrections gain too little", async () => {
    const random = new Random(SEED + 6);
    const x = [...ties(random), ...generic(random)];
    const system = known(random, x, false);
    for (const runner of runners) {
      expect(await lifted(runner, system, { most: 0 }), runner.name).toEqual({ all: false, values: new Map() });
      expect((await lifted(runner, system, { most: 5 })).all, runner.name).toBe(false);
      const poor = await lifted(runner, system, { correct: byInverse(system, 0.8) });
      expect(poor.all, runner.name).toBe(false);
      for (const [j, v] of poor.values) expect(v, runner.name).toBe(rounded(x[j] as Component));
    }
  });

  it.each([0, Number.NaN, Number.POSITIVE_INFINITY])("gives up when a correction is %d", async (bad) => {
    const random = new Random(SEED + 7);
    const system = known(random, [...ties(random), ...generic(random)], false);
    for (const runner of runners.slice(0, 2)) {
      const correct: Correct = function* (words) {
        const { d } = yield* byInverse(system)(words);
        return { d: bad === 0 ? d.fill(0) : d.fill(bad, 1, 2), size: 1 };
      };
      expect((await lifted(runner, system, { correct })).all, runner.name).toBe(false);
    }
  });
});
