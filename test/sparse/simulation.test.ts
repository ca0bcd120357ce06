// The times that are expected of blocks on several workers, the sizes of blocks that follow from them, and what "auto" makes of it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sparse } from "../../src/arrays/types.ts";
import { reference } from "../../src/engines/reference/index.ts";
import { csr, laplacian } from "../../src/index.ts";
import { chooseBlocks, chooseEarly, chooseLevels } from "../../src/routines/sparse/choice.ts";
import { type Division, divide } from "../../src/routines/sparse/division.ts";
import { type Graph, type GraphKernels, graphOf, mergedGraph, orderByLevels, waitLists } from "../../src/routines/sparse/graph.ts";
import { timeByBarriers, timeByFlags, totalWork } from "../../src/routines/sparse/simulation.ts";
import { type Blocks, equalBlocks, findBlocks, mergeBlocks, type SystemPattern, splitBlocks } from "../../src/routines/sparse/tasks.ts";
import { type Engine, engineOf, openThreads, Random } from "../../src/study.ts";
import { range } from "../oracles/matrices.ts";
import { triangleOf } from "./patterns.ts";

const kernels: GraphKernels = {
  neighbours: (...args) => reference.neighbours(...args),
  reserve: (bytes) => reference.memory.reserve("test", bytes),
  release: (memory) => memory.free(),
};

// Blocks with this much work each, which wait for the given ones.
function graph(work: number, waitsFor: readonly (readonly number[])[]): Graph {
  const pointers = Int32Array.from([0, ...waitsFor.keys()].map((_, k) => waitsFor.slice(0, k).flat().length));
  return {
    blocks: equalBlocks(waitsFor.length, 1),
    costs: new Float64Array(waitsFor.length).fill(work),
    dependencies: { pointers, indices: Int32Array.from(waitsFor.flat()) },
  };
}
// Planes of `slabs` blocks; each waits for the one before it and the same one in the plane before.
const pipeline = (slabs: number, planes: number): number[][] =>
  range(slabs * planes).map((k) => [...(k % slabs > 0 ? [k - 1] : []), ...(k >= slabs ? [k - slabs] : [])]);
const chain = (n: number): number[][] => range(n).map((k) => (k > 0 ? [k - 1] : []));

function speedup(of: Graph, workers: number): number {
  return totalWork(of) / timeByFlags(of, orderByLevels(of).sequence, workers);
}

const patternOf = ({ rows: n, pointers: begins, indices }: Sparse, upper = false): SystemPattern => ({
  n,
  upper,
  begins,
  ends: begins.subarray(1),
  indices,
  order: undefined,
  diagonalAt: undefined,
});
const lower = (...sizes: [number, number, number?]): SystemPattern => patternOf(triangleOf(laplacian(...sizes), false));

describe("the expected time", () => {
  const work = 1e6; // handing out a block costs nothing in comparison

  test.each([1, 2, 3, 16])("of independent blocks on %i workers: each has its share", (workers) => {
    const found = speedup(
      graph(
        work,
        range(50 * workers).map(() => []),
      ),
      workers,
    );
    expect(found).toBeGreaterThan(0.97 * workers);
    expect(found).toBeLessThan(1.03 * workers);
  });

  test("of a chain does not depend on the number of workers", () => {
    const times = [1, 2, 16].map((workers) => timeByFlags(graph(work, chain(100)), Int32Array.from(range(100)), workers));
    expect(times).toEqual([times[0], times[0], times[0]]);
    expect((times[0] as number) / (100 * work)).toBeCloseTo(1, 1);
  });

  // 16 slabs take 128 + 15 steps where 128 are enough for the work; with fewer workers than slabs the pipeline fills and empties sooner.
  test.each([
    [16, 0.75, 128 / 143],
    [12, 0.8, 0.95],
    [4, 0.95, 1],
  ])("of a pipeline of 16 slabs on %i workers", (workers, least, most) => {
    const found = speedup(graph(work, pipeline(16, 128)), workers) / workers;
    expect(found).toBeGreaterThan(least);
    expect(found).toBeLessThan(most);
  });

  test("grows with the number of blocks and of those they wait for", () => {
    const free = graph(10, [[], [], [], []]);
    const order = Int32Array.from(range(4));
    const alone = timeByFlags(free, order, 1);
    expect(alone).toBeGreaterThan(40);
    expect(timeByFlags(graph(10, [[], [0], [0, 1], [0, 1, 2]]), order, 1)).toBeGreaterThan(alone);
    expect(timeByFlags(graph(20, [[], []]), order.subarray(0, 2), 1)).toBeLessThan(alone);
  });

  test("with barriers is that of the longest share of every level", () => {
    const { sequence, ilev } = orderByLevels(graph(work, pipeline(4, 4)));
    const steps = [1, 2, 3, 4, 3, 2, 1]; // blocks per level
    for (const workers of [1, 2, 3, 4]) {
      const rounds = steps.reduce((sum, blocks) => sum + Math.ceil(blocks / workers), 0);
      expect(timeByBarriers(graph(work, pipeline(4, 4)), sequence, ilev, workers) / work).toBeCloseTo(rounds, 1);
    }
  });

  test("of nothing is nothing but overhead", () => {
    expect(timeByFlags(graph(1, []), new Int32Array(0), 4)).toBe(0);
    expect(timeByBarriers(graph(1, []), new Int32Array(0), Int32Array.of(0), 4)).toBe(0);
  });
});

describe("blocks", () => {
  test.each(range(20))("merged after the graph was found have the graph of merged blocks, seed %i", (seed) => {
    const random = new Random(seed);
    const n = 1 + random.below(300);
    const lines = range(n).map((k) => range(k).filter(() => random.below(20) === 0));
    const ends = lines.map((_, k) => lines.slice(0, k + 1).flat().length);
    const of = patternOf(csr(n, n, Int32Array.from([0, ...ends]), Int32Array.from(lines.flat()), new Float64Array(ends.at(-1) as number)));
    const small = equalBlocks(n, 1 + random.below(20));
    const large = mergeBlocks(small, 1 + random.below(60));
    const [merged, direct] = [mergedGraph(graphOf(kernels, of, small, false), large), graphOf(kernels, of, large, false)];
    expect(sets(merged)).toEqual(sets(direct));
    expect(merged.costs).toEqual(direct.costs);
    expect(totalWork(direct)).toBe(n + lines.flat().length);
  });

  test("of an upper triangle have the work of their rows, the last rows first", () => {
    const A = csr(4, 4, Int32Array.of(0, 3, 4, 5, 5), Int32Array.of(1, 2, 3, 2, 3), new Float64Array(5));
    const { costs, dependencies } = graphOf(kernels, patternOf(A, true), equalBlocks(4, 2), false);
    expect([...costs]).toEqual([3, 6]);
    expect([...dependencies.indices]).toEqual([0]);
  });

  test("are split without gaps, none larger than it may be", () => {
    const { starts } = splitBlocks(mergeBlocks(equalBlocks(1000, 7), 90), 32);
    const sizes = range(starts.length - 1).map((k) => (starts[k + 1] as number) - (starts[k] as number));
    expect(sizes.reduce((a, b) => a + b)).toBe(1000);
    expect(Math.max(...sizes)).toBe(32);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    expect([...splitBlocks(equalBlocks(0, 1), 32).starts]).toEqual([0]);
  });

  test("wait for blocks that are taken before them", () => {
    const of = graph(1, pipeline(5, 7));
    const { sequence } = orderByLevels(of);
    const { targets, list } = waitLists(of, sequence);
    for (const [k, block] of sequence.entries()) {
      const waits = list.slice(targets[k], targets[k + 1]);
      expect(waits.every((other) => other < k)).toBe(true);
      expect([...waits].map((other) => sequence[other]).sort()).toEqual((pipeline(5, 7)[block] as number[]).sort());
    }
    expect(waitLists(of)).toEqual({ targets: of.dependencies.pointers, list: of.dependencies.indices });
  });
});

function sets({ dependencies: { pointers, indices } }: Graph): number[][] {
  return range(pointers.length - 1).map((k) => [...indices.slice(pointers[k], pointers[k + 1])].sort((a, b) => a - b));
}

describe("the division", () => {
  const of = (pattern: SystemPattern, workers: number, barriers = false): Division =>
    divide(kernels, pattern, findBlocks(pattern, false, 128), { columns: false, barriers, workers });
  const rowsOf = ({ blocks: { starts } }: { blocks: Blocks }): number => (starts.at(-1) as number) / (starts.length - 1);

  test("of a grid in space has larger blocks for fewer workers", () => {
    const grid = lower(64, 64, 64);
    const rows = [2, 4, 8, 16].map((workers) => rowsOf(of(grid, workers).graph));
    expect(rows).toEqual([...rows].sort((a, b) => b - a));
    expect(rows[0]).toBeGreaterThan(rows[3] as number);
  });

  test("of a grid in the plane has blocks of less than a line", () => {
    const { graph: found, speedup: times } = of(lower(512, 512), 8);
    expect(rowsOf(found)).toBeLessThan(128);
    expect(times).toBeGreaterThan(1.5);
  });

  test("promises less than the number of workers, and hardly ever less of more workers", () => {
    const grid = lower(40, 41, 43);
    let before = 0;
    for (const workers of [1, 2, 4, 8, 12, 15, 16]) {
      const { speedup: times } = of(grid, workers);
      expect(times).toBeLessThan(workers);
      expect(times).toBeGreaterThan(0.95 * before);
      before = times;
    }
  });

  test("of a chain gains nothing, by flags or by barriers", () => {
    for (const barriers of [true, false]) expect(of(lower(5000, 1), 4, barriers).speedup).toBeLessThan(1);
  });

  test("chooses blocks if they keep workers busy, levels if there are many rows in each, or one thread", () => {
    const early = chooseEarly({}, 4, 1e6);
    const [grid, line] = [of(lower(64, 64, 64), 4), of(lower(5000, 1), 4)];
    expect(chooseBlocks(early, grid, 4)).toMatchObject({
      schedule: "slfr",
      reason: expect.stringMatching(/: 4 threads should be 3\.\d times as fast as one$/),
    });
    expect(chooseBlocks({ schedule: "levr", reason: "asked for" }, grid, 4)).toEqual({ schedule: "levr", reason: "asked for" });
    expect(chooseBlocks(early, line, 4)).toBeUndefined();
    expect(chooseLevels(early, 5000, () => 10, line, 4)).toMatchObject({ schedule: "slfr", by: "levels" });
    expect(chooseLevels(early, 5000, () => 5000, line, 4)).toMatchObject({ schedule: "serial", by: "rows" });
    expect(chooseLevels(early, 5000, () => 5000, { ...line, speedup: 1.5 }, 4)).toMatchObject({ schedule: "slfr", by: "blocks" });
    expect(chooseLevels({ schedule: "slfc", reason: "asked for" }, 5000, () => 5000, line, 4)).toMatchObject({
      schedule: "slfc",
      by: "levels",
    });
  });

  test("is not tried with too little work", () => {
    expect(chooseEarly({}, 16, 2 ** 17).schedule).toBeUndefined();
    expect(chooseEarly({}, 16, 2 ** 17 - 1)).toMatchObject({ schedule: "serial" });
  });
});

describe("auto on 16 threads", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = engineOf(await openThreads(16));
  });
  afterAll(() => engine.close());

  test.each([
    ["a grid in space", () => laplacian(64, 64, 64), "slfr"],
    ["a grid in the plane", () => laplacian(512, 512), "slfr"],
    ["a line", () => laplacian(200_000, 1), "serial"],
    [
      "independent rows",
      () => csr(200_000, 200_000, Int32Array.from(range(200_001)), Int32Array.from(range(200_000)), new Float64Array(200_000).fill(2)),
      "slfr",
    ],
  ] as const)("%s", async (_, make, schedule) => {
    const plan = await engine.sptrsv(make());
    expect(plan.schedule, plan.reason).toBe(schedule);
    await plan.free();
  });
});
