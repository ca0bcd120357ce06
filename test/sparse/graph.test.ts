// Which blocks of rows refer to which: the kernel and its twin against the definition, on random triangles and random blocks.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RowBlocks, SystemKernels } from "../../src/engines/kernels.ts";
import { LOOKUP_SHIFT } from "../../src/engines/lookup.ts";
import { reference } from "../../src/engines/reference/index.ts";
import type { ThreadKernels } from "../../src/engines/threads/index.ts";
import { ReservedArrays } from "../../src/routines/sparse/storage.ts";
import { openThreads, Random } from "../../src/study.ts";
import { range } from "../oracles/matrices.ts";

let threads: ThreadKernels;
beforeAll(async () => {
  threads = await openThreads(2);
});
afterAll(() => threads.close());

interface Problem {
  readonly reversed: boolean;
  readonly diagonal: boolean; // stored at the end of each line
  readonly lines: readonly (readonly number[])[];
  readonly starts: readonly number[];
}

// Lines lead to earlier unknowns or to later ones; some lead to none.
function problem(random: Random, n: number): Problem {
  const [before, reversed, diagonal] = [0, 0, 0].map(() => random.below(2) === 1) as [boolean, boolean, boolean];
  const density = [0.01, 0.1, 0.6][random.below(3)] as number;
  const lines = range(n).map((l) => range(n).filter((m) => (before ? m < l : m > l) && random.below(1000) < 1000 * density));
  const most = [1, 7, 40, 100][random.below(4)] as number;
  const starts = [0];
  while ((starts.at(-1) as number) < n) starts.push(Math.min(n, (starts.at(-1) as number) + 1 + random.below(most)));
  return { reversed, diagonal, lines, starts };
}

function byDefinition({ reversed, lines, starts }: Problem): number[][] {
  const n = lines.length;
  const placeOf = (i: number): number => (reversed ? n - 1 - i : i);
  const runOf = (i: number): number => starts.filter((start) => start <= placeOf(i)).length - 1;
  const found = range(starts.length - 1).map(() => new Set<number>());
  for (const [l, line] of lines.entries()) for (const m of line) if (runOf(m) !== runOf(l)) found[runOf(l)]?.add(runOf(m));
  return found.map((set) => [...set].sort((a, b) => a - b));
}

// With gaps, an entry that belongs to no line comes before each of them.
function byKernels(
  kernels: Pick<SystemKernels, "memory" | "neighbours">,
  { reversed, diagonal, lines, starts }: Problem,
  room: number,
  gaps = false,
) {
  const n = lines.length;
  const count = starts.length - 1;
  const stored = lines.map((line, l) => (diagonal ? [...line, l] : line));
  const blocks = Math.ceil(n / 2 ** LOOKUP_SHIFT);
  const lengths = [16, n + 1, n, stored.flat().length + (gaps ? n : 0), count + 1, blocks, count, count + 1, room];
  const memory = new ReservedArrays(
    (bytes) => kernels.memory.reserve("test", bytes),
    lengths.map((length) => 4 * length),
  );
  const [front, begins, apart, indices, ...rest] = lengths.map((length) => memory.integers(length)) as Int32Array[];
  const [start, lookup, visitedBy, pointers, adjacent] = rest;
  const ends = gaps ? apart : begins?.subarray(1);
  const runs = { n, reversed, begins, ends, indices, starts: start, lookup, visitedBy, pointers, adjacent } as RowBlocks;
  front?.fill(2 ** 20); // nobody looks there
  runs.begins[0] = 0;
  let at = 0;
  for (const [l, line] of stored.entries()) {
    if (gaps) runs.indices[at++] = (l * 7) % n;
    runs.begins[l] = at;
    runs.indices.set(line, at);
    at += line.length;
    runs.ends[l] = at;
  }
  runs.starts.set(starts);
  for (const k of range(blocks)) runs.lookup[k] = starts.filter((first) => first <= k << LOOKUP_SHIFT).length - 1;
  runs.visitedBy.fill(-1);
  runs.pointers[0] = 0;
  const found: number[][] = [];
  while (found.length < count) {
    const from = found.length;
    const to = kernels.neighbours(runs, from);
    expect(to).toBeGreaterThan(from);
    const first = runs.pointers[from] as number;
    for (const run of range(to).slice(from))
      found.push([...runs.adjacent.subarray((runs.pointers[run] as number) - first, (runs.pointers[run + 1] as number) - first)]);
  }
  memory.allocation.free();
  return found.map((list) => list.sort((a, b) => a - b));
}

describe.each([1, 2, 31, 64, 150])("of %i lines", (n) => {
  test.each(range(20))("seed %i", (seed) => {
    const one = problem(new Random(1000 * n + seed), n);
    const want = byDefinition(one);
    const count = one.starts.length - 1;
    for (const room of [count, 2 * count, count * count]) {
      expect(byKernels(reference, one, room), `twin, room for ${room}`).toEqual(want);
      expect(byKernels(threads, one, room), `kernel, room for ${room}`).toEqual(want);
      for (const kernels of [reference, threads]) expect(byKernels(kernels, one, room, true), "lines with gaps").toEqual(want);
    }
  });
});

test("one block without rows has no neighbours", () => {
  const none = { reversed: true, diagonal: false, lines: [], starts: [0, 0] };
  for (const kernels of [reference, threads]) expect(byKernels(kernels, none, 1)).toEqual([[]]);
});
