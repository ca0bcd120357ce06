// The tables of the sparse paper as data: y = (U + D)^-1 (L + D)^-1 x with every schedule on as many threads as there are
// cores. GFLOPS of the two solves (formula 5.3), the set-up of both plans, the number of solves after which a schedule pays.
//   node bench/sparseTables.mjs [--rounds 5] [--json FILE] [--scale 1]
// Every axis of a grid has `scale` times its nodes. Other than at scale 1 there is no file unless --json names one.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { BINARY64, MODES, measureMatrix, SCHEDULES } from "../dist/report/measure/sparse.js";
import { main } from "./library.mjs";
import { commit, machine, ROOT, versions } from "./provenance.mjs";
import { groupsFor } from "./sparseMatrices.mjs";
import { missingThreads } from "./sparseThreads.mjs";
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
  for (const one of matrices) cases.push(...(await measureMatrix(pool, one, precisions, rounds)));
  printGroup(title, cases);
  groups.push({ title, cases });
}
await pool.close();
save();

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
