// The OpenCL C of sparse triangular solves, with the constants that it shares with the host in front of it. All kernels of the set-up
// phase are one program, which is compiled once per set of definitions.
import { defineText } from "../device/defines.ts";
import { certificate, superaccumulator } from "../exact/sources.ts";
import * as generated from "./sources.generated.ts";
import { DONE, ENTRIES, FAILED, HIGHEST, LONGEST, SINGULAR, SOLVE_WORDS, TAIL, TICKET } from "./words.ts";

/** Keys per work-item, in scans and sorts. */
export const KEYS = 8;

const waiting = defineText({ TICKET, FAILED }) + generated.waiting;
const { triangle, scan, sort, levels, reorder, values, row } = generated;
const solve = defineText({ DONE, SOLVE_WORDS }) + generated.solve;

export const setupSources = [
  waiting,
  defineText({ KEYS, TAIL, HIGHEST, ENTRIES, LONGEST, SINGULAR }),
  triangle,
  scan,
  sort,
  levels,
  reorder,
  values,
];
export const solveSources = [certificate, row, waiting, solve];
export const exactSolveSources = [certificate, superaccumulator, row, waiting, solve];
