// The memory behind an object that users hold (a plan, factors): it is freed on request or when the object is collected, but not
// before the calls that use it are done.
import { ShapeError } from "../arrays/errors.ts";
import type { Routine } from "../engines/steps.ts";

/** What is freed, and when calls that use it are done. */
interface Memory {
  pending: number;
  freed: boolean;
  free(): void;
  /** Called whenever the last pending call is done. */
  idle(): void;
}
const collected = new FinalizationRegistry<Memory>(release);

function release(memory: Memory): void {
  memory.freed = true;
  if (memory.pending === 0) memory.free();
}

/** All methods of the public object refer to its Lifetime: once none can be called any more, it is collected. */
export class Lifetime {
  private readonly memory: Memory;

  /**
   * `freedError` follows the name of the routine in the error of a call that comes too late. With `isCollected` the memory goes by itself
   * when it is collected. (A FinalizationRegistry holds what it is given until the event loop turns; such memory may go before.)
   */
  constructor(
    private readonly freedError: string,
    memory: { free(): void; idle?(): void; readonly isCollected: boolean },
  ) {
    const { free, idle = () => {}, isCollected } = memory;
    this.memory = { pending: 0, freed: false, free, idle };
    if (!isCollected) collected.register(this, this.memory, this.memory);
  }

  /** Whether a call is pending. */
  get isInUse(): boolean {
    return this.memory.pending > 0;
  }

  checkOpen(routine: string): void {
    if (this.memory.freed) throw new ShapeError(`${routine}: ${this.freedError}`);
  }

  /** A call that uses the memory. */
  *use<R>(call: Routine<R>): Routine<R> {
    const { memory } = this;
    memory.pending++;
    try {
      return yield* call;
    } finally {
      if (--memory.pending === 0) {
        if (memory.freed) memory.free();
        else memory.idle();
      }
    }
  }

  /** Free the memory as soon as no call is pending. */
  free(): void {
    collected.unregister(this.memory);
    release(this.memory);
  }
}
