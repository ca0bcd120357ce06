// The dependency graph of the blocks of a system, and the blocks by levels. plan.ts calls it for the schedules of Algorithms 1 to 4 of the
// sparse paper, whose graph has a node for every row; the counters of slfr and slfc are the in-degrees of this one.
import { type Pattern, transposed } from "../../arrays/sparse.ts";
import { newIntegers } from "../../arrays/vectors.ts";
import type { SystemKernels } from "../../engines/kernels.ts";
import type { Allocation } from "../../engines/memory.ts";
import { positionsByLevels } from "./analysis.ts";
import { type Reserve, ReservedArrays } from "./storage.ts";
import type { Blocks, SystemPattern } from "./tasks.ts";

/** Which blocks wait for which, and the blocks by levels: see Tasks. */
export interface Graph {
  readonly levels: number;
  readonly ilev: Int32Array;
  readonly sequence: Int32Array;
  readonly counts: Int32Array;
  readonly targets: Int32Array;
  readonly list: Int32Array;
}

/** The graph of the blocks of a system. Rows refer to the unknowns they wait for, columns to those that wait for them. */
export function graphOf(kernels: GraphKernels, pattern: SystemPattern, blocks: Blocks, columns: boolean): Graph {
  const count = blocks.starts.length - 1;
  const references = neighbours(kernels, pattern, blocks);
  const reverse = transposed("sptrsv", references, count);
  const [dependencies, dependents] = columns ? [reverse, references] : [references, reverse];
  const counts = newIntegers("sptrsv", count);
  const lev = newIntegers("sptrsv", count);
  let levels = 0;
  for (let block = 0; block < count; block++) {
    const first = dependencies.pointers[block] as number;
    const end = dependencies.pointers[block + 1] as number;
    counts[block] = end - first;
    let level = 0;
    for (let p = first; p < end; p++) level = Math.max(level, (lev[dependencies.indices[p] as number] as number) + 1);
    lev[block] = level;
    levels = Math.max(levels, level + 1);
  }
  const ilev = positionsByLevels(lev, levels);
  const sequence = newIntegers("sptrsv", count);
  for (let block = 0; block < count; block++) sequence[lev[block] as number] = block;
  return { levels, ilev, sequence, counts, targets: dependents.pointers, list: dependents.indices };
}

/** The kernel that finds neighbours, and memory that it can access. */
export interface GraphKernels extends Pick<SystemKernels, "neighbours"> {
  readonly reserve: Reserve;
  readonly release: (memory: Allocation<Uint8Array>) => void;
}

// Room for neighbours per block, on average: a line of a 27-point grid refers to four others. If there are more, the kernel is called
// again.
const NEIGHBOURS_PER_BLOCK = 8;

// For each block, the other blocks that its entries refer to, each once.
function neighbours({ reserve, release, neighbours: find }: GraphKernels, pattern: SystemPattern, blocks: Blocks): Pattern {
  const { n, upper, order, begins, ends, indices } = pattern;
  const count = blocks.starts.length - 1;
  const lengths = [count + 1, blocks.lookup.length, count, count + 1, NEIGHBOURS_PER_BLOCK * count];
  const memory = new ReservedArrays(
    reserve,
    lengths.map((length) => 4 * length),
  );
  const [starts, lookup, visitedBy, pointers, adjacent] = lengths.map((length) => memory.integers(length)) as Five;
  starts.set(blocks.starts);
  lookup.set(blocks.lookup);
  visitedBy.fill(-1);
  pointers[0] = 0;
  const rowBlocks = { n, reversed: upper && !order, begins, ends, indices, starts, lookup, visitedBy, pointers, adjacent };
  const found: Int32Array[] = [];
  for (let block = 0, first = 0; block < count; first = block) {
    block = find(rowBlocks, first);
    found.push(adjacent.slice(0, (pointers[block] as number) - (pointers[first] as number)));
  }
  const references = { pointers: pointers.slice(), indices: concatenated(found) };
  release(memory.allocation);
  return references;
}
type Five = [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];

function concatenated(parts: readonly Int32Array[]): Int32Array {
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
