// Which stages a sum goes through, when others like it came before.
import { expect, test } from "vitest";
import type { VectorKernels } from "../../src/engines/kernels.ts";
import { reduce } from "../../src/engines/reduce.ts";
import { illConditionedDot, matrix } from "../../src/index.ts";
import { kernels, type LocalKernels, Random, routinesOn } from "../../src/study.ts";
import { SELECTED_ENGINES } from "../engines.ts";
import { storedBits } from "../hex.ts";

test("sums that cancel again and again meet the filter once in 64, until one shows that it need not have", () => {
  const engine = kernels("wasm-dekker") as VectorKernels;
  let filtered = 0;
  const counting = {
    enclose(...args: Parameters<VectorKernels["enclose"]>) {
      filtered++;
      engine.enclose(...args);
    },
    accumulate: (...args: Parameters<VectorKernels["accumulate"]>) => engine.accumulate(...args),
  } as VectorKernels;
  const n = 2000;
  const random = new Random(1);
  const hard = illConditionedDot(n, 1e30, 1);
  const well = Float64Array.from({ length: n }, () => random.signed());
  const dot = (x: Float64Array, y: Float64Array): number => reduce(counting, "dot", x, y, false, "nearest", "binary64");

  for (const expected of [1, 2, ...new Array(63).fill(2), 3, ...new Array(63).fill(3), 4, 4]) {
    expect(dot(hard.x, hard.y)).toBe(hard.dot);
    expect(filtered).toBe(expected);
  }
  const squares = dot(well, well);
  expect(filtered).toBe(4);
  expect(dot(well, well)).toBe(squares);
  expect(filtered).toBe(5);
  expect(dot(hard.x, hard.y)).toBe(hard.dot);
  expect(filtered).toBe(6);
});

// Tiles are 128 columns wide: after two of which the filter proves nothing, the next ones are left to the ladder.
test("exgemm, tile after tile of entries that cancel, and then some that do not", async () => {
  const [k, cols, hardCols] = [120, 1300, 1100];
  const random = new Random(2);
  const { x, y } = illConditionedDot(k, 1e30, 2);
  const entry = (i: number, j: number): number => (j < hardCols ? (y[i] as number) * 2 ** ((j % 21) - 10) : random.signed());
  const A = matrix(
    Float64Array.from({ length: 2 * k }, (_, i) => (x[i % k] as number) * (i < k ? 1 : -8)),
    2,
    k,
  );
  const B = matrix(
    Float64Array.from({ length: k * cols }, (_, i) => entry(Math.floor(i / cols), i % cols)),
    k,
    cols,
  );
  const start = Float64Array.from({ length: 2 * cols }, () => random.signed());
  for (const [alpha, beta] of [
    [1, 0],
    [-1.5, 2],
  ] as const) {
    const expected = matrix(start.slice(), 2, cols);
    routinesOn(kernels("reference") as LocalKernels).exgemm(alpha, A, B, beta, expected);
    for (const { name, routines } of SELECTED_ENGINES) {
      const C = matrix(start.slice(), 2, cols);
      await routines.exgemm(alpha, A, B, beta, C);
      expect(storedBits(C.data), `${name}, alpha ${alpha}`).toEqual(storedBits(expected.data));
    }
  }
});
