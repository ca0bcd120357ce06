// Routines over ranks (npm run bench:ranks): starts the programs of bench/ranks under mpirun, on one rank and on several, with every MPI
// library that is installed. The peer of short calls is a C program's MPI_Allreduce of one double; everything else is compared with one
// rank.
//   node bench/ranks.mjs [--ranks 2,8] [--only level1,cg] [--json FILE] [--quick]
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { options, quick } from "./harness/options.mjs";
import { ROOT } from "./harness/provenance.mjs";
import { originOf, printLimits, printMachine, save } from "./harness/session.mjs";
import { figure, printTable } from "./harness/table.mjs";

const LIBRARIES = [
  { name: "mpich", command: "mpirun.mpich", compiler: "mpicc.mpich", flags: [] },
  { name: "openmpi", command: "mpirun.openmpi", compiler: "mpicc.openmpi", flags: ["--allow-run-as-root", "--oversubscribe"] },
  { name: "openmpi", command: "mpirun", compiler: "mpicc", flags: ["--allow-run-as-root", "--oversubscribe"] }, // its own installation
];
const counts = (options.ranks ?? "2,8").split(",").map(Number);
const sections = (options.only ?? "level1,cg").split(",");
const cores = availableParallelism();

const found = LIBRARIES.filter(({ command }) => spawnSync(command, ["--version"]).status === 0);
const libraries = found.filter(({ name }, i) => found.findIndex((each) => each.name === name) === i);
const origin = originOf("ranks", ["koffi"]);
printMachine(origin);
const results = libraries.map(measure);
const limits = results.flatMap(limitsOf);
printLimits("routines over ranks", limits);
save(origin, { cores, results, limits });

function measure(library) {
  console.log(`\n${library.command}`);
  const result = { library: library.name, allreduceUs: sections.includes("level1") ? latencies(library) : undefined, level1: [], cg: [] };
  for (const ranks of [1, ...counts]) {
    const crowded = ranks > cores;
    if (sections.includes("level1"))
      result.level1.push(job(library, ranks, "level1.mjs", ["--length", size(16_000_000), "--calls", crowded ? "200" : "3000"]));
    if (sections.includes("cg") && !crowded) result.cg.push(job(library, ranks, "cg.mjs", quick ? ["24", "10"] : ["96", "40"]));
  }
  if (result.level1.length > 0)
    printTable(
      ["ranks", "short exdot", "MPI_Allreduce, C", "long exdot", "speed-up", "a second of waiting"],
      result.level1.map(({ ranks, shortUs, longMs, waitCpuMs }) => [
        String(ranks),
        `${figure(shortUs)} us`,
        result.allreduceUs?.[ranks] === undefined ? "" : `${figure(result.allreduceUs[ranks])} us`,
        `${figure(longMs)} ms`,
        figure(result.level1[0].longMs / longMs),
        `${figure(waitCpuMs)} ms`,
      ]),
    );
  if (result.cg.length > 0)
    printTable(
      ["ranks", "cg, an iteration", "speed-up"],
      result.cg.map(({ ranks, msPerIteration }) => [
        String(ranks),
        `${figure(msPerIteration)} ms`,
        figure(result.cg[0].msPerIteration / msPerIteration),
      ]),
    );
  return result;
}

function size(n) {
  return String(quick ? n / 100 : n);
}

function start({ command, flags }, ranks, words) {
  return execFileSync(command, [...flags, "-n", String(ranks), ...words], {
    encoding: "utf8",
    env: { ...process.env, HALFULP_RELAXED_SIMD: "1" },
  });
}

function job(library, ranks, program, args) {
  const line = start(library, ranks, [process.execPath, join(ROOT, "bench/ranks", program), ...args])
    .trim()
    .split("\n")
    .at(-1);
  return JSON.parse(line);
}

// Microseconds of the C program, by number of ranks; undefined without a compiler.
function latencies(library) {
  const file = join(mkdtempSync(join(tmpdir(), "halfulp-")), "latency");
  const { status } = spawnSync(library.compiler, ["-O2", join(ROOT, "bench/ranks/latency.c"), "-o", file]);
  if (status !== 0) {
    console.log(`${library.compiler} is not installed: no comparison with MPI_Allreduce`);
    return undefined;
  }
  return Object.fromEntries(counts.filter((ranks) => ranks <= cores).map((ranks) => [ranks, Number(start(library, ranks, [file]))]));
}

function limitsOf({ library, allreduceUs = {}, level1 }) {
  const rows = [];
  for (const { ranks, shortUs, longMs, waitCpuMs } of level1.slice(1)) {
    const row = (what) => `${library}, ${ranks} ranks: ${what}`;
    if (ranks > cores) rows.push({ row: row("exdot of short parts"), value: shortUs / 1000, unit: " ms", limit: 10 });
    else {
      if (allreduceUs[ranks] !== undefined)
        rows.push({
          row: row("exdot of short parts over MPI_Allreduce"),
          value: shortUs - allreduceUs[ranks],
          unit: " us",
          limit: 50,
          aim: 25,
        });
      if (ranks === 2)
        rows.push({ row: row("exdot of 16,000,000, speed-up"), value: level1[0].longMs / longMs, unit: "", limit: 1.6, atLeast: true });
    }
    rows.push({ row: row("processor time of a second of waiting"), value: waitCpuMs, unit: " ms", limit: 50 });
  }
  return rows;
}
