// The factorizations on a device, each by itself, against the reference: factors, pivots, zero pivots and overflows, to the bit.

import { afterAll, describe, expect, test } from "vitest";
import type { Format, Real } from "../../src/arrays/types.ts";
import { upload } from "../../src/engines/deviceMemory.ts";
import { inScope } from "../../src/engines/deviceScope.ts";
import { firstNotFinite, lu } from "../../src/engines/opencl/dense/lu.ts";
import { luBatchOf } from "../../src/engines/opencl/dense/luBatch.ts";
import { luBlockedBy } from "../../src/engines/opencl/dense/luBlocked.ts";
import type { Factorization } from "../../src/engines/opencl/dense/luCommon.ts";
import { luUnblocked } from "../../src/engines/opencl/dense/luUnblocked.ts";
import { openDevice } from "../../src/engines/opencl/device/device.ts";
import { runSync } from "../../src/engines/steps.ts";
import { illConditionedMatrix } from "../../src/index.ts";
import { type Kernels, kernels, Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { storedBits } from "../hex.ts";
import { factorable, numbers, pick, vectorOf } from "../matrices.ts";

const device = await openDevice().catch(() => undefined);
const embedded = kernels("embedded") as Kernels;

const WAYS: Record<string, Factorization> = {
  "a matrix per work-group": luBatchOf(),
  "a matrix per work-item": luBatchOf(1),
  unblocked: luUnblocked,
  blocked: luBlockedBy(),
  "blocked, products by residues": luBlockedBy({ residues: true }),
  "blocked, products by residues, rows beside columns": luBlockedBy({ residues: true, ahead: true }),
  "blocked by 32, in parts": luBlockedBy({ width: 32, group: 128, groups: 64, shortest: 16 }),
  // with one group, or two that run at the same time; and where they do not
  "blocked, columns in one launch": luBlockedBy({ width: 32, group: 128, resident: true, spins: 1 << 16 }),
  "blocked, waiting in vain": luBlockedBy({ width: 32, group: 128, resident: true, spins: 0 }),
  "blocked, rows beside columns": luBlockedBy({ width: 32, ahead: true }),
  "blocked, rows beside columns, waiting in vain": luBlockedBy({ width: 32, group: 128, resident: true, spins: 0, ahead: true }),
};

interface Result {
  readonly overflow: number;
  readonly info: readonly number[];
  readonly pivots: readonly number[];
  readonly factors: readonly string[];
}

// Where a matrix is singular its factors and pivots say nothing.
function result(overflow: number, data: Real, size: number, pivots: Int32Array, info: Int32Array): Result {
  if (overflow >= 0) return { overflow, info: [], pivots: [], factors: [] };
  const steps = pivots.length / info.length;
  const done = (k: number) => info[k] === 0;
  return {
    overflow,
    info: Array.from(info),
    pivots: Array.from(pivots).filter((_, e) => done(Math.floor(e / steps))),
    factors: storedBits(data).filter((_, e) => done(Math.floor(e / size))),
  };
}

function expected(data: Real, rows: number, cols: number, count: number): Result {
  const [copy, pivots, info] = [data.slice(), new Int32Array(Math.min(rows, cols) * count), new Int32Array(count)];
  return result(runSync(embedded.lu(copy, rows, cols, count, pivots, info)), copy, rows * cols, pivots, info);
}

function got(factor: Factorization, data: Real, rows: number, cols: number, count: number): Result {
  const [copy, pivots, info] = [data.slice(), new Int32Array(Math.min(rows, cols) * count), new Int32Array(count)];
  if (!device) throw new Error("no device");
  const overflow = runSync(inScope(device, "exlu", (scope) => lu(scope, copy, rows, cols, count, pivots, info, factor)));
  return result(overflow, copy, rows * cols, pivots, info);
}

function same(data: Real, rows: number, cols: number, count: number, what: string, ways = Object.keys(WAYS)): void {
  const want = expected(data, rows, cols, count);
  for (const way of ways) {
    const have = got(WAYS[way] as Factorization, data, rows, cols, count);
    const label = `${what}, ${rows} by ${cols}, ${count} of them, ${way}, HALFULP_SEED=${SEED}`;
    expect({ overflow: have.overflow, info: have.info }, label).toEqual({ overflow: want.overflow, info: want.info });
    expect(have.pivots, label).toEqual(want.pivots);
    const at = have.factors.findIndex((bits, e) => bits !== want.factors[e]);
    if (at >= 0) expect.fail(`${label}: entry (${Math.floor(at / cols)}, ${at % cols}) is ${have.factors[at]}, not ${want.factors[at]}`);
  }
}

afterAll(() => device?.close());

describe.skipIf(!device)(`lu on a device${device ? "" : " (no OpenCL device on this machine)"}`, () => {
  test("random matrices of every kind, small", () => {
    for (let k = 0; k < 150; k++) {
      const random = new Random(SEED + k);
      const format: Format = k % 3 === 0 ? "binary32" : "binary64";
      const [rows, cols] = [1 + random.below(20), 1 + random.below(20)];
      const A = factorable(random, rows, cols, format);
      same(A.values, rows, cols, 1, `case ${k}`);
    }
  });

  const SHAPES = [
    [31, 31],
    [32, 32],
    [33, 33],
    [63, 64],
    [64, 63],
    [65, 65],
    [100, 40],
    [40, 100],
    [130, 129],
    [1, 70],
    [70, 1],
    [200, 70],
  ] as const; // prettier-ignore
  test.each(SHAPES)("around the blocks, %i by %i", (rows, cols) => {
    const random = new Random(SEED);
    for (const format of ["binary64", "binary32"] as const) {
      same(numbers(random, rows * cols, format, "narrow"), rows, cols, 1, `${format} narrow`);
      const integers = vectorOf(
        format,
        Array.from({ length: rows * cols }, () => random.below(7) - 3),
      );
      same(integers, rows, cols, 1, `${format} integers`);
      same(factorable(random, rows, cols, format).values, rows, cols, 1, `${format} factorable`);
    }
  });

  const LARGE = Object.keys(WAYS).filter((way) => way.startsWith("blocked"));
  test("of random bits, integers, few entries, and with rows alike, 160 by 160", () => {
    const random = new Random(SEED + 1);
    const n = 160;
    for (const kind of ["wide", "ties", "zeros", "subnormal", "cancelling"] as const)
      same(numbers(random, n * n, "binary64", kind), n, n, 1, kind, LARGE);
    const sparse = Float64Array.from({ length: n * n }, (_, e) =>
      e % (n + 1) === 0 ? 4 : random.below(20) === 0 ? random.signed() * 2 ** pick(random, [0, -500, 3]) : 0,
    );
    same(sparse, n, n, 1, "few entries", LARGE);
    const tiny = Float64Array.from({ length: n * n }, () => (random.below(3) ? 0 : random.signed() * 2 ** -(400 + random.below(200))));
    same(tiny, n, n, 1, "tiny ones", LARGE);
    const alike = Float64Array.from({ length: n * n }, () => random.signed());
    for (let j = 0; j < n; j++) alike[90 * n + j] = (alike[20 * n + j] as number) / 3;
    same(alike, n, n, 1, "alike", LARGE);
    for (let j = 0; j < n; j++) alike[90 * n + j] = alike[20 * n + j] as number;
    same(alike, n, n, 1, "two equal rows", LARGE);
    for (let i = 0; i < n; i++) alike[i * n + 77] = 0;
    same(alike, n, n, 1, "a column of zeros", LARGE);
  });

  test("of ill-conditioned matrices", () => {
    for (const condition of [1e20, 1e60]) same(illConditionedMatrix(150, condition, 7).data, 150, 150, 1, `condition ${condition}`, LARGE);
  });

  test("that overflow: the first of several, unless a zero pivot comes first", () => {
    const random = new Random(SEED + 2);
    for (let k = 0; k < 12; k++) {
      const n = 20 + random.below(120);
      const A = Float64Array.from({ length: n * n }, () => random.signed());
      for (let e = 0; e < 4; e++) {
        const [j, i] = [random.below(n), random.below(n)];
        for (let r = 0; r < n; r++) if (e % 2 || r === i) A[r * n + j] = random.signed() * 2 ** (1020 + random.below(4));
      }
      if (k % 3 === 0) for (let i = 0, j = random.below(n); i < n; i++) A[i * n + j] = 0;
      same(A, n, n, 1, `overflow ${k}`);
    }
  });

  test("many at once, singular ones and one that overflows among them", () => {
    const random = new Random(SEED + 3);
    for (const n of [1, 3, 16]) {
      const data = Float64Array.from({ length: 40 * n * n }, () => random.below(9) - 4);
      same(data, n, n, 40, "batch");
      data.set(numbers(random, 2 * n * n, "binary64", "large"), 20 * n * n);
      same(data, n, n, 40, "batch with large ones");
    }
    same(numbers(random, 3 * 100 * 100, "binary64", "narrow"), 100, 100, 3, "three larger ones");
  });

  test("in place where the matrix is on the device", () => {
    const random = new Random(SEED + 4);
    for (const n of [5, 100]) {
      const data = numbers(random, n * n, "binary64", "narrow");
      const want = expected(data, n, n, 1);
      if (!device) return;
      const kept = upload(device, "test", data, n * n, [[data, 0]]);
      const [pivots, info] = [new Int32Array(n), new Int32Array(1)];
      const overflow = runSync(inScope(device, "exlu", (scope) => lu(scope, kept.value, n, n, 1, pivots, info)));
      const factors = new Float64Array(n * n);
      runSync(
        inScope(device, "read", function* (scope) {
          yield scope.device.read(scope.vector(kept.value), factors);
        }),
      ); // prettier-ignore
      expect(result(overflow, factors, n * n, pivots, info)).toEqual(want);
      kept.free();
    }
  });

  test("the first element that is not finite", () => {
    const first = (x: Real): number => (device ? runSync(inScope(device, "exlu", (scope) => firstNotFinite(scope, x))) : 0);
    for (const type of [Float64Array, Float32Array]) {
      const x = new type(10_000).fill(-3);
      expect(first(x)).toBe(-1);
      x[9999] = Number.NaN;
      expect(first(x)).toBe(9999);
      x[700] = Number.NEGATIVE_INFINITY;
      expect(first(x)).toBe(700);
      expect(first(new type(0))).toBe(-1);
    }
  });
});
