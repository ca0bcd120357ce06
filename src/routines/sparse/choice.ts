import type { Schedule } from "../../engines/kernels.ts";
import type { SparseOptions } from "./types.ts";

// The schedule, and why: what was asked for, or what "auto" takes for what the analysis found.

export interface Choice {
  readonly schedule: Schedule;
  readonly reason: string;
}

/** The same where "auto" has not chosen yet. */
export type EarlyChoice = Choice | { readonly schedule?: undefined; readonly reason: "" };

// Solves after which the analysis of a parallel schedule has paid.
const SOLVES = 4;
// Unknowns and entries from which on it pays to wake a second thread (50 microseconds of work).
const MIN_WORK = 2 ** 15;

/** What can be said before the analysis. */
export function chooseEarly({ schedule = "auto", expectedSolves }: SparseOptions, workers: number, work: number): EarlyChoice {
  if (workers === 0) return { schedule: "serial", reason: "on the calling thread all schedules run serially" };
  if (schedule !== "auto") return { schedule, reason: "asked for" };
  if (workers === 1) return { schedule: "serial", reason: "one thread" };
  if (work < MIN_WORK) return { schedule: "serial", reason: `${work} unknowns and entries are too few to share` };
  if (expectedSolves !== undefined && expectedSolves < SOLVES)
    return { schedule: "serial", reason: `${expectedSolves} expected solves do not pay for an analysis, ${SOLVES} would` };
  return { reason: "" };
}

// Tasks of a level for each worker on the average, from which on it is worth sharing: runs of rows, or single rows.
const RUNS_PER_WORKER = 2;
const ROWS_PER_WORKER = 32;

/**
 * Runs of rows, if the analysis found enough of them that do not wait for each other. By counters: barriers are about as
 * fast on two quiet cores (128^3 grid: 23 ms either way), and slower on 16 (16.6 ms against 27) or where other programs want a
 * core too (56 against 48).
 */
export function chooseRuns({ schedule = "slfr", reason }: EarlyChoice, runs: number, levels: number, workers: number): Choice | undefined {
  if (runs < RUNS_PER_WORKER * workers * levels) return undefined;
  return { schedule, reason: reason || `${runs} runs of rows in ${levels} levels, enough for ${workers} threads` };
}

/** Else single rows by levels, if there are enough of those. */
export function chooseLevels({ schedule, reason }: EarlyChoice, n: number, levels: () => number, workers: number): Choice {
  if (schedule) return { schedule, reason };
  const count = levels();
  const perLevel = n / count;
  const found = `${count} levels of ${perLevel.toFixed(perLevel < 10 ? 1 : 0)} unknowns on the average`;
  return perLevel < ROWS_PER_WORKER * workers
    ? { schedule: "serial", reason: `${found}, too few for ${workers} threads` }
    : { schedule: "slfr", reason: `${found}, enough for ${workers} threads` };
}
