import { describe, expect, test } from "vitest";
import { embedded } from "../../src/engines/embedded.ts";
import { ENGINES, type EngineRow, usualPools } from "../../src/engines/table.ts";
import { EXPECTED } from "../../src/everywhere/expected.ts";
import { engines } from "../../src/index.ts";
import { halfulp, json } from "./cli.ts";

describe("doctor", () => {
  test("every engine returns the right bits", async () => {
    const said = await json(["doctor"]);
    const tests = said.tests as { engine: string; synchronous: boolean; sha256: string }[];
    expect(new Set(tests.map(({ sha256 }) => sha256))).toEqual(new Set([EXPECTED.short.all]));
    const rows = await Promise.all(
      ENGINES.map(async (row: EngineRow) => ("device" in (await row.probe()) ? row.configurations(usualPools()) : [])),
    );
    expect(tests.map(({ engine }) => engine)).toEqual([embedded().name, ...rows.flat().map(({ name }) => name)]);
    expect(tests.map(({ synchronous }) => synchronous).indexOf(true, 1)).toBe(-1);
    expect(said).toMatchObject({ equal: true, corpus: "short", expected: EXPECTED.short.all, engines: await engines() });
  });
  test("the list alone runs no self-test, and says what is missing", async () => {
    const { code, out } = await halfulp(["doctor", "--list"]);
    expect(code).toBe(0);
    for (const { kind, device, reason } of await engines())
      expect(out).toContain(`  ${kind.padEnd(7)}  ${device ?? `missing: ${reason}`}\n`);
    expect(out).not.toContain("Self-test");
  });
  test("--routines prints the hash of each routine, with --list the expected one; --corpus takes a size", async () => {
    const { code, out } = await halfulp(["doctor", "--list", "--routines"]);
    expect(code).toBe(0);
    for (const [name, hash] of Object.entries(EXPECTED.short.routines)) expect(out).toContain(`  ${name.padEnd(39)}  ${hash}\n`);
    expect((await halfulp(["doctor", "--corpus", "tiny"])).err).toContain('--corpus is "tiny", expected short, full or large');
  });
});
