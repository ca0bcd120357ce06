// The generated files in the repository are current.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./installed.ts";

test.each([
  ["the API reference is what the sources say, and every name in it has a comment", "apiDocs.mjs"],
  ["the tables of docs/slower.md are what the results say", "slowerDocs.mjs"],
  ["the tables of docs/everywhere.md are what the results say", "everywhereDocs.mjs"],
  ["the tables of docs/mpi-scaling.md are what the model says", "scalingDocs.mjs"],
])("%s", (_, script) => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", script), "--check"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});
