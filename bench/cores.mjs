// Many cores (npm run bench:cores): exlu, extrsv and solve with several numbers of threads; sparse triangular solves, plain and exact,
// everything resident, beside the serial solve of the calling thread. Made for a machine with 16 cores; by default it uses no more threads
// than there are cores.
//   node bench/cores.mjs [--only dense,sparse] [--threads 1,2,4,8,12,15,16] [--schedules auto,levr,slfr,gsf] [--rounds 15] [--json FILE] [--quick]
import { availableParallelism } from "node:os";
import { raceDense } from "./dense/cores.mjs";
import { differentBits } from "./harness/checks.mjs";
import { main, missingThreads } from "./harness/library.mjs";
import { asWholeNumber, chosenOf, options, quick, rounds } from "./harness/options.mjs";
import { quantile, race, timings } from "./harness/race.mjs";
import { originOf, pace, printLimits, printMachine, saveTimings } from "./harness/session.mjs";
import { count, figure, printTable, ratio } from "./harness/table.mjs";
import { systemOf, titleOf, traffic } from "./sparse/cases.mjs";
import { MODES, serialRival } from "./sparse/rivals.mjs";

const COUNTS = [1, 2, 4, 8, 12, 15, 16];
const SIDE = quick ? 24 : 128;
const GRID = { sizes: [SIDE, SIDE, SIDE], points: 7 };
const READING = quick ? 2 ** 20 : 2 ** 25; // numbers
const CORES = 16; // of the limits
const FASTER = { exact: { limit: 8, aim: 12 }, plain: { limit: 5, aim: 8 } };
const SLOWER = 1.2; // than the next smaller number of threads

const missing = await missingThreads();
if (missing) throw new Error(missing);
const threads = options.threads
  ? options.threads.split(",").map((word) => asWholeNumber("threads", word))
  : COUNTS.filter((number) => number <= availableParallelism());
const schedules = (options.schedules ?? "auto,levr,slfr,gsf").split(",");

const origin = originOf("cores", []);
printMachine(origin);
console.log(`Every number of threads in every round, ${rounds} rounds. Times are medians.`);
const pools = await Promise.all(threads.map((number) => main.open("threads", { threads: number })));
const chosen = chosenOf(["dense", "sparse"]);
const dense = chosen.includes("dense") ? await raceDense(pools, threads, CORES, { quick, pace }) : { cases: [], limits: [] };
if (dense.limits.length > 0) printLimits("dense routines on many cores", dense.limits);
const sparse = chosen.includes("sparse") ? await raceSparse() : { limits: [] };
for (const pool of pools) await pool.close();
saveTimings(origin, { ...sparse, limits: [...dense.limits, ...sparse.limits], dense: dense.cases });

async function raceSparse() {
  const floor = await measureFloor();
  const system = systemOf(GRID);
  const bytes = traffic(system.byRows);
  console.log(
    `\n${titleOf(GRID)}: ${count(system.byRows.rows)} rows, ${count(system.byRows.values.length)} entries in the triangle; a solve moves at least ${count(bytes)} bytes`,
  );
  const cases = [];
  for (const mode of Object.keys(MODES))
    for (const schedule of schedules) cases.push(await measure({ system, floor, bytes }, mode, schedule));
  const limits = cases.filter(({ schedule }) => schedule === schedules[0]).flatMap(limitsOf);
  printLimits("sparse solves on many cores", limits);
  return { floor, limits, grid: GRID, bytes, cases };
}

function nameOf(number) {
  return number === 1 ? "1 thread" : `${number} threads`;
}

// GB/s that the workers read, by number of threads: exsum of a resident vector.
async function measureFloor() {
  const values = new Float64Array(READING).fill(1);
  const residents = await Promise.all(pools.map((pool) => pool.upload(values)));
  const outcomes = await race(
    pools.map((pool, i) => ({ name: nameOf(threads[i]), run: () => pool.exsum(residents[i]) })),
    pace,
  );
  for (const resident of residents) resident.free();
  const readGBs = Object.fromEntries(outcomes.map(({ median }, i) => [threads[i], values.byteLength / median]));
  const words = Object.entries(readGBs).map(([number, rate]) => `${figure(rate)} (${nameOf(Number(number))})`);
  console.log(`\nThe floor: exsum of ${count(READING)} resident numbers reads, in GB/s: ${words.join(", ")}`);
  return { readGBs };
}

async function measure(problem, mode, schedule) {
  const { byRows, b } = problem.system;
  const serial = serialRival(byRows, mode);
  const own = new Float64Array(b.length);
  const plans = await Promise.all(pools.map((pool) => planOn(pool, problem.system, mode, schedule)));
  const rivals = [
    { name: serial.name, run: () => serial.solve(b, own), read: (x) => x.slice() },
    ...plans.map(({ solve, read }, i) => ({ name: nameOf(threads[i]), run: solve, read })),
  ];
  const outcomes = await race(rivals, pace);
  serial.free();
  for (const { free } of plans) await free();
  const chosen = plans.map(({ plan }) => plan.schedule);
  const wrong = differentBits(outcomes);
  print(problem, mode, schedule, outcomes, chosen, wrong);
  return { mode, schedule, chosen, rivals: timings(outcomes), wrong };
}

async function planOn(pool, { byRows, b }, mode, schedule) {
  const [L, right, x] = await Promise.all([byRows, b, new Float64Array(b.length)].map((value) => pool.upload(value)));
  const plan = await pool.sptrsv(L, { ...MODES[mode], schedule });
  const free = async () => {
    await plan.free();
    for (const resident of [L, right, x]) resident.free();
  };
  return { plan, solve: () => plan.solve(right, x), read: () => x.read(), free };
}

function print({ floor, bytes }, mode, schedule, outcomes, chosen, wrong) {
  const [alone] = outcomes;
  const rows = outcomes.map(({ name, median, min, rounds: times }, i) => [
    name,
    figure(median / 1e6),
    figure(min / 1e6),
    figure(quantile(times, 0.9) / 1e6),
    figure(alone.median / median),
    i > 1 ? figure(median / outcomes[i - 1].median) : undefined,
    i > 0 ? figure(median / (bytes / floor.readGBs[threads[i - 1]])) : undefined,
    chosen[i - 1],
  ]);
  console.log(`\n${mode}, schedule "${schedule}"`);
  printTable(["", "ms/solve", "minimum", "9 in 10 below", "times faster", "/ next smaller", "/ floor", "schedule"], rows);
  if (wrong) console.log(`  DIFFERENT: ${wrong}`);
}

function limitsOf({ mode, schedule, rivals: [alone, ...onThreads] }) {
  const most = onThreads[threads.indexOf(CORES)];
  const steps = onThreads.slice(1).map(({ median }, i) => ({ value: median / onThreads[i].median, number: threads[i + 1] }));
  const worst = steps.toSorted((a, b) => b.value - a.value)[0];
  return [
    {
      row: `${mode} ${schedule}, ${CORES} threads / serial`,
      value: ratio(alone.median, most?.median),
      unit: " times faster",
      ...FASTER[mode],
      atLeast: true,
    },
    {
      row: `${mode} ${schedule}, ${worst ? nameOf(worst.number) : "no step"} / the next smaller number`,
      value: worst?.value,
      unit: "",
      limit: SLOWER,
    },
  ];
}
