// The package in other versions of Node, on an emulated big-endian machine, and as two tools see it that read package.json and declarations. They come from npm
// at fixed versions, once, into scripts/package/node_modules.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as library from "../../src/index.ts";
import { type Installed, install, npm, root } from "./installed.ts";
import { resultsOf } from "./results.ts";

const folder = join(root, "scripts/package");
const tools = Object.keys(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies);
const inTools = (path: string): string => join(folder, "node_modules", path);

const LIBRARIES = "/usr/s390x-linux-gnu";
const EMULATOR = ["qemu-s390x-static", "-L", LIBRARIES];
const canEmulate = existsSync(LIBRARIES) && spawnSync("qemu-s390x-static", ["--version"]).status === 0;
const HOW = "(npm run setup installs the emulator)";

let installed: Installed;
beforeAll(() => {
  if (!tools.every((name) => existsSync(inTools(name)))) npm(folder, "install", "--force", "--no-audit", "--no-fund", "--no-package-lock"); // forced: one is for another processor
  installed = install();
});
afterAll(() => rmSync(installed.folder, { recursive: true }));

describe("the package elsewhere", () => {
  test.each(tools.filter((name) => /^node\d+$/.test(name)))(
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

  test.skipIf(!canEmulate)(`on a big-endian machine the reference engine returns the right bits ${canEmulate ? "" : HOW}`, () => {
    const script = `import { Accumulator, engines, exdot, exgemv, exlu, exsum, illConditionedDot, illConditionedMatrix, open, writeNpy } from "halfulp";
      const { x, y } = illConditionedDot(500, 1e30, 1);
      const A = illConditionedMatrix(40, 1e10, 2);
      const b = exgemv(1, A, x.subarray(0, 40), 0, new Float64Array(40));
      const { device } = await open();
      const hex = (bytes) => Buffer.from(bytes).toString("hex"); // .npy files are little-endian everywhere, and so are accumulators
      const npy = [Float64Array.of(exsum(x), exdot(x, y)), b, exlu(A).lu].map((result) => hex(writeNpy(result)));
      const accumulator = hex(new Accumulator().addProduct(x, y).add(x).toBytes());
      console.log(JSON.stringify({ bits: { npy, accumulator }, device, engines: await engines() }));`;
    const file = join(installed.folder, "bits.mjs");
    writeFileSync(file, script);
    const run = (...command: string[]) => JSON.parse(execFileSync(command[0] as string, command.slice(1), { encoding: "utf8" }));
    const emulated = [...EMULATOR, inTools("node20-s390x/bin/node")];
    const there = run(...emulated, file);
    expect(there.bits).toEqual(run(process.execPath, file).bits);
    expect(there.device).toBe("reference");
    for (const { available, reason } of there.engines) expect([available, reason]).toEqual([false, expect.stringMatching("big-endian")]);
    const doctor = run(...emulated, join(installed.folder, "node_modules/halfulp/dist/cli/main.js"), "doctor", "--json");
    expect(doctor).toMatchObject({ equal: true, tests: [{ engine: "reference" }] });
  });

  test("publint finds nothing", () => ends(0, "publint/src/cli.js", "--strict", installed.archive));

  test("arethetypeswrong finds nothing", () =>
    ends(0, "@arethetypeswrong/cli/dist/index.js", installed.archive, "--profile", "esm-only", "--no-color"));
});

// What the tool printed stands beside the status, to be read where it is another.
function ends(status: number, script: string, ...args: string[]): void {
  const run = spawnSync(process.execPath, [inTools(script), ...args], { encoding: "utf8" });
  expect([run.status, run.status === status ? "" : run.stdout + run.stderr]).toEqual([status, ""]);
}
