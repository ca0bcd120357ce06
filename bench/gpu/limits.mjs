// The limits of the OpenCL engine, from the cases of gpu.mjs measured in the same run.
import { WELL_CONDITIONED } from "../harness/data.mjs";
import { timeOf } from "../harness/race.mjs";
import { count, ratio } from "../harness/table.mjs";
import { titleOf as gridTitle } from "../sparse/cases.mjs";
import { OURS, PEER, titleOf } from "./dense.mjs";
import { fastestOf } from "./products.mjs";
import { CERTIFIED, CUBLAS, HARD, LONGEST } from "./reductions.mjs";
import { BACKWARD, CORRECT, PEERS } from "./solve.mjs";
import { MODES, PEER as SPSV } from "./sparse.mjs";

const SHARE = { [WELL_CONDITIONED]: 0.95, [HARD]: 0.6 }; // of cuBLAS's bandwidth
const SHARE_OF_GEMV = 0.9;
const PANEL = { limit: 1.25, aim: 1.05 };
const BATCH = { limit: 4, aim: 2 };
const GEMM = { limit: 3, aim: 1.3 };
// By order; the others have no limit.
const TRSV = { 4096: { limit: 1.5, aim: 1 }, 16384: { limit: 1.35, aim: 1 } };
const LU = { 4096: { limit: 3, aim: 1.8 }, 8192: { limit: 3, aim: 1.5 }, 16384: { limit: 2.5, aim: 1.2 } };
const FASTER = { limit: 1.5, aim: 2.6 };
const FASTER_IN_PLANE = { limit: 2, aim: 2.6 };
const EXACT = 2.5;
const PRODUCT = { limit: 0.8, aim: 1 };
const ITERATION = { jacobi: { limit: 1.5, aim: 1.1 }, ilu0: { limit: 1, aim: 0.6 } };
const SOLVE = { 4096: { limit: 1.2, aim: 0.9 }, 8192: { limit: 1, aim: 0.75 }, 16384: { limit: 0.9, aim: 0.6 } };
const CORRECT_SOLVE = { 8192: { limit: 4, aim: 2 } };
// Multiples of the matrix: its binary32 copy is half of it, and vectors and diagonal blocks are below a tenth from this order on.
const MEMORY = { limit: 0.6, from: 4096 };

/** Rows of { row, value, unit, limit, aim, atLeast }; a value is undefined where it was not measured. */
export function gpuLimits({ reductions = [], dense = [], sparse = [], products = [], krylov = [], solve = [] }) {
  return [
    ...["sum", "dot"].flatMap((op) => Object.entries(SHARE).map(([kind, limit]) => ofCublas(reductions, op, kind, limit))),
    ...dense.filter(({ op, rows, cols }) => op === "gemv" && rows === cols).map((one) => speed(one, SHARE_OF_GEMV)),
    ...dense.filter(({ op, rows, cols }) => op === "gemv" && rows !== cols).map((one) => time(one, PANEL)),
    ...dense.filter(({ op, rows }) => op === "trsv" && TRSV[rows]).map((one) => time(one, TRSV[one.rows])),
    ...dense.filter(({ op, rows }) => op === "lu" && LU[rows]).map((one) => time(one, LU[one.rows])),
    ...dense.filter(({ op }) => op === "luBatch").map((one) => time(one, BATCH)),
    ...dense.filter(({ op }) => op === "gemm").map((one) => time(one, GEMM)),
    ...sparse.flatMap(ofSparse),
    ...products.map(ofProduct),
    ...krylov.map(ofIteration),
    ...solve.flatMap(ofSolve),
  ];
}

// Both have the same data; the time of cuBLAS does not depend on them.
function ofCublas(cases, op, kind, limit) {
  const rivals = cases.find((one) => one.op === op && one.kind === kind && one.n === LONGEST)?.rivals ?? [];
  const value = ratio(timeOf(rivals, CUBLAS), timeOf(rivals, CERTIFIED));
  return { row: `ex${op} / cuBLAS, ${kind}, n = ${count(LONGEST)}`, value, unit: " of its speed", limit, atLeast: true };
}

function toPeer({ rivals }) {
  return ratio(timeOf(rivals, OURS), timeOf(rivals, PEER));
}

function speed(one, limit) {
  const value = toPeer(one);
  return { row: `${titleOf(one)} / NVIDIA`, value: value && 1 / value, unit: " of its speed", limit, atLeast: true };
}

function time(one, { limit, aim }) {
  return { row: `${titleOf(one)} / NVIDIA`, value: toPeer(one), unit: " times its time", limit, aim };
}

function ofSparse({ grid, solves, analyses }) {
  const title = gridTitle(grid);
  const best = (outcomes, mode) => {
    const ours = outcomes.filter(({ name, failed }) => !failed && name.startsWith(mode));
    return ours.length === 0 ? undefined : ours.reduce((a, b) => (b.median < a.median ? b : a));
  };
  const [plain, exact] = Object.keys(MODES).map((mode) => best(solves, mode));
  const setUp = plain && timeOf(analyses, plain.name);
  const { limit, aim } = grid.sizes.length === 2 ? FASTER_IN_PLANE : FASTER;
  return [
    {
      row: `${plain?.name ?? "plain"} / SpSV, ${title}`,
      value: ratio(timeOf(solves, SPSV), plain?.median),
      unit: " times faster",
      limit,
      aim,
      atLeast: true,
    },
    { row: `its set-up / SpSV's, ${title}`, value: ratio(setUp, timeOf(analyses, SPSV)), unit: " times its time", limit: 1 },
    {
      row: `${exact?.name ?? "exact"} / plain, ${title}`,
      value: ratio(exact?.median, plain?.median),
      unit: " times its time",
      limit: EXACT,
    },
  ];
}

function ofProduct({ title, rivals }) {
  const { ours, peer } = fastestOf(rivals);
  return { row: `exspmv / SpMV, ${title}`, value: ratio(peer, ours), unit: " of its speed", ...PRODUCT, atLeast: true };
}

function ofIteration({ title, preconditioner, rivals }) {
  const { ours, peer } = fastestOf(rivals);
  const row = `an iteration of cg / cuBLAS and cuSPARSE, ${title}, ${preconditioner}`;
  return { row, value: ratio(ours, peer), unit: " times its time", ...ITERATION[preconditioner] };
}

function ofSolve({ n, rivals, phases }) {
  const peers = PEERS.map((name) => timeOf(rivals, name)).filter((time) => time !== undefined);
  const best = peers.length === 0 ? undefined : Math.min(...peers);
  const toBest = (name, what, limits) =>
    limits === undefined
      ? []
      : [
          {
            row: `${what} / the best of cuSOLVER, n = ${count(n)}`,
            value: ratio(timeOf(rivals, name), best),
            unit: " times its time",
            ...limits,
          },
        ];
  const memory = {
    row: `its memory in addition to the matrix, n = ${count(n)}`,
    value: phases?.extraMemory,
    unit: " times the matrix",
    limit: MEMORY.limit,
  };
  return [
    ...toBest(BACKWARD, "solve, backward", SOLVE[n]),
    ...toBest(CORRECT, "solve, correct", CORRECT_SOLVE[n]),
    ...(n < MEMORY.from ? [] : [memory]),
  ];
}
