// Records when commands run, from OpenCL's profiling events, on the clock of performance.now(). Called by device.ts.
import type { Interval } from "../../device.ts";
import type { Handle, Library } from "./library.ts";

const COMMAND_START = 0x1282;
const COMMAND_END = 0x1283;
const PROBES = 4;

export class CommandTimes {
  private recorded: Handle[] | undefined;
  private readonly event = new BigUint64Array(1);

  constructor(private readonly cl: Library) {}

  /** Where the next command puts its event; null while nothing is recorded. Call add() after the command. */
  get eventOfNext(): BigUint64Array | null {
    return this.recorded ? this.event : null;
  }

  add(): void {
    this.recorded?.push(this.event[0] as Handle);
  }

  /** Start to record. `probe` gives one command and waits for it. */
  record(probe: () => void): () => readonly Interval[] {
    const offset = this.clockOffset(probe);
    this.recorded = [];
    return () => {
      const events = this.recorded ?? [];
      this.recorded = undefined;
      const intervals = events.map(
        (event): Interval => [this.timeOf(event, COMMAND_START) + offset, this.timeOf(event, COMMAND_END) + offset],
      );
      for (const event of events) this.cl.clReleaseEvent(event);
      return intervals.filter(([from, to]) => from <= to);
    };
  }

  // A device has its own clock. The offset is measured with commands that have just ended. Each can only seem to have ended too
  // late: by 1 ms for the first after a pause, then by a few microseconds (H200; the times of its markers are useless).
  private clockOffset(probe: () => void): number {
    const offsets = Array.from({ length: PROBES }, () => {
      this.recorded = [];
      probe();
      const event = this.recorded[0] as Handle;
      const offset = performance.now() - this.timeOf(event, COMMAND_END);
      this.cl.clReleaseEvent(event);
      return offset;
    });
    return Math.min(...offsets);
  }

  // In milliseconds; NaN for a command that has not finished, because its call failed.
  private timeOf(event: Handle, what: number): number {
    const time = new BigUint64Array(1);
    return this.cl.clGetEventProfilingInfo(event, what, 8, time, null) === 0 ? Number(time[0]) / 1e6 : Number.NaN;
  }

  releaseAll(): void {
    for (const event of this.recorded ?? []) this.cl.clReleaseEvent(event);
    this.recorded = undefined;
  }
}
