// How iterative solvers are called: onIteration, signals, inputs that change meanwhile, residents, plans that are used again.
import { describe, expect, test } from "vitest";
import { type Engine, type IterativeSolution, laplacian, matrix, toCsc } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { FULL } from "../effort.ts";
import { type AnyRoutines, ENGINES, SELECTED_ENGINES } from "../engines.ts";
import { iterate } from "../oracles/krylov.ts";
import { range } from "../oracles/matrices.ts";
import { same } from "../sparse/checks.ts";
import { expectAnswer, fromEntries, METHODS } from "./cases.ts";

const random = new Random(3);
const A = laplacian(5, 4);
// Not symmetric, and of more rows than one pass of the device's sort takes.
const N = fromEntries(40, (i, j) => (i === j ? 5 + (i % 3) : j === i - 1 ? -2 : j === i + 1 ? -1 : (i + 3 * j) % 11 === 0 ? 0.25 : 0));
const n = A.rows;
const b = Float64Array.from({ length: n }, () => random.signed());
const c = Float64Array.from({ length: N.rows }, () => random.signed());
const wants = Object.fromEntries(METHODS.map((method) => [method, iterate(method, A, b)])) as Record<string, ReturnType<typeof iterate>>;
const want = (method: string) => wants[method] as ReturnType<typeof iterate>;

describe.each(FULL ? ENGINES : SELECTED_ENGINES)("calls, $name", (row) => {
  const { routines } = row;
  test("onIteration is called for every iteration, in order", async () => {
    for (const method of METHODS) {
      const seen: [number, number][] = [];
      const got = await routines[method](A, b, { onIteration: (iteration, residual) => seen.push([iteration, residual]) });
      expectAnswer(got, want(method), method);
      expect(seen).toEqual(Array.from(got.history.subarray(1), (norm, k) => [k + 1, norm]));
      const none: number[] = [];
      await routines[method](A, b, { maxIterations: 0, onIteration: (k) => none.push(k) });
      await routines[method](A, new Float64Array(n), { onIteration: (k) => none.push(k) });
      expect(none).toEqual([]);
    }
  });

  test("what onIteration throws ends the call, and the next one works", async () => {
    for (const method of METHODS) {
      const seen: number[] = [];
      const stop = (iteration: number): void => {
        seen.push(iteration);
        if (iteration === 3) throw new Error("enough");
      };
      await expect((async () => routines[method](A, b, { onIteration: stop }))()).rejects.toThrow("enough");
      expect(seen).toEqual([1, 2, 3]);
      expectAnswer(await routines[method](A, b), want(method), method);
    }
  });

  test("a signal that is aborted in onIteration ends it with its reason, and the next call works", async () => {
    for (const method of METHODS)
      for (const at of [1, 4]) {
        const controller = new AbortController();
        const reason = new Error(`stopped at ${at}`);
        const seen: number[] = [];
        const onIteration = (iteration: number): void => {
          seen.push(iteration);
          if (iteration === at) controller.abort(reason);
        };
        const plan = await routines.sptrsv(A);
        const options = { signal: controller.signal, onIteration, preconditioner: [plan] };
        await expect((async () => routines[method](A, b, options))()).rejects.toBe(reason);
        expect(seen).toEqual(range(at).map((k) => k + 1));
        const after = await routines[method](A, b, { preconditioner: [plan], signal: new AbortController().signal });
        expectAnswer(after, iterate(method, A, b, { preconditioner: [{ A, part: {} }] }), method);
        await plan.free();
      }
  });

  test("plans and x0 are not changed, and x is a new array", async () => {
    const [L, U] = [await routines.sptrsv(A, { unit: true }), await routines.sptrsv(toCsc(A), { uplo: "upper" })];
    const x0 = b.map((v) => v / 3);
    const before = x0.slice();
    const triangles = [
      { A, part: { unit: true } },
      { A, part: { uplo: "upper" } as const },
    ];
    for (const method of METHODS) {
      const answer = iterate(method, A, b, { preconditioner: triangles, x0, maxIterations: 30 });
      for (const _ of range(2)) {
        const got = await routines[method](A, b, { preconditioner: [L, U], x0, maxIterations: 30 });
        expectAnswer(got, answer, method);
        expect(got.x).not.toBe(x0);
      }
      same(x0, before, "x0");
    }
    await L.free();
    await U.free();
  });

  if (row.opened === undefined) return;
  const opened = async (): Promise<Engine> => (row.opened as () => Promise<Engine>)();
  const direct = async (): Promise<AnyRoutines> => (await opened()) as unknown as AnyRoutines;

  test("inputs are read before the call returns", async () => {
    const engine = await direct();
    for (const method of METHODS)
      for (const preconditioner of ["none", "jacobi", "ilu0"] as const) {
        const [values, right, x0] = [A.values.slice(), b.slice(), b.map((v) => -v)];
        const answer = iterate(method, A, b, { preconditioner, x0: x0.slice() });
        const pending = engine[method]({ ...A, values }, right, { preconditioner, x0 });
        for (const array of [values, right, x0]) array.fill(Number.NaN);
        expectAnswer(await pending, answer, `${method}, ${preconditioner}`);
      }
    const data = Float64Array.of(4, 1, 1, 3);
    const pending = engine.cg(matrix(data, 2, 2), Float64Array.of(1, 2));
    data.fill(7);
    expectAnswer(await pending, iterate("cg", matrix(Float64Array.of(4, 1, 1, 3), 2, 2), [1, 2]), "dense");
  });

  test("many calls at once", async () => {
    const engine = await direct();
    const calls = [...METHODS, ...METHODS].map(async (method) => expectAnswer(await engine[method](A, b), want(method), method));
    const signal = AbortSignal.timeout(0);
    const aborted = engine.gmres(laplacian(40, 40), new Float64Array(1600).fill(1), { signal, tolerance: 0 });
    await expect(aborted).rejects.toMatchObject({ name: "TimeoutError" });
    await Promise.all(calls);
  });

  test("a plan that is freed while it is used is the one that the call began with", async () => {
    const engine = await direct();
    for (const method of METHODS) {
      const plan = await engine.sptrsv(A);
      const answer = iterate(method, A, b, { preconditioner: [{ A, part: {} }] });
      const pending = engine[method](A, b, { preconditioner: [plan] });
      const freeing = plan.free();
      expectAnswer(await pending, answer, method);
      await freeing;
    }
  });

  test("a plan that is updated while it is used keeps the values that the call began with", async () => {
    const engine = await direct();
    for (const method of METHODS) {
      const plan = await engine.sptrsv(A);
      const answer = iterate(method, A, b, { preconditioner: [{ A, part: {} }] });
      let updating: unknown;
      const onIteration = (): void => {
        updating ??= plan.update(A.values.map((v, i) => (i % 7 === 0 ? 1e9 : 2 * v)));
      };
      const pending = engine[method](A, b, { preconditioner: [plan], onIteration });
      if (method === "cg") updating = plan.update(A.values.map((v) => 3 * v));
      expectAnswer(await pending, answer, method);
      await updating;
      await plan.free();
    }
  });

  test("a signal that is aborted right after the call ends it", async () => {
    const engine = await direct();
    for (const method of METHODS) {
      const controller = new AbortController();
      const pending = engine[method](A, b, { signal: controller.signal });
      controller.abort(new Error("changed my mind"));
      await expect(pending).rejects.toThrow("changed my mind");
    }
  });

  test("residents stand for A, b and x0", async () => {
    const engine = await opened();
    type Call = (A: unknown, b: unknown, options?: object) => Promise<IterativeSolution>;
    const dense = matrix(Float64Array.of(4, 1, -1, 3), 2, 2);
    const kept = { A: await engine.upload(N), C: await engine.upload(toCsc(N)), D: await engine.upload(dense), c: await engine.upload(c) };
    const two = await engine.upload(Float64Array.of(1, 2));
    for (const method of METHODS) {
      const call = engine[method] as Call;
      for (const preconditioner of ["none", "jacobi", "ilu0"] as const) {
        const options = { preconditioner, maxIterations: 20 };
        const answer = iterate(method, N, c, options);
        for (const M of [kept.A, kept.C, N]) expectAnswer(await call(M, kept.c, options), answer, `${method}, ${preconditioner}`);
        expectAnswer(await call(kept.A, c, options), answer, `${method}, ${preconditioner}, b on the host`);
      }
      expectAnswer(await call(kept.D, two), iterate(method, dense, [1, 2]), `${method}, dense`);
    }
    same(await kept.c.read(), c, "b");
    expect([(await kept.A.read()).indices, (await kept.C.read()).indices]).toEqual([N.indices, toCsc(N).indices]);
    const bad = await engine.upload(c.map((v, i) => (i === 7 ? Number.NaN : v)));
    const call = engine.cg as Call;
    await expect(call(kept.A, bad)).rejects.toMatchObject({ name: "ValueError", row: 7 });
    for (const resident of [...Object.values(kept), two, bad]) resident.free();
    await expect(call(kept.A, c)).rejects.toThrow("cg: A is a resident that was freed");
  });
});

test("the oracle's answers here are converged", () => {
  for (const method of METHODS) expect(want(method).reason).toBe("tolerance");
});
