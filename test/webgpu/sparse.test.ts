// Sparse products and triangular solves on the device, small ones too, which open("webgpu") computes on the calling thread: against the
// oracles, and against the functions.
import { afterAll, describe, expect, test } from "vitest";
import { openDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { csr, exspmv, laplacian, powerLaw, type Real, type Sparse, sptrsv } from "../../src/index.ts";
import { engineOf, Random } from "../../src/study.ts";
import { cases, SEED } from "../effort.ts";
import type { AnyRoutines, Row } from "../engines.ts";
import { formatOf, pick } from "../matrices.ts";
import type { Part } from "../oracles/sparse.ts";
import { spmv } from "../oracles/spmv.ts";
import { caseOf, check, same } from "../sparse/checks.ts";
import { anySparse, KINDS, nearTies, PATTERNS, productWith, type Storage, storage, stored, systemOn } from "../sparse/patterns.ts";

const found = await findAdapter().then(openDevice, (error: Error) => error.message);
const device = typeof found === "string" ? undefined : found;
const missing = typeof found === "string" ? found : undefined;
const engine = device && engineOf(backendOn(device, { minEntries: 0 }));
const routines = engine as unknown as AnyRoutines;
const row = { name: "webgpu", kind: "webgpu", threads: 0, hasSchedules: false, routines } as Row;
afterAll(() => engine?.close());

const partOf = ({ uplo, trans, unit }: Storage): Part => ({ uplo, trans, unit });
const FORMATS = ["binary64", "binary32"] as const;

describe.skipIf(missing)(`sparse products on WebGPU, HALFULP_SEED=${SEED}${missing ? ` (${missing})` : ""}`, () => {
  const random = new Random(SEED);

  test("of matrices of every kind are those of the oracle", async () => {
    for (let k = 0; k < cases(600, 60); k++) {
      const format = FORMATS[k % 2] as (typeof FORMATS)[number];
      const of = productWith(random, anySparse(random, random.below(30), random.below(40), format));
      const { A, trans, alpha, x, beta, y } = of;
      const want = spmv(alpha, A, x, beta, y, trans, format);
      const label = `case ${k}: ${A.format} trans ${trans} alpha ${alpha} beta ${beta}`;
      same((await routines.exspmv(alpha, A, x, beta, y.slice(), { trans })) as Real, want, label);
    }
  });

  test("in pieces that fit a binding", async () => {
    const A = powerLaw(500, 4000, 3);
    const [x, y] = [A.values.slice(0, 500), A.values.slice(500, 1000)];
    const limit = device?.maxBindingBytes;
    try {
      for (const bytes of [16_384, 20_480]) {
        Object.assign(device as object, { maxBindingBytes: bytes });
        const got = (await routines.exspmv(-3, A, x, 0.1, y.slice())) as Real;
        same(got, exspmv(-3, A, x, 0.1, y.slice()), `${bytes} bytes`);
      }
      const long = csr(
        1,
        4000,
        Int32Array.of(0, 4000),
        Int32Array.from({ length: 4000 }, (_, j) => j),
        new Float64Array(4000).fill(0.1),
      );
      const ones = new Float64Array(4000).fill(1);
      same(
        (await routines.exspmv(1, long, ones, 0, new Float64Array(1))) as Real,
        exspmv(1, long, ones, 0, new Float64Array(1)),
        "one row",
      );
    } finally {
      Object.assign(device as object, { maxBindingBytes: limit });
    }
  });

  test("of residents, whose transpose is made once", async () => {
    if (!engine) return;
    const A = laplacian(9, 8);
    const kept = { A: await engine.upload(A), x: await engine.upload(A.values.slice(0, 72)), y: await engine.upload(new Float64Array(72)) };
    for (const trans of [false, true, true]) {
      await engine.exspmv(0.1, kept.A, kept.x, 0, kept.y, { trans });
      same(await kept.y.read(), exspmv(0.1, A, A.values.slice(0, 72), 0, new Float64Array(72), { trans }), `trans ${trans}`);
    }
    for (const each of Object.values(kept)) each.free();
  });
});

describe.skipIf(missing)(`sparse solves on WebGPU, HALFULP_SEED=${SEED}${missing ? ` (${missing})` : ""}`, () => {
  const random = new Random(SEED);

  test("of systems of every kind are those of the oracle", async () => {
    for (let k = 0; k < cases(200, 24); k++) {
      const format = FORMATS[k % 2] as (typeof FORMATS)[number];
      const how = storage(random);
      const kind = KINDS[k % KINDS.length] as (typeof KINDS)[number];
      const n = pick(random, [1, 2, 15, 16, 17, 40]);
      const { A, b } = stored(random, systemOn(random, PATTERNS[kind](random, n), format, how.unit ?? false), how);
      await check(row, caseOf(A, b, partOf(how)), {}, `case ${k}, ${kind}`);
    }
  });

  test("next to ties", async () => {
    for (const format of FORMATS)
      for (const unit of [false, true]) {
        const how = storage(random, unit);
        const { A, b } = stored(random, nearTies(random, format, unit), how);
        await check(row, caseOf(A, b, partOf(how)), {}, `near ties, ${formatOf(b)}, unit ${unit}`);
      }
  });

  test("a tie, and a product far below every window that decides it", async () => {
    const [U, TINY] = [2 ** -53, Number.MIN_VALUE];
    for (const [sign, want] of [
      [1, 1 + 2 * U],
      [-1, 1],
      [0, 1],
    ] as const) {
      const values = Float64Array.of(1, 1, 1, -1, -U, -sign * TINY, 1);
      const A = csr(4, 4, Int32Array.of(0, 1, 2, 3, 7), Int32Array.of(0, 1, 2, 0, 1, 2, 3), values);
      const plan = await routines.sptrsv(A);
      same((await plan.solve(Float64Array.of(1, 1, TINY, 0))) as Real, [1, 1, TINY, want], `sign ${sign}`);
    }
  });

  test("go by levels, wide and narrow, for vectors, matrices and residents", async () => {
    if (!engine) return;
    for (const A of [laplacian(40, 3), powerLaw(300, 2000, 5)] as Sparse[]) {
      const here = sptrsv(A);
      const plan = await engine.sptrsv(await engine.upload(A), { schedule: "slfc" });
      expect([plan.schedule, plan.levels > 0, plan.reason]).toEqual([
        "levr",
        true,
        "on WebGPU no work-group waits for another: all schedules run level by level",
      ]);
      const B = {
        data: Float64Array.from({ length: 3 * A.rows }, () => random.signed()),
        rows: A.rows,
        cols: 3,
        order: "row",
        ld: 3,
        offset: 0,
      } as const;
      same((await plan.solve(B)).data, here.solve(B).data, "three right-hand sides");
      const b = await engine.upload(B.data.subarray(0, A.rows));
      const out = await engine.upload(new Float64Array(A.rows));
      await plan.solve(b, out);
      same(await out.read(), here.solve(B.data.subarray(0, A.rows)), "residents");
      await plan.free();
    }
  });

  test("refuse a zero and a gap on the diagonal, the first of them", async () => {
    const A = csr(3, 3, Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 0, 2), Float64Array.of(1, 2, 0));
    await expect(routines.sptrsv(A)).rejects.toThrow("sptrsv: A has no entry (1, 1), expected a diagonal without gaps or unit: true");
    const B = csr(3, 3, Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 1, 2), Float64Array.of(1, 0, 0));
    await expect(routines.sptrsv(B)).rejects.toThrow("sptrsv: entry (1, 1) of A is 0, expected a diagonal without zeros");
    const plan = await routines.sptrsv({ ...B, values: Float64Array.of(1, 2, 4) });
    await expect(plan.update(Float64Array.of(1, 1, 0))).rejects.toThrow("TriangularPlan.update: entry (2, 2) of A is 0");
    same((await plan.solve(Float64Array.of(1, 1, 1))) as Real, [1, 0.5, 0.25], "unchanged");
  });

  test("in plain arithmetic, and of small systems of an engine as it is opened, run on the calling thread", async () => {
    if (!device || !engine) return;
    const A = laplacian(9, 9);
    const plain = await engine.sptrsv(A, { exact: false });
    expect([plain.schedule, plain.levels, plain.reason]).toEqual(["serial", 0, "plain arithmetic: on the calling thread"]);
    const b = new Float64Array(81).fill(0.1);
    same(await plain.solve(b), sptrsv(A, { exact: false }).solve(b), "plain");
    const small = await engineOf(backendOn(device)).sptrsv(A);
    expect(small.reason).toBe("a triangle too small for the device: on the calling thread");
    same(await small.solve(b), sptrsv(A).solve(b), "small");
  });
});
