// What an asynchronous call promises: inputs are read before it returns, outputs are written in one step when it resolves,
// and one that fails has written nothing.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Engine, laplacian, matrix, open, type Real, ShapeError, SingularError, ValueError } from "../../src/index.ts";
import { type Kernels, kernels, Random, routinesOn } from "../../src/study.ts";
import { AVAILABLE_KINDS } from "../engines.ts";
import { storedBits } from "../hex.ts";

const here = routinesOn(kernels("embedded") as Kernels) as unknown as Engine;
const N = 40;

// Data for one call of each routine, the same each time.
interface Data {
  readonly A: Float64Array;
  readonly B: Float64Array;
  readonly C: Float64Array;
  readonly x: Float64Array;
  readonly y: Float64Array;
}
function data(): Data {
  const random = new Random(5);
  const vector = (n: number) => Float64Array.from({ length: n }, () => random.signed());
  const [A, B, C, x, y] = [vector(N * N), vector(N * N), vector(N * N), vector(N), vector(N)];
  for (let i = 0; i < N; i++) A[i * (N + 1)] = 9;
  return { A, B, C, x, y };
}
const of = (values: Float64Array, order: "row" | "column" = "row") => matrix(values, N, N, { order });

// Each routine, what it writes, and what it returns as vectors.
interface Call {
  readonly name: string;
  readonly writes?: keyof Data;
  run(engine: Engine, d: Data): Promise<unknown>;
}
const CALLS: readonly Call[] = [
  { name: "exsum", run: (e, d) => e.exsum(d.A) },
  { name: "exasum", run: (e, d) => e.exasum(d.A, { round: "up" }) },
  { name: "exdot", run: (e, d) => e.exdot(d.A, d.B) },
  { name: "exnrm2", run: (e, d) => e.exnrm2(d.A) },
  { name: "exaxpy", writes: "y", run: (e, d) => e.exaxpy(0.3, d.x, d.y) },
  { name: "exaxpy of one vector", writes: "y", run: (e, d) => e.exaxpy(0.3, d.y, d.y) },
  { name: "exscal", writes: "y", run: (e, d) => e.exscal(0.3, d.y) },
  { name: "exinvscal", writes: "y", run: (e, d) => e.exinvscal(0.3, d.y) },
  { name: "exgemv", writes: "y", run: (e, d) => e.exgemv(0.3, of(d.A), d.x, 0.7, d.y) },
  { name: "exgemv by columns", writes: "y", run: (e, d) => e.exgemv(0.3, of(d.A, "column"), d.x, 0.7, d.y) },
  { name: "exgemm", writes: "C", run: (e, d) => e.exgemm(0.3, of(d.A), of(d.B), 0.7, of(d.C)) },
  { name: "exgemm by columns", writes: "C", run: (e, d) => e.exgemm(0.3, of(d.A), of(d.B), 0.7, of(d.C, "column")) },
  { name: "extrsv", run: (e, d) => e.extrsv(of(d.A), d.x, { refine: 2, refineBlocks: 1, blockSize: 8 }) },
  { name: "extrsv by columns", run: (e, d) => e.extrsv(of(d.A, "column"), d.x, { refine: 2, uplo: "upper" }) },
  {
    name: "exlu",
    async run(e, d) {
      const { lu, pivots } = await e.exlu(of(d.A));
      return { lu, pivots };
    },
  },
  { name: "exluBatch", run: (e, d) => e.exluBatch(d.A, 4, 100) },
  { name: "accumulate", run: async (e, d) => ("accumulate" in e ? (await e.accumulate(d.A, d.B)).value() : e) },
];
const spoil = (d: Data): void => {
  for (const values of Object.values(d)) (values as Float64Array).fill(Number.NaN);
};

describe.each(AVAILABLE_KINDS)("engine %s", (kind) => {
  let engine: Engine;
  let plan: { solve(b: Float64Array, out: Float64Array): Promise<unknown> };
  beforeAll(async () => {
    engine = await open(kind, { threads: 3 });
    plan = await engine.sptrsv(laplacian(8, 5)); // of order N
  });
  afterAll(() => engine.close());

  // What it is on this thread; `accumulate` has no such twin and is its dot product.
  const wanted = async (call: Call, d: Data) =>
    call.name === "accumulate" ? (here.exdot(d.A, d.B) as unknown as number) : call.run(here, d);

  test.each(CALLS)("$name reads its inputs before it returns", async (call) => {
    const [d, same] = [data(), data()];
    const want = await wanted(call, same);
    const running = call.run(engine, d);
    spoil(d);
    const result = await running;
    // An output that was changed meanwhile is overwritten all the same.
    expect(result).toEqual(want);
    if (call.writes) expect(storedBits(d[call.writes])).toEqual(storedBits(same[call.writes]));
  });

  test.each(CALLS.filter(({ writes }) => writes))("$name writes when it resolves, and not before", async (call) => {
    const [d, before, same] = [data(), data(), data()];
    await wanted(call, same);
    const running = call.run(engine, d);
    expect(d).toEqual(before);
    let resolved = false;
    const watched = running.then(() => {
      resolved = true;
    });
    // Old or new, and nothing between, at every turn until then.
    const output = d[call.writes as keyof Data];
    const [old, fresh] = [storedBits(before[call.writes as keyof Data]), storedBits(same[call.writes as keyof Data])];
    while (!resolved) {
      const now = storedBits(output);
      expect([old, fresh]).toContainEqual(now);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await watched;
    expect(storedBits(output)).toEqual(fresh);
    for (const name of ["A", "B", "x"] as const) expect(d[name]).toEqual(before[name]);
  });

  test("calls on one output each start from what it was, and the last one stays", async () => {
    const { A, x, y } = data();
    const want = here.exgemv(2, of(A), x, 1, y.slice()) as unknown as Real;
    await Promise.all([engine.exgemv(1, of(A), x, 1, y), engine.exgemv(2, of(A), x, 1, y)]);
    expect(y).toEqual(want);
  });

  test("solve of the factors answers later, from what b was, with the copy of A", async () => {
    const { A, x } = data();
    const want = (here.exlu(of(A)) as unknown as { solve(b: Real, o: object): Real }).solve(x, { refine: 2 });
    const factoring = engine.exlu(of(A));
    A.fill(0);
    const factors = await factoring;
    const solving = factors.solve(x, { refine: 2 });
    expect(solving).toBeInstanceOf(Promise);
    x.fill(0);
    expect(await solving).toEqual(want);
    await expect(factors.solve(new Float64Array(3))).rejects.toThrow("LU.solve: b has length 3, expected 40 (the order of A)");
  });

  // What is wrong, in every routine: a promise that rejects, never a call that throws.
  const two = new Float64Array(2);
  const loose = (e: Engine) => e as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const wide = matrix(new Float64Array(6), 2, 3);
  const WRONG: readonly [string, unknown[], string][] = [
    ["exsum", [], "exsum: x is undefined"],
    ["exsum", [[1, 2]], "exsum: x is a plain array"],
    ["exsum", [two, { round: "even" }], 'exsum: round is "even"'],
    ["exasum", [null], "exasum: x is null"],
    ["exdot", [two, new Float64Array(3)], "exdot: y has length 3, expected 2"],
    ["exdot", [two, new Float32Array(2)], "exdot: y is binary32"],
    ["exnrm2", ["x"], 'exnrm2: x is "x"'],
    ["exaxpy", [1, two], "exaxpy: y is undefined"],
    ["exaxpy", ["1", two, two], 'exaxpy: alpha is "1"'],
    ["exaxpy", [1, wide.data.subarray(0, 4), wide.data.subarray(1, 5)], "exaxpy: y shares entries with x"],
    ["exscal", [2], "exscal: x is undefined"],
    ["exscal", [two, 2], "exscal: alpha is an object of type Float64Array"],
    ["exinvscal", [2, [1]], "exinvscal: x is a plain array"],
    ["exgemv", [1, wide, two, 0, two], "exgemv: x has length 2, expected 3"],
    ["exgemm", [1, wide, wide, 0, wide], "exgemm: B has 2 rows"],
    ["exgemm", [], "exgemm: alpha is undefined"],
    ["extrsv", [wide, two], "extrsv: T is 2 by 3"],
    ["extrsv", [matrix(new Float64Array(4), 2, 2), two], "extrsv: entry (0, 0) of T is 0"],
    ["exlu", [two], "exlu: A is an object of type Float64Array"],
    ["exlu", [matrix(Float64Array.of(Number.NaN), 1, 1)], "exlu: entry (0, 0) of A is NaN"],
    ["exlu", [matrix(new Float64Array(4), 2, 2)], "exlu: the pivot of column 0 is 0"],
    ["exluBatch", [two, 2, 2], "exluBatch: data has length 2, expected 8"],
    ["accumulate", [], "accumulate: x is undefined"],
    ["accumulate", [two, new Float64Array(3)], "accumulate: y has length 3"],
    ["accumulate", [two, null], "accumulate: y is null"],
    ["upload", [], "upload: value is undefined, expected a matrix, a sparse matrix, a Float64Array or a Float32Array"],
    ["upload", [5], "upload: value is 5"],
    ["upload", [null], "upload: value is null"],
    ["upload", [[1]], "upload: value is a plain array"],
    ["upload", [new Int32Array(2)], "upload: value is an object of type Int32Array"],
    ["upload", [{ ...wide, ld: 2 }], "upload: value.ld is 2, expected at least 3"],
  ];

  test.each(WRONG)("%s of the wrong arguments rejects: %j", async (name, args, message) => {
    const running = loose(engine)[name]?.(...args); // must not throw
    await expect(running).rejects.toThrow(message);
    await expect(running).rejects.toSatisfy((error) => [ShapeError, SingularError, ValueError].some((type) => error instanceof type));
    expect([...two, ...wide.data].every((v) => v === 0)).toBe(true);
  });

  test("accumulate reads vectors of two precisions before it returns", async () => {
    const [x, y] = [Float32Array.of(1, 2, 3), Float64Array.of(1e16, 1, -1e16)];
    const resident = await engine.upload(Float64Array.from(y));
    const sums = [engine.accumulate(x, y), engine.accumulate(x, resident)];
    x.fill(7);
    y.fill(7);
    expect((await Promise.all(sums)).map((sum) => sum.value())).toEqual([-2e16 + 2, -2e16 + 2]);
    resident.free();
  });

  test("a word too many is no output", async () => {
    const x = Float64Array.of(1, 2);
    const running = loose(engine).exscal?.(2, x, {});
    expect(x).toEqual(Float64Array.of(1, 2));
    expect(await running).toBe(x);
    expect(x).toEqual(Float64Array.of(2, 4));
  });

  // Routines with what they write, as the argument is called in messages.
  const WRITING: readonly [string, number, (out: Float64Array, d: Data) => Promise<unknown>][] = [
    ["exaxpy: y", N, (out, d) => engine.exaxpy(0.3, d.x, out)],
    ["exscal: x", N, (out) => engine.exscal(0.3, out)],
    ["exinvscal: x", N, (out) => engine.exinvscal(0.3, out)],
    ["exgemv: y", N, (out, d) => engine.exgemv(0.3, of(d.A), d.x, 0.7, out)],
    ["exgemm: C.data", N * N, (out, d) => engine.exgemm(0.3, of(d.A), of(d.B), 0.7, of(out))],
    ["exgemm: C.data", N * N, (out, d) => engine.exgemm(0.3, of(d.A), of(d.B), 0, of(out, "column"))],
    ["TriangularPlan.solve: out", N, (out, d) => plan.solve(d.x, out)],
  ];

  test.each(WRITING)("%s: detached during the call, it fails the call by name, and not the next one", async (name, length, run) => {
    const out = new Float64Array(length).fill(1);
    const running = run(out, data());
    structuredClone(out.buffer, { transfer: [out.buffer] });
    await expect(running).rejects.toBeInstanceOf(ShapeError);
    await expect(running).rejects.toThrow(name);
    expect(await engine.exsum(Float64Array.of(1, 2))).toBe(3);
  });

  test.each(WRITING)(
    "%s: with a buffer that shrinks during the call, it fails the call, and nothing is written",
    async (name, length, run) => {
      type Resizable = new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer & { resize(bytes: number): void };
      for (const view of ["of all of the buffer", "of a fixed length"]) {
        const buffer = new (ArrayBuffer as unknown as Resizable)(8 * length, { maxByteLength: 8 * length });
        const out = view === "of a fixed length" ? new Float64Array(buffer, 0, length) : new Float64Array(buffer);
        out.fill(1);
        const running = run(out, data());
        buffer.resize(8 * (length - 5));
        await expect(running, view).rejects.toBeInstanceOf(ShapeError);
        await expect(running, view).rejects.toThrow(
          `${name} has length ${out.length} when the call completes, expected at least ${length}`,
        );
        expect(new Float64Array(buffer).every((v) => v === 1)).toBe(true);
      }
    },
  );

  test("nothing is done with nothing", async () => {
    const none = new Float64Array(0);
    expect(await engine.exsum(none)).toBe(-0);
    expect(await engine.exdot(none, none)).toBe(0);
    expect(await engine.exgemv(1, matrix(none, 0, 3), new Float64Array(3), 0, none)).toBe(none);
    const y = Float64Array.of(-0, 2);
    expect(await engine.exgemv(1, matrix(none, 2, 0), none, 1, y)).toBe(y);
    expect(storedBits(y)).toEqual(["0000000000000000", "4000000000000000"]);
    expect(await engine.extrsv(matrix(none, 0, 0), none)).toEqual(none);
    const factors = await engine.exlu(matrix(none, 0, 0));
    expect(await factors.solve(none, { refine: 1 })).toEqual(none);
    expect((await engine.exluBatch(none, 3, 0)).info).toHaveLength(0);
  });
});
