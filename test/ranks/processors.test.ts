// Whether every rank has a core (src/ranks/mpi/processors.ts): waits spin if so.
import { availableParallelism } from "node:os";
import { describe, expect, test } from "vitest";
import { processors } from "../../src/ranks/mpi/processors.ts";
import { LIBRARIES, MISSING, runJob } from "./job.ts";

const BOUND = { OMPI_MCA_hwloc_base_binding_policy: "hwthread", OMPI_MCA_hwloc_base_use_hwthreads_as_cpus: "1" };

async function ranksOf(library: (typeof LIBRARIES)[number], ranks: number, env: Record<string, string>) {
  const { code, out, err } = await runJob(library, ranks, "patience.mjs", [], { env });
  expect(code, err).toBe(0);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { spin: number; processors: number });
}

test("there are as many processors as threads can run at once", () => {
  expect(processors().length).toBe(availableParallelism());
});

describe.skipIf(MISSING)(`ranks and processors${MISSING}`, () => {
  const cores = availableParallelism();

  test.each(LIBRARIES)("one rank per processor spins while it waits, %s", async (library) => {
    for (const { spin } of await ranksOf(library, Math.min(cores, 2), {})) expect(spin).toBe(10);
  });

  test.skipIf(!LIBRARIES.includes("openmpi") || cores < 2)("also if each rank is bound to a processor of its own", async () => {
    const ranks = await ranksOf("openmpi", 2, BOUND);
    expect(ranks).toEqual([
      { spin: 10, processors: 1 },
      { spin: 10, processors: 1 },
    ]);
  });

  test.each(LIBRARIES)("more ranks than processors do not spin, %s", async (library) => {
    for (const { spin } of await ranksOf(library, cores + 1, {})) expect(spin).toBeLessThan(1);
  });
});
