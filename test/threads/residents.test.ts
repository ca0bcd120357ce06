// Data that stay on an engine.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Accumulator,
  type Engine,
  exgemm,
  exgemv,
  exlu,
  exluBatch,
  exsum,
  extrsv,
  type Matrix,
  matrix,
  open,
  ShapeError,
} from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { AVAILABLE_KINDS } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { hesitant, openMortal } from "./mortal.ts";

const random = new Random(11);
const values = (n: number): Float64Array => Float64Array.from({ length: n }, () => random.signed());
const singles = (n: number): Float32Array => Float32Array.from(values(n));
const refused = (message: string) => expect.objectContaining({ name: "ShapeError", message });

describe.each(AVAILABLE_KINDS)("residents of engine %s", (kind) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open(kind, { threads: 3 });
  });
  afterAll(() => engine.close());

  test("come back as they went, apart from the gaps", async () => {
    const x = values(7);
    const resident = await engine.upload(x);
    expect(resident.shape).toEqual([7]);
    const back = await resident.read();
    expect(back).toEqual(x);
    expect(back).not.toBe(x);
    back.fill(0);
    x.fill(1); // neither is what the engine has
    expect((await resident.read())[0]).not.toBe(0);
    resident.free();

    const data = values(40);
    for (const order of ["row", "column"] as const) {
      const A = matrix(data, 3, 4, { order, ld: 6, offset: 5 });
      const kept = await engine.upload(A);
      expect(kept.shape).toEqual([3, 4]);
      const { rows, cols, ld, offset, data: entries } = await kept.read();
      const line = order === "row" ? 4 : 3;
      expect([rows, cols, ld, offset]).toEqual([3, 4, line, 0]);
      const want = Array.from({ length: 12 }, (_, k) => data[5 + Math.floor(k / line) * 6 + (k % line)]);
      expect(Array.from(entries)).toEqual(want);
      kept.free();
    }
  });

  test("of no length, or no rows, or no columns", async () => {
    const none = new Float64Array(0);
    for (const value of [none, matrix(none, 0, 0), matrix(none, 0, 5), matrix(none, 5, 0), new Float32Array(0)]) {
      const resident = await engine.upload(value);
      expect(await resident.read()).toEqual("data" in value ? { ...value, ld: value.order === "row" ? value.cols : value.rows } : value);
      resident.free();
    }
    const y = await engine.upload(Float64Array.of(3, -0));
    await engine.exgemv(1, await engine.upload(matrix(none, 2, 0)), none, 1, y);
    expect(storedBits(await y.read())).toEqual(["4008000000000000", "0000000000000000"]);
  });

  test("stand for the values in every routine, of both precisions", async () => {
    const n = 24;
    const data = values(n * n);
    for (let i = 0; i < n; i++) data[i * (n + 1)] = 5;
    const A = matrix(data, n, n);
    const [x, y] = [values(n), values(n)];
    const [rA, rx, ry] = [await engine.upload(A), await engine.upload(x), await engine.upload(y)];
    const bits = async (v: Promise<Float64Array>) => storedBits(await v);
    expect(await bits(engine.extrsv(rA, rx, { refine: 1 }))).toEqual(storedBits(extrsv(A, x, { refine: 1 })));
    expect(await bits(engine.exgemv(2, rA, rx, 0.5, y.slice(), { trans: true }))).toEqual(
      storedBits(exgemv(2, A, x, 0.5, y.slice(), { trans: true })),
    );
    const factors = await engine.exlu(rA);
    expect(storedBits(factors.lu.data)).toEqual(storedBits(exlu(A).lu.data));
    expect(await bits(factors.solve(rx, { refine: 1 }))).toEqual(storedBits(exlu(A).solve(x, { refine: 1 })));
    const batch = await engine.upload(data);
    expect(await engine.exluBatch(batch, 4, 36)).toEqual(exluBatch(data, 4, 36));
    // What is written stays there, and the resident itself comes back.
    expect(await engine.exgemv(2, rA, rx, 0.5, ry)).toBe(ry);
    expect(await bits(ry.read())).toEqual(storedBits(exgemv(2, A, x, 0.5, y)));
    expect(await engine.exscal(3, ry)).toBe(ry);
    expect(await engine.exinvscal(7, ry)).toBe(ry);
    expect(await engine.exaxpy(0.1, rx, ry)).toBe(ry);
    expect(await engine.exaxpy(0.1, ry, ry)).toBe(ry);
    const C = matrix(values(n * n), n, n, { order: "column" });
    const rC = await engine.upload(C);
    expect(await engine.exgemm(1, rA, rA, 1, rC, { transB: true })).toBe(rC);
    expect(storedBits((await rC.read()).data)).toEqual(storedBits(exgemm(1, A, A, 1, C, { transB: true }).data));
    expect(storedBits((await rA.read()).data)).toEqual(storedBits(data));
    for (const resident of [rA, rx, ry, rC, batch]) resident.free();

    const S = matrix(singles(n * n), n, n);
    const [u, v] = [singles(n), singles(n)];
    const [rS, rv] = [await engine.upload(S), await engine.upload(v)];
    await engine.exgemv(2, rS, u, 0.5, rv);
    expect(storedBits(await rv.read())).toEqual(storedBits(exgemv(2, S, u, 0.5, v)));
  });

  test("that were freed are refused by name, and freeing twice is an error", async () => {
    const [A, x] = [await engine.upload(matrix(values(4), 2, 2)), await engine.upload(values(2))];
    x.free();
    const y = Float64Array.of(1, 2);
    const freed = (name: string) => refused(`${name} is a resident that was freed, expected one that is on the engine`);
    await expect(engine.exgemv(1, A, x, 0, y)).rejects.toThrow(freed("exgemv: x"));
    await expect(engine.exscal(2, x)).rejects.toThrow(freed("exscal: x"));
    await expect(engine.accumulate(y, x)).rejects.toThrow(freed("accumulate: y"));
    await expect(x.read()).rejects.toThrow(freed("read: this"));
    expect(() => x.free()).toThrow(freed("free: this"));
    A.free();
    await expect(engine.exlu(A)).rejects.toThrow(freed("exlu: A"));
    const factors = await engine.exlu(matrix(Float64Array.of(1, 2, 3, 4), 2, 2));
    await expect(factors.solve(x)).rejects.toThrow(freed("LU.solve: b"));
    expect(y).toEqual(Float64Array.of(1, 2));
  });

  test("of another engine are refused by name", async () => {
    const other = await open(kind, { threads: 1 });
    const [x, y] = [await other.upload(values(2)), await other.upload(values(2))];
    const A = matrix(values(4), 2, 2);
    const foreign = (name: string) => refused(`${name} is a resident of another engine, expected one of this engine`);
    await expect(engine.exgemv(1, A, x, 0, new Float64Array(2))).rejects.toThrow(foreign("exgemv: x"));
    await expect(engine.exgemv(1, A, values(2), 0, y)).rejects.toThrow(foreign("exgemv: y"));
    await expect(engine.exsum(x)).rejects.toThrow(foreign("exsum: x"));
    await other.close();
  });

  test("of the wrong shape or precision are refused as vectors are", async () => {
    const [x, A] = [await engine.upload(singles(3)), await engine.upload(matrix(values(4), 2, 2))];
    await expect(engine.exgemv(1, A, x as never, 0, new Float64Array(2))).rejects.toThrow("exgemv: x is binary32, expected binary64");
    await expect(engine.exsum(A as never)).rejects.toThrow(ShapeError);
    await expect(engine.exlu(x as never)).rejects.toThrow(ShapeError);
    await expect(engine.upload(x as never)).rejects.toThrow(ShapeError);
    await expect(engine.exsum(values(3), x as never)).rejects.toThrow(ShapeError);
    const y = await engine.upload(values(2));
    await expect(engine.exgemv(1, A, y, 0, y)).rejects.toThrow("exgemv: y shares entries with x");
    await expect(engine.exgemm(1, A, A, 0, A)).rejects.toThrow("exgemm: C shares entries with A");
    // and are as before, free for the next call
    expect(await engine.exscal(1, y)).toBe(y);
  });

  test("are lent to many that read, or to one that writes", async () => {
    const n = 30;
    const data = values(n * n);
    const A = matrix(data, n, n);
    const [rA, x, y] = [await engine.upload(A), await engine.upload(values(n)), await engine.upload(new Float64Array(n))];
    const writing = engine.exgemv(1, rA, x, 0, y);
    const busy = (name: string, what: string) =>
      refused(`${name} is a resident that a pending call ${what}, expected that call to be awaited first`);
    await expect(engine.exgemv(1, rA, y, 0, new Float64Array(n))).rejects.toThrow(busy("exgemv: x", "writes"));
    await writing;
    const reading = [engine.exgemv(1, rA, x, 0, new Float64Array(n)), engine.exgemv(1, rA, x, 0, new Float64Array(n))];
    await expect(engine.exscal(2, x)).rejects.toThrow(busy("exscal: x", "reads"));
    await Promise.all(reading);
    await engine.exscal(2, x);
    // A call that failed has given them back.
    await expect(engine.exgemv(1, rA, x, 0, new Float64Array(1))).rejects.toThrow(ShapeError);
    await engine.exscal(2, x);
  });

  test.each([Number.NaN, 1.5, Number.NEGATIVE_INFINITY, 5e-324])("leave %d in memory that calls then work in", async (garbage) => {
    for (const n of [1, 9, 70, 150]) {
      const A = matrix(values(n * n), n, n);
      const C = matrix(values(n * n), n, n, { order: "column" });
      for (let i = 0; i < n; i++) A.data[i * (n + 1)] = 3;
      const [x, y] = [values(n), values(n)];
      const S = matrix(Float32Array.from(A.data), n, n);
      const kept = { A: await engine.upload(A), C: await engine.upload(C), x: await engine.upload(x), S: await engine.upload(S) };
      const spoil = async () => (await engine.upload(new Float64Array(500_000).fill(garbage))).free();
      const bits = async (v: Promise<Float64Array | Float32Array>) => storedBits(await v);
      await spoil();
      expect(await bits(engine.exgemv(1, kept.A, kept.x, 1, y.slice()))).toEqual(storedBits(exgemv(1, A, x, 1, y.slice())));
      await spoil();
      expect(await bits(engine.exgemv(1, kept.C, x, 0, y.slice()))).toEqual(storedBits(exgemv(1, C, x, 0, y.slice())));
      await spoil();
      const [D, E] = [matrix(y.slice(0, n), 1, n), matrix(y.slice(0, n), 1, n)];
      const row = matrix(x, 1, n);
      await engine.exgemm(1, row, kept.C, 1, D);
      expect(storedBits(D.data)).toEqual(storedBits(exgemm(1, row, C, 1, E).data));
      for (const options of [{}, { refine: 1, refineBlocks: 1, blockSize: 16 }, { uplo: "upper" as const, rounding: "paper" as const }]) {
        await spoil();
        expect(await bits(engine.extrsv(kept.A, kept.x, options))).toEqual(storedBits(extrsv(A, x, options)));
        await spoil();
        const columns = { ...A, order: "column" as const };
        expect(await bits(engine.extrsv(columns, kept.x, options))).toEqual(storedBits(extrsv(columns, x, options)));
      }
      await spoil();
      expect((await engine.exlu(kept.A)).lu).toEqual(exlu(A).lu);
      await spoil();
      expect((await engine.exlu(kept.S)).lu).toEqual(exlu(S).lu);
      await spoil();
      expect(await engine.exluBatch(A.data, n, 1)).toEqual(exluBatch(A.data, n, 1));
      if (n === 150) expect(await engine.exluBatch(A.data, 15, 100)).toEqual(exluBatch(A.data, 15, 100));
      await spoil();
      expect(await engine.exsum(kept.x)).toBe(exsum(x));
      expect((await engine.accumulate(A.data, C.data)).toBytes()).toEqual(new Accumulator().addProduct(A.data, C.data).toBytes());
      for (const resident of Object.values(kept)) resident.free();
    }
  });

  test("that are freed while a call uses them stay until it is through", async () => {
    const n = 300;
    for (const round of [1, 2, 3]) {
      const A = matrix(values(n * n), n, n);
      const x = values(n);
      const [rA, rx] = [await engine.upload(A), await engine.upload(x)];
      const first = engine.exlu(A); // the other one waits for it
      const running = engine.exgemv(round, rA, rx, 0, new Float64Array(n));
      rA.free();
      rx.free();
      // whatever takes their place
      const others = await Promise.all([engine.upload(matrix(new Float64Array(n * n).fill(Number.NaN), n, n)), engine.upload(values(n))]);
      expect(storedBits(await running)).toEqual(storedBits(exgemv(round, A, x, 0, new Float64Array(n))));
      for (const other of others) other.free();
      await first;
    }
  });

  test("that a call writes are not read before it is through", async () => {
    const n = 200;
    const A = matrix(values(n * n), n, n);
    const [x, y] = [values(n), values(n)];
    const ry = await engine.upload(y);
    const running = engine.exgemv(1, A, x, 1, ry);
    await expect(ry.read()).rejects.toEqual(
      refused("read: this is a resident that a pending call writes, expected that call to be awaited first"),
    );
    await running;
    expect(await ry.read()).toEqual(exgemv(1, A, x, 1, y));
  });
});

describe("residents of a pool", () => {
  test("outlive its workers, and nothing is written to them by a call that failed", async () => {
    const { engine, alive } = await openMortal(3, hesitant(1));
    const n = 500;
    const A: Matrix = matrix(values(n * n), n, n);
    const [rA, rC] = [await engine.upload(A), await engine.upload(matrix(new Float64Array(n * n).fill(7), n, n))];
    const failed = expect(engine.exgemm(1, rA, rA, 1, rC)).rejects.toThrow("a worker died");
    await alive()[1]?.terminate();
    await failed;
    expect((await rC.read()).data.every((v) => v === 7)).toBe(true);
    expect(storedBits((await rA.read()).data)).toEqual(storedBits(A.data));
    await engine.exgemm(1, rA, rA, 1, rC);
    const C = matrix(new Float64Array(n * n).fill(7), n, n);
    expect(storedBits((await rC.read()).data)).toEqual(storedBits(exgemm(1, A, A, 1, C).data));
    await engine.close();
  });

  test("are given back by close, and memory that calls had is reused", async () => {
    const { engine, pool } = await openMortal(2);
    const x = await engine.upload(values(1000));
    await engine.upload(values(1000)); // never freed
    x.free();
    expect(pool.arena.isEmpty()).toBe(false);
    await engine.close();
    expect(pool.arena.isEmpty()).toBe(true);
  });
});
