// npm run everywhere and npm run fuzz: that they find a fault which is put into an engine on purpose, and nothing without one.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { buildCli } from "../cli/built.ts";
import { folder } from "../cli/cli.ts";
import { cases, SEED } from "../effort.ts";

beforeAll(buildCli, 300_000);

const { path } = folder();
function run(program: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const file = fileURLToPath(new URL(`../../scripts/${program}`, import.meta.url));
  return spawnSync(process.execPath, [file, ...args], { encoding: "utf8" });
}

describe("npm run everywhere", () => {
  const some = [
    "--quick",
    "--corpus",
    "short",
    "--only",
    "Node 20, fused",
    "--only",
    "engines, threads, 2",
    "--json",
    join(path, "rows.json"),
  ];

  test("finds that configurations are equal", () => {
    const { status, stdout, stderr } = run("everywhere/everywhere.mjs", ...some);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/2 configurations, one hash: [0-9a-f]{64}/);
    const { rows } = JSON.parse(readFileSync(join(path, "rows.json"), "utf8"));
    expect(rows).toHaveLength(2);
    for (const row of rows) expect(row).toMatchObject({ status: "equal", corpus: "short", hashes: { short: expect.any(String) } });
  });

  test.each(["exgemm", "exsum"])("names the routine with a wrong bit, %s", (routine) => {
    const { status, stdout } = run("everywhere/everywhere.mjs", ...some, "--fault", routine);
    expect(status).toBe(1);
    expect(stdout).toMatch(new RegExp(`WRONG: .*fused multiply-add.*${routine}; ${routine}, binary32`));
  });
});

const hasCompiler = spawnSync("g++", ["--version"]).status === 0;

describe.skipIf(!hasCompiler)(`npm run fuzz ${hasCompiler ? "" : "(npm run setup installs g++)"}`, () => {
  const ledger = join(path, "ledger.json");

  test(`finds nothing, and says what it has tried, seed ${SEED % 32768}`, () => {
    const minutes = String(cases(100, 10) / 100);
    const { status, stdout } = run(
      "fuzz/fuzz.mjs",
      "--minutes",
      minutes,
      "--threads",
      "2",
      "--seed",
      String(SEED % 32768),
      "--ledger",
      ledger,
    );
    expect([status, stdout.match(/WRONG.*/)?.[0]]).toEqual([0, undefined]);
    const { entries } = JSON.parse(readFileSync(ledger, "utf8"));
    for (const entry of entries) expect(entry).toMatchObject({ seed: SEED % 32768, threads: 2, commit: expect.any(String) });
    expect(entries.length).toBeGreaterThan(0);
  });

  test.each(["exdot", "exmean", "exlu", "ilu0"])("finds a wrong bit of %s within a minute, and repeats it", (fault) => {
    const { status, stdout } = run("fuzz/fuzz.mjs", "--minutes", "1", "--threads", "1", "--fault", fault, "--ledger", ledger);
    expect(status).toBe(1);
    const [, name, engine, number] = stdout.match(/--repeat "([^"]+)" --engines "([^"]+)" --case (\d+)/) as string[];
    expect(name).toBe(fault);
    const repeated = ["--repeat", name as string, "--engines", engine as string, "--case", number as string];
    expect(run("fuzz/fuzz.mjs", ...repeated, "--fault", fault).stdout).toContain("WRONG");
    expect(run("fuzz/fuzz.mjs", ...repeated).stdout).toBe("right\n");
  });
});
