// Starts a program of test/ranks/programs under mpirun, with every MPI library that is installed.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { engineRow } from "../../src/engines/table.ts";
import { cases, FULL } from "../effort.ts";

/** How each library starts a job. The tests run as root, and with more ranks than cores. */
const LAUNCHERS = {
  mpich: { command: "mpirun.mpich", flags: [] as string[] },
  openmpi: { command: "mpirun.openmpi", flags: ["--allow-run-as-root", "--oversubscribe"] },
} as const;

export type MpiLibrary = keyof typeof LAUNCHERS;

/** The libraries of this machine. */
export const LIBRARIES = (Object.keys(LAUNCHERS) as MpiLibrary[]).filter(
  (library) => spawnSync(LAUNCHERS[library].command, ["--version"]).status === 0,
);

/** Why tests of ranks are skipped, or nothing. */
export const MISSING = LIBRARIES.length > 0 ? "" : " (skipped: neither mpich nor openmpi-bin is installed)";

/**
 * Libraries with numbers of ranks. In the full suite all of them; otherwise these numbers with the first library, and two ranks with the
 * others.
 */
export function jobs(quick: readonly number[]): [library: MpiLibrary, ranks: number][] {
  const counts = (i: number): readonly number[] => (FULL ? [1, 2, 3, 4, 6, 8] : i === 0 ? quick : [2]);
  return LIBRARIES.flatMap((library, i) => counts(i).map((ranks): [MpiLibrary, number] => [library, ranks]));
}

/** The number of random cases of a job: eight ranks on two cores take turns. */
export const casesOn = (ranks: number, full: number): number => cases(ranks > 4 ? Math.ceil(full / 4) : full, 4);

/** The engines of this machine, one for each rank of a job in which they differ. */
export const UNLIKE_ENGINES = ["wasm", "threads", ...("device" in (await engineRow("opencl").probe()) ? ["opencl"] : [])];

/** The command that starts a job, without the program. */
export function mpirun(library: MpiLibrary, ranks: number): [command: string, flags: string[]] {
  const { command, flags } = LAUNCHERS[library];
  return [command, [...flags, "-n", String(ranks)]];
}

export interface JobResult {
  /** The exit code of mpirun; null if the job was ended because it took too long. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Run a program on this number of ranks. The job is ended after `seconds`. */
export function runJob(
  library: MpiLibrary,
  ranks: number,
  program: string,
  args: readonly string[] = [],
  { seconds = 240, env = {} }: { seconds?: number; env?: Record<string, string> } = {},
): Promise<JobResult> {
  const [command, flags] = mpirun(library, ranks);
  const file = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
  const job = spawn(command, [...flags, process.execPath, file, ...args], {
    env: { ...process.env, HALFULP_RELAXED_SIMD: "1", ...env },
    detached: true, // a group of its own, so that all of it can be ended
  });
  const text = { out: "", err: "" };
  job.stdout.on("data", (chunk) => {
    text.out += chunk;
  });
  job.stderr.on("data", (chunk) => {
    text.err += chunk;
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => process.kill(-(job.pid as number), "SIGKILL"), 1000 * seconds);
    job.on("error", reject);
    job.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, ...text });
    });
  });
}
