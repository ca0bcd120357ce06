// ilu0 on WebGPU with everything on the device: the bits and the errors of the reference, on small matrices. The full suite runs
// test/sparse/ilu0Engines.test.ts on the engine too.
import { afterAll, describe, expect, test } from "vitest";
import { openDevice, type WebgpuDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { laplacian, toCsc } from "../../src/index.ts";
import { engineOf, Random } from "../../src/study.ts";
import { cases, SEED } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { pick } from "../matrices.ts";
import { check, mapped, random } from "../sparse/ilu0Cases.ts";
import { launched } from "./launched.ts";

const found = await findAdapter().catch((error: Error) => error.message);
const missing = typeof found === "string" ? ` (${found})` : "";
const device = (missing === "" ? await openDevice(await findAdapter()) : undefined) as WebgpuDevice;
const backend = device && backendOn(device, { minEntries: 0, linesPerLevel: 0 });
const opened = backend && engineOf(backend);
const engine = opened as unknown as AnyRoutines;
afterAll(() => device?.close());

describe.skipIf(missing !== "")(`ilu0 on webgpu${missing}, HALFULP_SEED=${SEED}`, () => {
  test.each(["binary64", "binary32"] as const)("random patterns, some without factors, %s", async (format) => {
    const source = new Random(SEED + (format === "binary64" ? 1 : 2));
    let [factored, failed] = [0, 0];
    for (let k = 0; k < cases(600); k++) {
      const n = 1 + source.below(k % 10 === 0 ? 60 : 12);
      const A = random(source, n, pick(source, [0, 0.1, 0.3, 0.6, 1]), format, pick(source, ["csr", "csc"]), source.below(4) !== 0);
      if (await check(engine, A)) factored++;
      else failed++;
    }
    expect(Math.min(factored, failed)).toBeGreaterThan(2);
  });

  test("grids, by rows and by columns, and as residents", async () => {
    const source = new Random(SEED + 3);
    for (const A of [laplacian(17, 16, undefined, 9), laplacian(5, 6, 7)]) {
      const rough = mapped(A, (v) => v * (1 + source.signed() / 8));
      for (const B of [A, rough, toCsc(rough)])
        expect(new Set(await launched(device, async () => expect(await check(engine, B)).toBe(true)))).toEqual(new Set(["factorLines"]));
      const resident = await opened.upload(rough);
      expect(await check({ ilu0: () => engine.ilu0(resident as never) }, rough)).toBe(true);
      await resident.free();
    }
  });

  // Bits are cut off windows; what is not proved is summed exactly.
  test("lines whose entries have all magnitudes", async () => {
    const source = new Random(SEED + 4);
    for (const spread of [40, 300])
      for (const A of [laplacian(4, 5, 6, 27), toCsc(laplacian(12, 11, undefined, 9))]) {
        const wild = mapped(A, (v) => v * (1 + (source.signed() + 1) / 2) * 2 ** Math.round(spread * source.signed()));
        await check(engine, wild);
        await check(
          engine,
          mapped(wild, (v) => (source.below(5) === 0 ? 0 : v)),
        );
      }
  });

  test("a chain and few entries stay on the calling thread by default", async () => {
    const usual = engineOf(backendOn(device)) as unknown as AnyRoutines;
    const chain = laplacian(2000, 1);
    for (const A of [chain, laplacian(8, 8)]) expect(await launched(device, () => usual.ilu0(A))).toEqual([]);
    expect(await launched(device, () => usual.ilu0(laplacian(4, 400, 4)))).toEqual([]);
  });
});
