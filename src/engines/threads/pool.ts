// The pool of workers behind the threads engine: it starts them, hands out jobs one after another, and recovers from workers that die.
// threads/index.ts and threads/approximate.ts run their jobs here; worker.ts is the code of a worker.

import { EngineError } from "../../arrays/errors.ts";
import { aligned } from "../../arrays/vectors.ts";
import { FRAME, JOB_SIZE } from "../wasm/assembly/layout.ts";
import { Job, type JobBody } from "../wasm/jobs/job.ts";
import type { WasmModule } from "../wasm/objects.ts";
import { Space } from "../wasm/space.ts";
import { SharedArena } from "./arena.ts";
import { cores } from "./cores.ts";
import type { Spawn, Thread } from "./spawn.ts";
import { ADDRESS, CONTROL_SIZE, FINISHED, POSTED, READY, SOURCE } from "./worker.ts";

// How often a waiting worker looks at a counter before it goes to sleep. PATIENT, if every worker has a core of its own: half a
// millisecond (exlu of order 1024 waits 128 times, and waking up takes as long). HASTY, if workers share cores: almost none, because
// the worker it waits for may need its core.
const PATIENT = 400_000;
const HASTY = 100;

interface Waiting {
  readonly address: number;
  resolve(): void;
  reject(error: EngineError): void;
}

/**
 * Workers over one shared memory. Jobs are posted by an atomic counter that the workers sleep on. All of them work on one job, and the
 * last to finish sends one message. Further calls wait in a queue. If a worker dies, the current job fails; all workers are then
 * restarted for the queue, or for the next call.
 */
export class Pool {
  readonly arena: SharedArena;
  private readonly control: number;
  private threads: readonly Thread[] = [];
  private ended: Promise<unknown> = Promise.resolve(); // resolves when all workers that were told to end have ended
  private readonly queue: Waiting[] = [];
  private working: Waiting | undefined;
  private state: "stopped" | "changing" | "ready" = "stopped";
  private closed = false;

  private constructor(
    private readonly module: WasmModule,
    private readonly spawn: Spawn,
    readonly workers: number,
  ) {
    // The host's frame, the workers' frames, the control block, then allocated memory.
    this.control = FRAME * (workers + 1);
    this.arena = new SharedArena(module, this.control + CONTROL_SIZE);
  }

  static async open(module: WasmModule, spawn: Spawn, workers: number): Promise<Pool> {
    const pool = new Pool(module, spawn, workers);
    await pool.start();
    return pool;
  }

  /** Run a job. Its first step, which reads all inputs, is done before this returns. */
  async run<R>(bytes: number, body: JobBody<R>): Promise<R> {
    const size = aligned(JOB_SIZE) + bytes;
    const at = this.arena.allocate(size, false);
    if (at === 0) throw new EngineError(`threads: no memory for ${bytes} bytes`);
    try {
      const space = new Space(this.arena, at, at + size, true);
      const address = space.reserve(JOB_SIZE);
      const steps = body(space, new Job(this.arena, address, this.workers));
      for (let next = steps.next(); ; next = steps.next()) {
        if (next.done) return next.value;
        await this.submit(address);
      }
    } finally {
      this.arena.release(at);
    }
  }

  /** Fails the current job and the queue. The workers have ended when this resolves. */
  async close(): Promise<void> {
    this.closed = true;
    await this.end();
    const error = closedError();
    this.working?.reject(error);
    this.working = undefined;
    this.failQueue(error);
  }

  private submit(address: number): Promise<void> {
    if (this.closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.queue.push({ address, resolve, reject });
      if (this.state === "stopped") void this.revive();
      else this.post();
    });
  }

  // Hand the next job to the workers if they are ready and idle.
  private post(): void {
    if (this.state !== "ready" || this.working) return;
    this.working = this.queue.shift();
    this.hold(this.working !== undefined);
    if (!this.working) return;
    const words = this.arena.words;
    const at = this.control / 4;
    words[at + ADDRESS] = this.working.address;
    Atomics.store(words, at + FINISHED, 0);
    Atomics.add(words, at + POSTED, 1);
    Atomics.notify(words, at + POSTED);
  }

  private finished(): void {
    const done = this.working;
    this.working = undefined;
    done?.resolve(); // its next step may queue another job
    this.post();
  }

  // Whether the workers keep the process alive.
  private hold(alive: boolean): void {
    for (const thread of this.threads) thread.hold(alive);
  }

  // Start all workers. If one fails, end them all and throw.
  private async start(): Promise<void> {
    this.state = "changing";
    const threads: Thread[] = [];
    this.threads = threads;
    const posted = Atomics.load(this.arena.words, this.control / 4 + POSTED);
    try {
      await new Promise<void>((resolve, reject) => {
        let missing = this.workers;
        const heard = (message: number): void => {
          if (this.threads !== threads) return; // a message of workers that have been told to end
          if (message !== READY) this.finished();
          else if (--missing === 0) resolve();
        };
        const died = (why: string): void => {
          reject(new EngineError(`threads: a worker could not start: ${why}`));
          void this.lose(threads, why);
        };
        for (let worker = 0; worker < this.workers; worker++) {
          const thread = this.spawn(SOURCE);
          threads.push(thread);
          thread.listen(heard, died);
          thread.hold(true);
          thread.post({
            module: this.module,
            memory: this.arena.memory,
            frame: FRAME * (worker + 1),
            control: this.control,
            worker,
            workers: this.workers,
            spins: this.workers <= cores() ? PATIENT : HASTY,
            posted,
          });
        }
      });
    } catch (cause) {
      await this.end();
      this.state = "stopped";
      throw cause instanceof EngineError
        ? cause
        : new EngineError(`threads: a worker could not start: ${(cause as Error).message}`, { cause });
    }
    this.state = "ready";
    this.hold(false);
    this.post();
  }

  // Restart the workers for the queue. If that fails, the queue fails, and the next call tries again. Kernels expect zeros in the
  // superaccumulators of their frames and leave zeros there, but a worker that died has not.
  private async revive(): Promise<void> {
    this.arena.zero(FRAME, FRAME * this.workers);
    try {
      await this.start();
    } catch (error) {
      this.failQueue(error as EngineError);
    }
  }

  // Before the caller learns of the failure, all workers have ended: none may still touch the memory of the job. They are restarted only
  // for a call, so that workers which die at once are not restarted forever.
  private async lose(threads: readonly Thread[], why: string): Promise<void> {
    if (this.threads !== threads || this.state !== "ready") return;
    await this.end();
    this.working?.reject(new EngineError(`threads: a worker died during the call: ${why}`));
    this.working = undefined;
    if (this.closed) return;
    this.state = "stopped";
    if (this.queue.length > 0) await this.revive();
  }

  private end(): Promise<unknown> {
    this.state = "changing";
    const threads = this.threads;
    this.threads = [];
    this.ended = Promise.all([this.ended, ...threads.map((thread) => thread.end())]);
    return this.ended;
  }

  private failQueue(error: EngineError): void {
    for (const waiting of this.queue.splice(0)) waiting.reject(error);
  }
}

function closedError(): EngineError {
  return new EngineError("threads: the engine is closed");
}
