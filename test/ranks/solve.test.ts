// solve() and factor() over ranks: the bits of one machine, whichever stage decides, and errors on all ranks.
import { describe, expect, test } from "vitest";
import { cases, SEED } from "../effort.ts";
import { jobs, LIBRARIES, MISSING, type MpiLibrary, runJob, UNLIKE_ENGINES } from "./job.ts";

describe.skipIf(MISSING !== "")(`solve over ranks, seed ${SEED}${MISSING}`, () => {
  test.each(jobs([1, 2, 3]))(
    "%s, %i ranks: x, its proof and its measures are those of one machine",
    { timeout: 600_000 },
    async (library, ranks) => {
      const job = await runJob(library, ranks, "solve.mjs", [String(SEED + ranks), String(ranks > 2 ? cases(18, 9) : cases(36, 18))], {
        seconds: 500,
      });
      expect(job.err + job.out).toMatch(/cases \d\d/);
      expect(job.code, job.err).toBe(0);
    },
  );

  test.each([1, 2, 3])("%i ranks: the inverses of the factors keep the bounds of the proofs", async (ranks) => {
    const job = await runJob(LIBRARIES[0] as MpiLibrary, ranks, "inverses.mjs");
    expect(job.err + job.out).toContain("orders 5");
    expect(job.code, job.err).toBe(0);
  });

  test(`ranks with the engines ${UNLIKE_ENGINES} return the same bits`, { timeout: 300_000 }, async () => {
    const env = { HALFULP_TEST_ENGINES: UNLIKE_ENGINES.join(",") };
    const job = await runJob(LIBRARIES[0] as MpiLibrary, 3, "solve.mjs", [String(SEED), "9"], { env });
    expect(job.err + job.out).toMatch(/cases \d\d/);
    expect(job.code, job.err).toBe(0);
  });

  test.each(LIBRARIES)(
    "%s: bad arguments, aborts and callbacks that throw end the call on every rank",
    { timeout: 120_000 },
    async (library) => {
      const { code, out, err } = await runJob(library, 3, "solveErrors.mjs", [], { seconds: 100 });
      expect(code, err).toBe(0);
      const of = (rank: number): Record<string, string> =>
        Object.fromEntries(
          out
            .split("\n")
            .filter((line) => line.startsWith(`[${rank}] `))
            .map((line) => line.slice(4).split(/: (.*)/) as [string, string]),
        );
      const everywhere = {
        mixed: 'ShapeError: solve: method is "mixed", expected "auto", "double" or "exact": factors over ranks are binary64',
        wide: "ShapeError: solve: A is 2 by 3, expected a square matrix",
        "short b": "ShapeError: solve: b has length 29, expected 30 (the order of A)",
        "NaN in b": "ValueError: solve: entry 3 of b is NaN, expected a finite number",
        "the next call": "true modular",
        closed: "EngineError: solve: the ranks were closed",
      };
      for (const rank of [0, 1, 2]) {
        const found = of(rank);
        expect(found).toMatchObject(everywhere);
        expect(found["other b"]).toMatch(/^ShapeError: solve: rank 1 called solve\(.*b with hash .*, expected .* as on ranks 0 and 2$/);
        expect(found["other options"]).toMatch(
          /^ShapeError: solve: rank 1 called solve\(.*fallback false.*, expected .* as on ranks 0 and 2$/,
        );
        expect(found["no options"]).toMatch(/^ShapeError: solve: options /);
      }
      expect(of(1)["factors, mixed"]).toMatch(/^ShapeError: Factored.solve: method is "mixed"/);
      expect(of(0)["factors, mixed"]).toMatch(/^ShapeError: Factored.solve: rank 1 refused its arguments/);
      expect(of(1)["aborted before"]).toBe("Error: no more");
      expect(of(0)["aborted before"]).toBe("ShapeError: solve: rank 1 refused its arguments: no more");
      // The approximate solution of binary64 factors, on every rank.
      for (const rank of [0, 1, 2]) expect(of(rank).aborted).toBe("false double");
      for (const name of ["callback", "factor"]) {
        expect(of(1)[name]).toBe("Error: a callback failed");
        for (const rank of [0, 2]) expect(of(rank)[name]).toBe("HalfulpError: solve: rank 1 failed");
      }
    },
  );
});
