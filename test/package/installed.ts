// The package as published: packed as npm packs it, and installed in an empty folder. Nothing is fetched: it needs nothing.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Installed {
  /** Empty but for the package and two files: results.js, the lines of results.ts, and run.js, which prints what they return. */
  readonly folder: string;
  /** What npm would publish. */
  readonly archive: string;
}

export function install(): Installed {
  const folder = mkdtempSync(join(tmpdir(), "halfulp-package-"));
  execFileSync(process.execPath, [join(root, "scripts/build.mjs"), "--if-needed"]);
  // without scripts: prepack would build once more, under the feet of other tests
  const archive = join(folder, npm(root, "pack", "--ignore-scripts", "--silent", "--pack-destination", folder).trim());
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  npm(folder, "install", "--offline", "--no-audit", "--no-fund", archive);
  const source = readFileSync(join(root, "test/package/results.ts"), "utf8");
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  writeFileSync(join(folder, "results.js"), ts.transpileModule(source, { compilerOptions }).outputText);
  writeFileSync(join(folder, "run.js"), RUN);
  return { folder, archive };
}

const RUN = `import * as halfulp from "halfulp";
import "halfulp/opencl";
import "halfulp/study";
import { resultsOf } from "./results.js";
console.log(JSON.stringify(await resultsOf(halfulp)));
`;

/** What npm printed. */
export function npm(folder: string, ...args: string[]): string {
  return execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
