import { EngineError } from "../../arrays/errors.ts";
import { FRAME, JOB_SIZE } from "../wasm/assembly/layout.ts";
import { Job } from "../wasm/jobs/jobs.ts";
import type { WasmModule } from "../wasm/objects.ts";
import { aligned, Space } from "../wasm/space.ts";
import { SharedArena } from "./arena.ts";
import { cores } from "./cores.ts";
import type { Spawn, Thread } from "./spawn.ts";
import { ADDRESS, CONTROL_SIZE, FINISHED, POSTED, READY, SOURCE } from "./worker.ts";

// How often a worker looks before it goes to sleep: for half a millisecond where every worker has a core (exlu of order
// 1024 waits 128 times, and to be woken takes as long), next to nothing where it may have to make room for another.
const PATIENT = 400_000;
const HASTY = 100;

interface Waiting {
  readonly address: number;
  resolve(): void;
  reject(error: EngineError): void;
}

/**
 * Workers over one shared memory. Jobs are posted by an atomic counter that the workers sleep on; all of them work on
 * one job, and the last to finish sends one message. Calls that come meanwhile wait in line. A worker that dies fails the
 * job at hand; all workers are then started anew for those in line, or for the next call.
 */
export class Pool {
  readonly arena: SharedArena;
  private readonly control: number;
  private threads: readonly Thread[] = [];
  private ended: Promise<unknown> = Promise.resolve(); // of all workers that were told to end
  private readonly line: Waiting[] = [];
  private working: Waiting | undefined;
  private state: "stopped" | "changing" | "ready" = "stopped";
  private closed = false;

  private constructor(
    private readonly module: WasmModule,
    private readonly spawn: Spawn,
    readonly workers: number,
  ) {
    // The host's frame, those of the workers, the control block, then what is allocated.
    this.control = FRAME * (workers + 1);
    this.arena = new SharedArena(module, this.control + CONTROL_SIZE);
  }

  static async open(module: WasmModule, spawn: Spawn, workers: number): Promise<Pool> {
    const pool = new Pool(module, spawn, workers);
    await pool.start();
    return pool;
  }

  /** Run a routine over the kernels: its first step, which reads all inputs, before this returns. */
  async run<R>(bytes: number, routine: (space: Space, job: Job) => Generator<void, R, void>): Promise<R> {
    const size = aligned(JOB_SIZE) + bytes;
    const at = this.arena.allocate(size, false);
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

  /** What waits or is being worked on fails. The workers have ended when this resolves. */
  async close(): Promise<void> {
    this.closed = true;
    await this.end();
    const error = closedError();
    this.working?.reject(error);
    this.working = undefined;
    this.empty(error);
  }

  private submit(address: number): Promise<void> {
    if (this.closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      this.line.push({ address, resolve, reject });
      if (this.state === "stopped") void this.revive();
      else this.post();
    });
  }

  // Hand the next job to the workers, if they are there and idle.
  private post(): void {
    if (this.state !== "ready" || this.working) return;
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

  // All workers, or an error and none.
  private async start(): Promise<void> {
    this.state = "changing";
    const threads: Thread[] = [];
    this.threads = threads;
    const posted = Atomics.load(this.arena.words, this.control / 4 + POSTED);
    try {
      await new Promise<void>((resolve, reject) => {
        let missing = this.workers;
        const heard = (message: number): void => {
          if (this.threads !== threads) return; // sent before it was told to end
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

  // Start anew for those in line. If that fails they do, and the next call tries again. Kernels begin in frames of zeros
  // and leave their superaccumulators so; a worker that died has not.
  private async revive(): Promise<void> {
    this.arena.zero(FRAME, FRAME * this.workers);
    try {
      await this.start();
    } catch (error) {
      this.empty(error as EngineError);
    }
  }

  // Nobody may touch the memory of a failed job any more when its caller is told. Workers are started anew for a call only:
  // ones that die at once must not go on for ever.
  private async lose(threads: readonly Thread[], why: string): Promise<void> {
    if (this.threads !== threads || this.state !== "ready") return;
    await this.end();
    this.working?.reject(new EngineError(`threads: a worker died during the call: ${why}`));
    this.working = undefined;
    if (this.closed) return;
    this.state = "stopped";
    if (this.line.length > 0) await this.revive();
  }

  private end(): Promise<unknown> {
    this.state = "changing";
    const threads = this.threads;
    this.threads = [];
    this.ended = Promise.all([this.ended, ...threads.map((thread) => thread.end())]);
    return this.ended;
  }

  private empty(error: EngineError): void {
    for (const waiting of this.line.splice(0)) waiting.reject(error);
  }
}

function closedError(): EngineError {
  return new EngineError("threads: the engine is closed");
}
