// Products by residues on an OpenCL device, with data that make residues hard, against the reference: what is proved must be right, and
// what cannot be proved must be left open. Without tensor cores the 8-bit products are computed by a simple kernel.
import { afterAll, describe, expect, test } from "vitest";
import type { Real } from "../../src/arrays/types.ts";
import { inScope } from "../../src/engines/deviceScope.ts";
import { capacityOf, MAX_BITS, moduliFor, precisionFor, tableOf } from "../../src/engines/moduli.ts";
import { gemm } from "../../src/engines/opencl/dense/gemm.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { runSync } from "../../src/engines/steps.ts";
import { type Kernels, kernels, Random, type StridedMatrix } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { storedBits } from "../hex.ts";
import { KINDS, lines, uniform } from "../residueKinds.ts";

const here = await openDevice().catch((error: Error) => error.message);
const reference = kernels("reference") as Kernels;
const byRows = (data: Real, rows: number, cols: number): StridedMatrix => ({ data, offset: 0, rows, cols, rowStride: cols, colStride: 1 });
const byColumns = (data: Real, rows: number, cols: number): StridedMatrix => ({
  data,
  offset: 0,
  rows,
  cols,
  rowStride: 1,
  colStride: rows,
});

describe.skipIf(typeof here === "string")(`products by residues${typeof here === "string" ? ` (${here})` : ""}, seed ${SEED}`, () => {
  const device = here as OpenclDevice;
  afterAll(() => device.close());

  // The kernels that a product launched.
  function launched(work: () => void): string[] {
    const names: string[] = [];
    const launch = device.launch.bind(device);
    device.launch = (kernel, ...rest) => {
      names.push(kernel.name);
      launch(kernel, ...rest);
    };
    try {
      work();
    } finally {
      device.launch = launch;
    }
    return names;
  }

  const product = (alpha: number, A: StridedMatrix, B: StridedMatrix, beta: number, C: StridedMatrix): string[] =>
    launched(() => runSync(inScope(device, "test", (scope) => gemm(scope, alpha, A, B, beta, C, { residues: true }))));

  for (const [kind, [left, right]] of Object.entries(KINDS))
    test.each([
      [1, 0],
      [-1.3, 0.7],
    ])(`${kind}: %d A B + %d C`, (alpha, beta) => {
      const random = new Random(SEED);
      for (const [m, n, k] of [
        [9, 13, 7],
        [33, 21, 130],
        [1, 1, 700],
        [70, 5, 64],
      ] as const) {
        const [a, b] = [lines(random, m, k, left), lines(random, n, k, right)];
        const c = Float64Array.from({ length: m * n }, () => random.signed());
        for (const ordered of [byRows, byColumns])
          for (const format of [Float64Array, Float32Array]) {
            const [A, B] = [byRows(format.from(a), m, k), byColumns(format.from(b), k, n)];
            const [got, want] = [format.from(c), format.from(c)];
            const names = product(alpha, A, B, beta, ordered(got, m, n));
            expect(names.includes("combine"), `${m} by ${n} by ${k}`).toBe([...A.data, ...B.data].every(Number.isFinite));
            reference.gemm(alpha, A, B, beta, ordered(want, m, n));
            expect(storedBits(got), `${m} by ${n} by ${k}, ${format.name}`).toEqual(storedBits(want));
          }
      }
    });

  test("ordinary numbers are proved: the exact stage sees few entries", () => {
    const random = new Random(SEED);
    const [m, n, k] = [64, 64, 300];
    const [A, B] = [lines(random, m, k, uniform), lines(random, n, k, uniform)];
    const C = new Float64Array(m * n);
    const names = product(1, byRows(A, m, k), byColumns(B, k, n), 0, byRows(C, m, n));
    expect(names.filter((name) => name === "gemm")).toEqual([]); // neither grid nor filter
  });

  test("integers are proved without exception, cancelling ones too", () => {
    const random = new Random(SEED);
    const n = 40;
    const data = Float64Array.from({ length: n * n }, () => random.below(3) - 1);
    const C = new Float64Array(n * n);
    expect(product(1, byRows(data, n, n), byRows(data, n, n), 0, byRows(C, n, n))).not.toContain("finishEntries");
  });
});

describe("the moduli", () => {
  test("every count has room for what it promises, and residues of cofactors are inverses", () => {
    for (let count = 1; count <= 22; count++) {
      const table = tableOf(count);
      const record = (l: number): Int32Array => table.subarray(20 * l, 20 * (l + 1));
      const limbs = (l: number): bigint =>
        record(l)
          .subarray(12, 18)
          .reduceRight((x, word) => (x << 32n) | BigInt(word >>> 0), 0n);
      const product = limbs(count);
      expect(product >> BigInt(capacityOf(count))).toBe(1n);
      for (let l = 0; l < count; l++) {
        const m = BigInt(record(l)[0] as number);
        expect(limbs(l) * m).toBe(product);
        const inverse = BigInt(record(l)[7] as number);
        expect((((limbs(l) * inverse) % m) + m) % m).toBe(1n % m);
      }
    }
  });

  test.each([
    [63, 63, 4096],
    [10, 12, 7],
    [2000, 2000, 4096],
    [20, 2000, 65536],
    [84, 84, 1],
    [0, 0, 1],
  ])("integers of %d and %d bits, %d terms, fit", (left, right, terms) => {
    const found = precisionFor(left, right, terms, 64);
    if (!found) throw new Error("no precision");
    expect(found.left).toBeLessThanOrEqual(Math.min(left, MAX_BITS));
    expect(found.right).toBeLessThanOrEqual(Math.min(right, MAX_BITS));
    expect(found.left + found.right + Math.ceil(Math.log2(terms)) + 2).toBeLessThanOrEqual(capacityOf(found.moduli));
    expect(found.moduli).toBe(moduliFor(Math.min(left, 64) + Math.min(right, 64) + Math.ceil(Math.log2(terms)) + 2));
  });

  test("too many terms, or numbers that are not finite, have no precision", () => {
    expect(precisionFor(60, 60, 65537, 64)).toBeUndefined();
    expect(precisionFor(0x7fffffff, 60, 10, 64)).toBeUndefined();
  });
});
