// Progress reports and aborting. The exact stages of solve() call shouldContinue() between steps, and stop if it returns false.

import { HalfulpError } from "../../arrays/errors.ts";
import type { Wait } from "../../engines/device.ts";
import type { Routine } from "../../engines/steps.ts";
import { largestOver, onAny, throwTogether } from "./held.ts";
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

  /** Whether the call was aborted, on one of its processes at least. */
  *isAborted(): Routine<boolean> {
    return yield* onAny(this.signal?.aborted === true);
  }

  /** Throw the signal's reason if the call was aborted. */
  *throwIfAborted(): Routine<void> {
    yield* throwTogether(errorOf(() => this.signal?.throwIfAborted()));
  }

  /**
   * Report how much of a stage is done, from 0 to 1, return to the event loop now and then, and return whether to continue. All processes
   * of a call get the same answer, or all throw.
   */
  *shouldContinue(stage: string, done: number): Routine<boolean> {
    const now = performance.now();
    let error: unknown;
    if (done === 0 || done >= 1 || now - this.last > INTERVAL) {
      this.last = now;
      error = errorOf(() => this.onProgress?.(stage, Math.min(1, Math.max(0, done))));
      yield () => pause;
    }
    const state = yield* largestOver(error !== undefined ? FAILED : this.signal?.aborted ? ABORTED : 0);
    if (state === FAILED) yield* throwTogether(error);
    return state === 0;
  }
}

const [ABORTED, FAILED] = [1, 2];

function errorOf(action: () => void): unknown {
  try {
    action();
    return undefined;
  } catch (error) {
    return error ?? new HalfulpError("an error without a value");
  }
}
