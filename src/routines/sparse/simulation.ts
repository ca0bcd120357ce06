// How long the blocks of a graph would take on several workers: a simulation of slfr and slfc, and a sum over the levels for levr and levc.
// division.ts compares blocks of different sizes by it. The unit of time is the work of one row or one entry: 4 to 8 ns in exact arithmetic, 2
// to 4 in plain.
import type { Graph } from "./graph.ts";

// What a block costs besides its rows and entries: taking it, entering new pages, reading the unknowns of other blocks from the caches of
// other cores, and the delay between a flag and the block that waits for it. (7 points on 128^3, Xeon with 16 cores: every
// additional block takes 1 microsecond, on 4, 8 and 16 threads, in plain and in exact arithmetic. With 27 points, where a block waits for
// four others instead of two: 2 to 4 microseconds.)
const PER_BLOCK = 100;
const PER_DEPENDENCY = 100;
// How much longer one block takes than another with the same work, at most. Without it, blocks that leave no worker any slack would seem as good
// as smaller ones. (The same grid, 16 threads, levels of 16 blocks of 1024 rows: 8.0 ms; levels of up to 32 blocks of 512 rows: 6.8.)
const VARIATION = 0.3;
// A barrier takes about as long as 64 rows with a few entries.
const PER_BARRIER = 256;

/** The work of all blocks together: what one worker takes. */
export function totalWork({ costs }: Graph): number {
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/**
 * The time of slfr and slfc, by list scheduling (Graham, Bounds on Multiprocessing Timing Anomalies, 1969): the worker that is free first
 * takes the next block of the sequence, and waits for the blocks that this one depends on.
 */
export function timeByFlags({ costs, dependencies: { pointers, indices } }: Graph, sequence: Int32Array, workers: number): number {
  const free = new Float64Array(workers); // a binary heap: the earliest is first
  const done = new Float64Array(costs.length);
  let last = 0;
  let random = 1;
  for (const block of sequence) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0; // the generator of Numerical Recipes
    const first = pointers[block] as number;
    const end = pointers[block + 1] as number;
    let start = free[0] as number;
    for (let p = first; p < end; p++) start = Math.max(start, done[indices[p] as number] as number);
    const variation = 1 + VARIATION * (random / 2 ** 32 - 0.5);
    const time = start + PER_BLOCK + PER_DEPENDENCY * (end - first) + variation * (costs[block] as number);
    done[block] = time;
    replaceFirst(free, time);
    last = Math.max(last, time);
  }
  return last;
}

// Replaces the first element of a heap by a larger one.
function replaceFirst(heap: Float64Array, value: number): void {
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++;
    if ((heap[child] as number) >= value) break;
    heap[at] = heap[child] as number;
    at = child;
  }
  heap[at] = value;
}

/** The time of levr and levc: in every level each worker has an equal number of blocks, and then comes a barrier. */
export function timeByBarriers({ costs }: Graph, sequence: Int32Array, ilev: Int32Array, workers: number): number {
  let time = 0;
  for (let m = 0; m + 1 < ilev.length; m++) {
    const end = ilev[m + 1] as number;
    const share = Math.ceil((end - (ilev[m] as number)) / workers);
    let longest = 0;
    for (let k = ilev[m] as number; k < end; k++) longest = Math.max(longest, costs[sequence[k] as number] as number);
    time += share * (longest + PER_BLOCK) + PER_BARRIER;
  }
  return time;
}
