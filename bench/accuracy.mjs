// The accuracy figures of the papers as data: relative forward errors against the condition number, each computed
// exactly from the exact solution and rounded once.
//   node bench/accuracy.mjs [--json FILE] [--seeds 5] [--engine embedded]
// Every engine returns the same bits, so the errors depend on nothing but the commit.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { ACCURACY_CURVES, measureAccuracy, methodsOf, worst } from "../dist/report/measure/accuracy.js";
import { study } from "./library.mjs";
import { commit, machine, ROOT, versions } from "./provenance.mjs";
import { printTable } from "./table.mjs";

const { values: options } = parseArgs({
  options: { json: { type: "string" }, seeds: { type: "string", default: "5" }, engine: { type: "string", default: "embedded" } },
});
const seeds = Number(options.seeds);
if (!(Number.isInteger(seeds) && seeds > 0)) throw new Error(`--seeds is ${options.seeds}, expected a whole number from 1 on`);
const engine = study.kernels(options.engine);
if (engine === undefined) throw new Error(`--engine is ${options.engine}, which does not run here`);

const TITLES = { gemv: "gemv", trsv: "trsv", trsvRepresentable: "trsv with a representable solution", lu: "LU" };
const results = {};
for (const which of ACCURACY_CURVES) {
  results[which] = measureAccuracy(which, engine, { n: 40, seeds, every: 1 });
  print(TITLES[which], results[which]);
}
save();

// The largest error of the seeds.
function print(title, curve) {
  const methods = methodsOf(curve);
  const conditions = [...new Set(curve.points.map(({ asked }) => asked))];
  console.log(`\n${title}, n = ${curve.n}: the largest error of ${seeds} seeds`);
  printTable(
    ["condition", ...methods],
    conditions.map((asked) => [asked.toExponential(0), ...methods.map((method) => worst(curve, asked, method).toExponential(1))]),
  );
}

function save() {
  const file = options.json ?? join(ROOT, "bench/results/accuracy.json");
  const origin = {
    benchmark: "accuracy",
    date: new Date().toISOString(),
    commit: commit(),
    machine: machine(),
    versions: versions([]),
    engine: engine.name,
  };
  // One point a line. An error of null is one of a solution that is not finite.
  const text = JSON.stringify({ ...origin, ...results }, undefined, 2).replace(/\{\s+"asked"[^}]*\}/g, (point) =>
    point.replace(/\s+/g, " "),
  );
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text}\n`);
  console.log(`\nRaw results: ${file}`);
}
