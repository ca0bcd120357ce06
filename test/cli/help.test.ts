import { describe, expect, test, vi } from "vitest";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { decimal, hex, toJson } from "../../src/cli/output/numerals.ts";
import { Progress } from "../../src/cli/output/progress.ts";
import { fromHex, toHex } from "../hex.ts";
import { halfulp } from "./cli.ts";

describe("help", () => {
  test("of everything, and without a command too", async () => {
    for (const argv of [["--help"], ["-h"], ["help"], []]) {
      const { code, out, err } = await halfulp(argv);
      expect({ code, err }).toEqual({ code: argv.length === 0 ? 2 : 0, err: "" });
      for (const { name, summary } of COMMANDS) {
        expect(out).toMatch(new RegExp(`^  ${name} `, "m"));
        expect(out).toContain(summary);
      }
    }
  });
  test.each(COMMANDS.map((command) => [command.name, command] as const))("of %s", async (name, command) => {
    for (const argv of [
      [name, "--help"],
      [name, "-h"],
      ["help", name],
    ]) {
      const { code, out } = await halfulp(argv);
      expect(code).toBe(0);
      expect(out.startsWith(`Usage: halfulp ${name} `)).toBe(true);
      for (const option of [...Object.keys(command.options), "json", "help"]) expect(out).toContain(`--${option}`);
      for (const [example] of command.examples) expect(out).toContain(`  ${example}\n`);
      for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(140);
    }
    expect(command.examples.length).toBeGreaterThan(0);
  });
  test("what it says of results is what the library says", async () => {
    const help = async (name: string): Promise<string> => (await halfulp([name, "--help"])).out.replace(/\s+/g, " ");
    expect(await help("lu")).toMatch(/--error print the infinity norm of P A - L U \(the largest sum of magnitudes in a row\)/);
    for (const name of ["solve", "trsv", "lu"]) expect(await help(name)).toMatch(/\.npy, Matrix Market or CSV files?/);
    // Only exact results have the same bits on every engine.
    for (const name of ["sum", "trsv", "lu", "spmv", "cg", "gmres"])
      expect(await help(name)).toMatch(/--engine E [^-]*; the bits are the same /);
    const sptrsv = await help("sptrsv");
    for (const option of ["schedule S", "engine E"])
      expect(sptrsv).toMatch(new RegExp(`--${option} [^-]*; the bits are the same, except with --plain `));
    expect(sptrsv).toMatch(/--plain use ordinary arithmetic: the bits differ, and with levc and slfc they may vary from run to run/);
    expect((await halfulp(["--help"])).out).toMatch(/with the bits of trsv unless --plain is given/);
    expect(await help("solve")).toMatch(/--engine E [^-]*; the bits are the same, except with --rounding backward/);
  });
  test("every example names a command and options that there are", () => {
    for (const { examples } of COMMANDS)
      for (const [line] of examples) {
        const [, name, ...words] = (line.split("| ").at(-1) as string).replace(/^mpirun -n 4 /, "").split(" ");
        const command = COMMANDS.find((each) => each.name === name);
        expect(command, line).toBeDefined();
        const known = Object.entries(command?.options ?? {}).flatMap(([option, { short }]) => [`--${option}`, `-${short}`]);
        for (const word of words.filter((each) => /^-./.test(each))) expect([...known, "--json"], line).toContain(word);
      }
  });
  test.each([
    [["nonsense"], /unknown command "nonsense", expected sum, /],
    [["sum", "--nonsense"], /sum: Unknown option '--nonsense' \(halfulp sum --help\)/],
    [["sum", "x", "--round"], /sum: Option '--round <value>' argument missing/],
    [["sum", "x", "--hex=1"], /sum: Option '--hex' does not take an argument/],
    [["sum", "x", "--threads", "-1", "--json"], /sum: Option '--threads' has no value: the next word looks like an option \(/],
    [["summ"], /unknown command "summ".*; did you mean sum\?$/],
    [["foo"], /unknown command "foo".*\(halfulp --help\)$/],
    [["solve", "A", "b", "--rounding", "single"], /--rounding is "single", expected correct or backward/],
    [["help", "nonsense"], /unknown command "nonsense"/],
  ])("%j is refused in one line", async (argv, message) => {
    const { code, out, err } = await halfulp(argv);
    const said = argv.includes("--json") ? JSON.parse(out).error.message : "";
    expect({ code, said: said === "" ? out : said }).toEqual({ code: 2, said: said === "" ? "" : err.slice("halfulp: ".length, -1) });
    expect(err.trimEnd()).toMatch(message);
    expect(err).toMatch(/^halfulp: [^\n]+\n$/);
  });
});

describe("numbers", () => {
  test("decimal and hexadecimal, there and back", () => {
    for (const x of [0, -0, 1, -1.5, 0.1, 5e-324, 1e308, Number.MAX_VALUE, 1e21, 123456789012345680000, Number.POSITIVE_INFINITY]) {
      expect(Object.is(Number(decimal(x)), x)).toBe(true);
      expect(hex(x)).toBe(toHex(x));
      expect(Object.is(fromHex(hex(x)), x)).toBe(true);
    }
    expect([decimal(Number.NaN), hex(Number.NaN), hex(-1, "binary32"), hex(Number.NaN, "binary32")]).toEqual([
      "NaN",
      "7ff8000000000000",
      "bf800000",
      "7fc00000",
    ]);
  });
  test("in JSON", () => {
    const value = {
      a: -0,
      b: [1e300, Number.NaN],
      c: Float64Array.of(-0, Number.NEGATIVE_INFINITY),
      d: undefined,
      e: null,
      f: "ä\n",
      g: { h: true },
    };
    expect(toJson(value)).toBe('{"a":-0,"b":[1e+300,"NaN"],"c":[-0,"-Infinity"],"e":null,"f":"ä\\n","g":{"h":true}}');
    expect(Object.is(JSON.parse(toJson({ a: -0 })).a, -0)).toBe(true);
  });
});

describe("progress", () => {
  test("on a terminal a line that goes away, elsewhere nothing", () => {
    const clock = vi.spyOn(performance, "now");
    for (const isTerminal of [true, false]) {
      const said: string[] = [];
      clock.mockReturnValue(0);
      const io = { stdin: (async function* () {})(), out() {}, err: (text: string) => void said.push(text), isTerminal };
      const progress = new Progress(io, "sum");
      progress.report(1, 100);
      expect(said).toEqual([]); // what ends soon shows nothing
      clock.mockReturnValue(1000);
      progress.report(50, 100);
      progress.report(51, 100); // too soon after the other
      clock.mockReturnValue(2000);
      progress.report(3e6, undefined);
      progress.end();
      const bar = `[${"#".repeat(15)}${" ".repeat(15)}] 50 %`;
      expect(said.join("")).toBe(isTerminal ? `\r\x1b[Ksum ${bar} 1.0 s\r\x1b[Ksum 3.0 million numbers 2.0 s\r\x1b[K` : "");
    }
    clock.mockRestore();
  });
});
