import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { textOf } from "../../src/report/text.ts";
import { buildCli, main } from "../cli/built.ts";
import { folder, halfulp } from "../cli/cli.ts";
import { FILES, runOf } from "./data.ts";

const { at, put } = folder();
const file = (name: keyof typeof FILES): string => put(`${name}.json`, JSON.stringify(FILES[name]));

describe("halfulp report", () => {
  test("draws files of earlier runs, with --from and without", async () => {
    for (const [k, files] of [
      ["--from", file("accuracy"), file("gpu-a-gpu")],
      [file("accuracy"), "--from", file("gpu-a-gpu")],
    ].entries()) {
      const { code, out, err } = await halfulp(["report", ...files, "-o", at(`${k}.html`)]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toBe(`${at(`${k}.html`)}: 7 figures\n`);
      expect(readFileSync(at(`${k}.html`), "utf8")).toMatch(/^<!doctype html>.*<\/html>\n$/s);
    }
  });

  test("says with exit code 1 that engines disagree", async () => {
    const { bits } = FILES.report;
    const rows = [...bits.rows, { engine: "another", schedule: "", hashes: { exsum: "ff" } }];
    const { code, out } = await halfulp([
      "report",
      put("bad.json", JSON.stringify({ ...FILES.report, bits: { ...bits, rows } })),
      "-o",
      at("bad.html"),
      "--json",
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ output: at("bad.html"), bitsAgree: false });
  });

  test("measures one part, saves it, and draws the same from the file", async () => {
    const measured = await halfulp(["report", "--quick", "--only", "bits", "--save", at("bits.json"), "-o", at("bits.html")], [], true);
    expect(measured.code).toBe(0);
    expect(measured.err).toContain("measuring [");
    expect(measured.err.endsWith("\r\x1b[K")).toBe(true); // the line goes away
    const drawn = await halfulp(["report", at("bits.json"), "-o", at("again.html")]);
    expect(drawn.out).toContain("all bits agree");
    expect(readFileSync(at("again.html"), "utf8")).toBe(readFileSync(at("bits.html"), "utf8"));
  });

  test.each([
    [["no.json"], "no.json: no such file or directory"],
    [["--only", "cakes"], '--only is "cakes", expected one of bits, accuracy, stages, sparse, convergence, solve'],
    [["--quick", "--full"], "--quick and --full are both given, expected one of them"],
    [["x.json", "--quick"], "--quick is for measuring, not for drawing earlier runs (x.json)"],
    [["-o", "/no/such/folder/x.html"], "/no/such/folder/x.html: no such file or directory (expected a directory /no/such/folder)"],
  ])("%j is refused before anything is written", async (argv, message) => {
    const output = argv.includes("-o") ? [] : ["-o", at("never.html")];
    const { code, err, out } = await halfulp(["report", ...argv, ...output]);
    expect({ code, err, out }).toEqual({ code: 2, err: `halfulp: ${message}\n`, out: "" });
    expect(existsSync(at("never.html"))).toBe(false);
  });

  test("a damaged file leaves what was there", async () => {
    put("kept.html", "before");
    const { code, err } = await halfulp(["report", put("half.json", JSON.stringify(FILES.report).slice(0, 9999)), "-o", at("kept.html")]);
    expect(code).toBe(2);
    expect(err).toMatch(/^halfulp: report: .*half\.json: this is not JSON [^\n]*\n$/);
    expect(readFileSync(at("kept.html"), "utf8")).toBe("before");
  });
});

describe("halfulp bench", () => {
  test("prints what it measured", async () => {
    const { code, out, err } = await halfulp(["bench", "--only", "bits"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Bits: \d+ combinations of engine, threads and schedule: all equal$/m);
  });
});

describe("the text of a run", () => {
  test("has every part, and no number that is none", async () => {
    const text = textOf(await runOf(FILES.report));
    for (const words of [
      "Bits: 3 combinations",
      "errors of gemv",
      "Nanoseconds per term",
      "Sparse solves",
      "Laplacian, 8 x 8, bicgstab        40 (maxIterations)",
      "solve(): Gflop/s",
      "Not measured.",
    ])
      expect(text).toContain(words);
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe("the plotting library", () => {
  beforeAll(buildCli, 240_000);
  const draw = join(dirname(main), "../report/draw");

  test("is in the package, in one file that needs no other", () => {
    const text = readFileSync(join(draw, "plotting.js"), "utf8");
    expect(text.length).toBeLessThan(500_000);
    const imports = [...text.matchAll(/(?:^|[;}])import\b[^;]*?["']([^"']+)["']/g)].map(([, name]) => name);
    expect(imports.filter((name) => !name?.startsWith("node:"))).toEqual([]);
  });

  test("brings the licences of what is in it", () => {
    const text = readFileSync(join(draw, "NOTICE.txt"), "utf8");
    for (const name of ["@observablehq/plot", "d3-scale", "linkedom", "htmlparser2"]) expect(text).toMatch(new RegExp(`^${name} \\d`, "m"));
  });
});
