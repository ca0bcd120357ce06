// Every example in the documentation is run, and must print what stands below it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../src/index.ts";
import { MISSING } from "./ranks/job.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
const pages = ["README.md", ...documents.map((name) => `docs/${name}`)];
const examples = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/```js\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, code, output], i) => ({ page, number: i + 1, code, output }));
});

// A folder where `halfulp` is installed: this package, as built.
let folder: string;
beforeAll(() => {
  execFileSync(process.execPath, [join(root, "scripts/build.mjs"), "--if-needed"]);
  folder = mkdtempSync(join(tmpdir(), "halfulp-docs-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  execFileSync("mkdir", [join(folder, "node_modules")]);
  symlinkSync(root, join(folder, "node_modules/halfulp"));
}, 120_000); // a build takes longer than a hook may
afterAll(() => rmSync(folder, { recursive: true }));

// Some need an OpenCL device, some WebGPU, some an MPI library.
const [opencl, webgpu] = (await engines()).slice(-2);
const onDevice = ({ code, output }: (typeof examples)[number]): boolean => /opencl|webgpu/.test(`${code}${output}`);
const onRanks = ({ code }: (typeof examples)[number]): boolean => (code as string).includes("halfulp/mpi");
const here = examples.filter((example) => !onDevice(example) && !onRanks(example));
const overRanks = examples.filter(onRanks);
const there = examples.filter(onDevice);

describe("examples", () => {
  test("there are some", () => expect(here.length).toBeGreaterThan(3));

  test.each(here)("$page, example $number prints what it says", runs);
  const lacks = opencl?.reason ?? webgpu?.reason ?? "";
  test.skipIf(lacks !== "").each(there)(`$page, example $number prints what it says ${lacks}`, runs);

  test.skipIf(MISSING !== "").each(overRanks)(`$page, example $number prints what it says${MISSING}`, runs);

  function runs({ code, output }: (typeof examples)[number]): void {
    const file = join(folder, "example.js");
    writeFileSync(file, code as string);
    // without the environment of the tests, but for the driver of WebGPU: as a user runs it
    const { PATH, VK_ICD_FILENAMES } = process.env;
    expect(execFileSync(process.execPath, [file], { encoding: "utf8", env: { PATH, VK_ICD_FILENAMES } })).toBe(output);
  }
});
