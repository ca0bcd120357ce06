// Which schedule a plan uses, and why: the one the caller asked for, or the one "auto" chooses from what the analysis found. Called by
// plan.ts; on a GPU engines/opencl/sparse/plan.ts chooses.
import { MIN_SOLVES, type Schedule } from "../../engines/kernels.ts";
import type { Division } from "./division.ts";
import type { SparseOptions } from "./types.ts";

export interface Choice {
  readonly schedule: Schedule;
  readonly reason: string;
}

/** The same before "auto" has chosen. */
export type EarlyChoice = Choice | { readonly schedule?: undefined; readonly reason: "" };

// Unknowns and entries from which it pays to wake the workers. (A job without work takes 0.05 ms on one thread and 0.14 to 0.26 on 16. 67,392
// unknowns and entries, 24^3 with 7 points: plain 0.16 ms on one thread and 0.21 on two, exact 0.32 and 0.35.)
const MIN_WORK = 2 ** 17;

/** The choice before the analysis. */
export function chooseEarly({ schedule = "auto", expectedSolves }: SparseOptions, workers: number, work: number): EarlyChoice {
  if (workers === 0) return { schedule: "serial", reason: "on the calling thread all schedules run serially" };
  if (schedule !== "auto") return { schedule, reason: "asked for" };
  if (workers === 1) return { schedule: "serial", reason: "one thread" };
  if (work < MIN_WORK) return { schedule: "serial", reason: `${work} unknowns and entries are too few to share` };
  if (expectedSolves !== undefined && expectedSolves < MIN_SOLVES)
    return { schedule: "serial", reason: `${expectedSolves} expected solves do not pay for an analysis, ${MIN_SOLVES} would` };
  return { reason: "" };
}

// The least speedup for which threads are used; and the average number of rows per level and worker from which sharing pays.
const MIN_SPEEDUP = 1.25;
const ROWS_PER_WORKER = 32;

/**
 * Blocks of rows in natural order, if they keep a quarter of the workers busy. With flags (slfr): barriers are slower on 16 cores or when
 * other programs compete for a core.
 */
export function chooseBlocks({ schedule = "slfr", reason }: EarlyChoice, division: Division, workers: number): Choice | undefined {
  if (division.speedup < Math.max(workers / 4, Math.min(MIN_SPEEDUP, 0.75 * workers))) return undefined;
  return { schedule, reason: reason || describe(division, workers) };
}

/** Otherwise single rows by levels, if there are enough of them; blocks all the same, if they are faster than one thread; or one thread. */
export function chooseLevels(
  { schedule, reason }: EarlyChoice,
  n: number,
  levels: () => number,
  division: Division,
  workers: number,
): Choice & { readonly by: "levels" | "blocks" | "rows" } {
  if (schedule) return { schedule, reason, by: "levels" };
  const count = levels();
  const perLevel = n / count;
  const found = `${count} levels of ${perLevel.toFixed(perLevel < 10 ? 1 : 0)} unknowns on the average`;
  if (perLevel >= ROWS_PER_WORKER * workers) return { schedule: "slfr", reason: `${found}, enough for ${workers} threads`, by: "levels" };
  if (division.speedup >= MIN_SPEEDUP) return { schedule: "slfr", reason: describe(division, workers), by: "blocks" };
  return { schedule: "serial", reason: `${found}, too few for ${workers} threads`, by: "rows" };
}

function describe({ graph, ilev, speedup }: Division, workers: number): string {
  const blocks = `${graph.costs.length} blocks of rows in ${ilev.length - 1} levels`;
  return `${blocks}: ${workers} threads should be ${speedup.toFixed(1)} times as fast as one`;
}
