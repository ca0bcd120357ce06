// Where results come from: machine, versions, commit. Figures without these cannot be compared.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the package. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

export function machine() {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown",
    processors: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    architecture: process.arch,
  };
}

/** The versions of the runtime, of this package, and of these npm packages. */
export function versions(packages) {
  const installed = packages.map((name) => [name, versionOf(join("node_modules", name))]);
  return { node: process.versions.node, v8: process.versions.v8, halfulp: versionOf("."), ...Object.fromEntries(installed) };
}

function versionOf(folder) {
  try {
    return JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")).version;
  } catch {
    return "not installed";
  }
}

/**
 * The commit of the package in this folder. A carried package names it in its package.json (npm's field gitHead). Uncommitted changes
 * mark it as dirty, except those to earlier results, which this run may replace.
 */
export function commit(folder = ROOT) {
  try {
    const { gitHead } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (gitHead) return gitHead;
    const git = (...words) => execFileSync("git", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    const changes = git("status", "--porcelain", "--", ".", ":(exclude)bench/results", ":(exclude)node_modules");
    return git("rev-parse", "HEAD") + (changes === "" ? "" : "-dirty");
  } catch {
    return "unknown: no git checkout";
  }
}
