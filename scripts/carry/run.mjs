// Runs the named test files of this folder, default: those of the engines, on a machine without Vitest:  ./node tests/run.mjs [--seconds 600] [test/sparse/plain ...]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { begin, suites } from "vitest";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { seconds: { type: "string", default: "600" } } });
const files = positionals.length > 0 ? positionals : ["conformance", "neartie", "elementwise", "dense/conformance", "sparse/conformance"];
const end = performance.now() + 1000 * Number(values.seconds);
const counts = { passed: 0, failed: 0, skipped: 0, "not run for lack of time": 0 };

// A process per file, as in Vitest: files share no engines, and one that hangs or crashes affects no other.
if (files.length > 1) {
  const codes = files.map((file) => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    const args = [...process.execArgv, import.meta.filename, "--seconds", String(seconds), file];
    const { status, error } = spawnSync(process.execPath, args, { stdio: "inherit", timeout: 1000 * (seconds + 30) });
    if (status === null) console.log(`${file}: ${error?.message ?? "ended by a signal"}`);
    return status;
  });
  process.exit(codes.every((code) => code === 0) ? 0 : 1);
}

const afterwards = [];
const [file] = files;
begin(file);
await import(new URL(`test/${file.replace(/^test\//, "")}.test.js`, import.meta.url).href);
for (const suite of suites) await runSuite(suite);
for (const hook of afterwards) await hook();
const words = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
console.log(`${file}: ${words.join(", ")}, ${(performance.now() / 1000).toFixed(1)} s`);
process.exit(counts.failed > 0 ? 1 : 0);

async function runSuite({ name, skipped, tests, before, after }) {
  if (!skipped) for (const hook of before) await hook();
  for (const test of tests) counts[await outcomeOf(name, test)]++;
  if (!skipped) afterwards.push(...after); // nested suites run after this one
}

async function outcomeOf(suite, { name, body, skipped }) {
  if (skipped) return "skipped";
  if (performance.now() > end) return "not run for lack of time";
  try {
    await body();
    return "passed";
  } catch (error) {
    console.log(`FAILED ${suite} > ${name}\n  ${error.message}`);
    return "failed";
  }
}
