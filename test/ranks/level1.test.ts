// Sums, dot products and norms of vectors that are spread over ranks: programs/level1.mjs under mpirun.
import { describe, expect, test } from "vitest";
import { cases, SEED } from "../effort.ts";
import { jobs, LIBRARIES, MISSING, type MpiLibrary, runJob, UNLIKE_ENGINES } from "./job.ts";

describe.skipIf(MISSING !== "")(`level 1 over ranks${MISSING}`, () => {
  test.each(jobs([1, 2, 3]))("%s, %i ranks: every result has the bits of the whole vector", async (library, ranks) => {
    const { code, out, err } = await runJob(library, ranks, "level1.mjs", [String(SEED), String(cases(ranks > 4 ? 100 : 400))]);
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
    expect(out).toMatch(new RegExp(`on ${ranks} ranks`));
  });

  test(`ranks with the engines ${UNLIKE_ENGINES} return the same bits`, async () => {
    const env = { HALFULP_TEST_ENGINES: UNLIKE_ENGINES.join(",") };
    const { code, err } = await runJob(LIBRARIES[0] as MpiLibrary, 3, "level1.mjs", [String(SEED), "12"], { env });
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
  });

  test.each(LIBRARIES)("%s: thousands of calls that overlap are made in order", async (library) => {
    const { code, out, err } = await runJob(library, 3, "stress.mjs", [String(SEED), String(cases(6000, 600))]);
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
    expect(out).toMatch(/\d+ calls/);
  });

  test("eight ranks, more than this machine may have cores", async () => {
    const { code, out, err } = await runJob(LIBRARIES.at(-1) as MpiLibrary, 8, "stress.mjs", [String(SEED), "100"]);
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
    expect(out).toMatch(/\d+ calls/);
  });
});
