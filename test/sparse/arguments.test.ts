// What is wrong with a sparse solve is named, before anything is written; on an asynchronous engine by a promise that rejects.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Real, Sparse } from "../../src/arrays/types.ts";
import { csc, csr, type Engine, laplacian, open, ShapeError, SingularError, sptrsv, toCsc } from "../../src/index.ts";
import { type AnyPlan, type AnyRoutines, SCHEDULES_AND_AUTO } from "../engines.ts";
import { storedBits } from "../hex.ts";

const ints = (...list: number[]): Int32Array => Int32Array.from(list);
const bad = (value: unknown): never => value as never;
// [2 . .; 1 4 .; . 3 5]
const L = csr(3, 3, ints(0, 1, 3, 5), ints(0, 0, 1, 1, 2), Float64Array.of(2, 1, 4, 3, 5));
const b = Float64Array.of(2, 5, 8);
const solution = Float64Array.of(1, 1, 1);

// Here, on this thread but later, and on threads.
const KINDS = ["synchronous", "wasm", "threads"] as const;

describe.each(KINDS)("%s", (kind) => {
  let engine: Engine | undefined;
  let solver: AnyRoutines["sptrsv"];
  beforeAll(async () => {
    engine = kind === "synchronous" ? undefined : await open(kind, { threads: 3 });
    solver = (engine?.sptrsv ?? sptrsv) as unknown as AnyRoutines["sptrsv"];
  });
  afterAll(() => engine?.close());

  // What a call throws or rejects with; asynchronous engines never throw.
  async function refusal(call: () => unknown): Promise<Error> {
    let answer: unknown;
    try {
      answer = call();
    } catch (error) {
      if (kind !== "synchronous") expect.fail(`threw ${error}`);
      return error as Error;
    }
    if (kind !== "synchronous") expect(answer).toBeInstanceOf(Promise);
    return (answer as Promise<unknown>).then(
      () => expect.fail("not refused"),
      (error: Error) => error,
    );
  }

  const wide = csr(2, 3, ints(0, 1, 2), ints(0, 1), Float64Array.of(1, 1));
  const ARGUMENTS: [string, unknown[], string, string][] = [
    ["nothing", [], "ShapeError", "sptrsv: A is undefined, expected a sparse matrix (see csr() and csc())"],
    ["null", [null], "ShapeError", "sptrsv: A is null, expected a sparse matrix"],
    ["a vector", [b], "ShapeError", "sptrsv: A is an object of type Float64Array, expected a sparse matrix"],
    ["a plain array", [[[1]]], "ShapeError", "sptrsv: A is a plain array, expected a sparse matrix"],
    ["an object of something else", [{ data: b, rows: 1, cols: 1 }], "ShapeError", "sptrsv: A.format is undefined"],
    ["another format", [{ ...L, format: "coo" }], "ShapeError", 'sptrsv: A.format is "coo", expected "csr" or "csc"'],
    ["a matrix that is not square", [wide], "ShapeError", "sptrsv: A is 2 by 3, expected a square matrix"],
    ["its transpose", [csc(3, 2, wide.pointers, wide.indices, wide.values)], "ShapeError", "sptrsv: A is 3 by 2, expected a square matrix"],
    [
      "indices that are no Int32Array",
      [{ ...L, indices: [0, 0, 1, 1, 2] }],
      "ShapeError",
      "sptrsv: A.indices is a plain array, expected an Int32Array",
    ],
    ["values that are integers", [{ ...L, values: ints(1, 2, 3, 4, 5) }], "ShapeError", "sptrsv: A.values is an object of type Int32Array"],
    ["pointers that decrease", [{ ...L, pointers: ints(0, 3, 1, 5) }], "PatternError", "sptrsv: A.pointers[2] is 1, expected at least 3"],
    [
      "an index out of range",
      [{ ...L, indices: ints(0, 0, 3, 1, 2) }],
      "PatternError",
      "sptrsv: A.indices[2] is 3, expected at least 0 and below 3 (in row 1)",
    ],
    ["an index twice", [{ ...L, indices: ints(0, 1, 1, 1, 2) }], "PatternError", "sptrsv: A.indices[2] is 1, which row 1 has already at 1"],
    ["a value too few", [{ ...L, values: new Float64Array(4) }], "PatternError", "sptrsv: A.values has length 4, expected 5"],
    ["options that are none", [L, "lower"], "ShapeError", 'sptrsv: options is "lower", expected an object'],
    ["null options", [L, null], "ShapeError", "sptrsv: options is null, expected an object"],
    [
      "an option of extrsv",
      [L, { rounding: "paper" }],
      "ShapeError",
      'sptrsv: there is no option "rounding", expected uplo, trans, unit, exact, schedule, expectedSolves',
    ],
    ["another triangle", [L, { uplo: "L" }], "ShapeError", 'sptrsv: uplo is "L", expected one of "lower", "upper"'],
    ["trans as text", [L, { trans: "T" }], "ShapeError", 'sptrsv: trans is "T", expected true or false'],
    ["unit as a number", [L, { unit: 1 }], "ShapeError", "sptrsv: unit is 1, expected true or false"],
    ["exact as null", [L, { exact: null }], "ShapeError", "sptrsv: exact is null, expected true or false"],
    ["another schedule", [L, { schedule: "LEVR" }], "ShapeError", 'sptrsv: schedule is "LEVR", expected one of "auto", "serial", "levr"'],
    ["half a solve", [L, { expectedSolves: 0.5 }], "ShapeError", "sptrsv: expectedSolves is 0.5, expected a whole number of at least 0"],
    [
      "endless solves",
      [L, { expectedSolves: Number.POSITIVE_INFINITY }],
      "ShapeError",
      "sptrsv: expectedSolves is Infinity, expected a whole number",
    ],
  ];
  test.each(ARGUMENTS)("%s is refused", async (_, args, name, message) => {
    const error = await refusal(() => solver(...(args as [Sparse<Real>])));
    expect(error.name).toBe(name);
    expect(error.message).toContain(message);
  });

  test("objects that were not made by csr() are checked, and do", async () => {
    for (const A of [{ ...L }, { ...toCsc(L) }]) {
      const plan = await solver(A, { uplo: undefined, trans: undefined, unit: undefined, exact: undefined, schedule: undefined });
      expect(await plan.solve(b)).toEqual(solution);
    }
    const plan = await solver(L, { expectedSolves: 0 });
    expect(await plan.solve(b)).toEqual(solution);
  });

  // Full matrices: row 1 has no diagonal entry, or a zero; so has row 2.
  const pointers = ints(0, 3, 5, 7);
  const gaps = [
    [
      "has no entry (1, 1), expected a diagonal without gaps or unit: true",
      csr(3, 3, pointers, ints(0, 1, 2, 0, 2, 0, 1), new Float64Array(7).fill(3)),
    ],
    [
      "has no entry (1, 1), expected a diagonal without gaps or unit: true",
      csc(3, 3, pointers, ints(2, 0, 1, 2, 0, 1, 0), new Float32Array(7).fill(3)),
    ],
  ] as const;
  test.each(gaps)("a diagonal that %s", async (message, A) => {
    for (const uplo of ["lower", "upper"] as const)
      for (const trans of [false, true])
        for (const schedule of SCHEDULES_AND_AUTO) {
          const error = await refusal(() => solver(A, { uplo, trans, schedule, exact: schedule !== "levc" }));
          expect(error).toBeInstanceOf(SingularError);
          expect(error).toMatchObject({ index: 1, message: `sptrsv: A ${message}` });
          const plan = await solver(A, { uplo, trans, unit: true, schedule });
          await plan.free();
        }
  });

  test.each([0, -0])("a %d on the diagonal", async (zero) => {
    const A = csr(3, 3, pointers, ints(0, 1, 2, 0, 1, 2, 0), Float64Array.of(1, 5, 5, 5, zero, zero, 5));
    for (const stored of [A, toCsc(A)])
      for (const schedule of SCHEDULES_AND_AUTO) {
        const error = await refusal(() => solver(stored, { schedule, uplo: "upper" }));
        expect(error).toBeInstanceOf(SingularError);
        expect(error).toMatchObject({ index: 1, message: "sptrsv: entry (1, 1) of A is 0, expected a diagonal without zeros" });
      }
    const other = csr(2, 2, ints(0, 2, 4), ints(0, 1, 0, 1), Float64Array.of(1, zero, zero, 1));
    expect(await (await solver(other)).solve(Float64Array.of(3, 4))).toEqual(Float64Array.of(3, 4));
  });

  describe("a plan", () => {
    let plan: AnyPlan;
    beforeAll(async () => {
      plan = await solver(L, { schedule: "slfr" });
    });
    const inUse = (): Promise<Real> => Promise.resolve(plan.solve(b));

    const long = new Float64Array(6);
    const CALLS: [string, (p: AnyPlan) => unknown, string][] = [
      ["no right-hand side", (p) => p.solve(bad(undefined)), "TriangularPlan.solve: b is undefined"],
      ["a plain array", (p) => p.solve(bad([1, 2, 3])), "TriangularPlan.solve: b is a plain array"],
      ["b too short", (p) => p.solve(new Float64Array(2)), "TriangularPlan.solve: b has length 2, expected 3 (the order of A)"],
      [
        "b of another precision",
        (p) => p.solve(new Float32Array(3)),
        "TriangularPlan.solve: b is binary32, expected binary64 (the precision of A)",
      ],
      ["out too long", (p) => p.solve(b, long), "TriangularPlan.solve: out has length 6, expected 3 (the order of A)"],
      ["out of another precision", (p) => p.solve(b, new Float32Array(3)), "TriangularPlan.solve: out is binary32, expected binary64"],
      ["null for out", (p) => p.solve(b, bad(null)), "TriangularPlan.solve: out is null"],
      ["out that is b", (p) => p.solve(b, b), "TriangularPlan.solve: out shares entries with b"],
      ["out that overlaps b", (p) => p.solve(long.subarray(0, 3), long.subarray(2, 5)), "TriangularPlan.solve: out shares entries with b"],
      ["no values", (p) => p.update(bad(undefined)), "TriangularPlan.update: values is undefined"],
      ["values too few", (p) => p.update(new Float64Array(4)), "TriangularPlan.update: values has length 4, expected 5 (the entries of A)"],
      [
        "values too many",
        (p) => p.update(new Float64Array(6)),
        "TriangularPlan.update: values has length 6, expected 5 (the entries of A)",
      ],
      ["values of another precision", (p) => p.update(new Float32Array(5)), "TriangularPlan.update: values is binary32, expected binary64"],
      ["a matrix for values", (p) => p.update(bad(L)), "TriangularPlan.update: values is an object of type Object"],
    ];
    test.each(CALLS)("refuses %s, and is as before", async (_, call, message) => {
      const error = await refusal(() => call(plan));
      expect(error).toBeInstanceOf(ShapeError);
      expect(error.message).toContain(message);
      expect([storedBits(b), storedBits(long)]).toEqual([storedBits(Float64Array.of(2, 5, 8)), storedBits(new Float64Array(6))]);
      expect(await inUse()).toEqual(solution);
    });

    test("refuses values with a zero diagonal, and is as before", async () => {
      const error = await refusal(() => plan.update(Float64Array.of(7, 7, 0, 7, 0)));
      expect(error).toBeInstanceOf(SingularError);
      expect(error).toMatchObject({
        index: 1,
        message: "TriangularPlan.update: entry (1, 1) of A is 0, expected a diagonal without zeros",
      });
      expect(await inUse()).toEqual(solution);
    });

    test("takes views that lie side by side", async () => {
      const both = new Float64Array(6);
      both.set(b);
      expect(await plan.solve(both.subarray(0, 3), both.subarray(3))).toEqual(solution);
      expect(both).toEqual(Float64Array.of(2, 5, 8, 1, 1, 1));
    });

    test("that was freed refuses everything", async () => {
      for (const schedule of SCHEDULES_AND_AUTO) {
        const gone = await solver(laplacian(5, 5), { schedule });
        await gone.free();
        const calls = [() => gone.solve(new Float64Array(25)), () => gone.update(laplacian(5, 5).values), () => gone.free()];
        for (const [i, call] of calls.entries()) {
          const error = await refusal(call);
          expect(error).toBeInstanceOf(ShapeError);
          const name = ["solve", "update", "free"][i];
          expect(error.message).toBe(`TriangularPlan.${name}: the plan was freed, expected one that is in use`);
        }
      }
    });
  });
});
