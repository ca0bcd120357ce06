// The processors that this process may run on. communicator.ts counts those of all ranks: mpirun may have bound every rank to its own.
import { cores } from "../../engines/threads/cores.ts";

interface Files {
  readFileSync(path: string, encoding: "utf8"): string;
}

/** Their numbers. Only Linux tells them; elsewhere they are counted from 0. */
export function processors(): readonly number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status())?.[1];
  if (list === undefined) return Array.from({ length: cores() }, (_, k) => k);
  return list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, k) => first + k);
  });
}

function status(): string {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): Files | undefined } };
  try {
    return process?.getBuiltinModule?.("node:fs")?.readFileSync("/proc/self/status", "utf8") ?? "";
  } catch {
    return "";
  }
}
