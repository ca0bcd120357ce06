// Reads what vitest reported and fails on any skipped test whose title does not say that shared/ is missing. Ends with the
// count of tests, alone on its line.
import { readFileSync } from "node:fs";

const report = JSON.parse(readFileSync(process.argv[2], "utf8"));
const tests = report.testResults.flatMap((file) => file.assertionResults);
const count = (status) => tests.filter((test) => test.status === status).length;
const skipped = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
const unexplained = skipped.filter((test) => !test.fullName.includes("shared/"));

for (const test of unexplained) console.error(`skipped: ${test.fullName}`);
console.log(`${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
process.exitCode = unexplained.length > 0 || count("failed") > 0 || tests.length === 0 ? 1 : 0;
