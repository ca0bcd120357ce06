// How rows in natural order are divided into blocks: into those of the size for which the workers are expected to be done first. Called by
// plan.ts. Large blocks cost less to hand out; small ones depend less on each other and keep more workers busy.
import { type Graph, type GraphKernels, graphOf, mergedGraph, orderByLevels } from "./graph.ts";
import { timeByBarriers, timeByFlags, totalWork } from "./simulation.ts";
import { type Blocks, mergeBlocks, type SystemPattern, splitBlocks } from "./tasks.ts";

/** Blocks, their order by levels, and how many times faster than one the workers are expected to be. */
export interface Division {
  readonly graph: Graph;
  readonly sequence: Int32Array;
  readonly ilev: Int32Array;
  readonly speedup: number;
}

// Rows in larger blocks than those that are given, and in smaller ones. (7 points on 128^3, 16 threads, exact, ms: 7.9 with
// blocks of 128 rows, 7.2 with 256, 6.8 with 512, 8.0 with 1024. 4 threads, plain: 11.6, 9.5, 9.0, 8.5.)
const LARGE = 1024;
const LARGER = [256, 512];
const SMALLER = [64, 32];
// The part of the best possible speedup that ends the search: to find the graph of small blocks takes longer than that of large ones.
const ENOUGH = 0.9;

/** The best division of a system that is already divided into blocks of up to 128 rows. */
export function divide(
  kernels: GraphKernels,
  pattern: SystemPattern,
  blocks: Blocks,
  how: { readonly columns: boolean; readonly barriers: boolean; readonly workers: number },
): Division {
  const dividedInto = (size: Blocks): Division => divisionOf(graphOf(kernels, pattern, size, how.columns), how);
  const large = dividedInto(mergeBlocks(blocks, LARGE));
  if (large.speedup >= ENOUGH * how.workers) return large;
  const medium = dividedInto(blocks);
  let best = faster(medium, large);
  let { graph } = medium;
  for (const rows of LARGER) {
    graph = mergedGraph(graph, mergeBlocks(graph.blocks, rows));
    best = faster(best, divisionOf(graph, how));
  }
  if (best !== medium) return best;
  for (const rows of SMALLER) {
    const smaller = dividedInto(splitBlocks(blocks, rows));
    if (faster(best, smaller) === best) break;
    best = smaller;
  }
  return best;
}

function divisionOf(graph: Graph, { barriers, workers }: { readonly barriers: boolean; readonly workers: number }): Division {
  const { sequence, ilev } = orderByLevels(graph);
  const time = barriers ? timeByBarriers(graph, sequence, ilev, workers) : timeByFlags(graph, sequence, workers);
  return { graph, sequence, ilev, speedup: totalWork(graph) / time };
}

function faster(a: Division, b: Division): Division {
  return b.speedup > a.speedup ? b : a;
}
