// A campaign of exgemm and exlu by residues on an OpenCL device, as they run on matrix engines: random shapes and kinds of numbers against
// the reference, whose sums are superaccumulators. HALFULP_ENTRIES=1000000 on a GPU takes a few minutes of one core.
import { afterAll, describe, expect, test } from "vitest";
import { inScope } from "../../src/engines/deviceScope.ts";
import { gemm } from "../../src/engines/opencl/dense/gemm.ts";
import { lu } from "../../src/engines/opencl/dense/lu.ts";
import { luBlockedBy } from "../../src/engines/opencl/dense/luBlocked.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { runSync } from "../../src/engines/steps.ts";
import { type Kernels, kernels, Random } from "../../src/study.ts";
import { ENTRIES, SEED } from "../effort.ts";
import { storedBits } from "../hex.ts";
import { KINDS, lines } from "../residueKinds.ts";

const here = await openDevice().catch((error: Error) => error.message);
const reference = kernels("reference") as Kernels;
const kinds = Object.entries(KINDS);
const FACTORS = [luBlockedBy({ residues: true }), luBlockedBy({ residues: true, ahead: true })];

describe.skipIf(typeof here === "string")(`matrix engines${typeof here === "string" ? ` (${here})` : ""}, HALFULP_SEED=${SEED}`, () => {
  const device = here as OpenclDevice;
  afterAll(() => device.close());

  // The index of the first entry with other bits, or -1.
  function firstDifference(got: Float64Array, want: Float64Array): number {
    const [a, b] = [storedBits(got), storedBits(want)];
    return a.findIndex((bits, e) => bits !== b[e]);
  }

  test(`exgemm of ${ENTRIES} entries`, () => {
    for (let done = 0, k = 0; done < ENTRIES; k++) {
      const random = new Random(SEED + k);
      const [kind, [left, right]] = kinds[k % kinds.length] as (typeof kinds)[number];
      const [m, n, terms] = [1 + random.below(200), 1 + random.below(200), 1 + random.below(300)];
      const [a, b] = [lines(random, m, terms, left), lines(random, n, terms, right)];
      const got = Float64Array.from({ length: m * n }, () => random.signed());
      const want = got.slice();
      const [alpha, beta] = random.below(2) ? [1, 0] : [random.signed(), random.signed()];
      const A = { data: a, offset: 0, rows: m, cols: terms, rowStride: terms, colStride: 1 };
      const B = { data: b, offset: 0, rows: terms, cols: n, rowStride: 1, colStride: terms };
      const C = (data: Float64Array) => ({ data, offset: 0, rows: m, cols: n, rowStride: n, colStride: 1 });
      runSync(inScope(device, "exgemm", (scope) => gemm(scope, alpha, A, B, beta, C(got), { residues: true })));
      reference.gemm(alpha, A, B, beta, C(want));
      const at = firstDifference(got, want);
      expect(at, `case ${k}, ${kind}, ${m} by ${n} by ${terms}: entry (${Math.floor(at / n)}, ${at % n})`).toBe(-1);
      done += m * n;
    }
  });

  test(`exlu of ${ENTRIES} entries`, () => {
    for (let done = 0, k = 0; done < ENTRIES; k++) {
      const random = new Random(SEED + k);
      const [kind, [left, right]] = kinds[k % kinds.length] as (typeof kinds)[number];
      const [rows, cols] = [65 + random.below(200), 65 + random.below(200)];
      const steps = Math.min(rows, cols);
      // Kinds mix in some matrices, and some have rows that nearly depend on each other.
      const data = lines(random, rows, cols, random.below(2) ? left : right).map((v) => (Number.isFinite(v) ? v : 1));
      if (random.below(3) === 0)
        for (let j = 0; j < cols; j++) data[(rows - 1) * cols + j] = (data[j] as number) * (1 + (random.below(3) - 1) * 2 ** -52);
      const run = (factor: (copy: Float64Array, pivots: Int32Array, info: Int32Array) => number) => {
        const [copy, pivots, info] = [data.slice(), new Int32Array(steps), new Int32Array(1)];
        return { overflow: factor(copy, pivots, info), info: info[0], pivots, copy };
      };
      const want = run((copy, pivots, info) => runSync(reference.lu(copy, rows, cols, 1, pivots, info)));
      for (const factor of FACTORS) {
        const got = run((copy, pivots, info) =>
          runSync(inScope(device, "exlu", (scope) => lu(scope, copy, rows, cols, 1, pivots, info, factor))),
        );
        const label = `case ${k}, ${kind}, ${rows} by ${cols}`;
        expect([got.overflow, got.info], label).toEqual([want.overflow, want.info]);
        if (want.overflow >= 0 || want.info !== 0) continue;
        expect(got.pivots, label).toEqual(want.pivots);
        const at = firstDifference(got.copy, want.copy);
        expect(at, `${label}: entry (${Math.floor(at / cols)}, ${at % cols})`).toBe(-1);
      }
      done += rows * cols;
    }
  });
});
