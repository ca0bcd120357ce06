// Where results come from: machine, versions, commit. Figures without these cannot be compared.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";
import { version } from "../cli/version.ts";

export interface Machine {
  readonly processor: string;
  readonly processors: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly architecture: string;
}

export interface Origin {
  /** What kind of file it is. */
  readonly benchmark: string;
  readonly date: string;
  readonly commit?: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly engine?: string;
}

/** Of this machine, now. */
export function originHere(benchmark: string, engine: string): Origin {
  const processors = cpus();
  const commit = commitHere();
  return {
    benchmark,
    date: new Date().toISOString(),
    ...(commit === undefined ? {} : { commit }),
    machine: {
      processor: processors[0]?.model.trim() ?? "unknown",
      processors: processors.length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      kernel: `${type()} ${release()}`,
      architecture: process.arch,
    },
    versions: { node: process.versions.node, v8: process.versions.v8, halfulp: version() },
    engine,
  };
}

// The root of the package, two folders up from here both in src/ and in dist/.
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// The commit of a checkout; a package as published has its version only.
function commitHere(): string | undefined {
  if (!existsSync(`${ROOT}.git`)) return undefined;
  const git = (...words: string[]): string =>
    execFileSync("git", words, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return git("rev-parse", "HEAD") + (git("status", "--porcelain") === "" ? "" : "-dirty");
  } catch {
    return undefined;
  }
}
