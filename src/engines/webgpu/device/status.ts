// Whether a device can still be used: it may be closed, or lost. All parts of device.ts ask here.
import { EngineError } from "../../../arrays/errors.ts";

export class Status {
  private closed = false;
  private lost: string | undefined;

  constructor(private readonly name: string) {}

  get isClosed(): boolean {
    return this.closed;
  }

  close(): void {
    this.closed = true;
  }

  lose(message: string): void {
    this.lost = message.trim().split("\n", 1)[0] || "no reason given";
  }

  /** Throw if the device is closed or lost. */
  checkOpen(): void {
    if (this.closed) throw new EngineError("webgpu: the engine is closed");
    if (this.lost !== undefined) throw new EngineError(`webgpu: ${this.name} was lost (${this.lost}): close the engine and open it again`);
  }
}
