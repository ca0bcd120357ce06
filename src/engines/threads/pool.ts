// The pool of workers behind the threads engine: it starts them, runs jobs one after another, and restarts workers that die.
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

// How often a waiting worker polls a counter before it goes to sleep. If every worker has a core of its own: for half a millisecond, which
// is what waking up costs (exlu of order 1024 waits 128 times). If workers share cores: hardly at all, because the worker it waits for
// may need the core.
const SPINS_ON_OWN_CORE = 400_000;
const SPINS_ON_SHARED_CORE = 100;

/** A job that waits for the workers, or that they are running. */
interface Submitted {
  readonly address: number;
  resolve(): void;
  reject(error: EngineError): void;
}

/**
 * Workers over one shared memory. A job is posted by incrementing an atomic counter that the workers sleep on. All workers run the same
 * job, and the last to finish sends a message. Other jobs wait in a queue. If a worker dies, the current job fails, and all workers are
 * restarted for the queue or for the next call.
 */
export class Pool {
  readonly arena: SharedArena;
  private readonly control: number; // the address of the control block: see worker.ts
  private threads: readonly Thread[] = [];
  private ended: Promise<unknown> = Promise.resolve(); // resolves when all workers that were told to end have ended
  private readonly queue: Submitted[] = [];
  private current: Submitted | undefined;
  private state: "stopped" | "changing" | "ready" = "stopped";
  private closed = false;

  private constructor(
    private readonly module: WasmModule,
    private readonly spawn: Spawn,
    readonly workers: number,
  ) {
    // The memory: the frame of the host, those of the workers, the control block, and allocated blocks.
    this.control = FRAME * (workers + 1);
    this.arena = new SharedArena(module, this.control + CONTROL_SIZE);
  }

  static async open(module: WasmModule, spawn: Spawn, workers: number): Promise<Pool> {
    const pool = new Pool(module, spawn, workers);
    await pool.start();
    return pool;
  }

  /** The address of a new block with undefined contents. */
  allocate(routine: string, bytes: number): number {
    const at = this.arena.allocate(bytes, false);
    if (at === 0) throw new EngineError(`${routine}: no memory for ${bytes} bytes`);
    return at;
  }

  /** Run a job. Its first step, which reads all inputs, is done before this returns. If a worker dies, the job learns of it. */
  async run<R>(bytes: number, body: JobBody<R>): Promise<R> {
    const size = aligned(JOB_SIZE) + bytes;
    const at = this.allocate("threads", size);
    try {
      const space = new Space(this.arena, at, at + size, true);
      const address = space.reserve(JOB_SIZE);
      const steps = body(space, new Job(this.arena, address, this.workers));
      let next = steps.next();
      while (!next.done)
        next = await this.submit(address).then(
          () => steps.next(),
          (error) => steps.throw(error),
        );
      return next.value;
    } finally {
      this.arena.release(at);
    }
  }

  /** Fail the current job and the queue. All workers have ended when this resolves. */
  async close(): Promise<void> {
    this.closed = true;
    await this.end();
    const error = closedError();
    this.current?.reject(error);
    this.current = undefined;
    this.failQueue(error);
  }

  private submit(address: number): Promise<void> {
    if (this.closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.queue.push({ address, resolve, reject });
      if (this.state === "stopped") void this.restart();
      else this.post();
    });
  }

  // Post the next job if the workers are ready and idle.
  private post(): void {
    if (this.state !== "ready" || this.current) return;
    this.current = this.queue.shift();
    this.keepAlive(this.current !== undefined);
    if (!this.current) return;
    const words = this.arena.words;
    const at = this.control / 4;
    words[at + ADDRESS] = this.current.address;
    Atomics.store(words, at + FINISHED, 0);
    Atomics.add(words, at + POSTED, 1);
    Atomics.notify(words, at + POSTED);
  }

  // The workers have finished the current job.
  private finished(): void {
    const done = this.current;
    this.current = undefined;
    done?.resolve(); // its next step may submit another job
    this.post();
  }

  // Whether the workers keep the process alive.
  private keepAlive(alive: boolean): void {
    for (const thread of this.threads) thread.keepAlive(alive);
  }

  // Start all workers. If one fails, end them all and throw.
  private async start(): Promise<void> {
    this.state = "changing";
    const threads: Thread[] = [];
    this.threads = threads;
    const posted = Atomics.load(this.arena.words, this.control / 4 + POSTED);
    try {
      await new Promise<void>((resolve, reject) => {
        let starting = this.workers;
        const onMessage = (message: number): void => {
          if (this.threads !== threads) return; // from workers that have been told to end
          if (message !== READY) this.finished();
          else if (--starting === 0) resolve();
        };
        const onDeath = (reason: string): void => {
          reject(new EngineError(`threads: a worker could not start: ${reason}`));
          void this.workerDied(threads, reason);
        };
        for (let worker = 0; worker < this.workers; worker++) {
          const thread = this.spawn(SOURCE);
          threads.push(thread);
          thread.listen(onMessage, onDeath);
          thread.keepAlive(true);
          thread.post({
            module: this.module,
            memory: this.arena.memory,
            frame: FRAME * (worker + 1),
            control: this.control,
            worker,
            workers: this.workers,
            spins: this.workers <= cores() ? SPINS_ON_OWN_CORE : SPINS_ON_SHARED_CORE,
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
    this.keepAlive(false);
    this.post();
  }

  // Restart the workers for the queue. If that fails, the queue fails, and the next call tries again. Kernels expect zeros in the
  // superaccumulators of their frames and leave zeros there, but a worker that died may have left something else.
  private async restart(): Promise<void> {
    this.arena.zero(FRAME, FRAME * this.workers);
    try {
      await this.start();
    } catch (error) {
      this.failQueue(error as EngineError);
    }
  }

  // All workers end before the caller learns of the failure: none may touch the memory of the job any more. They are restarted only for a
  // call, so that workers that die immediately are not restarted forever.
  private async workerDied(threads: readonly Thread[], reason: string): Promise<void> {
    if (this.threads !== threads || this.state !== "ready") return;
    await this.end();
    this.current?.reject(new EngineError(`threads: a worker died during the call: ${reason}`));
    this.current = undefined;
    if (this.closed) return;
    this.state = "stopped";
    if (this.queue.length > 0) await this.restart();
  }

  private end(): Promise<unknown> {
    this.state = "changing";
    const threads = this.threads;
    this.threads = [];
    this.ended = Promise.all([this.ended, ...threads.map((thread) => thread.end())]);
    return this.ended;
  }

  private failQueue(error: EngineError): void {
    for (const job of this.queue.splice(0)) job.reject(error);
  }
}

function closedError(): EngineError {
  return new EngineError("threads: the engine is closed");
}
