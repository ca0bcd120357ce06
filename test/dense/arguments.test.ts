// The arguments of the dense routines: what is refused, with which message, before an engine is called.
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { asRow, sharesEntries, stridedView } from "../../src/arrays/matrix.ts";
import { EngineError, HalfulpError, type Matrix, matrix, type Real, ShapeError, SingularError, ValueError } from "../../src/index.ts";
import { type Kernels, kernels, Random, routinesOn } from "../../src/study.ts";
import { recorder } from "./recorder.ts";

// Both kinds of routines have the same arguments; here their results do not matter.
type Either = Record<"exgemv" | "exgemm" | "extrsv" | "exlu" | "exluBatch", (...args: unknown[]) => unknown>;
type Solvable = { solve(...args: unknown[]): unknown };

const zeros = (n: number) => new Float64Array(n);
const singles = (n: number) => new Float32Array(n);
const wide = matrix(zeros(6), 2, 3); // 2 rows, 3 columns
const tall = matrix(zeros(6), 3, 2);
const square = matrix(Float64Array.of(2, 0, 5, 4), 2, 2);
const [two, three] = [zeros(2), zeros(3)];

function detached(): Float64Array {
  const v = zeros(6);
  structuredClone(v.buffer, { transfer: [v.buffer] });
  return v;
}

// The routine, what is wrong, the call, what the error says.
const CASES: readonly [string, (r: Either) => unknown, string][] = [
  ["alpha as text", (r) => r.exgemv("1", wide, three, 0, two), 'exgemv: alpha is "1", expected a number'],
  ["no beta", (r) => r.exgemv(1, wide, three, undefined, two), "exgemv: beta is undefined, expected a number"],
  ["nothing at all", (r) => r.exgemv(), "exgemv: alpha is undefined"],
  [
    "a vector for a matrix",
    (r) => r.exgemv(1, three, three, 0, two),
    "exgemv: A is an object of type Float64Array, expected a matrix (see matrix())",
  ],
  ["rows in rows", (r) => r.exgemv(1, [[1]], three, 0, two), "exgemv: A is a plain array, expected a matrix (see matrix())"],
  ["null for a matrix", (r) => r.exgemv(1, null, three, 0, two), "exgemv: A is null, expected a matrix"],
  ["a number for a matrix", (r) => r.exlu(3), "exlu: A is 3, expected a matrix"],
  [
    "a matrix of a plain array",
    (r) => r.exgemv(1, { ...wide, data: [1, 2] }, three, 0, two),
    "exgemv: A.data is a plain array, expected a Float64Array or a Float32Array",
  ],
  ["a plain array for x", (r) => r.exgemv(1, wide, [1, 2, 3], 0, two), "exgemv: x is a plain array"],
  ["null for y", (r) => r.exgemv(1, wide, three, 0, null), "exgemv: y is null"],
  ["x of another precision", (r) => r.exgemv(1, wide, singles(3), 0, two), "exgemv: x is binary32, expected binary64 (the precision of A)"],
  [
    "y of another precision",
    (r) => r.exgemv(1, wide, three, 0, singles(2)),
    "exgemv: y is binary32, expected binary64 (the precision of A)",
  ],
  [
    "A of another precision",
    (r) => r.exgemv(1, matrix(singles(6), 2, 3), three, 0, two),
    "exgemv: x is binary64, expected binary32 (the precision of A)",
  ],
  ["x too short", (r) => r.exgemv(1, wide, two, 0, two), "exgemv: x has length 2, expected 3 (the columns of A)"],
  ["y too long", (r) => r.exgemv(1, wide, three, 0, three), "exgemv: y has length 3, expected 2 (the rows of A)"],
  [
    "x for the plain matrix",
    (r) => r.exgemv(1, wide, three, 0, two, { trans: true }),
    "exgemv: x has length 3, expected 2 (the rows of A)",
  ],
  [
    "y for the plain matrix",
    (r) => r.exgemv(1, wide, two, 0, two, { trans: true }),
    "exgemv: y has length 2, expected 3 (the columns of A)",
  ],
  ["shapes that alpha = 0 does not read", (r) => r.exgemv(0, wide, two, 0, two), "exgemv: x has length 2"],
  ["a word for a flag", (r) => r.exgemv(1, wide, three, 0, two, { trans: "T" }), 'exgemv: trans is "T", expected true or false'],
  ["null for a flag", (r) => r.exgemv(1, wide, three, 0, two, { trans: null }), "exgemv: trans is null, expected true or false"],
  [
    "a misspelt option",
    (r) => r.exgemv(1, wide, three, 0, two, { transpose: true }),
    'exgemv: there is no option "transpose", expected trans',
  ],
  ["null for options", (r) => r.exgemv(1, wide, three, 0, two, null), "exgemv: options is null, expected an object"],
  ["a detached matrix", (r) => r.exgemv(1, { ...wide, data: detached() }, three, 0, two), "exgemv: the buffer of A.data is detached"],
  ["a detached vector", (r) => r.exgemv(1, wide, detached(), 0, two), "exgemv: the buffer of x is detached"],
  ["y that is x", (r) => r.exgemv(1, square, two, 0, two), "exgemv: y shares entries with x, expected none in common"],
  ["y in A", (r) => r.exgemv(1, square, two, 0, square.data.subarray(1, 3)), "exgemv: y shares entries with A, expected none in common"],
  ["y in what alpha = 0 does not read", (r) => r.exgemv(0, square, two, 0, square.data.subarray(2)), "exgemv: y shares entries with A"],

  ["ld too small", (r) => r.exgemm(1, { ...wide, ld: 2 }, tall, 0, square), "exgemm: A.ld is 2, expected at least 3 (A.cols)"],
  [
    "ld too small for columns",
    (r) => r.exgemm(1, wide, { ...tall, order: "column", ld: 2 }, 0, square),
    "exgemm: B.ld is 2, expected at least 3 (B.rows)",
  ],
  [
    "entries that write over each other",
    (r) => r.exgemm(1, wide, tall, 0, { ...square, ld: 1 }),
    "exgemm: C.ld is 1, expected at least 2 (C.cols)",
  ],
  [
    "data too short",
    (r) => r.exgemm(1, { ...wide, offset: 1 }, tall, 0, square),
    "exgemm: A.data has length 6, expected at least 7 (for 2 by 3, ld 3, offset 1)",
  ],
  [
    "an unknown order",
    (r) => r.exgemm(1, wide, { ...tall, order: "diagonal" }, 0, square),
    'exgemm: B.order is "diagonal", expected one of "row", "column"',
  ],
  [
    "half a row",
    (r) => r.exgemm(1, { ...wide, rows: 1.5 }, tall, 0, square),
    "exgemm: A.rows is 1.5, expected a whole number of at least 0",
  ],
  [
    "an offset before the data",
    (r) => r.exgemm(1, wide, tall, 0, { ...square, offset: -1 }),
    "exgemm: C.offset is -1, expected a whole number of at least 0",
  ],
  [
    "B of another precision",
    (r) => r.exgemm(1, wide, matrix(singles(6), 3, 2), 0, square),
    "exgemm: B is binary32, expected binary64 (the precision of A)",
  ],
  [
    "C of another precision",
    (r) => r.exgemm(1, wide, tall, 0, matrix(singles(4), 2, 2)),
    "exgemm: C is binary32, expected binary64 (the precision of A)",
  ],
  ["inner dimensions that differ", (r) => r.exgemm(1, wide, wide, 0, square), "exgemm: B has 2 rows, expected 3 (the columns of A)"],
  [
    "inner dimensions, A transposed",
    (r) => r.exgemm(1, wide, tall, 0, square, { transA: true }),
    "exgemm: B has 3 rows, expected 2 (the rows of A)",
  ],
  [
    "inner dimensions, B transposed",
    (r) => r.exgemm(1, wide, tall, 0, square, { transB: true }),
    "exgemm: B has 2 columns, expected 3 (the columns of A)",
  ],
  ["C with a row too many", (r) => r.exgemm(1, wide, tall, 0, tall), "exgemm: C has 3 rows, expected 2 (the rows of A)"],
  [
    "C with a row too few",
    (r) => r.exgemm(1, wide, square, 0, square, { transA: true }),
    "exgemm: C has 2 rows, expected 3 (the columns of A)",
  ],
  ["C with a column too many", (r) => r.exgemm(1, wide, tall, 0, wide), "exgemm: C has 3 columns, expected 2 (the columns of B)"],
  [
    "C with a column too few",
    (r) => r.exgemm(1, square, tall, 0, square, { transB: true }),
    "exgemm: C has 2 columns, expected 3 (the rows of B)",
  ],
  [
    "C that is A",
    (r) => r.exgemm(1, square, matrix(zeros(4), 2, 2), 0, square),
    "exgemm: C shares entries with A, expected none in common",
  ],
  [
    "C that is B transposed",
    (r) => r.exgemm(1, matrix(zeros(4), 2, 2), { ...square, order: "column" }, 0, square),
    "exgemm: C shares entries with B",
  ],
  ["a flag as a number", (r) => r.exgemm(1, wide, tall, 0, square, { transA: 1 }), "exgemm: transA is 1, expected true or false"],
  [
    "the option of exgemv",
    (r) => r.exgemm(1, wide, tall, 0, square, { trans: true }),
    'exgemm: there is no option "trans", expected transA, transB',
  ],

  ["a triangle that is not square", (r) => r.extrsv(wide, two), "extrsv: T is 2 by 3, expected a square matrix"],
  ["b too long", (r) => r.extrsv(square, three), "extrsv: b has length 3, expected 2 (the order of T)"],
  ["b of another precision", (r) => r.extrsv(square, singles(2)), "extrsv: b is binary32, expected binary64 (the precision of T)"],
  ["a plain array for b", (r) => r.extrsv(square, [1, 2]), "extrsv: b is a plain array"],
  ["an unknown triangle", (r) => r.extrsv(square, two, { uplo: "U" }), 'extrsv: uplo is "U", expected one of "lower", "upper"'],
  [
    "an unknown rounding",
    (r) => r.extrsv(square, two, { rounding: "nearest" }),
    'extrsv: rounding is "nearest", expected one of "single", "paper", "corrected"',
  ],
  ["unit as a word", (r) => r.extrsv(square, two, { unit: "unit" }), 'extrsv: unit is "unit", expected true or false'],
  ["refine as a flag", (r) => r.extrsv(square, two, { refine: true }), "extrsv: refine is true, expected a whole number of at least 0"],
  [
    "half a refinement",
    (r) => r.extrsv(square, two, { refineBlocks: 0.5 }),
    "extrsv: refineBlocks is 0.5, expected a whole number of at least 0",
  ],
  ["refinements below 0", (r) => r.extrsv(square, two, { refine: -1 }), "extrsv: refine is -1, expected a whole number of at least 0"],
  ["blocks of nothing", (r) => r.extrsv(square, two, { blockSize: 0 }), "extrsv: blockSize is 0, expected a whole number of at least 1"],
  [
    "endless blocks",
    (r) => r.extrsv(square, two, { blockSize: Number.POSITIVE_INFINITY }),
    "extrsv: blockSize is Infinity, expected a whole number",
  ],
  [
    "an option of LAPACK",
    (r) => r.extrsv(square, two, { diag: "U" }),
    'extrsv: there is no option "diag", expected uplo, trans, unit, rounding, refine, refineBlocks, blockSize',
  ],

  ["a batch of a plain array", (r) => r.exluBatch([1], 1, 1), "exluBatch: data is a plain array"],
  ["a batch as a matrix", (r) => r.exluBatch(square, 2, 1), "exluBatch: data is an object of type Object"],
  ["an order as text", (r) => r.exluBatch(zeros(4), "2", 1), 'exluBatch: n is "2", expected a whole number of at least 0'],
  ["a count below 0", (r) => r.exluBatch(zeros(4), 2, -1), "exluBatch: count is -1, expected a whole number of at least 0"],
  ["a batch without its count", (r) => r.exluBatch(zeros(4), 2), "exluBatch: count is undefined"],
  ["a batch too short", (r) => r.exluBatch(zeros(8), 2, 3), "exluBatch: data has length 8, expected 12 (3 matrices of order 2)"],

  [
    "a solution of a wide system",
    async (r) => ((await r.exlu(wide)) as Solvable).solve(two),
    "LU.solve: the matrix is 2 by 3, expected a square one",
  ],
  [
    "a right-hand side too long",
    async (r) => ((await r.exlu(square)) as Solvable).solve(three),
    "LU.solve: b has length 3, expected 2 (the order of A)",
  ],
  [
    "a right-hand side of another precision",
    async (r) => ((await r.exlu(square)) as Solvable).solve(singles(2)),
    "LU.solve: b is binary32, expected binary64 (the precision of A)",
  ],
  ["no right-hand side", async (r) => ((await r.exlu(square)) as Solvable).solve(), "LU.solve: b is undefined"],
  [
    "refinement with another option",
    async (r) => ((await r.exlu(square)) as Solvable).solve(two, { rounding: "paper" }),
    'LU.solve: there is no option "rounding", expected refine',
  ],
  [
    "refinement as text",
    async (r) => ((await r.exlu(square)) as Solvable).solve(two, { refine: "1" }),
    'LU.solve: refine is "1", expected a whole number of at least 0',
  ],
];

describe("a wrong argument is named before an engine hears of it", () => {
  test.each(CASES)("%s", async (_, call, message) => {
    const { sync, async: later, calls } = recorder();
    for (const routines of [sync, later]) {
      const error = await (async () => call(routines as unknown as Either))().then(
        () => undefined,
        (e: unknown) => e,
      );
      expect(error).toBeInstanceOf(ShapeError);
      expect((error as Error).message).toContain(message);
    }
    expect(calls.filter(({ kernel }) => !(kernel === "lu" && message.startsWith("LU.")))).toEqual([]);
  });

  test("synchronous routines throw, asynchronous ones reject", async () => {
    const { sync, async: later } = recorder();
    expect(() => sync.exgemv(1, wide, two, 0, two)).toThrow(ShapeError);
    const promise = later.exgemv(1, wide, two, 0, two);
    await expect(promise).rejects.toThrow(ShapeError);
  });

  test("views that matrix() refuses", () => {
    const bad = (value: unknown): never => value as never;
    expect(() => matrix(zeros(6), 2, 4)).toThrow("matrix: data has length 6, expected at least 8 (for 2 by 4, ld 4, offset 0)");
    expect(() => matrix(zeros(6), 2, 3, { ld: 2 })).toThrow("matrix: ld is 2, expected at least 3 (cols)");
    expect(() => matrix(zeros(6), 2, 3, { order: bad("rows") })).toThrow('matrix: order is "rows"');
    expect(() => matrix(zeros(6), 2, 3, { offset: bad(null) })).toThrow("matrix: offset is null");
    expect(() => matrix(zeros(6), 2, 3, bad({ stride: 3 }))).toThrow('matrix: there is no option "stride", expected order, ld, offset');
    expect(() => matrix(bad([1]), 1, 1)).toThrow("matrix: data is a plain array");
    expect(() => matrix(zeros(6), -1, 3)).toThrow("matrix: rows is -1");
  });

  test("types keep precisions apart", () => {
    const { sync } = recorder();
    // @ts-expect-error a binary32 vector with a binary64 matrix
    expect(() => sync.exgemv(1, wide, singles(3), 0, two)).toThrow(ShapeError);
    // @ts-expect-error a binary64 right-hand side with a binary32 triangle
    expect(() => sync.extrsv(matrix(singles(4), 2, 2), two)).toThrow(ShapeError);
    // @ts-expect-error the product of binary32 matrices in a binary64 one
    expect(() => sync.exgemm(1, matrix(singles(4), 2, 2), matrix(singles(4), 2, 2), 0, square)).toThrow(ShapeError);
  });
});

describe("zeros on a diagonal", () => {
  const T = matrix(Float64Array.of(1, 9, 9, 9, -0, 9, 9, 9, 0), 3, 3);

  test.each([{}, { uplo: "upper" }, { trans: true }] as const)("a SingularError with the first index, %o", async (options) => {
    const { sync, async: later, calls } = recorder();
    const error = await later.extrsv(T, three, options).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(SingularError);
    expect(error).toMatchObject({ index: 1, message: "extrsv: entry (1, 1) of T is 0, expected a diagonal without zeros" });
    expect(() => sync.extrsv(T, three, options)).toThrow(SingularError);
    expect(calls).toEqual([]);
  });

  test("do not count where the diagonal is not read, or in the other entries", () => {
    const { sync, calls } = recorder();
    sync.extrsv(T, three, { unit: true });
    sync.extrsv(matrix(Float64Array.of(1, 0, 0, 1), 2, 2), two);
    sync.extrsv(matrix(Float64Array.of(0, 1, 0, 0, 0, 1), 2, 2, { ld: 3, offset: 1 }), two);
    expect(calls.length).toBe(3);
  });
});

describe("entries that are not finite", () => {
  const A = matrix(Float64Array.of(1, 2, Number.NaN, 4, 5, Number.NEGATIVE_INFINITY), 3, 2);

  test("a ValueError with the first place, row by row", async () => {
    const { async: later, calls } = recorder();
    const error = await later.exlu(A).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ValueError);
    expect(error).toMatchObject({ row: 1, column: 0, message: "exlu: entry (1, 0) of A is NaN, expected a finite number" });
    const columns = await later.exlu({ ...A, order: "column", ld: 3 }).catch((e: unknown) => e);
    expect(columns).toMatchObject({ row: 2, column: 0 });
    expect(calls).toEqual([]);
  });

  test("in a batch the matrix too", () => {
    const { sync, calls } = recorder();
    const data = Float64Array.of(1, 0, 0, 1, 1, 0, Number.NEGATIVE_INFINITY, 1);
    expect(() => sync.exluBatch(data, 2, 2)).toThrow("exluBatch: entry (1, 0) of matrix 1 is -Infinity, expected a finite number");
    expect(calls).toEqual([]);
  });

  test("outside the view they are not looked at", () => {
    const { sync, calls } = recorder();
    sync.exlu(matrix(Float64Array.of(Number.NaN, 1, 2, Number.NaN, 3, 4, Number.NaN), 2, 2, { ld: 3, offset: 1 }));
    expect(calls[0]?.args[0]).toEqual(Float64Array.of(1, 2, 3, 4));
  });
});

describe("what kernels are given", () => {
  test("transposition is in the steps", () => {
    const { sync, calls } = recorder();
    sync.exgemv(2, wide, two, 3, three, { trans: true });
    sync.exgemm(2, { ...wide, order: "column", ld: 2 }, tall, 3, matrix(zeros(9), 3, 3), { transA: true, transB: true });
    expect(calls[0]?.args[1]).toEqual({ data: wide.data, offset: 0, rows: 3, cols: 2, rowStride: 1, colStride: 3 });
    expect(calls[1]?.args.slice(1, 3)).toEqual([
      { data: wide.data, offset: 0, rows: 3, cols: 2, rowStride: 2, colStride: 1 },
      { data: tall.data, offset: 0, rows: 2, cols: 3, rowStride: 1, colStride: 2 },
    ]);
  });

  test("a transposed lower triangle is an upper one", () => {
    const { sync, calls } = recorder();
    for (const uplo of ["lower", "upper"] as const) for (const trans of [false, true]) sync.extrsv(square, two, { uplo, trans });
    expect(calls.map(({ args }) => (args[3] as { upper: boolean }).upper)).toEqual([false, true, true, false]);
    expect(calls.map(({ args }) => (args[0] as { colStride: number }).colStride)).toEqual([1, 2, 1, 2]);
  });

  test("defaults", () => {
    const { sync, calls } = recorder();
    const T = matrix(
      Float64Array.from({ length: 100 * 100 }, () => 1),
      100,
      100,
    );
    const how = { upper: false, unit: false, rounding: "single", refine: 0, refineBlocks: 0, blockSize: 0 };
    sync.extrsv(T, zeros(100));
    sync.extrsv(T, zeros(100), { uplo: undefined, trans: undefined, unit: undefined, rounding: undefined, refine: undefined });
    sync.extrsv(T, zeros(100), { refineBlocks: undefined, blockSize: Number.MAX_SAFE_INTEGER });
    sync.extrsv(T, zeros(100), { refineBlocks: 1 });
    expect(calls.map(({ args }) => args[3])).toEqual([
      how,
      how,
      { ...how, blockSize: 100 },
      { ...how, refineBlocks: 1, blockSize: 64 }, // where it changes bits there is one default for all engines
    ]);
  });

  test("nothing where there is nothing to write", async () => {
    const { sync, async: later, calls } = recorder();
    const empty = matrix(zeros(0), 0, 0);
    for (const r of [sync, later]) {
      expect(await r.exgemv(1, matrix(zeros(0), 0, 3), three, 1, zeros(0))).toEqual(zeros(0));
      expect(await r.exgemm(1, matrix(zeros(0), 0, 3), tall, 1, matrix(zeros(0), 0, 2))).toEqual(matrix(zeros(0), 0, 2));
      expect(await r.extrsv(empty, zeros(0))).toEqual(zeros(0));
      const factors = await r.exlu(empty);
      expect([factors.lu.data.length, factors.pivots.length]).toEqual([0, 0]);
      expect(await factors.solve(zeros(0), { refine: 2 })).toEqual(zeros(0));
      expect((await r.exlu(matrix(zeros(0), 1e15, 0))).pivots.length).toBe(0);
      expect(await r.exluBatch(zeros(0), 3, 0)).toEqual({ lu: zeros(0), pivots: new Int32Array(0), info: new Int32Array(0) });
      expect((await r.exluBatch(zeros(0), 0, 5)).info).toEqual(new Int32Array(5));
    }
    expect(calls).toEqual([]);
  });

  test("no memory for the results is an EngineError", async () => {
    const { sync, async: later } = recorder();
    const message = "count is 1000000000, expected at most 16777216 for matrices of order 0";
    expect(() => sync.exluBatch(zeros(0), 0, 1e9)).toThrow(EngineError);
    expect(() => sync.exluBatch(zeros(0), 0, 1e9)).toThrow(message);
    await expect(later.exluBatch(zeros(0), 0, 1e9)).rejects.toThrow(message);
    expect(() => sync.exluBatch(zeros(0), 0, Number.MAX_SAFE_INTEGER)).toThrow("exluBatch: no memory for 9007199254740991 numbers");
    expect(() => sync.exluBatch(zeros(0), 0, Number.MAX_SAFE_INTEGER)).toThrow(HalfulpError);
  });
});

describe("what is not wrong", () => {
  const { exgemv, exgemm, extrsv, exlu } = routinesOn(kernels("reference") as Kernels);
  const nan = Number.NaN;

  test("y in the padding of A", () => {
    const data = Float64Array.of(1, 2, 10, 3, 4, 20);
    const A = matrix(data, 2, 2, { ld: 3 });
    exgemm(1, A, matrix(Float64Array.of(1, 1), 2, 1), 1, matrix(data, 2, 1, { ld: 3, offset: 2 }));
    expect(Array.from(data)).toEqual([1, 2, 13, 3, 4, 27]);
  });

  test("blocks of one matrix as factors and product", () => {
    const data = Float64Array.of(1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0);
    const block = (i: number, j: number) => matrix(data, 2, 2, { ld: 4, offset: 8 * i + 2 * j });
    exgemm(1, block(0, 0), block(0, 1), 0, block(1, 0));
    expect(Array.from(data.subarray(8))).toEqual([17, 20, 0, 0, 57, 68, 0, 0]);
  });

  test("x that is a row of A, A that is B", () => {
    expect(exgemv(1, square, square.data.subarray(2), 0, zeros(2))).toEqual(Float64Array.of(10, 41));
    expect(exgemm(1, square, square, 0, matrix(zeros(4), 2, 2)).data).toEqual(Float64Array.of(4, 0, 30, 16));
  });

  test("b in the triangle that is not read", () => {
    expect(extrsv(matrix(Float64Array.of(2, 6, 1, 4), 2, 2), Float64Array.of(2, 9))).toEqual(Float64Array.of(1, 2));
    const T = matrix(Float64Array.of(2, nan, 1, 4), 2, 2);
    expect(extrsv(T, Float64Array.of(2, 9))).toEqual(Float64Array.of(1, 2));
  });

  test("NaN and infinities as data", () => {
    expect(exgemv(nan, square, two, 0, zeros(2))).toEqual(Float64Array.of(nan, nan));
    expect(exgemv(1, square, Float64Array.of(Number.POSITIVE_INFINITY, 1), 0, zeros(2))).toEqual(
      Float64Array.of(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
    );
    expect(exgemv(0, matrix(Float64Array.of(nan), 1, 1), Float64Array.of(nan), 2, Float64Array.of(3))).toEqual(Float64Array.of(6));
    expect(exgemv(1, matrix(Float64Array.of(2), 1, 1), Float64Array.of(3), 0, Float64Array.of(nan))).toEqual(Float64Array.of(6));
    expect(extrsv(square, Float64Array.of(nan, 1))).toEqual(Float64Array.of(nan, nan));
  });

  test("vectors and matrices of another realm, of subclasses and in shared memory", () => {
    class Mine extends Float64Array {}
    const foreign = runInNewContext("Float64Array.of(2, 0, 5, 4)") as Float64Array;
    const b = new Mine([2, 13]);
    const x = extrsv(matrix(foreign, 2, 2), b);
    expect([x.constructor, Array.from(x)]).toEqual([Float64Array, [1, 2]]);
    const shared = new Float32Array(new SharedArrayBuffer(16));
    shared.set([2, 0, 5, 4]);
    const factors = exlu(matrix(shared as Real as Float32Array, 2, 2) as Matrix<Float32Array>);
    expect([factors.lu.data.constructor, factors.lu.data.buffer.constructor]).toEqual([Float32Array, ArrayBuffer]);
  });
});

describe("entries in common", () => {
  // all entries, as bytes from the start of the buffer
  function places({ data, rows, cols, order, ld, offset }: Matrix<Real>): Set<number> {
    const result = new Set<number>();
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < cols; j++)
        result.add(data.byteOffset + data.BYTES_PER_ELEMENT * (offset + (order === "row" ? i * ld + j : j * ld + i)));
    return result;
  }

  test("are found exactly, for any two views of one buffer", () => {
    const random = new Random(7);
    const buffer = new ArrayBuffer(8 * 60);
    const view = (): Matrix<Float64Array> => {
      const first = random.below(20);
      const data = new Float64Array(buffer, 8 * first, 60 - first);
      for (;;) {
        const [rows, cols, extra] = [random.below(5), random.below(5), random.below(6)];
        const order = random.below(2) ? "row" : "column";
        const ld = Math.max(0, (order === "row" ? cols : rows) + extra - (random.below(8) === 0 ? 3 : 0));
        try {
          return matrix(data, rows, cols, { order, ld, offset: random.below(25) });
        } catch {} // another one
      }
    };
    let shared = 0;
    for (let k = 0; k < 20_000; k++) {
      const [A, B] = [view(), view()];
      const [inA, inB] = [places(A), places(B)];
      const expected = [...inA].some((place) => inB.has(place));
      if (expected) shared++;
      const found = [sharesEntries(stridedView(A), stridedView(B, true)), sharesEntries(stridedView(B), stridedView(A, true))];
      if (found[0] !== expected || found[1] !== expected) expect.fail(`${JSON.stringify([A, B])}: ${found}, expected ${expected}`);
    }
    expect(shared).toBeGreaterThan(2000);
    expect(shared).toBeLessThan(18_000);
  });

  test("need one buffer", () => {
    expect(sharesEntries(asRow(zeros(3)), asRow(zeros(3)))).toBe(false);
    const data = zeros(3);
    expect(sharesEntries(asRow(data), asRow(data.subarray(2)))).toBe(true);
    expect(sharesEntries(asRow(data.subarray(0, 2)), asRow(data.subarray(2)))).toBe(false);
    expect(sharesEntries(asRow(data.subarray(1, 1)), asRow(data))).toBe(false);
  });
});
