// Watching and aborting: the exact stages of solve() report to a Progress between steps, and stop if it says so.

import type { Wait } from "../../engines/device.ts";
import type { Routine } from "../../engines/steps.ts";
import type { AbortSignalLike } from "./types.ts";

// An engine that answers later lets others have their turn: a signal can be given, and progress be seen.
const pause: Wait = { now() {}, later: () => new Promise((resolve) => setTimeout(resolve, 0)) };
const EVERY = 30; // milliseconds

/** Work that may take long: it can be watched and aborted. */
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

  /** Tell how far a stage is, from 0 to 1, let others on now and then, and return whether to go on. */
  *goesOn(stage: string, done: number): Routine<boolean> {
    const now = performance.now();
    if (done === 0 || done >= 1 || now - this.last > EVERY) {
      this.last = now;
      this.onProgress?.(stage, Math.min(1, Math.max(0, done)));
      yield () => pause;
    }
    return !this.aborted;
  }
}
