// Ranks that differ, fail or leave: no deadlock, and an error that names them. Every job has a time limit.
import { describe, expect, test } from "vitest";
import { launcher, loadLibrary } from "../../src/ranks/mpi/library.ts";
import { sample } from "../effort.ts";
import { LIBRARIES, MISSING, type MpiLibrary, runJob } from "./job.ts";

const linesOf = (out: string, rank: number): string[] =>
  out
    .split("\n")
    .filter((line) => line.startsWith(`[${rank}] `))
    .map((line) => line.slice(`[${rank}] `.length));

describe.skipIf(MISSING !== "")(`faults of ranks${MISSING}`, () => {
  describe.each(LIBRARIES)("%s", (library: MpiLibrary) => {
    const run = (kind: string, ranks = 3) => runJob(library, ranks, "faults.mjs", [kind], { seconds: 30 });

    test("calls that differ are a ShapeError on every rank that names those which differ, and the next call works", async () => {
      const { code, out, err } = await run("differ");
      expect(code, err).toBe(0);
      for (const rank of [0, 1]) {
        expect(linesOf(out, rank)).toEqual([
          "ShapeError: exasum: rank 2 called exsum(precision binary64, round nearest), expected exasum(precision binary64, round nearest) as on ranks 0 and 1",
          "ShapeError: exsum: rank 2 called exsum(precision binary64, round up), expected exsum(precision binary64, round down) as on ranks 0 and 1",
          "ShapeError: exsum: rank 2 called exsum(precision binary32, round nearest), expected exsum(precision binary64, round nearest) as on ranks 0 and 1",
          "ShapeError: exdot: rank 2 refused its arguments: exdot: y has length 2, expected 3 (the length of x)",
          "ShapeError: exsum: rank 2 refused its arguments: exsum: x is a plain array, expected a Float64Array or a Float32Array",
          "returned 18",
          "EngineError: exsum: the ranks were closed",
        ]);
      }
      expect(linesOf(out, 2).slice(3)).toEqual([
        "ShapeError: exdot: y has length 2, expected 3 (the length of x)",
        "ShapeError: exsum: x is a plain array, expected a Float64Array or a Float32Array",
        "returned 18",
        "EngineError: exsum: the ranks were closed",
      ]);
    });

    const endings = [
      ...["throws", "throws in an entry", "throws in onIteration", "closes alone"],
      ...["killed", "is killed in exlu", "is killed in cg", "is killed while others wait"],
      ...["leaves", "leaves before exlu", "leaves with calls under way"],
    ];
    test.each(library === LIBRARIES[0] ? endings : sample(endings, 3))(
      "a rank that %s ends the whole job with a code other than 0",
      async (kind) => {
        const { code, out, err } = await run(kind);
        expect(code, "the job was ended by its time limit").not.toBe(null);
        expect(code).not.toBe(0);
        expect(out).not.toMatch(/went on/);
        if (kind.startsWith("throws")) expect(err).toMatch(/this rank has a problem/);
      },
    );

    test("a program that does not close its ranks ends well", async () => {
      const { code, out, err } = await run("forgets");
      expect(code, err).toBe(0);
      expect(linesOf(out, 0)).toEqual(["returned 18"]);
    });

    test("ranks are opened once", async () => {
      const { out } = await run("twice", 2);
      expect(linesOf(out, 0)[0]).toMatch(/^EngineError: openRanks: the ranks of this process are open already/);
      expect(linesOf(out, 0)[1]).toMatch(/^EngineError: openRanks: the ranks of this process were closed/);
    });
  });
});

test("the launcher is known by its environment", () => {
  expect(launcher({ OMPI_COMM_WORLD_SIZE: "4" })).toEqual({ kind: "openmpi", rank: 0, size: 4 });
  expect(launcher({ PMI_SIZE: "3", PMI_RANK: "2" })).toEqual({ kind: "mpich", rank: 2, size: 3 });
  expect(launcher({ PMIX_RANK: "1", SLURM_NTASKS: "8" })).toEqual({ kind: "openmpi", rank: 1, size: 8 });
  expect(launcher({})).toEqual({ rank: 0, size: 1 });
});

test("a library that cannot be loaded is named in one line", async () => {
  const error = await loadLibrary("libnothing.so", {}).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: "EngineError", message: "openRanks: libnothing.so cannot be loaded" });
});
