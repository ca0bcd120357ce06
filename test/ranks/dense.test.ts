// Dense matrices over ranks: the bits of the synchronous functions on any number of ranks, grid and block size, and errors on all ranks.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SEED } from "../effort.ts";
import { casesOn, jobs, LIBRARIES, MISSING, type MpiLibrary, runJob, UNLIKE_ENGINES } from "./job.ts";

const ROUTINES = 6; // with random cases
const ONCE = 4; // all grids, hard rows, all triangles, structured matrices

describe.skipIf(MISSING !== "")(`dense matrices over ranks${MISSING}`, () => {
  test.each(jobs([1, 2, 3, 4]))("%s, %i ranks: all cases have the bits of the synchronous functions", async (library, ranks) => {
    const cases = casesOn(ranks, 60);
    const { code, out, err } = await runJob(library, ranks, "dense.mjs", [String(SEED + ranks), String(cases)], { seconds: 500 });
    expect(code, `seed ${SEED + ranks}: ${err}`).toBe(0);
    expect(out).toContain(`cases ${ROUTINES * cases + ONCE}; `);
    for (const outcome of ["factors", "is 0", "overflows", "is Infinity"]) expect(out).toContain(`"${outcome}":`);
  });

  test(`ranks with the engines ${UNLIKE_ENGINES} return the same bits`, async () => {
    const env = { HALFULP_TEST_ENGINES: UNLIKE_ENGINES.join(",") };
    const { code, out, err } = await runJob(LIBRARIES[0] as MpiLibrary, 3, "dense.mjs", [String(SEED), "3"], { env });
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
    expect(out).toContain(`cases ${ROUTINES * 3 + ONCE}; `);
  });

  test.each(jobs([1, 3]))("%s, %i ranks: bad arguments are refused by every rank", async (library, ranks) => {
    const folder = mkdtempSync(join(tmpdir(), "halfulp-ranks-"));
    const { code, out, err } = await runJob(library, ranks, "denseErrors.mjs", [folder], { seconds: 60 });
    rmSync(folder, { recursive: true });
    expect(code, err).toBe(0);
    expect(out).toMatch(/errors \d+/);
  });
});
