// The OpenCL C of sparse products and triangular solves, with the constants that it shares with the host in front of it. All kernels of the set-up
// phase are one program, which is compiled once per set of definitions.
import { defineText } from "../device/defines.ts";
import { superaccumulator as anySuperaccumulator } from "../exact/sources.generated.ts";
import { certificate, superaccumulator } from "../exact/sources.ts";
import * as generated from "./sources.generated.ts";
import { DONE, ENTRIES, FAILED, GROUPS_DONE, HIGHEST, LONGEST, LONGS, OPEN, SINGULAR, SOLVE_WORDS, TAIL, TICKET } from "./words.ts";

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

export const ilu0Sources = [certificate, superaccumulator, generated.ilu0];

// Superaccumulators with room for a third factor: from 2^-3222, and 2^31 products below 2^3072.
const DIGITS = 204;
const wide = defineText({ DIGITS, LOWEST: -3264, NANS: DIGITS, POSITIVE: DIGITS + 1, NEGATIVE: DIGITS + 2, ACCUMULATOR: DIGITS + 3 });
const spmv = defineText({ OPEN, LONGS, GROUPS_DONE }) + generated.spmv;

export const productSources = [certificate, spmv];
export const finishSources = [certificate, wide + anySuperaccumulator, spmv];
