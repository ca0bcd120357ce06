// exspmv on an OpenCL device: random patterns with numbers of every kind against the definition, in blocks of several sizes; rows that
// are cut; ties; and a matrix that is prepared once.
import { afterAll, describe, expect, test } from "vitest";
import type { Format, Real } from "../../src/arrays/types.ts";
import { DeviceArray } from "../../src/engines/deviceArray.ts";
import { inScope, Scope } from "../../src/engines/deviceScope.ts";
import type { HostOperator } from "../../src/engines/hostKrylov.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { launchSpmv, prepareSpmv, type SpmvTuning, spmv } from "../../src/engines/opencl/sparse/spmv.ts";
import { OPEN, PRODUCT_WORDS } from "../../src/engines/opencl/sparse/words.ts";
import { runSync } from "../../src/engines/steps.ts";
import { laplacian, powerLaw } from "../../src/index.ts";
import { type Kernels, kernels, Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { storedBits } from "../hex.ts";
import { coin, numbers, pick, scalar, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";

const here = await openDevice().catch((error: Error) => error.message);
const COUNT = Number(process.env.HALFULP_SYSTEMS ?? 200);
const reference = kernels("reference") as Kernels;
const FORMATS: readonly Format[] = ["binary64", "binary32"];
const TUNINGS: Record<string, Partial<SpmvTuning>> = {
  "as chosen": {},
  "blocks of 64 steps, groups of 32": { step: 64, uncut: 20, group: 32, deep: 2 },
  "blocks of 9 steps, cut after 3 entries": { step: 9, uncut: 3, group: 32, deep: 1 },
};

describe.skipIf(typeof here === "string")(`sparse products${typeof here === "string" ? ` (${here})` : ""}, seed ${SEED}`, () => {
  const device = here as OpenclDevice;
  afterAll(() => device.close());

  // A matrix whose rows (or columns) have lengths up to `most`, some of them 0.
  const pattern = (random: Random, rows: number, cols: number, most: number): Omit<HostOperator, "values"> => {
    const byRows = coin(random);
    const [lines, width] = byRows ? [rows, cols] : [cols, rows];
    const pointers = new Int32Array(lines + 1);
    const indices: number[] = [];
    for (let l = 0; l < lines; l++) {
      const length = random.below(4) === 0 ? 0 : random.below(Math.min(width, random.below(8) === 0 ? width : most) + 1);
      const chosen = length > width / 4 ? range(width).slice(0, length) : [...new Set(range(length).map(() => random.below(width)))];
      for (const index of chosen) indices.push(index);
      pointers[l + 1] = indices.length;
    }
    return { rows, cols, byRows, pointers, indices: Int32Array.from(indices) };
  };
  const check = (alpha: number, A: HostOperator, x: Real, beta: number, y: Real, label: string, tuning?: Partial<SpmvTuning>): void => {
    const [want, got] = [y.slice(), y.slice()];
    reference.spmv(alpha, A, x, beta, want);
    runSync(inScope(device, "test", (scope) => spmv(scope, alpha, A, x, beta, got, tuning)));
    const [wanted, found] = [storedBits(want), storedBits(got)];
    for (let i = 0; i < y.length; i++)
      if (found[i] !== wanted[i]) expect(`${label}, ${alpha} and ${beta}, row ${i}: ${found[i]}`).toBe(wanted[i]);
  };

  for (const [name, tuning] of Object.entries(TUNINGS))
    for (const format of FORMATS)
      test(`random matrices, ${name}, ${format}`, () => {
        const random = new Random(SEED);
        for (let k = 0; k < COUNT; k++) {
          const [rows, cols] = [1 + random.below(70), 1 + random.below(70)];
          const A = pattern(random, rows, cols, pick(random, [3, 8, 40]));
          const values = numbers(random, A.indices.length, format);
          const [x, y] = [numbers(random, cols, format), numbers(random, rows, format)];
          const [alpha, beta] = coin(random) ? [1, 0] : [scalar(random), scalar(random)];
          check(alpha, { ...A, values }, x, beta, y, `case ${k}`, tuning);
        }
      });

  test.each(FORMATS)("rows of 100,000 entries, and next to them empty and short ones, %s", (format) => {
    const random = new Random(SEED);
    const cols = 100_000;
    const lengths = [0, 3, 100_000, 0, 1, 5000, 999, 1000, 128, 129, ...range(300).map(() => random.below(9)), 99_999, 0];
    const pointers = new Int32Array(lengths.length + 1);
    for (const [i, length] of lengths.entries()) pointers[i + 1] = (pointers[i] as number) + length;
    const indices = Int32Array.from(lengths.flatMap((length) => range(length)));
    const [rows, entries] = [lengths.length, indices.length];
    const ones = vectorOf(format, new Array(entries).fill(1));
    const y = numbers(random, rows, format, "narrow");
    for (const kind of ["ones", "narrow", "cancelling", "subnormal", "large"] as const) {
      const values = kind === "ones" ? ones : numbers(random, entries, format, kind);
      const A = { rows, cols, byRows: true, pointers, indices, values };
      check(1, A, kind === "narrow" ? ones.slice(0, cols) : numbers(random, cols, format, kind), 0, y, kind);
      if (kind === "cancelling") check(-1.7, A, numbers(random, cols, format, kind), 1, y, `${kind}, scaled`);
    }
    const byColumns = { rows: cols, cols: rows, byRows: false, pointers, indices, values: numbers(random, entries, format, "narrow") };
    check(1, byColumns, y, 0, numbers(random, cols, format), "by columns");
  });

  // The certificate must decide ties, which sums of a few numbers often are: otherwise the exact stage has most of the work.
  test("a grid and a web graph, prepared once; few entries are left to the exact stage", () => {
    const random = new Random(SEED);
    for (const A of [laplacian(20, 20, 20), laplacian(12, 12, 12, 27), powerLaw(5000, 20000, 7)]) {
      const operator = { ...A, byRows: true };
      const [x, y] = [0, 1].map(() => Float64Array.from({ length: A.rows }, () => random.signed())) as [Float64Array, Float64Array];
      const scope = new Scope(device, "test");
      const product = prepareSpmv(scope, operator);
      const [from, to] = [scope.copy(x), scope.copy(y)];
      for (const [alpha, beta] of [[1, 0] as const, [-1, 1] as const, [1, 0] as const]) {
        const [want, got] = [y.slice(), y.slice()];
        reference.spmv(alpha, operator, x, beta, want);
        device.write(to, y);
        launchSpmv(device, product, alpha, from, beta, to);
        device.read(to, got).now?.();
        expect(storedBits(got)).toEqual(storedBits(want));
      }
      // Without the second kernel, open entries stay on the list.
      const launch: OpenclDevice["launch"] = (kernel, ...more) => kernel.name === "spmvFinish" || device.launch(kernel, ...more);
      const words = new Int32Array(PRODUCT_WORDS);
      launchSpmv(Object.create(device, { launch: { value: launch } }), product, 1, from, 0, to);
      device.read(product.words, words).now?.();
      expect(words[OPEN]).toBeLessThan(A.rows / 1000);
      scope.free();
    }
  });

  test("a matrix on the device", () => {
    const A = laplacian(5, 5, 5);
    const scope = new Scope(device, "test");
    const resident = <T extends Real | Int32Array>(x: T): DeviceArray => DeviceArray.like(x, x.length, scope.copy(x));
    const x = Float64Array.from({ length: A.rows }, (_, i) => i / 3);
    const y = new Float64Array(A.rows);
    const [pointers, indices, values] = [A.pointers, A.indices, A.values].map(resident) as [DeviceArray, DeviceArray, DeviceArray];
    const operator = { rows: A.rows, cols: A.cols, byRows: true, pointers, indices, values };
    runSync(inScope(device, "test", (inner) => spmv(inner, 1, operator, resident(x), 0, y)));
    const want = y.slice();
    reference.spmv(1, { ...operator, ...A }, x, 0, want);
    expect(storedBits(y)).toEqual(storedBits(want));
    scope.free();
  });
});
