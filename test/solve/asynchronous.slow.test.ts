// solve() and factor() on engines that answer later: inputs are read before a call returns, residents are borrowed, and calls
// that overlap do not disturb each other.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Engine,
  illConditionedMatrix,
  type Matrix,
  matrix,
  open,
  ShapeError,
  SingularError,
  type Solution,
  type SolveOptions,
  type Sparse,
  ValueError,
} from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { AVAILABLE_KINDS } from "../engines.ts";
import { range } from "../oracles/matrices.ts";
import { measures } from "../oracles/residual.ts";
import { backward } from "./backward.ts";
import { checkNearly, checkSolution, randomMatrix, randoms } from "./checks.ts";

const METHODS = ["mixed", "double", "exact"] as const;

describe.each(AVAILABLE_KINDS)(`engine %s, HALFULP_SEED=${SEED}`, (kind) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = backward(await open(kind, { threads: 3 }));
  });
  afterAll(() => engine.close());

  test.each(METHODS)("%s: the caller may change inputs after the call", async (method) => {
    const random = new Random(SEED);
    for (const order of ["row", "column"] as const) {
      const n = 45;
      const A: Matrix = { ...randomMatrix(random, n), order };
      const b = matrix(randoms(random, 2 * n), n, 2);
      const [A2, b2] = [
        { ...A, data: A.data.slice() },
        { ...b, data: b.data.slice() },
      ];
      const calls = [engine.solve(A, b, { method }), engine.factor(A, { method })] as const;
      A.data.fill(Number.NaN);
      b.data.fill(Number.NaN);
      const [solution, factored] = [await calls[0], await calls[1]];
      checkSolution(solution, A2, b2, kind);
      expect(solution).toMatchObject({ converged: true, method });
      const right = Float64Array.from(b2.data.subarray(0, n));
      const later = factored.solve(right);
      expect(later).toBeInstanceOf(Promise);
      const before = right.slice();
      right.fill(Number.NaN);
      checkSolution(await later, A2, before, kind);
    }
  });

  test.each(METHODS)("%s: residents for A and b, which stay as they are", async (method) => {
    const random = new Random(SEED + 1);
    for (const order of ["row", "column"] as const) {
      const n = 50;
      const A: Matrix = { ...randomMatrix(random, n), order };
      const [b, B] = [randoms(random, n), matrix(randoms(random, 2 * n), n, 2, { order })];
      const [there, right, rights] = [await engine.upload(A), await engine.upload(b), await engine.upload(B)];
      const here = await engine.solve(A, b, { method });
      for (const solution of [await engine.solve(there, b, { method }), await engine.solve(there, right, { method })]) {
        checkSolution(solution, A, b, kind);
        expect(solution.x).toEqual(here.x);
      }
      checkSolution(await engine.solve(there, rights, { method }), A, B, kind);
      const factored = await engine.factor(there, { method });
      expect((await there.read()).data).toEqual(A.data);
      there.free();
      checkSolution(await factored.solve(right), A, b, kind);
      checkSolution(await factored.solve(rights), A, B, kind);
      await factored.free();
      right.free();
      rights.free();
    }
  });

  test("a sparse A, here or there, is the same system, and b may be changed after the call", async () => {
    const random = new Random(SEED + 3);
    const n = 40;
    for (const format of ["csr", "csc"] as const) {
      const A: Matrix = {
        ...randomMatrix(random, n, (i, j) => (i === j || random.below(4) === 0 ? 1 : 0)),
        order: format === "csr" ? "row" : "column",
      };
      const lines = range(n).map((l) => range(n).filter((k) => A.data[l * n + k] !== 0));
      const S: Sparse = {
        format,
        rows: n,
        cols: n,
        pointers: Int32Array.from(range(n + 1), (l) => lines.slice(0, l).flat().length),
        indices: Int32Array.from(lines.flat()),
        values: A.data.filter((v) => v !== 0),
      };
      const there = await engine.upload(S);
      for (const sparse of [S, there]) {
        const b = randoms(random, n);
        const before = b.slice();
        const calls = [engine.solve(sparse, b), engine.factor(sparse)] as const;
        b.fill(Number.NaN);
        const solution = await calls[0];
        checkSolution(solution, A, before, kind);
        expect(solution.x).toEqual((await engine.solve(A, before)).x);
        const factored = await calls[1];
        checkSolution(await factored.solve(before), A, before, kind);
        await factored.free();
      }
      there.free();
    }
  });

  test("rows of equal sums, of which any may be the norm, and residuals that are all 0", async () => {
    const random = new Random(SEED + 2);
    for (const n of [40, 300])
      for (const order of ["row", "column"] as const) {
        const first = randoms(random, n);
        const circulant: Matrix = { ...matrix(new Float64Array(n * n), n, n), order };
        for (let i = 0; i < n * n; i++) circulant.data[i] = first[((i % n) + Math.floor(i / n)) % n] as number;
        const identity: Matrix = { ...matrix(new Float64Array(n * n), n, n), order };
        for (let i = 0; i < n; i++) identity.data[i * (n + 1)] = 1;
        // The residual is 2^-1076 or so, which is no number, and as a scaled one it is.
        const lost = { ...identity, data: identity.data.slice() };
        lost.data[5 * (n + 1)] = 3 * 2 ** -1000;
        const b = randoms(random, n);
        b[5] = 2 ** -1022;
        for (const A of n === 40 ? [circulant, identity, lost] : [circulant, identity]) {
          const there = await engine.upload(A);
          const solution = await engine.solve(there, b, { method: "double", fallback: false });
          if (A === identity) expect([solution.residual, solution.x]).toEqual([0, b]);
          if (A === lost) expect(solution.residual).toBeGreaterThan(0);
          if (n === 40) checkSolution(solution, A, b, kind);
          else checkNearly(solution, A, b, kind);
          there.free();
        }
      }
  });

  test("a resident is lent until the call resolves", async () => {
    const A = await engine.upload(randomMatrix(new Random(SEED), 60));
    const y = await engine.upload(new Float64Array(3600));
    const solving = engine.solve(A, new Float64Array(60).fill(1));
    A.free(); // takes effect when the call is through
    expect((await solving).converged).toBe(true);
    await expect(engine.solve(A, new Float64Array(60))).rejects.toThrow("solve: A is a resident that was freed");
    await expect(engine.factor(A)).rejects.toThrow("factor: A is a resident that was freed");
    y.free();
  });

  test("a resident with an entry that is not finite, or that is singular", async () => {
    for (const order of ["row", "column"] as const) {
      const M = matrix(Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), 3, 3, { order });
      const singular = await engine.upload(M);
      await expect(engine.solve(singular, Float64Array.of(6, 15, 24))).rejects.toBeInstanceOf(SingularError);
      M.data[5] = Number.NaN;
      const bad = await engine.upload(M);
      const error = await engine.solve(bad, new Float64Array(3)).catch((e) => e);
      expect(error).toBeInstanceOf(ValueError);
      expect([error.row, error.column]).toEqual(order === "row" ? [1, 2] : [2, 1]);
      const b = await engine.upload(Float64Array.of(1, Number.NaN, 2));
      await expect(engine.solve(matrix(Float64Array.of(4, 1, 1, 1, 4, 1, 1, 1, 4), 3, 3), b)).rejects.toThrow("solve: entry 1 of b is NaN");
      singular.free();
      bad.free();
      b.free();
    }
  });

  test("calls that overlap, and solves of factors that fall back meanwhile", async () => {
    const random = new Random(SEED + 2);
    const [n, ill] = [60, illConditionedMatrix(60, 1e11, 3)];
    const factored = await engine.factor(ill, { method: "mixed" });
    const rights = Array.from({ length: 6 }, () => randoms(random, n));
    const A = randomMatrix(random, n);
    const pending = rights.map((b) => factored.solve(b));
    const others = rights.map((b) => engine.solve(A, b));
    for (const [k, solution] of (await Promise.all(pending)).entries()) {
      checkSolution(solution, ill, rights[k] as Float64Array, kind);
      expect(solution).toMatchObject({ converged: true, method: "double", fellBack: true });
    }
    for (const [k, solution] of (await Promise.all(others)).entries()) checkSolution(solution, A, rights[k] as Float64Array, kind);
    // Freed while solves are pending: they end as if it were not.
    const last = rights.map((b) => factored.solve(b));
    await factored.free();
    for (const solution of await Promise.all(last)) expect(solution.converged).toBe(true);
    await expect(factored.solve(rights[0] as Float64Array)).rejects.toThrow("Factored.solve: the factors were freed");
  });

  test("wrong arguments reject the promise", async () => {
    const loose = engine as unknown as Record<"solve" | "factor", (...args: unknown[]) => Promise<unknown>>;
    for (const call of [loose.solve(), loose.factor(), loose.solve(randomMatrix(new Random(1), 2), [1, 2])]) {
      expect(call).toBeInstanceOf(Promise);
      await expect(call).rejects.toBeInstanceOf(ShapeError);
    }
  });

  test("a closed engine refuses", async () => {
    const other = await open(kind, { threads: 2 });
    const factored = await other.factor(randomMatrix(new Random(SEED), 5));
    await other.close();
    await expect(other.solve(randomMatrix(new Random(1), 2), new Float64Array(2))).rejects.toThrow("solve: the engine is closed");
    await expect(factored.solve(new Float64Array(5))).rejects.toThrow("Factored.solve: the engine is closed");
  });
});

// A system that takes elimination modulo a prime and p-adic lifting: some tenths of a second, with rounding "correct".
describe.each(AVAILABLE_KINDS)("exact arithmetic on engine %s", (kind) => {
  const n = 150;
  const A = illConditionedMatrix(n, 1e30, 1);
  const b = randoms(new Random(1), n);
  let engine: Engine;
  let whole: Solution;
  const stages = new Map<string, number[]>();
  let ticks = 0;
  beforeAll(async () => {
    engine = await open(kind, { threads: 3 });
    const timer = setInterval(() => ticks++, 1);
    const onProgress = (stage: string, done: number): void => {
      stages.set(stage, [...(stages.get(stage) ?? []), done]);
    };
    whole = await engine.solve(A, b, { onProgress });
    clearInterval(timer);
  });
  afterAll(() => engine.close());

  // What a call that is aborted at the first report of a stage resolves with.
  async function abortedIn(stage: string, call: (options: SolveOptions) => Promise<Solution>): Promise<Solution> {
    const controller = new AbortController();
    let reports = 0;
    const onProgress = (name: string): void => {
      if (controller.signal.aborted) reports++;
      if (name === stage) controller.abort(new Error("enough"));
    };
    const solution = await call({ signal: controller.signal, onProgress });
    expect(controller.signal.aborted).toBe(true);
    expect(reports, "reports after it was aborted").toBe(0);
    return solution;
  }

  test("progress is told, stage by stage, while the event loop goes on", () => {
    expect(whole).toMatchObject({ certified: true, converged: true, method: "modular", fellBack: true });
    expect([...stages.keys()]).toEqual(["elimination", "lifting"]);
    for (const done of stages.values()) {
      expect(done[0]).toBe(0);
      expect(Math.max(...done)).toBeLessThanOrEqual(1);
      expect(done).toEqual([...done].sort((a, b) => a - b));
    }
    expect(ticks).toBeGreaterThan(1);
  });

  test("nothing is told where exact arithmetic is not needed", async () => {
    const onProgress = (): never => expect.fail("told");
    const easy = randomMatrix(new Random(2), 30);
    expect(await engine.solve(easy, b.subarray(0, 30), { onProgress })).toMatchObject({ certified: true, method: "double" });
    const factored = await engine.factor(easy, { onProgress, rounding: "backward" });
    expect(await factored.solve(b.subarray(0, 30))).toMatchObject({ converged: true });
  });

  test("what onProgress throws rejects the call, and the next one works", async () => {
    const onProgress = (stage: string): void => {
      if (stage === "lifting") throw new RangeError("too slow");
    };
    await expect(engine.solve(A, b, { onProgress })).rejects.toThrow(new RangeError("too slow"));
    expect((await engine.solve(A, b)).x).toEqual(whole.x);
  });

  test("a signal that is aborted before the call rejects it with its reason", async () => {
    const reason = new Error("not now");
    const signal = AbortSignal.abort(reason);
    for (const rounding of ["correct", "backward"] as const) {
      await expect(engine.solve(A, b, { signal, rounding })).rejects.toBe(reason);
      await expect(engine.factor(A, { signal, rounding })).rejects.toBe(reason);
    }
    const factored = await engine.factor(randomMatrix(new Random(2), n));
    await expect(factored.solve(b, { signal })).rejects.toBe(reason);
    expect(await factored.solve(b)).toMatchObject({ certified: true });
    const named = await engine.solve(A, b, { signal: AbortSignal.abort() }).catch((error) => error);
    expect(named.name).toBe("AbortError");
  });

  test.each(["elimination", "lifting"])("aborted during %s it resolves with what there is, not certified", async (stage) => {
    const { x, certified, converged, residual, backwardError } = await abortedIn(stage, (options) => engine.solve(A, b, options));
    expect([certified, converged]).toEqual([false, false]);
    expect({ residual, backwardError }).toEqual(measures(A, x, b));
  });

  test('aborted while rounding "backward" proves that A is regular it resolves as well', async () => {
    const call = (options: SolveOptions) => engine.solve(A, b, { ...options, rounding: "backward" });
    checkSolution(await abortedIn("elimination", call), A, b, kind);
  });

  test("factors whose solve was aborted go on where it ended; aborted factors are none", async () => {
    const factored = await engine.factor(A);
    const aborted = await abortedIn("lifting", (options) => factored.solve(b, options));
    expect(aborted).toMatchObject({ certified: false, converged: false });
    expect(await factored.solve(b)).toMatchObject({ certified: true, x: whole.x });
    await factored.free();
    const controller = new AbortController();
    const making = engine.factor(A, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(making).rejects.toHaveProperty("name", "AbortError");
  });

  test("a signal of factor() is not one of its solves", async () => {
    const controller = new AbortController();
    const factored = await engine.factor(A, { signal: controller.signal });
    controller.abort();
    expect(await factored.solve(b)).toMatchObject({ certified: true, x: whole.x });
    await factored.free();
  });

  test("aborted before there is any answer it rejects", async () => {
    const controller = new AbortController();
    const call = engine.solve(A, b, { method: "exact", signal: controller.signal, onProgress: () => controller.abort() });
    await expect(call).rejects.toHaveProperty("name", "AbortError");
  });

  test("a signal that is aborted afterwards changes nothing", async () => {
    const controller = new AbortController();
    const solution = await engine.solve(A, b, { signal: controller.signal });
    controller.abort();
    expect(solution).toMatchObject({ certified: true, x: whole.x });
  });

  test("solves of one factorisation that overlap, with either rounding, and one of them aborted", async () => {
    const other = randoms(new Random(3), n);
    const alone = await engine.solve(A, other);
    for (const rounding of ["correct", "backward"] as const) {
      const factored = await engine.factor(A, { rounding });
      const calls = [
        abortedIn("lifting", (options) => factored.solve(b, { ...options, rounding: "correct" })),
        factored.solve(b, { rounding: "correct" }),
        factored.solve(other, { rounding: "backward" }),
        factored.solve(other, { rounding: "correct" }),
      ] as const;
      await factored.free(); // takes effect when all are through
      const [aborted, first, near, second] = await Promise.all(calls);
      expect(aborted.certified).toBe(false);
      expect(first).toMatchObject({ certified: true, x: whole.x });
      checkSolution(near, A, other, kind);
      expect(second).toMatchObject({ certified: true, x: alone.x });
    }
  });
});

test("types: residents and results", async () => {
  const engine = await open("wasm");
  const A = await engine.upload(matrix(Float64Array.of(2), 1, 1));
  const { x, method }: { x: Float64Array; method: Solution["method"] } = await engine.solve(A, Float64Array.of(4));
  expect([x[0], method]).toEqual([2, "double"]);
  const factored = await engine.factor(A);
  expect((await factored.solve(await engine.upload(Float64Array.of(4)))).x[0]).toBe(2);
  await engine.close();
});
