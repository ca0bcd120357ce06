// Which schedule a plan uses, and why: the one the caller asked for, or the one "auto" chooses from what the analysis found. Called by
// plan.ts; on a GPU engines/opencl/sparse/plan.ts chooses.
import { MIN_SOLVES, type Schedule } from "../../engines/kernels.ts";
import type { SparseOptions } from "./types.ts";

export interface Choice {
  readonly schedule: Schedule;
  readonly reason: string;
}

/** The same before "auto" has chosen. */
export type EarlyChoice = Choice | { readonly schedule?: undefined; readonly reason: "" };

// Unknowns and entries from which it pays to wake a second thread (50 microseconds of work).
const MIN_WORK = 2 ** 15;

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

// Average number of tasks per level and worker from which sharing pays: blocks of rows, or single rows.
const BLOCKS_PER_WORKER = 2;
const ROWS_PER_WORKER = 32;

/**
 * Blocks of rows, if enough of them do not wait for each other. With counters (slfr): barriers are about as fast on two quiet cores
 * (128^3 grid: 23 ms either way), and slower on 16 (27 ms against 16.6) or when other programs compete for a core (56 ms against 48).
 */
export function chooseBlocks(
  { schedule = "slfr", reason }: EarlyChoice,
  blocks: number,
  levels: number,
  workers: number,
): Choice | undefined {
  if (blocks < BLOCKS_PER_WORKER * workers * levels) return undefined;
  return { schedule, reason: reason || `${blocks} blocks of rows in ${levels} levels, enough for ${workers} threads` };
}

/** Otherwise single rows by levels, if there are enough of them. */
export function chooseLevels({ schedule, reason }: EarlyChoice, n: number, levels: () => number, workers: number): Choice {
  if (schedule) return { schedule, reason };
  const count = levels();
  const perLevel = n / count;
  const found = `${count} levels of ${perLevel.toFixed(perLevel < 10 ? 1 : 0)} unknowns on the average`;
  return perLevel < ROWS_PER_WORKER * workers
    ? { schedule: "serial", reason: `${found}, too few for ${workers} threads` }
    : { schedule: "slfr", reason: `${found}, enough for ${workers} threads` };
}
