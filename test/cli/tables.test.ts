// CSV in the commands that solve, factor and multiply: columns by name, standard input, missing values, output.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { exlu, extrsv, laplacian, matrix, type Real, readNpy } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { storedBits } from "../hex.ts";
import { folder, halfulp, json, pieces } from "./cli.ts";

const { put, npy, mtx, at } = folder();
const random = new Random(24);
const n = 6;
const A = matrix(
  Float64Array.from({ length: n * n }, (_, k) => random.signed() + (k % (n + 1) === 0 ? 4 : 0)),
  n,
  n,
);
const b = Float64Array.from({ length: n }, () => random.signed() * 1e9);
const files = { A: npy("A.npy", A), b: npy("b.npy", b) };
const row = (i: number): number[] => [...A.data.subarray(i * n, (i + 1) * n)];
const all = [...Array(n).keys()];
const names = ["a", "b", "c d", "d", "e, f", "7"];
const head = names.map((name) => (name.includes(",") ? `"${name}"` : name));
// A note, the columns of A from the last to the first, the right-hand side, and another one.
const table = put(
  "table.csv",
  [["note", ...[...head].reverse(), "y", "z"], ...all.map((i) => [`"row ""${i}"""`, ...row(i).reverse(), b[i], 2 * (b[i] as number)])]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join(""),
);
const COLUMNS = ["--columns", 'a,b,c d,d,"e, f",7'];
const commands = [
  ["solve", ["--engine", "wasm"]],
  ["trsv", []],
  ["trsv", ["--upper", "--trans"]],
  ["cg", []],
  ["bicgstab", ["--preconditioner", "jacobi"]],
  ["gmres", ["--restart", "3"]],
] as const;
const refused = async (argv: readonly string[], message: RegExp, stdin: Iterable<Uint8Array> = []): Promise<void> => {
  const { code, out, err } = await halfulp(argv, stdin);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(message);
  expect(err).toMatch(/^halfulp: [^\n]+\n$/);
};

describe.each(commands)("%s %j", (command, flags) => {
  test("a matrix and a right-hand side from named columns of one table", async () => {
    const { x } = await json([command, files.A, files.b, ...flags]);
    expect(await json([command, table, table, ...COLUMNS, "--column", "y", ...flags])).toMatchObject({ x });
    const text = readFileSync(table, "utf8");
    const byPlace = put("place.csv", text.slice(text.indexOf("\n") + 1));
    expect(await json([command, byPlace, byPlace, "--columns", "7,6,5,4,3,2", "-c", "8", "--header", "no", ...flags])).toMatchObject({ x });
  });
  test("either from standard input, in pieces", async () => {
    const { x } = await json([command, files.A, files.b, ...flags]);
    const bytes = pieces(readFileSync(table, "utf8"), 3);
    expect(await json([command, "-", files.b, "--format", "csv", ...COLUMNS, ...flags], bytes)).toMatchObject({ x });
    expect(await json([command, files.A, "-", "--format", "csv", "-c", "y", ...flags], bytes)).toMatchObject({ x });
    expect(await json([command, "-", table, "-c", "y", ...flags], pieces(new Uint8Array(readFileSync(files.A)), 100))).toMatchObject({ x });
    await refused([command, "-", "-", "--format", "csv"], /standard input is given twice, expected at most once/);
  });
  test.each([
    [";", "--delimiter", ";"],
    ["\t", "--delimiter", "\\t"],
    [" ", "--delimiter", "whitespace"],
    ["  \t ", "--delimiter", "whitespace"],
    ["|", "--delimiter", "|"],
  ])("columns between %j", async (delimiter, ...options) => {
    const { x } = await json([command, files.A, files.b, ...flags]);
    const lines = all.map((i) => `${delimiter.trim() === "" && delimiter !== "\t" ? "   " : ""}${[...row(i), b[i]].join(delimiter)}\n`);
    const file = put("t.csv", lines.join(""));
    expect(await json([command, file, file, "--columns", "1..6", "-c", "7", ...options, ...flags])).toMatchObject({ x });
  });
  test("rows with missing values: refused, or left out with their right-hand sides", async () => {
    const { x } = await json([command, files.A, files.b, ...flags]);
    // A row without an entry, one without a right-hand side, and one without both.
    const rows = all.map((i) => [...row(i), b[i]]);
    rows.splice(4, 0, [...row(0), ""] as number[]);
    rows.splice(2, 0, [1, 2, 3, "", 5, 6, "NA"] as number[]);
    rows.push([...row(1).slice(0, 5), "n/a", 3] as number[]);
    const file = put(
      "gaps.csv",
      `${[...names.map((_, k) => `c${k}`), "y"].join(",")}\n${rows.map((cells) => `${cells.join(",")}\n`).join("")}`,
    );
    const argv = [command, file, file, "--columns", "1..6", "-c", "y", ...flags];
    await refused(argv, /gaps.csv: line 4 has no value in column 4, expected a number/);
    expect(await json([...argv, "--missing", "skip"])).toMatchObject({ x, skipped: 3 });
    expect((await halfulp([...argv, "--missing", "skip"])).out).toMatch(/^skipped +3$/m);
    expect(await json([command, files.A, files.b, ...flags])).not.toHaveProperty("skipped");
  });
});

test("rows are left out of .npy files beside a table, and of lu", async () => {
  const extra = matrix(Float64Array.of(...row(0), 9, 9, 9, 9, 9, 9, ...A.data.subarray(n)), n + 1, n);
  const right = put("right.csv", `y\n${b[0]}\n\n${[...b.subarray(1)].join("\n")}\n`);
  const { x } = await json(["solve", files.A, files.b]);
  const more = npy("more.npy", extra);
  expect(await json(["solve", more, right, "--missing", "skip"])).toMatchObject({ x, skipped: 1 });
  await refused(["solve", more, right], /right.csv: line 3 has no value in column 1/);
  await refused(
    ["solve", files.A, right, "--missing", "skip"],
    /right.csv has 7 rows, expected 6 as in .*A.npy \(--missing skip leaves out rows/,
  );
  await refused(["cg", mtx("S.mtx", laplacian(7, 1)), right, "--missing", "skip"], /S.mtx is sparse, expected a dense matrix if rows/);
  const lines = [...all.map((i) => row(i).join(",")), "1,2,,4,5,6"].join("\n");
  expect((await json(["lu", put("lu.csv", lines), "--missing", "skip"])).sha256).toBe((await json(["lu", files.A])).sha256);
  // Ranges of age or months may be names.
  const ages = put("ages.csv", "10-20,2024-12\n1,2\n3,4\n");
  expect((await json(["sum", ages, "-c", "10-20"])).value).toBe(4);
  expect((await json(["lu", ages, "--columns", "2024-12,10-20"])).sha256).toBe((await json(["lu", put("n.csv", "2,1\n4,3\n")])).sha256);
  // A start is no equation, and has one column.
  const start = put("start.csv", "s\n1\n2\n3\n4\n5\n6\n");
  expect(await json(["cg", table, table, ...COLUMNS, "-c", "y", "--x0", start])).toMatchObject({ unknowns: 6 });
  await refused(["cg", files.A, files.b, "--missing", "skip", "--x0", put("x0.csv", "1\n\n3\n4\n5\n6\n")], /x0.csv: line 2 has no value/);
});

test("several right-hand sides by name, for solve only", async () => {
  const said = await json(["solve", table, table, ...COLUMNS, "-c", "y", "-c", "z", "-o", at("X.csv")]);
  const { x } = await json(["solve", files.A, files.b]);
  const found = readFileSync(said.output as string, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(",").map(Number));
  expect(found.map(([first]) => first)).toEqual(x);
  expect(found.map(([first, second]) => (second as number) / 2 === first)).toEqual(all.map(() => true));
  await refused(["trsv", table, table, ...COLUMNS, "-c", "y", "-c", "z"], /table.csv is a matrix, 6 by 2, expected a vector/);
});

describe("output as CSV", () => {
  test.each(["x.csv", "x.tsv", "x.npy", "x.mtx"])("%s: hash tells the hash of the result", async (name) => {
    const said = await json(["trsv", files.A, files.b, "-o", at(name)]);
    expect((await json(["hash", at(name), "--expect", said.sha256 as string])).expected).toBe(true);
    if (!name.endsWith("sv")) return;
    expect(readFileSync(at(name), "utf8")).toBe(`${[...extrsv(A, b)].join("\n")}\n`);
    expect(await json(["trsv", files.A, at(name)])).toMatchObject({ unknowns: n });
  });
  test("a matrix row by row, with every digit that counts", async () => {
    const { lu } = exlu(A);
    const { sha256 } = await json(["lu", files.A, "-o", at("lu.csv"), "--pivots", at("p.tsv")]);
    expect(readFileSync(at("lu.csv"), "utf8")).toBe(all.map((i) => `${lu.data.slice(i * n, (i + 1) * n).join(",")}\n`).join(""));
    expect((await json(["hash", at("lu.csv"), npy("lu.npy", lu)])).same).toBe(true);
    expect(readFileSync(at("p.tsv"), "utf8").split("\n")).toHaveLength(n + 1);
    expect(sha256).toBe((await json(["lu", files.A])).sha256);
  });
  test("-0, infinities, NaN and binary32", async () => {
    const values = Float64Array.of(-0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 5e-324, Number.MAX_VALUE);
    const identity = matrix(
      Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? 1 : 0)),
      n,
      n,
    );
    const { x } = await json(["trsv", npy("I.npy", identity), npy("v.npy", values), "-o", at("v.csv")]);
    expect(x).toBeUndefined();
    const [said] = (await json(["hash", at("v.csv")])).files as { sha256: string }[];
    await json(["trsv", at("I.npy"), at("v.npy"), "-o", at("v2.npy")]);
    expect((await json(["hash", at("v2.npy")])).files).toMatchObject([{ sha256: said?.sha256 }]);
    await json(["trsv", npy("s.npy", matrix(Float32Array.of(10), 1, 1) as never), npy("t.npy", Float32Array.of(1)), "-o", at("s.csv")]);
    expect(readFileSync(at("s.csv"), "utf8")).toBe(`${Math.fround(0.1)}\n`);
  });
  test("nothing is written if the system cannot be solved", async () => {
    put("old.csv", "as it was\n");
    const singular = put("singular.csv", "1,2\n2,4\n");
    expect((await halfulp(["solve", singular, put("two.csv", "1\n1\n"), "-o", at("old.csv")])).code).toBe(1);
    await refused(["solve", singular, put("bad.csv", "1\nx\n"), "-o", at("old.csv")], /bad.csv: line 2 has "x" in column 1/);
    expect(readFileSync(at("old.csv"), "utf8")).toBe("as it was\n");
  });
  test.each([
    ["x.txt", /"[^"]*x.txt" has an unknown format, expected a name ending in .npy, .mtx, .csv, .tsv\n$/],
    ["x.npz", /has an unknown format/],
    ["no/x.csv", /no such file or directory/],
    ["", /is a directory|unknown format/],
  ])("-o %j", async (name, message) => refused(["trsv", files.A, files.b, "-o", at(name)], message));
});

describe("options that do not fit", () => {
  const square = put("square.csv", "a,b\n2,1\n1,3\n");
  const right = put("right2.csv", "5\n10\n");
  test.each<[readonly string[], RegExp]>([
    [["solve", square, right, "--columns", "a,c"], /square.csv: no column is named "c", expected one of "a", "b"/],
    [["solve", square, right, "--columns", "1,3"], /square.csv: line 1 has 2 columns, expected at least 3/],
    [["solve", square, right, "--columns", "1..999999999"], /square.csv: line 1 has 2 columns, expected at least 999999999/],
    [["solve", square, right, "--columns", "2..1"], /--columns is "2\.\.1", expected a range that ascends/],
    [["solve", square, right, "--columns", "a,,b"], /--columns is "a,,b", expected names or numbers with commas between them/],
    [["solve", square, right, "--columns", '"a'], /--columns is "\\"a", expected names or numbers/],
    [["solve", square, right, "--columns", "a,b", "--header", "no"], /--columns is "a", expected a column number with --header no/],
    [["solve", square, right, "--header", "sizes"], /--header is "sizes", expected yes or no/],
    [["solve", square, right, "--missing", "zero"], /--missing is "zero", expected refuse or skip/],
    [["solve", square, right, "--delimiter", "ab"], /--delimiter is "ab", expected one character .* or whitespace/],
    [["solve", square, right, "--format", "excel"], /--format is "excel", expected npy, npz, mtx, csv or txt/],
    [["solve", square, right, "--duplicates", "add"], /--duplicates is for Matrix Market files, and no operand is one/],
    [["solve", files.A, files.b, "--columns", "1"], /--columns is for CSV files, and no operand is one/],
    [["sum", files.b, "--missing", "skip"], /--missing is for CSV files, and no operand is one/],
    [["sum", files.b, "-c", "price"], /--column is for CSV files, and no operand is one/],
    [["sum", square, "-c", "1..2"], /--column is "1..2", expected one column/],
    [["lu", mtx("L.mtx", laplacian(2, 2)), "--headerless", "yes"], /--headerless is "yes", expected sizes or entries/],
    [["lu", square, "-c", "a"], /lu: Unknown option '-c'/],
    [
      ["solve", put("b.f64", "12345678"), right],
      /b.f64" has an unknown format, expected a name ending in .npy, .npz, .mtx, .csv, .tsv, .txt/,
    ],
  ])("%j", async (argv, message) => refused(argv, message));
  test("--format is for standard input, and for files whose name does not tell", async () => {
    const x = [1, 3];
    expect(await json(["solve", put("square.dat", "2,1\n1,3\n"), "-", "--format", "csv"], pieces("5\n10\n", 1))).toMatchObject({ x });
    expect(
      await json(["solve", npy("S.npy", matrix(Float64Array.of(2, 1, 1, 3), 2, 2)), "-", "--format", "csv"], pieces("5\n10\n", 1)),
    ).toMatchObject({ x });
    expect(await json(["solve", at("square.dat"), put("right.dat", "5\n10"), "--format", "csv"])).toMatchObject({ x });
    expect((await json(["dot", right, "-", "--format", "txt"], pieces("1 2\n3 4\n", 1))).value).toBe(35);
    await refused(
      ["lu", "-"],
      /standard input: line 1 has "2,1", expected "%%MatrixMarket matrix".* \(or --format csv\)/,
      pieces("2,1\n1,3\n", 9),
    );
  });
  test("a number with another delimiter, or a decimal comma, is explained", async () => {
    await refused(
      ["lu", put("s.csv", "1;2\n3;4\n"), "--header", "no"],
      /line 1 has "1;2" in column 1, expected a number \(use --delimiter ";"/,
    );
    await refused(["sum", put("s.txt", "1,2\n"), "--header", "no"], /line 1 has "1,2" .*\(use --delimiter "," for several columns\)/);
    await refused(["sum", put("s.csv", "x\n1 2\n")], /line 2 has "1 2" .*\(use --delimiter whitespace for several columns\)/);
    await refused(["sum", put("s.csv", "1,5;2,5\n"), "--delimiter", ";", "--header", "no"], /line 1 has "1,5" .*\(with a decimal point\)/);
  });
  test("names that are fewer than the columns are refused: R writes them so", async () => {
    await refused(["sum", put("r.csv", "a,b\n1,2,3\n"), "-c", "a"], /line 2 has 3 columns, expected 2 \(as in the lines before\)/);
    await refused(["lu", put("r.csv", "a,b\n1,2,3\n")], /line 2 has 3 columns, expected 2 \(as in the lines before\)/);
    expect((await json(["sum", put("r.csv", "a,b\n1,2,\n"), "-c", "a"])).value).toBe(1);
  });
  test("a row with other columns than line 1 is refused, whichever of them is chosen", async () => {
    const rows = "1,2,3\n".repeat(4);
    for (const [row, count] of [
      ["1,234,2,3", 4],
      ["1,2", 2],
      ['1,"2,5",x,3', 4],
    ] as const) {
      const file = put("ragged.csv", `${rows}${row}\n${rows}`);
      const message = new RegExp(`ragged.csv: line 5 has ${count} columns, expected 3 \\(as in the lines before\\)\n$`);
      for (const command of ["sum", "asum", "nrm2", "mean", "variance"])
        for (const column of ["1", "2"]) await refused([command, file, "-c", column], message);
      await refused(["dot", file, file, "-c", "1", "-c", "2"], message);
      await refused(["mean", file, "-c", "1", "--by", "2"], message);
      await refused(["lu", file, "--columns", "1,2"], message);
      const text = put("ragged.txt", `${rows}${row}\n`.replaceAll(",", " ").replaceAll('"', ""));
      for (const command of ["sum", "mean"]) await refused([command, text, "-c", "1"], /ragged.txt: line 5 has \d columns, expected 3/);
    }
    const empty = put("empty.csv", `${rows}1,2,3,, \n`);
    expect((await json(["sum", empty, "-c", "2"])).value).toBe(10);
    expect((await json(["mean", empty, "-c", "2", "--by", "1"])).groups).toMatchObject([{ count: 5, value: 2 }]);
  });
  test("an empty file has no column of any name", async () => {
    for (const content of ["", "\n\r\n \n"]) {
      const file = put("e0.csv", content);
      const message = /e0.csv: no column is named "price": the file is empty\n$/;
      for (const command of ["sum", "mean"]) await refused([command, file, "-c", "price"], message);
      await refused(["mean", file, "-c", "1", "--by", "price"], message);
      await refused(["solve", file, file, "--columns", "price", "-c", "price"], message);
    }
  });
  test("what a hint says fits the file", async () => {
    const thousands = put("th.csv", 'x,y\n1,"1,234.50"\n');
    await refused(["sum", thousands, "-c", "y"], /line 2 has "1,234.50" in column 2, expected a number\n$/);
    const missing = put("na.txt", "a NA\nb 2\n");
    for (const command of ["sum", "mean"]) {
      await refused(
        [command, missing, "-c", "2", "--missing", "skip"],
        /line 1 has "NA" in column 2, expected a number \(use --header no if/,
      );
      expect(await json([command, missing, "-c", "2", "--missing", "skip", "--header", "no"])).toMatchObject({ value: 2, skipped: 1 });
    }
  });
});

test("the solution of a table is a vector that NumPy reads", async () => {
  const { output } = await json(["solve", table, table, ...COLUMNS, "-c", "y", "-o", at("x.npy")]);
  const { x } = await json(["solve", files.A, files.b]);
  expect(storedBits(readNpy(new Uint8Array(readFileSync(output as string))) as Real)).toEqual(storedBits(Float64Array.from(x as number[])));
});
