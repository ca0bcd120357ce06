// allocate() and free(): vectors in engine memory, its reuse, and its limits.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import {
  allocate,
  cg,
  EngineError,
  exaxpy,
  exdot,
  exnrm2,
  exspmv,
  exsum,
  free,
  gmres,
  laplacian,
  ShapeError,
  sptrsv,
} from "../src/index.ts";
import { asyncRoutines, kernels, type LocalKernels, openThreads, Random } from "../src/study.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;
// Callbacks of what was collected come in a task of their own.
const collect = async () => {
  gc();
  await new Promise((resolve) => setTimeout(resolve, 20));
};

const random = new Random(11);
const filled = <V extends Float64Array | Float32Array>(x: V): V => {
  for (let i = 0; i < x.length; i++) x[i] = random.signed();
  return x;
};

describe("allocate", () => {
  test("gives zeroed arrays of the precision asked for", () => {
    const x = allocate(1000);
    const y = allocate(3, "binary32");
    const z = allocate(5, "int32");
    expect(x).toBeInstanceOf(Float64Array);
    expect(y).toBeInstanceOf(Float32Array);
    expect(z).toBeInstanceOf(Int32Array);
    expect([x.length, y.length, z.length, allocate(0).length]).toEqual([1000, 3, 5, 0]);
    expect([...x, ...y, ...z].every((v) => v === 0)).toBe(true);
  });

  test("integers are given back once, and only whole", () => {
    const a = allocate(1000, "int32").fill(7);
    expect(() => free(a.subarray(8))).toThrow(ShapeError);
    free(a);
    expect(() => free(a)).toThrow("free: array is not one that allocate returned, or was freed before");
    expect(() => free(new Int32Array(3))).toThrow(ShapeError);
    const b = allocate(1000, "int32");
    expect([b.byteOffset, b.every((v) => v === 0)]).toEqual([a.byteOffset, true]);
    free(b);
  });

  test("a precision that is not one of the three is refused", () => {
    expect(() => allocate(3, "int64" as "int32")).toThrow('allocate: precision is "int64", expected');
  });

  test.each([1, 7, 8, 9, 31, 32, 33, 40, 1000, 8192, 8193, 65535, 65536, 65537, 200001])(
    "the same bits with or without a copy, n = %i",
    (n) => {
      const x = filled(new Float64Array(n));
      const y = filled(new Float64Array(n));
      const u = allocate(n);
      const v = allocate(n);
      u.set(x);
      v.set(y);
      expect(exsum(u)).toBe(exsum(x));
      expect(exnrm2(u)).toBe(exnrm2(x));
      const want = exdot(x, y);
      for (const [a, b] of [
        [u, v],
        [u, y],
        [x, v],
        [u.subarray(0), v.subarray(0)],
      ] as const)
        expect(exdot(a, b)).toBe(want);
      if (n > 9) expect(exdot(u.subarray(1, n - 2), v.subarray(3))).toBe(exdot(x.subarray(1, n - 2), y.subarray(3)));
      exaxpy(0.3, u, v);
      expect(Array.from(v)).toEqual(Array.from(exaxpy(0.3, x, y)));
      free(u);
      free(v);
    },
  );

  test("arrays do not overlap, and one does not see what another writes", () => {
    const arrays = Array.from({ length: 20 }, (_, i) => (i % 2 ? allocate(1 + 13 * i, "binary32") : allocate(1 + 13 * i)));
    for (const [i, a] of arrays.entries()) a.fill(i + 1);
    for (const [i, a] of arrays.entries()) expect(a.every((v: number) => v === i + 1)).toBe(true);
    arrays.forEach(free);
  });

  test("an array never detaches, however much is allocated after it", () => {
    const x = allocate(100).fill(1);
    for (let i = 0; i < 30; i++) allocate(1_000_000);
    expect(x.length).toBe(100);
    expect(exsum(x)).toBe(100);
  });

  test("memory given back is used again, and is zeroed", () => {
    const a = allocate(5000).fill(7);
    const { buffer, byteOffset } = a;
    free(a);
    const b = allocate(5000);
    expect([b.buffer, b.byteOffset]).toEqual([buffer, byteOffset]);
    expect(b.every((v) => v === 0)).toBe(true);
    free(b);
  });

  test("gaps join again, whatever the order in which arrays are given back", () => {
    const own = allocate(2 ** 22); // large enough to begin a memory of its own, with room for the others
    const arrays = Array.from({ length: 10 }, () => allocate(1000));
    const { buffer, byteOffset } = arrays[0] as Float64Array;
    expect(arrays.every((a) => a.buffer === buffer)).toBe(true);
    for (const i of [4, 2, 0, 1, 3, 9, 7, 5, 6, 8]) free(arrays[i] as Float64Array);
    const whole = allocate(10_000);
    expect([whole.buffer, whole.byteOffset]).toEqual([buffer, byteOffset]);
    free(whole);
    free(own);
  });

  test("an arena filled to its end is read to its end and not beyond", () => {
    // an arena of its own: 5 MiB ask for 20 MiB, four arrays fill it
    const arrays = Array.from({ length: 4 }, () => allocate(655_360 - 8));
    for (const a of arrays) {
      filled(a);
      for (const n of [a.length, a.length - 1, a.length - 3]) {
        const tail = a.subarray(a.length - n);
        expect(exsum(tail)).toBe(exsum(tail.slice()));
        exaxpy(0, tail, tail);
        expect(Array.from(exaxpy(0.5, tail.subarray(1, 4), tail.subarray(5, 8)))).toHaveLength(3);
      }
    }
    arrays.forEach(free);
  });

  test("an array can be given back once, and only whole", () => {
    const a = allocate(1000);
    expect(() => free(a.subarray(8))).toThrow(ShapeError);
    expect(() => free(a.subarray(0, 100))).toThrow(ShapeError);
    free(a);
    const other = allocate(1000); // where a was
    expect(() => free(a)).toThrow("free: array is not one that allocate returned, or was freed before");
    expect(() => free(other.subarray(0))).toThrow(ShapeError);
    free(other);
  });

  test("more than WebAssembly can hold is a named error, and the next call works", () => {
    expect(() => allocate(2 ** 30)).toThrow(EngineError);
    expect(() => allocate(2 ** 30)).toThrow("allocate: 8589934592 bytes asked for");
    expect(() => allocate(2 ** 52)).toThrow(EngineError);
    expect(allocate(10).length).toBe(10);
  });

  test.each([-1, 1.5, Number.NaN, "3"])("a length of %s is refused", (length) => {
    expect(() => allocate(length as number)).toThrow(ShapeError);
  });

  test("memories that nothing refers to are collected", async () => {
    // 400 arrays of 8 MB, none given back: 3.2 GB if they stayed
    const before = process.memoryUsage().rss;
    let peak = 0;
    for (let i = 0; i < 400; i++) {
      allocate(1_000_000).fill(1);
      if (i % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
      peak = Math.max(peak, process.memoryUsage().rss - before);
    }
    expect(peak).toBeLessThan(1.6e9);
    expect(exsum(allocate(8).fill(1))).toBe(8);
  });

  test("many small arrays do not make the next one slow", () => {
    const arrays = Array.from({ length: 20_000 }, () => allocate(10));
    for (const a of arrays) free(a);
    expect(arrays).toHaveLength(20_000); // seconds, not minutes: each takes the first gap
  });
});

describe("memory of plans and factors", () => {
  test("plans that a loop drops are collected before the event loop turns", () => {
    // 2000 plans of 0.8 MB: they took 870 MB when only a turn gave them back
    const A = laplacian(100, 100);
    const b = new Float64Array(A.rows).fill(1);
    const before = process.memoryUsage().rss;
    let peak = 0;
    for (let i = 0; i < 2000; i++) {
      sptrsv(A).solve(b);
      if (i % 50 === 0) peak = Math.max(peak, process.memoryUsage().rss - before);
    }
    expect(peak).toBeLessThan(400e6);
  });

  test("a plan that is kept stays as it is among those that are dropped", async () => {
    const [A, other] = [laplacian(60, 50), laplacian(50, 60)];
    const b = new Float64Array(A.rows).fill(1);
    const plan = sptrsv(A);
    const want = plan.solve(b);
    for (let i = 0; i < 300; i++) {
      sptrsv(other).solve(b);
      if (i % 100 === 99) {
        await collect();
      }
    }
    expect(plan.solve(b)).toEqual(want);
    plan.free();
    expect(() => plan.solve(b)).toThrow("TriangularPlan.solve: the plan was freed");
  });

  // The first stays, and with it the memory that the second is in.
  const embedded = kernels("embedded") as LocalKernels;
  test("what is dropped leaves its place to the next, once the event loop has turned", async () => {
    const kept = embedded.memory.reserve("test", 1000);
    // in a function, or this one would still hold it
    const drop = () => {
      const { buffer, byteOffset } = embedded.memory.reserve("test", 5000).value;
      return { buffer, byteOffset };
    };
    const dropped = drop();
    await collect();
    const next = embedded.memory.reserve("test", 5000);
    expect(next.value.buffer === dropped.buffer).toBe(true);
    expect(next.value.byteOffset).toBe(dropped.byteOffset);
    next.free();
    kept.free();
  });

  test("what is given back is not given back once more when it is collected", async () => {
    await collect(); // what earlier tests left, or it would be a gap before those of this one
    const kept = embedded.memory.reserve("test", 1000);
    const free = () => {
      const reserved = embedded.memory.reserve("test", 5000);
      reserved.free();
      return reserved.value.byteOffset;
    };
    const offset = free();
    const next = embedded.memory.reserve("test", 5000);
    expect(next.value.byteOffset).toBe(offset);
    await collect();
    const other = embedded.memory.reserve("test", 5000);
    expect(other.value.byteOffset).not.toBe(next.value.byteOffset); // it still is that of next
    for (const reserved of [other, next, kept]) reserved.free();
  });

  test("of copies and factors likewise", async () => {
    const { approximate: plain, memory } = embedded;
    const data = filled(new Float64Array(100 * 100));
    const A = { data, offset: 0, rows: 100, cols: 100, rowStride: 100, colStride: 1 };
    const ones = new Float64Array(100).fill(1);
    const none = new Float64Array(0);
    const make = async () => {
      const kept = await memory.keepMatrix("test", A, true);
      const factors = await plain.factorize("test", kept.value, { rows: ones, cols: ones }, "binary32", none, 0, none);
      return { kept, factors };
    };
    const place = ({ kept }: Awaited<ReturnType<typeof make>>) => (kept.value.data as Float64Array).byteOffset;
    const drop = async () => place(await make());
    const first = await make();
    const dropped = await drop();
    await collect();
    const next = await make();
    expect(place(next)).toBe(dropped);
    const x = new Float64Array(100);
    await plain.substitute("test", first.factors, ones, 1, x);
    expect(x.every(Number.isFinite)).toBe(true);
    for (const { kept, factors } of [first, next]) {
      factors.free();
      kept.free();
    }
  });
});

describe("memory of products and iterative solvers", () => {
  test("calls in a loop leave nothing in the memory of a pool", async () => {
    const A = laplacian(40, 40, 10);
    const b = new Float64Array(A.rows).fill(1);
    const engine = await openThreads(2);
    const { exspmv, cg } = asyncRoutines(() => engine);
    const call = async () => {
      const y = await exspmv(1, A, b, 0, new Float64Array(A.rows));
      await exspmv(1, A, b, 1, y, { trans: true });
      await cg(A, b, { maxIterations: 3, preconditioner: "jacobi" });
    };
    await call();
    const place = () => {
      const { value, free } = engine.memory.reserve("test", 100_000);
      free();
      return value.byteOffset;
    };
    const [before, { byteLength }] = [place(), engine.pool.arena.buffer];
    for (let i = 0; i < 20; i++) await call();
    expect([place(), engine.pool.arena.buffer.byteLength]).toEqual([before, byteLength]);
    await engine.close();
  });

  test("calls in a loop leave nothing in the memory of the calling thread", () => {
    const A = laplacian(40, 40, 10);
    const b = allocate(A.rows).fill(1);
    const place = () => {
      const array = allocate(1000);
      free(array);
      return [array.buffer, array.byteOffset] as const;
    };
    const before = place();
    for (let i = 0; i < 20; i++) {
      exspmv(1, A, b, 0, new Float64Array(A.rows), { trans: i % 2 === 1 });
      cg(A, b, { maxIterations: 3, preconditioner: "jacobi" });
    }
    expect(place()[0] === before[0]).toBe(true);
    expect(place()[1]).toBe(before[1]);
    free(b);
  });

  test("a workspace that does not fit is an EngineError, and the next call works", () => {
    const A = laplacian(1000, 1000, undefined, 5); // a basis of 600 columns takes 4.8 GB
    const b = new Float64Array(A.rows).fill(1);
    expect(() => gmres(A, b, { restart: 600 })).toThrow(EngineError);
    expect(() => gmres(A, b, { restart: 600 })).toThrow("gmres: ");
    expect(cg(A, b, { maxIterations: 1 }).iterations).toBe(1);
  });
});

describe("long vectors", () => {
  test("are streamed through a memory that stays small", () => {
    const n = 20_000_003;
    const x = new Float32Array(n).fill(0.1);
    const before = process.memoryUsage().rss;
    const want = Math.fround(n * Math.fround(0.1)); // n * 0.1f has fewer than 53 bits
    expect(exsum(x)).toBe(want);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  });

  // 8 GiB: in the long mode only.
  if (process.env.HALFULP_LONG === "1") {
    test("of 2^30 elements work", () => {
      const x = new Float64Array(2 ** 30).fill(0.5);
      x[7] = 2 ** -60;
      expect(exsum(x)).toBe(2 ** 29 - 0.5);
      expect(exsum(x, { round: "up" })).toBe(2 ** 29 - 0.5 + 2 ** -24);
      expect(exdot(x, x)).toBe(2 ** 28 - 0.25);
    });
  }
});
