// Reads the JSON report of vitest and fails if a test was skipped whose title does not say that shared/ is missing. The last line of its
// output is the count of tests.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tests = report.testResults.flatMap((file) => file.assertionResults);
const count = (status) => tests.filter((test) => test.status === status).length;
const skipped = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
const unexplained = skipped.filter((test) => !test.fullName.includes("shared/"));

for (const test of unexplained) console.error(`skipped: ${test.fullName}`);
console.log(`${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
process.exitCode = unexplained.length > 0 || count("failed") > 0 || tests.length === 0 ? 1 : 0;
