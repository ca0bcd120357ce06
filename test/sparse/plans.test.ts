// A plan: many solves, new values before, between and during them, its memory, its levels, and why it is what it is.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Real, Sparse } from "../../src/arrays/types.ts";
import { csr, type Engine, elasticity, laplacian, open, powerLaw, type Resident, sptrsv, toCsc } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { type AnyRoutines, ON_ONE_THREAD, POOLS, SCHEDULES, SCHEDULES_AND_AUTO } from "../engines.ts";
import { vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { exactly, type Part, plainly } from "../oracles/sparse.ts";
import { openMortal } from "../threads/mortal.ts";
import { same } from "./checks.ts";

const random = new Random(SEED);
const some = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());

// Values for the pattern of a matrix, none of them zero, the diagonal the largest.
const fresh = (A: Sparse): Float64Array => A.values.map((v) => Math.sign(v) * (0.5 + random.below(2 ** 30) / 2 ** 31) * Math.abs(v));
const answer = (A: Sparse, values: Real, b: Real, part: Part = {}): number[] => exactly({ ...A, values }, b, part, "binary64");

describe.each(["wasm", "threads"] as const)(`plans of engine %s, HALFULP_SEED=${SEED}`, (kind) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open(kind, { threads: 3 });
  });
  afterAll(() => engine.close());

  const A = laplacian(17, 9, 4);
  const n = A.rows;

  test.each(SCHEDULES_AND_AUTO)("%s: many solves, one after another and at once", async (schedule) => {
    const plan = await engine.sptrsv(A, { schedule });
    const sides = range(30).map(() => some(n));
    for (const b of sides.slice(0, 10)) same(await plan.solve(b), answer(A, A.values, b), "one after another");
    const solutions = await Promise.all(sides.map((b) => plan.solve(b)));
    for (const [k, b] of sides.entries()) same(solutions[k] as Real, answer(A, A.values, b), `at once, ${k}`);
    await plan.free();
  });

  test.each(SCHEDULES_AND_AUTO)("%s: solves that are pending see the values of their call, later ones those after it", async (schedule) => {
    for (const [stored, part] of [
      [A, {}],
      [toCsc(A), { uplo: "upper" }],
      [A, { trans: true, unit: true }],
    ] as [Sparse, Part][]) {
      const plan = await engine.sptrsv(stored, { ...part, schedule });
      const all = [stored.values.slice(), ...range(4).map(() => fresh(stored))];
      const b = some(n);
      const want = all.map((values) => answer(stored, values, b, part));
      const pending: [Promise<Real>, number][] = [];
      for (const [k, values] of all.entries()) {
        const given = values.slice();
        if (k > 0) {
          const updating = plan.update(given);
          given.fill(Number.NaN); // read before it returned
          await (k % 2 ? updating : undefined);
        }
        pending.push([plan.solve(b), k], [plan.solve(b), k]);
      }
      for (const [solving, k] of pending) same(await solving, want[k] as number[], `${schedule}, values ${k}`);
      same(await plan.solve(b), want[4] as number[], "with the last values");
      await plan.update(all[1] as Float64Array); // none is pending
      same(await plan.solve(b), want[1] as number[], "and with older ones");
      await plan.free();
    }
  });

  test.each(SCHEDULES_AND_AUTO)("%s: a refused update changes nothing, while solves are pending too", async (schedule) => {
    const plan = await engine.sptrsv(A, { schedule });
    const b = some(n);
    const values = fresh(A);
    const zero = values.slice();
    zero[A.values.indexOf(6)] = 0;
    const before = plan.solve(b);
    await expect(plan.update(zero)).rejects.toThrow("TriangularPlan.update: entry (0, 0) of A is 0");
    await expect(plan.update(values.slice(1))).rejects.toThrow("TriangularPlan.update: values has length");
    const after = plan.solve(b);
    same(await before, answer(A, A.values, b), "before");
    same(await after, answer(A, A.values, b), "after");
    await plan.free();
  });

  test("the matrix is copied: what becomes of it later does not matter", async () => {
    for (const schedule of SCHEDULES_AND_AUTO) {
      const [pointers, indices, values] = [A.pointers.slice(), A.indices.slice(), A.values.slice()];
      const making = engine.sptrsv(csr(n, n, pointers, indices, values), { schedule });
      values.fill(Number.NaN);
      const plan = await making;
      const b = some(n);
      const want = answer(A, A.values, b);
      const given = b.slice();
      const solving = plan.solve(given);
      given.fill(Number.NaN);
      same(await solving, want, schedule);
      await plan.free();
    }
  });

  test("out is written when the solve resolves and not before, and is what comes back", async () => {
    for (const schedule of SCHEDULES_AND_AUTO) {
      const plan = await engine.sptrsv(A, { schedule });
      const [b, out] = [some(n), new Float64Array(n).fill(7)];
      const want = answer(A, A.values, b);
      const solving = plan.solve(b, out);
      expect(out.every((v) => v === 7)).toBe(true);
      expect(await solving).toBe(out);
      same(out, want, schedule);
      const two = await Promise.all([plan.solve(b), plan.solve(b)]);
      expect(two[0]).not.toBe(two[1]);
      await plan.free();
    }
  });

  test("residents stand for the matrix, the values, b and out", async () => {
    for (const schedule of SCHEDULES_AND_AUTO) {
      const [b, values] = [some(n), fresh(A)];
      const kept = {
        A: await engine.upload(A),
        b: await engine.upload(b),
        values: await engine.upload(values),
        out: await engine.upload(new Float64Array(n)),
      };
      const plan = await engine.sptrsv(kept.A as Resident<Sparse<Float64Array>>, { schedule });
      same(await plan.solve(kept.b), answer(A, A.values, b), schedule);
      await plan.update(kept.values);
      expect(await plan.solve(kept.b, kept.out as never)).toBe(kept.out);
      same(await kept.out.read(), answer(A, values, b), schedule);
      same(await kept.b.read(), b, "b");
      const solving = plan.solve(b, kept.out as never);
      await expect(plan.solve(kept.out)).rejects.toThrow("TriangularPlan.solve: b is a resident that a pending call writes");
      await solving;
      await expect(plan.solve(kept.b, kept.b as never)).rejects.toThrow("TriangularPlan.solve: out shares entries with b");
      for (const resident of Object.values(kept)) resident.free();
      await expect(plan.solve(kept.b)).rejects.toThrow("TriangularPlan.solve: b is a resident that was freed");
      await plan.free();
    }
  });

  test("free while solves and updates are pending lets them end", async () => {
    for (const schedule of SCHEDULES_AND_AUTO) {
      const plan = await engine.sptrsv(A, { schedule });
      const [b, values] = [some(n), fresh(A)];
      const old = plan.solve(b);
      const updating = plan.update(values);
      const late = plan.solve(b);
      const freeing = plan.free();
      const refused = expect(plan.solve(b)).rejects.toThrow("the plan was freed");
      const other = await engine.sptrsv(laplacian(40, 40), { schedule }); // may take its memory
      await Promise.all([updating, freeing, refused]);
      same(await old, answer(A, A.values, b), schedule);
      same(await late, answer(A, values, b), schedule);
      await other.free();
    }
  });

  test("is refused when the engine is closed", async () => {
    const closing = await open(kind, { threads: 2 });
    const plan = await closing.sptrsv(A);
    await closing.close();
    const closed = expect.objectContaining({ name: "EngineError", message: expect.stringMatching(/: the engine is closed$/) });
    await expect(plan.solve(some(n))).rejects.toThrow(closed);
    await expect(plan.update(A.values)).rejects.toThrow(closed);
    await expect(closing.sptrsv(A)).rejects.toThrow(closed);
  });
});

describe("the memory of plans", () => {
  test("goes back to the pool, whatever was pending, replaced or refused", async () => {
    const { engine, pool } = await openMortal(3);
    const A = laplacian(30, 30);
    const zero = A.values.map(() => 0);
    for (const schedule of SCHEDULES_AND_AUTO) {
      for (const exact of [true, false]) {
        const plan = await engine.sptrsv(A, { schedule, exact });
        const pending = range(4).flatMap(() => [plan.solve(some(900)), plan.update(fresh(A))] as Promise<unknown>[]);
        await expect(plan.update(zero)).rejects.toThrow("is 0");
        const freeing = plan.free();
        await Promise.all([...pending, freeing]);
        expect(pool.arena.isEmpty(), `${schedule}, exact ${exact}`).toBe(true);
      }
      await expect(engine.sptrsv({ ...A, values: zero }, { schedule })).rejects.toThrow("sptrsv: entry (0, 0) of A is 0");
      expect(pool.arena.isEmpty(), schedule).toBe(true);
      // One solve pending on another plan, then a plan with updates only.
      const plan = await engine.sptrsv(A, { schedule });
      await plan.update(fresh(A));
      await plan.update(fresh(A));
      await plan.free();
      expect(pool.arena.isEmpty(), schedule).toBe(true);
    }
    await engine.close();
  });

  test("does not grow with updates during solves", async () => {
    const { engine, pool } = await openMortal(2);
    const A = laplacian(60, 60);
    const b = some(3600);
    const plan = await engine.sptrsv(A, { schedule: "levr" });
    const round = async (): Promise<void> => {
      const solving = plan.solve(b);
      await plan.update(fresh(A));
      await solving;
    };
    for (const _ of range(5)) await round();
    const size = pool.arena.buffer.byteLength;
    for (const _ of range(60)) await round();
    expect(pool.arena.buffer.byteLength).toBe(size);
    await plan.free();
    expect(pool.arena.isEmpty()).toBe(true);
    await engine.close();
  });

  const ones = (lines: readonly number[][]): Sparse => {
    const ends = [0];
    for (const line of lines) ends.push((ends.at(-1) as number) + line.length);
    return csr(
      lines.length,
      lines.length,
      Int32Array.from(ends),
      Int32Array.from(lines.flat()),
      new Float64Array(ends.at(-1) as number).fill(1),
    );
  };
  const triangleOf = ({ rows, indices, pointers }: Sparse): Sparse =>
    ones(range(rows).map((i) => Array.from(indices.subarray(pointers[i], pointers[i + 1])).filter((j) => j <= i)));
  const patternOf = (n: number, row: (k: number) => number[]): Sparse => ones(range(n).map((k) => [...row(k), k]));
  const FAMILIES: [string, () => Sparse][] = [
    ["5 points", () => laplacian(64, 64)],
    ["9 points", () => laplacian(16, 256, undefined, 9)],
    ["7 points", () => laplacian(16, 16, 16)],
    ["27 points", () => laplacian(4, 8, 128, 27)],
    ["the lower triangle of 5 points", () => triangleOf(laplacian(64, 64))],
    ["the lower triangle of 7 points", () => triangleOf(laplacian(16, 16, 16))],
    ["elasticity in the plane", () => elasticity(30, 30)],
    ["elasticity in space", () => elasticity(8, 8, 8)],
    ["powerLaw", () => powerLaw(4000, 12_000, 1)],
    ["the diagonal", () => patternOf(3000, () => [])],
    ["a chain", () => patternOf(3000, (k) => (k > 0 ? [k - 1] : []))],
    ["a dense triangle", () => patternOf(300, (k) => range(k))],
    ["an arrow", () => patternOf(3000, (k) => (k === 2999 ? range(k) : k > 0 ? [0] : []))],
  ];
  test.each(FAMILIES)("is at most three times the matrix: %s", async (_, make) => {
    const A = make();
    const checked = new Set<string>();
    for (const stored of [A, toCsc(A), { ...A, values: Float32Array.from(A.values) }])
      for (const {
        name,
        routines: { sptrsv: solver },
      } of [...ON_ONE_THREAD, ...POOLS.filter(({ threads }) => [2, 16].includes(threads))])
        for (const schedule of SCHEDULES_AND_AUTO)
          for (const exact of [true, false])
            for (const uplo of ["lower", "upper"] as const) {
              const plan = await solver(stored as Sparse<Real>, { schedule, exact, uplo });
              const matrix = stored.pointers.byteLength + stored.indices.byteLength + stored.values.byteLength;
              if (!(plan.bytes <= 3 * matrix && plan.bytes > 0))
                expect.fail(
                  `${schedule}, exact ${exact}, ${uplo}, ${stored.format} on ${name}: ${plan.bytes} for ${matrix}, ${plan.bytes / matrix} times`,
                );
              checked.add(schedule);
              await plan.free();
            }
    expect(checked.size).toBe(7);
  });

  // What a plan says it holds is what the pool has given away and not got back.
  test("is what it says", async () => {
    const { engine, pool } = await openMortal(2);
    const { arena } = pool;
    const held = new Map<number, number>();
    const [allocate, release] = [arena.allocate.bind(arena), arena.release.bind(arena)];
    arena.allocate = (bytes, ...rest) => {
      const at = allocate(bytes, ...rest);
      held.set(at, bytes);
      return at;
    };
    arena.release = (at) => {
      held.delete(at);
      return release(at);
    };
    for (const schedule of SCHEDULES)
      for (const exact of [true, false]) {
        const plan = await engine.sptrsv(laplacian(40, 40), { schedule, exact });
        const bytes = [...held.values()].reduce((sum, size) => sum + size, 0);
        expect(plan.bytes, `${schedule}, exact ${exact}`).toBe(bytes);
        await plan.free();
        expect(held.size).toBe(0);
      }
    await engine.close();
  });
});

describe("what a plan says of itself", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open("threads", { threads: 2 });
  });
  afterAll(() => engine.close());
  const byLevels = ["levr", "levc", "slfr", "slfc"] as const;

  test.each(byLevels)("levels of %s: the diagonals of a grid", async (schedule) => {
    const of = async (A: Sparse, part: Part = {}): Promise<number> => (await engine.sptrsv(A, { ...part, schedule })).levels;
    for (const [nx, ny, nz] of [
      [16, 16, 16],
      [33, 5, 3],
      [4, 8, 128],
      [1, 1, 7],
    ] as const)
      for (const part of [{}, { uplo: "upper" }, { trans: true }, { uplo: "upper", trans: true }] as const)
        for (const turned of [(A: Sparse) => A, toCsc]) {
          expect(await of(turned(laplacian(nx, ny, nz)), part)).toBe(nx + ny + nz - 2);
          expect(await of(turned(laplacian(nx, ny, nz, 27)), part)).toBe(boxLevels(nx, ny, nz));
          expect(await of(turned(laplacian(nx, ny)), part)).toBe(nx + ny - 1);
        }
    expect(await of(csr(0, 0, Int32Array.of(0), new Int32Array(0), new Float64Array(0)))).toBe(0);
    expect(await of(csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(0, 1), Float64Array.of(1, 1)))).toBe(1);
  });

  test("serial and gsf need none", async () => {
    for (const schedule of ["serial", "gsf"] as const) expect((await engine.sptrsv(laplacian(9, 9), { schedule })).levels).toBe(0);
  });

  test("the schedule that was asked for, or that auto chose, and why", async () => {
    const [large, chain] = [laplacian(128, 128, 8), laplacian(2000, 1)];
    for (const schedule of SCHEDULES) {
      const plan = await engine.sptrsv(laplacian(9, 9), { schedule });
      expect([plan.schedule, plan.reason]).toEqual([schedule, "asked for"]);
    }
    const auto = async (A: Sparse, expectedSolves?: number) => engine.sptrsv(A, { expectedSolves });
    const [wide, narrow, once] = [await auto(large, 1000), await auto(chain, 1000), await auto(large, 1)];
    expect(wide.schedule).not.toBe("serial");
    expect(narrow.schedule).toBe("serial");
    expect(once.schedule).toBe("serial");
    for (const plan of [wide, narrow, once]) expect(plan.reason).toMatch(/^[^\n]{8,160}$/);
    expect(new Set([wide.reason, narrow.reason, once.reason]).size).toBe(3);
    const alone = await open("threads", { threads: 1 });
    expect((await alone.sptrsv(large)).schedule).toBe("serial");
    await alone.close();
    expect((sptrsv as unknown as AnyRoutines["sptrsv"])(large, { schedule: "levr" })).toMatchObject({ schedule: "serial", levels: 0 });
  });
});

// With 27 points node (x, y, z) waits for (x + 1, y - 1, z) and (x + 1, y + 1, z - 1), where the grid has them: a step along each
// axis is twice as many levels as one along the axis before it.
function boxLevels(...sides: number[]): number {
  return sides.filter((side) => side > 1).reduce((sum, side, axis) => sum + 2 ** axis * (side - 1), 1);
}

test("synchronous plans take views, keep their inputs, and write to out", () => {
  const A = laplacian(20, 5);
  const wide = vectorOf("binary64", [Number.NaN, ...some(100), Number.NaN]) as Float64Array;
  const b = wide.subarray(1, 101);
  const before = wide.slice();
  for (const exact of [true, false]) {
    const plan = sptrsv(A, { exact });
    const want = exact ? exactly(A, b, {}, "binary64") : plainly(A, b, {}, "binary64");
    const out = new Float64Array(102).fill(7);
    expect(plan.solve(b, out.subarray(1, 101)).buffer).toBe(out.buffer);
    same(out.subarray(1, 101), want, "a view");
    expect([out[0], out[101]]).toEqual([7, 7]);
    same(plan.solve(b), want, "a new vector");
    plan.free();
  }
  expect(Buffer.from(wide.buffer).equals(Buffer.from(before.buffer))).toBe(true);
});

test("an update on this thread while a solve is pending, after memory was asked for elsewhere", async () => {
  const here = await open("wasm");
  const A = laplacian(8, 7, 6);
  const plan = await here.sptrsv(A);
  const other = await here.upload(new Float64Array(4_000_000));
  const b = some(A.rows);
  const [before, updating] = [plan.solve(b), plan.update(A.values.map((v) => 2 * v))];
  const after = plan.solve(b);
  await updating;
  same(await before, answer(A, A.values, b), "before");
  same(
    await after,
    answer(
      A,
      A.values.map((v) => 2 * v),
      b,
    ),
    "after",
  );
  expect((await other.read()).every((v) => v === 0)).toBe(true);
  other.free();
  await plan.free();
  await here.close();
});
