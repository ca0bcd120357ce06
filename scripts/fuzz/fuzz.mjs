// npm run fuzz: every routine on every engine with random inputs, judged by two oracles (oracle.cpp), and mutated files, until a bit is
// wrong or the time is up. Appends what it has done to bench/results/fuzz-ledger.json.
//   npm run fuzz -- --minutes 30 --threads 16
//   npm run fuzz -- --minutes 1 --only exdot,sptrsv --engines reference,opencl
//   npm run fuzz -- --repeat exdot --engines functions --case 123456
//   npm run fuzz -- --merge FILE                adds the ledger of another machine, written there with --ledger FILE
// --seed gives the inputs; default: another one each time. A campaign may be ended with Ctrl-C, and is recorded up to there.
import "../softwareGpu.mjs";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { commit, machine } from "../../bench/harness/provenance.mjs";
import { buildOracles, loadOracles } from "./oracles.mjs";
import { ALL, inputOf, judged, minimized, routinesOf, shown } from "./trial.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const LEDGER = here("../../bench/results/fuzz-ledger.json");
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    threads: { type: "string", default: String(availableParallelism()) },
    only: { type: "string" },
    engines: { type: "string" },
    seed: { type: "string" },
    repeat: { type: "string" },
    case: { type: "string" },
    merge: { type: "string" },
    ledger: { type: "string", default: LEDGER },
    fault: { type: "string" }, // of a test: the routine whose last bit is wrong
  },
});
const readLedger = (file) => {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text === "" ? [] : JSON.parse(text).entries;
};
if (values.merge !== undefined) {
  writeLedger([...readLedger(values.ledger), ...readLedger(values.merge)]);
  process.exit();
}
const paths = await buildOracles();
if (values.repeat !== undefined) process.exit(await repeat());

const STUCK = 120_000; // milliseconds in one slice of a tenth of a second: a hang
const MAX_ENDING = 20_000; // milliseconds until the threads have ended
const base = values.seed === undefined ? Date.now() % 32_768 : Number(values.seed);
const threads = Number(values.threads);
const from = commit();
let deadline = Number.POSITIVE_INFINITY; // the time counts from the first case on
const sums = new Map();
let failure;

const stop = new Int32Array(new SharedArrayBuffer(4));
let workers = [];

const finished = new Promise((resolve) => {
  process.once("SIGINT", resolve);
  workers = Array.from({ length: threads }, (_, index) => {
    const worker = new Worker(new URL("worker.mjs", import.meta.url), {
      workerData: {
        paths,
        base,
        index,
        only: values.only?.toLowerCase().split(","),
        engines: values.engines?.split(","),
        fault: values.fault,
        stop,
      },
    });
    const state = { since: performance.now(), task: { name: "its start", engine: "none", seed: 0 } };
    const ended = new Promise((end) => worker.once("exit", end)).then(() => {
      state.since = Number.POSITIVE_INFINITY; // it had nothing to do on these engines
    });
    worker.on("message", ({ begins, done, failure: wrong }) => {
      if (begins) {
        Object.assign(state, { since: performance.now(), task: begins });
        deadline = Math.min(deadline, state.since + 60_000 * Number(values.minutes));
      }
      if (done) add(done);
      if (wrong) {
        failure ??= wrong;
        resolve();
      }
    });
    worker.on("error", (error) => {
      failure ??= { ...state.task, wrong: `the thread failed: ${error.stack ?? error}` };
      resolve();
    });
    return { worker, state, ended };
  });
  Promise.all(workers.map(({ ended }) => ended)).then(resolve);
  const timer = setInterval(() => {
    const now = performance.now();
    const stuck = workers.find(({ state }) => now - state.since > STUCK);
    if (stuck) failure ??= { ...stuck.state.task, wrong: `no answer for ${STUCK / 1000} s, in a slice that began with this case` };
    if (stuck || now > deadline) {
      clearInterval(timer);
      resolve();
    }
  }, 250);
});
await finished;
record();
if (failure) {
  const { name, engine, seed, wrong, case: smallest, left } = failure;
  console.log(`\nWRONG: ${name} on ${engine}: ${wrong}`);
  if (smallest !== undefined) console.log(`The smallest case found: ${smallest}\n${left}`);
  const which = engine === "none" ? "" : ` --engines "${engine}"`;
  console.log(`To repeat it: npm run fuzz -- --repeat "${name}"${which} --case ${seed}${values.fault ? ` --fault ${values.fault}` : ""}`);
}
// Threads end by themselves: Dawn aborts the process if one is ended within a call of it.
Atomics.store(stop, 0, 1);
await Promise.race([Promise.all(workers.map(({ ended }) => ended)), new Promise((resolve) => setTimeout(resolve, MAX_ENDING).unref())]);
process.exit(failure ? 1 : 0);

function add({ name, engine, cases, elements, seconds }) {
  const sum = sums.get(name) ?? { cases: 0, elements: 0, seconds: 0, engines: {} };
  sum.cases += cases;
  sum.elements += elements;
  sum.seconds += seconds;
  if (engine !== "none") sum.engines[engine] = (sum.engines[engine] ?? 0) + cases;
  sums.set(name, sum);
}

// A campaign that has found something is not recorded: the ledger is what was right.
function record() {
  const totals = {};
  for (const name of Object.keys(ALL)) {
    const sum = sums.get(name);
    if (!sum) continue;
    const { family } = ALL[name];
    totals[family] ??= { cases: 0, elements: 0 };
    const total = totals[family];
    total.cases += sum.cases;
    total.elements += sum.elements;
    console.log(
      `${name.padEnd(22)} ${String(sum.cases).padStart(11)} cases ${String(sum.elements).padStart(13)} elements ${sum.seconds.toFixed(1).padStart(8)} s`,
    );
  }
  for (const [family, { cases, elements }] of Object.entries(totals)) console.log(`${family}: ${cases} cases, ${elements} elements`);
  if (failure || values.fault || sums.size === 0) return;
  const entries = readLedger(values.ledger);
  const { processor, processors, architecture } = machine();
  const where = {
    seed: base,
    commit: from,
    date: new Date().toISOString().slice(0, 10),
    machine: `${processors} x ${processor}, ${architecture}`,
    threads,
  };
  for (const [what, { cases, elements, seconds, engines }] of [...sums].sort())
    entries.push({ what, family: ALL[what].family, cases, elements, seconds: Number(seconds.toFixed(1)), engines, ...where });
  writeLedger(entries);
}

function writeLedger(entries) {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)}`);
  writeFileSync(values.ledger, `{ "benchmark": "fuzz", "entries": [\n${lines.join(",\n")}\n] }\n`);
  if (values.ledger === LEDGER) execFileSync(process.execPath, [here("../everywhereDocs.mjs")], { stdio: "inherit" });
}

async function repeat() {
  const one = ALL[values.repeat];
  if (!one) throw new Error(`there is no ${values.repeat}, expected one of ${Object.keys(ALL).join(", ")}`);
  const oracles = await loadOracles(paths);
  const routines = one.withoutEngine ? {} : await routinesOf(values.engines ?? "functions", values.fault);
  const input = inputOf(one, Number(values.case));
  const wrong = await judged(one, routines, input, oracles);
  console.log(wrong === "" ? "right" : `WRONG: ${wrong}\n${shown(await minimized(one, routines, input, oracles))}`);
  return wrong === "" ? 0 : 1;
}
