// Two builds of the library side by side, through the public API: the ratio of their times, after / before, and whether their results
// have the same bits. Each build runs in a process of its own; their timings alternate, and so does the order.
//   node bench/compare.mjs BEFORE_DIST AFTER_DIST [--rounds 25] [--pairs 5] [--only level1,dense] [--json FILE] [--quick]
//     [--opencl [--device NAME] [--large]]
// --pairs is the number of pairs of processes that share the rounds: code and data lie elsewhere in each, which alone can change a time
// by some percent. --opencl adds an OpenCL device, --large sizes for a real GPU. --quick: two rounds of one pair.
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { GROUPS } from "./compare/cases.mjs";
import { chosenOf, device, options, positionals, quick, rounds, wholeNumber } from "./harness/options.mjs";
import { commit } from "./harness/provenance.mjs";
import { quantile } from "./harness/race.mjs";
import { originOf, printMachine, save } from "./harness/session.mjs";
import { figure, printTable } from "./harness/table.mjs";

const CHILD = new URL("compare/child.mjs", import.meta.url);
const MAX_TIME = 10_000; // milliseconds of timings per build, case and pair, unless one round takes longer
const NOTICEABLE = 0.03; // a median this far from 1, with both quartiles on the same side, is pointed out
const SIDES = ["before", "after"];

if (positionals.length !== 2) throw new Error(`compare: ${positionals.length} folders, expected BEFORE_DIST and AFTER_DIST`);
const folders = positionals.map((folder) => resolve(folder));
for (const folder of folders)
  if (!existsSync(join(folder, "index.js"))) throw new Error(`compare: ${folder} has no index.js, expected a build`);
const pairs = Math.min(wholeNumber("pairs", quick ? 1 : 5), rounds);
const chosen = chosenOf(Object.keys(GROUPS)).filter((group) => group !== "opencl" || options.opencl);
const settings = JSON.stringify({ device, large: options.large ?? false });

const builds = Object.fromEntries(SIDES.map((side, k) => [side, { commit: commit(dirname(folders[k])) }]));
const origin = { ...originOf("compare", ["koffi"]), builds };
printMachine(origin);
for (const [k, side] of SIDES.entries()) console.log(`${side}: ${folders[k]}, ${builds[side].commit}`);
console.log(`${rounds} rounds in ${pairs} pair${pairs === 1 ? "" : "s"} of processes; ratios are after / before, medians and quartiles.`);

const measured = new Map(); // by group and name: { times: { before, after }, ratios, sameBits }
const failures = [];
for (const group of chosen) {
  const start = performance.now();
  for (let pair = 0; pair < pairs; pair++) await measurePair(group, pair);
  printGroup(group);
  console.log(`  (${((performance.now() - start) / 1e3).toFixed(1)} s)`);
  save(origin, { unit: "ns per call", rounds, pairs, cases: results(), failures }, { standard: null });
}
for (const failure of failures) console.error(`\nFailed: ${failure}`);
if (failures.length > 0) process.exitCode = 1;

async function measurePair(group, pair) {
  const children = folders.map((folder) => childOf(folder, group));
  try {
    const [names, others] = [await children[0].ask("open"), await children[1].ask("open")];
    for (const name of names.filter((one) => others.includes(one))) await measureCase(group, name, children, pair);
  } catch (error) {
    failures.push(`${group}: ${error.message}`);
  } finally {
    for (const child of children) child.end();
  }
}

async function measureCase(group, name, children, pair) {
  const key = `${group}: ${name}`;
  try {
    let once = 0;
    for (const child of children) once = Math.max(once, await child.ask("setUp", name));
    const share = Math.ceil((rounds - pair) / pairs); // the rounds of this pair
    const many = Math.max(1, Math.min(share, Math.floor(MAX_TIME / once)));
    const record = measured.get(key) ?? { group, name, times: { before: [], after: [] }, ratios: [], sameBits: true };
    measured.set(key, record);
    for (let round = 0; round < many; round++) {
      const times = [];
      for (const k of (round + pair) % 2 === 0 ? [0, 1] : [1, 0]) times[k] = await children[k].ask("time");
      for (const [k, side] of SIDES.entries()) record.times[side].push(times[k]);
      record.ratios.push(times[1] / times[0]);
    }
    const hashes = [await children[0].ask("finish"), await children[1].ask("finish")];
    if (hashes[0] !== hashes[1]) record.sameBits = false;
  } catch (error) {
    failures.push(`${key}: ${error.message}`);
  }
}

// A process with one build, and how to ask it for something.
function childOf(folder, group) {
  const needsFlag = Number(process.versions.node.split(".")[0]) < 22;
  const env = { ...(needsFlag && { HALFULP_RELAXED_SIMD: "1" }), ...process.env };
  const child = fork(CHILD, [folder, group, settings], { env });
  const ask = (command, value) =>
    new Promise((resolveWith, reject) => {
      const gone = (code) => reject(new Error(`the process of ${folder} ended with code ${code}`));
      child.once("exit", gone);
      child.once("message", (answer) => {
        child.off("exit", gone);
        if (answer.error) reject(new Error(answer.error));
        else resolveWith(answer.value);
      });
      child.send({ command, value });
    });
  const end = () => {
    if (child.connected) ask("close").catch(() => {});
  };
  return { ask, end };
}

function results() {
  return [...measured.values()].map((record) => ({ ...record, ratio: quartiles(record.ratios) }));
}

function quartiles(numbers) {
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((q) => quantile(numbers, q));
  return { median, q1, q3 };
}

function printGroup(group) {
  const rows = results()
    .filter((one) => one.group === group)
    .map(({ name, times, ratio: { median, q1, q3 }, sameBits }) => [
      name,
      ...SIDES.map((side) => duration(quantile(times[side], 0.5))),
      median.toFixed(3),
      q1.toFixed(3),
      q3.toFixed(3),
      [verdict(median, q1, q3), sameBits ? undefined : "DIFFERENT BITS"].filter(Boolean).join(", "),
    ]);
  console.log(`\n${group}`);
  printTable(["", ...SIDES, "after / before", "quartile", "quartile", ""], rows);
}

function verdict(median, q1, q3) {
  if (median > 1 + NOTICEABLE && q1 > 1) return "slower";
  return median < 1 - NOTICEABLE && q3 < 1 ? "faster" : undefined;
}

function duration(ns) {
  const [unit, scale] = ns < 1e4 ? ["ns", 1] : ns < 1e7 ? ["µs", 1e3] : ["ms", 1e6];
  return `${figure(ns / scale)} ${unit}`;
}
