// open() and engines(): their arguments, what is there and what is missing.
import { afterEach, describe, expect, test, vi } from "vitest";
import { EngineError, engines, open, ShapeError } from "../../src/index.ts";
import { engineOf, kernels, openThreads } from "../../src/study.ts";

const wild = open as (...args: unknown[]) => ReturnType<typeof open>;
const x = Float64Array.of(1e16, 1, -1e16);
const VARIANTS = (["fma", "dekker"] as const).filter((variant) => kernels(`wasm-${variant}`));
afterEach(() => vi.unstubAllGlobals());

describe("open", () => {
  test.each([
    [["gpu"], 'open: kind is "gpu", expected one of "auto", "wasm", "threads"'],
    [[""], 'open: kind is ""'],
    [[null], "open: kind is null"],
    [[2], "open: kind is 2"],
    [[{ threads: 2 }], "open: kind is an object of type Object"],
    [["threads", null], "open: options is null, expected an object"],
    [["threads", 4], "open: options is 4, expected an object"],
    [["threads", { thread: 2 }], 'open: there is no option "thread", expected threads'],
    [["threads", { threads: 0 }], "open: threads is 0, expected a whole number of at least 1"],
    [["threads", { threads: -1 }], "open: threads is -1"],
    [["threads", { threads: 1.5 }], "open: threads is 1.5"],
    [["threads", { threads: "2" }], 'open: threads is "2"'],
    [["threads", { threads: Number.NaN }], "open: threads is NaN"],
    [["threads", { threads: Number.POSITIVE_INFINITY }], "open: threads is Infinity"],
    [["threads", { threads: null }], "open: threads is null"],
    [["wasm", { threads: 0 }], "open: threads is 0"],
  ])("%j is refused", async (args, message) => {
    const opening = wild(...args); // a promise, whatever is wrong
    await expect(opening).rejects.toThrow(message);
    await expect(opening).rejects.toBeInstanceOf(ShapeError);
  });

  test.each([1025, 1e9])("%d threads are more than an engine has", async (threads) => {
    await expect(open("threads", { threads })).rejects.toThrow(`open: threads is ${threads}, expected at most 1024`);
    await expect(open("threads", { threads })).rejects.toBeInstanceOf(EngineError);
  });

  test("says what was opened", async () => {
    const all = await Promise.all([
      open("wasm"),
      open("threads", { threads: 3 }),
      open("threads", { threads: undefined }),
      open(),
      open("auto"),
    ]);
    const [wasm, threads, plain, none, auto] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0], (typeof all)[0], (typeof all)[0]];
    expect([wasm.kind, threads.kind, plain.kind, none.kind, auto.kind]).toEqual(["wasm", "threads", "threads", "threads", "threads"]);
    expect(wasm.device).toMatch(/^wasm-(fma|dekker)$/);
    expect(threads.device).toMatch(/^3 threads, wasm-(fma|dekker)$/);
    expect(plain.device).toBe(none.device);
    for (const engine of all) {
      expect(await engine.exsum(x)).toBe(1);
      await engine.close();
    }
  });

  test("starts workers for both builds of the kernels", async () => {
    for (const variant of VARIANTS) {
      const engine = engineOf(await openThreads(2, variant));
      expect(engine.device).toBe(`2 threads, wasm-${variant}`);
      expect(await engine.exsum(x)).toBe(1);
      await engine.close();
    }
  });

  test("fails where workers cannot be started, and leaves none behind", async () => {
    let ended = 0;
    const failing = (at: number) => {
      let count = 0;
      return () => {
        if (count++ === at) throw new Error("no more workers");
        return { post() {}, listen() {}, keepAlive() {}, end: async () => void ended++ };
      };
    };
    const opening = openThreads(4, undefined, failing(2));
    await expect(opening).rejects.toThrow("threads: a worker could not start: no more workers");
    await expect(opening).rejects.toBeInstanceOf(EngineError);
    expect(ended).toBe(2);
  });

  test("takes less address space where 4 GiB are refused, and says so where none is left", async () => {
    const { Memory } = WebAssembly;
    const asked: number[] = [];
    const limited = (most: number) =>
      function (this: unknown, descriptor: WebAssembly.MemoryDescriptor) {
        if (!descriptor.shared) return new Memory(descriptor);
        asked.push(descriptor.maximum as number);
        if ((descriptor.maximum as number) > most) throw new RangeError("WebAssembly.Memory(): could not allocate memory");
        return new Memory(descriptor);
      };
    try {
      WebAssembly.Memory = limited(20000) as unknown as typeof Memory;
      const engine = await open("threads", { threads: 2 });
      expect(asked).toEqual([65536, 32768, 16384]);
      expect(await engine.exsum(x)).toBe(1);
      await engine.close();
      WebAssembly.Memory = limited(0) as unknown as typeof Memory;
      await expect(open("threads", { threads: 2 })).rejects.toThrow("open: no memory for 2 threads");
      const auto = await open("auto", { threads: 2 }); // the best that can be had
      expect(auto.kind).toBe("wasm");
    } finally {
      WebAssembly.Memory = Memory;
    }
  });
});

describe("engines", () => {
  test("names what can be opened", async () => {
    const [wasm, threads] = await engines();
    expect(wasm).toEqual({ kind: "wasm", available: true, device: expect.stringMatching(/^wasm-/) });
    expect(threads).toEqual({ kind: "threads", available: true, device: expect.stringMatching(/^\d+ threads, wasm-/) });
  });

  test("names the headers that a page lacks", async () => {
    vi.stubGlobal("crossOriginIsolated", false);
    const reason = expect.stringContaining("Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp");
    expect((await engines())[1]).toEqual({ kind: "threads", available: false, reason });
    await expect(open("threads")).rejects.toThrow(expect.objectContaining({ name: "EngineError", message: reason }));
    const auto = await open("auto");
    expect(auto.kind).toBe("wasm");
    expect(await auto.exsum(x)).toBe(1);
  });

  test("names missing workers", async () => {
    vi.stubGlobal("process", undefined);
    const reason = "threads need workers, which this runtime does not have";
    expect((await engines())[1]).toEqual({ kind: "threads", available: false, reason });
    await expect(open("threads", { threads: 2 })).rejects.toThrow(`open: ${reason}`);
  });
});
