// Level 1 side by side, on one thread: exdot, exsum, exasum and exnrm2 against the plain SIMD loop, OpenBLAS and what
// else npm has.
//   node bench/level1.mjs [--rounds 25] [--json FILE] [--quick]
// --quick is a smoke test: short vectors, three rounds, and no file unless --json names one.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { kindsFor, vectors, WELL } from "./data.mjs";
import { race, timings } from "./harness.mjs";
import { askedHere, ENGINES, engines } from "./library.mjs";
import { limits } from "./limits.mjs";
import { openBlas, PACKAGES } from "./peers.mjs";
import { plainLoops } from "./plain.mjs";
import { commit, machine, ROOT, versions } from "./provenance.mjs";
import { isExactPeer, isOurs, PLAIN, rivalsFor, sameBits } from "./rivals.mjs";
import { raceStages } from "./stages.mjs";
import { count, figure, json, printTable } from "./table.mjs";

const LONGEST = 16_000_000;
const BYTES = { dot: 16, sum: 8, asum: 8, nrm2: 8 };

const { values: options } = parseArgs({
  options: { rounds: { type: "string" }, json: { type: "string" }, quick: { type: "boolean", default: false } },
});
const rounds = Number(options.rounds ?? (options.quick ? 3 : 25));
if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error(`--rounds is ${options.rounds}, expected a whole number from 1 on`);
const pace = { rounds, warmUp: options.quick ? 20 : 50 };
const sizes = [10, 100, 1000, 10_000, 100_000, 1_000_000, LONGEST].filter((n) => !options.quick || n <= 100_000);
const hard = options.quick ? 100_000 : 1_000_000; // the length at which difficult data and single stages are measured

const blas = await openBlas();
const plain = await plainLoops(LONGEST);
const origin = {
  benchmark: "level1",
  date: new Date().toISOString(),
  commit: commit(),
  machine: machine(),
  versions: { ...versions(PACKAGES), openblas: blas.missing ? "not installed" : `${blas.config} (${blas.note})` },
};

printHeader();
const floor = measureFloor();
const cases = Object.keys(BYTES).flatMap(measure);
const stages = raceStages(hard, { ...pace, rounds: Math.min(5, rounds) });
const verdicts = limits(cases, { longest: sizes.at(-1), hard, sizes });
printLimits(verdicts);
save();

function printHeader() {
  const { processor, processors, memoryGiB, kernel } = origin.machine;
  console.log(`halfulp ${origin.versions.halfulp}, ${origin.commit}, ${origin.date}`);
  console.log(
    `${processor}, ${processors} processors, ${memoryGiB} GiB, ${kernel}; Node ${origin.versions.node}, V8 ${origin.versions.v8}`,
  );
  console.log(`One thread, every rival in every round, ${rounds} rounds. Times are medians.`);
  if (askedHere) console.log("Relaxed SIMD is behind a flag in this Node: asked for here by HALFULP_RELAXED_SIMD=1.");
  for (const name of ENGINES)
    if (!engines.some((kernels) => kernels.name === name)) console.log(`${name} does not run here and is not measured.`);
  if (blas.missing) {
    console.log(blas.missing);
  } else {
    const empty = new Float64Array(0);
    const [call] = race([{ name: "empty call", run: () => blas.dot[0].run(empty, empty) }], pace);
    console.log(`${origin.versions.openblas}. Of each call ${figure(call.median)} ns are koffi's: they count where vectors are short.`);
  }
}

// What no reduction can be faster than once its data are in no cache: the time to read them.
function measureFloor() {
  const { x, y } = plain.place(new Float64Array(LONGEST).fill(1), new Float64Array(LONGEST));
  const [read, copy] = race(
    [
      { name: "read", run: () => plain.sum(x) },
      { name: "copy", run: () => y.set(x) },
    ],
    pace,
  );
  const result = { readGBs: (8 * LONGEST) / read.median, copyGBs: (16 * LONGEST) / copy.median };
  console.log(
    `\nThe floor: the plain sum of ${count(LONGEST)} elements reads ${figure(result.readGBs)} GB/s; a copy moves ${figure(result.copyGBs)} GB/s.`,
  );
  for (const [op, bytes] of Object.entries(BYTES)) console.log(`  ${op}: ${bytes} bytes an element, ${figure(bytes / result.readGBs)} ns`);
  return result;
}

function measure(op) {
  return kindsFor(op).flatMap((kind) =>
    (kind === WELL ? sizes : [hard]).map((n) => {
      const { rivals, free } = rivalsFor(op, vectors(kind, op, n), { plain, blas });
      const outcomes = race(rivals, pace);
      free();
      const ours = outcomes.filter((outcome) => isOurs(op, outcome));
      sameBits(ours, `${op}, n = ${n}, ${kind}`);
      printCase(op, kind, n, outcomes);
      for (const { name, result } of outcomes.filter(isExactPeer)) {
        if (!Object.is(result, ours[0].result)) console.log(`  ${name} returns ${result}, the exact sum rounds to ${ours[0].result}`);
      }
      return { op, kind, n, rivals: timings(outcomes) };
    }),
  );
}

function printCase(op, kind, n, outcomes) {
  console.log(`\n${op}, n = ${count(n)}, ${kind}`);
  const baseline = outcomes.find(({ name }) => name === blas[op]?.[0].name)?.median;
  const loop = outcomes.find(({ name }) => name === PLAIN).median;
  const rows = outcomes.map((outcome) => [
    outcome.name,
    n <= 1000 ? figure(outcome.median) : undefined,
    figure(outcome.median / n),
    figure(outcome.min / n),
    baseline && figure(outcome.median / baseline),
    figure(outcome.median / loop),
    isOurs(op, outcome) ? figure((outcome.median / n) * (floor.readGBs / BYTES[op])) : undefined,
    outcome.rounds.length < rounds ? `(${outcome.rounds.length} rounds)` : undefined,
  ]);
  printTable(["", "ns/call", "ns/element", "minimum", "/ OpenBLAS", "/ plain", "/ floor", ""], rows);
}

function printLimits(rows) {
  console.log(`\nWhat level 1 is held to${options.quick ? ", at the lengths of a smoke test" : ""}`);
  const cells = rows.map(({ row, value, unit, limit, aim }) => [
    row,
    value === undefined ? "not measured" : `${figure(value)}${unit}`,
    `${limit}${unit}`,
    aim && `${aim}${unit}`,
    value === undefined ? undefined : value >= limit ? "OVER THE LIMIT" : aim && value > aim ? "within the limit" : "good",
  ]);
  printTable(["", "figure", "limit", "aim", ""], cells);
}

function save() {
  const standard = join(ROOT, "bench/results", `level1-${process.versions.node.split(".")[0]}.json`);
  const file = options.json ?? (options.quick ? undefined : standard);
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, json({ ...origin, unit: "ns per call", rounds, floor, limits: verdicts, cases, stages }));
  console.log(`\nRaw results: ${file}`);
}
