// npm run everywhere: the corpus on every configuration that can be had, its hashes compared with src/everywhere/expected.ts, and the table
// as JSON (bench/results/everywhere.json) and as a page (docs/everywhere.md).
//   npm run everywhere                          all of it, an hour; fetches runtimes from npm, once
//   npm run everywhere -- --quick               what npm run setup has installed, a few minutes; writes no file
//   npm run everywhere -- --only qemu --only firefox   the rows with one of these in their names or groups; the others stay
//   npm run everywhere -- --merge FILE          adds the rows that another machine has measured
// On a machine without a network, in the folder of npm run carry:  ./node scripts/everywhere/everywhere.mjs --here --json FILE
// The exit code is 1 if a hash differs, or if a configuration that is there fails.
import "../softwareGpu.mjs";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { commit, machine } from "../../bench/harness/provenance.mjs";
import { CORPUS_SIZES, routineNames } from "../../dist/everywhere/corpus.js";
import { EXPECTED } from "../../dist/everywhere/expected.js";
import { configurations, engines } from "./configurations.mjs";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    here: { type: "boolean" },
    only: { type: "string", multiple: true },
    corpus: { type: "string" },
    json: { type: "string" },
    merge: { type: "string", multiple: true },
    seconds: { type: "string", default: "3600" },
    fault: { type: "string" }, // of a test: the routine with a wrong bit, in the configurations that run.mjs runs
  },
});
const QUICKER = { large: "full", full: "short", short: "short" };
const from = commit();
const root = fileURLToPath(new URL("../..", import.meta.url));
const OTHER_MACHINES = "Other machines";
const RESULTS = `${root}bench/results/everywhere.json`;
const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : { rows: [] };

const words = values.only?.map((word) => word.toLowerCase());
const isChosen = ({ name, group, quick }) =>
  (!values.quick || quick) && (words?.some((word) => `${group}, ${name}`.toLowerCase().includes(word)) ?? true);

const isRecorded = !values.quick && !values.here && !values.fault && values.json === undefined;
let rows;
if (values.merge) rows = merged(values.merge.flatMap((file) => named(JSON.parse(readFileSync(file, "utf8")))));
else {
  if (!values.quick && !values.here) fetchPackages();
  const list = values.here ? engines() : configurations();
  const elsewhere = before.rows.filter(({ group }) => group === OTHER_MACHINES);
  const others = values.quick || values.here ? [] : elsewhere.length > 0 ? elsewhere : notMeasured();
  // What is not chosen, or not yet measured, stays as it was.
  const found = list.map((each) =>
    isRecorded ? before.rows.find(({ group, name }) => group === each.group && name === each.name) : undefined,
  );
  const current = () => [...found.filter(Boolean), ...others];
  for (const [k, each] of list.entries()) {
    if (!isChosen(each)) continue;
    found[k] = await measured(each);
    if (isRecorded) record(current()); // a run of an hour may be ended
  }
  rows = current();
}

const bad = rows.filter(({ status }) => status === "different" || status === "failed");
const equal = rows.filter(({ status }) => status === "equal");
console.log(
  bad.length === 0
    ? `\n${equal.length} configurations, one hash: ${EXPECTED.short.all}`
    : `\nWRONG: ${bad.map(({ name, wrong, reason }) => `${name} (${wrong?.join("; ") ?? reason})`).join(", ")}`,
);
if (values.json) writeFileSync(values.json, `${JSON.stringify(resultsOf(rows), null, 1)}\n`);
else if (isRecorded) record(rows);
process.exit(bad.length === 0 ? 0 : 1);

function resultsOf(measurements) {
  const date = new Date().toISOString().slice(0, 10);
  return { benchmark: "everywhere", date, commit: from, machine: machine(), expected: sums(), rows: measurements };
}

function record(measurements) {
  writeFileSync(RESULTS, `${JSON.stringify(resultsOf(measurements), null, 1)}\n`);
  execFileSync(process.execPath, [fileURLToPath(new URL("../everywhereDocs.mjs", import.meta.url))], { stdio: "inherit" });
}

function sums() {
  return Object.fromEntries(CORPUS_SIZES.map((size) => [size, EXPECTED[size].all]));
}

async function measured({ group, name, corpus, missing, run }) {
  const row = { group, name, corpus: values.corpus ?? (values.quick ? QUICKER[corpus] : corpus) };
  process.stdout.write(`${`${group}: ${name}`.padEnd(64)} `);
  const outcome = missing === undefined ? judged(row, await run(row.corpus, limits())) : { ...row, status: "missing", reason: missing };
  const { status, seconds, wrong, reason } = outcome;
  const said = { equal: `equal, ${seconds?.toFixed(1)} s`, different: `DIFFERENT: ${wrong?.join("; ")}`, failed: `FAILED: ${reason}` };
  console.log(said[status] ?? `missing: ${reason}`);
  return outcome;
}

function limits() {
  return { seconds: Number(values.seconds), fault: values.fault ? { routine: values.fault } : undefined };
}

// A configuration that lacks routines, as ranks do, is compared in those that it has.
function judged(row, { error, version, device, seconds, hashes }) {
  if (error !== undefined) return { ...row, status: "failed", reason: error };
  const wrong = new Set();
  for (const [size, { routines }] of Object.entries(hashes))
    for (const [name, hash] of Object.entries(routines)) if (hash !== EXPECTED[size].routines[name]) wrong.add(name);
  const count = Object.keys(hashes.short.routines).length;
  const all = Object.fromEntries(Object.entries(hashes).map(([size, { all: hash }]) => [size, hash]));
  return {
    ...row,
    status: wrong.size === 0 && count > 0 ? "equal" : "different",
    version,
    device,
    seconds: Number(seconds.toFixed(2)),
    ...(wrong.size > 0 && { wrong: [...wrong] }),
    ...(count === routineNames.length ? { hashes: all } : { routines: Object.keys(hashes.short.routines) }),
    commit: from,
  };
}

// ---------------------------------------------------------------- other machines

// What has been asked for and needs a machine that is not here.
function notMeasured() {
  return ["NVIDIA H200, opencl", "NVIDIA H200, webgpu"].map((name) => ({ group: OTHER_MACHINES, name, status: "not measured" }));
}

// Rows that say where they were measured.
function named({ machine: { processors, processor }, rows: found }) {
  return found
    .filter(({ status }) => status !== "missing")
    .map((row) => ({
      ...row,
      group: OTHER_MACHINES,
      name: `${processors} x ${processor}: ${row.device ?? "unknown device"}, ${row.name}`,
    }));
}

// The rows of another machine beside those that this one has measured; a row of the same name is replaced.
function merged(others) {
  const open = notMeasured().filter(
    ({ name }) => !others.some((row) => name.split(", ").every((word) => row.name.toLowerCase().includes(word.toLowerCase()))),
  );
  const kept = before.rows.filter(
    ({ group, name, status }) => status !== "not measured" && !(group === OTHER_MACHINES && others.some((row) => row.name === name)),
  );
  return [...kept, ...others, ...open];
}

// ---------------------------------------------------------------- what can be fetched

function fetchPackages() {
  for (const folder of ["../package", "."]) {
    const path = fileURLToPath(new URL(folder, import.meta.url));
    const { dependencies } = JSON.parse(readFileSync(`${path}/package.json`, "utf8"));
    if (Object.keys(dependencies).every((name) => existsSync(`${path}/node_modules/${name}`))) continue;
    try {
      // forced: some are for other processors
      execFileSync("npm", ["install", "--force", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: path, stdio: "ignore" });
    } catch {
      console.log(`npm install in ${path} failed: what it would have fetched is listed as missing`);
    }
  }
}
