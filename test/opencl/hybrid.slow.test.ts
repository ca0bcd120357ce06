// solve() with rounding "backward" shared by CPU and GPU: every sharing, on systems whose factors are exact and on random ones, and what may go wrong.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { engineOf } from "../../src/api/engine.ts";
import type { ApproximateKernels } from "../../src/engines/approximate.ts";
import { type OpenclDevice, openDevice } from "../../src/engines/opencl/device/device.ts";
import { type Library, loadLibrary } from "../../src/engines/opencl/device/library.ts";
import { Cpu } from "../../src/engines/opencl/hybrid/cpu.ts";
import { movesOf } from "../../src/engines/opencl/hybrid/factor.ts";
import type { Sharing } from "../../src/engines/opencl/hybrid/hybrid.ts";
import { panelOnHost } from "../../src/engines/opencl/hybrid/panel.ts";
import type { Phase } from "../../src/engines/opencl/hybrid/phases.ts";
import { backendOn, kernelsOn } from "../../src/engines/opencl/index.ts";
import { ThreadKernels } from "../../src/engines/threads/index.ts";
import { EngineError, exgemm, exgemv, type Matrix, matrix } from "../../src/index.ts";
import { open } from "../../src/opencl.ts";
import { openThreads, Random } from "../../src/study.ts";
import { caught } from "../caught.ts";
import { storedBits } from "../hex.ts";
import { backward } from "../solve/backward.ts";
import { hesitant, openMortal } from "../threads/mortal.ts";
import { transpileTo } from "../transpiled.ts";

const here = await openDevice().catch((error: Error) => error.message);
const SIZES = [1, 31, 32, 33, 63, 64, 65, 100, 129, 200];
const WHO = ["cpu", "gpu"] as const;
const SHARINGS: Partial<Sharing>[] = [
  ...([0, 1, 2] as const).map((lookAhead) => ({ panel: "cpu", lookAhead }) as const),
  { panel: "gpu" } as const,
].flatMap((one) => WHO.flatMap((forward) => WHO.map((backward) => ({ ...one, forward, backward }))));

const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * P A = L U with small integers: L = I + N/2 and U = D (I + M) have nonzeros beside the diagonal only in odd rows and even columns,
 * or the other way round, so that N N = M M = 0 and also the inverses of all diagonal blocks are exact. Below the diagonal L has
 * no 1s: there is but one choice of pivots.
 */
function exactSystem(n: number, random: Random): { A: Float64Array; order: number[] } {
  const rows = Array.from({ length: n }, () => new Float64Array(n));
  const small = (): number => Math.round(random.signed() * 2);
  const L = rows.map((_, i) => rows.map((_, j) => (i === j ? 1 : i > j && i % 2 > j % 2 ? small() / 4 : 0)));
  const U = rows.map((_, i) => {
    const d = 2 ** (3 + (i % 3)) * (i % 2 ? 1 : -1);
    return rows.map((_, j) => (i === j ? d : i < j && i % 2 < j % 2 ? d * small() : 0));
  });
  const order = rows.map((_, i) => i).sort(() => random.signed());
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let k = 0; k <= i; k++)
      for (let j = k; j < n; j++)
        A[(order[i] as number) * n + j] = (A[(order[i] as number) * n + j] as number) + (L[i]?.[k] as number) * (U[k]?.[j] as number);
  return { A, order };
}

const entries = (data: Float64Array, n: number) => ({ data, offset: 0, rows: n, cols: n, rowStride: n, colStride: 1 });
const noScaling = (n: number) => ({ rows: new Float64Array(n).fill(1), cols: new Float64Array(n).fill(1) });

describe("panels", () => {
  test.each([1, 2, 7, 64])("of %i columns: rows go where the swaps take them", (width) => {
    const random = new Random(width);
    const rows = 3 * width;
    const pivots = Int32Array.from({ length: width }, (_, j) => j + Math.floor(Math.abs(random.signed()) * (rows - j)));
    const want = Array.from({ length: 100 + rows }, (_, i) => i);
    for (const [j, pivot] of pivots.entries()) [want[100 + j], want[100 + pivot]] = [want[100 + pivot] as number, want[100 + j] as number];
    const got = want.map((_, i) => i);
    const moves = movesOf(100, pivots);
    for (let k = 0; k < moves.length; k += 2) if ((moves[k] as number) >= 0) got[moves[k + 1] as number] = moves[k] as number;
    expect(got).toEqual(want);
  });

  test("on this thread are those of the threads, and end at the same column", async () => {
    const random = new Random(5);
    const threads = await openThreads(2);
    const [rows, cols] = [90, 32];
    for (const spoil of [() => {}, (a: Float32Array) => a.set(a.map((v, i) => (i % cols === 9 ? 0 : v)))]) {
      const a = Float32Array.from({ length: rows * cols }, () => random.signed());
      spoil(a);
      const [one, two] = [a.slice(), a.slice()];
      const [p, q] = [new Int32Array(cols), new Int32Array(cols)];
      const column = panelOnHost(one, rows, cols, p);
      expect(await threads.panel(two, rows, cols, q)).toBe(column);
      if (column >= 0) continue;
      expect(p).toEqual(q);
      expect(one.every((v, i) => Math.abs(v - (two[i] as number)) < 1e-4)).toBe(true);
    }
    await threads.close();
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])("with %d end there", (bad) => {
    const a = Float32Array.of(2, 1, 1, 3, 0, bad);
    expect(panelOnHost(a, 3, 2, new Int32Array(2))).toBe(1);
  });
});

describe.skipIf(typeof here === "string")(`CPU and GPU${typeof here === "string" ? ` (${here})` : ""}`, () => {
  const device = here as OpenclDevice;
  const cpu = new Cpu(() => openThreads(2), panelOnHost);
  afterAll(async () => {
    await cpu.close();
    await device.close();
  });
  const plainOn = (solve: Partial<Sharing>) => backendOn(device, { solve }, cpu).approximate as ApproximateKernels;
  const random = new Random(23);
  const vector = (n: number) => Float64Array.from({ length: n }, () => random.signed());

  test("a read up to an event does not wait for what comes after it, and queues wait for each other's events", async () => {
    const slow = device.kernel("slow", [
      "__kernel void slow(__global float *x, int n) { float s = 1; for (int i = 0; i < n; i++) s = sin(s); x[0] = s > 2 ? 0 : 1; }",
    ]);
    const [x, y] = [device.allocate("test", 4), device.allocate("test", 4)];
    device.fill(y, Float32Array.of(7));
    const event = device.event();
    device.launch(slow, [1], [1], [y, 10_000_000]);
    const out = new Float32Array(1);
    await device.read(y, out, 0, event).later();
    expect(out[0]).toBe(7); // what the kernel has not yet written
    const behind = device.event();
    device.onSecondQueue(() => {
      device.waitFor(behind);
      device.copy(y, x, 4);
    });
    device.waitFor(device.onSecondQueue(() => device.event()));
    await device.read(x, out).later();
    expect(out[0]).toBe(1);
    x.free();
    y.free();
  });

  test("a device that does not record says so", () => {
    expect(caught(() => device.record())).toBeInstanceOf(EngineError);
  });

  const exact = SIZES.map((n) => {
    const x = Float64Array.from({ length: n }, () => Math.round(random.signed() * 2) + 2.5); // no zeros, which have signs
    const { A, order } = exactSystem(n, random);
    return { n, A, order, x, b: exgemv(1, matrix(A, n, n), x, 0, new Float64Array(n)) };
  });
  test.each(SHARINGS)("exact factors give exact solutions with %j", async (solve) => {
    const plain = plainOn(solve);
    const now = kernelsOn(device, { solve }).approximate as ApproximateKernels;
    for (const { n, A, order, x, b } of exact) {
      const kernels = n % 2 ? plain : now; // both drivers, of which each would take as long again
      const found = new Float64Array(n);
      const factors = await kernels.factorize("solve", entries(A, n), noScaling(n), "binary32", b, 1, found);
      expect([factors.column, found]).toEqual([-1, x]);
      expect((factors as unknown as { order: Int32Array }).order).toEqual(Int32Array.from(order));
      found.fill(9);
      await kernels.substitute("solve", factors, b, 1, found);
      expect(found).toEqual(x);
      const three = (v: Float64Array): Float64Array =>
        Float64Array.from({ length: 3 * n }, (_, i) => (v[Math.floor(i / 3)] as number) * (1 + (i % 3)));
      const many = new Float64Array(3 * n);
      await kernels.substitute("solve", factors, three(b), 3, many);
      expect(many).toEqual(three(x));
      factors.free();
    }
  });

  test("random systems: the residual is small, and the bits do not depend on the look-ahead", async () => {
    for (const n of SIZES) {
      const A = matrix(vector(n * n), n, n);
      const b = vector(n);
      const bits = new Map<string, string[]>();
      for (const solve of SHARINGS) {
        const found = await backward(engineOf(backendOn(device, { solve }, cpu))).solve(A, b, { method: "mixed", fallback: false });
        expect([n, solve, found.converged, found.residual <= 1, found.fellBack]).toEqual([n, solve, true, true, false]);
        const others = JSON.stringify({ ...solve, lookAhead: 0 });
        expect([n, solve, storedBits(found.x)]).toEqual([n, solve, bits.get(others) ?? storedBits(found.x)]);
        bits.set(others, storedBits(found.x));
      }
    }
  });

  test.each([0, 1, 2] as const)(
    "with look-ahead %i the column of a pivot that is 0 or not finite is told, and x left alone",
    async (lookAhead) => {
      const plain = plainOn({ panel: "cpu", lookAhead });
      for (const [n, column, value] of [
        [200, 0, 0],
        [200, 63, 0],
        [200, 64, Number.POSITIVE_INFINITY],
        [200, 150, 0],
        [129, 128, 0],
      ] as const) {
        const A = vector(n * n).map((v, i) => (i % n === column ? value : v));
        const x = new Float64Array(n).fill(7);
        const factors = await plain.factorize("solve", entries(A, n), noScaling(n), "binary32", vector(n), 1, x);
        expect(value === 0 ? factors.column : factors.column >= 0 && factors.column <= column).toBe(value === 0 ? column : true);
        expect(x).toEqual(new Float64Array(n).fill(7));
        factors.free();
      }
    },
  );

  test("a rest that takes longer than several panels is waited for", async () => {
    const n = 500;
    const A = vector(n * n);
    const b = vector(n);
    const solutions: string[][] = [];
    for (const lookAhead of [0, 2, 2, 1] as const) {
      const x = new Float64Array(n);
      const plain = backendOn(device, { solve: { panel: "cpu", lookAhead }, plain: { panel: 32 } }, cpu).approximate as ApproximateKernels;
      (await plain.factorize("solve", entries(A, n), noScaling(n), "binary32", b, 1, x)).free();
      solutions.push(storedBits(x));
    }
    for (const solution of solutions) expect(solution).toEqual(solutions[0]);
  });

  test.each(["binary32", "binary64"] as const)("the next residual comes with back substitution in %s", async (format) => {
    for (const forward of WHO)
      for (const n of [1, 64, 129, 200])
        for (const byRows of [true, false]) {
          const plain = plainOn({ forward, backward: "cpu" });
          const [A, b, c] = [vector(n * n), vector(n), vector(n)];
          const given = { ...entries(A, n), rowStride: byRows ? n : 1, colStride: byRows ? 1 : n };
          const factors = await plain.factorize("solve", given, noScaling(n), format, b, 0, new Float64Array(0));
          const [x, r, want, once] = [new Float64Array(n), new Float64Array(n), new Float64Array(n), new Int32Array(n)];
          const y = vector(n);
          const old = y.slice();
          const update = (from: number, to: number): void => {
            for (let j = from; j < to; j++) {
              y[j] = (y[j] as number) + (x[j] as number);
              once[j] = (once[j] as number) + 1;
            }
          };
          await plain.refine?.("solve", factors, b, x, { A: given, alpha: 0.5, c, y, r, update });
          await plain.substitute("solve", factors, b, 1, want);
          expect([...once]).toEqual(Array(n).fill(1));
          expect(x).toEqual(want);
          expect(y).toEqual(old.map((v, j) => v + (x[j] as number)));
          // Twice the precision, and data that need no more.
          expect(r).toEqual(exgemv(-0.5, { ...matrix(A, n, n), order: byRows ? "row" : "column" } as Matrix, y, 1, c.slice()));
          factors.free();
        }
  });

  test("the GPU alone brings no residual with back substitution, and one by itself in twice the precision", async () => {
    const plain = plainOn({});
    expect(plain.refine).toBeUndefined();
    for (const n of [1, 33, 200])
      for (const k of [1, 3]) {
        const [A, x, b] = [vector(n * n), vector(n * k), vector(n * k)];
        const r = new Float64Array(n * k);
        await plain.residual?.("solve", -2, entries(A, n), x, b, k, r);
        expect(r).toEqual(exgemm(-2, matrix(A, n, n), matrix(x, n, k), 1, matrix(b.slice(), n, k)).data);
      }
  });

  test("other calls go on meanwhile, and so does the event loop", async () => {
    const n = 400;
    const A = matrix(vector(n * n), n, n);
    const b = vector(n);
    const engine = backward(engineOf(backendOn(device, { solve: { panel: "cpu", lookAhead: 2, forward: "cpu", backward: "cpu" } }, cpu)));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const calls = [engine.solve(A, b), engine.exsum(b), engine.solve(A, b), engine.exdot(b, b)];
    const found = await Promise.all(calls);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
    expect(storedBits((found[0] as { x: Float64Array }).x)).toEqual(storedBits((found[2] as { x: Float64Array }).x));
  });

  test("phases are told, with how long CPU and GPU were at work", async () => {
    const phases: Phase[] = [];
    const n = 300;
    const A = matrix(vector(n * n), n, n);
    const solve = {
      panel: "cpu",
      lookAhead: 1,
      forward: "cpu",
      backward: "cpu",
      watch: (phase: Phase) => void phases.push(phase),
    } as const;
    const engine = backward(await open({ choices: { solve } }));
    const { iterations } = await engine.solve(A, vector(n), { method: "mixed" });
    await engine.close();
    // A correction each, and then the random system that shows that A is regular.
    expect(phases.slice(0, 2).map(({ name }) => name)).toEqual(["factorize", "backward"]);
    expect(phases.length).toBeGreaterThan(2 + 2 * iterations);
    phases.slice(2).forEach(({ name }, k) => {
      expect(name).toBe(k % 2 === 0 ? "forward" : "backward");
    });
    for (const { n: order, wall, cpu, gpu, overlap } of phases) {
      expect(order).toBe(n);
      expect(cpu).toBeGreaterThan(0);
      expect(gpu).toBeGreaterThan(0);
      expect(overlap).toBeGreaterThanOrEqual(0);
      expect(overlap).toBeLessThanOrEqual(Math.min(cpu, gpu) + 1e-9);
      expect(cpu + gpu - overlap).toBeLessThan(wall + 1);
    }
  });

  test.each([{ panel: "tpu" }, { lookAhead: 3 }, { watch: 1 }, { forwards: "cpu" }])("choices %j are refused", async (solve) => {
    await expect(open({ choices: { solve: solve as never } })).rejects.toThrow(
      /^open: (choices\.solve\.\w+ is|there is no choices\.solve\.)/,
    );
  });

  test.each([0, 1, 2] as const)("a worker that dies fails the call, and the next works (look-ahead %i)", async (lookAhead) => {
    const mortal = await openMortal(2, hesitant(0));
    const mine = new Cpu(async () => new ThreadKernels(mortal.pool, "mortal"), panelOnHost);
    const engine = backward(engineOf(backendOn(device, { solve: { panel: "cpu", lookAhead } }, mine)));
    const A = matrix(vector(200 * 200), 200, 200);
    const failing = engine.solve(A, A.data.subarray(0, 200), { method: "mixed" }).catch((error: unknown) => error);
    await soon(100);
    await mortal.workers[0]?.terminate();
    const error = await failing;
    expect(error).toBeInstanceOf(EngineError);
    expect((error as Error).message).toBe("threads: a worker died during the call: it exited");
    expect((await engine.solve(A, A.data.subarray(0, 200), { method: "mixed" })).converged).toBe(true);
    await mine.close();
  });

  test("threads that cannot be had fail the call, and the next tries again", async () => {
    let refuse = true;
    const mine = new Cpu(() => (refuse ? Promise.reject(new EngineError("open: no threads")) : openThreads(1)), panelOnHost);
    const engine = backward(engineOf(backendOn(device, { solve: { panel: "cpu" } }, mine)));
    const A = matrix(vector(100 * 100), 100, 100);
    await expect(engine.solve(A, A.data.subarray(0, 100), { method: "mixed" })).rejects.toThrow("open: no threads");
    refuse = false;
    expect((await engine.solve(A, A.data.subarray(0, 100), { method: "mixed" })).converged).toBe(true);
    await mine.close();
    await expect(engine.solve(A, A.data.subarray(0, 100), { method: "mixed" })).rejects.toThrow("opencl: the engine is closed");
  });

  describe("an engine of its own", () => {
    const A = matrix(vector(300 * 300), 300, 300);
    const b = vector(300);
    const solve = { panel: "cpu", lookAhead: 2, forward: "cpu", backward: "cpu" } as const;

    test.each([0, 5, 20, 60])("closed %i ms after a call fails it, and nothing hangs", async (ms) => {
      const engine = backward(engineOf(backendOn(await openDevice(), { solve })));
      const results = [1, 2].map(() => engine.solve(A, b, { method: "mixed" }).catch((error: unknown) => error));
      await soon(ms);
      await engine.close();
      for (const result of await Promise.all(results)) if (!(result as { x?: unknown }).x) expect(result).toBeInstanceOf(EngineError);
      await expect(engine.solve(A, b)).rejects.toThrow(EngineError);
    });

    test("gives everything back when memory is refused", async () => {
      const library = await loadLibrary();
      let [fail, taken, marks] = [Number.POSITIVE_INFINITY, 0, 0];
      type Call = (...args: unknown[]) => never;
      const counting = (call: Call, count: () => void): Call => {
        return (...args) => {
          count();
          return call(...args);
        };
      };
      const short = {
        ...library,
        clCreateBuffer: (...args: unknown[]) => {
          if (fail-- <= 0) {
            (args[4] as Int32Array)[0] = -4;
            return 0n;
          }
          taken++;
          return library.clCreateBuffer(...args);
        },
        clReleaseMemObject: counting(library.clReleaseMemObject as unknown as Call, () => taken--),
        clEnqueueMarkerWithWaitList: counting(library.clEnqueueMarkerWithWaitList as unknown as Call, () => marks++),
        clReleaseEvent: counting(library.clReleaseEvent as unknown as Call, () => marks--),
      } as unknown as Library;
      const small = matrix(vector(100 * 100), 100, 100);
      for (let k = 0, through = false; !through; k += 2) {
        const engine = backward(
          engineOf(backendOn(await openDevice(undefined, short), { solve }, new Cpu(() => openThreads(1), panelOnHost))),
        );
        fail = k;
        const result = await engine.solve(small, b.subarray(0, 100), { method: "mixed" }).catch((error: unknown) => error);
        through = fail >= 0;
        fail = Number.POSITIVE_INFINITY;
        if (!through) expect((result as Error).message).toMatch(/^(?!undefined).*no device memory/);
        expect((await engine.solve(small, b.subarray(0, 100), { method: "mixed" })).converged).toBe(true);
        await engine.close();
        expect([taken, marks]).toEqual([0, 0]);
      }
    });

    test("lost in the middle fails the call", async () => {
      const library = await loadLibrary();
      let reads = 4;
      const read = library.clEnqueueReadBuffer;
      const dying = {
        ...library,
        clEnqueueReadBuffer: Object.assign((...args: unknown[]) => read(...args), {
          async: (...args: unknown[]) => (reads-- > 0 ? read.async(...args) : (args.at(-1) as (e: null, code: number) => void)(null, -5)),
        }),
      } as Library;
      const engine = backward(engineOf(backendOn(await openDevice(undefined, dying), { solve })));
      await expect(engine.solve(A, b, { method: "mixed" })).rejects.toThrow(EngineError);
      await expect(engine.solve(A, b)).rejects.toThrow(/was lost/);
      await engine.close();
    });

    test("does not keep its process alive", async () => {
      const folder = mkdtempSync(join(fileURLToPath(new URL("../../node_modules", import.meta.url)), ".process-"));
      try {
        transpileTo(folder);
        const script = `
          import { matrix } from "./halfulp/index.js";
          import { open } from "./halfulp/opencl.js";
          const engine = await open({ choices: { solve: ${JSON.stringify(solve)} } });
          const A = matrix(new Float64Array(40000).map((_, i) => Math.sin(i * i)), 200, 200);
          const call = () => engine.solve(A, A.data.subarray(0, 200), { method: "mixed", rounding: "backward" });
          console.log((await call()).converged);
          call().then(({ converged }) => console.log(converged));`;
        writeFileSync(join(folder, "script.js"), script);
        const text = await new Promise((resolve) =>
          execFile(process.execPath, [join(folder, "script.js")], { timeout: 30_000 }, (error, stdout, stderr) =>
            resolve(`${stdout}${stderr}${error?.signal ?? error?.code ?? 0}`),
          ),
        );
        expect(text).toBe("true\ntrue\n0");
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
});
