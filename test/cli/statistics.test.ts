// halfulp mean, variance and covariance: against sums of rationals over tables that this test writes and splits by itself.
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { decimalAt, decimalEnd } from "../../src/cli/input/decimals.ts";
import { alignedTable } from "../../src/cli/output/results.ts";
import { excovariance, exmean, exvariance } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { cases, SEED } from "../effort.ts";
import { vector } from "../generators.ts";
import { folder, halfulp, json, pieces } from "./cli.ts";

const { put, npy } = folder();

interface Group {
  key: string[];
  count: number;
  value: number | string;
}
const numberIn = ({ value }: { value?: unknown }): number => Number(value);

describe(`numbers as bytes, seed ${SEED}`, () => {
  const read = (text: string): number | undefined => {
    const value = decimalAt(new TextEncoder().encode(`${text},`), 0);
    return decimalEnd < 0 ? undefined : decimalEnd === text.length ? value : Number.NaN;
  };

  test("have the bits of Number(), for digits, points, exponents and signs of all kinds", () => {
    const random = new Random(SEED);
    let simple = 0;
    const count = cases(300_000);
    for (let k = 0; k < count; k++) {
      const digits = Array.from({ length: 1 + random.below(k % 3 ? 18 : 22) }, () => random.below(10)).join("");
      const point = random.below(digits.length + 1);
      const exponent = random.below(3) > 0 ? "" : `${random.below(2) ? "e" : "E"}${["", "+", "-"][random.below(3)]}${random.below(30)}`;
      const text = `${["", "-", "+"][random.below(3)]}${digits.slice(0, point)}${random.below(4) ? "." : ""}${digits.slice(point)}${exponent}`;
      const value = read(text);
      if (value === undefined) continue;
      simple++;
      if (!Object.is(value, Number(text))) expect([text, value]).toEqual([text, Number(text)]);
    }
    expect(simple).toBeGreaterThan(count / 2);
  });

  test("have the bits of Number() where they are the shortest digits of random doubles, and nearly all are simple", () => {
    const random = new Random(SEED);
    let simple = 0;
    for (let k = 0; k < 10_000; k++) {
      const x = random.signed() * 10 ** random.below(12);
      const value = read(String(x));
      if (value === undefined) continue;
      simple++;
      expect(value).toBe(x);
    }
    expect(simple).toBeGreaterThan(9900);
  });

  test("are left to others where they end in a tie, or near one", () => {
    // 2^53 + 1 and neighbours, scaled: what a quotient that is rounded twice would get wrong
    for (const text of ["9007199254740993", "900719925474099.3", "9007199254740992.5", "90071992547409.925", "9007199254740993e-5"]) {
      const value = read(text);
      if (value !== undefined) expect(value).toBe(Number(text));
    }
  });

  test.each(["", ".", "-", "+.", "e5", "1e", "1e+", "--1", "nan", "inf", "1234567890123456789", "1e23", "1e-30", "1e12345"])(
    "%j is left to numberOf()",
    (text) => expect(read(text)).toBeUndefined(),
  );

  test.each([
    ["0", 0],
    ["-0", -0],
    ["-.0e5", -0],
    ["000000000000000000000000.5", 0.5],
    ["0.0000000000000000000001", 1e-22],
    ["1.", 1],
    ["999999999999999999", 1e18],
  ])("%s is %d", (text, value) => expect(read(text)).toBe(value));
});

// A table with cells as programs write them: quoted where needed or at random, blanks around numbers, both line ends.
function randomTable(random: Random, rows: number, quotes: number, lineEnd: string) {
  const names = ["north", "south", "größe", "a,b", 'the "best"', " blanks ", "x\ny", "北", "0", "-1"];
  const quote = (cell: string): string => (random.below(quotes) === 0 || /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const data = Array.from({ length: rows }, () => ({
    region: names[random.below(names.length)] as string,
    year: String(2020 + random.below(3)),
    price: random.below(2) ? (random.below(100_000) / 100) * (random.below(2) ? 1 : -1) : random.signed() * 10 ** (random.below(40) - 20),
    amount: random.below(50),
  }));
  const padded = (x: number): string => `${" ".repeat(random.below(2))}${x}${" ".repeat(random.below(2))}`;
  const lines = data.map(({ region, year, price, amount }) =>
    [quote(region), padded(amount), quote("note, or none"), quote(year), quote(padded(price))].join(","),
  );
  return { data, text: `region,amount,"a note",year,price${lineEnd}${lines.map((line) => line + lineEnd).join("")}` };
}
type Row = ReturnType<typeof randomTable>["data"][number];

function groupsOf(data: readonly Row[], key: (row: Row) => string[]): { key: string[]; rows: Row[] }[] {
  const groups = new Map<string, { key: string[]; rows: Row[] }>();
  for (const row of data) {
    const cells = key(row).map((cell) => cell.trim());
    const name = JSON.stringify(cells);
    if (!groups.has(name)) groups.set(name, { key: cells, rows: [] });
    groups.get(name)?.rows.push(row);
  }
  const bytes = (cells: string[]): string => cells.map((cell) => Buffer.from(cell).toString("hex")).join("/");
  return [...groups.values()].sort((a, b) => (bytes(a.key) < bytes(b.key) ? -1 : 1));
}

const prices = (rows: readonly Row[]): Float64Array => Float64Array.from(rows, ({ price }) => price);
const amounts = (rows: readonly Row[]): Float64Array => Float64Array.from(rows, ({ amount }) => amount);

describe(`groups of random tables, seed ${SEED}`, () => {
  const random = new Random(SEED);
  for (const [what, quotes, lineEnd] of [
    ["no quotes but needed ones", 2 ** 31 - 1, "\n"],
    ["quotes around half of all cells", 2, "\r\n"],
    ["quotes everywhere", 1, "\n"],
  ] as const)
    test(`${what}: every group has the statistics of its rows, in the order of bytes`, async () => {
      const { data, text } = randomTable(random, 3000, quotes, lineEnd);
      const path = put("t.csv", text);
      const check = async (argv: string[], key: (row: Row) => string[], value: (rows: Row[]) => number): Promise<void> => {
        const { groups } = (await json(argv)) as { groups: Group[] };
        const expected = groupsOf(data, key).map(({ key, rows }) => ({ key, count: rows.length, value: value(rows) }));
        expect(groups.map(({ key, count, value }) => ({ key, count, value: Number(value) }))).toEqual(expected);
      };
      await check(
        ["mean", path, "-c", "price", "--by", "region"],
        ({ region }) => [region],
        (rows) => exmean(prices(rows)),
      );
      await check(
        ["mean", path, "-c", "price", "--weights", "amount", "--by", "year", "--by", "region"],
        ({ region, year }) => [year, region],
        (rows) => exmean(prices(rows), amounts(rows)),
      );
      await check(
        ["variance", path, "-c", "5", "--by", "4", "--ddof", "0"],
        ({ year }) => [year],
        (rows) => exvariance(prices(rows), 0),
      );
      await check(
        ["covariance", path, "-c", "price", "-c", "amount", "--by", "region"],
        ({ region }) => [region],
        (rows) => excovariance(prices(rows), amounts(rows)),
      );
      expect(numberIn(await json(["mean", path, "-c", "price"]))).toBe(exmean(prices(data)));
      expect(numberIn(await json(["covariance", path, "-c", "price", "-c", "price"]))).toBe(exvariance(prices(data)));
    });

  test("arrive in pieces of any size, with the same result", async () => {
    const { text } = randomTable(random, 200, 3, "\r\n");
    const argv = ["mean", "-", "--format", "csv", "-c", "price", "--by", "region", "--by", "year"];
    const whole = await halfulp(argv, [new TextEncoder().encode(text)]);
    expect(whole.code).toBe(0);
    for (const size of [1, 2, 3, 7, 64, 1000]) expect(await halfulp(argv, pieces(text, size))).toEqual(whole);
    expect(await halfulp(argv, pieces(`\ufeff${text}`, 5))).toEqual(whole);
    expect(await halfulp(argv, pieces(text.slice(0, -2), 100))).toEqual(whole); // no line end at the end
  });

  test("may be many, with values of every size", async () => {
    const rows = 20_000;
    const x = vector(random, rows, "bits");
    const lines = Array.from(x, (v, i) => `${i % 7000};${v}`);
    const { groups } = (await json(["mean", put("many.csv", lines.join("\n")), "-c", "2", "--by", "1", "--delimiter", ";"])) as {
      groups: Group[];
    };
    expect(groups.length).toBe(7000);
    for (const { key, value } of groups) {
      const own = x.filter((_, i) => String(i % 7000) === key[0]);
      expect(Number(value)).toBe(exmean(own));
    }
  });
});

describe("without groups", () => {
  test("files of numbers of both precisions have the statistics of the functions", async () => {
    const random = new Random(SEED);
    const x = vector(random, 200_000, "narrow");
    const y = vector(random, 200_000, "narrow");
    const [a, b] = [npy("x.npy", x), npy("y.npy", y)];
    expect(numberIn(await json(["mean", a]))).toBe(exmean(x));
    expect(numberIn(await json(["variance", a, "--ddof", "3"]))).toBe(exvariance(x, 3));
    expect(numberIn(await json(["covariance", a, b]))).toBe(excovariance(x, y));
    const single = Float32Array.from({ length: 1000 }, () => random.signed());
    const c = npy("single.npy", single);
    expect((await halfulp(["mean", c, "--hex"])).out.trim()).toBe(
      Buffer.from(Float32Array.of(exmean(single)).buffer)
        .reverse()
        .toString("hex"),
    );
    expect(numberIn(await json(["variance", c, "--to", "binary64"]))).toBe(exvariance(Float64Array.from(single)));
  });

  test("two files of numbers, a row missing in either is left out of all sums", async () => {
    const [a, b] = [put("a.csv", "x,1\n1,1\n,2\n3,3\n4,4\n"), put("b.csv", "5\n6\n\n8\n")];
    expect(await json(["covariance", a, b, "-c", "x", "-c", "1", "--missing", "skip"])).toMatchObject({
      value: excovariance(Float64Array.of(1, 4), Float64Array.of(5, 8)),
      count: 2,
      skipped: 2,
    });
  });

  test("nothing has no mean", async () => {
    expect(await json(["mean", put("empty.csv", "")])).toMatchObject({ value: "NaN", count: 0 });
    expect(await json(["mean", put("names.csv", "price\n"), "-c", "price"])).toMatchObject({ value: "NaN", count: 0 });
    expect((await json(["mean", put("header.csv", "a,b\n"), "-c", "a", "--by", "b"])).groups).toEqual([]);
  });
});

describe("names of groups", () => {
  test("that are not UTF-8 are refused: several would look the same", async () => {
    const rows = "a,1\n".repeat(3);
    for (const cell of ["\xe9", '"\xe9"']) {
      const latin = put("latin.csv", Buffer.from(`${rows}${cell},2\nx,3\n`, "latin1"));
      expect(await halfulp(["mean", latin, "-c", "2", "--by", "1"])).toMatchObject({
        code: 2,
        out: "",
        err: `halfulp: ${latin}: line 4 has bytes that are not UTF-8 in column 1, expected UTF-8 text\n`,
      });
      expect(numberIn(await json(["mean", latin, "-c", "2"]))).toBe(1.6);
    }
    const first = put("first.csv", Buffer.from("caf\xe9,1\ncaf\xe8,3\n", "latin1"));
    expect((await halfulp(["mean", first, "-c", "2", "--by", "1"])).err).toContain("line 1 has bytes that are not UTF-8 in column 1");
    const replaced = put("replaced.csv", `${rows}\ufffd,2\n"\ufffd",4\n`);
    expect((await json(["mean", replaced, "-c", "2", "--by", "1"])).groups).toMatchObject([{ key: ["a"] }, { key: ["\ufffd"], value: 3 }]);
  });
  test("that are empty are refused as text", async () => {
    const file = put("empty.csv", "region,price\nnorth,1\n,2\n");
    expect((await halfulp(["mean", file, "-c", "price", "--by", "region"])).err).toContain(
      "line 3 has no value in column 1, expected text (--missing",
    );
  });
  test("more than a call has room for arguments", () => {
    const lines = alignedTable(Array.from({ length: 200_000 }, (_, k) => [String(k), "1"])).split("\n");
    expect([lines.length, lines[7], lines[199_999]]).toEqual([200_000, "7       1", "199999  1"]);
  });
  test("of a folder", async () => {
    const folder = tmpdir();
    expect((await halfulp(["mean", folder, "--by", "1", "-c", "2", "--format", "csv"])).err).toBe(
      `halfulp: ${folder} is a directory, expected a file\n`,
    );
    expect((await halfulp(["mean", folder, "--by", "1"])).err).toBe(`halfulp: ${folder} is a directory, expected a file\n`);
  });
});

describe("missing values", () => {
  const path = put("gaps.csv", "region,price\nnorth,1\nnorth,\n,2\nsouth,3\neast,\n");
  const argv = ["mean", path, "-c", "price", "--by", "region"];

  test("are refused with their place", async () => {
    expect((await halfulp(argv)).err).toBe(
      `halfulp: ${path}: line 3 has no value in column 2, expected a number (--missing skip leaves it out)\n`,
    );
    const second = put("gap.csv", "region,price\n\n ,2\n");
    expect((await halfulp(["mean", second, "-c", "price", "--by", "region"])).err).toContain(`${second}: line 3 has no value in column 1`);
  });

  test("or skipped: a group without values is not there", async () => {
    expect(await json([...argv, "--missing", "skip"])).toMatchObject({
      groups: [
        { key: ["north"], count: 1, value: 1 },
        { key: ["south"], count: 1, value: 3 },
      ],
      skipped: 3,
    });
  });

  test("in a file with one column, blank lines are rows", async () => {
    expect((await halfulp(["mean", put("one.csv", "1\n\n2\n")])).err).toContain("line 2 has no value in column 1");
    expect(await json(["mean", put("one.csv", "1\n\n2\n\n"), "--missing", "skip"])).toMatchObject({ value: 1.5, skipped: 1 });
  });
});

describe("what sum refuses in a column, mean refuses with the same words", () => {
  test.each<[string, string, string]>([
    ["a word", "x,y\n1,2\n3,four\n", "y"],
    ["a unit", "x,y\n1,2\n3,4 kg\n", "y"],
    ["text after a quoted number", 'x,y\n1,"2"3\n', "y"],
    ["a row that is too short", "x,y\n1,2\n3\n", "y"],
    ["an unclosed quote", 'x,y\n1,2\n3,"4\n5,6\n', "y"],
    ["a carriage return alone", "x,y\n1,2\r3,4\n", "y"],
    ["a column that is not there", "x,y\n1,2\n", "z"],
    ["a name that stands twice", "x,x\n1,2\n", "x"],
    ["a column past the last", "1,2\n", "3"],
    ["neither name nor number in line 1", "$5,2\n1,2\n", "1"],
    ["an empty first cell", ",2\n1,2\n", "1"],
    ["a missing value", "x,y\n1,\n", "y"],
    ["hexadecimal digits", "x,y\n1,0x1\n", "y"],
    ["nothing", "", "x"],
  ])("%s", async (_, text, column) => {
    const path = put("bad.csv", text);
    const bad = await halfulp(["sum", path, "-c", column]);
    const same = await halfulp(["mean", path, "-c", column]);
    expect(same.code).toBe(bad.code);
    expect(same.err).toBe(bad.err);
  });
});

describe("usage", () => {
  const path = put("u.csv", "a,b\n1,2\n");
  const x = npy("u.npy", Float64Array.of(1));
  test.each<[string[], string]>([
    [["mean", x, "--by", "a"], "--by names a column, expected one CSV file (or --format csv)"],
    [["mean", x, "--weights", "a"], "--weights names a column, expected one CSV file (or --format csv)"],
    [["covariance", x], "covariance: 1 file, expected 2, or a CSV file with two columns (--column twice)"],
    [["covariance", path, "-c", "a"], "--column is given 1 times, expected 2 (or two files)"],
    [["mean", path, "-c", "a", "-c", "b"], "--column is given 2 times, expected at most 1"],
    [["mean", path, "-c", "1", "--by", "b", "--header", "no"], '--by is "b", expected a column number with --header no'],
    [["variance", path, "--ddof", "-1"], "--ddof"],
    [["mean", path, "--ddof", "1"], "Unknown option '--ddof'"],
    [["covariance", "-", "-"], "standard input is given twice"],
    [["mean", path, "-c", "1", "--by", "1..2"], '--by is "1..2", expected one column'],
    [["mean", "nothing.csv"], "nothing.csv: no such file or directory"],
  ])("%j", async (argv, message) => {
    const { code, err, out } = await halfulp(argv);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err.trim().split("\n").length).toBe(1);
  });

  test("a table of text has aligned columns, and bits with --hex", async () => {
    const table = put("o.csv", "region,price\nsouth,0.1\nnorth,2\nsouth,0.2\n");
    expect((await halfulp(["mean", table, "-c", "price", "--by", "region"])).out).toBe(
      "region  count  mean\nnorth   1      2\nsouth   2      0.15000000000000002\n",
    );
    expect((await halfulp(["mean", table, "-c", "2", "--by", "1", "--header", "yes", "--hex"])).out).toContain(
      "south   2      3fc3333333333334",
    );
  });
});

test("the order of the rows does not change a bit of the output", async () => {
  const random = new Random(SEED);
  const { text } = randomTable(random, 1000, 5, "\n");
  const [names, ...lines] = text.trimEnd().split(/\n(?=[^\n]*,[^\n]*,[^\n]*,[^\n]*,)/);
  const hashes = new Set<string>();
  for (let k = 0; k < 5; k++) {
    lines.sort(() => random.signed());
    const { out } = await halfulp(["variance", put("p.csv", `${names}\n${lines.join("\n")}\n`), "-c", "price", "--by", "region"]);
    hashes.add(createHash("sha256").update(out).digest("hex"));
  }
  expect(hashes.size).toBe(1);
});
