// open() and engines(): how users get at the engines of the table (engines/table.ts).
import { checkCount, checkOptions, checkWord } from "../arrays/checks.ts";
import { EngineError } from "../arrays/errors.ts";
import { embedded } from "../engines/embedded.ts";
import { ENGINES, engineRow, KINDS, type OpenOptions, type Probe } from "../engines/table.ts";
import { onThisThread } from "../engines/wasm/backend.ts";
import { type Engine, type EngineKind, engineOf } from "./engine.ts";

export type { OpenOptions } from "../engines/table.ts";

const OPTIONS = ENGINES.flatMap((row) => row.options);

/**
 * An engine with asynchronous routines: "wasm" on this thread, "threads" on a pool of workers, "opencl" on a GPU, "webgpu" on the GPU of
 * a browser. "auto" opens "threads" if available, else an engine on this thread: "wasm", or plain TypeScript if WebAssembly is not
 * available. Close it when done; an engine that is left open does not keep the process alive.
 */
export async function open(kind: EngineKind = "auto", options: OpenOptions = {}): Promise<Engine> {
  checkWord("open", "kind", kind, ["auto", ...KINDS]);
  checkOptions("open", options, OPTIONS);
  if (options.threads !== undefined) checkCount("open", "threads", options.threads, 1);
  if (kind !== "auto") return engineOf(await engineRow(kind).open(options));
  try {
    return engineOf(await engineRow("threads").open(options));
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return openOnThisThread();
  }
}

/** An engine on this thread: WebAssembly, or plain TypeScript if that is not available. */
export function openOnThisThread(): Engine {
  return engineOf(onThisThread(embedded()));
}

/** Which engines this machine can open, and for the others one line on what is missing. */
export async function engines(): Promise<{ kind: string; available: boolean; device?: string; reason?: string }[]> {
  return Promise.all(
    ENGINES.map(async ({ kind, probe }) => {
      const found: Probe = await probe();
      return { kind, available: "device" in found, ...found };
    }),
  );
}
