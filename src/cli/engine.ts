import { type Backend, type Engine, engineOf } from "../api/engine.ts";
import { onThisThread, onThreads, onWasm, open } from "../api/open.ts";
import { embedded } from "../engines/embedded.ts";
import { cores } from "../engines/threads/cores.ts";
import { type Arguments, type Options, UsageError } from "./command.ts";

/** The options that choose an engine; `bits` is what the help says of the bits on different engines. */
export const engineOptions = (bits: string): Options => ({
  engine: { type: "string", value: "E", help: `auto, wasm (this thread), threads or opencl; ${bits}` },
  threads: { type: "string", value: "N", help: "workers of the engine threads; as many as there are cores unless said otherwise" },
  device: {
    type: "string",
    value: "D",
    help: "device of the engine opencl: its place, gpu, cpu or a part of its name (halfulp doctor lists them)",
  },
});

/** Those of commands whose result has the same bits on every engine. */
export const ENGINE_OPTIONS = engineOptions("the bits are the same");

const KINDS = ["auto", "wasm", "threads", "opencl"] as const;

interface Choice {
  readonly kind: (typeof KINDS)[number];
  readonly threads: number | undefined;
  readonly device: string | number | undefined;
}

function choiceOf(args: Arguments): Choice {
  const given = args.word("engine", KINDS);
  const threads = args.whole("threads", 1);
  const device = args.text("device");
  if (threads !== undefined && given !== undefined && given !== "threads")
    throw new UsageError(`--threads is for --engine threads, not ${given}`);
  if (device !== undefined && given !== undefined && given !== "opencl")
    throw new UsageError(`--device is for --engine opencl, not ${given}`);
  if (threads !== undefined && device !== undefined) throw new UsageError("--threads and --device are for different engines");
  const kind = given ?? (threads !== undefined ? "threads" : device !== undefined ? "opencl" : "auto");
  return { kind, threads, device: device !== undefined && /^\d+$/.test(device) ? Number(device) : device };
}

// Up to so many operations this thread is done before workers have begun.
const FEW = 2 ** 22;

/** The engine that the options ask for; if they do not, one for so many operations. */
export async function openEngine(args: Arguments, operations: number): Promise<Engine> {
  const { kind, threads, device } = choiceOf(args);
  if (kind === "auto" && operations <= FEW) return engineOf(onThisThread(embedded()));
  return open(kind, { threads, device });
}

/** The same below its routines, where terms of any kind can be accumulated; none where none is asked for. */
export async function openBackend(args: Arguments): Promise<Backend | undefined> {
  const { kind, threads, device } = choiceOf(args);
  if (kind === "auto") return undefined;
  if (kind === "opencl") return (await import("../engines/opencl/index.ts")).openclBackend(device); // large, and seldom wanted
  return kind === "wasm" ? onWasm() : onThreads(threads ?? cores());
}
