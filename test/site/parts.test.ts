// The parts of the page that need no browser: bits, the state in the address, what is read from texts and files, what examples print.
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { isRunnable } from "../../site/build/documents.ts";
import { parseRoute } from "../../site/page/route.ts";
import { bitsOf, decimal, ulpsBetween, wrongBits } from "../../site/try/bits.ts";
import type { Shape } from "../../site/try/operations.ts";
import { parametersOf, type State, stateOf } from "../../site/try/state.ts";
import { compute } from "../../site/worker/compute.ts";
import { logged } from "../../site/worker/inspect.ts";
import { type Operand, readOperand } from "../../site/worker/operands.ts";
import { hashOf } from "../../src/cli/output/hashing.ts";
import { csr, matrix, writeMatrixMarket, writeNpy } from "../../src/index.ts";

describe("bits", () => {
  test("are the sign, the exponent and the fraction", () => {
    expect(bitsOf(1)).toBe(`0${"0".padEnd(11, "1")}${"0".repeat(52)}`);
    expect(bitsOf(-0)).toBe(`1${"0".repeat(63)}`);
    expect(bitsOf(Number.MIN_VALUE)).toBe(`${"0".repeat(63)}1`);
    expect(bitsOf(Number.NaN)).toBe(`0${"1".repeat(12)}${"0".repeat(51)}`);
  });

  test("that are wrong are counted", () => {
    expect(wrongBits(1, 1)).toBe(0);
    expect(wrongBits(0, -0)).toBe(1);
    expect(wrongBits(4, 3.14)).toBe(28);
    expect(wrongBits(Number.NaN, Number.NaN)).toBe(0);
  });

  test("units in the last place are counted across zero and powers of two", () => {
    expect(ulpsBetween(1, 1 + 2 ** -52)).toBe(1n);
    expect(ulpsBetween(1 - 2 ** -53, 1)).toBe(1n);
    expect(ulpsBetween(-Number.MIN_VALUE, Number.MIN_VALUE)).toBe(2n);
    expect(ulpsBetween(0, -0)).toBe(0n);
    expect(ulpsBetween(1, Number.POSITIVE_INFINITY)).toBe(undefined);
  });

  test("a number is printed with digits that read back", () => {
    for (const x of [0.1, -0, 1e16, 123456789012345680000, -5e-324, Number.MAX_VALUE, Number.NEGATIVE_INFINITY])
      expect(Number(decimal(x).replaceAll("−", "-"))).toBe(x);
  });
});

describe("the address", () => {
  const state: State = { operation: "dot", method: "", engine: "threads", example: undefined, texts: { x: "1e16, −1 +2&3", y: "%,#?" } };

  test("holds a state, and gives it back", async () => {
    expect(await stateOf(new URLSearchParams(String(await parametersOf(state))))).toEqual(state);
  });

  test("holds long numbers compressed, and none that are too long", async () => {
    const long = { ...state, texts: { x: "0.1, ".repeat(5000), y: "7\n".repeat(5000) } };
    const parameters = await parametersOf(long);
    expect(String(parameters).length).toBeLessThan(2000);
    expect(await stateOf(parameters as URLSearchParams)).toEqual(long);
    const digits = Array.from({ length: 20_000 }, (_, k) => Math.sqrt(k)).join(" ");
    expect(await parametersOf({ ...state, texts: { x: digits } })).toBe(undefined);
  });

  test("may be anything", async () => {
    for (const text of ["", "op=toString", "example=__proto__", "z=!", "z=AAAA", "op=sparse&by=no&A=1", `z=${"A".repeat(200_000)}`]) {
      const found = await stateOf(new URLSearchParams(text));
      expect(Object.values(found.texts).every((each) => typeof each === "string")).toBe(true);
    }
    expect(parseRoute("#read/guides/gpu?at=a%26b").rest).toBe("guides/gpu");
    expect(parseRoute("#read/%E0%A4%A").rest).toBe("%E0%A4%A");
  });
});

describe("operands", () => {
  const read = (text: string, shape: Shape): Promise<Operand> => readOperand("x", text, shape);
  const file = (name: string, bytes: BlobPart): File => new File([bytes], name);

  test("a vector is numbers in any layout", async () => {
    for (const text of ["1 2 -3e5", "1,2,-3e5", "1\n2\r\n-3e5\n", " 1;\t2 ; -3e5;", "1, 2\n-300000"])
      expect(await read(text, "vector")).toEqual(Float64Array.of(1, 2, -3e5));
    expect(await read("inf, -Infinity, nan, -0", "vector")).toEqual(Float64Array.of(Infinity, -Infinity, Number.NaN, -0));
  });

  test("a matrix has a row per line, or between semicolons", async () => {
    const A = matrix(Float64Array.of(1, 2, 3, 4, 5, 6), 2, 3);
    for (const text of ["1 2 3\n4 5 6", "1,2,3\r\n\r\n4,5,6\n", "1 2 3; 4 5 6"]) expect(await read(text, "matrix")).toEqual(A);
    expect(await read("1 2 3", "columns")).toEqual(Float64Array.of(1, 2, 3));
    expect(await read("1\n2\n3", "columns")).toEqual(Float64Array.of(1, 2, 3));
  });

  test("a sparse matrix leaves zeros out", async () => {
    const A = csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), Float64Array.of(4, 1, 2));
    expect(await read("4 0\n1 2", "sparse")).toEqual(A);
    expect(await readOperand("A", file("A.mtx", [...writeMatrixMarket(A)].join("")), "sparse")).toEqual(A);
    expect(await readOperand("A", [...writeMatrixMarket(A)].join(""), "sparse")).toEqual(A);
  });

  test("files keep the bits of their numbers, by rows or by columns", async () => {
    const x = Float64Array.of(0.1, 5e-324, -0, 1e308);
    expect(hashOf((await readOperand("x", file("x.npy", writeNpy(x)), "vector")) as Float64Array)).toBe(hashOf(x));
    const A = matrix(Float64Array.of(1, 2, 3, 4, 5, 6), 2, 3, { order: "column" });
    expect(await readOperand("A", file("A.npy", writeNpy(A)), "columns")).toEqual(matrix(Float64Array.of(1, 3, 5, 2, 4, 6), 2, 3));
    expect(await readOperand("x", file("x.npy", writeNpy(Float32Array.of(0.1))), "vector")).toEqual(Float64Array.of(Math.fround(0.1)));
    expect(await readOperand("x", file("x.csv", "price\n0.5\n7\n"), "vector")).toEqual(Float64Array.of(0.5, 7));
  });

  test.each([
    ["1 two 3", "vector", 'x: line 1 has "two", expected a number'],
    ["1 2\n3", "matrix", "x: row 2 has 1 numbers, expected 2 (as in the first row)"],
    ["  ", "vector", "x is empty, expected numbers"],
    ["%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1", "sparse", "x: line 3 has 2 fields, expected 3 (row, column, value)"],
  ] as const)("%j as a %s is refused with a reason", async (text, shape, message) => {
    await expect(read(text, shape)).rejects.toThrow(message);
  });

  test("a table is refused as a vector", async () => {
    await expect(readOperand("x", file("x.csv", "1,2\n3,4\n"), "vector")).rejects.toThrow("x.csv is a matrix, 2 by 2, expected a vector");
  });
});

describe("a computation", () => {
  test("returns what the library returns, what ordinary arithmetic returns, and the hash", async () => {
    const answer = await compute({ operation: "sum", operands: { x: "1e16 3.14 -1e16" }, method: "", engine: "wasm" });
    expect([...answer.exact, ...(answer.ordinary as Float64Array)]).toEqual([3.14, 4]);
    expect(answer.sha256).toBe(hashOf(Float64Array.of(3.14)));
    expect(answer.read).toEqual({ x: "3 numbers" });
  });

  test("has several right-hand sides, by rows", async () => {
    const answer = await compute({ operation: "solve", operands: { A: "2 0\n0 4", b: "2 4\n4 8" }, method: "", engine: "wasm" });
    expect([answer.shape, [...answer.exact], [...(answer.ordinary as Float64Array)]]).toEqual([
      [2, 2],
      [1, 2, 1, 2],
      [1, 2, 1, 2],
    ]);
  });
});

describe("examples of the documentation", () => {
  test("print as in Node, but for line breaks", () => {
    const values = [1, -0, 1n, null, undefined, true, [], {}, [1, "two", [3, [4, [5]]]], { a: 1, "b c": { d: [{ e: { f: 1 } }] } }];
    const arrays = [Float64Array.of(1, 0.1, -0), new Int32Array(0), Float32Array.of(0.5), new Float64Array(103).fill(2)];
    for (const value of [...values, ...arrays]) expect(logged([value])).toBe(inspect(value).split(/\s+/).join(" "));
    expect(logged(["text", "text", 1])).toBe("text text 1");
  });

  test("run if all that they import is the package", () => {
    expect(isRunnable('import { exsum } from "halfulp";')).toBe(true);
    for (const code of [
      'import { readFileSync } from "node:fs";',
      'import { devices } from "halfulp/opencl";',
      "exsum(x)",
      'import { open } from "halfulp";\nopen("opencl")',
    ])
      expect(isRunnable(code)).toBe(false);
  });
});
