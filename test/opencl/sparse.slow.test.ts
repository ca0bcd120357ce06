// Sparse triangular solves on an OpenCL device: every schedule, in exact and in plain arithmetic, against the definition; the
// set-up phase on the device; and what happens when work-groups do not make progress.
import { afterAll, describe, expect, test } from "vitest";
import type { SparseOperand } from "../../src/arrays/operands.ts";
import { trusted } from "../../src/arrays/sparse.ts";
import type { Format, Real, Sparse } from "../../src/arrays/types.ts";
import { bufferOf, DeviceArray } from "../../src/engines/deviceArray.ts";
import { openDevice } from "../../src/engines/opencl/device/device.ts";
import { plan as planOn } from "../../src/engines/opencl/sparse/plan.ts";
import { levelsOn } from "../../src/engines/opencl/sparse/study.ts";
import type { Tuning } from "../../src/engines/opencl/sparse/tuning.ts";
import { runAsync, runSync } from "../../src/engines/steps.ts";
import { csc, csr, laplacian, powerLaw, type SparseOptions, sptrsv as sptrsvHere, toCsc } from "../../src/index.ts";
import { sptrsv } from "../../src/routines/sparse/sptrsv.ts";
import { levels, Random } from "../../src/study.ts";
import { caught } from "../caught.ts";
import { SEED } from "../effort.ts";
import { type AnyPlan, SCHEDULES } from "../engines.ts";
import { formatOf, pick, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { exactly, type Part, plainly } from "../oracles/sparse.ts";
import { caseOf, negative, same } from "../sparse/checks.ts";
import { fromDense, KINDS, nearTies, PATTERNS, type Storage, storage, stored, systemOn } from "../sparse/patterns.ts";

const device = await openDevice().catch(() => undefined);
afterAll(() => device?.close());

const here = (): NonNullable<typeof device> => device as NonNullable<typeof device>;
type SyncPlan = {
  [K in keyof Omit<AnyPlan, "solve">]: AnyPlan[K] extends (...args: infer P) => Promise<infer R> | infer _ ? (...args: P) => R : AnyPlan[K];
} & { solve(b: Real, out?: Real): Real };

/** A plan whose calls wait for the device. */
function planFor(A: SparseOperand, options: SparseOptions, tuned?: Partial<Tuning>): SyncPlan {
  const kernels = { plan: (...args: never[]) => runSync((planOn as (...args: unknown[]) => never)(here(), ...args, tuned)) };
  const run = (routine: never): unknown => runSync(routine, () => kernels as never);
  return run(sptrsv(A, options, run as never) as never) as SyncPlan;
}

const FORMATS: readonly Format[] = ["binary64", "binary32"];
const BY_ROWS = ["serial", "levr", "slfr", "gsf"] as const;
const onlyPart = ({ uplo, trans, unit }: Part): Part => ({ uplo, trans, unit });

describe.skipIf(!device)(`sparse solves on ${device?.name ?? "OpenCL: no device"}, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);

  const checkExactly = (A: Sparse<Real>, b: Real, how: Storage, label: string, tuned?: Partial<Tuning>): void => {
    const { want, both } = caseOf(A, b, how);
    for (const schedule of SCHEDULES) {
      const what = `${label}, n=${b.length} ${A.format} ${formatOf(b)} ${schedule} ${JSON.stringify(how)} ${JSON.stringify(tuned ?? {})}`;
      const plan = planFor(A, { ...onlyPart(how), schedule }, tuned);
      expect(plan.schedule).toBe(schedule);
      same(plan.solve(b as never), want, what);
      plan.update(negative(A.values) as never);
      const out = vectorOf(formatOf(b), new Array(b.length).fill(7));
      expect(plan.solve(negative(b) as never, out as never)).toBe(out);
      same(out, both, `${what}, both sides negated`);
      plan.free();
    }
  };
  const checkPlainly = (A: Sparse<Real>, b: Real, how: Storage, label: string, tuned?: Partial<Tuning>): void => {
    const turned = { ...A, values: negative(A.values) };
    for (const schedule of BY_ROWS) {
      const what = `${label}, n=${b.length} ${A.format} ${formatOf(b)} plain ${schedule} ${JSON.stringify(how)} ${JSON.stringify(tuned ?? {})}`;
      const plan = planFor(A, { ...onlyPart(how), schedule, exact: false }, tuned);
      same(plan.solve(b as never), plainly(A, b, how, formatOf(b)), what);
      plan.update(turned.values as never);
      same(plan.solve(b as never), plainly(turned, b, how, formatOf(b)), `${what}, updated`);
      plan.free();
    }
  };

  test.each(FORMATS)("small systems of every kind, exactly, %s", (format) => {
    for (const k of range(30)) {
      const how = storage(random);
      const n = pick(random, [1, 2, 5, 9, 20, 31, 32, 33, 65]);
      const system = systemOn(random, PATTERNS[pick(random, KINDS)](random, n), format, how.unit ?? false);
      const { A, b } = stored(random, system, how);
      checkExactly(A, b, how, `case ${k}`);
    }
  });

  test.each(FORMATS)("small systems of every kind, plainly, %s", (format) => {
    for (const k of range(40)) {
      const how = storage(random);
      const n = pick(random, [1, 2, 5, 9, 20, 31, 32, 33, 65]);
      const { A, b } = stored(random, systemOn(random, PATTERNS[pick(random, KINDS)](random, n), format, how.unit ?? false), how);
      checkPlainly(A, b, how, `case ${k}`);
    }
  });

  test.each(KINDS)("%s, of many rows", (kind) => {
    for (const format of FORMATS) {
      const how = storage(random);
      const n = kind === "dense" ? 150 : 1025;
      const { A, b } = stored(random, systemOn(random, PATTERNS[kind](random, n), format, how.unit ?? false, "tame"), how);
      checkPlainly(A, b, how, kind);
      if (n === 150 || format === "binary64") checkExactly(A, b, how, kind);
    }
  });

  test("near ties, and systems of the dense routines", () => {
    for (const format of FORMATS) {
      const how = storage(random);
      const ties = stored(random, nearTies(random, format, how.unit ?? false), how);
      checkExactly(ties.A, ties.b, how, "near ties");
      const plain = { ...how, unit: false };
      const dense = stored(random, fromDense(random, 24, format), plain);
      checkExactly(dense.A, dense.b, plain, "dense");
    }
  });

  test("ties of sums that are exact: whole numbers, and Laplacians as they are", () => {
    for (const format of FORMATS)
      for (const A of [laplacian(13, 12), laplacian(5, 6, 7), laplacian(5, 4, 6, 27)]) {
        const values = vectorOf(format, A.values);
        const n = A.rows;
        for (const few of [true, false]) {
          const b = vectorOf(
            format,
            Array.from({ length: n }, () => (few ? Math.round(256 * random.signed()) : random.signed())),
          );
          for (const uplo of ["lower", "upper"] as const)
            checkExactly({ ...A, values }, b, { uplo } as Storage, `Laplacian, few bits: ${few}`);
        }
      }
  });

  test("plain quotients, of any size", () => {
    const n = 4000;
    const identity = Int32Array.from({ length: n + 1 }, (_, i) => i);
    for (const format of FORMATS)
      for (const spread of format === "binary64" ? [0, 1, 100, 500, 1070] : [0, 1, 20, 120]) {
        const some = (): Real =>
          vectorOf(
            format,
            Array.from({ length: n }, () => random.signed() * 2 ** (spread * random.signed())),
          );
        const [values, b] = [some().map((v) => v || 1) as Real, some()];
        const A = csr(n, n, identity, identity.slice(0, n), values as never);
        checkPlainly(A, b, {} as Storage, `magnitudes 2^+-${spread}`);
      }
  });

  const TUNINGS: Partial<Tuning>[] = [
    { group: 1, groups: 3 },
    { group: 7, groups: 1, blockRows: 3 },
    { group: 32, groups: 4, window: 3, finder: "kahn", blockRows: 0 },
    { group: 64, window: 16, narrow: 0, skip: 3 },
    { group: 5, narrow: 1e9, blockRows: 1, setupGroup: 1 },
    { group: 32, groups: 2, long: true, window: 2 },
    { group: 5, groups: 3, long: true, setupGroup: 7 },
  ];
  test.each(TUNINGS)("started as %o", (tuned) => {
    for (const kind of ["grid", "one long row", "uneven levels"] as const) {
      const how = storage(random);
      const { A, b } = stored(random, systemOn(random, PATTERNS[kind](random, 130), "binary64", how.unit ?? false, "tame"), how);
      checkExactly(A, b, how, kind, tuned);
      checkPlainly(A, b, how, kind, tuned);
    }
  });

  test("columns: a solution of small integers is exact in any order", () => {
    for (const format of FORMATS)
      for (const k of range(4)) {
        const how = storage(random);
        const kind = pick(
          random,
          KINDS.filter((one) => one !== "dense"),
        );
        const { A, b } = stored(random, systemOn(random, PATTERNS[kind](random, 300), format, how.unit ?? false, "integers"), how);
        for (const limit of [undefined, 0])
          for (const schedule of ["levc", "slfc"] as const) {
            const plan = planFor(A, { ...onlyPart(how), exact: false, schedule }, limit === undefined ? {} : { limit });
            const want = plainly(A, b, how, format).map(Math.abs);
            same(vectorOf(format, Array.from(plan.solve(b as never), Math.abs)), want, `system ${k}, ${kind}, ${schedule}, limit ${limit}`);
            plan.free();
          }
      }
  });

  test("no unknowns", () => {
    const empty = csr(0, 0, Int32Array.of(0), new Int32Array(0), new Float64Array(0));
    for (const schedule of SCHEDULES)
      for (const exact of [true, false]) {
        const plan = planFor(empty, { schedule, exact });
        expect(plan.solve(new Float64Array(0))).toEqual(new Float64Array(0));
        expect(plan.levels).toBe(0);
        plan.update(new Float64Array(0));
        plan.free();
      }
  });

  test("where waiting is given up a level at a time is solved, the same bits", () => {
    for (const kind of ["grid", "chain", "scattered"] as const) {
      const how = storage(random);
      const { A, b } = stored(random, systemOn(random, PATTERNS[kind](random, 90), "binary64", how.unit ?? false, "tame"), how);
      checkExactly(A, b, how, kind, { limit: 0, narrow: 0, group: 8 });
      checkPlainly(A, b, how, kind, { limit: 0, narrow: 0, group: 8, finder: "kahn" });
    }
  });
});

describe.skipIf(!device)("a sparse matrix on the device", () => {
  const random = new Random(SEED);
  const up = (array: Real | Int32Array): DeviceArray => {
    const buffer = here().allocate("test", array.byteLength);
    here().write(buffer, array);
    return DeviceArray.like(array, array.length, buffer);
  };
  const there = (A: Sparse<Real>): SparseOperand =>
    trusted({ ...A, pointers: up(A.pointers), indices: up(A.indices), values: up(A.values) }, { ascends: false });
  const fetched = (x: DeviceArray): Real => {
    const copy = vectorOf(x.type as Format, new Array(x.length).fill(0));
    here().read(bufferOf(x), copy).now?.();
    return copy;
  };

  test("is analysed there: by rows and columns, both triangles, transposed, not sorted", () => {
    for (const k of range(12)) {
      const how = storage(random);
      const format = pick(random, FORMATS);
      const system = systemOn(random, PATTERNS[pick(random, KINDS)](random, 70), format, how.unit ?? false, "tame");
      const { A, b } = stored(random, system, how);
      const remote = there(A);
      const want = exactly(A, b, how, format);
      for (const schedule of SCHEDULES) {
        const plan = planFor(remote, { ...onlyPart(how), schedule });
        const x = up(vectorOf(format, new Array(b.length).fill(7)));
        expect(plan.solve(up(b) as never, x as never)).toBe(x);
        same(fetched(x), want, `case ${k}, ${schedule}`);
        plan.update(up(negative(A.values)) as never);
        same(plan.solve(negative(b) as never), caseOf(A, b, how).both, `case ${k}, ${schedule}, updated`);
        plan.free();
      }
    }
  });

  test("is refused for the first unknown without a diagonal, as one that is here", () => {
    const matrices: Sparse[] = [
      csr(4, 4, Int32Array.of(0, 1, 2, 3, 4), Int32Array.of(0, 0, 2, 1), Float64Array.of(1, 1, 1, 1)),
      csr(4, 4, Int32Array.of(0, 1, 2, 3, 5), Int32Array.of(0, 1, 2, 1, 3), Float64Array.of(1, 1, -0, 1, 0)),
      csc(3, 3, Int32Array.of(0, 2, 2, 3), Int32Array.of(0, 1, 2), Float64Array.of(1, 2, 0)),
    ];
    for (const A of matrices)
      for (const schedule of SCHEDULES)
        for (const uplo of ["lower", "upper"] as const) {
          const want = caught(() => sptrsvHere(A, { uplo })) as Error;
          for (const stored of [A, there(A)]) {
            const error = caught(() => planFor(stored, { uplo, schedule }));
            expect(error).toMatchObject({ name: "SingularError", message: want.message, index: (want as { index?: number }).index });
          }
        }
    const A = laplacian(4, 4);
    const zero = A.values.slice();
    zero[A.indices.indexOf(5, A.pointers[5])] = 0;
    for (const values of [zero, up(zero)])
      for (const schedule of SCHEDULES) {
        const plan = planFor(A, { schedule });
        const b = Float64Array.from({ length: 16 }, () => random.signed());
        expect(() => plan.update(values as never)).toThrow("TriangularPlan.update: entry (5, 5) of A is 0");
        same(plan.solve(b), exactly(A, b, {}, "binary64"), "as it was");
        plan.free();
      }
  });

  test("levels are those of the host", () => {
    for (const A of [laplacian(9, 7), laplacian(4, 5, 6, 27), powerLaw(500, 2000, 3)])
      for (const stored of [A, toCsc(A)])
        for (const uplo of ["lower", "upper"] as const)
          for (const finder of ["rows", "kahn"] as const) {
            expect(runSync(levelsOn(here(), stored, uplo, finder))).toEqual(levels(A, uplo, "rows"));
            for (const schedule of ["levr", "slfr", "levc", "slfc"] as const) {
              const plan = planFor(stored, { uplo, schedule, exact: false }, { finder });
              expect(plan.levels, `${schedule} ${finder}`).toBe(levels(A, uplo, "rows").ilev.length - 1);
              plan.free();
            }
          }
    const auto = planFor(laplacian(5, 5), {});
    expect([auto.schedule, auto.levels]).toEqual(["slfr", 9]);
    expect(planFor(laplacian(5, 5), { expectedSolves: 1 })).toMatchObject({ schedule: "gsf", levels: 0 });
  });

  test("solves that are pending see the values of their call", async () => {
    const A = laplacian(13, 7);
    const b = Float64Array.from({ length: 91 }, () => random.signed());
    const kernels = { plan: (...args: never[]) => runAsync((planOn as (...args: unknown[]) => never)(here(), ...args)) };
    const run = (routine: never): unknown => runAsync(routine, () => kernels as never);
    for (const schedule of SCHEDULES) {
      const plan = (await run(sptrsv(A, { schedule }, run as never) as never)) as AnyPlan;
      const all = range(4).map((k) => A.values.map((v) => v * (1 + k / 8)));
      const pending = all.map((values) => {
        const updating = plan.update(values as never);
        return Promise.all([updating, plan.solve(b as never), plan.solve(b as never)]);
      });
      const freeing = plan.free();
      for (const [k, solving] of pending.entries()) {
        const [, one, two] = await solving;
        const want = exactly({ ...A, values: all[k] as Float64Array }, b, {}, "binary64");
        same(one as Real, want, `${schedule}, values ${k}`);
        same(two as Real, want, `${schedule}, values ${k} again`);
      }
      await freeing;
    }
  });
});
