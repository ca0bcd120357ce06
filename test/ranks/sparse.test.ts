// Sparse matrices by block rows: products and iterative solvers with the bits of the synchronous functions, and errors on all ranks.
import { describe, expect, test } from "vitest";
import { SEED } from "../effort.ts";
import { casesOn, jobs, LIBRARIES, MISSING, type MpiLibrary, runJob, UNLIKE_ENGINES } from "./job.ts";

describe.skipIf(MISSING !== "")(`sparse matrices over ranks${MISSING}`, () => {
  test.each(jobs([1, 2, 3]))("%s, %i ranks: random cases have the bits of the synchronous functions", async (library, ranks) => {
    const cases = casesOn(ranks, 60);
    const { code, out, err } = await runJob(library, ranks, "sparse.mjs", [String(SEED), String(cases)], { seconds: 500 });
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
    expect(out).toContain(`cases ${cases}; `);
    for (const reason of ["SingularError", "breakdown", "maxIterations", "notFinite", "stagnation", "tolerance"])
      expect(out).toContain(reason);
  });

  test(`ranks with the engines ${UNLIKE_ENGINES} return the same bits`, async () => {
    const env = { HALFULP_TEST_ENGINES: UNLIKE_ENGINES.join(",") };
    const { code, out, err } = await runJob(LIBRARIES[0] as MpiLibrary, 3, "sparse.mjs", [String(SEED), "3"], { env });
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
    expect(out).toContain("cases 3; ");
  });

  test.each(jobs([1, 3]))("%s, %i ranks: bad arguments are refused by every rank", async (library, ranks) => {
    const { code, out, err } = await runJob(library, ranks, "sparseErrors.mjs", [], { seconds: 60 });
    expect(code, err).toBe(0);
    expect(out).toMatch(/errors \d+/);
  });
});
