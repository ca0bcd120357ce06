import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { FormatError, PatternError, ShapeError } from "../../src/arrays/errors.ts";
import { matrix } from "../../src/arrays/matrix.ts";
import { Random } from "../../src/arrays/random.ts";
import { csc, csr, toCsc, toCsr } from "../../src/arrays/sparse.ts";
import type { Format, Matrix, Real, Sparse } from "../../src/arrays/types.ts";
import { readMatrixMarket, readMatrixMarketRows, writeMatrixMarket } from "../../src/files/matrixMarket.ts";
import { assemble, permutation } from "../generators.ts";
import { storedBits, toHex } from "../hex.ts";
import { coin, entryBits, LAYOUTS, numbers, place, table } from "../matrices.ts";

const SEED = Number(process.env.HALFULP_SEED ?? Date.now() % 2 ** 32);
const [INF, NAN] = [Number.POSITIVE_INFINITY, Number.NaN];
const bad = (value: unknown): never => value as never;
const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join("");
const file = (header: string, ...rest: string[]): string => lines(`%%MatrixMarket matrix ${header}`, ...rest);

async function readSparse(text: Parameters<typeof readMatrixMarket>[0]): Promise<Sparse> {
  const A = await readMatrixMarket(text);
  if (!("format" in A)) throw new Error("a sparse matrix was expected");
  return A;
}

/** The entries as (row, column, value), in the order in which they are stored; csr() says whether the pattern is one. */
function triples(A: Sparse): number[][] {
  csr(A.rows, A.cols, A.pointers, A.indices, A.values);
  const all: number[][] = [];
  for (let i = 0; i < A.rows; i++)
    for (let p = A.pointers[i] as number; p < (A.pointers[i + 1] as number); p++)
      all.push([i, A.indices[p] as number, A.values[p] as number]);
  return all;
}

async function readTriples(text: string): Promise<number[][]> {
  return triples(await readSparse(text));
}

async function readColumns(text: string): Promise<number[]> {
  const A = (await readMatrixMarket(text)) as Matrix;
  expect([A.order, A.ld, A.offset, A.data.length]).toEqual(["column", A.rows, 0, A.rows * A.cols]);
  return Array.from(A.data);
}

const values = async (field: string, ...texts: string[]): Promise<number[]> =>
  readColumns(file(`array ${field} general`, `${texts.length} 1`, ...texts));

const SMALL = lines(
  "%%MatrixMarket matrix coordinate real general",
  "% a comment",
  "",
  "3 4 5",
  "1 1 1.5",
  "3 1 -2e-3",
  "% another",
  "  2 2\t+.5  ",
  "",
  "1 4 7.",
  "3 4 1D2",
);
const SMALL_TRIPLES = [
  [0, 0, 1.5],
  [0, 3, 7],
  [1, 1, 0.5],
  [2, 0, -0.002],
  [2, 3, 100],
];

describe("files in coordinate format", () => {
  test("give a sparse matrix by rows", async () => {
    const A = await readSparse(SMALL);
    expect([A.format, A.rows, A.cols]).toEqual(["csr", 3, 4]);
    expect(triples(A)).toEqual(SMALL_TRIPLES);
    expect(() => toCsc(A)).not.toThrow();
  });

  test.each(["real", "double", "integer"])("%s, general", async (field) => {
    expect(await readTriples(file(`coordinate ${field} general`, "2 3 3", "2 3 5", "2 1 -4", "1 2 0"))).toEqual([
      [0, 1, 0],
      [1, 0, -4],
      [1, 2, 5],
    ]);
  });

  test.each(["real", "double", "integer"])("%s, symmetric: entries below the diagonal are there twice", async (field) => {
    expect(await readTriples(file(`coordinate ${field} symmetric`, "3 3 4", "3 1 5", "1 1 7", "3 3 8", "2 1 -4"))).toEqual([
      [0, 0, 7],
      [0, 1, -4],
      [0, 2, 5],
      [1, 0, -4],
      [2, 0, 5],
      [2, 2, 8],
    ]);
  });

  test.each(["real", "double", "integer"])("%s, skew-symmetric: with both signs", async (field) => {
    expect(await readTriples(file(`coordinate ${field} skew-symmetric`, "3 3 3", "3 1 5", "2 1 -4", "3 2 0"))).toEqual([
      [0, 1, 4],
      [0, 2, -5],
      [1, 0, -4],
      [1, 2, -0],
      [2, 0, 5],
      [2, 1, 0],
    ]);
  });

  test("pattern, general and symmetric: ones", async () => {
    expect(await readTriples(file("coordinate pattern general", "2 3 2", "2 3", "1 2"))).toEqual([
      [0, 1, 1],
      [1, 2, 1],
    ]);
    expect(await readTriples(file("coordinate pattern symmetric", "2 2 2", "2 1", "2 2"))).toEqual([
      [0, 1, 1],
      [1, 0, 1],
      [1, 1, 1],
    ]);
  });

  test.each([
    ["0 0 0", 0, 0],
    ["0 5 0", 0, 5],
    ["5 0 0", 5, 0],
    ["2 2 0", 2, 2],
  ])("sizes %s: no entries", async (size, rows, cols) => {
    const A = await readSparse(file("coordinate real general", size));
    expect([A.rows, A.cols, A.values.length, Array.from(A.pointers)]).toEqual([rows, cols, 0, new Array(rows + 1).fill(0)]);
  });

  test("columns that are far more than the entries cost nothing", async () => {
    const A = await readSparse(file("coordinate real general", "1 2147483647 3", "1 2147483647 1", "1 65537 2", "1 1 3"));
    expect(triples(A)).toEqual([
      [0, 0, 3],
      [0, 65536, 2],
      [0, 2147483646, 1],
    ]);
  });
});

describe("some rows of a file in coordinate format", () => {
  async function* chunks(text: string): AsyncGenerator<string> {
    yield text;
  }
  const lower = ["2 1 -4", "3 3 0.5", "4 1 1e300", "4 3 -0", "5 2 7", "5 4 3", "5 5 2"];
  const orders = {
    "row by row": lower,
    "column by column": [...lower].sort((a, b) => Number(a.split(" ")[1]) - Number(b.split(" ")[1])),
    "in another order": ["5 2 7", "3 3 0.5", "2 1 -4", "5 5 2", "4 3 -0", "% in between", "4 1 1e300", "5 4 3"],
  };
  describe.each(["real general", "real symmetric", "real skew-symmetric", "pattern symmetric"])("%s", (kind) => {
    const isKept = (line: string): boolean => !kind.includes("skew") || !/^3 3|^5 5/.test(line);
    const valueless = (line: string): string => (kind.startsWith("pattern") ? line.split(" ").slice(0, 2).join(" ") : line);
    test.each(Object.entries(orders))("%s: the parts are those of the whole", async (_, lines) => {
      const entries = lines.filter(isKept).map((line) => (line.startsWith("%") ? line : valueless(line)));
      const text = file(`coordinate ${kind}`, `5 5 ${entries.filter((line) => !line.startsWith("%")).length}`, ...entries);
      const whole = triples(await readSparse(text));
      for (let first = 0; first <= 5; first++)
        for (let end = first; end <= 5; end++) {
          const part = await readMatrixMarketRows(chunks(text), () => [first, end]);
          expect(part).toMatchObject({ first, rows: 5, cols: 5, entries: whole.length });
          expect([part.A.rows, part.A.cols]).toEqual([end - first, 5]);
          const own = triples(part.A).map(([i, ...rest]) => [(i as number) + first, ...rest]);
          expect(own).toEqual(whole.filter(([i]) => (i as number) >= first && (i as number) < end));
        }
    });
  });

  test("an entry twice is named with its lines by the part that has it", async () => {
    const text = file("coordinate real general", "3 3 5", "3 1 1", "1 1 1", "2 2 1", "1 3 1", "3 1 2");
    const read = (first: number, end: number) => readMatrixMarketRows(chunks(text), () => [first, end]);
    await expect(read(2, 3)).rejects.toThrow("line 7 has entry (3, 1) again, expected it once (line 3 has it)");
    expect(triples((await read(0, 2)).A)).toHaveLength(3);
  });

  test("all lines are checked, and a dense file is refused at once", async () => {
    const read = (text: string) => readMatrixMarketRows(chunks(text), () => [0, 1]);
    await expect(read(file("coordinate real general", "3 3 2", "1 1 1", "3 4 1"))).rejects.toThrow(/line 4 .*column/);
    await expect(read(file("coordinate real general", "3 3 2", "1 1 1"))).rejects.toThrow(/ends before line 4 with 1 entries, expected 2/);
    await expect(read(file("array real general", "3 3"))).rejects.toThrow("line 1 has a dense matrix, expected a sparse one");
  });
});

describe("files in array format", () => {
  test.each(["real", "double", "integer"])("%s, general: a matrix by columns", async (field) => {
    const A = (await readMatrixMarket(file(`array ${field} general`, "2 3", "1", "2", "3", "4", "5", "-6"))) as Matrix;
    expect(A).toEqual(matrix(Float64Array.of(1, 2, 3, 4, 5, -6), 2, 3, { order: "column" }));
  });

  test.each(["real", "double", "integer"])("%s, symmetric: the columns of the lower triangle", async (field) => {
    const text = file(`array ${field} symmetric`, "3 3", "1", "2", "3", "4", "5", "6");
    expect(await readColumns(text)).toEqual([1, 2, 3, 2, 4, 5, 3, 5, 6]);
  });

  test.each(["real", "double", "integer"])("%s, skew-symmetric: without the diagonal", async (field) => {
    const text = file(`array ${field} skew-symmetric`, "3 3", "2", "-3", "5");
    expect(await readColumns(text)).toEqual([0, 2, -3, -2, 0, 5, 3, -5, 0]);
  });

  test("no rows, no columns, one entry", async () => {
    expect(await readColumns(file("array real general", "0 3"))).toEqual([]);
    expect(await readColumns(file("array real general", "3 0"))).toEqual([]);
    expect(await readColumns(file("array real symmetric", "0 0"))).toEqual([]);
    expect(await readColumns(file("array real skew-symmetric", "0 0"))).toEqual([]);
    expect(await readColumns(file("array real skew-symmetric", "1 1"))).toEqual([0]);
    expect(await readColumns(file("array real symmetric", "1 1", "7"))).toEqual([7]);
  });
});

describe("what is no part of the format but harmless", () => {
  test("capitals in the header, blanks, a byte order mark, Windows line ends, no last line end", async () => {
    const text =
      "\ufeff  %%matrixMARKET\tMatrix  Coordinate REAL  General  \r\n%\r\n \t\r\n 2 2 1 \r\n\r\n  %% late\r\n 2\t1  4 \r\n \r\n%";
    expect(await readTriples(text)).toEqual([[1, 0, 4]]);
    expect(await readTriples(text.replaceAll("\r", ""))).toEqual([[1, 0, 4]]);
  });

  test("leading zeros of indices", async () => {
    expect(await readTriples(file("coordinate pattern general", "002 2 1", "0000000000000002 01"))).toEqual([[1, 0, 1]]);
  });
});

describe("values", () => {
  test("every way of writing a number", async () => {
    expect(
      await values("real", "1", "+1", "-1", "1.", ".5", "-.5", "1.50", "1e3", "1E+3", "1e-3", "1.5d2", "-.5D-1", "007", "-0", "0e5"),
    ).toEqual([1, 1, -1, 1, 0.5, -0.5, 1.5, 1000, 1000, 0.001, 150, -0.05, 7, -0, 0]);
    expect(await values("real", "inf", "-Inf", "+INFINITY", "-infinity", "nan", "NaN", "-nan")).toEqual([
      INF,
      -INF,
      INF,
      -INF,
      NAN,
      NAN,
      NAN,
    ]);
    expect(await values("integer", "1", "+1", "-1", "007", "-0", "9007199254740993", "-9007199254740995")).toEqual([
      1, 1, -1, 7, -0, 9007199254740992, -9007199254740996,
    ]);
    expect(await values("real", "1e400", "-1e400", "1e-400", "-1e-400", "1e99999999999")).toEqual([INF, -INF, 0, -0, INF]);
  });

  test("a NaN is stored as every NaN here, also where it is mirrored", async () => {
    const sparse = await readSparse(file("coordinate real skew-symmetric", "2 2 1", "2 1 -nan"));
    const dense = (await readMatrixMarket(file("array real skew-symmetric", "2 2", "nan"))) as Matrix;
    expect(storedBits(sparse.values)).toEqual(["7ff8000000000000", "7ff8000000000000"]);
    expect(storedBits(dense.data).slice(1, 3)).toEqual(["7ff8000000000000", "7ff8000000000000"]);
  });

  test(`midpoints of two numbers, and what is just beside them, to all their digits, HALFULP_SEED=${SEED}`, async () => {
    const random = new Random(SEED);
    const texts: string[] = [];
    const want: number[] = [];
    for (let n = 0; n < 500; n++) {
      const field = random.below(1075); // below 2^52, so that the last place is at most 1/2
      const high = random.word() >>> 12;
      const low = random.below(2 ** 32 - 1); // not the largest, so that the next number differs in these bits only
      const [below, above] = [assemble(0, field, high, low), assemble(0, field, high, low + 1)];
      const integer = (field === 0 ? 0n : 1n << 52n) + (BigInt(high) << 32n) + BigInt(low);
      const exponent = Math.max(field, 1) - 1075;
      const digits = (2n * integer + 1n) * 5n ** BigInt(1 - exponent); // the midpoint is digits * 10^(exponent - 1)
      texts.push(`${digits}e${exponent - 1}`, `${digits}1e${exponent - 2}`, `${digits - 1n}9e${exponent - 2}`);
      want.push(low % 2 === 0 ? below : above, above, below);
    }
    expect((await values("real", ...texts)).map(toHex)).toEqual(want.map(toHex));
  });
});

const MATRIX = "%%MatrixMarket matrix";
const GENERAL = `${MATRIX} coordinate real general`;

describe("a file that is none is refused with the line", () => {
  test.each<[string, string, number, string]>([
    ["nothing at all", "", 1, 'the file ends before line 1 with no lines, expected "%%MatrixMarket matrix"'],
    ["a blank line first", lines("", GENERAL), 1, 'line 1 has nothing, expected "%%MatrixMarket matrix", a format, a field and a symmetry'],
    [
      "another banner",
      lines("%MatrixMarket matrix coordinate real general"),
      1,
      'line 1 has "%MatrixMarket", expected "%%MatrixMarket matrix"',
    ],
    ["no banner", lines("3 3 1", "1 1 1"), 1, 'line 1 has "3", expected "%%MatrixMarket'],
    ["a long word", lines("x".repeat(1000)), 1, `line 1 has "${"x".repeat(40)}…", expected`],
    ["a header too short", lines(`${MATRIX} coordinate real`), 1, "line 1 has 3 fields, expected 4 (object, format, field, symmetry)"],
    ["a header too long", lines(`${GENERAL} x`), 1, "line 1 has 5 fields, expected 4"],
    ["another object", lines("%%MatrixMarket vector coordinate real general"), 1, 'line 1 has object "vector", expected matrix'],
    ["another format", lines(`${MATRIX} dense real general`), 1, 'line 1 has format "dense", expected coordinate or array'],
    ["another field", lines(`${MATRIX} array quaternion general`), 1, 'field "quaternion", expected real, double, integer or pattern'],
    [
      "complex",
      lines(`${MATRIX} array Complex general`),
      1,
      'field "Complex", expected real, double, integer or pattern (complex matrices are not supported)',
    ],
    ["another symmetry", lines(`${MATRIX} array real upper`), 1, 'symmetry "upper", expected general, symmetric or skew-symmetric'],
    [
      "hermitian",
      lines(`${MATRIX} array real hermitian`),
      1,
      'symmetry "hermitian", expected general, symmetric or skew-symmetric (complex',
    ],
    ["a pattern as an array", lines(`${MATRIX} array pattern general`), 1, "line 1 has a pattern in array format, expected coordinate"],
    [
      "a pattern of two signs",
      lines(`${MATRIX} coordinate pattern skew-symmetric`),
      1,
      "line 1 has a skew-symmetric pattern, expected general or symmetric",
    ],

    ["a header only", lines(GENERAL, "% a comment", ""), 4, "the file ends before line 4 with only a header line, expected the sizes"],
    ["sizes too few", lines(GENERAL, "3 3"), 2, "line 2 has 2 fields, expected 3 (rows, columns, entries)"],
    ["sizes too many", file("array real general", "", "3 3 9"), 3, "line 3 has 3 fields, expected 2 (rows, columns)"],
    ["a size that is text", lines(GENERAL, "3 x 1"), 2, 'line 2 has columns "x", expected an integer from 0 to 2147483647'],
    ["a size below zero", lines(GENERAL, "-3 3 1"), 2, 'line 2 has rows "-3", expected an integer from 0 to 2147483647'],
    ["a size past 32 bits", lines(GENERAL, "2147483648 3 1"), 2, 'line 2 has rows "2147483648", expected an integer from 0 to 2147483647'],
    [
      "entries past 32 bits",
      lines(GENERAL, "2000000000 2000000000 2147483648"),
      2,
      'line 2 has entries "2147483648", expected an integer from 0 to 2147483647',
    ],
    [
      "more rows than such a file could need",
      lines(GENERAL, "2000000000 2000000000 1", "1 1 1"),
      2,
      "line 2 has 2000000000 rows for 1 entries, expected at most 16777216 (each row takes memory, empty or not)",
    ],
    [
      "an array past 32 bits",
      file("array real general", "65536 32768"),
      2,
      "line 2 has 65536 times 32768 entries, expected at most 2147483647",
    ],
    ["a size of a thousand digits", lines(GENERAL, `${"9".repeat(1000)} 3 1`), 2, 'line 2 has rows "9999'],
    ["more entries than places", lines(GENERAL, "2 3 7"), 2, 'entries "7", expected an integer from 0 to 6 (a 2 by 3 matrix has no more)'],
    [
      "more than a triangle",
      file("coordinate real symmetric", "3 3 7"),
      2,
      "expected an integer from 0 to 6 (a 3 by 3 matrix has no more on and below the diagonal)",
    ],
    [
      "more than below the diagonal",
      file("coordinate real skew-symmetric", "3 3 4"),
      2,
      "expected an integer from 0 to 3 (a 3 by 3 matrix has no more below the diagonal)",
    ],
    [
      "symmetric and not square",
      file("coordinate real symmetric", "3 2 1"),
      2,
      "line 2 has 3 rows and 2 columns, expected a square matrix (it is symmetric)",
    ],
    ["skew-symmetric and not square", file("array real skew-symmetric", "3 2"), 2, "expected a square matrix (it is skew-symmetric)"],

    ["a truncated file", lines(GENERAL, "3 3 3", "1 1 1", "2 2 2"), 5, "the file ends before line 5 with 2 entries, expected 3"],
    [
      "a truncated file without a line end",
      lines(GENERAL, "3 3 3", "1 1 1", "2 2 2").trimEnd(),
      5,
      "the file ends before line 5 with 2 entries",
    ],
    ["a truncated line", lines(GENERAL, "3 3 2", "1 1 1", "2 2").trimEnd(), 4, "line 4 has 2 fields, expected 3 (row, column, value)"],
    ["a truncated array", file("array real general", "2 2", "1", "2", "3"), 6, "the file ends before line 6 with 3 entries, expected 4"],
    ["no entries of many", lines(GENERAL, "50000 50000 2000000000"), 3, "the file ends before line 3 with 0 entries, expected 2000000000"],
    [
      "too many lines",
      lines(GENERAL, "3 3 1", "1 1 1", "", "% comment", "2 2 2"),
      6,
      "line 6 has more text, expected the end of the file after 1 entries",
    ],
    ["too many lines of an array", file("array real general", "1 1", "1", "2"), 4, "line 4 has more text"],
    ["too few fields", lines(GENERAL, "3 3 1", "1 1"), 3, "line 3 has 2 fields, expected 3 (row, column, value)"],
    ["too many fields", lines(GENERAL, "3 3 1", "1 1 1 1"), 3, "line 3 has 4 fields, expected 3 (row, column, value)"],
    ["a value in a pattern", file("coordinate pattern general", "3 3 1", "1 1 1"), 3, "line 3 has 3 fields, expected 2 (row, column)"],
    ["two values on a line of an array", file("array real general", "2 1", "1 2"), 3, "line 3 has 2 fields, expected 1 (value)"],
    ["row 0", lines(GENERAL, "3 4 1", "0 1 1"), 3, 'line 3 has row "0", expected an integer from 1 to 3'],
    ["column 0", lines(GENERAL, "3 4 1", "1 0 1"), 3, 'line 3 has column "0", expected an integer from 1 to 4'],
    ["a row past the size", lines(GENERAL, "3 4 1", "4 1 1"), 3, 'line 3 has row "4", expected an integer from 1 to 3'],
    ["a column past the size", lines(GENERAL, "3 4 2", "1 4 1", "1 5 1"), 4, 'line 4 has column "5", expected an integer from 1 to 4'],
    ["a row that is no whole number", lines(GENERAL, "3 4 1", "1.0 1 1"), 3, 'line 3 has row "1.0", expected an integer'],
    ["a column with an exponent", lines(GENERAL, "3 4 1", "1 1e0 1"), 3, 'line 3 has column "1e0", expected an integer'],
    ["a row that is text", lines(GENERAL, "3 4 1", "one 1 1"), 3, 'line 3 has row "one", expected an integer'],
    ["text for a value", lines(GENERAL, "3 4 1", "% comment", "1 1 one"), 4, 'line 4 has value "one", expected a number'],
    [
      "above the diagonal",
      file("coordinate real symmetric", "3 3 1", "1 2 1"),
      3,
      "line 3 has entry (1, 2), expected one on or below the diagonal (the matrix is symmetric)",
    ],
    [
      "on the diagonal",
      file("coordinate real skew-symmetric", "3 3 1", "2 2 0"),
      3,
      "line 3 has entry (2, 2), expected one below the diagonal (the matrix is skew-symmetric)",
    ],
    [
      "above it, skew",
      file("coordinate real skew-symmetric", "3 3 1", "1 2 1"),
      3,
      "line 3 has entry (1, 2), expected one below the diagonal",
    ],
    [
      "an entry twice",
      lines(GENERAL, "3 3 3", "1 1 1", "2 1 2", "1 1 1"),
      5,
      "line 5 has entry (1, 1) again, expected it once (line 3 has it)",
    ],
    [
      "an entry twice in a row",
      lines(GENERAL, "3 3 2", "2 1 1", "2 1 1"),
      4,
      "line 4 has entry (2, 1) again, expected it once (line 3 has it)",
    ],
    [
      "entries twice, with comments between: the first of them",
      lines(GENERAL, "3 3 6", "3 3 1", "%", "1 1 1", "", "", "2 2 1", "2 2 1", "%", "3 3 1", "1 1 1"),
      9,
      "line 9 has entry (2, 2) again, expected it once (line 8 has it)",
    ],
    [
      "an entry three times",
      lines(GENERAL, "3 3 4", "%", "3 3 1", "3 3 1", "1 1 1", "3 3 1"),
      5,
      "line 5 has entry (3, 3) again, expected it once (line 4 has it)",
    ],
    [
      "an entry twice, symmetric",
      file("coordinate pattern symmetric", "3 3 3", "3 1", "2 1", "3 1"),
      5,
      "line 5 has entry (3, 1) again, expected it once (line 3 has it)",
    ],
    ["a line of a million characters", lines(GENERAL, `%${" ".repeat(2 ** 20)}`), 2, "line 2 has more than 1048576 characters"],
  ])("%s", async (_, text, line, message) => {
    for (const form of [text, text.replaceAll("\n", "\r\n")]) {
      const error = await readMatrixMarket(form).catch((reason) => reason);
      expect(error).toBeInstanceOf(FormatError);
      expect(error.message).toContain("readMatrixMarket: ");
      expect(error.message).toContain(message);
      expect(error.line).toBe(line);
    }
  });

  const texts = [
    "0x10",
    "1_000",
    "1,5",
    "--1",
    "+",
    ".",
    "e5",
    "1e",
    "1e+",
    "1e5.0",
    "1.2.3",
    "1-5",
    "infinit",
    "nano",
    "1n",
    "0b1",
    "0o7",
    "١",
    "1;",
  ];
  test.each(texts)("%s is no number", async (text) => {
    await expect(values("real", "1", text)).rejects.toThrow(`line 4 has value ${JSON.stringify(text)}, expected a number`);
  });
  test.each([...texts, "1.0", "1.", "1e3", "nan", "inf", "1d0"])("%s is no integer", async (text) => {
    await expect(values("integer", "1", text)).rejects.toThrow(`line 4 has value ${JSON.stringify(text)}, expected an integer`);
  });

  test("an entry twice among many, of more than one block, in any order", async () => {
    const random = new Random(5);
    const count = 70_000;
    const order = permutation(random, count);
    const entries = Array.from(order, (k) => `${70_000 - k} ${k * 3 + 1} ${k}`);
    const size = `70000 210000 ${count}`;
    const A = await readSparse(file("coordinate integer general", size, entries.join("\n")));
    expect(A.values).toEqual(Float64Array.from({ length: count }, (_, i) => count - 1 - i));
    expect(A.indices).toEqual(Int32Array.from({ length: count }, (_, i) => 3 * (count - 1 - i)));
    entries[69_000] = entries[66_000] as string;
    entries[69_500] = entries[2] as string;
    entries.splice(68_000, 0, "% a comment");
    const error = await readMatrixMarket(file("coordinate integer general", size, entries.join("\n"))).catch((reason) => reason);
    expect([error.name, error.line]).toEqual(["FormatError", 69_004]);
    expect(error.message).toContain("again, expected it once (line 66003 has it)");
  });

  test.each([
    ["coordinate", file("coordinate real general", "2000000000 2000000000 2000000000", "1 1 1")],
    ["array", file("array real general", "50000 40000", "1")],
    ["symmetric array", file("array real symmetric", "40000 40000", "1")],
  ])("a claim of two thousand million entries takes no memory: %s", async (_, text) => {
    const before = process.memoryUsage().arrayBuffers;
    const error = await readMatrixMarket(text).catch((reason) => reason);
    const after = process.memoryUsage().arrayBuffers;
    expect([error.name, error.line]).toEqual(["FormatError", 4]);
    expect(after - before).toBeLessThan(4e6);
  });
});

describe("text in chunks", () => {
  async function* inTurn(chunks: readonly string[]): AsyncGenerator<string> {
    yield* chunks;
  }

  test("may break anywhere", async () => {
    for (const text of [SMALL, `\ufeff${SMALL.replaceAll("\n", "\r\n")}`])
      for (let at = 0; at <= text.length; at++) {
        const chunks = [text.slice(0, at), "", text.slice(at)];
        expect(triples(await readSparse(inTurn(chunks))), `at ${at}`).toEqual(SMALL_TRIPLES);
      }
    for (const length of [1, 2, 3, 7]) {
      const chunks = SMALL.match(new RegExp(`[^]{1,${length}}`, "g")) as string[];
      expect(triples(await readSparse(inTurn(chunks)))).toEqual(SMALL_TRIPLES);
      expect(triples(await readSparse(chunks))).toEqual(SMALL_TRIPLES);
    }
  });

  test("errors have the same line wherever chunks break", async () => {
    const text = SMALL.replace("7.", "7x");
    for (let at = 0; at <= text.length; at++)
      await expect(readMatrixMarket(inTurn([text.slice(0, at), text.slice(at)])), `at ${at}`).rejects.toMatchObject({ line: 10 });
    await expect(readMatrixMarket(inTurn([]))).rejects.toMatchObject({ line: 1 });
  });

  test("a file without line ends is not collected", async () => {
    let taken = 0;
    async function* endless(): AsyncGenerator<string> {
      for (; taken < 1000; taken++) yield "%".repeat(2 ** 16);
    }
    await expect(readMatrixMarket(endless())).rejects.toThrow("readMatrixMarket: line 1 has more than 1048576 characters");
    expect(taken).toBe(16);
  });

  test("the source is closed after an error, and once it has ended not again", async () => {
    const closed: string[] = [];
    const source = (text: string): AsyncIterable<string> => ({
      [Symbol.asyncIterator]: () => {
        const rest = text.split(/(?<=\n)/);
        return {
          next: async () => {
            const value = rest.shift();
            return value === undefined ? { done: true, value } : { done: false, value };
          },
          return: async () => {
            closed.push(text);
            return { done: true, value: undefined };
          },
        };
      },
    });
    await readMatrixMarket(source(SMALL));
    expect(closed).toEqual([]);
    await expect(readMatrixMarket(source(`${SMALL}1 1 1\n1 1 1\n`))).rejects.toMatchObject({ line: 12 });
    expect(closed.length).toBe(1);
    await expect(readMatrixMarket(source("x\n"))).rejects.toMatchObject({ line: 1 });
    expect(closed.length).toBe(2);
    const stream = Readable.from(["x\n", "y\n"]);
    await expect(readMatrixMarket(stream)).rejects.toMatchObject({ line: 1 });
    expect(stream.destroyed).toBe(true);
  });

  test("an error of the source is passed on", async () => {
    async function* broken(): AsyncGenerator<string> {
      yield SMALL;
      throw new Error("the disk is gone");
    }
    await expect(readMatrixMarket(broken())).rejects.toThrow("the disk is gone");
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "text is undefined, expected a string or an iterable of strings"],
    ["null", null, "text is null"],
    ["a number", 7, "text is 7"],
    ["an object", {}, "text is an object of type Object"],
    ["bytes", new Uint8Array(3), "text is an object of type Uint8Array"],
    ["chunks that are numbers", [1], "a chunk of text is 1, expected a string"],
    ["chunks that are bytes", Readable.from([Buffer.from("%%")]), "a chunk of text is an object of type Buffer, expected a string"],
  ])("%s is no text", async (_, text, message) => {
    const error = await readMatrixMarket(bad(text)).catch((reason) => reason);
    expect(error).toBeInstanceOf(ShapeError);
    expect(error.message).toContain(`readMatrixMarket: ${message}`);
  });
});

describe("what is written", () => {
  const written = (A: Parameters<typeof writeMatrixMarket>[0]): string => [...writeMatrixMarket(A)].join("");

  test("sparse matrices in the order in which they are stored", () => {
    const parts = [Int32Array.of(0, 2, 3), Int32Array.of(2, 0, 1), Float64Array.of(0.1, -0, 1e300)] as const;
    expect(written(csr(2, 3, ...parts))).toBe(file("coordinate real general", "2 3 3", "1 3 0.1", "1 1 -0", "2 2 1e+300"));
    expect(written(csc(3, 2, ...parts))).toBe(file("coordinate real general", "3 2 3", "3 1 0.1", "1 1 -0", "2 2 1e+300"));
    expect(written(csr(0, 3, Int32Array.of(0), new Int32Array(0), new Float64Array(0)))).toBe(file("coordinate real general", "0 3 0"));
  });

  test("matrices column by column", () => {
    const data = Float64Array.of(1, NAN, INF, -INF, 5e-324, 6, 7);
    expect(written(matrix(data, 2, 2, { ld: 3, offset: 1 }))).toBe(file("array real general", "2 2", "nan", "5e-324", "inf", "6"));
    expect(written(matrix(data, 2, 2, { order: "column", offset: 3 }))).toBe(file("array real general", "2 2", "-inf", "5e-324", "6", "7"));
    expect(written(matrix(data, 0, 2))).toBe(file("array real general", "0 2"));
  });

  test("in chunks of moderate size, as often as one likes", () => {
    const chunks = writeMatrixMarket(matrix(new Float64Array(100_000).fill(1 / 3), 100, 1000));
    const sizes = Array.from(chunks, (chunk) => chunk.length);
    expect(sizes.length).toBe(Math.ceil(sizes.reduce((a, b) => a + b) / 2 ** 16));
    expect(Math.max(...sizes)).toBeLessThan(2 ** 16 + 100);
    expect(Array.from(chunks, (chunk) => chunk.length)).toEqual(sizes);
  });

  test("no chunk is empty", () => {
    for (let n = 3110; n < 3130; n++)
      expect([...writeMatrixMarket(matrix(new Float64Array(n).fill(-0.30000000000000004), n, 1))].every((chunk) => chunk !== "")).toBe(
        true,
      );
  });

  test.each<[string, unknown, new () => Error, string]>([
    ["nothing", undefined, ShapeError, "A is undefined, expected a matrix (see matrix()) or a sparse one (see csr() and csc())"],
    ["a vector", new Float64Array(3), ShapeError, "A is an object of type Float64Array, expected a matrix"],
    ["an object", {}, ShapeError, "A is an object of type Object, expected a matrix"],
    ["text", "A", ShapeError, 'A is "A", expected a matrix'],
    [
      "a matrix that is too short",
      { ...matrix(new Float64Array(4), 2, 2), rows: 3 },
      ShapeError,
      "A.data has length 4, expected at least 6",
    ],
    [
      "a pattern that is none",
      { format: "csr", rows: 1, cols: 1, pointers: Int32Array.of(0, 1), indices: Int32Array.of(1), values: new Float64Array(1) },
      PatternError as never,
      "A.indices[0] is 1",
    ],
  ])("%s is refused on the call", (_, A, error, message) => {
    expect(() => writeMatrixMarket(bad(A))).toThrow(error);
    expect(() => writeMatrixMarket(bad(A))).toThrow(`writeMatrixMarket: ${message}`);
  });
});

/** A random pattern with random numbers, by rows or by columns, in any order within these. */
function sparse(random: Random, format: Format): Sparse<Real> {
  const [lineCount, length] = [random.below(9), random.below(9)];
  const pointers = [0];
  const indices: number[] = [];
  for (let line = 0; line < lineCount; line++) {
    indices.push(...permutation(random, length).subarray(0, random.below(length + 1)));
    pointers.push(indices.length);
  }
  const parts = [Int32Array.from(pointers), Int32Array.from(indices), numbers(random, indices.length, format)] as const;
  return coin(random) ? csr<Real>(lineCount, length, ...parts) : csc<Real>(length, lineCount, ...parts);
}

describe(`what is written reads back to the bit, HALFULP_SEED=${SEED}`, () => {
  const binary64 = (x: Real): Float64Array => Float64Array.from(x);

  test.each(["binary64", "binary32"] as const)("sparse, %s", async (format) => {
    for (let k = 0; k < 1000; k++) {
      const A = sparse(new Random(SEED * 2 ** 10 + k), format);
      const B = await readSparse(writeMatrixMarket(A as Sparse));
      const sorted = toCsr(toCsc(toCsr(A)));
      expect([B.format, B.rows, B.cols], `case ${k}`).toEqual(["csr", A.rows, A.cols]);
      expect(B.pointers, `case ${k}`).toEqual(sorted.pointers);
      expect(B.indices, `case ${k}`).toEqual(sorted.indices);
      expect(storedBits(B.values), `case ${k}`).toEqual(storedBits(binary64(sorted.values)));
    }
  });

  test.each(["binary64", "binary32"] as const)("matrices, %s", async (format) => {
    for (let k = 0; k < 1000; k++) {
      const random = new Random(SEED * 2 ** 10 + k);
      const T = table(random, random.below(6), random.below(6), format);
      const B = (await readMatrixMarket(writeMatrixMarket(place(T, LAYOUTS[k % 4] as (typeof LAYOUTS)[0]) as Matrix))) as Matrix;
      expect([B.rows, B.cols], `case ${k}`).toEqual([T.rows, T.cols]);
      expect(entryBits(B), `case ${k}`).toEqual(storedBits(binary64(T.values)));
    }
  });

  test("through a file, as a stream of several chunks", async () => {
    const folder = mkdtempSync(join(tmpdir(), "halfulp-files-"));
    try {
      const name = join(folder, "A.mtx");
      const A = matrix(numbers(new Random(SEED), 20_000, "binary64", "bits") as Float64Array, 200, 100, { order: "column" });
      await writeFile(name, Readable.from(writeMatrixMarket(A)));
      const B = (await readMatrixMarket(createReadStream(name, { encoding: "utf8" }))) as Matrix;
      expect(B).toEqual(A);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

// Entries of the full matrix, and on its diagonal: counted with awk.
const REAL: [name: string, order: number, entries: number, diagonal: number][] = [
  ["adder_dcop_05", 1813, 11097, 1801],
  ["bcsstk13", 2003, 83883, 2003],
  ["cryg2500", 2500, 12349, 2500],
  ["hangGlider_2", 1647, 14754, 914],
  ["rajat01", 6833, 43250, 6562],
  ["watt_2", 1856, 11550, 1856],
];
const folder = fileURLToPath(new URL("../../../shared/matrices/", import.meta.url));
const missing = !existsSync(folder);

describe.skipIf(missing)(`real matrices${missing ? " (shared/matrices is not here)" : ""}`, () => {
  test.each(REAL)("%s: order %i, %i entries", async (name, order, entries, diagonal) => {
    const A = await readSparse(createReadStream(`${folder}${name}.mtx`, { encoding: "utf8" }));
    expect([A.rows, A.cols, A.values.length]).toEqual([order, order, entries]);
    const all = triples(A);
    expect(all.filter(([i, j]) => i === j).length).toBe(diagonal);
    // every line of the file once more, the slow way
    const at = new Map(all.map(([i, j, v]) => [`${i} ${j}`, v]));
    const [header, ...rest] = readFileSync(`${folder}${name}.mtx`, "utf8").trimEnd().split("\n") as [string, ...string[]];
    for (const line of rest.filter((text) => !text.startsWith("%")).slice(1)) {
      const [i, j, v = 1] = line.split(" ").map(Number) as [number, number, number?];
      if (at.get(`${i - 1} ${j - 1}`) !== v) expect.fail(`${line} is not in the matrix`);
      if (header.includes("symmetric") && at.get(`${j - 1} ${i - 1}`) !== v) expect.fail(`${line} is not mirrored`);
    }
    const again = await readSparse(writeMatrixMarket(toCsc(A)));
    expect(again).toEqual(A);
  });
});
