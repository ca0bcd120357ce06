// The limits of sparse solves, from the cases of sparse.mjs measured in the same run.
import { ENGINES } from "../harness/library.mjs";
import { ratio } from "../harness/table.mjs";
import { titleOf } from "./cases.mjs";
import { CXSPARSE, MODES, serialName } from "./rivals.mjs";

const [FMA] = ENGINES;
const PLAIN = 1.4;
// In short rows the certified division takes most of the time.
const EXACT = { 5: 4, 7: 4, 27: 2.5 };
const FASTER = 1.4;
const ANALYSIS = 4;
const ANALYSIS_OF_GSF = 1;
const MEMORY = 3;

/** Rows of { row, value, unit, limit, atLeast }; a value is undefined where it was not measured. All with fused multiply-add. */
export function sparseLimits(cases) {
  return cases.flatMap(({ grid, serial, threads }) => [
    toCxSparse(grid, serial, "plain", PLAIN),
    toCxSparse(grid, serial, "exact", EXACT[grid.points]),
    ...Object.keys(MODES).flatMap((mode) => (threads ? ofThreads(grid, mode, threads[mode]) : [])),
    ...(threads ? [memory(grid, threads)] : []),
  ]);
}

function toCxSparse(grid, serial, mode, limit) {
  const [ours, cx] = [serialName(mode, FMA), CXSPARSE].map((name) => serial.find((rival) => rival.name === name)?.median);
  return { row: `${mode} serial / CXSparse, ${titleOf(grid)}`, value: ratio(ours, cx), unit: "", limit };
}

function ofThreads(grid, mode, { solves: [alone, ...onThreads], analyses }) {
  const parallel = onThreads.filter((_, k) => analyses[k].schedule !== "serial");
  const quickest = parallel.reduce((a, b) => (b.median < a.median ? b : a));
  const [gsf, resident] = analyses.filter(({ schedule }) => schedule === "gsf");
  const slowest = analyses.reduce((a, b) => (b.inSolves > a.inSolves ? b : a));
  const faster = { row: `${quickest.name}, ${titleOf(grid)}`, value: alone.median / quickest.median, unit: " times faster" };
  return [
    ...(grid.sizes.length === 3 ? [{ ...faster, limit: FASTER, atLeast: true }] : []),
    inSolves(`the slowest analysis (${slowest.schedule})`, slowest, ANALYSIS),
    inSolves("the analysis of gsf, ordinary arrays", gsf, ANALYSIS_OF_GSF),
    inSolves("the analysis of gsf, resident", resident, ANALYSIS_OF_GSF),
  ];

  function inSolves(what, { inSolves: value }, limit) {
    return { row: `${what}, ${mode}, ${titleOf(grid)}`, value, unit: " serial solves", limit };
  }
}

function memory(grid, threads) {
  const plans = Object.values(threads).flatMap(({ analyses }) => analyses);
  const largest = plans.reduce((a, b) => (b.ofMatrix > a.ofMatrix ? b : a));
  return { row: `the largest plan (${largest.name}), ${titleOf(grid)}`, value: largest.ofMatrix, unit: " times the matrix", limit: MEMORY };
}
