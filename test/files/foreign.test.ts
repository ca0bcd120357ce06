// The readers of the library against files that NumPy and SciPy wrote. What is in the files is known by Python's fractions.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  FormatError,
  type Matrix,
  type MatrixMarketOptions,
  type Real,
  readMatrixMarket,
  readNpy,
  ShapeError,
  type Sparse,
} from "../../src/index.ts";
import { caught } from "../caught.ts";
import { storedBits, toHex } from "../hex.ts";
import { type Described2, decoded, EXPECTED, foreign } from "./foreign.ts";

const at = (A: Matrix<Real>, i: number, j: number): number => A.data[A.order === "row" ? i * A.cols + j : i + j * A.rows] as number;
const rowByRow = (A: Matrix<Real>): number[] =>
  Array.from({ length: A.rows * A.cols }, (_, k) => at(A, Math.floor(k / A.cols), k % A.cols));

describe("readNpy of what NumPy wrote", () => {
  test.each(Object.entries(EXPECTED.npy))("%s", (name, { file, values, shape, order }) => {
    const bytes = decoded(file);
    if (shape.length > 2) {
      expect(caught(() => readNpy(bytes))).toMatchObject({
        message: expect.stringMatching(/3 dimensions, shape \(2, 3, 2\), expected none, one or two/),
      });
      return;
    }
    const value = readNpy(bytes);
    const data = ArrayBuffer.isView(value) ? value : value.data;
    expect(data.constructor).toBe(/f4/.test(name) ? Float32Array : Float64Array);
    if (ArrayBuffer.isView(value)) expect(Array.from(value, toHex)).toEqual(values);
    else {
      expect(value).toMatchObject({ rows: shape[0], cols: shape[1], order: order === "C" ? "row" : "column" });
      expect(rowByRow(value).map(toHex)).toEqual(values);
    }
  });
  test("every 97th number of binary16, NaN included", () => {
    expect(storedBits(readNpy(decoded(EXPECTED.halves.file)) as Real)).toEqual(EXPECTED.halves.values);
  });
  test.each(Object.entries(EXPECTED.refused))("%s is refused", (_, [file, message]) => {
    const error = caught(() => readNpy(decoded(file)));
    expect(error).toBeInstanceOf(FormatError);
    expect((error as Error).message).toMatch(/^readNpy: [^\n]{1,200}$/);
    expect((error as Error).message).toContain(message);
  });
  test("a boolean is 0 or 1, from the middle of a buffer too", () => {
    const file = decoded((EXPECTED.npy["|b1 (3, 4) C"] as { file: string }).file);
    const shifted = new Uint8Array(file.length + 3);
    shifted.set(file, 3);
    expect(readNpy(shifted.subarray(3))).toEqual(readNpy(file));
    file[file.length - 3] = 2;
    expect(() => readNpy(file)).toThrow("readNpy: element (2, 1) has the byte 2, expected a boolean: 0 or 1");
  });
});

function dense(A: Matrix | Sparse): number[] {
  if (!("format" in A)) return rowByRow(A);
  const all = new Float64Array(A.rows * A.cols);
  for (let i = 0; i < A.rows; i++)
    for (let p = A.pointers[i] as number; p < (A.pointers[i + 1] as number); p++)
      all[i * A.cols + (A.indices[p] as number)] = A.values[p] as number;
  return [...all];
}

// SciPy counts the zeros of an array as entries.
function same(A: Matrix | Sparse, { rows, cols, entries, dense: values }: Described2): void {
  expect([A.rows, A.cols, "format" in A ? A.values.length : A.rows * A.cols]).toEqual([rows, cols, entries]);
  expect(dense(A).map(toHex)).toEqual(values);
}

describe("readMatrixMarket of what SciPy wrote", () => {
  const text = (name: string): string => readFileSync(foreign(name), "utf8");
  const pieces = (name: string, size: number): string[] => text(name).match(new RegExp(`[^]{1,${size}}`, "g")) as string[];

  test.each(Object.entries(EXPECTED.market))("%s", async (name, expected) => same(await readMatrixMarket(text(name)), expected));
  test("complex.mtx is refused", async () => {
    await expect(readMatrixMarket(text("complex.mtx"))).rejects.toThrow(
      /line 1 has field "complex", .*\(complex matrices are not supported\)/,
    );
  });
  describe.each(Object.entries(EXPECTED.unusual))("%s", (name, { options, ...expected }) => {
    test(`with ${JSON.stringify(options)}`, async () => {
      same(await readMatrixMarket(text(name), options as MatrixMarketOptions), expected);
      same(await readMatrixMarket(pieces(name, 7), options as MatrixMarketOptions), expected);
    });
    test("and not without", async () => {
      const error = await readMatrixMarket(text(name)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(FormatError);
    });
  });
  test("options change nothing about ordinary files", async () => {
    const all = { duplicates: "add", patternValues: "ignore", symmetric: "either", headerless: "entries" } as const;
    for (const [name, expected] of Object.entries(EXPECTED.market)) same(await readMatrixMarket(text(name), all), expected);
  });
});

const file = (header: string, ...lines: string[]): string =>
  `%%MatrixMarket matrix ${header}\n${lines.map((line) => `${line}\n`).join("")}`;
const read = (text: string, options: MatrixMarketOptions): Promise<Sparse> => readMatrixMarket(text, options) as Promise<Sparse>;

describe("duplicates", () => {
  const sum = async (...values: string[]): Promise<string> => {
    const entries = values.map((value) => `1 1 ${value}`);
    const { values: found } = await read(file("coordinate real general", `2 2 ${values.length + 1}`, "2 1 1", ...entries), {
      duplicates: "add",
    });
    expect(found).toHaveLength(2);
    return toHex(found[0] as number);
  };
  test("are added exactly and rounded once, in any order", async () => {
    const terms = ["1e16", "0.1", "-1e16", "1e-300"];
    for (let k = 0; k < 24; k++) {
      const order = [...terms];
      for (let n = 4, rest = k; n > 0; rest = Math.floor(rest / n), n--) order.push(...order.splice(rest % n, 1));
      expect(await sum(...order)).toBe(toHex(0.1));
    }
    // Half a unit in the last place above 1 is a tie, unless something tiny follows.
    expect(await sum("1", "1.1102230246251565e-16")).toBe(toHex(1));
    expect(await sum("1", "1.1102230246251565e-16", "5e-324")).toBe(toHex(1 + 2 ** -52));
    expect(await sum("1.7976931348623157e308", "1.7976931348623157e308", "-1.7976931348623157e308")).toBe(toHex(Number.MAX_VALUE));
  });
  test("zeros, infinities and NaN as in every sum", async () => {
    expect(await sum("-0", "-0")).toBe(toHex(-0));
    expect(await sum("-0", "-0", "-0")).toBe(toHex(-0));
    expect(await sum("-0", "0", "-0")).toBe(toHex(0));
    expect(await sum("1", "-1")).toBe(toHex(0));
    expect(await sum("inf", "1", "inf")).toBe(toHex(Number.POSITIVE_INFINITY));
    expect(await sum("inf", "-inf")).toBe("7ff8000000000000");
    expect(await sum("nan", "1")).toBe("7ff8000000000000");
  });
  test("of a pattern are counted, of a symmetric file mirrored", async () => {
    expect((await read(file("coordinate pattern general", "2 2 3", "1 2", "2 2", "1 2"), { duplicates: "add" })).values).toEqual(
      Float64Array.of(2, 1),
    );
    const A = await read(file("coordinate real skew-symmetric", "2 2 2", "2 1 3", "2 1 4"), { duplicates: "add" });
    expect([...A.pointers, ...A.indices, ...A.values]).toEqual([0, 1, 2, 1, 0, -7, 7]);
  });
  test("there may be more entries than places", async () => {
    const text = file("coordinate real general", "1 1 3", "1 1 1", "1 1 2", "1 1 4");
    expect((await read(text, { duplicates: "add" })).values).toEqual(Float64Array.of(7));
    await expect(read(text, {})).rejects.toThrow(/line 2 has entries "3", expected an integer from 0 to 1/);
  });
});

describe("symmetric files with entries on either side", () => {
  test("both sides of one entry are the same place", async () => {
    const text = file("coordinate real symmetric", "2 2 2", "1 2 3", "2 1 4");
    await expect(read(text, { symmetric: "either" })).rejects.toThrow("line 4 has entry (2, 1) again, expected it once (line 3 has it)");
    expect((await read(text, { symmetric: "either", duplicates: "add" })).values).toEqual(Float64Array.of(7, 7));
  });
  test("a skew-symmetric one has no diagonal", async () => {
    const text = file("coordinate real skew-symmetric", "2 2 1", "2 2 0");
    await expect(read(text, { symmetric: "either" })).rejects.toThrow(/line 3 has entry \(2, 2\), expected one below the diagonal/);
  });
});

describe("files without a header", () => {
  test.each<[string, MatrixMarketOptions["headerless"], string, RegExp]>([
    ["nothing", "entries", "", /ends before line 1 with no lines, expected entries/],
    ["only comments", "sizes", "% one\n\n", /ends before line 3 with no lines, expected sizes/],
    ["too few entries", "sizes", "2 2 2\n1 1 1\n", /ends before line 3 with 1 entries, expected 2/],
    ["too many", "sizes", "2 2 1\n1 1 1\n2 2 2\n", /line 3 has more text/],
    ["an index of zero", "entries", "1 1 1\n0 1 1\n", /line 2 has row "0", expected an integer from 1 to 2147483647/],
    ["lines of different kinds", "entries", "1 1 1\n1 2\n", /line 2 has 2 fields, expected 3 \(row, column, value\)/],
    ["one field", "entries", "5\n", /line 1 has 1 field, expected 3/],
    ["a fraction", "entries", "1.5 1 1\n", /line 1 has row "1.5", expected an integer/],
    [
      "more rows than entries could fill",
      "entries",
      "1 1 1\n% gap\n2000000000 1 1\n",
      /line 3 has row "2000000000", expected at most 16777216 for 2 entries/,
    ],
    ["an entry twice", "entries", "1 1 1\n2 1 1\n1 1 2\n", /line 3 has entry \(1, 1\) again, expected it once \(line 1 has it\)/],
    ["text", "entries", "PK\u0003\u0004\u0000\n", /line 1 has 1 field/],
  ])("%s", async (_, headerless, text, message) => {
    await expect(read(text, { headerless })).rejects.toThrow(message);
  });
  test("the largest indices are the sizes", async () => {
    expect(await read("3 1 5\n1 7 2\n", { headerless: "entries" })).toMatchObject({ rows: 3, cols: 7, values: Float64Array.of(2, 5) });
  });
});

test("options that are none", async () => {
  const text = file("coordinate real general", "1 1 0");
  await expect(read(text, { duplicate: "add" } as never)).rejects.toThrow(
    'readMatrixMarket: there is no option "duplicate", expected duplicates, patternValues, symmetric, headerless',
  );
  await expect(read(text, { duplicates: "sum" } as never)).rejects.toThrow(ShapeError);
  await expect(read(text, { duplicates: undefined })).resolves.toBeDefined();
});
