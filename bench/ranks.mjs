// Routines over ranks (npm run bench:ranks): starts the programs of bench/ranks under mpirun, on one rank and on several, with every MPI
// library that is installed. The peer of short calls is a C program's MPI_Allreduce of one double; everything else is compared with one
// rank. Every round starts every job once, one rank and several in turn.
//   node bench/ranks.mjs [--ranks 2,8] [--only level1,dense,cg,solve,memory,messages] [--rounds 3] [--json FILE] [--quick]
// With --ranks 16 the sizes are those of a machine with 16 cores. docs/mpi-scaling.md is calibrated with the results: npm run docs.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { asWholeNumber, chosenOf, options, quick, rounds } from "./harness/options.mjs";
import { ROOT } from "./harness/provenance.mjs";
import { quantile } from "./harness/race.mjs";
import { originOf, printLimits, printMachine, save } from "./harness/session.mjs";
import { count, figure, printTable } from "./harness/table.mjs";
import { jobsFor, limitsOf, SECTIONS, timesOf } from "./ranks/cases.mjs";

// Several ranks, if each has a core, stay on it: on 16 cores exlu of order 4096 is then 6.2 instead of 5 times as fast as on one rank.
const OPEN_MPI = (ranks) => [
  "--allow-run-as-root",
  ...(ranks > 1 && ranks <= cores ? ["--use-hwthread-cpus", "--bind-to", "hwthread"] : ["--oversubscribe", "--bind-to", "none"]),
];
// Without ssh on the machine Open MPI does not start, unless it is told that it needs none.
const WITHOUT_SSH = { OMPI_MCA_plm_rsh_agent: "" };
const SECONDS = 300; // of a job, at most

const cores = availableParallelism();
const counts = (options.ranks ?? (cores < 16 ? "2,8" : "16")).split(",").map((word) => asWholeNumber("ranks", word));
const sections = chosenOf(SECTIONS);

const libraries = findLibraries();
const origin = originOf("ranks", ["koffi"]);
printMachine(origin);
if (libraries.length === 0) console.log("No mpirun on this machine: nothing is measured.");
const machine = machineLimits();
const results = libraries.map(measure);
const limits = results.flatMap(({ library, cases, allreduceUs }) => limitsOf(library, cases, allreduceUs, cores));
printLimits("routines over ranks", limits);
save(origin, { cores, counts, rounds, machineLimits: machine, limits, results });

// One of each kind: Debian's commands, else the mpirun of an installation of its own.
function findLibraries() {
  const found = ["mpirun.mpich", "mpirun.openmpi", "mpirun"].flatMap((command) => {
    const { status, stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
    if (status !== 0) return [];
    const isOpenMpi = /Open MPI|OpenRTE/.test(stdout);
    return [
      {
        name: isOpenMpi ? "openmpi" : "mpich",
        command,
        file: isOpenMpi ? "libmpi.so.40" : "libmpich.so.12",
        flags: isOpenMpi ? OPEN_MPI : () => [],
        env: isOpenMpi ? { ...WITHOUT_SSH, ...ownLibrary(command) } : {},
      },
    ];
  });
  return found.filter(({ name }, i) => found.findIndex((each) => each.name === name) === i);
}

// The library next to an mpirun of Open MPI outside of the usual folders, which the loader may not find by its name.
function ownLibrary(command) {
  const path = (process.env.PATH ?? "").split(":").find((folder) => existsSync(join(folder, command)));
  if (path === undefined || process.env.HALFULP_MPI !== undefined) return {};
  const file = join(dirname(realpathSync(join(path, command))), "../lib/libmpi.so.40");
  return existsSync(file) ? { HALFULP_MPI: file } : {};
}

function measure(library) {
  console.log(`\n${library.command}`);
  const allreduceUs = sections.includes("level1") ? latencies(library) : {};
  const cases = jobsFor(counts, cores, quick)
    .filter(({ section }) => sections.includes(section))
    .map((job) => {
      const result = compare(library, job);
      print(result, allreduceUs);
      return result;
    });
  return { library: library.name, allreduceUs, cases };
}

function compare(library, { section, name, n, program, args, crowded, several, once }) {
  const numbers = [...(several ? [] : [1]), ...counts.filter((ranks) => crowded || ranks <= cores)];
  const passes = numbers.map(() => []);
  for (let round = 0; round < (once ? 1 : rounds); round++)
    for (const [i, ranks] of numbers.entries()) {
      // No long vectors and few calls with more ranks than cores: only the wait counts.
      const words = ranks > cores ? [0, Math.min(args[1], 200)] : args;
      passes[i].push(start(library, ranks, [process.execPath, join(ROOT, "bench/ranks", program), ...words.map(String)]));
    }
  return { section, name, n, runs: numbers.map((ranks, i) => ({ ...merged(passes[i]), ranks, passes: once ? undefined : passes[i] })) };
}

// The result of a job: what its rank 0 prints, or why there is none.
function start({ command, flags, env }, ranks, words) {
  const { status, stdout, stderr, error } = spawnSync(command, [...flags(ranks), "-n", String(ranks), ...words], {
    encoding: "utf8",
    env: { ...process.env, ...env, HALFULP_RELAXED_SIMD: "1" },
    timeout: 1000 * SECONDS,
  });
  if (status === 0) return JSON.parse(stdout.trim().split("\n").at(-1));
  const lines = (stderr ?? "").split("\n").filter((line) => /\w/.test(line));
  const reason = lines.find((line) => /Error|halfulp:/.test(line)) ?? lines[0] ?? error?.message ?? `exit code ${status}`;
  return { failed: reason.trim() };
}

// The medians over all rounds; a failure, if there is one.
function merged(passes) {
  const failed = passes.find((pass) => pass.failed);
  if (failed) return failed;
  const [first] = passes;
  if (typeof first === "number") return quantile(passes, 0.5);
  if (typeof first !== "object") return first;
  if (Array.isArray(first)) return first.map((_, k) => merged(passes.map((pass) => pass[k])));
  return Object.fromEntries(Object.keys(first).map((key) => [key, merged(passes.map((pass) => pass[key]))]));
}

// Compiles a C program of bench/ranks and passes its path to `run`; undefined without a compiler.
function withProgram(name, flags, run) {
  const folder = mkdtempSync(join(tmpdir(), "halfulp-"));
  try {
    const program = join(folder, name);
    const { status } = spawnSync("cc", ["-O2", ...flags, join(ROOT, `bench/ranks/${name}.c`), "-o", program, "-ldl"]);
    if (status === 0) return run(program);
    console.log(`No C compiler on this machine: ${name}.c is not measured`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// How much faster several processes read and multiply than one if nothing is exchanged: ranks cannot gain more.
function machineLimits() {
  const several = counts.filter((ranks) => ranks > 1 && ranks <= cores);
  const result = withProgram("machine", ["-march=native"], (program) => {
    const times = (processes) => {
      const length = quick ? 100_000 : 16_000_000;
      const passes = Array.from({ length: rounds }, () => spawnSync(program, [String(processes), String(length)], { encoding: "utf8" }));
      return [0, 1].map((k) =>
        quantile(
          passes.map(({ stdout }) => Number(stdout.trim().split("\n")[k])),
          0.5,
        ),
      );
    };
    const alone = times(1);
    return several.map((processes) => {
      const [reading, arithmetic] = times(processes).map((ms, k) => alone[k] / ms);
      return { processes, reading, arithmetic };
    });
  });
  for (const { processes, reading, arithmetic } of result ?? [])
    console.log(
      `${processes} processes of C read ${figure(reading)} times as fast as one, and multiply ${figure(arithmetic)} times as fast.`,
    );
  return result;
}

// Microseconds of the C program, by number of ranks.
function latencies(library) {
  const us = withProgram("latency", [], (program) => {
    const each = (ranks) => start(library, ranks, [program, library.env.HALFULP_MPI ?? library.file]);
    return counts.filter((ranks) => ranks <= cores).map((ranks) => [ranks, each(ranks)]);
  });
  return Object.fromEntries((us ?? []).filter(([, each]) => typeof each === "number"));
}

function print(result, allreduceUs) {
  const { section, name, n, runs } = result;
  console.log(`\n${name}${n === undefined ? "" : section === "cg" ? ` and others, ${n}^3` : `, n = ${count(n)}`}`);
  for (const { ranks, failed } of runs) if (failed) console.log(`  ${ranks} ranks: ${failed}`);
  const done = runs.filter(({ failed }) => !failed);
  if (done.length === 0) return;
  if (section === "messages") return printMessages(done);
  const names = timesOf(result, done[0]).map(([each]) => each);
  const rows = done.map((run) => {
    const times = timesOf(result, run);
    const before = done[0].ranks === 1 ? timesOf(result, done[0]) : times;
    const cells = times.flatMap(([, ms], k) => (ms === undefined ? ["", ""] : [`${figure(ms)} ms`, figure(before[k][1] / ms)]));
    const allreduce = allreduceUs[run.ranks];
    const more =
      section === "level1"
        ? [`${figure(run.shortUs)} us`, allreduce === undefined ? "" : `${figure(allreduce)} us`, `${figure(run.waitCpuMs)} ms`]
        : [run.peakMB === undefined ? "" : `${figure(run.peakMB)} MB`];
    return [String(run.ranks), ...cells, ...more];
  });
  const more = section === "level1" ? ["short exdot", "MPI_Allreduce, C", "a second of waiting"] : ["above idle"];
  printTable(["ranks", ...names.flatMap((each) => [each, "speed-up"]), ...more], rows);
}

function printMessages(runs) {
  for (const { ranks, message, sum, broadcast, allgather } of runs)
    for (const [kind, rows] of Object.entries({ message, sum, broadcast, allgather }))
      console.log(`  ${ranks} ranks, ${kind}: ${rows.map(({ bytes, us }) => `${count(bytes)} bytes ${figure(us)} us`).join(", ")}`);
}
