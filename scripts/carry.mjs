// A folder with everything that a machine without a network needs to run the GPU benchmarks, those of ranks and the tests of engines: this
// package as built, its tests, koffi, and Node itself; with --before, another build of the package to compare with.
//   node scripts/carry.mjs [folder] [--before DIST]
// On that machine: ./node bench/gpu.mjs, ./node bench/cores.mjs, ./node bench/ranks.mjs --ranks 16,
// ./node bench/compare.mjs before/dist dist --opencl --large, and
// HALFULP_ENGINES=opencl ./node tests/run.mjs; ./node scripts/everywhere/everywhere.mjs --here --corpus large --json FILE and
// ./node scripts/fuzz/fuzz.mjs --minutes 30 --ledger FILE, whose files npm run everywhere and npm run fuzz take with --merge FILE
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { commit } from "../bench/harness/provenance.mjs";
import { buildOracles } from "./fuzz/oracles.mjs";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { before: { type: "string" } } });
const folder = resolve(positionals[0] ?? "carry");
const before = values.before && resolve(values.before);
process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));

execFileSync(process.execPath, ["scripts/build.mjs", "--if-needed"], { stdio: "inherit" });
for (const part of ["dist", "before", "bench", "tests", "scripts", "node_modules"])
  rmSync(join(folder, part), { recursive: true, force: true });
cpSync("dist", join(folder, "dist"), { recursive: true });
cpSync("bench", join(folder, "bench"), { recursive: true, filter: (path) => path !== join("bench", "results") });
for (const part of ["scripts/everywhere", "scripts/fuzz"])
  cpSync(part, join(folder, part), { recursive: true, filter: (path) => !path.includes("node_modules") });
await buildOracles(join(folder, "scripts/fuzz/built")); // that machine may have no compiler
if (before) {
  cpSync(before, join(folder, "before/dist"), { recursive: true });
  writePackage(join(folder, "before"), dirname(before));
}

// Tests import sources: both as JavaScript, with the data that the compiler does not copy.
const tests = join(folder, "tests");
const emit = ["--noEmit", "false", "--allowImportingTsExtensions", "false", "--rewriteRelativeImportExtensions", "true"];
const flags = [...emit, "--rootDir", ".", "--outDir", tests];
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.test.json", ...flags], { stdio: "inherit" });
for (const data of ["test/vectors", "test/hard-cases.txt", "src/engines/importByName.js"])
  cpSync(data, join(tests, data), { recursive: true });
copyFileSync("scripts/carry/run.mjs", join(tests, "run.mjs"));
for (const name of ["chai", "tinyrainbow", "@vitest/expect", "@vitest/utils", "@vitest/spy", "@vitest/pretty-format"])
  cpSync(join("node_modules", name), join(tests, "node_modules", name), { recursive: true });
mkdirSync(join(tests, "node_modules/vitest"));
copyFileSync("scripts/carry/vitest.mjs", join(tests, "node_modules/vitest/index.mjs"));
writeFileSync(join(tests, "node_modules/vitest/package.json"), '{ "name": "vitest", "exports": "./index.mjs" }\n');

// koffi without its sources, and its library for this platform.
const sources = /\/(src\/koffi\/src\/.*\.(cc|hh|S|inc)|vendor|lib|doc)$/;
const natives = join("node_modules/@koromix", `koffi-${process.platform}-${process.arch}`);
for (const name of ["node_modules/koffi", natives].filter(existsSync))
  cpSync(name, join(folder, name), { recursive: true, filter: (path) => !sources.test(path) });

writePackage(folder, ".");
copyFileSync(process.execPath, join(folder, "node"));
console.log(`carry: ${folder}, commit ${commit()}${before ? `, and ${before}, commit ${commit(dirname(before))}` : ""}`);

// The package.json of a build, with the commit of the package it is from.
function writePackage(to, from) {
  const { name, version, type } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  writeFileSync(join(to, "package.json"), `${JSON.stringify({ name, version, type, gitHead: commit(from) })}\n`);
}
