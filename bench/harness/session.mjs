// What every benchmark does around its cases: the provenance of its results, the table of limits, the result file.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { askedHere, ENGINES, engines } from "./library.mjs";
import { file as namedFile, quick, rounds } from "./options.mjs";
import { commit, machine, ROOT, versions } from "./provenance.mjs";
import { figure, json, printTable } from "./table.mjs";

export const pace = { rounds, warmUp: quick ? 20 : 50 };

/** Where the results of a benchmark come from; `peer` is the library that was loaded beside ours, under its `name`. */
export function originOf(benchmark, packages, peer, name = "openblas") {
  const loaded = peer && { [name]: peer.missing ? "not installed" : `${peer.config} (${peer.note})` };
  return {
    benchmark,
    date: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    versions: { ...versions(packages), ...loaded },
  };
}

/** Origin, conditions, and what is not measured here. `callTime`: the nanoseconds that koffi adds to each call of the peer. */
export function printOrigin(origin, peer, callTime) {
  printMachine(origin);
  console.log(`One thread, every rival in every round, ${rounds} rounds. Times are medians.`);
  if (askedHere) console.log("Relaxed SIMD is behind a flag in this Node: enabled here with HALFULP_RELAXED_SIMD=1.");
  for (const name of ENGINES)
    if (!engines.some((kernels) => kernels.name === name)) console.log(`${name} does not run here and is not measured.`);
  if (peer.missing) console.log(peer.missing);
  else console.log(`${peer.config} (${peer.note}). koffi adds ${figure(callTime)} ns to each call, which matters for small data.`);
}

export function printMachine({ versions, commit, date, machine: { processor, processors, memoryGiB, kernel } }) {
  console.log(`halfulp ${versions.halfulp}, ${commit}, ${date}`);
  console.log(`${processor}, ${processors} processors, ${memoryGiB} GiB, ${kernel}; Node ${versions.node}, V8 ${versions.v8}`);
}

/** Rows of { row, value, unit, limit, aim, atLeast }: a value should stay below its limit or, with `atLeast`, reach it. */
export function printLimits(what, rows) {
  console.log(`\nLimits for ${what}${quick ? ", at the sizes of a smoke test" : ""}`);
  const cells = rows.map(({ row, value, unit, limit, aim, atLeast }) => [
    row,
    value === undefined ? "not measured" : `${figure(value)}${unit}`,
    `${atLeast ? "at least " : ""}${limit}${unit}`,
    aim && `${aim}${unit}`,
    value === undefined ? undefined : verdict(value, limit, aim, atLeast),
  ]);
  printTable(["", "figure", "limit", "aim", ""], cells);
}

function verdict(value, limit, aim, atLeast) {
  if (atLeast) return value < limit ? "BELOW THE LIMIT" : "good";
  if (value >= limit) return "OVER THE LIMIT";
  return aim && value > aim ? "within the limit" : "good";
}

/** The name of the standard result file of a benchmark that depends on the Node version. */
export function byVersion({ benchmark }) {
  return `${benchmark}-${process.versions.node.split(".")[0]}.json`;
}

/**
 * Write the raw results to the file that the command line names, else to `standard` in bench/results; null, and a smoke test,
 * write no file. `text` turns the results into text.
 */
export function save(origin, results, { standard = byVersion(origin), text = json } = {}) {
  const file = namedFile ?? (quick || standard === null ? undefined : join(ROOT, "bench/results", standard));
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text({ ...origin, ...results }));
  console.log(`\nRaw results: ${file}`);
}

/** Raw results of timings: nanoseconds per call. */
export function saveTimings(origin, results) {
  save(origin, { unit: "ns per call", rounds, ...results });
}
