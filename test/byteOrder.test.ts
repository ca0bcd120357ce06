// What the library does on a big-endian machine, where typed arrays and WebAssembly disagree about the order of bytes. This machine
// is only said to be one; `npm run check:package` runs the package on an emulated one.
import { describe, expect, test, vi } from "vitest";
import { synchronousFunctions } from "../src/cli/engines.ts";
import { Accumulator, allocate, EngineError, engines, exdot, exgemv, exlu, exsum, free, matrix, open } from "../src/index.ts";
import { devices } from "../src/opencl.ts";
import { kernels } from "../src/study.ts";

vi.mock(import("../src/arrays/byteOrder.ts"), () => ({ LITTLE_ENDIAN: false }));

const REASONS = {
  wasm: 'the engine needs WebAssembly over little-endian typed arrays, and this machine is big-endian; open("auto") runs plain TypeScript',
  threads: "threads need WebAssembly over little-endian typed arrays, and this machine is big-endian",
  opencl: "it needs little-endian typed arrays, and this machine is big-endian",
  webgpu: "it needs little-endian typed arrays, and this machine is big-endian",
};

describe("on a big-endian machine", () => {
  test("the reference engine serves, and no build of the kernels does", () => {
    expect(kernels("embedded")?.name).toBe("reference");
    expect([kernels("wasm-fma"), kernels("wasm-dekker")]).toEqual([undefined, undefined]);
    expect(synchronousFunctions().name).toBe("reference");
  });

  test("the synchronous routines and arrays of the engine work", () => {
    const x = allocate(100).fill(0.5);
    expect([exsum(x), exdot(x, x)]).toEqual([50, 25]);
    free(x);
    expect(new Accumulator().add(Float64Array.of(1e16, 1, -1e16)).value()).toBe(1);
    const A = matrix(Float64Array.of(1, 2, 3, 4), 2, 2);
    expect(exgemv(1, A, Float64Array.of(1, 1), 0, new Float64Array(2))).toEqual(Float64Array.of(3, 7));
    expect(exlu(matrix(Float64Array.of(2, 1, 4, 4), 2, 2)).lu.data).toEqual(Float64Array.of(4, 4, 0.5, -1));
  });

  test("engines() says why the others are not available", async () => {
    expect(await engines()).toEqual(Object.entries(REASONS).map(([kind, reason]) => ({ kind, available: false, reason })));
  });

  test.each(["wasm", "threads", "opencl", "webgpu"] as const)("open(%j) says why it fails", async (kind) => {
    const opening = open(kind, { threads: 2 });
    await expect(opening).rejects.toBeInstanceOf(EngineError);
    await expect(opening).rejects.toThrow(REASONS[kind]);
  });

  test("the devices of OpenCL are not listed, for the same reason", async () => {
    await expect(devices()).rejects.toThrow(REASONS.opencl);
  });

  test("open() gives the reference engine", async () => {
    const engine = await open();
    expect([engine.kind, engine.device]).toEqual(["wasm", "reference"]);
    const A = await engine.upload(matrix(Float64Array.of(1, 2, 3, 4), 2, 2));
    expect(await engine.exgemv(1, A, Float64Array.of(1, 1), 0, new Float64Array(2))).toEqual(Float64Array.of(3, 7));
    await engine.close();
  });
});
