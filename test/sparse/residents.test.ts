// Plans of a matrix that is resident on a pool: they use it where it is, whatever becomes of its resident and of other plans.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sparse } from "../../src/arrays/types.ts";
import { csr, type Engine, laplacian, open, type Resident, SingularError, toCsc } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { SCHEDULES } from "../engines.ts";
import { exactly, type Part } from "../oracles/sparse.ts";
import { same } from "./checks.ts";
import { triangleOf } from "./patterns.ts";

const random = new Random(SEED);
const some = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());

let engine: Engine;
beforeAll(async () => {
  engine = await open("threads", { threads: 3 });
});
afterAll(() => engine.close());

const whole = laplacian(19, 8, 5);
const n = whole.rows;
const MATRICES: Record<string, { A: Sparse<Float64Array>; part: Part }> = {
  "a lower triangle": { A: triangleOf(whole, false), part: {} },
  "a lower triangle by columns": { A: toCsc(triangleOf(whole, false)), part: {} },
  "an upper triangle": { A: triangleOf(whole, true), part: { uplo: "upper" } },
  "an upper triangle, transposed": { A: triangleOf(whole, true), part: { uplo: "upper", trans: true } },
  "ones on the diagonal": { A: triangleOf(whole, false), part: { unit: true } },
  "all of a matrix": { A: whole, part: {} },
  "all of a matrix, upper": { A: whole, part: { uplo: "upper" } },
};

for (const [name, { A, part }] of Object.entries(MATRICES))
  test.each(["auto", ...SCHEDULES] as const)(`${name}, %s: the same bits, before and after its resident was freed`, async (schedule) => {
    const kept = (await engine.upload(A)) as Resident<Sparse<Float64Array>>;
    const plan = await engine.sptrsv(kept, { ...part, schedule });
    const b = some(n);
    const expected = exactly(A, b, part, "binary64");
    same(await plan.solve(b), expected, "before");
    kept.free();
    // Memory that was given back would be used for these.
    const others = await Promise.all([1, 2, 3].map(() => engine.upload(new Float64Array(2 * A.values.length).fill(7))));
    same(await plan.solve(b), expected, "after");
    const values = A.values.map((v) => -3 * v);
    await plan.update(values);
    same(await plan.solve(b), exactly({ ...A, values }, b, part, "binary64"), "updated");
    expect(plan.levels).toBe((await engine.sptrsv(A, { ...part, schedule })).levels);
    for (const other of others) other.free();
    await plan.free();
    await expect(engine.sptrsv(kept)).rejects.toThrow("sptrsv: A is a resident that was freed");
  });

test("new values are the plan's own: neither the resident nor another plan has them", async () => {
  const { A } = MATRICES["a lower triangle"] as (typeof MATRICES)[string];
  const kept = (await engine.upload(A)) as Resident<Sparse<Float64Array>>;
  const [plan, other] = [await engine.sptrsv(kept, { schedule: "gsf" }), await engine.sptrsv(kept, { schedule: "gsf" })];
  const b = some(n);
  const values = A.values.map((v) => 3 * v);
  for (let k = 0; k < 3; k++) {
    const scaled = values.map((v) => v * 2 ** k);
    const pending = k === 0 ? undefined : plan.solve(b);
    await plan.update(scaled);
    same(await plan.solve(b), exactly({ ...A, values: scaled }, b, {}, "binary64"), "updated");
    if (pending) same(await pending, exactly({ ...A, values: scaled.map((v) => v / 2) }, b, {}, "binary64"), "before");
  }
  same(await other.solve(b), exactly(A, b, {}, "binary64"), "the other plan");
  same((await kept.read()).values, Array.from(A.values), "the resident");
  kept.free();
  await plan.free();
  await other.free();
});

test("its memory goes with the last of resident and plans, also where there is no plan", async () => {
  const order = 2_000_000;
  const diagonal = (zero: number): Sparse<Float64Array> =>
    csr(
      order,
      order,
      Int32Array.from({ length: order + 1 }, (_, i) => i),
      Int32Array.from({ length: order }, (_, i) => i),
      Float64Array.from({ length: order }, (_, i) => (i === zero ? 0 : 2)),
    );
  const [good, bad] = [diagonal(-1), diagonal(777)];
  // 40 MB each time, and half of them would not fit in 4 GiB.
  for (let k = 0; k < 240; k++) {
    const kept = (await engine.upload(k % 2 === 0 ? good : bad)) as Resident<Sparse<Float64Array>>;
    if (k % 2 === 0) {
      const plan = await engine.sptrsv(kept, { schedule: "gsf" });
      expect(plan.bytes).toBeLessThan(13 * order);
      if (k % 4 === 0) kept.free();
      await plan.free();
      if (k % 4 !== 0) kept.free();
    } else {
      await expect(engine.sptrsv(kept, { schedule: "gsf" })).rejects.toThrow(SingularError);
      kept.free();
    }
  }
});

test("levels of a plan that was freed are known if they were asked for before", async () => {
  const kept = (await engine.upload(triangleOf(laplacian(64, 32, 32), false))) as Resident<Sparse<Float64Array>>;
  const [asked, never] = [await engine.sptrsv(kept, { schedule: "slfr" }), await engine.sptrsv(kept, { schedule: "slfr" })];
  expect(asked.levels).toBe(64 + 32 + 32 - 2);
  await asked.free();
  await never.free();
  expect(asked.levels).toBe(64 + 32 + 32 - 2);
  expect(() => never.levels).toThrow("TriangularPlan.levels: the plan was freed");
  const updated = await engine.sptrsv(kept, { schedule: "slfr" });
  await updated.update((await kept.read()).values);
  await updated.free();
  expect(() => updated.levels).toThrow("TriangularPlan.levels: the plan was freed");
  kept.free();
});
