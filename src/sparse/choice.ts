import type { Schedule } from "../engines/kernels.ts";
import type { SparseOptions } from "./types.ts";

export interface Choice {
  readonly schedule: Schedule;
  readonly reason: string;
}

// Solves after which the analysis of a level schedule has paid.
const SOLVES = 4;
// Unknowns of a level for each worker, from which on it is worth the barrier behind it.
const ROWS_PER_WORKER = 64;

/** The schedule, and why; `levels` is asked only if that depends on them. */
export function choose({ schedule = "auto", expectedSolves }: SparseOptions, workers: number, n: number, levels: () => number): Choice {
  if (workers === 0) return { schedule: "serial", reason: "on the calling thread all schedules run serially" };
  if (schedule !== "auto") return { schedule, reason: "asked for" };
  if (workers === 1) return { schedule: "serial", reason: "one thread" };
  if (expectedSolves !== undefined && expectedSolves < SOLVES)
    return { schedule: "serial", reason: `${expectedSolves} expected solves do not pay for an analysis, ${SOLVES} would` };
  const count = levels();
  const perLevel = n / count;
  const found = `${count} levels of ${perLevel.toFixed(perLevel < 10 ? 1 : 0)} unknowns on the average`;
  if (perLevel < ROWS_PER_WORKER * workers) return { schedule: "serial", reason: `${found} are too few for ${workers} threads` };
  return { schedule: "levr", reason: `${found}, enough for ${workers} threads between two barriers` };
}
