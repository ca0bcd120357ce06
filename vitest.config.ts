// The tests. `npm test` runs all files but the slow ones; `npm run test:full` (mode "full") runs them too, with all random cases.
import "./scripts/softwareGpu.mjs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// What everything else rests on first, so that a failure shows early; what installs packages and starts browsers last.
const ORDER = [
  "exact/",
  "oracles/",
  "",
  "dense/",
  "sparse/",
  "krylov/",
  "solve/",
  "threads/",
  "opencl/",
  "webgpu/",
  "ranks/",
  "problems/",
  "files/",
  "everywhere/",
  "cli/",
  "report/",
  "package/",
  "site/",
];

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => ORDER.indexOf(moduleId.replace(/^.*\/test\//, "").replace(/[^/]*$/, ""));
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig(({ mode }) => {
  const full = mode === "full" || process.env.HALFULP_LONG === "1";
  return {
    test: {
      include: ["test/**/*.test.ts"],
      exclude: full ? [] : ["test/**/*.slow.test.ts"],
      // Node 20 has the fused engine behind a flag, which this sets in the test processes. test/effort.ts reads HALFULP_TESTS.
      env: { HALFULP_RELAXED_SIMD: "1", HALFULP_TESTS: full ? "full" : "quick" },
      testTimeout: 600_000,
      hookTimeout: 600_000, // on a busy machine a build, or the start of 16 workers, takes more than the default of 10 s
      // Files wait for compilers and for sleeping workers: two at a time take little more than half as long on two cores.
      maxWorkers: 2,
      sequence: { sequencer: InOrder },
      // .ci/run counts the skipped tests from this file.
      reporters: process.env.HALFULP_REPORT ? ["default", ["json", { outputFile: process.env.HALFULP_REPORT }]] : ["default"],
    },
  };
});
