// Lines as they are stored: where they end without the diagonal, and which do not need the one before, by the kernel and its twin
// against the definition, on random triangles.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StoredLines, SystemKernels } from "../../src/engines/kernels.ts";
import { reference } from "../../src/engines/reference.ts";
import type { ThreadKernels } from "../../src/engines/threads/index.ts";
import { csr, open, SingularError, type Sparse, sptrsv } from "../../src/index.ts";
import { Block } from "../../src/sparse/storage.ts";
import { onThreads, Random } from "../../src/study.ts";
import { range } from "../oracles/matrices.ts";

let threads: ThreadKernels;
beforeAll(async () => {
  threads = await onThreads(2);
});
afterAll(() => threads.close());

type Flags = Pick<StoredLines, "upper" | "before" | "byRows">;

interface Problem extends Flags {
  readonly unit: boolean;
  readonly type: typeof Float64Array | typeof Float32Array;
  readonly lines: readonly (readonly (readonly [index: number, value: number])[])[];
}

// Most lines have their diagonal, and beside it their neighbour; some values are zeros.
function problem(random: Random, n: number): Problem {
  const [upper, byRows, unit, single] = range(4).map(() => random.below(2) === 1) as [boolean, boolean, boolean, boolean];
  const before = byRows !== upper;
  const isThere = (l: number, m: number): boolean => {
    if (before ? m > l : m < l) return false;
    return random.below(10) < (Math.abs(l - m) < 2 ? 9 : 2);
  };
  const value = (): number => [0, -0, 1, -2.5, Number.NaN][random.below(5)] as number;
  const lines = range(n).map((l) => range(n).flatMap((m) => (isThere(l, m) ? [[m, value()] as const] : [])));
  return { upper, before, byRows, unit, type: single ? Float32Array : Float64Array, lines };
}

interface Found {
  readonly count: number;
  readonly bounds: readonly number[];
  readonly diagonal: readonly number[];
  readonly breaks: readonly number[];
}

function byDefinition({ upper, before, byRows, unit, lines }: Problem, from: number, to: number): Found {
  const n = lines.length;
  const [bounds, diagonal, breaks] = [new Array(n).fill(-7), new Array(n).fill(7), [] as number[]];
  let count = 0;
  for (const k of range(to).slice(from)) {
    const l = upper ? n - 1 - k : k;
    const line = lines[l] as Problem["lines"][number];
    const first = lines.slice(0, l).flat().length;
    const own = line.find(([m]) => m === l);
    if (own && !unit) diagonal[l] = own[1];
    if (own && own[1] !== 0) count++;
    bounds[l] = before ? first + line.length - (own ? 1 : 0) : first + (own ? 1 : 0);
    if (!line.some(([m]) => m === (before ? l - 1 : l + 1))) breaks.push(byRows ? k : k + 1);
  }
  return { count, bounds, diagonal: unit ? [] : diagonal, breaks };
}

function byKernels(kernels: Pick<SystemKernels, "reserve" | "bound">, one: Problem, from: number, to: number): Found {
  const { upper, before, byRows, unit, type, lines } = one;
  const n = lines.length;
  const entries = lines.flat();
  const sizes = [4 * (n + 1), 4 * n, 8 * n, 4 * entries.length, 8 * entries.length];
  const block = new Block((bytes) => kernels.reserve("test", bytes), sizes);
  const pointers = block.integers(n + 1);
  const bounds = block.integers(n).fill(-7);
  const diagonal = unit ? undefined : block.reals(new type(), n).fill(7);
  const indices = block.integers(entries.length);
  const values = block.reals(new type(), entries.length);
  for (const l of range(n + 1)) pointers[l] = lines.slice(0, l).flat().length;
  indices.set(entries.map(([m]) => m));
  values.set(entries.map(([, v]) => v));
  const breaks = new Int32Array(n + 1);
  const count = kernels.bound({ n, upper, before, byRows, pointers, indices, values, diagonal, bounds }, from, to, breaks);
  const found = { count, bounds: [...bounds], diagonal: [...(diagonal ?? [])], breaks: [...breaks.subarray(1, 1 + (breaks[0] as number))] };
  block.reserved.free();
  return found;
}

describe.each([1, 2, 5, 40])("of %i lines", (n) => {
  test.each(range(30))("seed %i", (seed) => {
    const random = new Random(1000 * n + seed);
    const one = problem(random, n);
    const from = random.below(n);
    const to = from + 1 + random.below(n - from);
    const want = byDefinition(one, from, to);
    expect(byKernels(reference, one, from, to), "twin").toEqual(want);
    expect(byKernels(threads, one, from, to), "kernel").toEqual(want);
  });
});

test("entries of the other triangle are seen", () => {
  for (const before of [false, true]) {
    const lines = [[[0, 1]], [[before ? 2 : 0, 1]], [[2, 1]]] as const;
    const one = { upper: !before, before, byRows: true, unit: false, type: Float64Array, lines };
    for (const kernels of [reference, threads]) expect(byKernels(kernels, one, 0, 3).count).toBe(-1);
  }
});

test("a triangle as it is stored, with a zero on its diagonal, is refused", async () => {
  const engine = await open("threads", { threads: 2 });
  for (const type of [Float64Array, Float32Array]) {
    const A = csr(3, 3, Int32Array.of(0, 1, 3, 5), Int32Array.of(0, 0, 1, 1, 2), type.of(4, 1, -0, 3, 5)) as Sparse;
    expect(() => sptrsv(A)).toThrow(SingularError);
    await expect(engine.sptrsv(A, { schedule: "gsf" })).rejects.toThrow("entry (1, 1) of A is 0");
  }
  await engine.close();
});
