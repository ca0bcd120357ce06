// The arguments of solve() and factor(), on every engine.
import { describe, expect, test } from "vitest";
import { type Matrix, matrix, ShapeError, ValueError } from "../../src/index.ts";
import { describeEngines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { failure } from "./checks.ts";

type Loose = Record<"solve" | "factor", (...args: unknown[]) => unknown>;
const zeros = (n: number) => new Float64Array(n);
const A = matrix(Float64Array.of(2, 1, 1, 3), 2, 2);
const wide = matrix(zeros(6), 2, 3);
const two = Float64Array.of(1, 2);

function detached(): Float64Array {
  const v = zeros(2);
  structuredClone(v.buffer, { transfer: [v.buffer] });
  return v;
}

// What is wrong, the arguments, what the error says after the routine's name.
const MATRICES: readonly [string, unknown[], string][] = [
  ["nothing at all", [], "A is undefined, expected a matrix (see matrix())"],
  ["a vector for A", [two, two], "A is an object of type Float64Array, expected a matrix (see matrix())"],
  ["rows in rows", [[[1]], two], "A is a plain array, expected a matrix (see matrix())"],
  ["A not square", [wide, two], "A is 2 by 3, expected a square matrix"],
  ["A of binary32", [matrix(new Float32Array(4), 2, 2), two], "A is binary32, expected binary64 (the precision of systems)"],
  ["ld too small", [{ ...A, ld: 1 }, two], "A.ld is 1, expected at least 2 (A.cols)"],
  ["A too short", [{ ...A, offset: 1 }, two], "A.data has length 4, expected at least 5 (for 2 by 2, ld 2, offset 1)"],
];
const RIGHTS: readonly [string, unknown, string][] = [
  ["no b", undefined, "b is undefined, expected a matrix, a Float64Array or a Float32Array"],
  ["null for b", null, "b is null"],
  ["a plain array for b", [1, 2], "b is a plain array"],
  ["b too short", zeros(1), "b has length 1, expected 2 (the order of A)"],
  ["b too long", zeros(3), "b has length 3, expected 2 (the order of A)"],
  ["b of binary32", new Float32Array(2), "b is binary32, expected binary64 (the precision of A)"],
  ["b a matrix of binary32", matrix(new Float32Array(4), 2, 2), "b is binary32, expected binary64 (the precision of A)"],
  ["b with other rows", matrix(zeros(6), 3, 2), "b has 3 rows, expected 2 (the order of A)"],
  ["a matrix whose data is too short", { ...wide, offset: 2 }, "b.data has length 6, expected at least 8"],
  ["b detached", detached(), "the buffer of b is detached"],
];
const OPTIONS: readonly [string, unknown, string][] = [
  ["null for options", null, "options is null, expected an object"],
  [
    "an unknown option",
    { refine: 2 },
    'there is no option "refine", expected method, rounding, fallback, maxIterations, signal, onProgress',
  ],
  ["an unknown method", { method: "qr" }, 'method is "qr", expected one of "auto", "mixed", "double", "exact"'],
  ["an unknown rounding", { rounding: "up" }, 'rounding is "up", expected one of "correct", "backward"'],
  ["a word for a flag", { fallback: "no" }, 'fallback is "no", expected true or false'],
  ["half an iteration", { maxIterations: 0.5 }, "maxIterations is 0.5, expected a whole number of at least 0"],
  ["fewer than none", { maxIterations: -1 }, "maxIterations is -1, expected a whole number of at least 0"],
  ["a flag for a signal", { signal: true }, "signal is true, expected an AbortSignal"],
  ["null for a signal", { signal: null }, "signal is null, expected an AbortSignal"],
  ["a word for a function", { onProgress: "log" }, 'onProgress is "log", expected a function'],
];

const OPTIONS_LEFT_OUT = {
  method: undefined,
  rounding: undefined,
  fallback: undefined,
  maxIterations: undefined,
  signal: undefined,
  onProgress: undefined,
};

describeEngines("wrong arguments", (routines) => {
  const loose = routines as unknown as Loose;
  const said = async (call: () => unknown): Promise<string> => {
    const error = await failure(call);
    expect(error).toBeInstanceOf(ShapeError);
    return error.message;
  };

  test.each(MATRICES)("%s", async (_, args, message) => {
    expect(await said(() => loose.solve(...args))).toContain(`solve: ${message}`);
    expect(await said(() => loose.factor(args[0]))).toContain(`factor: ${message}`);
  });

  test.each(RIGHTS)("%s", async (_, b, message) => {
    expect(await said(() => loose.solve(A, b))).toContain(`solve: ${message}`);
    const { solve } = (await loose.factor(A)) as Loose;
    expect(await said(() => solve(b))).toContain(`Factored.solve: ${message}`);
  });

  test.each(OPTIONS)("%s", async (_, options, message) => {
    expect(await said(() => loose.solve(A, two, options))).toContain(`solve: ${message}`);
    expect(await said(() => loose.factor(A, options))).toContain(`factor: ${message}`);
    const { solve } = (await loose.factor(A)) as Loose;
    expect(await said(() => solve(two, options))).toContain(`Factored.solve: ${message}`);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("%d in A or b is refused with its place", async (bad) => {
    const n = 7;
    for (const order of ["row", "column"] as const)
      for (const place of [0, 3, 4 * n + 2, n * n - 1]) {
        const M = matrix(
          Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? 5 : k % 3)),
          n,
          n,
          { order },
        );
        M.data[place] = bad;
        if (place === 3) M.data[4] = 1; // beside it nothing
        const [i, j] = order === "row" ? [Math.floor(place / n), place % n] : [place % n, Math.floor(place / n)];
        for (const call of [() => routines.solve(M, zeros(n)), () => routines.factor(M)]) {
          const error = await failure(call);
          expect(error).toBeInstanceOf(ValueError);
          expect([error.row, error.column]).toEqual([i, j]);
          expect(error.message).toMatch(`: entry (${i}, ${j}) of A is ${bad}, expected a finite number`);
        }
      }
    const before = storedBits(A.data);
    const calls: [Matrix | Float64Array, number, number, string][] = [
      [Float64Array.of(1, bad), 1, 0, "entry 1 of b"],
      [matrix(Float64Array.of(1, 2, bad, 4, 5, 6), 2, 3), 0, 2, "entry (0, 2) of b"],
      [matrix(Float64Array.of(1, 2, bad, 4, 5, 6), 2, 3, { order: "column" }), 0, 1, "entry (0, 1) of b"],
    ];
    const { solve } = await routines.factor(A);
    for (const [b, row, column, where] of calls)
      for (const [name, call] of [["solve", () => routines.solve(A, b)] as const, ["Factored.solve", () => solve(b)] as const]) {
        const error = await failure(call);
        expect(error).toBeInstanceOf(ValueError);
        expect([error.row, error.column]).toEqual([row, column]);
        expect(error.message).toBe(`${name}: ${where} is ${bad}, expected a finite number`);
      }
    expect(storedBits(A.data)).toEqual(before);
  });

  test("undefined options are those that are left out", async () => {
    const plain = await routines.solve(A, two);
    expect(await routines.solve(A, two, OPTIONS_LEFT_OUT)).toEqual(plain);
  });
});

describe("what may be given", () => {
  test("arrays of shared memory", async () => {
    const { solve } = await import("../../src/index.ts");
    const data = new Float64Array(new SharedArrayBuffer(32));
    data.set(A.data);
    const { x } = solve(matrix(data as unknown as Float64Array, 2, 2), two);
    expect(x).toEqual(solve(A, two).x);
  });
});
