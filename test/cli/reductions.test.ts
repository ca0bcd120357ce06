import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import type { Real, Rounding } from "../../src/arrays/types.ts";
import { CHUNK } from "../../src/cli/input/chunks.ts";
import { engines, exasum, exdot, exnrm2, exsum, matrix, writeNpy } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { fromHex, toHex } from "../hex.ts";
import { folder, halfulp, json, pieces } from "./cli.ts";

const { put, npy, at } = folder();
const random = new Random(7);
const kinds = (await engines()).filter(({ available }) => available).map(({ kind }) => kind);
const numbers = (n: number, spread = 20): Float64Array =>
  Float64Array.from({ length: n }, () => random.signed() * 2 ** (random.below(2 * spread + 1) - spread));
const bytes = (x: Real): Uint8Array => new Uint8Array(x.buffer, x.byteOffset, x.byteLength);
const one = async (...argv: string[]): Promise<number> => {
  const { code, out, err } = await halfulp(argv);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return Number(out);
};
const ROUNDINGS: readonly Rounding[] = ["nearest", "up", "down", "zero"];

// What cancels within a chunk and between chunks, so that the first pass is not enough.
function cancelling(n: number, spread: number): Float64Array {
  const x = numbers(n, spread);
  for (let i = 0; i < n >> 1; i++) x[n - 1 - i] = -(x[i] as number);
  x[n >> 1] = 1e-9;
  return x;
}

describe("the numbers are those of the library", () => {
  test.each([0, 1, 2, 31, 33, CHUNK - 1, CHUNK, CHUNK + 1, 4 * CHUNK, 5 * CHUNK + 7])("%i numbers in a file", async (n) => {
    const [x, y] = [numbers(n), numbers(n)];
    const [a, b] = [npy("x.npy", x), put("y.f64", bytes(y))];
    for (const round of ROUNDINGS) {
      expect(await one("sum", a, "--round", round)).toBe(exsum(x, { round }));
      expect(await one("asum", b, "--round", round)).toBe(exasum(y, { round }));
      expect(await one("dot", a, b, "--round", round)).toBe(exdot(x, y, { round }));
      expect(await one("nrm2", a, "--round", round)).toBe(exnrm2(x, { round }));
    }
  });

  test("binary32, rounded to binary32 or to binary64", async () => {
    const x = Float32Array.from(numbers(CHUNK + 5));
    const files = [npy("x.npy", x), put("x.f32", bytes(x))];
    for (const file of files) {
      expect(Math.fround(await one("sum", file))).toBe(exsum(x));
      expect(Math.fround(await one("nrm2", file, "--round", "up"))).toBe(exnrm2(x, { round: "up" }));
      expect(Math.fround(await one("dot", file, file))).toBe(exdot(x, x));
      expect(await one("sum", file, "--to", "binary64")).toBe(exsum(Float64Array.from(x)));
      expect((await json(["sum", file])).hex).toBe(toHex32(exsum(x)));
    }
    const y = numbers(100);
    expect(Math.fround(await one("sum", npy("y.npy", y), "--to", "binary32", "--round", "down"))).toBeLessThanOrEqual(exsum(y));
  });

  test("big-endian and in Fortran order", async () => {
    const x = numbers(300);
    const file = writeNpy(matrix(x, 20, 15));
    const view = new DataView(file.buffer, 128);
    for (let i = 0; i < 300; i++) view.setFloat64(8 * i, x[i] as number);
    file[21] = ">".charCodeAt(0);
    expect(await one("sum", put("big.npy", file))).toBe(exsum(x));
    expect(await one("nrm2", npy("f.npy", matrix(x, 20, 15, { order: "column" })))).toBe(exnrm2(x));
  });

  test("sums that cancel take a second pass, and one that hangs by a thread a third", async () => {
    const x = cancelling(2 * CHUNK + 1001, 60);
    const ladder = await json(["sum", npy("x.npy", x)]);
    expect(ladder).toMatchObject({ value: exsum(x), passes: 2, count: x.length });
    const thread = new Float64Array(CHUNK + 100);
    thread.set([2 ** 600, 1, 2 ** -53, 2 ** -600, -(2 ** 600)]);
    const exact = await json(["sum", npy("t.npy", thread)]);
    expect(exact).toMatchObject({ value: 1 + 2 ** -52, passes: 3 });
    thread[3] = -(2 ** -600);
    expect(await json(["sum", npy("t.npy", thread)])).toMatchObject({ value: 1, passes: 3 });
    thread[3] = 0;
    thread[CHUNK + 50] = 2 ** -600; // decided in another chunk
    expect(await json(["sum", npy("t.npy", thread)])).toMatchObject({ value: 1 + 2 ** -52, passes: 3 });
    for (const round of ROUNDINGS)
      expect(await one("dot", npy("x.npy", x), npy("t.npy", x), "--round", round)).toBe(exdot(x, x, { round }));
  });

  test("a well-conditioned sum takes one pass", async () => {
    for (const command of ["sum", "asum", "nrm2"])
      expect(await json([command, npy("x.npy", numbers(3 * CHUNK))])).toMatchObject({ passes: 1 });
  });

  test.each([
    [[Number.POSITIVE_INFINITY, 1], "Infinity", "7ff0000000000000"],
    [[Number.NEGATIVE_INFINITY, 1], "-Infinity", "fff0000000000000"],
    [[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY], "NaN", "7ff8000000000000"],
    [[Number.NaN], "NaN", "7ff8000000000000"],
    [[], "-0", "8000000000000000"],
    [[-0, -0], "-0", "8000000000000000"],
    [[-0, 0], "0", "0000000000000000"],
    [[1e308, 1e308, -1e308], "1e+308", toHex(1e308)],
    [[1e308, 1e308], "Infinity", "7ff0000000000000"],
    [[5e-324, 5e-324], "1e-323", "0000000000000002"],
  ])("of %j the sum is %s", async (values, text, digits) => {
    // Alone, and at the end of more than a chunk of -0, which change nothing.
    const padded = new Float64Array(CHUNK + 1000).fill(-0);
    padded.set(values, padded.length - values.length);
    for (const x of [Float64Array.from(values), padded]) {
      const file = npy("x.npy", x);
      expect((await halfulp(["sum", file])).out).toBe(`${text}\n`);
      expect((await halfulp(["sum", file, "--hex"])).out).toBe(`${digits}\n`);
      const stdin = [new Uint8Array(readFileSync(file))];
      expect((await halfulp(["sum", "-"], stdin)).out).toBe(`${text}\n`);
    }
  });

  test("what is printed reads back to the same bits", async () => {
    for (let k = 0; k < 200; k++) {
      const x = numbers(1, 1000);
      const file = put("x.f64", bytes(x));
      const said = (await halfulp(["sum", file])).out.trim();
      expect(Object.is(Number(said), x[0])).toBe(true);
      expect(fromHex((await halfulp(["sum", file, "--hex"])).out.trim())).toBe(x[0]);
    }
  });

  test.each(kinds)("on the engine %s too", async (engine) => {
    const [x, y] = [cancelling(CHUNK + 100, 100), numbers(CHUNK + 100)];
    const [a, b] = [npy("x.npy", x), npy("y.npy", y)];
    expect(await one("sum", a, "--engine", engine)).toBe(exsum(x));
    expect(await one("asum", a, "--engine", engine)).toBe(exasum(x));
    expect(await one("dot", a, b, "--engine", engine)).toBe(exdot(x, y));
    expect(await one("nrm2", a, "--engine", engine)).toBe(exnrm2(x));
  });
});

describe("standard input", () => {
  const x = cancelling(CHUNK + 33, 100);
  test.each([1, 7, 4096, 2 ** 24])("in pieces of %i bytes", async (size) => {
    const few = size < 100 ? x.subarray(0, 1000) : x;
    expect(Number((await halfulp(["sum", "-"], pieces(writeNpy(few), size))).out)).toBe(exsum(few));
    expect(Number((await halfulp(["nrm2", "-", "--format", "raw"], pieces(bytes(few), size))).out)).toBe(exnrm2(few));
    const text = few.subarray(0, 500).join("\n");
    expect(Number((await halfulp(["asum", "-", "--format", "csv"], pieces(text, size))).out)).toBe(exasum(few.subarray(0, 500)));
  });
  test("beside a file, and not twice", async () => {
    expect(Number((await halfulp(["dot", "-", npy("x.npy", x)], pieces(writeNpy(x), 5000))).out)).toBe(exdot(x, x));
    expect(await halfulp(["dot", "-", "-"])).toMatchObject({
      code: 2,
      err: "halfulp: dot: standard input is given twice, expected at most once\n",
    });
  });
  test("that does not tell what it is", async () => {
    expect(await halfulp(["sum", "-"], pieces("1\n2\n", 10))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--format raw, raw32 or csv/),
    });
    expect(await halfulp(["sum", "-"])).toMatchObject({ code: 2 });
  });
});

describe("CSV", () => {
  const table = 'name,price,"how many"\r\n"a, b",1.5,2\r\n\r\n"c ""d""\nand more", -2e-3 ,3\r\ne,inf,4\r\n';
  test("columns by name and by place", async () => {
    const file = put("t.csv", table);
    expect(await one("sum", file, "-c", "how many")).toBe(9);
    expect(await one("sum", file, "--column", "3")).toBe(9);
    expect(await one("sum", file, "-c", "price")).toBe(Number.POSITIVE_INFINITY);
    expect(await one("dot", file, file, "-c", "3")).toBe(29);
    expect(await one("dot", put("u.csv", "1,2\n3,4\n"), at("u.csv"), "-c", "1", "-c", "2")).toBe(14);
  });
  test("other separators", async () => {
    expect(await one("sum", put("t.tsv", "a\tb\n1\t2\n3\t4\n"), "-c", "b")).toBe(6);
    expect(await one("sum", put("s.csv", "1;2\n3;4"), "--delimiter", ";", "-c", "2")).toBe(6);
    expect(await one("sum", put("s.csv", "1\t2\n3\t4"), "--delimiter", "\\t", "-c", "2")).toBe(6);
  });
  test("a separator is one character", async () => {
    for (const delimiter of [";;", "", "\\t\\t", ";\\t", "ab", '"', "\n", "\r"]) {
      const said = await halfulp(["sum", put("s.csv", "1;;2\n"), "--delimiter", delimiter]);
      expect(said).toMatchObject({ code: 2, out: "" });
      expect(said.err).toContain(`--delimiter is ${JSON.stringify(delimiter)}, expected one character (or \\t for a tab)`);
    }
    expect((await halfulp(["sum", "--help"])).out).toContain("one character, or \\t for a tab");
    for (const delimiter of [";", "|", " ", "\t", "§", "𝄞"])
      expect(await one("sum", put("s.csv", `1${delimiter}2\n3${delimiter}4`), "--delimiter", delimiter, "-c", "2")).toBe(6);
  });
  test("a byte order mark, no line end, nothing at all", async () => {
    expect(await one("sum", put("b.csv", "\ufeff1\n2"))).toBe(3);
    expect((await halfulp(["sum", put("e.csv", "")])).out).toBe("-0\n");
    expect((await halfulp(["sum", put("e.csv", "only,names\n"), "--header", "yes"])).out).toBe("-0\n");
    expect((await halfulp(["sum", at("e.csv"), "-c", "names"])).out).toBe("-0\n");
  });
  test("every number is rounded correctly", async () => {
    const digits = "0.1000000000000000055511151231257827021181583404541015625000000000000000001";
    expect(await one("sum", put("d.csv", digits))).toBe(0.1);
  });
  test.each([
    ["1\nx\n", /line 2 has "x" in column 1, expected a number/],
    ["1\n2,\n", undefined],
    ["a,b\n1,\n", /line 2 has no value in column 1/, "1", "x,1\n,2\n"],
    ["1,2\n3\n", /line 2 has 1 columns, expected 2 \(as in the lines before\)/, "2"],
    ["a,b\n1,2\n", /no column is named "c", expected one of "a", "b"/, "c"],
    ['1\n"2\n3\n', /line 2 has an unclosed quote/],
    ["1,000.5\n1.0.0\n", /line 2 has 1 columns, expected 2/],
    ["1\n1.0.0\n", /"1.0.0"/],
    ["1\n0x10\n", /"0x10"/],
    ['1\n"1"2\n', /line 2 has "\\"1\\"2" in column 1, expected a number/],
    ['1\n "2"\n', /line 2 has "\\"2\\"" in column 1, expected a number/],
  ])("%j", async (text, message, column = "1", instead = text) => {
    const said = await halfulp(["sum", put("t.csv", instead), "-c", column]);
    if (message === undefined) expect(said.code).toBe(0);
    else expect(said).toMatchObject({ code: 2, out: "", err: expect.stringMatching(message) });
  });
  test.each(["NA\n1\n", "n/a\n1\n", "12x\n1\n", "0x10\n1\n", "1_000\n2\n", "1%\n", "$5\n1\n", "-x\n1\n", ".\n1\n", '""\n1\n'])(
    "%j: a number gone wrong is no name",
    async (text) => {
      const said = await halfulp(["sum", put("t.csv", text)]);
      expect(said).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/line 1 has .*expected a number \(use --header yes/) });
      expect((await halfulp(["sum", put("t.csv", text), "--header", "yes"])).code).toBe(0);
      expect((await halfulp(["sum", put("t.csv", text), "--header", "no"])).code).toBe(2);
    },
  );
  test.each(["price\n1\n", "_1\n1\n", "% change\n1\n", "größe\n1\n", '"a, b"\n1\n'])("%j: a name", async (text) => {
    expect(await one("sum", put("t.csv", text))).toBe(1);
    expect(await halfulp(["sum", put("t.csv", text), "--header", "no"])).toMatchObject({ code: 2, out: "" });
  });
  test("docs/cli.md says which cells of line 1 are names", async () => {
    const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
    const row = (kind: string): string[] => {
      const [, cells] = page.match(new RegExp(`^\\| (.*) \\| ${kind}.*\\|$`, "m")) as RegExpMatchArray;
      return [...(cells as string).matchAll(/`([^`]+)`/g)].map(([, cell]) => cell as string);
    };
    const count = async (cell: string): Promise<unknown> => (await json(["sum", put("t.csv", `${cell}\n1\n`)])).count;
    for (const cell of row("a name")) expect(await count(cell), cell).toBe(1);
    for (const cell of row("a number")) expect(await count(cell), cell).toBe(2);
    for (const cell of [...row("neither"), ...row("a missing value")]) await expect(count(cell), cell).rejects.toThrow(/line 1 has/);
    expect((await halfulp(["sum", "--help"])).out).toMatch(/a name if the first of its letters, digits, _ \. \+ and - is a letter or _/);
  });
  test("a name that two columns have is refused if it is asked for", async () => {
    const file = put("twice.csv", "\nv,w, v,v\n1,2,4,8\n");
    const said = await halfulp(["sum", file, "-c", "v"]);
    expect(said).toMatchObject({ code: 2, out: "" });
    expect(said.err).toMatch(/twice.csv: line 2 has the name "v" in columns 1, 3 and 4, expected it once \(or use a column number\)\n$/);
    expect((await halfulp(["dot", file, put("pair.csv", "a,b,b\n1,2,3\n"), "-c", "w", "-c", "b"])).err).toMatch(/"b" in columns 2 and 3,/);
    expect((await halfulp(["sum", put("years.csv", "2,2\n3,4\n"), "-c", "2", "--header", "yes"])).err).toMatch(/"2" in columns 1 and 2,/);
    expect(await one("sum", file, "-c", "w")).toBe(2);
    expect(await one("sum", file, "-c", "3")).toBe(4);
  });
  test("names that are numbers", async () => {
    const file = put("years.csv", "2020,2021\n1,2\n3,4\n");
    expect(await one("sum", file, "-c", "2021", "--header", "yes")).toBe(6);
    expect(await one("sum", file, "-c", "2", "--header", "yes")).toBe(6);
    expect(await one("sum", file, "-c", "2")).toBe(2027);
    expect((await halfulp(["sum", file, "-c", "2021"])).err).toMatch(/2 columns, expected at least 2021 \(use --header yes/);
    expect((await halfulp(["sum", file, "-c", "x", "--header", "no"])).err).toMatch(/--column is "x", expected a column number/);
    expect((await halfulp(["sum", file, "--header", "maybe"])).err).toMatch(/--header is "maybe", expected yes or no/);
  });
  describe("empty cells", () => {
    const refused = async (line: number, column: number, ...argv: string[]): Promise<void> => {
      const said = await halfulp(argv);
      expect(said).toMatchObject({ code: 2, out: "" });
      expect(said.err).toMatch(
        new RegExp(`^halfulp: \\S+\\.[ct]sv: line ${line} has no value in column ${column}, expected a number [^\n]+\n$`),
      );
    };
    test.each([
      ["1\n\n3\n", 2, 1],
      ["1\r\n \r\n3\r\n", 2, 1],
      ["v\n\n3\n", 2, 1],
      ["\n\n3\n", 1, 1],
      ['1\n""\n', 2, 1],
      ["1,2\n3,\n", 2, 2],
      ["1,2\n\n3, \n", 3, 2],
    ])("%j: refused, with the line and the column", async (text, line, column) => {
      await refused(line, column, "sum", put("gap.csv", text), "-c", `${column}`);
      await refused(line, column, "dot", put("gap.csv", text), at("gap.csv"), "-c", `${column}`, "--missing", "refuse");
    });
    test("a line of tabs is a row of them", async () => {
      await refused(2, 2, "sum", put("gap.tsv", "1\t2\n\t\n3\t4\n"), "-c", "2");
    });
    test("blank lines are none before a line of names, at the end, and in a table of several columns", async () => {
      expect(await one("sum", put("blank.csv", "\n\nv\n1\n2\n\n \n"))).toBe(3);
      expect(await one("sum", put("blank.csv", "\n1,2\n\n3,4\n\n"), "-c", "2")).toBe(6);
    });
    test("skipped: the rows that are left stay side by side", async () => {
      const [x, y] = [put("x.csv", "1\n\n3\n4\nnan\n"), put("y.csv", 'v\n10\n20\n""\n40\n\n\n')];
      await refused(2, 1, "dot", x, y);
      const table = put("xy.csv", "x,y\n1,10\n,20\n3,\n4,40\nnan, \n");
      const argv = ["dot", table, table, "-c", "x", "-c", "y", "--missing", "skip"];
      expect(await json(argv)).toMatchObject({ value: 170, count: 2, skipped: 3 });
      const array = npy("y.npy", Float64Array.of(10, Number.NaN, 30));
      expect(await json(["dot", put("x3.csv", "1\n\n3\n"), array, "--missing", "skip"])).toMatchObject({
        value: 100,
        count: 2,
        skipped: 1,
      });
      // A blank line at the end of y is the end of the file, not a row.
      expect((await halfulp(["dot", x, y, "--missing", "skip"])).err).toMatch(/y.csv has fewer numbers than/);
      for (const command of ["sum", "asum", "nrm2"])
        expect(await json([command, put("one.csv", "-3\n\n\n-4\n"), "--missing", "skip"])).toMatchObject({ count: 2, skipped: 2 });
      expect(await one("nrm2", at("one.csv"), "--missing", "skip")).toBe(5);
    });
    test("skipped: all of them", async () => {
      const file = put("none.csv", "x,y\n,1\n,2\n");
      expect(await halfulp(["sum", file, "-c", "x", "--missing", "skip"])).toMatchObject({ code: 0, out: "-0\n" });
      expect(await halfulp(["dot", file, file, "-c", "y", "-c", "x", "--missing", "skip"])).toMatchObject({ code: 0, out: "0\n" });
    });
    test.each(["auto", "wasm"])("skipped in several chunks and passes, on the engine %s", async (engine) => {
      const rows = 2 * CHUNK + 1001;
      const [x, y] = [cancelling(rows, 60), numbers(rows)];
      // The same rows from either end, so that what is left still cancels; some of them where a chunk ends.
      const here = (k: number): boolean => {
        const row = Math.min(k, rows - 1 - k);
        return row % 7 !== 3 && Math.abs(row - (rows - CHUNK)) > 5;
      };
      const there = (k: number): boolean => k % 5 !== 2;
      const both = (v: Float64Array): Float64Array => v.filter((_, k) => here(k) && there(k));
      const file = put("xy.csv", Array.from(x, (v, k) => `${here(k) ? v : ""},${there(k) ? y[k] : ""}\n`).join(""));
      const options = ["--missing", "skip", "--engine", engine, "--header", "no"];
      const count = both(x).length;
      expect(await json(["dot", file, file, "-c", "1", "-c", "2", ...options])).toMatchObject({
        value: exdot(both(x), both(y)),
        count,
        skipped: rows - count,
      });
      const column = put("x.csv", Array.from(x, (v, k) => `${here(k) ? v : ""}\n`).join(""));
      const kept = x.filter((_, k) => here(k));
      const said = await json(["sum", column, ...options]);
      expect(said).toMatchObject({ value: exsum(kept), count: kept.length, skipped: rows - kept.length });
      if (engine === "auto") expect(said.passes).toBeGreaterThan(1);
      expect((await json(["dot", column, npy("y.npy", y), ...options])).value).toBe(
        exdot(
          kept,
          y.filter((_, k) => here(k)),
        ),
      );
    });
    test("skipping is for empty cells and words for them only", async () => {
      for (const word of ["NA", "n/a", "#N/A", "N.A.", "null", "None", "nil"]) {
        expect(await json(["sum", put("na.csv", `1\n${word}\n`), "--missing", "skip"])).toMatchObject({ value: 1, skipped: 1 });
        expect(await halfulp(["sum", at("na.csv")])).toMatchObject({
          code: 2,
          err: expect.stringMatching(/line 2 has "[^"]*" in column 1, expected a number \(--missing skip leaves it out\)/),
        });
      }
      expect(await one("sum", put("na.csv", "1\nnan\n"), "--missing", "skip")).toBeNaN();
      for (const text of ["1\n-\n", "1\n?\n", "1\nnone of it\n"])
        expect(await halfulp(["sum", put("na.csv", text), "--missing", "skip"])).toMatchObject({
          code: 2,
          err: expect.stringMatching(/line 2 has "[^"]*" in column 1, expected a number/),
        });
      expect(await halfulp(["sum", put("na.csv", "1,2\n3\n"), "-c", "2", "--missing", "skip"])).toMatchObject({ code: 2 });
      expect((await halfulp(["sum", at("na.csv"), "--missing", "zero"])).err).toMatch(/--missing is "zero", expected refuse or skip/);
    });
    test("in line 1, where it may be a column without a name", async () => {
      const file = put("first.csv", ",v\n1,2\n");
      const said = await halfulp(["sum", file, "--missing", "skip"]);
      expect(said).toMatchObject({ code: 2, err: expect.stringMatching(/line 1 has no value in column 1.*\(use --header yes/) });
      expect(await json(["sum", file, "--missing", "skip", "--header", "no"])).toMatchObject({ value: 1, skipped: 1 });
      expect(await json(["sum", file, "--missing", "skip", "--header", "yes"])).toMatchObject({ value: 1, skipped: 0 });
    });
  });
  test("carriage returns: with a line feed, within quotes, and alone", async () => {
    expect(await one("sum", put("r.csv", "1\r\n2\r\r\n3\r"))).toBe(6);
    expect(await one("sum", put("r.csv", '"a\rb",1\n"c\r\nd",2\n'), "-c", "2")).toBe(3);
    for (const command of ["sum", "lu"])
      expect(await halfulp([command, put("r.csv", "1,2\r3,4\r")])).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringMatching(/line 1 has a carriage return without a line feed/),
      });
  });
  test.each([
    ["within a field", 'name,v\n5" pipe,2\n6" pipe,3\n', "v", 5],
    ["once in a file", '5" pipe,2\n6 pipe,3\n', "2", 5],
    ["at the end of a field", 'pipe 5",2\npipe 6",3\n', "2", 5],
    ["after a blank", 'pipe, ",2\npipe, ",3\n', "3", 5],
    ["after a quoted part", '"5" pipe,2\n"6" pi"pe,3\n', "2", 5],
    ["beside a quoted field", '5" pipe,"a, ""b""\n5"",c",2\n6" pipe,"d",3\n', "3", 5],
    ["that closes a field on a line of its own", '"a\n",2\n"b\n""\n" ,3\n', "2", 5],
    ["around a number, with a blank after it", '"2" \n"3"\n', "1", 5],
  ])("a quote %s", async (_, text, column, sum) => {
    expect(await one("sum", put("q.csv", text), "-c", column)).toBe(sum);
    expect(Number((await halfulp(["sum", "-", "--format", "csv", "-c", column], pieces(text, 1))).out)).toBe(sum);
  });
  test("a carriage return between two quotes that are text", async () => {
    expect(await halfulp(["sum", put("r.csv", '5" a\r6" b,1\n'), "-c", "2"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/line 1 has a carriage return without a line feed/),
    });
  });
  test("many separators within quotes take no more searches than others", async () => {
    const file = put("q.csv", `"${",".repeat(300_000)}",7\n`);
    const search = vi.spyOn(String.prototype, "indexOf");
    expect(await one("sum", file, "-c", "2")).toBe(7);
    expect(search.mock.calls.length).toBeLessThan(1000);
    search.mockRestore();
  });
  test("a quote that is never closed ends the reading after a million characters", async () => {
    const size = 2 ** 16;
    let taken = 0;
    function* endless(): Generator<Uint8Array> {
      yield Buffer.from('1\n"');
      for (;;) {
        taken += size;
        yield Buffer.from("1\n".repeat(size / 2));
      }
    }
    const said = await halfulp(["sum", "-", "--format", "csv"], endless());
    expect(said).toMatchObject({ code: 2, err: expect.stringMatching(/line 2 has more than 1048576 characters/) });
    expect(taken).toBeLessThanOrEqual(2 ** 20 + size);
  });
});

describe("what does not fit", () => {
  const x = npy("three.npy", Float64Array.of(1, 2, 3));
  test.each([
    ["another length", ["dot", x, npy("four.npy", new Float64Array(4))], /four.npy has 4 numbers, expected 3/],
    ["another precision", ["dot", x, npy("single.npy", new Float32Array(3))], /single.npy has 32-bit numbers, expected 64 bits/],
    [
      "another shape",
      ["dot", npy("a.npy", matrix(new Float64Array(6), 2, 3)), npy("b.npy", matrix(new Float64Array(6), 3, 2))],
      /shape \(3, 2\), expected \(2, 3\)/,
    ],
    [
      "another order",
      ["dot", npy("a.npy", matrix(new Float64Array(6), 2, 3)), npy("c.npy", matrix(new Float64Array(6), 2, 3, { order: "column" }))],
      /shape \(2, 3\) by columns/,
    ],
    ["no such file", ["sum", at("nothing.npy")], /nothing.npy: no such file or directory/],
    ["a folder", ["sum", at("")], /is a directory/],
    ["Matrix Market", ["sum", put("s.mtx", "")], /sum does not read Matrix Market files \(\S*s.mtx\), expected .npy/],
    ["a name without a format", ["sum", put("data", "1 2 3")], /"[^"]*data" has an unknown format, expected a name ending in .npy/],
    ["bytes left over", ["sum", put("odd.f64", new Uint8Array(15))], /odd.f64: 15 bytes, expected a multiple of 8/],
    ["a rounding that is none", ["sum", x, "--round", "sideways"], /--round is "sideways", expected nearest, up, down or zero/],
    ["a precision that is none", ["sum", x, "--to", "binary16"], /--to is "binary16"/],
    ["too many columns", ["sum", x, "-c", "1", "-c", "2"], /--column is given 2 times/],
    ["one file too few", ["dot", x], /dot: 1 operands, expected 2: halfulp dot x y/],
    ["one file too many", ["sum", x, x], /sum: 2 operands, expected 1/],
    ["an engine that is none", ["sum", x, "--engine", "steam"], /--engine is "steam"/],
    ["threads of another engine", ["sum", x, "--engine", "wasm", "--threads", "2"], /--threads is for --engine threads/],
    ["half a thread", ["sum", x, "--threads", "0.5"], /--threads is "0.5", expected an integer of at least 1/],
    [
      "a stream that ends early",
      ["sum", "-"],
      /standard input ends after 20 bytes of numbers, expected 24/,
      writeNpy(Float64Array.of(1, 2, 3)).subarray(0, -4),
    ],
    ["a stream that goes on", ["sum", "-"], /continues after the last number/, Uint8Array.of(...writeNpy(Float64Array.of(1)), 0)],
    [
      "a header that ends early",
      ["sum", "-"],
      /standard input: the file ends after 50 bytes/,
      writeNpy(Float64Array.of(1)).subarray(0, 50),
    ],
    ["a stream of too few", ["dot", "-", x, "--format", "npy"], /three.npy has 3 numbers, expected 2/, writeNpy(new Float64Array(2))],
    ["half a number", ["sum", "-", "--format", "raw"], /ends after 12 bytes of numbers, expected a multiple of 8/, new Uint8Array(12)],
  ] as [string, string[], RegExp, Uint8Array?][])("%s", async (_, argv, message, stdin) => {
    const said = await halfulp(argv, stdin === undefined ? [] : [stdin]);
    expect(said).toMatchObject({ code: 2, out: "" });
    expect(said.err).toMatch(message);
    expect(said.err).toMatch(/^halfulp: [^\n]+\n$/);
  });
  test("a stream that ends within the header: the number of bytes is right, wherever it ends", async () => {
    const whole = writeNpy(Float64Array.of(1));
    const file = at("cut.npy");
    for (let size = 1; size < 128; size++) {
      const bytes = whole.subarray(0, size);
      const { code, err } = await halfulp(["sum", "-"], [bytes]);
      expect(code).toBe(2);
      expect(err.replace("standard input", file)).toBe((await halfulp(["sum", put("cut.npy", bytes)])).err);
      if (size >= 6) expect(err).toContain(`the file ends after ${size} bytes, expected `);
    }
  });
  test("streams that differ at the end", async () => {
    const csv = put("n.csv", "1\n2\n3\n");
    expect(await halfulp(["dot", csv, put("m.csv", "1\n2\n")])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/m.csv has fewer numbers than/),
    });
    expect(await halfulp(["dot", csv, put("m.csv", "1\n2\n3\n4\n")])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/has more numbers/),
    });
    const many = put("many.csv", "1\n".repeat(CHUNK));
    expect(await halfulp(["dot", many, put("more.csv", "1\n".repeat(CHUNK + 1))])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/more/),
    });
    expect(await halfulp(["dot", put("more.csv", "1\n".repeat(CHUNK + 1)), many])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/fewer/),
    });
  });
});

function toHex32(x: number): string {
  return new Uint32Array(Float32Array.of(x).buffer)[0]?.toString(16).padStart(8, "0") as string;
}
