// The row "threads" of the table of engines: whether a pool of workers can run here, and how to open one.
import { EngineError } from "../../arrays/errors.ts";
import { embedded } from "../embedded.ts";
import { missingForWasm } from "../embeddedVectors.ts";
import type { Probe } from "../table.ts";
import { sharedModule } from "../wasm/load.ts";
import { cores } from "./cores.ts";
import { ThreadKernels } from "./index.ts";
import { Pool } from "./pool.ts";
import { type Spawn, spawner } from "./spawn.ts";

const MAX_THREADS = 1024;

/** Whether this runtime can run the engine. */
export async function probeThreads(): Promise<Probe> {
  const reason = await missingForThreads();
  return reason === undefined ? { device: `${cores()} threads, ${embedded().name}` } : { reason };
}

async function missingForThreads(): Promise<string | undefined> {
  const missing = missingForWasm();
  if (missing !== undefined) return `threads need ${missing}`;
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated;
  if (typeof SharedArrayBuffer === "undefined" || isolated === false)
    return "threads need shared memory: serve the page with Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp";
  return (await spawner()) ? undefined : "threads need workers, which this runtime does not have";
}

/** Opens the engine with this number of threads (default: one per core). Tests also choose the build of the kernels and how workers start. */
export async function openThreads(
  threads = cores(),
  variant = embedded().name === "wasm-fma" ? ("fma" as const) : ("dekker" as const),
  spawn?: Spawn,
): Promise<ThreadKernels> {
  if (threads > MAX_THREADS) throw new EngineError(`open: threads is ${threads}, expected at most ${MAX_THREADS}`);
  const reason = await missingForThreads();
  if (reason !== undefined) throw new EngineError(`open: ${reason}`);
  const module = sharedModule(variant);
  if (!module) throw new EngineError(`open: this machine cannot run wasm-${variant}`);
  const pool = await openPool(module, spawn ?? ((await spawner()) as Spawn), threads);
  return new ThreadKernels(pool, `${threads} threads, wasm-${variant}`);
}

async function openPool(...args: Parameters<typeof Pool.open>): Promise<Pool> {
  try {
    return await Pool.open(...args);
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw new EngineError(`open: no memory for ${args[2]} threads`, { cause });
  }
}
