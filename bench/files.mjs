// halfulp mean --by over a CSV file of 1 GB with 1,000 groups, from a warm cache: speed per thread and peak memory. The file is written to
// the temporary folder, always the same one. --mb makes it smaller, --quick smaller still.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quick, rounds, wholeNumber } from "./harness/options.mjs";
import { ROOT } from "./harness/provenance.mjs";
import { originOf, printLimits, printMachine, save } from "./harness/session.mjs";
import { figure, printTable } from "./harness/table.mjs";

const GROUPS = 1000;
const megabytes = wholeNumber("mb", quick ? 20 : 1000);
// When the process ends, it tells its processor time and peak memory.
const METER = `process.on("exit", () => { const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  require("node:fs").writeSync(2, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, peakMB: maxRSS * 1024 / 1e6 })); });`;

// A linear congruential generator: the same numbers everywhere.
let state = 1;
const below = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};
const day = () => `2026-${String(1 + below(12)).padStart(2, "0")}-${String(1 + below(28)).padStart(2, "0")}`;
const region = () => `region-${String(below(GROUPS)).padStart(4, "0")}`;

const FILES = {
  "prices with two decimals": () => `${region()},${day()},${(below(1e7) / 100).toFixed(2)},${below(100)}\n`,
  "doubles with 15 to 17 digits": () => `${region()},${day()},${below(2 ** 31) / 1e4 + below(2 ** 31) / 2 ** 55},${below(100)}\n`,
};

const origin = originOf("files", []);
printMachine(origin);
console.log(`${megabytes} MB, ${GROUPS} groups, ${rounds} rounds from a warm cache; times are medians`);

const results = Object.entries(FILES).map(([name, row]) => {
  const path = join(tmpdir(), `halfulp-bench-${process.pid}.csv`);
  try {
    write(path, row);
    const bytes = statSync(path).size;
    const floor = median(Array.from({ length: rounds }, () => timed(() => readWhole(path))));
    const cases = [
      ["mean", "--by", "region"],
      ["mean"],
      ["mean", "--weights", "amount", "--by", "region"],
      ["variance", "--by", "region"],
    ].map(([command, ...options]) => {
      const runs = Array.from({ length: rounds }, () => run([command, path, "--column", "price", ...options]));
      return { command: [command, ...options].join(" "), runs, hash: runs[0].hash };
    });
    return { name, bytes, readSeconds: floor, cases };
  } finally {
    rmSync(path, { force: true });
  }
});

for (const { name, bytes, readSeconds, cases } of results) {
  console.log(`\n${name}: reading alone ${figure(bytes / 1e6 / readSeconds)} MB/s`);
  const rows = cases.map(({ command, runs }) => [
    command,
    figure(speed(bytes, runs)),
    figure(bytes / 1e6 / median(runs.map(({ cpu }) => cpu))),
    figure(Math.max(...runs.map(({ peakMB }) => peakMB))),
  ]);
  printTable(["", "MB/s", "MB per second of processor time", "peak MB"], rows);
}
const [{ bytes, cases }] = results;
printLimits("mean --by", [
  { row: "MB/s", value: speed(bytes, cases[0].runs), unit: "", limit: 200, aim: 400, atLeast: true },
  { row: "peak MB", value: Math.max(...cases[0].runs.map(({ peakMB }) => peakMB)), unit: "", limit: 300 },
]);
save(origin, { unit: "seconds", groups: GROUPS, rounds, results });

function write(path, row) {
  state = 1;
  const file = openSync(path, "w");
  writeSync(file, "region,date,price,amount\n");
  for (let written = 0; written < megabytes * 1e6; ) written += writeSync(file, Array.from({ length: 20_000 }, row).join(""));
  closeSync(file);
}

function readWhole(path) {
  const file = openSync(path, "r");
  const buffer = new Uint8Array(2 ** 20);
  while (readSync(file, buffer) > 0);
  closeSync(file);
}

function run(args) {
  const line = [
    "--import",
    `data:text/javascript,import{createRequire}from"node:module";const require=createRequire("/");${encodeURIComponent(METER)}`,
  ];
  let child;
  const seconds = timed(() => {
    child = spawnSync(process.execPath, [...line, join(ROOT, "dist/cli/main.js"), ...args], { encoding: "utf8", maxBuffer: 2 ** 28 });
  });
  if (child.status !== 0) throw new Error(child.stderr);
  return { seconds, ...JSON.parse(child.stderr), hash: createHash("sha256").update(child.stdout).digest("hex") };
}

function timed(body) {
  const start = performance.now();
  body();
  return (performance.now() - start) / 1000;
}

function speed(bytes, runs) {
  return bytes / 1e6 / median(runs.map(({ seconds }) => seconds));
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
