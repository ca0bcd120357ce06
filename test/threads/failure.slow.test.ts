// What fails fails alone: the call at hand rejects and has written nothing, the others and the next one work.
import { afterEach, describe, expect, test, vi } from "vitest";
import { FRAME } from "../../src/engines/wasm/assembly/layout.ts";
import { EngineError, exgemm, exgemv, exlu, extrsv, illConditionedDot, type Matrix, matrix, open } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { storedBits } from "../hex.ts";
import { hesitant, type Mortal, openMortal, plain } from "./mortal.ts";

const random = new Random(7);
const values = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());
const square = (n: number): Matrix => matrix(values(n * n), n, n);
const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let mortal: Mortal;
afterEach(() => mortal?.engine.close());

// Small, and what it returns.
const T = matrix(Float64Array.of(2, 0, 0, 1, 4, 0, 3, 5, 8), 3, 3);
const b = Float64Array.of(2, 5, 16);
const solution = ["3ff0000000000000", "3ff0000000000000", "3ff0000000000000"];
const works = async (): Promise<void> => expect(storedBits(await mortal.engine.extrsv(T, b))).toEqual(solution);

// Nothing is left behind in the memory of the pool.
const isEmpty = (): void => expect(mortal.pool.arena.isEmpty()).toBe(true);

describe("a worker that dies", () => {
  const n = 600;
  const [A, B] = [square(n), square(n)];
  for (let i = 0; i < n; i++) A.data[i * (n + 1)] = 40;
  const calls: Record<string, (y: Float64Array) => Promise<unknown>> = {
    exgemv: (y) => mortal.engine.exgemv(1, A, B.data.subarray(0, n), 1, y.subarray(0, n)),
    exgemm: (y) => mortal.engine.exgemm(1, A, B, 1, matrix(y, n, n)),
    extrsv: () => mortal.engine.extrsv(A, B.data.subarray(0, n), { blockSize: 16, refine: 1 }),
    "extrsv by columns": () => mortal.engine.extrsv({ ...A, order: "column" }, B.data.subarray(0, n), { blockSize: 16 }),
    exlu: () => mortal.engine.exlu(A),
    exluBatch: () => mortal.engine.exluBatch(A.data, 60, 100),
    exdot: () => mortal.engine.exdot(A.data, B.data),
    accumulate: () => mortal.engine.accumulate(A.data),
  };

  // One worker hesitates before it begins, and is ended meanwhile; the others are at work, done, or wait for it.
  test.each(Object.keys(calls).flatMap((name) => ["first", "last"].map((which) => [which, name] as const)))(
    "the %s one during %s: the call fails, those in line and the next one do not",
    async (which, name) => {
      const worker = which === "first" ? 0 : 3;
      const call = calls[name] as (typeof calls)[string];
      mortal = await openMortal(4, hesitant(worker));
      const y = values(n * n);
      const before = [y, A.data, B.data].map((v) => v.slice());
      const failing = call(y);
      const left = failing.catch(() => mortal.workers.slice(0, 4).filter(({ threadId }) => threadId > 0)); // who could still write to its memory
      const all = Promise.allSettled([failing, ...Array.from({ length: 20 }, () => mortal.engine.extrsv(T, b))]);
      await soon(20);
      await mortal.workers[worker]?.terminate();
      expect(await left).toEqual([]);
      const [failed, ...queued] = await all;
      expect(failed).toMatchObject({ status: "rejected", reason: expect.any(EngineError) });
      expect((failed as PromiseRejectedResult).reason.message).toBe("threads: a worker died during the call: it exited");
      for (const [i, v] of [y, A.data, B.data].entries())
        expect(Buffer.from(v.buffer).equals(Buffer.from((before[i] as Float64Array).buffer))).toBe(true);
      for (const result of queued) expect(storedBits((result as PromiseFulfilledResult<Float64Array>).value)).toEqual(solution);
      await works();
      expect(mortal.alive()).toHaveLength(4);
      isEmpty();
    },
  );

  test("in the middle of its work does not spoil the same call made again", async () => {
    mortal = await openMortal(3);
    const C = matrix(values(n * n), n, n);
    const want = storedBits(exgemm(1, A, B, 1, { ...C, data: C.data.slice() }).data);
    for (const pause of [1, 10, 20]) {
      const failed = expect(mortal.engine.exgemm(1, A, B, 1, C)).rejects.toThrow(EngineError);
      await soon(pause);
      await mortal.alive()[pause % 3]?.terminate();
      await failed;
    }
    expect(storedBits((await mortal.engine.exgemm(1, A, B, 1, C)).data)).toEqual(want);
    const factors = await mortal.engine.exlu(A);
    expect(storedBits(factors.lu.data)).toEqual(storedBits(exlu(A).lu.data));
  });

  test("while nothing is to be done is no failure", async () => {
    mortal = await openMortal(2);
    for (let k = 0; k < 3; k++) {
      await Promise.all(mortal.alive().map((worker) => worker.terminate()));
      await works();
      expect(mortal.alive()).toHaveLength(2);
    }
  });

  test("again and again fails one call each time", async () => {
    mortal = await openMortal(3);
    for (let k = 0; k < 5; k++) {
      const all = Promise.allSettled(
        Array.from({ length: 4 }, () => mortal.engine.exgemm(1, A, B, 0, matrix(new Float64Array(n * n), n, n))),
      );
      await mortal.alive()[k % 3]?.terminate();
      expect((await all).map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
    }
    isEmpty();
  });

  test("together with all the others fails one call", async () => {
    mortal = await openMortal(4);
    const failed = expect(mortal.engine.exlu(A)).rejects.toThrow(EngineError);
    await Promise.all(mortal.alive().map((worker) => worker.terminate()));
    await failed;
    await works();
  });

  test("between the steps of one call fails that call or lets it go on, and nothing else", async () => {
    mortal = await openMortal(2);
    const factors = await mortal.engine.exlu(A);
    const right = B.data.slice(0, n);
    const want = storedBits(exlu(A).solve(right, { refine: 3 }));
    for (const pause of [1, 3, 6, 9, 12]) {
      const solving = Promise.allSettled([factors.solve(right, { refine: 3 })]);
      await soon(pause);
      await mortal.alive()[0]?.terminate();
      const [result] = await solving;
      if (result.status === "rejected") expect(result.reason).toBeInstanceOf(EngineError);
      else expect(storedBits(result.value)).toEqual(want);
      expect(storedBits(await factors.solve(right, { refine: 3 }))).toEqual(want);
    }
  });

  test("of an error says so", async () => {
    const trap = "if (worker === 1) throw new WebAssembly.RuntimeError('memory access out of bounds');";
    mortal = await openMortal(2, (source, before) => (before < 2 ? source.replace("exports.work", `${trap} exports.work`) : source));
    const failing = mortal.engine.extrsv(T, b);
    await expect(failing).rejects.toThrow("threads: a worker died during the call: memory access out of bounds");
    await works();
  });

  // Kernels leave their superaccumulators as they found them; one that was stopped has not.
  test("leaves nothing in the memory of its successor", async () => {
    mortal = await openMortal(2);
    await mortal.alive()[0]?.terminate();
    mortal.pool.arena.binary64.fill(1.5, FRAME / 8, (3 * FRAME) / 8); // the frames of both
    const { x, y, dot } = illConditionedDot(1000, 1e40, 1);
    expect(await mortal.engine.exdot(x, y)).toBe(dot);
    expect(storedBits(await mortal.engine.exgemv(1, matrix(x, 1, 1000), y, 0, new Float64Array(1)))).toEqual(
      storedBits(Float64Array.of(dot)),
    );
  });

  test("at the start: nothing is opened, and no worker is left", async () => {
    mortal = await openMortal(2);
    mortal.source((source) => source.replace("exports.setFrame", "throw new Error('no luck'); exports.setFrame"));
    await Promise.all(mortal.alive().map((worker) => worker.terminate()));
    const queued = Promise.allSettled([1, 2, 3].map(() => mortal.engine.extrsv(T, b)));
    for (const result of await queued)
      expect(result).toMatchObject({
        status: "rejected",
        reason: { name: "EngineError", message: "threads: a worker could not start: no luck" },
      });
    expect(mortal.alive()).toHaveLength(0);
    isEmpty();
    mortal.source(plain); // and the next call tries again
    await works();
  });

  test("at the start, when others are ready, is noticed", async () => {
    mortal = await openMortal(2);
    let count = 0;
    mortal.source((source) =>
      count++ % 3 === 0 ? source : `setTimeout(() => process.exit(3), 200);${source.replace("serve({", "unused({")}; function serve() {}`,
    );
    await mortal.alive()[0]?.terminate();
    await expect(mortal.engine.extrsv(T, b)).rejects.toThrow("threads: a worker could not start: it exited");
    mortal.source(plain);
    await works();
  });
});

describe("memory that is refused", () => {
  test("fails the call, which has written nothing, and no other", async () => {
    mortal = await openMortal(3);
    const { engine, pool } = mortal;
    const hog = pool.arena.allocate(2 ** 32 - 2 ** 27); // nearly all that there can be, never touched
    expect(hog).not.toBe(0);
    const rest: number[] = [];
    for (let size = 2 ** 26; size > 2 ** 14; ) {
      const at = pool.arena.allocate(size);
      if (at === 0) size /= 2;
      else rest.push(at);
    }
    const n = 300;
    const [A, y] = [square(n), values(n)];
    const before = storedBits(y);
    await expect(engine.exgemv(1, A, A.data.subarray(0, n), 1, y)).rejects.toThrow(/^threads: no memory for \d+ bytes$/);
    await expect(engine.exgemm(1, A, A, 1, matrix(y, 1, n))).rejects.toThrow();
    await expect(engine.exlu(A)).rejects.toThrow(EngineError);
    await expect(engine.extrsv(A, y)).rejects.toThrow(EngineError);
    await expect(engine.exsum(A.data)).rejects.toThrow(EngineError);
    await expect(engine.upload(A)).rejects.toThrow("threads: no memory for 90000 numbers");
    expect(storedBits(y)).toEqual(before);
    await works(); // there is room for this one
    pool.arena.release(hog);
    for (const at of rest) pool.arena.release(at);
    const want = exgemv(1, A, A.data.subarray(0, n), 1, y.slice());
    expect(storedBits(await engine.exgemv(1, A, A.data.subarray(0, n), 1, y))).toEqual(storedBits(want));
    isEmpty();
  });

  test("is not asked for by more than 4 GiB at once", async () => {
    mortal = await openMortal(1);
    const { arena } = mortal.pool;
    const before = arena.buffer.byteLength;
    for (const bytes of [2 ** 32, 2 ** 33, 2 ** 40, 2 ** 53]) expect(arena.allocate(bytes)).toBe(0);
    expect(arena.buffer.byteLength).toBe(before);
    await works();
  });

  test("where the system refuses to grow", async () => {
    mortal = await openMortal(2);
    const { memory } = mortal.pool.arena;
    const A = square(1600); // 20 MB, more than there is at the start
    const x = A.data.subarray(0, 1600);
    let asked = 0;
    memory.grow = () => {
      asked++;
      throw new RangeError("no");
    };
    await expect(mortal.engine.exgemv(1, A, x, 0, new Float64Array(1600))).rejects.toThrow(EngineError);
    expect(asked).toBe(2); // for plenty, then for what is needed
    await works();
    delete (memory as { grow?: unknown }).grow;
    const want = exgemv(1, A, x, 0, new Float64Array(1600));
    expect(storedBits(await mortal.engine.exgemv(1, A, x, 0, new Float64Array(1600)))).toEqual(storedBits(want));
  });
});

describe("memory that grows", () => {
  test("while calls are pending and residents are there spoils none of them", async () => {
    mortal = await openMortal(6);
    const { engine, pool } = mortal;
    const n = 500;
    const A = square(n);
    for (let i = 0; i < n; i++) A.data[i * (n + 1)] = 30;
    const right = values(n);
    const [residentA, residentX] = [await engine.upload(A), await engine.upload(right)];
    const wanted = {
      x: storedBits(extrsv(A, right, { blockSize: 16, refine: 2 })),
      y: storedBits(exgemv(1, A, right, 0, new Float64Array(n))),
    };
    const sizes = [pool.arena.buffer.byteLength];
    // Each of these holds its memory until it resolves: the later ones are beyond what there was at the start.
    const pending = Array.from({ length: 40 }, async (_, k) => {
      const T = k % 2 ? residentA : A;
      const x = k % 3 ? residentX : right;
      const result = k % 4 < 2 ? engine.extrsv(T, x, { blockSize: 16, refine: 2 }) : engine.exgemv(1, T, x, 0, new Float64Array(n));
      if (pool.arena.buffer.byteLength > (sizes.at(-1) as number)) sizes.push(pool.arena.buffer.byteLength);
      expect(storedBits(await result)).toEqual(k % 4 < 2 ? wanted.x : wanted.y);
    });
    expect(sizes.length).toBeGreaterThan(2);
    await Promise.all(pending);
    expect(storedBits((await residentA.read()).data)).toEqual(storedBits(A.data));
    residentA.free();
    residentX.free();
    isEmpty();
  });

  test("holds what was uploaded before and after, and calls copy neither", async () => {
    mortal = await openMortal(2);
    const { engine, pool } = mortal;
    const A = square(1200);
    const [before, after] = [await engine.upload(A), await engine.upload(A)]; // 11 MB each, of 16 at the start
    const allocate = vi.spyOn(pool.arena, "allocate");
    const want = storedBits(exgemv(1, A, A.data.subarray(0, 1200), 0, new Float64Array(1200)));
    for (const resident of [before, after])
      expect(storedBits(await engine.exgemv(1, resident, A.data.subarray(0, 1200), 0, new Float64Array(1200)))).toEqual(want);
    for (const [bytes] of allocate.mock.calls) expect(bytes).toBeLessThan(2 ** 20);
  });

  test("is reused, not grown once more, when calls come one after another", async () => {
    mortal = await openMortal(2);
    const A = square(1000);
    const x = values(1000);
    await mortal.engine.exgemv(1, A, x, 0, new Float64Array(1000));
    const size = mortal.pool.arena.buffer.byteLength;
    for (let k = 0; k < 20; k++) await mortal.engine.exgemv(1, A, x, 0, new Float64Array(1000));
    expect(mortal.pool.arena.buffer.byteLength).toBe(size);
  });
});

describe("an engine that is closed", () => {
  const closed = expect.objectContaining({ name: "EngineError", message: expect.stringMatching(/: the engine is closed$/) });

  test.each(["wasm", "threads"] as const)("refuses every call, %s", async (kind) => {
    const engine = await open(kind, { threads: 2 });
    const factors = await engine.exlu(T);
    const resident = await engine.upload(b);
    await engine.close();
    await engine.close(); // twice is fine
    const x = b.slice();
    const calls = [
      () => engine.exsum(b),
      () => engine.exasum(b),
      () => engine.exdot(b, b),
      () => engine.exnrm2(b),
      () => engine.exsum(new Float64Array(0)),
      () => engine.exaxpy(1, b, x),
      () => engine.exscal(2, x),
      () => engine.exinvscal(2, x),
      () => engine.exgemv(1, T, b, 0, x),
      () => engine.exgemm(1, T, T, 0, matrix(new Float64Array(9), 3, 3)),
      () => engine.extrsv(T, b),
      () => engine.exlu(T),
      () => engine.exluBatch(T.data, 3, 1),
      () => engine.accumulate(b),
      () => engine.upload(b),
      () => factors.solve(b),
      () => resident.read(),
      () => engine.exsum(resident),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(closed);
    expect(x).toEqual(b);
    resident.free(); // closing has done it
  });

  test("with calls pending fails them all, and nothing is written", async () => {
    mortal = await openMortal(3);
    const n = 500;
    const A = square(n);
    const outputs = Array.from({ length: 50 }, () => values(n));
    const before = outputs.map(storedBits);
    const pending = Promise.allSettled([
      mortal.engine.exlu(A),
      ...outputs.map((y) => mortal.engine.exgemv(1, A, A.data.subarray(0, n), 1, y)),
    ]);
    await mortal.engine.close();
    for (const result of await pending) expect(result).toMatchObject({ status: "rejected", reason: { name: "EngineError" } });
    expect(outputs.map(storedBits)).toEqual(before);
    expect(mortal.alive()).toHaveLength(0);
    isEmpty();
  });

  test("while its workers are being replaced has none left", async () => {
    for (const pause of [0, 1, 5, 20, 40]) {
      mortal = await openMortal(3);
      const pending = Promise.allSettled(
        Array.from({ length: 5 }, () => mortal.engine.exgemm(1, square(300), square(300), 0, square(300))),
      );
      await mortal.alive()[0]?.terminate();
      await soon(pause);
      await mortal.engine.close();
      expect((await pending).at(-1)).toMatchObject({ status: "rejected" });
      expect(mortal.alive()).toHaveLength(0);
    }
  });

  test("closes at the end of its block", async () => {
    let engine: Awaited<ReturnType<typeof open>>;
    {
      await using inner = await open("threads", { threads: 1 });
      engine = inner;
      expect(await engine.exsum(b)).toBe(23);
    }
    await expect(engine.exsum(b)).rejects.toThrow(closed);
  });
});
