import { type Pattern, transposed } from "../../arrays/sparse.ts";
import { newIntegers } from "../../arrays/vectors.ts";
import type { SystemKernels } from "../../engines/kernels.ts";
import type { Allocation } from "../../engines/memory.ts";
import { placesOf } from "./analysis.ts";
import { Block, type Reserve } from "./storage.ts";
import type { Lines, Runs } from "./tasks.ts";

/** Which runs wait for which, and the runs by levels. */
export interface Graph {
  readonly levels: number;
  readonly ilev: Int32Array;
  readonly sequence: Int32Array;
  readonly counts: Int32Array;
  readonly targets: Int32Array;
  readonly list: Int32Array;
}

/** The graph of the runs of a system, whose lines are rows, which name what they wait for, or columns, which name what waits for them. */
export function graphOf(kernels: Finder, lines: Lines, runs: Runs, columns: boolean): Graph {
  const count = runs.starts.length - 1;
  const along = neighbours(kernels, lines, runs);
  const across = transposed("sptrsv", along, count);
  const [before, after] = columns ? [across, along] : [along, across];
  const counts = newIntegers("sptrsv", count);
  const lev = newIntegers("sptrsv", count);
  let levels = 0;
  for (let run = 0; run < count; run++) {
    const first = before.pointers[run] as number;
    const end = before.pointers[run + 1] as number;
    counts[run] = end - first;
    let level = 0;
    for (let p = first; p < end; p++) level = Math.max(level, (lev[before.indices[p] as number] as number) + 1);
    lev[run] = level;
    levels = Math.max(levels, level + 1);
  }
  const ilev = placesOf(lev, levels);
  const sequence = newIntegers("sptrsv", count);
  for (let run = 0; run < count; run++) sequence[lev[run] as number] = run;
  return { levels, ilev, sequence, counts, targets: after.pointers, list: after.indices };
}

/** What finds the neighbours of runs, in memory that it can reach. */
export interface Finder extends Pick<SystemKernels, "neighbours"> {
  readonly reserve: Reserve;
  readonly giveBack: (reserved: Allocation<Uint8Array>) => void;
}

// Neighbours of a run that there is room for on the average: a line of a grid with 27 points leads to four others. Where there are
// more the kernel is called again.
const NEAR = 8;

// The other runs that the entries of each run lead to, each once.
function neighbours({ reserve, giveBack, neighbours: find }: Finder, lines: Lines, runs: Runs): Pattern {
  const { n, upper, order, begins, indices } = lines;
  const count = runs.starts.length - 1;
  const lengths = [count + 1, runs.lookup.length, count, count + 1, NEAR * count];
  const block = new Block(
    reserve,
    lengths.map((length) => 4 * length),
  );
  const [starts, lookup, seen, pointers, near] = lengths.map((length) => block.integers(length)) as Five;
  starts.set(runs.starts);
  lookup.set(runs.lookup);
  seen.fill(-1);
  pointers[0] = 0;
  const graph = { n, reversed: upper && !order, begins, indices, starts, lookup, seen, pointers, near };
  const found: Int32Array[] = [];
  for (let run = 0, first = 0; run < count; first = run) {
    run = find(graph, first);
    found.push(near.slice(0, (pointers[run] as number) - (pointers[first] as number)));
  }
  const along = { pointers: pointers.slice(), indices: joined(found) };
  giveBack(block.reserved);
  return along;
}
type Five = [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];

function joined(parts: readonly Int32Array[]): Int32Array {
  const all = newIntegers(
    "sptrsv",
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
