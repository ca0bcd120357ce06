// Sums, dot products and norms of vectors that are spread over ranks: programs/level1.mjs under mpirun.
import { describe, expect, test } from "vitest";
import { cases, FULL, SEED } from "../effort.ts";
import { LIBRARIES, MISSING, runJob } from "./job.ts";

const COUNTS = FULL ? [1, 2, 3, 4, 6, 8] : [1, 2, 3];

describe.skipIf(MISSING !== "")(`level 1 over ranks${MISSING}`, () => {
  for (const library of LIBRARIES)
    for (const ranks of COUNTS)
      test(`${library}, ${ranks} ranks: every result has the bits of the whole vector`, async () => {
        const { code, out, err } = await runJob(library, ranks, "level1.mjs", [String(SEED), String(cases(ranks > 4 ? 40 : 150))]);
        expect(err, err).not.toMatch(/Error/);
        expect(code, `seed ${SEED}: ${err}`).toBe(0);
        expect(out).toMatch(new RegExp(`on ${ranks} ranks`));
      });

  test("ranks of unlike engines return the same bits", async () => {
    const env = { RANK_ENGINES: "wasm,threads" };
    const { code, err } = await runJob(LIBRARIES[0] as "mpich", 3, "level1.mjs", [String(SEED), "12"], { env });
    expect(code, `seed ${SEED}: ${err}`).toBe(0);
  });
});
