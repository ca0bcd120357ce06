// The package in other versions of Node, and as two tools see it that read package.json and declarations. They come from npm
// at fixed versions, once, into scripts/package/node_modules.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as library from "../../src/index.ts";
import { type Installed, install, npm, root } from "./installed.ts";
import { resultsOf } from "./results.ts";

const folder = join(root, "scripts/package");
const tools = Object.keys(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies);
const inTools = (path: string): string => join(folder, "node_modules", path);

let installed: Installed;
beforeAll(() => {
  if (!tools.every((name) => existsSync(inTools(name)))) npm(folder, "install", "--no-audit", "--no-fund", "--no-package-lock");
  installed = install();
});
afterAll(() => rmSync(installed.folder, { recursive: true }));

describe("the package elsewhere", () => {
  test.each(tools.filter((name) => name.startsWith("node")))(
    "%s returns the bits of the sources, and its self-test passes",
    async (name) => {
      const node = inTools(join(name, "bin/node"));
      expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(`v${name.slice(4)}.`);
      const printed = execFileSync(node, ["run.js"], { cwd: installed.folder, encoding: "utf8", env: { PATH: process.env.PATH } });
      expect(JSON.parse(printed)).toEqual(await resultsOf(library));
      expect(spawnSync(node, ["node_modules/halfulp/dist/cli/main.js", "doctor"], { cwd: installed.folder, encoding: "utf8" }).status).toBe(
        0,
      );
    },
  );

  test("publint finds nothing", () => ends(0, "publint/src/cli.js", "--strict", installed.archive));

  test("arethetypeswrong finds nothing", () =>
    ends(0, "@arethetypeswrong/cli/dist/index.js", installed.archive, "--profile", "esm-only", "--no-color"));
});

// What the tool printed stands beside the status, to be read where it is another.
function ends(status: number, script: string, ...args: string[]): void {
  const run = spawnSync(process.execPath, [inTools(script), ...args], { encoding: "utf8" });
  expect([run.status, run.status === status ? "" : run.stdout + run.stderr]).toEqual([status, ""]);
}
