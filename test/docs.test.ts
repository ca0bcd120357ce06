// Every example in the documentation is run, and must print what stands below it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];
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

describe("examples", () => {
  test("there are some", () => expect(examples.length).toBeGreaterThan(3));

  test.each(examples)("$page, example $number prints what it says", ({ code, output }) => {
    const file = join(folder, "example.js");
    writeFileSync(file, code as string);
    // without the environment of the tests: as a user runs it
    expect(execFileSync(process.execPath, [file], { encoding: "utf8", env: { PATH: process.env.PATH } })).toBe(output);
  });
});
