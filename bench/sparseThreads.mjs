// Two threads against the synchronous serial solve, every schedule; and what each takes to set up.
import { race, timings } from "./harness.mjs";
import { main } from "./library.mjs";
import { bytesOf, titleOf } from "./sparseCases.mjs";
import { MODES, raceSolves, rivalOf, serialRival } from "./sparseRivals.mjs";
import { figure, printTable } from "./table.mjs";

export const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf"];
export const THREADS = 2;

/** The reason why threads cannot be measured here, if there is one. */
export async function missingThreads() {
  const { available, reason } = (await main.engines()).find(({ kind }) => kind === "threads");
  return available ? undefined : `Threads are not measured: ${reason}`;
}

export function threadName(mode, schedule) {
  return `${mode} ${schedule}, ${THREADS} threads`;
}

// Columns are updated in plain arithmetic only; the paper has the matrix by columns then.
export function inFormat({ byRows, byColumns }, mode, schedule) {
  return mode === "plain" && schedule.endsWith("c") ? byColumns : byRows;
}

// In plain mode columns are updated as they come.
function isDefined(name) {
  return !/^plain (levc|slfc)/.test(name);
}

/** For each mode { solves, analyses }: timings, with levels, memory and the time on fresh memory beside those of an analysis. */
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

// A solve is raced beside them: it is the unit. The last is gsf of a matrix that is resident on the pool.
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

// The first touch of a page costs a virtual machine about 2 microseconds: pages of an engine just opened were never touched.
async function freshAnalysis(L, mode, schedule) {
  const pool = await main.open("threads", { threads: THREADS });
  const start = performance.now();
  await pool.sptrsv(L, { ...MODES[mode], schedule });
  const time = (performance.now() - start) * 1e6;
  await pool.close();
  return time;
}

function printMode(grid, mode, { solves, analyses }) {
  const [alone, ...openThreads] = solves;
  const resident = analyses.at(-1);
  const rows = openThreads.map(({ name, median }, k) => {
    const { median: used, inSolves, fresh, levels, ofMatrix } = analyses[k];
    const times = [median, used, fresh].map((time) => figure(time / 1e6));
    return [name, times[0], figure(alone.median / median), times[1], figure(inSolves), times[2], String(levels), figure(ofMatrix)];
  });
  console.log(`\n${titleOf(grid)}, ${mode}: ${alone.name} takes ${figure(alone.median / 1e6)} ms`);
  printTable(["", "ms/solve", "times faster", "analysis, ms", "in serial solves", "on fresh memory", "levels", "plan / matrix"], rows);
  console.log(
    `The analysis of gsf for a matrix that is resident on the pool: ${figure(resident.median / 1e6)} ms, ${figure(resident.inSolves)} serial solves`,
  );
}
