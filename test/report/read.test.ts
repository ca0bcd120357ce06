import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/arrays/errors.ts";
import { readRun } from "../../src/report/read.ts";
import { accuracy, bits, convergence, FILES, origin, runOf, runOfText, stages } from "./data.ts";

const PARTS: Readonly<Record<string, readonly string[]>> = {
  report: ["accuracy", "stages", "sparse", "convergence", "solve", "bits", "missing"],
  accuracy: ["accuracy"],
  level1: ["races", "stages"],
  dense: ["races"],
  solve: ["races"],
  sparse: ["races"],
  "sparse-tables": ["sparse"],
  "solve-tables": ["solve"],
  "gpu-a-gpu": ["gpu"],
};

describe("files of earlier runs", () => {
  test.each(Object.entries(FILES))("%s is known for what it is", async (kind, file) => {
    const { origin: about, parts } = await runOf(file);
    expect(about).toMatchObject({ benchmark: kind, commit: "abc", versions: { node: "20.0.0" } });
    expect(Object.keys(parts).sort()).toEqual([...(PARTS[kind] as string[])].sort());
  });

  const folder = join(fileURLToPath(new URL("../..", import.meta.url)), "bench/results");
  const DRAWN = /^(accuracy|level1|dense|sparse|solve|gpu)/;
  test.each(readdirSync(folder).filter((name) => DRAWN.test(name)))("bench/results/%s is read", async (name) => {
    const { parts } = await readRun(name, createReadStream(join(folder, name)));
    expect(Object.keys(parts).length).toBeGreaterThan(0);
  });

  test("what is not known of a file is left out", async () => {
    const { parts } = await runOf({ ...FILES.accuracy, extra: "<script>", gemv: { ...accuracy.gemv, more: 1 } });
    expect(Object.keys(parts.accuracy?.gemv ?? {})).toEqual(["n", "condition", "points"]);
  });
});

describe("what is refused", () => {
  const wrong: [what: string, file: unknown, message: RegExp][] = [
    ["an empty object", {}, /^report: x\.json: benchmark is missing, expected a text$/],
    ["a list", [1, 2], /the file is a list of 2, expected an object/],
    ["a number", 7, /the file is 7, expected an object/],
    ["null", null, /the file is null, expected an object/],
    ["an unknown kind", origin("cooking"), /benchmark is "cooking", expected one of report, accuracy/],
    ["a kind from Object.prototype", origin("constructor"), /benchmark is "constructor"/],
    ["a kind that is __proto__", origin("__proto__"), /benchmark is "__proto__"/],
    ["no machine", { ...origin("accuracy"), machine: undefined }, /machine is missing, expected an object/],
    ["a missing curve", { ...FILES.accuracy, lu: undefined }, /lu is missing, expected an object/],
    [
      "points that are no list",
      { ...FILES.accuracy, trsv: { ...accuracy.trsv, points: {} } },
      /trsv\.points is an object, expected a list/,
    ],
    [
      "an error that is a word",
      { ...FILES.accuracy, gemv: { ...accuracy.gemv, points: [{ asked: 1, seed: 1, condition: 1, plain: "<b>" }] } },
      /gemv\.points\[0\]\.plain is "<b>", expected a finite number/,
    ],
    [
      "a condition of 0, which has no logarithm",
      { ...FILES.accuracy, gemv: { ...accuracy.gemv, points: [{ asked: 0, seed: 1, condition: 1 }] } },
      /gemv\.points\[0\]\.asked is 0, expected a positive number/,
    ],
    [
      "a negative time",
      { ...FILES.level1, stages: [{ ...stages[0], stages: [{ name: "plain", median: -1, min: 1 }] }] },
      /median is -1, expected a positive number/,
    ],
    [
      "hashes that are numbers",
      { ...FILES.report, bits: { ...bits, rows: [{ engine: "e", schedule: "", hashes: { exsum: 1 } }] } },
      /hashes\.exsum is 1, expected a text/,
    ],
    [
      "residuals that are words",
      { ...FILES.report, convergence: [{ ...convergence[0], curves: [{ ...convergence[0]?.curves[0], history: [1, "less"] }] }] },
      /convergence\[0\]\.curves\[0\]\.history\[1\] is "less", expected a finite number/,
    ],
    [
      "a text as long as a book",
      { ...FILES.accuracy, engine: "x".repeat(5000) },
      /engine is "x{39}…, expected a text of at most 2000 characters/,
    ],
  ];
  test.each(wrong)("%s", async (_, file, message) => {
    const error = await runOf(file).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FormatError);
    expect((error as Error).message).toMatch(message);
  });

  test.each([
    ["nothing", ""],
    ["half a file", JSON.stringify(FILES.accuracy).slice(0, -100)],
    ["no JSON", "P\u0000\u0001 binary"],
    ["100,000 brackets", "[".repeat(100_000)],
    ["numbers beyond the range", JSON.stringify(FILES.accuracy).replace('"n":4', '"n":1e999')],
  ])("%s, in one line", async (_, text) => {
    const error = await runOfText(text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FormatError);
    expect((error as Error).message).toMatch(/^report: x\.json: [^\n]+$/);
  });

  test("more bytes than a run ever has, without reading on", async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given++;
        yield new Uint8Array(2 ** 20).fill(32);
      }
    }
    const error = await readRun("endless", endless()).catch((reason: unknown) => reason);
    expect((error as Error).message).toMatch(/^report: endless: this has more than 33554432 bytes/);
    expect(given).toBe(33);
  });
});
