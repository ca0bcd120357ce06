// The CPU's share of a hybrid factorization: panels on worker threads, small work on the calling thread. Called by factor.ts and
// hybrid.ts.
import { EngineError } from "../../../arrays/errors.ts";
import type { Interval, Wait } from "../../device.ts";

/**
 * Factors a panel, P A = L U, stored by rows, in place. Pivots are counted from its first row. Returns the first column whose pivot
 * is 0 or not finite, or -1.
 */
export type Panel<R> = (data: Float32Array, rows: number, cols: number, pivots: Int32Array) => R;

/** Threads that factor panels. */
export interface Threads {
  readonly panel: Panel<Promise<number>>;
  close(): Promise<void>;
}

/** A wait for a panel; `column` is then its first bad column, or -1. */
export interface PanelWait extends Wait {
  readonly column: number;
}

/** The CPU beside a device. Panels are factored on threads, started with the first panel, or on the calling thread if the caller blocks. */
export class Cpu {
  private opening: Promise<Threads> | undefined;
  private closing: Promise<void> | undefined;
  private recorded: Interval[] | undefined;

  constructor(
    private readonly open: () => Promise<Threads>,
    private readonly panelOnHost: Panel<number>,
  ) {}

  panel(...args: Parameters<Panel<number>>): PanelWait {
    const wait = {
      column: -1,
      now: () => {
        wait.column = this.work(() => this.panelOnHost(...args));
      },
      later: async () => {
        const threads = await this.threads();
        const from = performance.now();
        wait.column = await threads.panel(...args);
        this.recorded?.push([from, performance.now()]);
      },
    };
    return wait;
  }

  /** Small work, on this thread: a block of 128 unknowns takes 15 to 40 microseconds, and passing it to another thread takes as long. */
  work<R>(task: () => R): R {
    const from = performance.now();
    const result = task();
    this.recorded?.push([from, performance.now()]);
    return result;
  }

  /** Record when it works. The function returned stops it and returns the times. */
  record(): () => readonly Interval[] {
    const intervals: Interval[] = [];
    this.recorded = intervals;
    return () => {
      this.recorded = undefined;
      return intervals;
    };
  }

  private threads(): Promise<Threads> {
    if (this.closing) return Promise.reject(new EngineError("opencl: the engine is closed"));
    this.opening ??= this.open().catch((error) => {
      this.opening = undefined; // the next call tries again
      throw error;
    });
    return this.opening;
  }

  /** End the threads; pending panels fail. */
  close(): Promise<void> {
    this.closing ??= (this.opening ?? Promise.resolve(undefined)).then(
      (threads) => threads?.close(),
      () => undefined,
    );
    return this.closing;
  }
}
