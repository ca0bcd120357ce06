// The origin of results: machine, versions, commit. Figures cannot be compared without it.
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
  /** The kind of file. */
  readonly benchmark: string;
  readonly date: string;
  readonly commit?: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly engine?: string;
}

/** The origin of results measured on this machine now. */
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

// The root of the package, two directories up both in src/ and in dist/.
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// The commit of a checkout; a published package has only its version.
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
