// The command against files that other programs wrote: NumPy, SciPy, pandas, Python's csv module, DuckDB, Polars. What is in the files is
// known by Python's fractions (test/files/foreign/generate.py).
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { matrix } from "../../src/index.ts";
import { decoded, EXPECTED, foreign, type Sums } from "../files/foreign.ts";
import { fromHex, toHex } from "../hex.ts";
import { folder, halfulp, json, pieces } from "./cli.ts";

const { put, npy, at } = folder();
const numbers = (bits: readonly string[]): Float64Array => Float64Array.from(bits, fromHex);
const sha256 = (x: Float64Array): string => createHash("sha256").update(new Uint8Array(x.buffer)).digest("hex");

/** Checks sum, asum, nrm2 and dot of a file with itself. */
async function checkSums(argv: readonly string[], sums: Sums, stdin?: Uint8Array): Promise<void> {
  for (const name of ["sum", "asum", "nrm2"] as const) {
    const said = await json([name, ...argv, "--to", "binary64"], stdin === undefined ? [] : pieces(stdin, 777));
    expect({ name, hex: said.hex, count: said.count }).toEqual({
      name,
      hex: sums.count === 0 && name === "sum" ? toHex(-0) : sums[name],
      count: sums.count,
    });
  }
}

describe("arrays by NumPy", () => {
  test.each(Object.entries(EXPECTED.npy))("%s: sums, norms and the hash", async (_, { file, shape, order, ...rest }) => {
    const path = put("x.npy", decoded(file));
    if ("sum" in rest) await checkSums([path], rest);
    if ("sum" in rest) await checkSums(["-"], rest, decoded(file));
    if (!/f4/.test(_)) {
      const [found] = (await json(["hash", path])).files as { sha256: string; shape: number[] }[];
      expect(found).toMatchObject({ sha256: sha256(numbers(rest.values)), precision: "binary64" });
      expect(found?.shape.reduce((product, n) => product * n, 1)).toBe(rest.values.length);
    }
  });
  test("integers in every chunk", async () => {
    const count = 3 * 2 ** 17 + 5;
    const header = `{'descr': '>i8', 'fortran_order': False, 'shape': (${count},), }`.padEnd(117);
    const bytes = new Uint8Array(128 + 8 * count);
    bytes.set(Buffer.from(`\x93NUMPY\x01\x00\x76\x00${header}\n`, "latin1"));
    const view = new DataView(bytes.buffer, 128);
    for (let k = 0; k < count; k++) view.setBigInt64(8 * k, BigInt(k - 1000));
    expect(await json(["sum", put("many.npy", bytes)])).toMatchObject({ value: (count * (count - 2001)) / 2, count });
    view.setBigInt64(8 * (count - 2), 2n ** 53n + 1n);
    for (const argv of [
      ["sum", put("many.npy", bytes)],
      ["hash", at("many.npy")],
      ["lu", at("many.npy")],
    ])
      expect((await halfulp(argv)).err).toBe(
        `halfulp: ${at("many.npy")}: element ${count - 2} is 9007199254740993, expected an integer that binary64 holds exactly\n`,
      );
  });
  test.each(Object.entries(EXPECTED.refused))("%s is refused in one line", async (_, [file, message]) => {
    for (const command of ["sum", "hash", "lu"]) {
      const { code, out, err } = await halfulp([command, put("refused.npy", decoded(file))]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toMatch(/^halfulp: [^\n]*refused.npy: [^\n]+\n$/);
      expect(err).toContain(message);
    }
  });
  test("integers as a matrix and a right-hand side, and three dimensions as neither", async () => {
    const A = put("A.npy", integers("<i4", "(2, 2)", 4, [2, 1, 1, 3]));
    const b = put("b.npy", integers("|u1", "(2,)", 1, [5, 10]));
    expect(await json(["solve", A, b])).toMatchObject({ x: [1, 3], certified: true });
    expect((await halfulp(["lu", put("cube.npy", integers("<i4", "(1, 2, 2)", 4, [2, 1, 1, 3]))])).err).toMatch(
      /cube.npy: 3 dimensions, shape \(1, 2, 2\), expected none, one or two\n$/,
    );
  });
  test("dot of arrays with three dimensions: the same shape and order", async () => {
    const by = (key: string): string => put("d.npy", decoded((EXPECTED.npy[key] as { file: string }).file));
    const C = by("<i4 (2, 3, 2) C");
    expect((await json(["dot", C, C])).value).toBe(
      numbers((EXPECTED.npy["<i4 (2, 3, 2) C"] as { readonly values: readonly string[] }).values).reduce((sum, x) => sum + x * x, 0),
    );
    const F = put("f.npy", decoded((EXPECTED.npy["<i4 (2, 3, 2) F"] as { file: string }).file));
    expect((await halfulp(["dot", C, F])).err).toMatch(/f.npy has shape \(2, 3, 2\) by columns, expected \(2, 3, 2\)/);
  });
});

function integers(descr: string, shape: string, width: 1 | 4, values: readonly number[]): Uint8Array {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`.padEnd(117);
  const bytes = new Uint8Array(128 + width * values.length);
  bytes.set(Buffer.from(`\x93NUMPY\x01\x00\x76\x00${header}\n`, "latin1"));
  const view = new DataView(bytes.buffer, 128);
  for (const [k, value] of values.entries())
    if (width === 4) view.setInt32(4 * k, value, true);
    else view.setUint8(k, value);
  return bytes;
}

describe("archives by NumPy and SciPy", () => {
  const members = Object.entries(EXPECTED.npz).flatMap(([file, all]) =>
    Object.entries(all).map(([name, member]) => [file, name, member] as const),
  );
  test.each(members)("%s:%s", async (file, name, member) => {
    for (const path of [`${foreign(file)}:${name}`, `${foreign(file)}:${name}.npy`]) await checkSums([path], member);
    const hashed = (await json(["hash", `${foreign(file)}:${name}`])).files as unknown[];
    expect(hashed).toMatchObject([{ sha256: sha256(numbers(member.values)), shape: member.shape }]);
  });
  test("the only member needs no name", async () => {
    await checkSums([foreign("one.npz")], EXPECTED.npz["one.npz"]?.arr_0 as Sums);
  });
  test("members as matrices and vectors", async () => {
    const [A, b] = ["stored.npz", "deflated.npz"].map((name) => `${foreign(name)}:b`) as [string, string];
    const { sha256: hash } = await json(["lu", A]);
    expect((await json(["lu", b])).sha256).toBe(hash);
    expect(await json(["solve", A, npy("r.npy", Float64Array.of(1, 2, 3, 4))])).toMatchObject({ unknowns: 4, converged: true });
  });
  test("dot of two members", async () => {
    const d = numbers(EXPECTED.npz["stored.npz"]?.d?.values as readonly string[]);
    const said = await json(["dot", `${foreign("stored.npz")}:d`, `${foreign("deflated.npz")}:d`]);
    expect(said.hex).toBe((await json(["dot", npy("d.npy", d), at("d.npy")])).hex);
  });
  test.each([
    [
      "several members",
      "stored.npz",
      /stored.npz: 4 members, expected one, or a name as in \S+stored.npz:NAME \(it has "a", "b", "c", "d"\)/,
    ],
    ["no such member", "stored.npz:e", /stored.npz: 0 members are named "e", expected one \(it has "a", "b", "c", "d"\)/],
    ["no arrays", "none.npz", /none.npz: 0 members, expected one, .*\(it has no arrays\)/],
    ["another method", "bzip2.npz", /bzip2.npz: the member "x.npy", compressed by method 12, expected 0 \(stored\) or 8 \(deflated\)/],
    ["no such file", "nothing.npz:a", /nothing.npz: no such file or directory/],
    ["text", "sparse.npz:format", /sparse.npz:format: 'descr' "\|S3" \(bytes\), expected/],
  ])("%s", async (_, name, message) => {
    for (const command of ["sum", "lu", "hash"]) {
      const { code, out, err } = await halfulp([command, foreign(name)]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toMatch(message);
      expect(err).toMatch(/^halfulp: [^\n]+\n$/);
    }
  });
  test("not from a stream: the directory is at the end", async () => {
    for (const argv of [
      ["sum", "-"],
      ["lu", "-"],
      ["hash", "-"],
    ])
      expect((await halfulp([...argv, "--format", "npz"], [new Uint8Array(readFileSync(foreign("one.npz")))])).err).toMatch(
        /standard input cannot be read as npz, which is not read from its beginning; expected a file/,
      );
  });
});

describe("text by numpy.savetxt", () => {
  test.each(Object.entries(EXPECTED.text))("%s", async (name, { flags, columns, rows, sums }) => {
    const path = foreign(name);
    const all = numbers(rows.flat());
    expect((await json(["hash", path, ...flags])).files).toMatchObject([{ sha256: sha256(all), shape: [rows.length, rows[0]?.length] }]);
    for (const [k, expected] of (sums ?? []).entries()) {
      await checkSums([path, ...flags, "-c", String(k + 1)], expected);
      if (columns) await checkSums([path, ...flags, "-c", columns[k] as string], expected);
      const format = name.endsWith(".txt") ? "txt" : "csv";
      const separator = name.endsWith(".tsv") ? ["--delimiter", "\\t"] : flags;
      await checkSums(["-", "--format", format, ...separator, "-c", String(k + 1)], expected, new Uint8Array(readFileSync(path)));
    }
  });
  test("as a matrix and a right-hand side", async () => {
    const file = put("S.txt", "# a b y\n 2  1\t5\n 1  3 10\n");
    for (const argv of [
      ["--columns", "a,b", "-c", "y"],
      ["--columns", "1..2", "-c", "3"],
    ])
      expect(await json(["solve", file, file, ...argv])).toMatchObject({ x: [1, 3] });
  });
});

describe("tables by Python's csv module and by spreadsheets", () => {
  test.each(Object.entries(EXPECTED.tables))("%s", async (name, { flags, price, amount, dot }) => {
    const path = foreign(name);
    for (const [columns, sums] of [[["price, net", "2"], price] as const, [["amount", "3"], amount] as const])
      for (const column of columns) {
        await checkSums([path, "-c", column, ...flags, ...(/^\d$/.test(column) ? ["--header", "yes"] : [])], sums);
        const separator = name.endsWith(".tsv") ? ["--delimiter", "\\t"] : flags;
        const stdin = new Uint8Array(readFileSync(path));
        await checkSums(["-", "--format", "csv", "-c", column, "--header", "yes", ...separator], sums, stdin);
      }
    expect((await json(["dot", path, path, "-c", "price, net", "-c", "amount", ...flags])).hex).toBe(dot);
    const hashed = await json(["hash", path, "--columns", '"price, net",amount', ...flags]);
    expect(hashed.files).toMatchObject([{ shape: [price.count, 2] }]);
  });
  test("missing values, as pandas writes them", async () => {
    const { u, v, n, dot } = EXPECTED.pandas;
    for (const name of ["pandas.csv", "index.csv", "na.csv"]) {
      const path = foreign(name);
      await checkSums([path, "-c", "n"], n);
      await checkSums([path, "-c", "u", "--missing", "skip"], u);
      await checkSums([path, "-c", "v", "--missing", "skip"], v);
      expect(await json(["dot", path, path, "-c", "u", "-c", "v", "--missing", "skip"])).toMatchObject({ hex: dot, count: 2, skipped: 2 });
      expect((await halfulp(["sum", path, "-c", "u"])).err).toMatch(
        /line 3 has (no value|"NA") in column [23], expected a number \(--missing/,
      );
    }
  });
});

describe("columns of Parquet files, by DuckDB and Polars", () => {
  const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);
  const k = [0, 1, 2, 3, 4, 5, 6, 7];
  const without2 = k.filter((each) => each !== 2);
  const codecs = ["uncompressed", "snappy", "gzip", "brotli"];
  test.each(codecs)("%s: every type of number", async (codec) => {
    const path = foreign(`${codec}.parquet`);
    const d = Float64Array.from(without2, (each) => each / 8 + 0.1);
    expect((await json(["sum", path, "-c", "d", "--missing", "skip"])).hex).toBe((await json(["sum", npy("d.npy", d)])).hex);
    const f = npy(
      "f.npy",
      Float32Array.from(k, (each) => each / 3),
    );
    expect(await json(["nrm2", path, "-c", "f"])).toMatchObject({ hex: (await json(["nrm2", f])).hex, precision: "binary32", count: 8 });
    for (const [column, expected, skipped] of [
      ["i", sum(without2.map((each) => each * 1000000007 - 3)), 1],
      ["w", sum(k.map((each) => 4294967295 - each)), 0],
      ["t", sum(k.map((each) => each - 4)), 0],
      ["b", 3, 1],
      ["1", (await json(["sum", at("d.npy")])).value, 1],
    ] as const)
      expect(await json(["sum", path, "-c", column, "--missing", "skip"])).toMatchObject({ value: expected, skipped, count: 8 - skipped });
    // 8 (2^64 - 2048) - 4 2048
    expect((await json(["sum", path, "-c", "u"])).hex).toBe(toHex(8 * 2 ** 64 - 8 * 2048 - 4 * 2048));
    expect(await json(["dot", path, path, "-c", "i", "-c", "t", "--missing", "skip"])).toMatchObject({
      value: sum(without2.map((each) => (each * 1000000007 - 3) * (each - 4))),
      count: 7,
    });
    expect(await json(["dot", path, put("t.csv", "1\n1\n1\n1\n1\n1\n\n1\n"), "-c", "i", "-c", "1", "--missing", "skip"])).toMatchObject({
      value: sum([0, 1, 3, 4, 5, 7].map((each) => each * 1000000007 - 3)),
      skipped: 2,
    });
  });
  test("several groups of rows", async () => {
    const path = foreign("groups.parquet");
    expect(await json(["sum", path, "-c", "k"])).toMatchObject({ value: (6000 * 5999) / 2, count: 6000 });
    expect(await json(["dot", path, path, "-c", "k", "-c", "day"])).toMatchObject({
      value: sum(Array.from({ length: 6000 }, (_, i) => i * (i % 7))),
    });
    expect(await json(["sum", path, "-c", "gap", "--missing", "skip"])).toMatchObject({
      count: 5994,
      skipped: 6,
      value: 6 * (499500 - 17),
    });
    expect((await json(["sum", foreign("polars.parquet"), "-c", "d", "--missing", "skip"])).value).toBe(-4.4);
  });
  test.each([
    ["d", /row 3 has no value in column "d", expected a number \(--missing skip leaves it out\)/],
    ["large", /row 6 has "9007199254740993" in column "large", expected an integer that binary64 holds exactly/],
    ["s", /column "s" has the type UTF8, expected integers, floating point or booleans/],
    ["price", /column "price" has the type DECIMAL/],
    ["day", /column "day" has the type TIMESTAMP_MICROS/],
    ["list", /column "list" has the type LIST/],
    ["nothing", /no column is named "nothing", expected one of "d", "f", "i"/],
    ["99", /has 12 columns, expected at least 99/],
  ])("the column %s is refused in one line", async (column, message) => {
    const { code, out, err } = await halfulp(["sum", foreign("snappy.parquet"), "-c", column]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(message);
    expect(err).toMatch(/^halfulp: [^\n]*snappy.parquet[^\n]+\n$/);
  });
  test("another compression is named", async () => {
    expect((await halfulp(["sum", foreign("lz4_raw.parquet"), "-c", "t"])).err).toMatch(
      /cannot be read: .*LZ4_RAW, expected snappy, gzip, brotli or none \(zstd with Node 22.15 or later\)\n$/,
    );
    const { code, out } = await halfulp(["sum", foreign("zstd.parquet"), "-c", "t"]);
    expect({ code, out }).toEqual("zstdDecompressSync" in (await import("node:zlib")) ? { code: 0, out: "-4\n" } : { code: 2, out: "" });
  });
});

test("matrices by SciPy, and what only options allow", async () => {
  for (const [name, { dense, rows, cols }] of Object.entries(EXPECTED.market)) {
    const [file] = (await json(["hash", foreign(name)])).files as { shape: number[] }[];
    expect(file?.shape).toEqual([rows, cols]);
    if (/^array/.test(name)) expect(file).toMatchObject({ sha256: sha256(numbers(dense)) });
  }
  const FLAGS: Record<string, string> = {
    duplicates: "--duplicates",
    patternValues: "--pattern-values",
    symmetric: "--symmetric",
    headerless: "--headerless",
  };
  for (const [name, { options, dense, rows, cols }] of Object.entries(EXPECTED.unusual)) {
    const flags = Object.entries(options).flatMap(([option, value]) => [FLAGS[option] as string, value]);
    const x = Float64Array.from({ length: cols }, (_, j) => j + 1);
    const product = await json(["spmv", foreign(name), npy("x.npy", x), ...flags]);
    const whole = numbers(dense);
    const expected: unknown[] = [];
    for (let i = 0; i < rows; i++)
      expected.push((await json(["dot", npy("row.npy", whole.slice(i * cols, (i + 1) * cols)), at("x.npy")])).value);
    expect(product.y).toEqual(expected);
    expect(await halfulp(["spmv", foreign(name), at("x.npy")])).toMatchObject({ code: 2, out: "" });
  }
});

test("a matrix of a table is that of the array", async () => {
  const rows = EXPECTED.text["blank.txt"]?.rows as readonly string[][];
  const A = matrix(numbers(rows.flat()), rows.length, 3);
  expect((await json(["lu", foreign("blank.txt")])).sha256).toBe((await json(["lu", npy("A.npy", A)])).sha256);
});
