// npm run check:package: what takes large downloads, and is no part of npm test for that reason.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/package/*.check.ts"], env: { HALFULP_RELAXED_SIMD: "1" }, testTimeout: 300_000, hookTimeout: 600_000 },
});
