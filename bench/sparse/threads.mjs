// Every schedule on two threads against the synchronous serial solve, for sparse.mjs; and the time of each analysis.

import { main } from "../harness/library.mjs";
import { race, timings } from "../harness/race.mjs";
import { figure, printTable } from "../harness/table.mjs";
import { bytesOf, titleOf } from "./cases.mjs";
import { MODES, raceSolves, rivalOf, serialRival } from "./rivals.mjs";

const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf"];
const THREADS = 2;

function threadName(mode, schedule) {
  return `${mode} ${schedule}, ${THREADS} threads`;
}

// Only plain schedules update by columns; as in the sparse paper, the matrix is then stored by columns.
function inFormat({ byRows, byColumns }, mode, schedule) {
  return mode === "plain" && schedule.endsWith("c") ? byColumns : byRows;
}

// In plain mode, updates by columns have no fixed order.
function isDefined(name) {
  return !/^plain (levc|slfc)/.test(name);
}

/** For each mode { solves, analyses }: timings; those of an analysis with its levels, memory and time on fresh memory. */
export async function raceThreads(system, pace) {
  const pool = await main.open("threads", { threads: THREADS });
  const results = {};
  for (const mode of Object.keys(MODES)) {
    const solves = await solvesOf(system, mode, pool, pace);
    const analyses = await analysesOf(system, mode, pool, { ...pace, rounds: Math.min(9, pace.rounds) });
    results[mode] = { solves, analyses };
    printMode(system.grid, mode, results[mode]);
  }
  await pool.close();
  return results;
}

async function solvesOf(system, mode, pool, pace) {
  const rivals = [serialRival(system.byRows, mode)];
  for (const schedule of SCHEDULES)
    rivals.push(rivalOf(threadName(mode, schedule), await pool.sptrsv(inFormat(system, mode, schedule), { ...MODES[mode], schedule })));
  return raceSolves(system, rivals, isDefined, pace, titleOf(system.grid));
}

// A serial solve is raced with them, as the unit. The last is gsf of a matrix that is resident on the pool.
async function analysesOf(system, mode, pool, pace) {
  const { byRows, b } = system;
  const resident = await pool.upload(byRows);
  const serial = serialRival(byRows, mode);
  const out = new Float64Array(b.length);
  const [unit, ...outcomes] = await race(
    [
      { name: serial.name, run: () => serial.solve(b, out) },
      ...SCHEDULES.map((schedule) => ({
        name: threadName(mode, schedule),
        run: () => analysis(pool, inFormat(system, mode, schedule), mode, schedule),
      })),
      { name: `${threadName(mode, "gsf")}, resident`, run: () => analysis(pool, resident, mode, "gsf") },
    ],
    pace,
  );
  serial.free();
  resident.free();
  const rows = [];
  for (const [k, one] of timings(outcomes).entries()) {
    const { schedule, levels, bytes } = outcomes[k].result;
    const fresh = await freshAnalysis(inFormat(system, mode, schedule), mode, schedule);
    rows.push({ ...one, schedule, levels, inSolves: one.median / unit.median, fresh, ofMatrix: bytes / bytesOf(byRows) });
  }
  return rows;
}

async function analysis(pool, L, mode, schedule) {
  const plan = await pool.sptrsv(L, { ...MODES[mode], schedule });
  await plan.free();
  return plan;
}

// The first touch of a page costs about 2 microseconds on a virtual machine, and a new engine has only untouched pages.
async function freshAnalysis(L, mode, schedule) {
  const pool = await main.open("threads", { threads: THREADS });
  const start = performance.now();
  await pool.sptrsv(L, { ...MODES[mode], schedule });
  const time = (performance.now() - start) * 1e6;
  await pool.close();
  return time;
}

function printMode(grid, mode, { solves, analyses }) {
  const [alone, ...onThreads] = solves;
  const resident = analyses.at(-1);
  const rows = onThreads.map(({ name, median }, k) => {
    const { median: used, inSolves, fresh, levels, ofMatrix } = analyses[k];
    const times = [median, used, fresh].map((time) => figure(time / 1e6));
    return [name, times[0], figure(alone.median / median), times[1], figure(inSolves), times[2], String(levels), figure(ofMatrix)];
  });
  console.log(`\n${titleOf(grid)}, ${mode}: ${alone.name} takes ${figure(alone.median / 1e6)} ms`);
  printTable(["", "ms/solve", "times faster", "analysis, ms", "in serial solves", "on fresh memory", "levels", "plan / matrix"], rows);
  console.log(
    `The analysis of gsf, matrix resident on the pool: ${figure(resident.median / 1e6)} ms, ${figure(resident.inSolves)} serial solves`,
  );
}
