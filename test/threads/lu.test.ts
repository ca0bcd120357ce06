// exlu by several workers, who share blocks, panels and rows of U: bits, pivots and errors are those of the reference, for every number of
// workers, also with more workers than cores.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Engine, exluBatch, type Matrix, matrix, open } from "../../src/index.ts";
import { type Kernels, kernels, Random, routinesOn } from "../../src/study.ts";
import { caught } from "../caught.ts";
import { cases, FULL, SEED } from "../effort.ts";
import { storedBits } from "../hex.ts";

const reference = routinesOn(kernels("reference") as Kernels);
// Orders next to multiples of a group of 8 and of a block of 32 columns; wide and tall matrices.
const SHAPES = [
  [1, 1],
  [7, 7],
  [33, 33],
  [63, 65],
  [97, 95],
  [40, 150],
  [31, 97],
  [150, 41],
  [131, 131],
] as const;

type Make = (random: Random, rows: number, cols: number) => Float64Array;
const entries = (rows: number, cols: number, entry: (i: number, j: number) => number): Float64Array =>
  Float64Array.from({ length: rows * cols }, (_, e) => entry(Math.floor(e / cols), e % cols));

const KINDS: Record<string, Make> = {
  random: (random, rows, cols) => entries(rows, cols, () => random.signed()),
  "small integers, with equal pivots": (random, rows, cols) => entries(rows, cols, () => random.below(3) - 1),
  "columns that move to coarser grids": (random, rows, cols) =>
    entries(rows, cols, (i, j) => (i === j ? 1 : j === cols - 1 ? 1 : i > j ? -1 : 0) + (random.below(4) ? 0 : 2 ** -40)),
  "entries far apart": (random, rows, cols) => entries(rows, cols, () => random.signed() * 2 ** (random.below(201) - 100)),
};

// Factors and pivots, or what the error says.
async function outcome(call: () => unknown): Promise<string> {
  try {
    const { lu, pivots } = (await call()) as { lu: Matrix; pivots: Int32Array };
    return `${storedBits(lu.data)} ${pivots}`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each([1, 2, 3, 7, 16])(`exlu on %i threads, HALFULP_SEED=${SEED}`, (threads) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open("threads", { threads });
  });
  afterAll(() => engine.close());

  test.each(Object.entries(KINDS))("has the bits of the reference: %s", async (_, make) => {
    const random = new Random(SEED);
    for (const [rows, cols] of SHAPES) {
      const A = matrix(make(random, rows, cols), rows, cols);
      expect(await outcome(() => engine.exlu(A))).toBe(await outcome(() => reference.exlu(A)));
    }
  });

  test("reports the first zero pivot or overflow, wherever others come later", async () => {
    const random = new Random(SEED);
    const [rows, cols] = [101, 130];
    const faults = [
      { 70: 0 },
      { 31: 0, 32: 2 ** 1023.9 },
      { 33: 2 ** 1023.9, 40: 0 },
      { 90: 2 ** 1023.9, 64: 2 ** 1023.9 },
      { 129: 2 ** 1023.9 },
    ];
    for (const scale of faults as Record<number, number>[]) {
      const A = matrix(
        entries(rows, cols, (_, j) => random.signed() * (scale[j] ?? 1)),
        rows,
        cols,
      );
      const error = caught(() => reference.exlu(A));
      expect(error).toBeInstanceOf(Error);
      expect(await outcome(() => engine.exlu(A))).toBe((error as Error).message);
    }
  });

  test("is the same every time", async () => {
    const random = new Random(SEED);
    const n = FULL ? 333 : 203;
    const data = entries(n, n, () => random.signed());
    const want = storedBits(exluBatch(data, n, 1).lu).join();
    for (let k = 0; k < cases(40, 4); k++) expect(storedBits((await engine.exlu(matrix(data, n, n))).lu.data).join()).toBe(want);
  });
});
