// exgemv and exgemm on an OpenCL device: random cases of every kind against the oracle, shapes of work-groups, both orders,
// and larger ones against the embedded engine.

import { afterAll, describe, expect, test } from "vitest";
import type { Format, Real } from "../../src/arrays/types.ts";
import type { Work } from "../../src/engines/device.ts";
import { bufferOf, DeviceArray } from "../../src/engines/deviceArray.ts";
import { inScope, type Scope } from "../../src/engines/deviceScope.ts";
import { type GemmOptions, gemm } from "../../src/engines/opencl/dense/gemm.ts";
import { type GemvShape, gemv, gemvBy, shapeFor } from "../../src/engines/opencl/dense/gemv.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { runSync } from "../../src/engines/steps.ts";
import { type Kernels, kernels, Random, routinesOn, type StridedMatrix } from "../../src/study.ts";
import { randomGemm, randomGemv } from "../dense/products.ts";
import { SEED } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { numbers, pick, table } from "../matrices.ts";

const here = await openDevice().catch((error: Error) => error.message);
const COUNT = Number(process.env.HALFULP_SYSTEMS ?? 200);
const reference = kernels("reference") as Kernels;
const embedded = kernels("embedded") as Kernels;

const SHAPES: Record<string, Partial<GemvShape>> = {
  "as chosen": {},
  "one work-item": { rowLanes: 1, colLanes: 1, rowsEach: 1, deep: 1, chunks: 1 },
  "3 by 5 lanes": { rowLanes: 3, colLanes: 5, rowsEach: 2, deep: 3, chunks: 2 },
  "32 by 4 lanes, chunks of a column": { rowLanes: 32, colLanes: 4, rowsEach: 4, deep: 4, chunks: 1000 },
  "2 by 3 lanes, wide": { rowLanes: 2, colLanes: 3, rowsEach: 2, deep: 2, chunks: 3, wide: true },
  "1024 lanes, wide": { rowLanes: 8, colLanes: 128, rowsEach: 1, deep: 1, chunks: 1, wide: true },
};
const OPTIONS: Record<string, GemmOptions> = {
  "as chosen": {},
  "in blocks of rows, all of the filter": { maxEntries: 100, maxExactShare: 0 },
  "without the filter": { maxExactShare: 1 },
  "by residues": { residues: true },
  "by residues, in blocks of rows, without the filter": { residues: true, maxEntries: 100, maxExactShare: 1 },
};

describe.skipIf(typeof here === "string")(`products on a device${typeof here === "string" ? ` (${here})` : ""}, seed ${SEED}`, () => {
  const device = here as OpenclDevice;
  afterAll(() => device.close());
  const run = (work: (scope: Scope) => Work<void>): void => runSync(inScope(device, "test", work));
  const routinesWith = (shape: Partial<GemvShape>, options: GemmOptions): AnyRoutines =>
    routinesOn({
      ...reference,
      gemv: (...args) => run((scope) => gemv(scope, ...args, shape)),
      gemm: (...args) => run((scope) => gemm(scope, ...args, options)),
    }) as unknown as AnyRoutines;

  const size = (random: Random): number => {
    const which = random.below(100);
    return which < 4 ? pick(random, [63, 64, 65, 130]) : which < 15 ? 13 + random.below(40) : random.below(13);
  };
  const formatFor = (random: Random): Format => (random.below(3) === 0 ? "binary32" : "binary64");
  for (const [name, shape] of Object.entries(SHAPES))
    test(`exgemv of random systems, ${name}`, async () => {
      const random = new Random(SEED);
      for (let i = 0; i < COUNT; i++)
        await randomGemv(random, formatFor(random), size(random), size(random))(routinesWith(shape, {}), `case ${i}, seed ${SEED}`);
    });

  for (const [name, options] of Object.entries(OPTIONS))
    test(`exgemm of random systems, ${name}`, async () => {
      const random = new Random(SEED);
      for (let i = 0; i < COUNT / 4; i++)
        await randomGemm(
          random,
          formatFor(random),
          size(random) % 40,
          size(random) % 40,
          size(random),
        )(routinesWith({}, options), `case ${i}, seed ${SEED}`);
    });

  const entriesOf = (data: Real, rows: number, cols: number, byRows = true): StridedMatrix => ({
    data,
    offset: 0,
    rows,
    cols,
    rowStride: byRows ? cols : 1,
    colStride: byRows ? 1 : rows,
  });
  const random64 = (random: Random, n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());
  const remote = (x: Real): DeviceArray => {
    const buffer = device.allocate("test", x.byteLength);
    device.write(buffer, x);
    return DeviceArray.like(x, x.length, buffer);
  };
  const fetched = <V extends Real>(x: DeviceArray, like: V): V => {
    const copy = like.slice() as V;
    device.read(bufferOf(x), copy).now?.();
    return copy;
  };
  // The kernels that a call starts.
  function started(work: (scope: Scope) => Work<void>): string[] {
    const names: string[] = [];
    const spying = Object.create(device, {
      launch: {
        value: (...args: Parameters<OpenclDevice["launch"]>) => {
          names.push(args[0].name);
          device.launch(...args);
        },
      },
    }) as OpenclDevice;
    runSync(inScope(spying, "test", work));
    return names;
  }

  test.each([
    [1000, 70, true],
    [70, 1000, true],
    [1000, 70, false],
    [70, 1000, false],
    [1, 5000, true],
    [3, 5000, false],
    [5000, 1, true],
    [2111, 3, false],
  ])("exgemv of %i by %i, rows together: %s, as the embedded engine", (rows, cols, byRows) => {
    const random = new Random(SEED);
    for (const single of [false, true]) {
      const cast = (x: Float64Array): Real => (single ? Float32Array.from(x) : x);
      const A = entriesOf(cast(random64(random, rows * cols)), rows, cols, byRows);
      const [x, y] = [cast(random64(random, cols)), cast(random64(random, rows))];
      for (const [alpha, beta] of [
        [1, 0],
        [-1, 1],
        [1.5, -0.7],
      ] as const) {
        const [got, want] = [y.slice(), y.slice()];
        run((scope) => gemv(scope, alpha, A, x, beta, got));
        embedded.gemv(alpha, A, x, beta, want);
        expect(storedBits(got)).toEqual(storedBits(want));
      }
    }
  });

  test("every shape of a GPU covers all rows and columns in lanes that a group has", () => {
    for (const rows of [1, 3, 4, 63, 64, 1000, 16384, 10 ** 6])
      for (const cols of [1, 7, 63, 64, 2047, 2048, 16384, 10 ** 6])
        for (const [colStride, maxGroupSize, lanes] of [
          [1, 256, 128],
          [rows, 256, 256],
          [rows, 448, 256],
          [rows, 1024, 512],
        ] as const) {
          const values = { type: { value: "gpu" }, computeUnits: { value: 132 }, maxGroupSize: { value: maxGroupSize } };
          const gpu = Object.create(device, values) as OpenclDevice;
          const shape = shapeFor(gpu, { buffer: device.allocate("test", 0), offset: 0, rows, cols, rowStride: 1, colStride }, false);
          expect(shape.rowLanes * shape.colLanes).toBe(rows === 1 || colStride === 1 ? 128 : lanes);
          expect(shape.chunks).toBeGreaterThanOrEqual(1);
          expect(shape.chunks).toBeLessThanOrEqual(Math.max(1, cols));
        }
  });

  test.each(["superaccumulator", "fpe2", "fpe4", "fpe8ee"] as const)("exgemv by the stage %s", (stage) => {
    const random = new Random(SEED);
    const [rows, cols] = [9, 150];
    for (const format of ["binary64", "binary32"] as const)
      for (const alpha of [1, 0.3]) {
        const A = entriesOf(table(random, rows, cols, format).values, rows, cols);
        const [x, y] = [numbers(random, cols, format), numbers(random, rows, format)];
        const [got, want] = [y.slice(), y.slice()];
        run((scope) => gemvBy(scope, stage, alpha, A, x, -1, got));
        reference.gemv(alpha, A, x, -1, want);
        expect(storedBits(got)).toEqual(storedBits(want));
      }
  });

  // With columns of A and rows of B scaled against each other the products are all alike, but grids know the largest factors only.
  test.each([
    [1, { tile: 16, rowsEach: 1, colsEach: 1, deep: 16 }, ["gemm"]],
    [1, { tile: 32, rowsEach: 4, colsEach: 2, deep: 8 }, ["gemm"]],
    [2 ** 50, { tile: 16, rowsEach: 1, colsEach: 1, deep: 16 }, ["gemm", "gemm"]],
    [2 ** 50, { tile: 32, rowsEach: 4, colsEach: 2, deep: 8 }, ["gemm", "gemm"]],
  ] as const)("exgemm with scales of %d in the shape %o, as the embedded engine", (scale, shape, names) => {
    const random = new Random(SEED);
    const [m, n, k] = [67, 130, 99];
    const scaled = (v: number, l: number): number => v * (l % 3 === 0 ? scale : l % 3 === 1 ? 1 : 1 / scale);
    const A = entriesOf(
      random64(random, m * k).map((v, i) => scaled(v, Math.floor(i / m))),
      m,
      k,
      false,
    );
    const B = entriesOf(
      random64(random, k * n).map((v, i) => scaled(v, 2 - (Math.floor(i / n) % 3))),
      k,
      n,
    );
    const C = random64(random, m * n);
    const [got, want] = [entriesOf(C.slice(), m, n), entriesOf(C.slice(), m, n)];
    expect(started((scope) => gemm(scope, 1.5, A, B, -0.7, got, { shape }))).toEqual(["measure", "measure", ...names]);
    embedded.gemm(1.5, A, B, -0.7, want);
    expect(storedBits(got.data)).toEqual(storedBits(want.data));
  });

  test("rows that cancel in all but their last bits are done exactly, with any factors", () => {
    const random = new Random(SEED);
    const [rows, cols] = [40, 200];
    const half = random64(random, cols / 2);
    const data = Float64Array.from({ length: rows * cols }, () => random.signed());
    const x = Float64Array.from({ length: cols }, (_, j) => half[j >> 1] as number);
    for (let i = 0; i < data.length; i += 2) data[i + 1] = -(data[i] as number) * (random.below(20) ? 1 : 1 + 2 ** -52);
    for (const [alpha, beta] of [
      [1, 0],
      [-1, 0],
      [0.3, 0],
      [1, 2 ** -60],
      [3 ** -400, 5],
      [Number.POSITIVE_INFINITY, 1],
      [Number.NaN, 1],
    ] as const)
      for (const byRows of [true, false]) {
        const A = entriesOf(data, rows, cols, byRows);
        const vector = byRows ? x : random64(random, cols);
        const [got, want] = [new Float64Array(rows).fill(2 ** -1000), new Float64Array(rows).fill(2 ** -1000)];
        run((scope) => gemv(scope, alpha, A, vector, beta, got));
        reference.gemv(alpha, A, vector, beta, want);
        expect(storedBits(got), `alpha ${alpha}, beta ${beta}`).toEqual(storedBits(want));
      }
  });

  test("exact zeros are proved by the filter", () => {
    const n = 80;
    const integers = Float64Array.from({ length: n * n }, (_, i) => (i % 80 < i / 80 ? 0 : ((i * 7919) % 13) - 6));
    const A = entriesOf(integers, n, n);
    const x = Float64Array.from({ length: n }, (_, i) => (i % 5) - 2);
    const y = new Float64Array(n);
    run((scope) => gemv(scope, 1, A, x, 0, y));
    const finishing = device.type === "gpu" ? ["finishEntries"] : []; // there it is told so without a look at the list
    expect(started((scope) => gemv(scope, -1, A, x, 1, y))).toEqual(["gemv", ...finishing]);
    expect(storedBits(y)).toEqual(new Array(n).fill("0000000000000000"));
    const C = entriesOf(new Float64Array(n * n), n, n);
    expect(started((scope) => gemm(scope, 1.5, A, A, 0, C))).toEqual(["measure", "measure", "gemm", "gemm"]);
  });

  test("what is on the device stays there, and is changed in place", () => {
    const random = new Random(SEED);
    const n = 50;
    const [data, x, y] = [random64(random, n * n), random64(random, n), random64(random, n)];
    const A = entriesOf(data, n, n);
    const there = { ...A, data: remote(data), offset: 1, rows: n - 1, cols: n - 1 };
    const [farX, farY, farC] = [remote(x.subarray(1)), remote(y.subarray(1)), remote(data)];
    run((scope) => gemv(scope, 2, there, farX, -1, farY));
    run((scope) => gemm(scope, 2, there, there, -1, { ...there, data: farC }));
    const [wantY, wantC] = [y.slice(1), data.slice()];
    reference.gemv(2, { ...A, offset: 1, rows: n - 1, cols: n - 1 }, x.subarray(1), -1, wantY);
    reference.gemm(2, { ...there, data }, { ...there, data }, -1, { ...there, data: wantC });
    expect(storedBits(fetched(farY, wantY))).toEqual(storedBits(wantY));
    expect(storedBits(fetched(farC, wantC))).toEqual(storedBits(wantC));
    for (const array of [there.data, farX, farY, farC]) bufferOf(array).free();
  });

  test.each([true, false])("a matrix larger than one allocation goes by blocks of rows, rows together: %s", (byRows) => {
    const random = new Random(SEED);
    const [rows, cols] = [100, 37];
    const A = entriesOf(random64(random, rows * cols), rows, cols, byRows);
    const x = random64(random, cols);
    const [got, want] = [random64(random, rows), new Float64Array(rows)];
    want.set(got);
    embedded.gemv(0.3, A, x, 3, want);
    const { maxBufferBytes } = device;
    try {
      device.maxBufferBytes = 7000;
      run((scope) => gemv(scope, 0.3, A, x, 3, got));
    } finally {
      device.maxBufferBytes = maxBufferBytes;
    }
    expect(storedBits(got)).toEqual(storedBits(want));
  });

  test("inputs are read at the call, and a host's result is written in one step", () => {
    const random = new Random(SEED);
    const n = 20;
    const [data, x, y] = [random64(random, n * n), random64(random, n), random64(random, n)];
    const want = y.slice();
    reference.gemv(0.3, entriesOf(data.slice(), n, n), x.slice(), 3, want);
    const work = inScope(device, "test", (scope) => gemv(scope, 0.3, entriesOf(data, n, n), x, 3, y));
    const before = storedBits(y);
    let turn = work.next();
    data.fill(Number.NaN);
    x.fill(Number.NaN);
    while (!turn.done) {
      expect(storedBits(y)).toEqual(before);
      turn.value.now?.();
      turn = work.next();
    }
    expect(storedBits(y)).toEqual(storedBits(want));
  });

  // Every product is 2^-1084, and its error term is lost.
  test.each([
    ["everywhere", () => true],
    ["in one lane", (j: number) => j % 2 === 1],
    ["in the last chunk", (j: number) => j >= 2000],
  ])("products that vanish are noticed where their factors are %s", (_, there) => {
    const n = 4000;
    const tiny = Float64Array.from({ length: n }, (_, j) => (there(j) ? 2 ** -1074 : 0));
    const ordinary = new Float64Array(n).fill(2 ** -10);
    const want = Math.round(tiny.filter((v) => v > 0).length / 1024) * 2 ** -1074;
    for (const [a, x] of [
      [tiny, ordinary],
      [ordinary, tiny],
    ] as const) {
      const y = new Float64Array(1);
      run((scope) => gemv(scope, 1, entriesOf(a, 1, n), x, 0, y, { rowLanes: 1, colLanes: 2, rowsEach: 1, deep: 1, chunks: 2 }));
      expect(y[0]).toBe(want);
      run((scope) => gemm(scope, 1, entriesOf(a, 1, n), entriesOf(x, n, 1), 0, entriesOf(y, 1, 1), { maxExactShare: -1 }));
      expect(y[0]).toBe(want);
    }
  });
});
