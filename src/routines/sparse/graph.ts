// The dependency graph of the blocks of a system, and the blocks by levels. plan.ts calls it for the schedules of Algorithms 1 to 4 of the
// sparse paper, whose graph has a node for every row.
import { type Pattern, transposed } from "../../arrays/sparse.ts";
import { newIntegers } from "../../arrays/vectors.ts";
import type { SystemKernels } from "../../engines/kernels.ts";
import type { Allocation } from "../../engines/memory.ts";
import { positionsByLevels } from "./analysis.ts";
import { type Reserve, ReservedArrays } from "./storage.ts";
import type { Blocks, SystemPattern } from "./tasks.ts";

/** Blocks, the work of each (rows and entries), and the earlier blocks that each waits for. */
export interface Graph {
  readonly blocks: Blocks;
  readonly costs: Float64Array;
  readonly dependencies: Pattern;
}

/** The graph of the blocks of a system. Rows refer to the unknowns they wait for, columns to those that wait for them. */
export function graphOf(kernels: GraphKernels, pattern: SystemPattern, blocks: Blocks, columns: boolean): Graph {
  const { n, upper, order, begins, ends } = pattern;
  const { starts } = blocks;
  const count = starts.length - 1;
  const references = neighbours(kernels, pattern, blocks);
  const costs = new Float64Array(count);
  for (let block = 0; block < count; block++) {
    const [first, end] = [starts[block] as number, starts[block + 1] as number];
    const [low, high] = upper && !order ? [n - end, n - first] : [first, end];
    // Entries of another triangle between the lines count too: they are read along with these.
    costs[block] = end - first + (high > low ? (ends[high - 1] as number) - (begins[low] as number) : 0);
  }
  return { blocks, costs, dependencies: columns ? transposed("sptrsv", references, count) : references };
}

/** The graph of larger blocks, each of which consists of blocks of the given graph. */
export function mergedGraph({ blocks, costs, dependencies }: Graph, merged: Blocks): Graph {
  const { starts } = blocks;
  const count = merged.starts.length - 1;
  const parts = starts.length - 1;
  const whole = newIntegers("sptrsv", parts);
  for (let part = 0, block = 0; part < parts; part++) {
    while ((merged.starts[block + 1] as number) <= (starts[part] as number)) block++;
    whole[part] = block;
  }
  const sums = new Float64Array(count);
  const visitedBy = newIntegers("sptrsv", count).fill(-1);
  const pointers = newIntegers("sptrsv", count + 1);
  const found: number[] = [];
  for (let part = 0, p = 0; part < parts; part++) {
    const block = whole[part] as number;
    sums[block] = (sums[block] as number) + (costs[part] as number);
    for (const end = dependencies.pointers[part + 1] as number; p < end; p++) {
      const other = whole[dependencies.indices[p] as number] as number;
      if (other === block || visitedBy[other] === block) continue;
      visitedBy[other] = block;
      found.push(other);
    }
    pointers[block + 1] = found.length;
  }
  return { blocks: merged, costs: sums, dependencies: { pointers, indices: Int32Array.from(found) } };
}

/** The blocks in the order of levels, and where the levels begin in it. */
export function orderByLevels({ costs, dependencies: { pointers, indices } }: Graph): { sequence: Int32Array; ilev: Int32Array } {
  const count = costs.length;
  const lev = newIntegers("sptrsv", count);
  let levels = 0;
  for (let block = 0; block < count; block++) {
    let level = 0;
    for (let p = pointers[block] as number; p < (pointers[block + 1] as number); p++)
      level = Math.max(level, (lev[indices[p] as number] as number) + 1);
    lev[block] = level;
    levels = Math.max(levels, level + 1);
  }
  const ilev = positionsByLevels(lev, levels);
  const sequence = newIntegers("sptrsv", count);
  for (let block = 0; block < count; block++) sequence[lev[block] as number] = block;
  return { sequence, ilev };
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

/** The blocks that each block waits for: see Tasks. */
export interface WaitLists {
  readonly targets: Int32Array;
  readonly list: Int32Array;
}

/**
 * For each block in the order in which they are taken, those it waits for, by their position in that order. Without `sequence` blocks are
 * taken in natural order.
 */
export function waitLists({ dependencies: { pointers, indices } }: Graph, sequence?: Int32Array): WaitLists {
  if (!sequence) return { targets: pointers, list: indices };
  const positions = newIntegers("sptrsv", sequence.length);
  for (let k = 0; k < sequence.length; k++) positions[sequence[k] as number] = k;
  const targets = newIntegers("sptrsv", pointers.length);
  const list = newIntegers("sptrsv", indices.length);
  let q = 0;
  for (let k = 0; k < sequence.length; k++) {
    const block = sequence[k] as number;
    for (let p = pointers[block] as number; p < (pointers[block + 1] as number); p++) list[q++] = positions[indices[p] as number] as number;
    targets[k + 1] = q;
  }
  return { targets, list };
}
