// The engines that this worker has opened, each once.
import { type Engine, type EngineKind, open } from "../../src/index.ts";

const opened = new Map<string, Promise<Engine>>();

export function engineOf(kind: string): Promise<Engine> {
  let engine = opened.get(kind);
  if (!engine) {
    engine = open(kind as EngineKind);
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
