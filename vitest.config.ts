import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Node 20 has the fused engine behind a flag, which this sets in the test processes.
    env: { HALFULP_RELAXED_SIMD: "1" },
    testTimeout: 600_000,
    // Files wait for compilers and for sleeping workers: two at a time take little more than half as long on two cores.
    maxWorkers: 2,
    // .ci/run counts the skipped tests from this file.
    reporters: process.env.HALFULP_REPORT ? ["default", ["json", { outputFile: process.env.HALFULP_REPORT }]] : ["default"],
  },
});
