// The lifetime of engine memory behind an object that users hold: a plan (sparse/sptrsv.ts), factors (solve/factor.ts, routines.ts). It is
// freed on request or when the object is garbage-collected, but not before pending calls are done.
import { ShapeError } from "../arrays/errors.ts";
import type { Routine } from "../engines/steps.ts";

/** The memory, and how many calls use it. */
interface Memory {
  pending: number;
  freed: boolean;
  free(): void;
  /** Called when the last pending call is done and the memory stays in use. */
  idle(): void;
}
const collected = new FinalizationRegistry<Memory>(release);

function release(memory: Memory): void {
  memory.freed = true;
  if (memory.pending === 0) memory.free();
}

/** All methods of the public object refer to its Lifetime, so it is collected once none of them can be called any more. */
export class Lifetime {
  private readonly memory: Memory;

  /**
   * `freedError` follows the name of the routine in the error of a call after free(). `isCollected`: the memory is garbage-collected by
   * itself. (A FinalizationRegistry would hold it until the event loop runs; without one it may be collected earlier.)
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

  /** Throws if the memory was freed. */
  checkOpen(routine: string): void {
    if (this.memory.freed) throw new ShapeError(`${routine}: ${this.freedError}`);
  }

  /** Run a call that uses the memory. */
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
