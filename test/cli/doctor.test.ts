import { describe, expect, test } from "vitest";
import { synchronousFunctions } from "../../src/cli/engines.ts";
import { EXPECTED, selfTest } from "../../src/cli/selfTest.ts";
import { embedded } from "../../src/engines/embedded.ts";
import { ENGINES, type EngineRow, usualPools } from "../../src/engines/table.ts";
import { engines } from "../../src/index.ts";
import { halfulp, json } from "./cli.ts";

describe("doctor", () => {
  test("every engine returns the right bits", async () => {
    const said = await json(["doctor"]);
    const tests = said.tests as { engine: string; synchronous: boolean; sha256: string }[];
    expect(new Set(tests.map(({ sha256 }) => sha256))).toEqual(new Set([EXPECTED]));
    const rows = await Promise.all(
      ENGINES.map(async (row: EngineRow) => ("device" in (await row.probe()) ? row.configurations(usualPools()) : [])),
    );
    expect(tests.map(({ engine }) => engine)).toEqual([embedded().name, ...rows.flat().map(({ name }) => name)]);
    expect(tests.map(({ synchronous }) => synchronous).indexOf(true, 1)).toBe(-1);
    expect(said).toMatchObject({ equal: true, expected: EXPECTED, engines: await engines() });
  });
  test("the list alone runs no self-test, and says what is missing", async () => {
    const { code, out } = await halfulp(["doctor", "--list"]);
    expect(code).toBe(0);
    for (const { kind, device, reason } of await engines())
      expect(out).toContain(`  ${kind.padEnd(7)}  ${device ?? `missing: ${reason}`}\n`);
    expect(out).not.toContain("Self-test");
  });
  test("the self-test notices one wrong bit of any routine", async () => {
    const { routines: engine } = await synchronousFunctions().open();
    expect(await selfTest(engine)).toBe(EXPECTED);
    for (const routine of ["exsum", "exasum", "exdot", "exnrm2", "exaxpy", "exscal", "exinvscal", "exgemv", "extrsv", "exspmv"] as const) {
      let calls = 0;
      const method = engine[routine] as (...args: unknown[]) => unknown;
      const wrong = async (...args: unknown[]): Promise<unknown> => {
        const result = await method(...args);
        if (++calls !== 5) return result;
        if (typeof result === "number") return result + Number.MIN_VALUE === result ? result * (1 + 2 ** -52) : result + Number.MIN_VALUE;
        const bytes = new Uint8Array((result as Float64Array).buffer);
        if (bytes.length > 0) bytes[0] = (bytes[0] as number) ^ 1;
        return result;
      };
      const hash = await selfTest({ ...engine, [routine]: wrong } as typeof engine);
      expect(calls).toBeGreaterThan(5);
      expect(hash, routine).not.toBe(EXPECTED);
    }
    for (const [routine, part] of [
      ["cg", "x"],
      ["cg", "residual"],
      ["bicgstab", "history"],
      ["gmres", "iterations"],
    ] as const) {
      const wrong = async (...args: Parameters<typeof engine.cg>): Promise<unknown> => {
        const result = await engine[routine](...args);
        const value = result[part];
        const changed = typeof value === "number" ? value * (1 + 2 ** -52) : value.map((v, i) => (i === 1 ? v * (1 + 2 ** -52) : v));
        return { ...result, [part]: changed };
      };
      expect(await selfTest({ ...engine, [routine]: wrong } as typeof engine), `${routine}, ${part}`).not.toBe(EXPECTED);
    }
  });
});
