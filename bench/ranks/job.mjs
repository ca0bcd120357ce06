// What the programs of this folder share. Each runs under mpirun, and rank 0 prints one line of JSON: bench/ranks.mjs reads it.
import { readFileSync } from "node:fs";
import { openRanks } from "../../dist/mpi.js";
import { quantile } from "../harness/race.mjs";

export const ranks = await openRanks();

/** The median of these numbers. */
export const median = (numbers) => quantile(numbers, 0.5);

/** The median time of a call of all ranks, in ms. They begin together. `after` gets what the call returned, and is not timed. */
export async function timed(rounds, call, after) {
  const times = [];
  for (let k = 0; k < rounds; k++) {
    await ranks.exsum(new Float64Array(1));
    const start = performance.now();
    const result = await call();
    times.push(performance.now() - start);
    await after?.(result);
  }
  return median(times);
}

/** The part of n elements that this rank has: where it begins, and its end. */
export function share(n) {
  const bound = (rank) => Math.floor((n * rank) / ranks.size);
  return [bound(ranks.rank), bound(ranks.rank + 1)];
}

/** "VmRSS", the memory of this process, or "VmHWM", the most that it has used, in MB of 10^6 bytes; undefined on other systems than Linux. */
export function memory(field) {
  try {
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1.024e-3;
  } catch {
    return undefined;
  }
}

/** The largest of a number that each rank has. */
export async function largest(mine) {
  const all = new Float64Array(ranks.size);
  all[ranks.rank] = mine;
  let most = Number.NEGATIVE_INFINITY;
  for (const r of all.keys()) most = Math.max(most, await ranks.exsum(all.subarray(r, r + 1)));
  return most;
}

/** Print the result of the job, and end it. */
export async function finish(result) {
  if (ranks.rank === 0) console.log(JSON.stringify({ version: ranks.library, ranks: ranks.size, ...result }));
  await ranks.close();
}
