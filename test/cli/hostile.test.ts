// Files that are damaged, hostile or something else: one line, exit code 2, nothing written, and no memory for what is only announced.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { deflateRawSync, gzipSync, crc32 as zlibCrc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import { writeNpy } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { foreign } from "../files/foreign.ts";
import { folder, halfulp, pieces } from "./cli.ts";

const { put, at, npy } = folder();
const bytesOf = (name: string): Uint8Array => new Uint8Array(readFileSync(foreign(name)));
const refused = async (argv: readonly string[], message = /./): Promise<void> => {
  const { code, out, err } = await halfulp([...argv]);
  expect({ code, out, argv: argv[0] }).toEqual({ code: 2, out: "", argv: argv[0] });
  expect(err).toMatch(/^halfulp: [^\n]{1,700}\n$/);
  expect(err).not.toContain("internal error");
  expect(err).toMatch(message);
};
/** A damaged file may still be one, but nothing else may happen. */
const endsWell = async (argv: readonly string[]): Promise<void> => {
  const { code, out, err } = await halfulp([...argv]);
  expect([0, 1, 2]).toContain(code);
  if (code === 2) expect(out).toBe("");
  if (code === 0) expect(err).toBe("");
  expect(err).not.toContain("internal error");
  expect(err.split("\n").length).toBeLessThanOrEqual(2);
};

const crc32 = (bytes: Uint8Array): number =>
  bytes.reduce((crc, byte) => {
    let next = (crc ^ byte) >>> 0;
    for (let k = 0; k < 8; k++) next = next & 1 ? (next >>> 1) ^ 0xedb88320 : next >>> 1;
    return next;
  }, 0xffffffff) ^ 0xffffffff;

/** An archive with one member; the changes are made to its directory. */
function zip(
  content: Uint8Array,
  { method = 8, size = content.length, stored = undefined as number | undefined, crc = 0, at = 0, flags = 0, name = "x.npy" } = {},
): Uint8Array {
  const data = method === 8 ? deflateRawSync(content) : content;
  const sum = crc === 0 ? crc32(content) >>> 0 : crc;
  const local = new DataView(new ArrayBuffer(30));
  local.setUint32(0, 0x04034b50, true);
  local.setUint16(26, name.length, true);
  const entry = new DataView(new ArrayBuffer(46));
  entry.setUint32(0, 0x02014b50, true);
  entry.setUint16(8, flags, true);
  entry.setUint16(10, method, true);
  entry.setUint32(16, sum, true);
  entry.setUint32(20, stored ?? data.length, true);
  entry.setUint32(24, size, true);
  entry.setUint16(28, name.length, true);
  entry.setUint32(42, at, true);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(10, 1, true);
  end.setUint32(12, 46 + name.length, true);
  end.setUint32(16, 30 + name.length + data.length, true);
  const [title, parts] = [Buffer.from(name), [local, entry, end].map((view) => new Uint8Array(view.buffer))];
  return Uint8Array.from(Buffer.concat([parts[0] as Uint8Array, title, data, parts[1] as Uint8Array, title, parts[2] as Uint8Array]));
}

describe("archives", () => {
  const array = writeNpy(Float64Array.from({ length: 500 }, (_, k) => k));
  test("the checksum of the test is that of zlib, and the archive is one", async () => {
    if (typeof zlibCrc32 === "function") expect(crc32(array) >>> 0).toBe(zlibCrc32(array));
    for (const method of [0, 8]) expect(await halfulp(["sum", put("x.npz", zip(array, { method }))])).toMatchObject({ out: "124750\n" });
  });
  test.each<[string, Parameters<typeof zip>[1], RegExp]>([
    [
      "a wrong checksum, deflated",
      { crc: 5 },
      /the member "x.npy" is damaged \(incorrect data check\), expected one that can be decompressed/,
    ],
    ["a wrong checksum, stored", { crc: 5, method: 0 }, /the member "x.npy" is damaged \(incorrect data check\)/],
    ["a wrong size, deflated", { size: 4127 }, /3999 bytes of numbers, expected 4000/],
    ["a wrong size, stored", { size: 4127, method: 0 }, /the member "x.npy" of 4127 bytes in 4128, expected at most 4128/],
    ["more than deflate can do", { size: 2 ** 31 }, /the member "x.npy" of 2147483648 bytes in \d+, expected at most \d+/],
    ["data beyond the end", { stored: 2 ** 31 }, /the member "x.npy" from byte 0 to 2147483648, expected at most \d+/],
    ["a member beyond the end", { at: 2 ** 31 }, /the member "x.npy" from byte 2147483648/],
    ["a member elsewhere", { at: 1 }, /no member "x.npy" at byte 1, expected it there/],
    ["an encrypted member", { flags: 1 }, /the encrypted member "x.npy", expected one that is not/],
    ["another method", { method: 14 }, /the member "x.npy", compressed by method 14, expected 0 \(stored\) or 8 \(deflated\)/],
    ["a line break in a name", { name: "a\nb\u001b.npy", crc: 5 }, /the member "a\\nb\\u001b.npy" is damaged/],
  ])("%s", async (_, changes, message) => {
    for (const command of ["sum", "hash", "lu"]) await refused([command, put("bad.npz", zip(array, changes))], message);
  });
  test("a bomb is read in pieces, and ends where the array does", async () => {
    const zeros = new Uint8Array(64 * 2 ** 20);
    zeros.set(array.subarray(0, 128));
    const bomb = zip(zeros);
    expect(bomb.length).toBeLessThan(100_000);
    const before = process.memoryUsage().arrayBuffers;
    await refused(["sum", put("bomb.npz", bomb)], /bomb.npz: 67108736 bytes of numbers, expected 4000/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8e6);
  });
  test("an array that is announced and not there takes no memory", async () => {
    const header = writeNpy(new Float64Array(1)).slice();
    header.set(Buffer.from("(10000000000,), }"), Buffer.from(header).indexOf("(1,)"));
    await refused(["sum", put("huge.npz", zip(header))], /8 bytes of numbers, expected 80000000000/);
  });
  test.each(["one.npz", "deflated.npz", "zip64.npz"])("every prefix of %s is refused", async (name) => {
    const whole = bytesOf(name);
    const member = name === "one.npz" ? "" : ":d";
    for (let length = 0; length < whole.length - 10; length += 13)
      await refused(["sum", `${put("cut.npz", whole.subarray(0, length))}${member}`], /cut.npz/);
  });
  test.each(["one.npz", "stored.npz", "zip64.npz"])("any byte of %s may be another", async (name) => {
    const whole = bytesOf(name);
    const member = name === "one.npz" ? "" : ":a";
    const random = new Random(7);
    for (let k = 0; k < 150; k++) {
      const damaged = whole.slice();
      for (let j = 0; j <= k % 3; j++) damaged[random.below(whole.length)] = random.below(256);
      await endsWell(["sum", `${put("damaged.npz", damaged)}${member}`]);
    }
  });
  test("a directory that points to itself, and one of 2^63 members", async () => {
    const end = zip(array).slice(-22);
    new DataView(end.buffer).setUint32(16, 0, true);
    await refused(["sum", put("loop.npz", end)], /no entry 1 in the directory|the directory from byte/);
    const many = bytesOf("zip64.npz");
    const at64 = many.length - 22 - 9 - 20 - 56;
    new DataView(many.buffer).setBigUint64(at64 + 32, 2n ** 63n, true);
    await refused(["sum", put("many.npz", many)], /many.npz/);
  });
});

describe("tables", () => {
  const line = "1,".repeat(5_000_000);
  test.each<[string, string | Uint8Array, RegExp]>([
    ["a line of 10 MB", line, /line 1 has more than 1048576 characters, expected a shorter record/],
    ["a quoted field of 10 MB", `"${"x".repeat(1e7)}`, /line 1 has more than 1048576 characters/],
    [
      "carriage returns for line ends",
      "1,2\r3,4\r5,6\r",
      /line 1 has a carriage return without a line feed, expected lines that end in LF or CR LF/,
    ],
    ["NUL bytes", "1,2\n3,\u00004\n", /line 2 has the control character U\+0000, expected text/],
    ["UTF-16", Uint8Array.from(Buffer.from("\ufeff1,2\r\n3,4\r\n", "utf16le")), /bad.csv is UTF-16, expected UTF-8\n/],
    ["invalid UTF-8 for a number", Uint8Array.of(0x31, 0x2c, 0xff, 0xfe, 0x0a), /line 1 has "\ufffd\ufffd" in column 2, expected a number/],
    ["a number in Arabic digits", "1,٢\n", /line 1 has "٢" in column 2/],
    ["a number of a million digits and a letter", `1,${"9".repeat(1_000_000)}x\n`, /line 1 has "9{40}…" in column 2/],
    ["an unclosed quote", '1,"2\n3,4\n', /line 1 has an unclosed quote/],
    ["fewer columns", "1,2\n3\n", /line 2 has 1 columns, expected/],
    ["a terminal's codes", "1,\u001b[31m2\n", /line 1 has the control character U\+001B, expected text/],
    ["a ZIP archive", zip(new Uint8Array(300)), /line \d+ has/],
  ])("%s", async (_, content, message) => {
    const file = put("bad.csv", content);
    await refused(["sum", file, "-c", "2", "--header", "no"], message);
    await refused(["lu", file, "--header", "no"], message);
    await refused(["solve", file, npy("v.npy", Float64Array.of(1)), "--header", "no", "-o", at("none.csv")], message);
    expect(existsSync(at("none.csv"))).toBe(false);
  });
  test.each([
    ["carriage returns", "1 2\r3 4\r", /line 1 has a carriage return without a line feed/],
    ["a line of 10 MB", "1 ".repeat(5_000_000), /line 1 has more than 1048576 characters/],
    ["a word", "1 2\n3 x # 4\n", /line 2 has "x" in column 2, expected a number/],
    ["a quoted number", '1 2\n3 "4"\n', /line 2 has "\\"4\\"" in column 2/],
    ["a column that ends", "1 2\n3\n", /line 2 has 1 columns, expected/],
  ])("white space: %s", async (_, content, message) => {
    await refused(["sum", put("bad.txt", content), "-c", "2"], message);
    await refused(["lu", at("bad.txt")], message);
  });
  test("nothing at all", async () => {
    for (const name of ["empty.csv", "empty.txt"]) {
      expect(await halfulp(["sum", put(name, "")])).toMatchObject({ code: 0, out: "-0\n" });
      expect((await halfulp(["hash", at(name)])).out).toMatch(/^e3b0c442.* 0 by 0 /);
      await refused(["solve", at(name), npy("v.npy", Float64Array.of(1))]);
    }
  });
  test.each<[string, string | Uint8Array, RegExp]>([
    ["compressed, without a line feed", gzipSync("1,2\n").filter((byte) => byte !== 10), /line 1 has the control character U\+00/],
    ["an archive", zip(new Uint8Array(300)), /line 1 has the control character U\+00/],
    ["HTML", "<html>", /line 1 is "<html>", expected numbers, or names followed by rows \(use --header yes/],
    ["a sentence", "\nnothing to see here\n\n", /line 2 is "nothing to see here", expected numbers, or names/],
    ["UTF-16, big-endian", Uint8Array.of(0xfe, 0xff, 0, 0x31, 0, 0x0a), /bad.csv is UTF-16, expected UTF-8/],
    ["UTF-16, empty", Uint8Array.of(0xff, 0xfe), /bad.csv is UTF-16, expected UTF-8/],
    ["a delimiter for Excel", "sep=;\n1;2\n", /line 1 is "sep=;", expected names or numbers \(without this line, use --delimiter ";"\)/],
  ])("what is no table: %s", async (_, content, message) => {
    const file = put("bad.csv", content);
    for (const command of ["sum", "mean", "hash", "lu"]) {
      await refused([command, file], message);
      await refused([command, file, "--delimiter", ";"], message);
    }
    const bytes = new Uint8Array(readFileSync(file));
    for (const command of ["sum", "mean"])
      expect((await halfulp([command, "-", "--format", "csv"], pieces(bytes, 1))).err).toMatch(
        new RegExp(message.source.replace("bad.csv", "standard input")),
      );
  });
  test("control characters anywhere in a record, in the fast scanner too, unless they are the delimiter", async () => {
    const rows = "1,2,x\n".repeat(5);
    for (const [k, row] of ["\u00001,2,x", "1\u0001,2,x", '1,2,"x\u0008"', "1,2,x\u001f", '"\u0000",2,x'].entries())
      for (const argv of [["sum"], ["mean"], ["mean", "--by", "3"]])
        await refused([...argv, put(`c${k}.csv`, `${rows}${row}\n`), "-c", "2"], /line 6 has the control character U\+00[01]/);
    for (const delimiter of ["\u0001", "\u001f", "\t"])
      expect(await halfulp(["mean", put("d.csv", rows.replaceAll(",", delimiter)), "-c", "2", "--delimiter", delimiter])).toMatchObject({
        out: "2\n",
      });
    const tabs = put("t.csv", `${rows}1,2,a\tb\n1,2,"a\tb"\n`);
    expect((await halfulp(["mean", tabs, "-c", "2", "--by", "3"])).out).toBe('3       count  mean\n"a\\tb"  2      2\nx       5      2\n');
  });
  test("any bytes", async () => {
    const random = new Random(11);
    for (let k = 0; k < 60; k++) {
      const bytes = Uint8Array.from({ length: 2000 }, () =>
        k % 2 === 0 ? random.below(256) : '0123456789,;"\n\r -e.#'.charCodeAt(random.below(21)),
      );
      for (const name of ["any.csv", "any.txt", "any.mtx", "any.npy", "any.npz", "any.parquet"])
        await endsWell(["sum", ...(name === "any.mtx" ? [put("any.csv", bytes), "-c", "1"] : [put(name, bytes)])]);
      for (const headerless of ["sizes", "entries"])
        await endsWell(["lu", put("any.mtx", bytes), "--headerless", headerless, "--duplicates", "add"]);
      await endsWell(["lu", put("any.txt", bytes), "--missing", "skip", "-o", at("any.out.csv")]);
    }
  });
});

describe("Parquet files", () => {
  test.each(["snappy.parquet", "gzip.parquet", "polars.parquet"])("%s: every prefix, and any byte another", async (name) => {
    const whole = bytesOf(name);
    const [column, file] = ["d", "cut.parquet"];
    for (let length = 0; length < whole.length - 8; length += 29)
      await endsWell(["sum", put(file, whole.subarray(0, length)), "-c", column, "--missing", "skip"]);
    await refused(["sum", put(file, whole.subarray(0, whole.length >> 1)), "-c", column]);
    const random = new Random(13);
    for (let k = 0; k < 60; k++) {
      const damaged = whole.slice();
      damaged[random.below(whole.length)] = random.below(256);
      await endsWell(["sum", put(file, damaged), "-c", column, "--missing", "skip"]);
    }
  });
});

describe("outputs that cannot be", () => {
  const [A, b] = [put("I.csv", "1,0\n0,1\n"), put("r.csv", "1\n2\n")];
  test("a folder of that name, a folder that is none, a device that is full", async () => {
    mkdirSync(at("folder.csv"));
    await refused(["solve", A, b, "-o", at("folder.csv")], /folder.csv is a directory, expected a file/);
    await refused(["solve", A, b, "-o", at("I.csv/x.csv")], /I.csv.* is not a directory|not a directory/);
    await refused(
      ["solve", A, b, "-o", at("missing/x.csv")],
      /missing\/x.csv: no such file or directory \(expected a directory \S*missing\)/,
    );
    await refused(["lu", A, "-o", at("same.csv"), "--pivots", at("same.csv")], /-o and --pivots are both/);
  });
  test.skipIf(process.platform !== "linux")("a folder where no file can be made: the message names the file that was given", () =>
    refused(["solve", A, b, "-o", "/proc/x.csv"], /^halfulp: \/proc\/x.csv: [a-z ]+ \(its directory cannot be written\)\n$/),
  );
});
