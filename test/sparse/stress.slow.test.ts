// Forward progress: many callers on more threads than cores, and every schedule again and again on the grids of the sparse
// paper. HALFULP_LONG=1: 100 times on grids of a million unknowns, otherwise a few times on small ones.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sparse } from "../../src/arrays/types.ts";
import { csr, laplacian, powerLaw, sptrsv } from "../../src/index.ts";
import { type Engine, engineOf, openThreads, Random } from "../../src/study.ts";
import { LONG, SEED } from "../effort.ts";
import { SCHEDULES, SCHEDULES_AND_AUTO } from "../engines.ts";
import { range } from "../oracles/matrices.ts";
import { exactly } from "../oracles/sparse.ts";
import { same } from "./checks.ts";
import { PATTERNS, stored, systemOn, triangleOf } from "./patterns.ts";

const random = new Random(SEED);
const some = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());

const pools = new Map<number, Engine>();
beforeAll(async () => {
  for (const threads of [2, 16, 40]) pools.set(threads, engineOf(await openThreads(threads)));
});
afterAll(() => Promise.all([...pools.values()].map((engine) => engine.close())));
const pool = (threads: number): Engine => pools.get(threads) as Engine;

describe(`many callers, HALFULP_SEED=${SEED}`, () => {
  test.each([16, 40])("thousands of small solves on %i threads, by every schedule", async (threads) => {
    const each = LONG ? 1000 : threads === 16 ? 40 : 20;
    const callers = ["chain", "wide levels", "grid", "scattered", "one long row", "diagonal"].flatMap((kind) =>
      SCHEDULES.map((schedule) => [kind as keyof typeof PATTERNS, schedule] as const),
    );
    const solved = await Promise.all(
      callers.map(async ([kind, schedule]) => {
        const system = systemOn(random, PATTERNS[kind](random, 40 + random.below(400)), "binary64", false, "tame");
        const { A, b } = stored(random, system, { by: "csr", sorted: false, full: false });
        const want = exactly(A, b, {}, "binary64");
        const plan = await pool(threads).sptrsv(A as Sparse, { schedule });
        for (const _ of range(each)) same(await plan.solve(b as Float64Array), want, `${kind}, ${schedule}, ${threads} threads`);
        await plan.free();
        return each;
      }),
    );
    expect(solved).toHaveLength(36);
  });

  // Every column of the first level subtracts from one unknown: none of it may get lost.
  test.each([2, 16])("columns that all meet in one row, %i threads", async (threads) => {
    const n = 50_000; // enough that all workers are at it at once
    const pointers = Int32Array.from(range(n + 1), (i) => (i < n ? i : 2 * n - 1));
    const indices = Int32Array.from([...range(n - 1), ...range(n)]);
    for (const type of [Float64Array, Float32Array]) {
      const A = csr(n, n, pointers, indices, new type(2 * n - 1).fill(1) as Float64Array);
      const b = new type(n).map((_, i) => (i < n - 1 ? 1 + (i % 3) : 0)) as Float64Array;
      const total = b.reduce((s, v) => s + v, 0);
      for (const schedule of ["levc", "slfc"] as const) {
        const plan = await pool(threads).sptrsv(A, { schedule, exact: false });
        for (const k of range(LONG ? 1000 : 30))
          if ((await plan.solve(b))[n - 1] !== -total) expect.fail(`${schedule}, solve ${k}: something is lost`);
        await plan.free();
      }
    }
  });
});

describe(`rows that need those just before them, HALFULP_SEED=${SEED}`, () => {
  // Large enough that all workers are awake long before the end, and none may begin a row too early. Rows do not need the one
  // before them, so that runs are short, and begin anywhere in a block of 32.
  const n = 40_000;
  const before: Record<string, (k: number) => number[]> = {
    "a few of the last 40": (k) => [2 + random.below(38), 2 + random.below(38), 2 + random.below(38)].map((d) => k - d),
    "the lines of a grid that drift": (k) => (k % 37 === 0 ? [k - 41] : [k - 1, k - 37 - (k % 3)]),
    "some near, some far": (k) => [k - 2 - random.below(60), random.below(Math.max(k, 1)), k - 33],
  };

  test.each(Object.keys(before))("%s", async (name) => {
    const rowOf = before[name] as (k: number) => number[];
    const pattern = range(n).map((k) => [...new Set(rowOf(k))].filter((j) => j >= 0 && j < k).sort((a, b) => a - b));
    const values = pattern.map((row) => row.map(() => random.signed() / 4));
    const system = { pattern, values, diagonal: pattern.map(() => 1 + random.below(7)), b: [...some(n)], format: "binary64" } as const;
    for (const uplo of ["lower", "upper"] as const) {
      const { A, b } = stored(random, system, { by: "csr", uplo, sorted: true, full: false }) as { A: Sparse; b: Float64Array };
      for (const exact of [true, false]) {
        const want = sptrsv(A, { uplo, exact }).solve(b);
        for (const threads of [2, 16])
          for (const schedule of exact ? SCHEDULES : (["levr", "slfr", "gsf"] as const)) {
            const plan = await pool(threads).sptrsv(A, { uplo, exact, schedule });
            for (const k of range(LONG ? 100 : 4))
              same(await plan.solve(b), want, `${schedule}, ${uplo}, exact ${exact}, ${threads} threads, solve ${k}`);
            await plan.free();
          }
      }
    }
  });
});

describe(`blocks of every size, HALFULP_SEED=${SEED}`, () => {
  // The sides are odd, so that blocks begin in the middle of lines. Everything stays in the memory of the pool, where the workers copy b
  // and x themselves. Blocks of 32 rows (the plane), of whole lines and of several.
  const GRIDS: [string, () => Sparse][] = [
    ["331 by 173", () => laplacian(331, 173)],
    ["331 by 97, 9 points", () => laplacian(331, 97, undefined, 9)],
    ["37 by 41 by 43", () => laplacian(37, 41, 43)],
    ["61 by 29 by 31, 27 points", () => laplacian(61, 29, 31, 27)],
    ["a chain", () => laplacian(50_001, 1)],
    ["scattered", () => powerLaw(30_000, 90_000, SEED)],
  ];

  test.each(GRIDS)("%s, on 2, 16 and 40 threads, in both precisions", async (_, make) => {
    const wide = make();
    for (const type of [Float64Array, Float32Array]) {
      const A = csr(wide.rows, wide.rows, wide.pointers, wide.indices, type.from(wide.values) as Float64Array);
      const b = type.from(some(A.rows)) as Float64Array;
      for (const uplo of ["lower", "upper"] as const)
        for (const exact of [true, false]) {
          const want = sptrsv(A, { uplo, exact }).solve(b);
          for (const [threads, engine] of pools) {
            const [right, out] = [await engine.upload(b), await engine.upload(new type(A.rows) as Float64Array)];
            for (const schedule of exact ? SCHEDULES_AND_AUTO : (["auto", "slfr", "levr", "gsf"] as const)) {
              const plan = await engine.sptrsv(A, { uplo, exact, schedule });
              for (const k of range(LONG ? 100 : 2)) {
                await plan.solve(right, out);
                same(await out.read(), want, `${schedule}, ${uplo}, exact ${exact}, ${threads} threads, solve ${k}`);
              }
              await plan.free();
            }
            same(await right.read(), b, "b");
            right.free();
            out.free();
          }
        }
    }
  });
});

describe(`again and again, HALFULP_SEED=${SEED}`, () => {
  // Its Table 5.1; in the ordinary run each side is divided by 8 in the plane, by 4 in space.
  const PLANE = [
    [1024, 1024],
    [512, 2048],
    [256, 4096],
    [128, 8192],
    [64, 16384],
  ] as const;
  const SPACE = [
    [128, 128, 128],
    [64, 128, 256],
    [64, 64, 512],
    [32, 64, 1024],
    [32, 32, 2048],
  ] as const;
  const scaled = (side: number, by: number): number => (LONG ? side : side / by);
  const GRIDS = [
    ...PLANE.flatMap(([nx, ny]) => ([5, 9] as const).map((points) => [scaled(nx, 8), scaled(ny, 8), 1, points] as const)),
    ...SPACE.flatMap(([nx, ny, nz]) => ([7, 27] as const).map((points) => [scaled(nx, 4), scaled(ny, 4), scaled(nz, 4), points] as const)),
  ];
  const times = LONG ? 100 : 3;

  test.each(GRIDS)(`%i by %i by %i, %i points, ${times} times by every schedule: no hang, no difference`, async (nx, ny, nz, points) => {
    const A = laplacian(nx, ny, points === 5 || points === 9 ? undefined : nz, points);
    const b = some(A.rows);
    const want = sptrsv(A).solve(b);
    const loop = sptrsv(A, { exact: false }).solve(b);
    const L = triangleOf(A, false); // of this gsf has no indices
    for (const threads of LONG ? [2] : [2, 16])
      for (const [schedule, matrix] of [...SCHEDULES_AND_AUTO.map((schedule) => [schedule, A] as const), ["gsf", L] as const])
        for (const exact of threads === 2 ? [true, false] : [true]) {
          const plan = await pool(threads).sptrsv(matrix, { schedule, exact });
          const out = new Float64Array(A.rows);
          for (const k of range(times)) {
            await plan.solve(b, out);
            if (exact) same(out, want, `${schedule}, ${threads} threads, solve ${k}`);
            // Two orders of addition in a matrix whose rows are dominated by the diagonal differ by a few units in the last place.
            else if (schedule === "levc" || schedule === "slfc") close(out, loop, `${schedule}, ${threads} threads, solve ${k}`);
            else same(out, loop, `plain ${schedule}, ${threads} threads, solve ${k}`);
          }
          await plan.free();
        }
  });
});

function close(got: Float64Array, want: Float64Array, label: string): void {
  const most = want.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  for (let i = 0; i < got.length; i++)
    if (!(Math.abs((got[i] as number) - (want[i] as number)) <= 1e-13 * most))
      expect.fail(`${label}: unknown ${i} is ${got[i]}, expected about ${want[i]}`);
}
