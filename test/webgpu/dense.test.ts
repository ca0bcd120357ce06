// The dense kernels of the WebGPU engine on data that windows cannot settle: exponents far apart within a row, cancellation to the last bit,
// sums next to ties, subnormals, significands of all ones, infinities and NaN. Sizes are beyond the blocks and tiles of the kernels.
import { afterAll, describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import type { Format, TriangularOptions } from "../../src/arrays/types.ts";
import { openDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { engineOf, Random } from "../../src/study.ts";
import { type Check, gemmCheck, gemvCheck, luCheck, trsvCheck } from "../dense/checks.ts";
import { randomGemm, randomGemv } from "../dense/products.ts";
import { cases, FULL, SEED, sample } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { KINDS, type Kind } from "../generators.ts";
import { factorable, LAYOUTS, numbers, system, type Table, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";

const device = await findAdapter().then(openDevice, () => undefined);
const engine = device && engineOf(backendOn(device));
afterAll(() => engine?.close());
const FORMATS: readonly Format[] = ["binary64", "binary32"];
const random = new Random(SEED);

async function run(check: Check, label: string): Promise<void> {
  if (engine) await check(engine as unknown as AnyRoutines, `${label} (HALFULP_SEED=${SEED})`);
}

// Rows of one kind, whose second half cancels the first but for a few bits in every other row.
function cancelling(rows: number, cols: number, format: Format, kind: Kind): Table {
  const values = vectorOf(format, new Array(rows * cols).fill(0));
  for (let i = 0; i < rows; i++) {
    const row = numbers(random, cols, format, kind);
    if (i % 2 === 1) for (let j = 0; j < cols >> 1; j++) row[cols - 1 - j] = -(row[j] as number) * (random.below(20) === 0 ? 1.5 : 1);
    values.set(row, i * cols);
  }
  return { rows, cols, values };
}
// Three bands of rows. The first and the last have the same large numbers in the last columns, which cancel when those of the last band are
// factored: what is left there is a product with the small numbers of the second band, far below what a window holds.
function hiddenFactors(band: number, format: Format): Table {
  const n = 3 * band;
  const [large, small] = format === "binary64" ? [2 ** 500, 2 ** -500] : [2 ** 100, 2 ** -100];
  const values = vectorOf(format, new Array(n * n).fill(0));
  for (let t = 0; t < band; t++) {
    values[t * n + t] = values[(band + t) * n + band + t] = values[(2 * band + t) * n + t] = 1;
    values[(2 * band + t) * n + band + t] = 0.5;
    for (let j = 2 * band; j < n; j++) {
      values[t * n + j] = values[(2 * band + t) * n + j] = random.signed() * large;
      values[(band + t) * n + j] = random.signed() * small;
    }
  }
  return { rows: n, cols: n, values };
}
const ones = (n: number, format: Format) => vectorOf(format, new Array(n).fill(1));

describe.skipIf(!engine)(`hard data on webgpu${engine ? "" : " (Dawn finds no adapter)"}, HALFULP_SEED=${SEED}`, () => {
  for (const format of FORMATS) {
    test(`products with rows that cancel, ${format}`, async () => {
      for (const kind of sample(KINDS, 2)) {
        const A = cancelling(37, 150, format, kind);
        for (const at of sample(LAYOUTS, 3)) {
          await run(gemvCheck(1, A, ones(150, format), 0, ones(37, format), false, at), kind);
          await run(gemvCheck(-(2 ** -300), A, numbers(random, 37, format, kind), 1, ones(150, format), true, at), kind);
        }
        const B = cancelling(21, 37, format, kind);
        const C: Table = { rows: 21, cols: 150, values: numbers(random, 21 * 150, format, kind) };
        if (FULL || kind === "bits") await run(gemmCheck(0.1, B, A, -1, C), kind);
      }
    });

    test(`products that are completed to ties, ${format}`, async () => {
      for (let k = 0; k < cases(30); k++) {
        await run(randomGemv(random, format, 40, 45), "exgemv");
        await run(randomGemm(random, format, 17, 19, 23), "exgemm");
      }
    });

    test(`triangular systems, ${format}`, async () => {
      for (let k = 0; k < cases(96); k++) {
        const rounding = (["single", "paper", "corrected"] as const)[k % 3] as "single";
        const options: TriangularOptions = { trans: k % 2 === 1, unit: k % 4 > 1, rounding };
        const upper = k % 8 > 3;
        const { T, b } = system(random, 20 + random.below(50), format, upper);
        await run(trsvCheck(T, b, upper, options, LAYOUTS[k % LAYOUTS.length]), "extrsv");
      }
    });

    test(`factors, ${format}`, async () => {
      for (let k = 0; k < cases(10); k++) {
        const [rows, cols] = [64 + random.below(30), 64 + random.below(30)];
        await run(luCheck(factorable(random, rows, cols, format)), "exlu");
      }
      for (const band of sample([22, 30], 2)) await run(luCheck(hiddenFactors(band, format)), "hidden factors");
      // Equal pivots, exact zeros, and a column that depends on those before it.
      const values = vectorOf(
        format,
        range(70 * 70).map(() => random.below(5) - 2),
      );
      await run(luCheck({ rows: 70, cols: 70, values }), "small integers");
      if (!FULL && format === "binary32") return;
      for (let i = 0; i < 70; i++) values[i * 70 + 50] = 2 * (values[i * 70 + 3] as number) - (values[i * 70 + 40] as number);
      await run(luCheck({ rows: 70, cols: 70, values }), "singular");
      const large = vectorOf(
        format,
        range(66 * 66).map(() => random.signed() * (format === "binary64" ? Number.MAX_VALUE : 3e38)),
      );
      await run(luCheck({ rows: 66, cols: 66, values: large }), "overflow");
    });
  }

  test("a zero on the diagonal of a resident triangle is found", async () => {
    if (!engine) return;
    const diagonal = (i: number): number => (i === 7 || i === 8 ? 0 : 1);
    const T = matrix(
      Float64Array.from(range(100 * 100), (e) => (e % 101 === 0 ? diagonal(e / 101) : 0)),
      100,
      100,
    );
    const kept = await engine.upload(T);
    await expect(engine.extrsv(kept, new Float64Array(100))).rejects.toThrow("entry (7, 7) of T is 0");
  });
});
