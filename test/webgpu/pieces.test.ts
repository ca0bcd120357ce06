// Vectors and matrices of the WebGPU engine that are larger than a binding: on a device whose limit is made small.
import { afterAll, describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import { openDevice } from "../../src/engines/webgpu/device/device.ts";
import { findAdapter } from "../../src/engines/webgpu/device/find.ts";
import { backendOn } from "../../src/engines/webgpu/index.ts";
import { exaxpy, exdot, exgemm, exgemv, exscal, exsum } from "../../src/index.ts";
import { engineOf, Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { numbers } from "../matrices.ts";

const device = await findAdapter().then(openDevice, () => undefined);
const engine = device && engineOf(backendOn(device));
if (device) device.maxBindingBytes = 16_384;
const random = new Random(SEED);
afterAll(() => engine?.close());

describe.skipIf(!engine)(`operands beyond a binding${engine ? "" : " (Dawn finds no adapter)"}, HALFULP_SEED=${SEED}`, () => {
  if (!engine) return;

  test("vectors, on the host and on the device", async () => {
    for (const kind of ["narrow", "cancelling"] as const) {
      const [x, y] = [numbers(random, 9001, "binary64", kind), numbers(random, 9001, "binary64", kind)] as Float64Array[];
      const single = numbers(random, 9001, "binary32", kind) as Float32Array;
      const [a, b, c] = [await engine.upload(x as Float64Array), await engine.upload(y as Float64Array), await engine.upload(single)];
      const label = `${kind} (HALFULP_SEED=${SEED})`;
      expect(await engine.exdot(x as Float64Array, y as Float64Array), label).toBe(exdot(x as Float64Array, y as Float64Array));
      expect(await engine.exdot(a, b), label).toBe(exdot(x as Float64Array, y as Float64Array));
      for (const each of [single, c]) expect(await engine.exsum(each as never), label).toBe(exsum(single));
      await engine.exaxpy(3, a, b);
      await engine.exscal(0.1, c);
      expect(await b.read(), label).toEqual(exaxpy(3, x as Float64Array, y as Float64Array));
      expect(await c.read(), label).toEqual(exscal(0.1, single));
      for (const each of [a, b, c]) each.free();
    }
  });

  test("matrices by rows and by columns, on the host and on the device", async () => {
    for (const order of ["row", "column"] as const) {
      const A = matrix(numbers(random, 150 * 151, "binary64", "wide") as Float64Array, 150, 147, {
        order,
        ld: 151,
        offset: 2,
      });
      const x = numbers(random, 147, "binary64", "wide") as Float64Array;
      const y = numbers(random, 150, "binary64", "wide") as Float64Array;
      const want = exgemv(0.3, A, x, -1, y.slice());
      const kept = await engine.upload(A);
      for (const left of [A, kept]) expect(await engine.exgemv(0.3, left as never, x, -1, y.slice()), order).toEqual(want);
      const B = matrix(numbers(random, 147 * 3, "binary64", "wide") as Float64Array, 147, 3);
      const C = () => matrix(new Float64Array(450), 150, 3);
      for (const left of [A, kept])
        expect((await engine.exgemm(1, left as never, B, 0, C())).data, order).toEqual(exgemm(1, A, B, 0, C()).data);
      kept.free();
    }
  });
});
