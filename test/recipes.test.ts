// The recipes of docs/recipes.md that are shell scripts, with Python and NumPy. (Those in JavaScript are run by docs.test.ts.)
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildCli, main } from "./cli/built.ts";

const page = readFileSync(fileURLToPath(new URL("../docs/recipes.md", import.meta.url)), "utf8");
const recipes = [...page.matchAll(/^## ([^\n]*)\n\n```sh\n(.*?)```\n\n```text\n(.*?)```/gms)].map(([, title, code, output]) => ({
  title,
  code: code as string,
  output,
}));
const hasNumPy = spawnSync("python3", ["-c", "import numpy"]).status === 0;
const reason = hasNumPy ? "" : " (python3 with numpy is not installed: apt-get install python3-numpy)";

const folder = mkdtempSync(join(tmpdir(), "halfulp-recipes-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => {
  buildCli();
  const command = join(folder, "halfulp"); // where a script of another language finds it
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(command, 0o755);
}, 120_000);

test("there are some", () => expect(recipes.length).toBeGreaterThan(0));

test.skipIf(!hasNumPy).each(recipes)(`$title prints what it says${reason}`, ({ code, output }) => {
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: process.env.HOME };
  const { stdout, stderr } = spawnSync("bash", ["-e", "-c", code], { encoding: "utf8", cwd: folder, env });
  expect([stdout, stderr]).toEqual([output, ""]);
});
