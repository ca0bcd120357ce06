// Where results come from: machine, versions, commit. Figures without these cannot be compared.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

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

/** The runtime's versions, ours, and those of these npm packages. */
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
 * The commit that was measured: where the package was carried to, the one that it was made of (npm's field). Earlier results that
 * this run will replace do not make it dirty.
 */
export function commit() {
  const { gitHead } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  if (gitHead) return gitHead;
  try {
    const changes = git("status", "--porcelain", "--", ".", ":(exclude)bench/results");
    return git("rev-parse", "HEAD") + (changes === "" ? "" : "-dirty");
  } catch {
    return "unknown: no git checkout";
  }
}

function git(...words) {
  return execFileSync("git", words, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}
