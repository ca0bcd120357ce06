// The engines that this worker has opened, each once.
import { type Engine, type EngineKind, open } from "../../src/index.ts";

const opened = new Map<string, Promise<Engine>>();

export function engineOf(kind: string): Promise<Engine> {
  let engine = opened.get(kind);
  if (!engine) {
    // without WebAssembly the engine on this thread is plain TypeScript, with the same bits
    engine = open(kind as EngineKind).catch((error) => (kind === "wasm" ? open() : Promise.reject(error)));
    opened.set(kind, engine);
    engine.catch(() => opened.delete(kind));
  }
  return engine;
}

/** Opens the engine anew on the next call. */
export function forget(kind: string): void {
  const engine = opened.get(kind);
  opened.delete(kind);
  engine?.then((each) => each.close()).catch(() => {}); // it may be lost already
}
