// What is wrong with a call of an iterative solver is named before work begins, on an asynchronous engine by a promise that rejects.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as library from "../../src/index.ts";
import { csc, csr, type Engine, laplacian, type Matrix, matrix, open, type Sparse, sptrsv, toCsc } from "../../src/index.ts";
import { type AnyPlan, type AnyRoutines, AVAILABLE_KINDS } from "../engines.ts";
import { iterate } from "../oracles/krylov.ts";
import { expectAnswer, METHODS } from "./cases.ts";

const { NaN: NAN, POSITIVE_INFINITY: INF } = Number;
const ints = (...list: number[]): Int32Array => Int32Array.from(list);
const A = laplacian(3, 3);
const b = Float64Array.from({ length: 9 }, (_, i) => i - 3.5);
const D = matrix(Float64Array.of(4, 1, 1, 3), 2, 2);
const two = Float64Array.of(1, 2);
const wide = csr(2, 3, ints(0, 1, 2), ints(0, 1), Float64Array.of(1, 1));
const single = csr(2, 2, ints(0, 1, 2), ints(0, 1), Float32Array.of(1, 1));
/** A with one value changed. */
const changed = (p: number, v: number): Sparse => ({ ...A, values: A.values.map((old, at) => (at === p ? v : old)) });
const diagonalAt = (i: number): number => {
  for (let p = A.pointers[i] as number; ; p++) if (A.indices[p] === i) return p;
};
// [2 1 .; 1 . 1; . 1 2], without the entry (1, 1)
const gap = csr(3, 3, ints(0, 2, 4, 6), ints(0, 1, 0, 2, 1, 2), Float64Array.of(2, 1, 1, 1, 1, 2));
// [1 2; 2 4]: the second pivot is 0
const dependent = csr(2, 2, ints(0, 2, 4), ints(0, 1, 0, 1), Float64Array.of(1, 2, 2, 4));

const KINDS = ["synchronous", ...AVAILABLE_KINDS] as const;

describe.each(KINDS)("%s", (kind) => {
  let engine: Engine | undefined;
  let routines: AnyRoutines;
  beforeAll(async () => {
    engine = kind === "synchronous" ? undefined : await open(kind, kind === "threads" ? { threads: 3 } : {});
    routines = (engine ?? library) as unknown as AnyRoutines;
  });
  afterAll(() => engine?.close());

  // What a call throws or rejects with; asynchronous engines never throw.
  async function refusal(call: () => unknown): Promise<Error & Record<string, unknown>> {
    let answer: unknown;
    try {
      answer = call();
    } catch (error) {
      if (kind !== "synchronous") expect.fail(`threw ${error}`);
      return error as Error & Record<string, unknown>;
    }
    if (kind !== "synchronous") expect(answer).toBeInstanceOf(Promise);
    return (answer as Promise<never>).then(
      () => expect.fail("not refused"),
      (error) => error,
    );
  }

  const SHAPES: [string, unknown[], string][] = [
    ["nothing", [], "A is undefined"],
    ["null", [null, b], "A is null"],
    ["a vector for A", [b, b], "A is an object of type Float64Array"],
    ["a matrix that is not square", [wide, two], "A is 2 by 3, expected a square matrix"],
    ["a dense one that is not square", [matrix(new Float64Array(6), 3, 2), two], "A is 3 by 2, expected a square matrix"],
    ["binary32", [single, two], "A is binary32, expected binary64"],
    ["dense binary32", [matrix(new Float32Array(4), 2, 2), two], "A is binary32, expected binary64"],
    ["no b", [A], "b is undefined"],
    ["b of numbers", [D, [1, 2]], "b is a plain array"],
    ["b of binary32", [D, new Float32Array(2)], "b is binary32, expected binary64"],
    ["b too short", [A, two], "b has length 2, expected 9 (the order of A)"],
    ["b too long", [D, b], "b has length 9, expected 2 (the order of A)"],
    ["a matrix for b", [D, D], "b is an object"],
    ["x0 too short", [A, b, { x0: two }], "x0 has length 2, expected 9 (the order of A)"],
    ["x0 of binary32", [D, two, { x0: new Float32Array(2) }], "x0 is binary32, expected binary64"],
    ["x0 of numbers", [D, two, { x0: [1, 2] }], "x0 is a plain array"],
    ["options that are none", [A, b, "ilu0"], 'options is "ilu0", expected an object'],
    ["null options", [A, b, null], "options is null, expected an object"],
    ["an unknown option", [A, b, { tol: 1e-6 }], 'there is no option "tol", expected preconditioner, tolerance, absolute'],
    ["a negative tolerance", [A, b, { tolerance: -1e-10 }], "tolerance is -1e-10, expected a number of at least 0"],
    ["a tolerance that is NaN", [A, b, { tolerance: NAN }], "tolerance is NaN, expected a number of at least 0"],
    ["a tolerance as text", [A, b, { tolerance: "1e-6" }], 'tolerance is "1e-6", expected a number'],
    ["a negative absolute", [A, b, { absolute: -1 }], "absolute is -1, expected a number of at least 0"],
    ["an absolute that is NaN", [A, b, { absolute: NAN }], "absolute is NaN, expected a number of at least 0"],
    ["half an iteration", [A, b, { maxIterations: 1.5 }], "maxIterations is 1.5, expected a whole number of at least 0"],
    ["minus one iteration", [A, b, { maxIterations: -1 }], "maxIterations is -1, expected a whole number of at least 0"],
    ["endless restarts", [A, b, { maxRestarts: INF }], "maxRestarts is Infinity, expected a whole number"],
    ["no vectors", [A, b, { restart: 0 }], "restart is 0, expected a whole number of at least 1"],
    ["an unknown preconditioner", [A, b, { preconditioner: "ilu" }], 'preconditioner is "ilu", expected "none", "jacobi", "ilu0"'],
    ["true for a preconditioner", [A, b, { preconditioner: true }], "preconditioner is true, expected"],
    ["null for a preconditioner", [A, b, { preconditioner: null }], "preconditioner is null, expected"],
    ["what is no plan", [A, b, { preconditioner: [A] }], "preconditioner[0] is an object of type Object, expected a plan from sptrsv"],
    ["no plan at all", [A, b, { preconditioner: [undefined] }], "preconditioner[0] is undefined, expected a plan from sptrsv"],
    ["a word among plans", [A, b, { preconditioner: ["jacobi"] }], 'preconditioner[0] is "jacobi", expected a plan from sptrsv'],
    ["a word for onIteration", [A, b, { onIteration: "log" }], 'onIteration is "log", expected a function'],
    ["null for onIteration", [A, b, { onIteration: null }], "onIteration is null, expected a function"],
    ["a word for a signal", [A, b, { signal: "stop" }], 'signal is "stop", expected an AbortSignal'],
    ["ILU(0) of a dense matrix", [D, two, { preconditioner: "ilu0" }], 'preconditioner is "ilu0" for a dense A, expected a sparse one'],
  ];
  test.each(SHAPES)("%s is refused", async (_, args, message) => {
    for (const method of METHODS) {
      const error = await refusal(() => (routines[method] as (...args: unknown[]) => unknown)(...args));
      expect(error.name, error.message).toBe("ShapeError");
      expect(error.message).toContain(`${method}: ${message}`);
    }
  });

  test("a pattern that is none is refused", async () => {
    const twice = { ...A, indices: A.indices.map(() => 0) };
    for (const method of METHODS) {
      const error = await refusal(() => routines[method](twice, b));
      expect([error.name, error.message]).toEqual(["PatternError", `${method}: A.indices[1] is 0, which row 0 has already at 0`]);
    }
  });

  test.each([NAN, INF, -INF])("%d in A, b or x0 is refused with its place", async (bad) => {
    const wrong = b.map((v, i) => (i === 4 ? bad : v));
    const [row, column] = [2, 1];
    const p = Array.from(A.indices).findIndex((j, at) => j === column && at >= (A.pointers[row] as number));
    const dense = matrix(Float64Array.of(NAN, 1, 2, NAN, bad, 3, NAN), 2, 2, { ld: 3, offset: 1 });
    const calls: [string, Sparse | Matrix, Float64Array, object, string, number, number][] = [
      ["by rows", changed(p, bad), b, {}, "(2, 1) of A", 2, 1],
      ["by columns", toCsc(changed(p, bad)), b, {}, "(2, 1) of A", 2, 1],
      ["dense", dense, two, {}, "(1, 0) of A", 1, 0],
      ["dense by columns", { ...dense, order: "column" }, two, {}, "(0, 1) of A", 0, 1],
      ["b", A, wrong, {}, "4 of b", 4, 0],
      ["x0", A, b, { x0: wrong }, "4 of x0", 4, 0],
      ["with b of zeros", changed(p, bad), new Float64Array(9), {}, "(2, 1) of A", 2, 1],
      ["with ILU(0)", changed(p, bad), b, { preconditioner: "ilu0" }, "(2, 1) of A", 2, 1],
    ];
    for (const method of METHODS)
      for (const [label, M, right, options, place, i, j] of calls) {
        const error = await refusal(() => routines[method](M, right, options));
        const message = `${method}: entry ${place} is ${bad}, expected a finite number`;
        expect(error, label).toMatchObject({ name: "ValueError", row: i, column: j, message });
      }
  });

  test("a zero diagonal with Jacobi is refused with its index", async () => {
    const dense = matrix(Float64Array.of(1, 2, 3, -0), 2, 2);
    const calls: [Sparse | Matrix, Float64Array, number][] = [
      [changed(diagonalAt(5), 0), b, 5],
      [changed(diagonalAt(5), -0), b, 5],
      [toCsc(changed(diagonalAt(7), 0)), b, 7],
      [gap, Float64Array.of(1, 2, 3), 1],
      [toCsc(gap), Float64Array.of(1, 2, 3), 1],
      [dense, two, 1],
      [csc(2, 2, ints(0, 0, 0), ints(), new Float64Array(0)), two, 0],
    ];
    for (const method of METHODS)
      for (const [M, right, index] of calls) {
        const error = await refusal(() => routines[method](M, right, { preconditioner: "jacobi" }));
        expect(error).toMatchObject({ name: "SingularError", index });
        expect(error.message).toContain(`${method}: entry (${index}, ${index}) of A is 0 or missing`);
      }
  });

  test("a zero pivot in ILU(0), a missing diagonal and an overflow are refused", async () => {
    const large = csr(2, 2, ints(0, 2, 4), ints(0, 1, 0, 1), Float64Array.of(1e-300, 1, 1e300, 1));
    for (const method of METHODS) {
      const call = (M: Sparse, right: Float64Array) => refusal(() => routines[method](M, right, { preconditioner: "ilu0" }));
      for (const turned of [(M: Sparse) => M, toCsc]) {
        expect(await call(turned(dependent), two)).toMatchObject({ name: "SingularError", index: 1 });
        expect(await call(turned(gap), Float64Array.of(1, 2, 3))).toMatchObject({ name: "SingularError", index: 1 });
        expect(await call(turned(large), two)).toMatchObject({ name: "ValueError", row: 1, column: 0 });
      }
    }
  });

  test("plans of another engine, of another order or precision, and freed ones are refused", async () => {
    const elsewhere = kind === "synchronous" ? await open("wasm") : undefined;
    const other = (elsewhere ? await elsewhere.sptrsv(A) : sptrsv(A)) as unknown as AnyPlan;
    const small = await routines.sptrsv(csr(1, 1, ints(0, 1), ints(0), Float64Array.of(1)));
    const narrow = await routines.sptrsv({ ...A, values: Float32Array.from(A.values) });
    const [good, freed] = [await routines.sptrsv(A), await routines.sptrsv(A)];
    await freed.free();
    for (const method of METHODS) {
      const call = async (...plans: AnyPlan[]) => (await refusal(() => routines[method](A, b, { preconditioner: plans }))).message;
      expect(await call(other)).toBe(`${method}: preconditioner[0] is a plan of another engine, expected one of this engine`);
      expect(await call(good, small)).toBe(`${method}: preconditioner[1] has order 1, expected 9 (the order of A)`);
      expect(await call(narrow)).toBe(`${method}: preconditioner[0] is binary32, expected binary64 (the precision of A)`);
      expect(await call(good, freed)).toContain(`${method}: preconditioner[1]`);
      expect(await call(good, freed)).toContain("freed");
      // The good one is as before.
      const want = iterate(method, A, b, { preconditioner: [{ A, part: {} }] });
      expectAnswer(await routines[method](A, b, { preconditioner: [good] }), want, method);
      expectAnswer(await routines[method](A, b, { preconditioner: [] }), iterate(method, A, b), method);
    }
    for (const plan of [other, small, narrow, good]) await plan.free();
    await elsewhere?.close();
  });

  test("a signal that is aborted already is refused with its reason", async () => {
    const reason = new Error("no time");
    let calls = 0;
    for (const method of METHODS) {
      const error = await refusal(() => routines[method](A, b, { signal: AbortSignal.abort(reason), onIteration: () => calls++ }));
      expect(error).toBe(reason);
    }
    expect(calls).toBe(0);
  });

  test("undefined options are those that were not given, and objects that were not made by csr() do", async () => {
    const none = {
      ...{ preconditioner: undefined, tolerance: undefined, absolute: undefined, maxIterations: undefined, maxRestarts: undefined },
      ...{ restart: undefined, x0: undefined, onIteration: undefined, signal: undefined },
    };
    for (const method of METHODS)
      for (const options of [undefined, {}, none])
        expectAnswer(await routines[method]({ ...A }, b, options), iterate(method, A, b), method);
  });
});
