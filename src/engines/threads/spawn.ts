// Workers of Node and of browsers behind one interface. backend.ts chooses between them; pool.ts starts them and talks to them.

import { importByName } from "../importByName.js";

/** A worker of Node or of a browser. */
export interface Thread {
  post(message: unknown): void;
  /** `message` is called for every message of the worker, `died` if it ends before end() is called. */
  listen(message: (data: number) => void, died: (reason: string) => void): void;
  /** Whether it keeps the process alive. No effect in a browser. */
  keepAlive(alive: boolean): void;
  end(): Promise<void>;
}

interface NodeWorker {
  postMessage(message: unknown): void;
  on(event: string, listener: (value: never) => void): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<number>;
}
type NodeThreads = { Worker: new (source: string, options: { eval: boolean; execArgv: string[] }) => NodeWorker };

/** A way to start a worker from source text. */
export type Spawn = (source: string) => Thread;

let address: string | undefined; // in a browser, the URL of the source text. It lives as long as the page.

/** How this runtime starts a worker, or undefined if it has no workers. */
export async function spawner(): Promise<Spawn | undefined> {
  const process = (globalThis as { process?: { versions?: { node?: string } } }).process;
  if (process?.versions?.node !== undefined) {
    const { Worker } = (await importByName("node:worker_threads")) as NodeThreads;
    // Without the flags of this process: --input-type=module would turn the text into a module.
    return (source) => nodeThread(new Worker(source, { eval: true, execArgv: [] }));
  }
  if (typeof Worker === "undefined" || typeof URL.createObjectURL !== "function") return undefined;
  return (source) => {
    address ??= URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    return webThread(new Worker(address));
  };
}

export function nodeThread(worker: NodeWorker): Thread {
  let ended = false;
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    listen(message, died) {
      let reason = "it exited";
      worker.on("message", message);
      worker.on("error", (error: Error) => {
        reason = error.message;
      });
      worker.on("exit", () => {
        if (!ended) died(reason);
      });
    },
    keepAlive: (alive) => (alive ? worker.ref() : worker.unref()),
    async end() {
      ended = true;
      await worker.terminate();
    },
  };
}

function webThread(worker: Worker): Thread {
  return {
    post: (message) => worker.postMessage(message),
    listen(message, died) {
      worker.onmessage = ({ data }) => message(data as number);
      worker.onerror = (event) => died(event.message || "it could not start");
    },
    keepAlive() {},
    async end() {
      worker.terminate();
    },
  };
}
