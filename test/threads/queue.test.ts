// Many calls at once, more threads than cores: no deadlock, no wrong bit.

import { availableParallelism } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Engine, exdot, exgemm, exgemv, exlu, exluBatch, exsum, extrsv, type Matrix, matrix, open } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { storedBits } from "../hex.ts";
import { place, representable } from "../matrices.ts";

const THREADS = Math.max(8, 4 * availableParallelism());
let engine: Engine;
beforeAll(async () => {
  engine = await open("threads", { threads: THREADS });
});
afterAll(() => engine.close());

const values = (random: Random, n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());

function triangle(random: Random, n: number): { T: Matrix; b: Float64Array } {
  const T = matrix(values(random, n * n), n, n, { order: random.below(2) ? "row" : "column" });
  for (let i = 0; i < n; i++) T.data[i * (n + 1)] = 1 + random.below(5);
  return { T, b: values(random, n) };
}

describe(`calls in line, HALFULP_SEED=${SEED}`, () => {
  test(`10,000 small systems from 50 callers on ${THREADS} threads`, async () => {
    const systems = Array.from({ length: 500 }, (_, k) => {
      const random = new Random(SEED + k);
      const n = k < 10 ? ([0, 1, 31, 32, 33, 0, 1, 31, 32, 33][k] as number) : random.below(40);
      const options = { uplo: random.below(2) ? ("lower" as const) : ("upper" as const), blockSize: 1 + random.below(12) };
      const { T, b } = triangle(random, n);
      return { T, b, options, want: storedBits(extrsv(T, b, options)) };
    });
    let calls = 0;
    const caller = async (first: number): Promise<void> => {
      for (let k = 0; k < 200; k++) {
        const { T, b, options, want } = systems[(first * 37 + k * 7) % systems.length] as (typeof systems)[number];
        const got = storedBits(await engine.extrsv(T, b, options));
        if (got.some((bits, i) => bits !== want[i])) expect.fail(`order ${T.rows}: ${got}, expected ${want}`);
        calls++;
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_, first) => caller(first)));
    expect(calls).toBe(10_000);
  });

  test("a thousand calls put in line at once resolve in order", async () => {
    const random = new Random(SEED);
    const { T, b } = triangle(random, 33);
    const want = storedBits(extrsv(T, b));
    const order: number[] = [];
    const all = Array.from({ length: 1000 }, async (_, k) => {
      const x = await engine.extrsv(T, b);
      order.push(k);
      return x;
    });
    for (const x of await Promise.all(all)) expect(storedBits(x)).toEqual(want);
    expect(order).toEqual(order.slice().sort((a, b) => a - b));
  });

  test("different routines in line do not disturb each other", async () => {
    const random = new Random(SEED);
    const n = 40;
    const [A, B] = [matrix(values(random, n * n), n, n), matrix(values(random, n * n), n, n, { order: "column" })];
    const { T, b } = triangle(random, n);
    const x = values(random, n);
    const long = values(random, 70_000);
    const blank = () => matrix(new Float64Array(n * n), n, n);
    // Each as it is here, and as it is there.
    const calls: [() => unknown, () => Promise<unknown>][] = [
      [() => exgemv(1, A, x, 0.5, b.slice()), () => engine.exgemv(1, A, x, 0.5, b.slice())],
      [() => exgemv(2, B, x, 1, b.slice(), { trans: true }), () => engine.exgemv(2, B, x, 1, b.slice(), { trans: true })],
      [() => exgemm(1, A, B, 0, blank()), () => engine.exgemm(1, A, B, 0, blank())],
      [() => extrsv(T, b, { refine: 2, blockSize: 8 }), () => engine.extrsv(T, b, { refine: 2, blockSize: 8 })],
      [() => exlu(A).solve(b, { refine: 1 }), async () => (await engine.exlu(A)).solve(b, { refine: 1 })],
      [() => exluBatch(A.data, 4, 100), () => engine.exluBatch(A.data, 4, 100)],
      [() => exsum(long), () => engine.exsum(long)],
      [() => exdot(long, long, { round: "down" }), () => engine.exdot(long, long, { round: "down" })],
    ];
    const wanted = calls.map(([sync]) => sync());
    const order = Array.from({ length: 400 }, () => random.below(calls.length));
    const got = await Promise.all(order.map((k) => (calls[k] as (typeof calls)[number])[1]()));
    for (const [i, k] of order.entries()) expect(got[i]).toEqual(wanted[k]);
  });

  test("a call that is refused does not hold up the others", async () => {
    const random = new Random(SEED);
    const { T, b } = triangle(random, 20);
    const singular = matrix(new Float64Array(400), 20, 20);
    const all = Array.from({ length: 200 }, (_, k) => engine.extrsv(k % 2 ? singular : T, b));
    const settled = await Promise.allSettled(all);
    expect(settled.map(({ status }) => status)).toEqual(all.map((_, k) => (k % 2 ? "rejected" : "fulfilled")));
    const lu = await Promise.allSettled(Array.from({ length: 20 }, (_, k) => engine.exlu(k % 2 ? singular : T)));
    expect(lu.map(({ status }) => status)).toEqual(lu.map((_, k) => (k % 2 ? "rejected" : "fulfilled")));
  });

  test("a representable solution comes back exactly, whatever the condition", async () => {
    const random = new Random(SEED);
    for (let k = 0; k < 20; k++) {
      const upper = random.below(2) === 1;
      const { system, x } = representable(random, 60, "binary64", upper);
      const T = place(system.T, { order: k % 2 ? "row" : "column", gap: 1, offset: 0 }) as Matrix;
      const got = await engine.extrsv(T, system.b as Float64Array, { uplo: upper ? "upper" : "lower", blockSize: 8 });
      expect(Array.from(got)).toEqual(x);
    }
  });
});

describe("pools", () => {
  test("are opened and closed many times", async () => {
    for (let k = 0; k < 40; k++) {
      const pool = await open("threads", { threads: 1 + (k % 4) });
      if (k % 3 > 0) expect(await pool.exsum(Float64Array.of(1e16, k, -1e16))).toBe(k);
      await pool.close();
    }
  });

  test("live side by side", async () => {
    const pools = await Promise.all([1, 2, 3, 4].map((threads) => open("threads", { threads })));
    const random = new Random(SEED);
    const { T, b } = triangle(random, 70);
    const want = storedBits(extrsv(T, b, { blockSize: 16 }));
    const all = pools.flatMap((pool) => Array.from({ length: 50 }, () => pool.extrsv(T, b, { blockSize: 16 })));
    for (const x of await Promise.all(all)) expect(storedBits(x)).toEqual(want);
    await Promise.all(pools.map((pool) => pool.close()));
  });
});
