// A pool whose workers a test can end.
import { Worker } from "node:worker_threads";
import { nodeThread, type Thread } from "../../src/engines/threads/spawn.ts";
import { type Engine, engineOf, openThreads } from "../../src/study.ts";

type Opened = Awaited<ReturnType<typeof openThreads>>;

type Text = (source: string, before: number) => string;
/** As it is. */
export const plain: Text = (source) => source;

/** One of the first workers waits before it begins with a job, long enough to be ended there. */
export const hesitant =
  (worker: number): Text =>
  (source, before) =>
    before === worker ? source.replace("exports.work", "Atomics.wait(words, 3, 0, 60_000), exports.work") : source;

export interface Mortal {
  readonly engine: Engine;
  readonly pool: Opened["pool"];
  /** All that were ever started, the oldest first. */
  readonly workers: readonly Worker[];
  /** Those that live. */
  alive(): Worker[];
  /** Make workers from now on of another text, which may depend on how many there were before. */
  source(text: Text): void;
}

export async function openMortal(threads: number, text = plain): Promise<Mortal> {
  const workers: Worker[] = [];
  const spawn = (source: string): Thread => {
    const worker = new Worker(text(source, workers.length), { eval: true });
    workers.push(worker);
    return nodeThread(worker as unknown as Parameters<typeof nodeThread>[0]);
  };
  const backend = await openThreads(threads, undefined, spawn);
  return {
    engine: engineOf(backend),
    pool: backend.pool,
    workers,
    alive: () => workers.filter((worker) => worker.threadId > 0),
    source: (next) => {
      text = next;
    },
  };
}
