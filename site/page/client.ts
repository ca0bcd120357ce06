// Calls to a worker of the page (site/worker/worker.ts), where everything that takes time runs, so that the page never blocks.
import type { Calls, Reply } from "../worker/worker.ts";

type Argument<K extends keyof Calls> = Parameters<Calls[K]>[0];
type Report<K extends keyof Calls> = Parameters<Calls[K]>[1] extends (part: infer P) => void ? P : never;
type Result<K extends keyof Calls> = Awaited<ReturnType<Calls[K]>>;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  report: ((part: never) => void) | undefined;
}

/** What a call that was stopped throws. */
export class Stopped extends Error {}

/** One worker, started on its first call and again after stop(). */
export class Client {
  private worker: Worker | undefined;
  private readonly pending = new Map<number, Pending>();
  private next = 0;

  call<K extends keyof Calls>(name: K, argument: Argument<K>, report?: (part: Report<K>) => void): Promise<Result<K>> {
    this.worker ??= this.start();
    const id = this.next++;
    const { worker } = this;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (value: unknown) => void, reject, report: report as Pending["report"] });
      worker.postMessage({ id, name, argument });
    });
  }

  /** Ends all calls at once, whatever they are doing. */
  stop(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.fail(new Stopped("stopped"));
  }

  private fail(error: Error): void {
    const calls = [...this.pending.values()];
    this.pending.clear();
    for (const { reject } of calls) reject(error);
  }

  private start(): Worker {
    const worker = new Worker(new URL("../worker/worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      const call = this.pending.get(data.id);
      if ("report" in data) {
        call?.report?.(data.report as never);
        return;
      }
      this.pending.delete(data.id);
      if ("error" in data) call?.reject(new Error(data.error));
      else call?.resolve(data.result);
    };
    worker.onerror = (event) => {
      this.worker = undefined;
      worker.terminate();
      this.fail(new Error(event.message || "the part that computes could not be loaded"));
    };
    return worker;
  }
}
