// exluBatch on WebGPU against the oracle and the synchronous function: orders around the size of a work-group, ties, structure, singular
// matrices, subnormals, the largest numbers, and sums that windows cannot prove.
import { afterAll, describe, expect, test } from "vitest";
import type { Format, Real } from "../../src/arrays/types.ts";
import type { Choices } from "../../src/engines/webgpu/choices.ts";
import { openDevice, type WebgpuDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { exluBatch } from "../../src/index.ts";
import { engineOf, Random } from "../../src/study.ts";
import { batchCheck } from "../dense/checks.ts";
import { cases, SEED } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { factorable, type Table, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { launched } from "./launched.ts";

const found = await findAdapter().catch((error: Error) => error.message);
const missing = typeof found === "string" ? ` (${found})` : "";
const device = (missing === "" ? await openDevice(await findAdapter()) : undefined) as WebgpuDevice;
const ON_THE_DEVICE = { minFactors: 0, minBatchOrder: 0, minBatchCount: 0, minBatchEntries: 0 };
const engineWith = (choices: Partial<Choices>) => engineOf(backendOn(device, { ...ON_THE_DEVICE, ...choices })) as unknown as AnyRoutines;
const engine = (device && engineWith({})) as AnyRoutines;
afterAll(() => device?.close());

const FORMATS: readonly Format[] = ["binary64", "binary32"];
const ORDERS = [1, 2, 7, 8, 9, 31, 32, 33];
const random = new Random(SEED);
const MAX = { binary64: Number.MAX_VALUE, binary32: 2 ** 128 - 2 ** 104 };
const TINY = { binary64: 2 ** -1074, binary32: 2 ** -149 };

type Outcome = { lu: string[]; pivots: number[]; info: number[] } | { error: string };

async function outcome(routines: Pick<AnyRoutines, "exluBatch">, data: Real, n: number, count: number): Promise<Outcome> {
  try {
    const { lu, pivots, info } = await routines.exluBatch(data.slice(), n, count);
    return { lu: storedBits(lu), pivots: Array.from(pivots), info: Array.from(info) };
  } catch (error) {
    return { error: String(error) };
  }
}

/** The same outcome as that of the synchronous function, an error included. Returns it. */
async function same(data: Real, n: number, count: number, label: string, on = engine): Promise<Outcome> {
  const want = await outcome({ exluBatch } as unknown as AnyRoutines, data, n, count);
  expect(await outcome(on, data, n, count), `${label}, ${count} of order ${n} (HALFULP_SEED=${SEED})`).toEqual(want);
  return want;
}

const filled = (format: Format, n: number, count: number, value: (i: number, j: number, k: number) => number): Real =>
  vectorOf(
    format,
    range(n * n * count).map((e) => value(Math.floor(e / n) % n, e % n, Math.floor(e / (n * n)))),
  );

// Data that make sums and pivots hard. Products of the largest numbers overflow, which is an error to compare as well.
const HARD: Record<string, (format: Format) => (i: number, j: number, k: number) => number> = {
  "small integers: ties of pivots, zeros, singular matrices": () => () => random.below(5) - 2,
  "equal rows and columns": () => (i, j) => (i >> 1) + (j >> 1),
  "a band": () => (i, j) => (Math.abs(i - j) > 1 ? 0 : random.signed()),
  "Hilbert's matrices": () => (i, j, k) => 1 / (i + j + 1 + k),
  subnormals: (format) => () => TINY[format] * random.below(9),
  "the largest numbers": (format) => () => (random.below(2) ? 1 : -1) * MAX[format] * (random.below(4) ? 1 : 0.5),
  "the largest numbers on the diagonal": (format) => (i, j) => (i === j ? MAX[format] : TINY[format] * random.below(3)),
  "exponents far apart": (format) => () =>
    random.signed() * 2 ** (random.below(format === "binary64" ? 900 : 100) - (format === "binary64" ? 450 : 50)),
  "zeros of both signs": () => (i, j) => (i === j ? random.signed() : random.below(2) ? -0 : 0),
};

// Three bands of rows: see hiddenFactors in dense.test.ts. The entries of the last band are far below what a window holds.
function hidden(format: Format, n: number): Table {
  const band = n / 3;
  const [large, small] = format === "binary64" ? [2 ** 500, 2 ** -500] : [2 ** 100, 2 ** -100];
  const values = filled(format, n, 1, (i, j) => {
    const part = Math.floor(i / band);
    if (j < 2 * band)
      return j % band !== i % band ? 0 : part === 2 && j >= band ? 0.5 : part === 2 || Math.floor(j / band) === part ? 1 : 0;
    return part === 1 ? random.signed() * small : 0;
  });
  for (let t = 0; t < band; t++)
    for (let j = 2 * band; j < n; j++) values[t * n + j] = values[(2 * band + t) * n + j] = random.signed() * large;
  return { rows: n, cols: n, values };
}

describe.skipIf(missing !== "")(`exluBatch on webgpu${missing}, HALFULP_SEED=${SEED}`, () => {
  test("is one launch, and one that finds entries that are not finite", async () => {
    const data = filled("binary64", 9, 5, () => random.signed());
    expect(await launched(device, () => engine.exluBatch(data, 9, 5))).toEqual(["firstNotFinite", "luBatch"]);
  });

  test.each(FORMATS)("every order and number, %s", async (format) => {
    for (const n of ORDERS)
      for (const count of [0, 1, 5]) {
        const matrices = range(count).map(() => factorable(random, n, n, format));
        await same(
          vectorOf(
            format,
            matrices.flatMap(({ values }) => Array.from(values)),
          ),
          n,
          count,
          "factorable",
        );
      }
  });

  test.each(FORMATS)("what the oracle says, %s", async (format) => {
    for (let k = 0; k < cases(20); k++) {
      const n = 1 + random.below(20);
      await batchCheck(
        range(4).map(() => factorable(random, n, n, format)),
        n,
        format,
      )(engine, `on webgpu (HALFULP_SEED=${SEED})`);
    }
  });

  test.each(FORMATS)("hard data, %s", async (format) => {
    const seen = new Set<string>();
    for (const [name, make] of Object.entries(HARD))
      for (const n of [2, 7, 9, 33]) {
        const result = await same(filled(format, n, 5, make(format)), n, 5, name);
        seen.add("error" in result ? "overflow" : result.info.some((column) => column !== 0) ? "singular" : "regular");
      }
    expect([...seen].sort()).toEqual(["overflow", "regular", "singular"]);
  });

  test.each(FORMATS)("entries that windows do not prove, %s", async (format) => {
    for (const n of [6, 30]) {
      const matrices = range(3).map(() => hidden(format, n));
      await batchCheck(matrices, n, format)(engine, "hidden");
    }
  });

  test.each(FORMATS)("permuted rows give permuted pivots, and powers of two scale, %s", async (format) => {
    const n = 17;
    const data = filled(format, n, 3, () => random.signed());
    const { lu } = await engine.exluBatch(data, n, 3);
    const turned = filled(format, n, 3, (i, j, k) => data[(k * n + ((i + 5) % n)) * n + j] as number);
    const scaled = filled(format, n, 3, (i, j, k) => (data[(k * n + i) * n + j] as number) * 2 ** (j - 8));
    expect(storedBits((await engine.exluBatch(turned, n, 3)).lu)).toEqual(storedBits(lu));
    const wanted = filled(format, n, 3, (i, j, k) => (lu[(k * n + i) * n + j] as number) * (j < i ? 1 : 2 ** (j - 8)));
    expect(storedBits((await engine.exluBatch(scaled, n, 3)).lu)).toEqual(storedBits(wanted));
  });

  test.each(FORMATS)("an entry that is not finite is refused by its place, %s", async (format) => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const data = filled(format, 8, 5, () => random.signed());
      data[3 * 64 + 2 * 8 + 7] = value;
      expect(await same(data, 8, 5, "not finite")).toEqual({
        error: `ValueError: exluBatch: entry (2, 7) of matrix 3 is ${value}, expected a finite number`,
      });
    }
  });

  test("an overflow is thrown with its place, and a zero pivot before it is not", async () => {
    const M = Number.MAX_VALUE;
    const [fine, overflow, singular] = [
      [2, 0, 0, 3],
      [1, M, 1, -M],
      [0, M, 0, -M],
    ] as const;
    expect(await same(Float64Array.of(...fine, ...singular, ...overflow), 2, 3, "overflow")).toEqual({
      error: "ValueError: exluBatch: entry (1, 1) of the factors of matrix 2 overflows, expected a finite number",
    });
    expect(await same(Float64Array.of(...fine, ...singular, ...fine), 2, 3, "singular")).toMatchObject({ info: [0, 1, 0] });
  });

  test("matrices beyond a launch and a binding, in parts that begin anywhere", async () => {
    const whole = device.maxBindingBytes;
    try {
      for (const [n, count] of [
        [7, 40],
        [9, 11],
      ] as const) {
        device.maxBindingBytes = 2048;
        const data = filled("binary64", n, count, () => random.signed());
        const names = await launched(device, () => same(data, n, count, "parts"));
        expect(names.length).toBeGreaterThan(1);
        expect(new Set(names)).toEqual(new Set(["firstNotFinite", "luBatch"]));
        data[data.length - 2] = Number.NaN;
        data[data.length - 1] = Number.NaN;
        await same(data, n, count, "not finite in the last part");
      }
    } finally {
      device.maxBindingBytes = whole;
    }
  });

  test("work-groups of the sizes that a GPU has", async () => {
    const { type } = device;
    try {
      Object.assign(device, { type: "gpu" });
      for (const n of [9, 33, 65]) {
        await same(
          filled("binary64", n, 2, () => random.signed()),
          n,
          2,
          "random",
        );
        await same(
          filled("binary64", n, 2, () => random.below(5) - 2),
          n,
          2,
          "small integers",
        );
      }
    } finally {
      Object.assign(device, { type });
    }
  });

  test.each(FORMATS)("orders that are too large for a work-group, one matrix after another, %s", async (format) => {
    const blocked = engineWith({ maxBatchOrder: 8 });
    for (const n of [9, 35]) {
      const data = filled(format, n, 3, () => random.signed());
      const names = await launched(device, () => same(data, n, 3, "blocks", blocked));
      expect(names).toContain("luStep");
      expect(names).not.toContain("luBatch");
      data.copyWithin(n * n + n, n * n, n * n + n); // equal rows
      await same(data, n, 3, "one of three is singular", blocked);
    }
  });

  test("small orders and numbers stay on the calling thread by default", async () => {
    const usual = engineOf(backendOn(device));
    for (const [n, count] of [
      [4, 5000],
      [70, 8],
      [16, 100],
    ] as const)
      expect(
        await launched(device, () =>
          usual.exluBatch(
            filled("binary64", n, count, () => random.signed()),
            n,
            count,
          ),
        ),
      ).not.toContain("luBatch");
  });
});
