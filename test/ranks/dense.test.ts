// Dense matrices over ranks: the bits of the synchronous functions on any number of ranks, grid and block size, and errors on all ranks.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LIBRARIES, MISSING, type MpiLibrary, runJob } from "./job.ts";

const FULL = process.env.HALFULP_TESTS === "full";
const [first, ...others] = LIBRARIES;
const RANKS = FULL ? [1, 2, 3, 4, 6, 8] : [1, 2, 3, 4];
const JOBS: [MpiLibrary, number][] = first
  ? [
      ...RANKS.map((n): [MpiLibrary, number] => [first, n]),
      ...others.flatMap((library) => (FULL ? RANKS : [2]).map((n): [MpiLibrary, number] => [library, n])),
    ]
  : [];
const CASES = FULL ? 60 : 8;

describe.skipIf(LIBRARIES.length === 0)(`dense matrices over ranks${MISSING}`, () => {
  test.each(JOBS)("%s, %i ranks: random cases have the bits of the synchronous functions", { timeout: 300_000 }, async (library, ranks) => {
    const job = await runJob(library, ranks, "dense.mjs", [String(100 + ranks), String(CASES)]);
    expect(job.err + job.out).toContain(`cases ${6 * CASES}`);
    expect(job.code).toBe(0);
  });

  test("ranks with different engines return the same bits", { timeout: 300_000 }, async () => {
    const job = await runJob(first as MpiLibrary, 3, "dense.mjs", ["7", "6"], { env: { HALFULP_TEST_ENGINES: "wasm,threads,auto" } });
    expect(job.err + job.out).toContain("cases 36");
    expect(job.code).toBe(0);
  });

  test.each(LIBRARIES.flatMap((library) => [1, 3].map((ranks): [MpiLibrary, number] => [library, ranks])))(
    "%s, %i ranks: bad arguments are refused by every rank",
    { timeout: 120_000 },
    async (library, ranks) => {
      const folder = mkdtempSync(join(tmpdir(), "halfulp-ranks-"));
      const job = await runJob(library, ranks, "denseErrors.mjs", [folder], { seconds: 60 });
      rmSync(folder, { recursive: true });
      expect(job.err + job.out).toContain("errors ");
      expect(job.code).toBe(0);
    },
  );
});
