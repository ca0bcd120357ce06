// The tables of the sparse paper as data: y = (U + D)^-1 (L + D)^-1 x with every schedule on as many threads as there are
// cores. GFLOPS of the two solves (formula 5.3), the set-up of both plans, the number of solves after which a schedule pays.
//   node bench/sparseTables.mjs [--rounds 5] [--json FILE] [--scale 1]
// Every axis of a grid has `scale` times its nodes. Other than at scale 1 there is no file unless --json names one.
// Schedules do not take turns here: their plans would not fit into the engine's 4 GiB together.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { uniform } from "./data.mjs";
import { race } from "./harness.mjs";
import { main } from "./library.mjs";
import { commit, machine, ROOT, versions } from "./provenance.mjs";
import { sameBits } from "./rivals.mjs";
import { BINARY64, groupsFor, hasDiagonal, inPrecision } from "./sparseMatrices.mjs";
import { MODES } from "./sparseRivals.mjs";
import { inFormat, missingThreads, SCHEDULES } from "./sparseThreads.mjs";
import { count, figure, json, printTable } from "./table.mjs";

const { values: options } = parseArgs({
  options: { rounds: { type: "string", default: "5" }, json: { type: "string" }, scale: { type: "string", default: "1" } },
});
const [rounds, scale] = [options.rounds, options.scale].map(Number);
if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error(`--rounds is ${options.rounds}, expected a whole number from 1 on`);
if (!(scale > 0 && scale <= 1)) throw new Error(`--scale is ${options.scale}, expected a number above 0 and up to 1`);
const missing = await missingThreads();
if (missing) throw new Error(missing);

const pool = await main.open("threads");
console.log(`${pool.device}, ${rounds} rounds${scale === 1 ? "" : `, grids at ${scale} of their nodes along every axis`}`);
const groups = [];
for (const { title, precisions, matrices } of groupsFor(scale)) {
  const cases = [];
  for (const one of matrices) cases.push(...(await measureMatrix(one, precisions)));
  printGroup(title, cases);
  groups.push({ title, cases });
}
await pool.close();
save();

async function measureMatrix({ name, make }, precisions) {
  const A = await make();
  const unit = !hasDiagonal(A);
  const cases = [];
  for (const precision of precisions) {
    try {
      cases.push({ name, precision, n: A.rows, entries: A.values.length, unit, ...(await measureCase(inPrecision(A, precision), unit)) });
    } catch (error) {
      if (!(error instanceof main.EngineError)) throw error;
      cases.push({ name, precision, n: A.rows, entries: A.values.length, missing: error.message });
    }
  }
  return cases;
}

async function measureCase(A, unit) {
  const byColumns = main.toCsc(A);
  // What "auto" chooses; and memory that was never touched has been touched then.
  const chosen = await plansOf(A, { unit });
  const auto = chosen.map(({ schedule, reason }) => ({ schedule, reason }));
  for (const plan of chosen) await plan.free();
  const vectors = [];
  for (const data of [uniform(A.rows, 1), new Float64Array(A.rows), new Float64Array(A.rows)])
    vectors.push(await pool.upload(A.values.constructor.from(data)));
  const outcomes = [];
  try {
    for (const mode of Object.keys(MODES)) {
      for (const schedule of SCHEDULES) {
        const format = inFormat({ byRows: A, byColumns }, mode, schedule);
        outcomes.push({ mode, schedule, ...(await measureSchedule(format, { unit, schedule, ...MODES[mode] }, vectors)) });
      }
    }
  } finally {
    for (const vector of vectors) vector.free();
  }
  for (const mode of Object.keys(MODES)) {
    const defined = outcomes.filter((one) => one.mode === mode && !(mode === "plain" && one.schedule.endsWith("c")));
    sameBits(
      defined.map(({ schedule, result }) => ({ name: `${mode} ${schedule}`, result })),
      "y",
    );
  }
  return { auto, schedules: outcomes.map(({ result, ...one }) => rowOf(one, outcomes)) };

  // Figures beside those of serial and gsf in the same mode.
  function rowOf(one, all) {
    const [serial, gsf] = ["serial", "gsf"].map((name) => all.find(({ mode, schedule }) => mode === one.mode && schedule === name));
    return {
      ...one,
      gflops: (2 * A.values.length) / one.solve,
      setUpInSolves: one.setUp / one.solve,
      paysAgainst: { serial: solvesToPay(one, serial), gsf: solvesToPay(one, gsf) },
    };
  }
}

// Of the lower triangle and of the upper one.
async function plansOf(A, how) {
  const lower = await pool.sptrsv(A, { ...how, uplo: "lower" });
  try {
    return [lower, await pool.sptrsv(A, { ...how, uplo: "upper" })];
  } catch (error) {
    await lower.free();
    throw error;
  }
}

async function measureSchedule(A, how, [x, between, y]) {
  const start = performance.now();
  const plans = await plansOf(A, how);
  const setUp = (performance.now() - start) * 1e6;
  const [lower, upper] = plans;
  const run = async () => {
    await lower.solve(x, between);
    return upper.solve(between, y);
  };
  const [outcome] = await race([{ name: how.schedule, run, read: (resident) => resident.read() }], { rounds, warmUp: 0 });
  for (const plan of plans) await plan.free();
  const { median: solve, min, rounds: times } = outcome;
  return { levels: plans.map(({ levels }) => levels), setUp, solve, min, rounds: times, result: await outcome.result };
}

/** The smallest number of solves with which a schedule takes less time in all than another one; null if it never does for good. */
function solvesToPay(one, other) {
  if (one.schedule === other.schedule) return undefined;
  if (one.solve >= other.solve) return null;
  return Math.max(0, Math.floor((one.setUp - other.setUp) / (other.solve - one.solve)) + 1);
}

function printGroup(title, cases) {
  for (const { name, missing } of cases.filter((one) => one.missing)) console.log(`\n${name} is not measured: ${missing}`);
  const measured = cases.filter((one) => !one.missing);
  const inBinary64 = measured.filter(({ precision }) => precision === BINARY64);
  print(
    `${title}: GFLOPS`,
    measured,
    ({ name, precision }, mode) => `${name}, ${precision}, ${mode}`,
    ({ gflops }) => figure(gflops),
  );
  print(
    `${title}: set-up in ms (in solves), binary64`,
    inBinary64,
    ({ name }, mode) => `${name}, ${mode}`,
    ({ setUp, setUpInSolves }) => `${figure(setUp / 1e6)} (${figure(setUpInSolves)})`,
  );
  print(
    `${title}: solves after which it pays against serial, against gsf`,
    inBinary64,
    ({ name }, mode) => `${name}, ${mode}`,
    ({ paysAgainst: { serial, gsf } }) => [serial, gsf].map((solves) => (solves === undefined ? "-" : (solves ?? "never"))).join(", "),
  );
  console.log(`\n${title}: levels, lower and upper, and what "auto" chose for the lower triangle`);
  for (const {
    name,
    n,
    entries,
    unit,
    auto: [ofLower],
    schedules,
  } of inBinary64) {
    const [lower, upper] = schedules.find(({ schedule }) => schedule === "levr").levels;
    const diagonal = unit ? ", ones for the diagonal, which has gaps or zeros" : "";
    console.log(
      `  ${name}: ${count(n)} rows, ${count(entries)} entries${diagonal}; ${count(lower)}, ${count(upper)}; ${ofLower.schedule}: ${ofLower.reason}`,
    );
  }
}

// A line for every case and mode, a column for every schedule.
function print(title, cases, label, cell) {
  console.log(`\n${title}`);
  const rows = cases.flatMap((one) =>
    Object.keys(MODES).map((mode) => [label(one, mode), ...one.schedules.filter((row) => row.mode === mode).map(cell)]),
  );
  printTable(["", ...SCHEDULES], rows);
}

function save() {
  const file = options.json ?? (scale === 1 ? join(ROOT, "bench/results/sparse-tables.json") : undefined);
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  const origin = {
    benchmark: "sparse-tables",
    date: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    versions: versions([]),
  };
  writeFileSync(file, json({ ...origin, engine: pool.device, unit: "ns", scale, rounds, groups }));
  console.log(`\nRaw results: ${file}`);
}
