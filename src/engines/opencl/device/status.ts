// Whether a device can still be used: it may be closed, or lost in the middle of a command. All parts of device.ts ask here.
import { EngineError } from "../../../arrays/errors.ts";
import { check } from "./library.ts";

// Codes after which the device's memory cannot be trusted: out of resources, a failed event in a wait list, an invalid queue.
const LOST = [-5, -14, -36];

export class Status {
  private closed = false;
  private lost: string | undefined;

  constructor(private readonly name: string) {}

  get isClosed(): boolean {
    return this.closed;
  }

  get isLost(): boolean {
    return this.lost !== undefined;
  }

  close(): void {
    this.closed = true;
  }

  /** Throw if the device is closed or lost. */
  checkOpen(): void {
    if (this.closed) throw new EngineError("opencl: the engine is closed");
    if (this.lost !== undefined) throw new EngineError(`opencl: ${this.name} was lost (${this.lost}): close the engine and open it again`);
  }

  /** Throw if a command failed, and remember whether the device is lost. */
  check(what: string, code: number): void {
    if (code === 0) return;
    if (LOST.includes(code)) this.lost = `${what}, ${code}`;
    check(`opencl: ${what}`, code);
  }
}
