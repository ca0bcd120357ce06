// The tables of the sparse paper as data (npm run bench:tables): y = (U + D)^-1 (L + D)^-1 x with every schedule on as many threads as
// there are cores. GFLOPS of the two solves (formula 5.3), the set-up of both plans, the number of solves after which a schedule pays.
//   node bench/sparseTables.mjs [--rounds 5] [--json FILE] [--scale 1] [--quick]
// Every axis of a grid has `scale` times its nodes. Other scales than 1 write no file unless --json names one. --quick: scale 0.1.
import { main, measurements, missingThreads } from "./harness/library.mjs";
import { options, quick, rounds } from "./harness/options.mjs";
import { originOf, save } from "./harness/session.mjs";
import { count, figure, printTable } from "./harness/table.mjs";
import { groupsFor } from "./sparse/matrices.mjs";

const { BINARY64, MODES, measureMatrix, SCHEDULES } = measurements.sparse;
const scale = Number(options.scale ?? (quick ? 0.1 : 1));
if (!(scale > 0 && scale <= 1)) throw new Error(`--scale is ${options.scale}, expected a number above 0 and at most 1`);
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
const standard = scale === 1 ? "sparse-tables.json" : null;
save(originOf("sparse-tables", []), { engine: pool.device, unit: "ns", scale, rounds, groups }, { standard });

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

// A row for every case and mode, a column for every schedule.
function print(title, cases, label, cell) {
  console.log(`\n${title}`);
  const rows = cases.flatMap((one) =>
    Object.keys(MODES).map((mode) => [label(one, mode), ...one.schedules.filter((row) => row.mode === mode).map(cell)]),
  );
  printTable(["", ...SCHEDULES], rows);
}
