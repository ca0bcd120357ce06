// What every benchmark has around its cases: the options, where results come from, the table of limits, the file.
//   node bench/<benchmark>.mjs [--rounds 25] [--json FILE] [--quick]
// --quick is a smoke test: small cases, three rounds, and no file unless --json names one.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { askedHere, ENGINES, engines } from "./library.mjs";
import { commit, machine, ROOT, versions } from "./provenance.mjs";
import { figure, json, printTable } from "./table.mjs";

const { values: options } = parseArgs({
  options: { rounds: { type: "string" }, json: { type: "string" }, quick: { type: "boolean", default: false } },
});
export const quick = options.quick;
export const rounds = Number(options.rounds ?? (quick ? 3 : 25));
if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error(`--rounds is ${options.rounds}, expected a whole number from 1 on`);
export const pace = { rounds, warmUp: quick ? 20 : 50 };

/** Where the results of a benchmark come from; `peer` is the library that was loaded beside ours, under its `name`. */
export function originOf(benchmark, packages, peer, name = "openblas") {
  return {
    benchmark,
    date: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    versions: { ...versions(packages), [name]: peer.missing ? "not installed" : `${peer.config} (${peer.note})` },
  };
}

/** Origin, conditions, and what is not measured here. Of each call of the library so many nanoseconds are koffi's. */
export function printOrigin(origin, peer, callTime) {
  const { processor, processors, memoryGiB, kernel } = origin.machine;
  console.log(`halfulp ${origin.versions.halfulp}, ${origin.commit}, ${origin.date}`);
  console.log(
    `${processor}, ${processors} processors, ${memoryGiB} GiB, ${kernel}; Node ${origin.versions.node}, V8 ${origin.versions.v8}`,
  );
  console.log(`One thread, every rival in every round, ${rounds} rounds. Times are medians.`);
  if (askedHere) console.log("Relaxed SIMD is behind a flag in this Node: asked for here by HALFULP_RELAXED_SIMD=1.");
  for (const name of ENGINES)
    if (!engines.some((kernels) => kernels.name === name)) console.log(`${name} does not run here and is not measured.`);
  if (peer.missing) console.log(peer.missing);
  else console.log(`${peer.config} (${peer.note}). Of each call ${figure(callTime)} ns are koffi's: they count where data are few.`);
}

/** Rows of { row, value, unit, limit, aim, least }: a value is to stay below its limit, or with `least` reach it. */
export function printLimits(what, rows) {
  console.log(`\nWhat ${what} held to${quick ? ", at the sizes of a smoke test" : ""}`);
  const cells = rows.map(({ row, value, unit, limit, aim, least }) => [
    row,
    value === undefined ? "not measured" : `${figure(value)}${unit}`,
    `${least ? "at least " : ""}${limit}${unit}`,
    aim && `${aim}${unit}`,
    value === undefined ? undefined : verdict(value, limit, aim, least),
  ]);
  printTable(["", "figure", "limit", "aim", ""], cells);
}

function verdict(value, limit, aim, least) {
  if (least) return value < limit ? "BELOW THE LIMIT" : "good";
  if (value >= limit) return "OVER THE LIMIT";
  return aim && value > aim ? "within the limit" : "good";
}

/** The raw results, in the file of this benchmark and Node version unless another was asked for. */
export function save(origin, results) {
  const standard = join(ROOT, "bench/results", `${origin.benchmark}-${process.versions.node.split(".")[0]}.json`);
  const file = options.json ?? (quick ? undefined : standard);
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, json({ ...origin, unit: "ns per call", rounds, ...results }));
  console.log(`\nRaw results: ${file}`);
}
