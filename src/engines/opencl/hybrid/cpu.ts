import { EngineError } from "../../../arrays/errors.ts";
import type { Interval, Wait } from "../../device.ts";

/** P A = L U of a panel, row by row, in place, pivots counted from its first row; the first column whose pivot is 0 or not finite, or -1. */
export type Panel<R> = (data: Float32Array, rows: number, cols: number, pivots: Int32Array) => R;

/** Threads that factor panels. */
export interface Threads {
  readonly panel: Panel<Promise<number>>;
  close(): Promise<void>;
}

/** Waits for a panel; `column` is then its first bad column. */
export interface PanelWait extends Wait {
  readonly column: number;
}

/**
 * The CPU beside a device. Panels are factored on threads, which are started for the first one; where a caller waits at once, on
 * the caller's.
 */
export class Cpu {
  private opening: Promise<Threads> | undefined;
  private closing: Promise<void> | undefined;
  private recorded: Interval[] | undefined;

  constructor(
    private readonly open: () => Promise<Threads>,
    private readonly here: Panel<number>,
  ) {}

  panel(...args: Parameters<Panel<number>>): PanelWait {
    const wait = {
      column: -1,
      now: () => {
        wait.column = this.work(() => this.here(...args));
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

  /** Something small, on this thread: a block of 128 unknowns takes 15 to 40 microseconds, and to hand it to another thread as long. */
  work<R>(small: () => R): R {
    const from = performance.now();
    const result = small();
    this.recorded?.push([from, performance.now()]);
    return result;
  }

  /** Note when it works; what this returns ends that, and tells. */
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

  /** End the threads: panels that are waited for fail. */
  close(): Promise<void> {
    this.closing ??= (this.opening ?? Promise.resolve(undefined)).then(
      (threads) => threads?.close(),
      () => undefined,
    );
    return this.closing;
  }
}
