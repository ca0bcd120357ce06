// Arrays of arrays in and out.
import { describe, expect, test } from "vitest";
import { fromRows, laplacian, matrix, toRows } from "../src/index.ts";

const MATRICES = [
  [
    "plain arrays",
    [
      [1, 2, 3],
      [4, -0, Number.NaN],
    ],
  ],
  ["a single number", [[7]]],
  ["no rows", []],
  ["rows without entries", [[], []]],
] as const;

describe("fromRows and toRows", () => {
  test.each(MATRICES)("%s go in and come out, with every bit", (_, rows) => {
    const A = fromRows(rows);
    expect([A.rows, A.cols, A.data]).toEqual([rows.length, rows[0]?.length ?? 0, Float64Array.from(rows.flat())]);
    expect(toRows(A)).toEqual(rows);
  });

  test("rows may be typed arrays, and binary32 rounds to nearest", () => {
    expect(toRows(fromRows([Float32Array.of(0.5), Float64Array.of(0.1)]))).toEqual([[0.5], [0.1]]);
    const A = fromRows([[0.1, 2 ** 25 + 1]], "binary32");
    expect(A.data).toEqual(Float32Array.of(0.1, 2 ** 25));
    expect(toRows(A)).toEqual([[Math.fround(0.1), 2 ** 25]]);
  });

  test("a matrix comes out by rows whatever its order and leading dimension", () => {
    const data = Float64Array.of(9, 1, 2, 9, 3, 4, 9, 5, 6);
    expect(toRows(matrix(data, 2, 3, { order: "column", ld: 3, offset: 1 }))).toEqual([
      [1, 3, 5],
      [2, 4, 6],
    ]);
    expect(toRows(matrix(data, 3, 2, { ld: 3, offset: 1 }))).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
  });

  test.each<[string, () => unknown]>([
    ["fromRows: rows is 5, expected an array of arrays of numbers", () => fromRows(5 as never)],
    ["fromRows: rows is an object of type Float64Array, expected an array", () => fromRows(Float64Array.of(1) as never)],
    ["fromRows: row 0 is 1, expected an array of numbers", () => fromRows([1, 2] as never)],
    ["fromRows: row 1 is an object of type Int8Array, expected", () => fromRows([[1], Int8Array.of(1)] as never)],
    ["fromRows: row 1 has length 2, expected 1 (the length of row 0)", () => fromRows([[1], [1, 2]])],
    ['fromRows: entry (1, 0) is "2", expected a number', () => fromRows([[1], ["2"]] as never)],
    // biome-ignore lint/suspicious/noSparseArray: a hole is no number
    ["fromRows: entry (0, 1) is undefined, expected a number", () => fromRows([[1, , 3]] as never)],
    ['fromRows: precision is "single", expected one of "binary64", "binary32"', () => fromRows([[1]], "single" as never)],
    ["toRows: A is a plain array, expected a matrix", () => toRows([[1]] as never)],
    ["toRows: A is a sparse matrix, expected a dense one", () => toRows(laplacian(2, 2) as never)],
  ])("%s", (message, call) => expect(call).toThrow(message));
});
