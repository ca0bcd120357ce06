// Every example of docs/cli.md is run in a shell, one after another in one folder, and must print what stands below it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { buildCli, main } from "./built.ts";
import { folder } from "./cli.ts";

const page = readFileSync(join(fileURLToPath(new URL("../..", import.meta.url)), "docs/cli.md"), "utf8");
const examples = [...page.matchAll(/```sh\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, code, output], k) => ({
  number: k + 1,
  code,
  output,
}));
const { path } = folder();

beforeAll(buildCli, 120_000);

test("there are some", () => expect(examples.length).toBeGreaterThan(5));

// Times and the build of the engine are those of the machine.
const settled = (text: string): string => text.replace(/^(seconds|analysis|engine)( +).*$/gm, "$1$2...");

test.each(examples)("example $number prints what it says", ({ code, output }) => {
  const { PATH, HOME, VK_ICD_FILENAMES } = process.env;
  const { stdout, stderr } = spawnSync("bash", ["-c", `halfulp() { "${process.execPath}" "${main}" "$@"; }\n${code}`], {
    encoding: "utf8",
    cwd: path,
    env: { PATH, HOME, VK_ICD_FILENAMES },
  });
  expect(settled(stdout)).toBe(settled(output as string));
  expect(stderr).toBe("");
});
