// The engine as a user opens it: many calls at once, devices and choices that there are and are not.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ShapeError } from "../../src/arrays/errors.ts";
import type { Choices } from "../../src/engines/opencl/choices.ts";
import { openDevice } from "../../src/engines/opencl/device/device.ts";
import { backendOn } from "../../src/engines/opencl/index.ts";
import {
  type Engine,
  engines,
  exdot,
  exgemv,
  exlu,
  exsum,
  extrsv,
  illConditionedDot,
  laplacian,
  matrix,
  open as openAny,
  sptrsv,
} from "../../src/index.ts";
import { devices, open } from "../../src/opencl.ts";
import { engineOf, Random } from "../../src/study.ts";
import { storedBits } from "../hex.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

const found = (await engines()).find(({ kind }) => kind === "opencl");

describe.skipIf(!found?.available)(`the engine opencl ${found?.reason ?? ""}`, () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openAny("opencl");
  });
  afterAll(() => engine.close());
  const random = new Random(17);
  const vector = (n: number) => Float64Array.from({ length: n }, () => random.signed());

  test("is the device that is listed", async () => {
    expect(engine.kind).toBe("opencl");
    expect(engine.device).toBe(found?.device);
    expect((await devices()).map(({ name }) => name)).toContain(engine.device);
  });

  test("takes a thousand calls at once", async () => {
    const x = vector(100);
    const want = exsum(x);
    const sums = await Promise.all(Array.from({ length: 1000 }, () => engine.exsum(x)));
    expect(sums.every((sum) => Object.is(sum, want))).toBe(true);
    const residents = await Promise.all(Array.from({ length: 300 }, (_, k) => engine.upload(Float64Array.of(k, 1))));
    await Promise.all(residents.map((resident) => engine.exscal(3, resident)));
    const back = await Promise.all(residents.map((resident) => resident.read()));
    expect(back.map((v) => v[0])).toEqual(back.map((_, k) => 3 * k));
    for (const resident of residents) resident.free();
  });

  test("the factors of exlu free their device memory when they are collected", async () => {
    const device = await openDevice();
    let buffers = 0;
    const allocate = device.allocate.bind(device);
    device.allocate = (routine, bytes) => {
      const buffer = allocate(routine, bytes);
      let held = 1;
      buffers++;
      for (const name of ["free", "recycle"] as const) {
        const release = buffer[name].bind(buffer);
        buffer[name] = () => {
          buffers -= held;
          held = 0;
          release();
        };
      }
      return buffer;
    };
    const own = engineOf(backendOn(device));
    const A = matrix(vector(100), 10, 10);
    const b = vector(10);
    const solveOnce = async () => (await own.exlu(A)).solve(b); // in a function, or this one would still hold the factors
    await solveOnce();
    for (let k = 0; k < 50 && buffers > 1; k++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(buffers).toBeLessThanOrEqual(1); // a workspace that all reductions of a device share
    await expect(own.exlu(matrix(new Float64Array(4), 2, 2))).rejects.toThrow("exlu: the pivot of column 0 is 0");
    expect(buffers).toBeLessThanOrEqual(1); // a failed call leaves nothing
    await own.close();
  });

  test("ends calls in their order, however many steps each takes", async () => {
    // Some have entries that only the exact stage decides, with a factor that only the host takes.
    const n = 60;
    const { x: row, y: x } = illConditionedDot(n, 1e60, 3);
    const hard = matrix(
      Float64Array.from({ length: n * n }, (_, i) => row[i % n] as number),
      n,
      n,
    );
    const easy = matrix(vector(n * n), n, n);
    const y = new Float64Array(n);
    const ended: number[] = [];
    await Promise.all([hard, easy, hard, easy, easy].map((A, k) => engine.exgemv(1.5, A, x, 0, y).then(() => ended.push(k))));
    expect(ended).toEqual([0, 1, 2, 3, 4]);
    expect(storedBits(y)).toEqual(storedBits(exgemv(1.5, easy, x, 0, new Float64Array(n))));
  });

  test.each(["", null, {}, -1, 0.5, true])("has no device %j", async (device) => {
    for (const opening of [openAny("opencl", { device: device as string }), open({ device: device as string })])
      await expect(opening).rejects.toThrow(/^open: device is .*, expected a place in the list of devices or a part of a name$/);
  });

  test.each<[unknown, string]>([
    [null, "options is null"],
    [{ trsv: { slots: 3 } }, "choices.trsv.slots is 3, expected one of 1, 2, 4, 8"],
    [{ trsv: { block: 8 } }, "there is no choices.trsv.block, expected some of slots, depth"],
    [{ lu: { width: 0 } }, "choices.lu.width is 0, expected one of 32, 64"],
    [{ filter: { unroll: 0 } }, "choices.filter.unroll is 0, expected one of 1, 2, 4"],
    [{ sparse: { group: 0 } }, "choices.sparse.group is 0, expected one of"],
    [{ stage: "fpe9" }, 'choices.stage is "fpe9", expected one of superaccumulator, fpe2'],
    [{ gemv: 5 }, "choices.gemv is 5, expected an object with some of rowLanes"],
    [{ gemv: null }, "choices.gemv is null, expected an object"],
    [{ gemv: { rowLanes: 256, colLanes: 8 } }, "choices.gemv has 256 by 8 lanes, expected at most 1024 in all"],
    [{ gemm: {} }, 'there is no option "gemm"'],
  ])("refuses the choices %j", async (choices, message) => {
    const error = await open({ choices: choices as Choices }).catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(ShapeError);
    expect((error as Error).message).toContain(`open: ${message}`);
  });

  test.each<Choices>([
    { filter: { levels: 2, unroll: 1, group: 32, groups: 1 }, stage: "fpe3", exact: { group: 16, stride: 4 } },
    { gemv: { rowLanes: 16, colLanes: 2, rowsEach: 2, deep: 2, chunks: 3 }, trsv: { slots: 2, depth: 2 } },
    { lu: { width: 32, shortest: 64, groups: 8, resident: false }, sparse: { group: 8, groups: 8, window: 8 } },
  ])("returns the same bits with %j", async (choices) => {
    const chosen = await open({ choices });
    const n = 100;
    const A = matrix(
      vector(n * n).map((v, i) => (i % (n + 1) === 0 ? v + 9 : v)),
      n,
      n,
    );
    const b = vector(n);
    expect(await chosen.exdot(A.data, A.data)).toBe(exdot(A.data, A.data));
    expect(storedBits(await chosen.exgemv(1, A, b, 0, new Float64Array(n)))).toEqual(storedBits(exgemv(1, A, b, 0, new Float64Array(n))));
    expect(storedBits(await chosen.extrsv(A, b))).toEqual(storedBits(extrsv(A, b)));
    expect(storedBits((await chosen.exlu(A)).lu.data)).toEqual(storedBits(exlu(A).lu.data));
    const grid = laplacian(10, 10);
    expect(storedBits(await (await chosen.sptrsv(grid)).solve(b))).toEqual(storedBits(sptrsv(grid).solve(b)));
    await chosen.close();
  });
});
