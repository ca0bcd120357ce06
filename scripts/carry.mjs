// A folder with everything that a machine without a network needs to run the benchmarks and the tests of engines: this package
// as built, its tests, koffi, and Node itself.
//   node scripts/carry.mjs [folder]
// There: ./node bench/gpu.mjs, and HALFULP_ENGINES=opencl ./node tests/run.mjs
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const folder = resolve(process.argv[2] ?? "carry");
process.chdir(join(dirname(fileURLToPath(import.meta.url)), ".."));
const { version } = JSON.parse(execFileSync(process.execPath, ["-p", 'JSON.stringify(require("./package.json"))'], { encoding: "utf8" }));
const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim();

execFileSync(process.execPath, ["scripts/build.mjs", "--if-needed"], { stdio: "inherit" });
for (const part of ["dist", "bench", "tests", "node_modules"]) rmSync(join(folder, part), { recursive: true, force: true });
cpSync("dist", join(folder, "dist"), { recursive: true });
mkdirSync(join(folder, "bench"));
for (const file of readdirSync("bench").filter((name) => name.endsWith(".mjs")))
  copyFileSync(join("bench", file), join(folder, "bench", file));

// Tests import sources: both as JavaScript, with data that the compiler leaves behind.
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

// koffi without its sources, and its library for this kind of machine.
const sources = /\/(src\/koffi\/src\/.*\.(cc|hh|S|inc)|vendor|lib|doc)$/;
const natives = join("node_modules/@koromix", `koffi-${process.platform}-${process.arch}`);
for (const name of ["node_modules/koffi", natives].filter(existsSync))
  cpSync(name, join(folder, name), { recursive: true, filter: (path) => !sources.test(path) });

const clean = git("status", "--porcelain", "--", ".", ":(exclude)bench/results") === "";
const commit = `${git("rev-parse", "HEAD")}${clean ? "" : "-dirty"}`;
writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: "halfulp", version, type: "module", gitHead: commit })}\n`);
copyFileSync(process.execPath, join(folder, "node"));
console.log(`carry: ${folder}, commit ${commit}`);
