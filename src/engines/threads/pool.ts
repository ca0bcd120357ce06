import { EngineError } from "../../errors.ts";
import { FRAME, JOB_SIZE } from "../wasm/assembly/layout.ts";
import { Job } from "../wasm/jobs.ts";
import { aligned, Space } from "../wasm/space.ts";
import { SharedArena } from "./arena.ts";
import type { Thread } from "./spawn.ts";
import { ADDRESS, CONTROL_SIZE, FINISHED, POSTED, SOURCE } from "./worker.ts";

interface Waiting {
  readonly address: number;
  resolve(): void;
  reject(error: EngineError): void;
}

/**
 * Workers over one shared memory. Jobs are posted by an atomic counter that the workers sleep on; all of them work on
 * one job, and the last to finish sends one message. Calls that come meanwhile wait in line. A worker that dies fails the
 * job at hand; all workers are then started anew, and the line goes on.
 */
export class Pool {
  readonly arena: SharedArena;
  private readonly control: number;
  private threads: Thread[] = [];
  private readonly line: Waiting[] = [];
  private working: Waiting | undefined;
  private ready = false;
  private closed = false;

  private constructor(
    private readonly module: WebAssembly.Module,
    private readonly spawn: (source: string) => Thread,
    readonly workers: number,
  ) {
    // The host's frame, those of the workers, the control block, then what is allocated.
    this.control = FRAME * (workers + 1);
    this.arena = new SharedArena(module, this.control + CONTROL_SIZE);
  }

  static async open(module: WebAssembly.Module, spawn: (source: string) => Thread, workers: number): Promise<Pool> {
    const pool = new Pool(module, spawn, workers);
    await pool.start();
    return pool;
  }

  /** Run a routine over the kernels: its first step, which reads all inputs, before this returns. */
  async run<R>(bytes: number, routine: (space: Space, job: Job) => Generator<void, R, void>): Promise<R> {
    if (this.closed) throw new EngineError("threads: the engine is closed");
    const size = aligned(JOB_SIZE) + bytes;
    const at = this.arena.allocate(size);
    if (at === 0) throw new EngineError(`threads: no memory for ${bytes} bytes`);
    try {
      const space = new Space(this.arena, at, at + size, true);
      const address = space.reserve(JOB_SIZE);
      const steps = routine(space, new Job(this.arena, address, this.workers));
      for (let turn = steps.next(); ; turn = steps.next()) {
        if (turn.done) return turn.value;
        await this.submit(address);
      }
    } finally {
      this.arena.release(at);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.ready = false;
    const threads = this.threads;
    this.threads = [];
    await Promise.all(threads.map((thread) => thread.end()));
    const error = new EngineError("threads: the engine was closed");
    this.working?.reject(error);
    this.working = undefined;
    for (const waiting of this.line.splice(0)) waiting.reject(error);
  }

  private submit(address: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.closed) {
        reject(new EngineError("threads: the engine was closed"));
        return;
      }
      this.line.push({ address, resolve, reject });
      this.post();
    });
  }

  // Hand the next job to the workers, if they are there and idle.
  private post(): void {
    if (!this.ready || this.working) return;
    this.working = this.line.shift();
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
    done?.resolve(); // its next step may put another job in line
    this.post();
  }

  private hold(alive: boolean): void {
    for (const thread of this.threads) thread.hold(alive);
  }

  private async start(): Promise<void> {
    const posted = Atomics.load(this.arena.words, this.control / 4 + POSTED);
    const started = Array.from({ length: this.workers }, (_, worker) => {
      const thread = this.spawn(SOURCE);
      this.threads.push(thread);
      return new Promise<void>((resolve, reject) => {
        thread.listen(
          (message) => (message === -1 ? resolve() : this.finished()),
          (why) => {
            reject(new EngineError(`threads: a worker could not start: ${why}`));
            void this.restart(thread, why);
          },
        );
        thread.hold(true);
        const frame = FRAME * (worker + 1);
        thread.post({
          module: this.module,
          memory: this.arena.memory,
          frame,
          control: this.control,
          worker,
          workers: this.workers,
          posted,
        });
      });
    });
    await Promise.all(started);
    this.ready = true;
    this.hold(false);
    this.post();
  }

  // Nobody may touch the memory of a failed job any more when its caller is told.
  private async restart(dead: Thread, why: string): Promise<void> {
    if (!this.ready || !this.threads.includes(dead)) return;
    this.ready = false;
    const threads = this.threads;
    this.threads = [];
    await Promise.all(threads.map((thread) => thread.end()));
    this.working?.reject(new EngineError(`threads: a worker died during the call: ${why}`));
    this.working = undefined;
    if (this.closed) return;
    try {
      await this.start();
    } catch (error) {
      for (const waiting of this.line.splice(0)) waiting.reject(error as EngineError);
    }
  }
}
