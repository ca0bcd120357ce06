// The device layer, and its errors when OpenCL, a device or its memory is missing or lost.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Engine, engineOf } from "../../src/api/engine.ts";
import { EngineError } from "../../src/arrays/errors.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { devices } from "../../src/engines/opencl/device/find.ts";
import { type Library, loadLibrary } from "../../src/engines/opencl/device/library.ts";
import { backendOn } from "../../src/engines/opencl/index.ts";
import { runAsync, runSync } from "../../src/engines/steps.ts";
import { csr, exdot, exgemv, exsum, matrix } from "../../src/index.ts";
import { caught } from "../caught.ts";

const here = await openDevice().catch((error: Error) => error.message);
const SINGLE_CONFIG = 0x101b;
const DOUBLE_CONFIG = 0x1032;
const EXTENSIONS = 0x1030;
const LOST = -5;

const ADD = `__kernel void add(__global double *x, double by, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] += by;
}`;

describe.skipIf(typeof here === "string")(`a device${typeof here === "string" ? ` (${here})` : ""}`, () => {
  const device = here as OpenclDevice;
  let library: Library;
  beforeAll(async () => {
    library = await loadLibrary();
  });
  afterAll(() => device.close());

  const like = (changes: Partial<Record<keyof Library, (...args: never[]) => unknown>>): Library => ({ ...library, ...changes }) as Library;
  const failing = (code: number) =>
    Object.assign(() => code, { async: (...args: unknown[]) => (args.at(-1) as (e: null, c: number) => void)(null, code) });

  test.each([1, 31, 32, 33, 1000])("writes, runs and reads %i elements, at once and later", async (n) => {
    const x = Float64Array.from({ length: n }, (_, i) => i);
    const buffer = device.allocate("test", x.byteLength);
    device.write(buffer, x);
    const kernel = device.kernel("add", [ADD]);
    device.launch(kernel, [Math.ceil(n / 32)], [32], [buffer, Float64Array.of(0.5), n]);
    const out = new Float64Array(n);
    device.read(buffer, out).now?.();
    expect(out).toEqual(x.map((v) => v + 0.5));
    device.launch(kernel, [Math.ceil(n / 32)], [32], [buffer, Float64Array.of(0.5), n]);
    await device.read(buffer, out).later();
    expect(out).toEqual(x.map((v) => v + 1));
    buffer.free();
  });

  test("fills and copies parts of buffers", () => {
    const [a, b] = [device.allocate("test", 80), device.allocate("test", 80)];
    device.fill(a, Float64Array.of(3));
    device.fill(b, Float64Array.of(5));
    device.copy(a, b, 16, 0, 24);
    const out = new Float64Array(10);
    device.read(b, out).now?.();
    expect([...out]).toEqual([5, 5, 5, 3, 3, 5, 5, 5, 5, 5]);
    a.free();
    b.free();
    a.free(); // twice is once
  });

  test("a kernel is compiled once for the same text and definitions", () => {
    expect(device.kernel("add", [ADD], { A: 1 })).toBe(device.kernel("add", [ADD], { A: 1 }));
    expect(device.kernel("add", [ADD], { A: 1 })).not.toBe(device.kernel("add", [ADD], { A: 2 }));
  });

  test("a program that does not build fails with the log", () => {
    const error = caught(() => device.kernel("bad", ["__kernel void bad() { nowhere = 1; }"]));
    expect(error).toBeInstanceOf(EngineError);
    expect((error as Error).message).toMatch(/^opencl: a kernel does not build on .*nowhere/s);
  });

  test("devices are chosen by index, type and name", async () => {
    const [first] = await devices();
    for (const choice of [first?.index, first?.type, first?.name.slice(3, 9).toUpperCase(), first?.platform, undefined]) {
      const opened = await openDevice(choice as string);
      expect(opened.name).toBe(first?.name);
      await opened.close();
    }
    for (const choice of ["no such thing", 99])
      await expect(openDevice(choice)).rejects.toThrow(new RegExp(`^opencl: no device ${JSON.stringify(choice)}, expected one of 0 "`));
  });

  test("a machine without a device says what to install", async () => {
    const none = like({ clGetPlatformIDs: failing(-1001) as never });
    await expect(openDevice(undefined, none)).rejects.toThrow(/^opencl: no device on this machine: install /);
  });

  test.each([
    ["binary64", DOUBLE_CONFIG, (value: Uint8Array) => value.fill(0)],
    ["subnormals of binary32", SINGLE_CONFIG, (value: Uint8Array) => value.fill(0x80)],
    ["64-bit atomics", EXTENSIONS, (value: Uint8Array) => value.fill(32)],
  ])("a device without %s is refused in one line", async (_, info, forget) => {
    const lacking = like({
      clGetDeviceInfo: (id: never, name: never, size: never, value: never, length: never) => {
        const code = library.clGetDeviceInfo(id, name, size, value, length);
        if (name === info && value !== null) forget(new Uint8Array((value as Uint8Array).buffer));
        return code;
      },
    });
    await expect(openDevice(undefined, lacking)).rejects.toThrow(/^opencl: [^\n]* lacks binary64 [^\n]*$/);
  });

  test("a buffer larger than the device allows is refused before anything is done", () => {
    const error = caught(() => device.allocate("exgemv", device.maxBufferBytes + 1));
    expect(error).toBeInstanceOf(EngineError);
    expect((error as Error).message).toMatch(/^exgemv: \d+ bytes are more than .* takes at once/);
  });

  test("a matrix that does not fit is refused by its routine, and the engine goes on", async () => {
    const small = await openDevice();
    small.maxBufferBytes = 8 * 100;
    const engine = engineOf(backendOn(small));
    const A = matrix(
      Float64Array.from({ length: 400 }, (_, i) => (i % 21 === 0 ? 9 : 0.5)),
      20,
      20,
    );
    const b = new Float64Array(20).fill(1);
    for (const call of [
      () => engine.upload(A),
      () => engine.extrsv(A, b),
      () => engine.exlu(A),
      () => engine.exgemm(1, A, A, 0, { ...A, data: A.data.slice() }),
    ])
      await expect(call()).rejects.toThrow(/^(upload|extrsv|exlu|exgemm): 3200 bytes are more than /);
    // By rows, or by parts, as much as there is room for.
    expect(await engine.exgemv(1, A, b, 0, new Float64Array(20))).toEqual(exgemv(1, A, b, 0, new Float64Array(20)));
    expect(await engine.exsum(A.data)).toBe(exsum(A.data));
    expect(await engine.exdot(A.data, A.data)).toBe(exdot(A.data, A.data));
    await engine.close();
  });

  test("memory that is refused fails the call, gives back what it took, and the next works", async () => {
    let refuse = Number.POSITIVE_INFINITY;
    let taken = 0;
    const short = like({
      clCreateBuffer: (...args: never[]) => {
        if (refuse-- <= 0) {
          (args[4] as unknown as Int32Array)[0] = -4;
          return 0n;
        }
        taken++;
        return library.clCreateBuffer(...args);
      },
      clReleaseMemObject: (handle: never) => {
        taken--;
        return library.clReleaseMemObject(handle);
      },
    });
    const A = matrix(
      Float64Array.from({ length: 40 * 40 }, (_, i) => ((i * 7919) % 1000) / 1000 + (i % 41 === 0 ? 50 : 0)),
      40,
      40,
    );
    const b = new Float64Array(40).fill(1);
    const calls: ((engine: Engine) => Promise<unknown>)[] = [
      (engine) => engine.exdot(A.data, A.data),
      (engine) => engine.exgemv(1, A, b, 0, new Float64Array(40)),
      (engine) => engine.extrsv(A, b),
      async (engine) => (await engine.exlu(A)).lu.data,
      async (engine) => (await engine.sptrsv(csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), Float64Array.of(2, 1, 4)))).bytes,
    ];
    let refused = 0;
    for (const call of calls)
      for (let k = 0; ; k++) {
        const engine = engineOf(backendOn(await openDevice(undefined, short)));
        refuse = k;
        const result = await call(engine).catch((error: unknown) => error);
        const through = refuse >= 0;
        refuse = Number.POSITIVE_INFINITY;
        if (!through) {
          expect(result).toBeInstanceOf(EngineError);
          expect((result as Error).message).toMatch(/^(?!undefined).*no device memory/);
          refused++;
        }
        await call(engine); // the next call works
        await engine.close();
        expect(taken).toBe(0);
        if (through) break;
      }
    expect(refused).toBeGreaterThan(10);
  });

  test("a device that is lost in the middle fails the call, and all later ones until it is opened again", async () => {
    let lost = false;
    const mortal = (name: "clFinish" | "clEnqueueReadBuffer") => {
      const real = library[name];
      return Object.assign((...args: unknown[]) => (lost ? LOST : real(...args)), {
        async: (...args: unknown[]) => (lost ? (args.at(-1) as (e: null, c: number) => void)(null, LOST) : real.async(...args)),
      });
    };
    const dying = like({ clFinish: mortal("clFinish") as never, clEnqueueReadBuffer: mortal("clEnqueueReadBuffer") as never });
    const engine = engineOf(backendOn(await openDevice(undefined, dying)));
    const x = Float64Array.of(1, 2, 3);
    expect(await engine.exsum(x)).toBe(6);
    const resident = await engine.upload(x);
    const y = Float64Array.of(1, 1, 1);
    lost = true;
    await expect(engine.exgemv(1, matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3), x, 1, y)).rejects.toThrow(EngineError);
    expect([...y]).toEqual([1, 1, 1]);
    lost = false;
    await expect(engine.exsum(x)).rejects.toThrow(/was lost \(.*\): close the engine and open it again$/);
    await expect(resident.read()).rejects.toThrow(EngineError);
    await engine.close();
    const again = engineOf(backendOn(await openDevice()));
    expect(await again.exsum(x)).toBe(6);
    await again.close();
  });

  test("after close() calls are refused, pending calls fail, and nothing hangs", async () => {
    const engine = engineOf(backendOn(await openDevice()));
    const x = new Float64Array(100_000).fill(0.1);
    const pending = [engine.exsum(x), engine.exdot(x, x)].map((call) => call.catch((error: unknown) => error));
    await engine.close();
    for (const result of await Promise.all(pending)) expect(result).toBeInstanceOf(EngineError);
    await expect(engine.exsum(x)).rejects.toThrow("the engine is closed");
    await engine.close();
  });

  test("work that fails cleans up, at once and later", async () => {
    const order: string[] = [];
    function* work() {
      try {
        yield {
          now: () => {
            throw new EngineError("gone");
          },
          later: () => Promise.reject(new EngineError("gone")),
        };
      } finally {
        order.push("tidied");
      }
    }
    expect(() => runSync(work())).toThrow("gone");
    await expect(runAsync(work())).rejects.toThrow("gone");
    expect(order).toEqual(["tidied", "tidied"]);
  });
});
