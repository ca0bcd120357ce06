// Progress reports and aborting. The exact stages of solve() call shouldContinue() between steps, and stop if it returns false.

import type { Wait } from "../../engines/device.ts";
import type { Routine } from "../../engines/steps.ts";
import type { AbortSignalLike } from "./types.ts";

// On an asynchronous engine this returns to the event loop, so that the signal can be aborted and progress displayed.
const pause: Wait = { now() {}, later: () => new Promise((resolve) => setTimeout(resolve, 0)) };
const INTERVAL = 30; // milliseconds

/** The signal and the progress callback of one call. */
export class Progress {
  private last = 0;

  constructor(
    private readonly signal: AbortSignalLike | undefined,
    private readonly onProgress: ((stage: string, done: number) => void) | undefined,
  ) {}

  get aborted(): boolean {
    return this.signal?.aborted ?? false;
  }

  throwIfAborted(): void {
    this.signal?.throwIfAborted();
  }

  /** Report how much of a stage is done, from 0 to 1, return to the event loop now and then, and return whether to continue. */
  *shouldContinue(stage: string, done: number): Routine<boolean> {
    const now = performance.now();
    if (done === 0 || done >= 1 || now - this.last > INTERVAL) {
      this.last = now;
      this.onProgress?.(stage, Math.min(1, Math.max(0, done)));
      yield () => pause;
    }
    return !this.aborted;
  }
}
