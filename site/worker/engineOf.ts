// The engines that this worker has opened, each once. Whatever computes on an engine goes through withEngine().
import { type Engine, EngineError, type EngineKind, open } from "../../src/index.ts";

const opened = new Map<string, Promise<Engine>>();

/** Works on an engine of this kind. If it fails, as a lost device does, the next call opens it anew. */
export async function withEngine<T>(kind: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  // without WebAssembly the engine on this thread is plain TypeScript, with the same bits
  const engine = opened.get(kind) ?? open(kind as EngineKind).catch((error) => (kind === "wasm" ? open() : Promise.reject(error)));
  opened.set(kind, engine);
  try {
    return await work(await engine);
  } catch (error) {
    if (error instanceof EngineError && opened.get(kind) === engine) {
      opened.delete(kind);
      engine.then((each) => each.close()).catch(() => {}); // it may not have opened, or be lost
    }
    throw error;
  }
}
