// Which stages a sum goes through, when others like it came before.
import { expect, test } from "vitest";
import { reduce } from "../../src/dense/reduce.ts";
import type { VectorKernels } from "../../src/engines/kernels.ts";
import { illConditionedDot } from "../../src/index.ts";
import { kernels, Random } from "../../src/study.ts";

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
