// What WebGPU reports about commands, some time after they were given. A call gives its commands between two waits; the scopes opened
// before the first of them tell the errors of all. Called by device.ts.
import { EngineError } from "../../../arrays/errors.ts";
import type { ErrorFilter, GpuDevice } from "./gpu.ts";

const FILTERS: readonly ErrorFilter[] = ["validation", "out-of-memory", "internal"];

export class ErrorScopes {
  private isOpen = false;
  private routine = "";
  private bytes = 0; // of the largest buffer of these commands

  constructor(
    private readonly device: GpuDevice,
    private readonly onRefusedMemory: () => void,
  ) {}

  /** Before a command. `routine` asks for memory. */
  begin(routine?: string, bytes = 0): void {
    if (!this.isOpen) for (const filter of FILTERS) this.device.pushErrorScope(filter);
    this.isOpen = true;
    if (routine === undefined) return;
    this.bytes = Math.max(this.bytes, bytes);
    this.routine = routine;
  }

  /** After the commands of a call up to a wait: a function that throws if one of them failed. */
  end(): () => Promise<void> {
    const { routine, bytes } = this;
    const [internal, memory, validation] = FILTERS.map(() => this.device.popErrorScope().catch(() => null));
    this.isOpen = false;
    this.routine = "";
    this.bytes = 0;
    const who = routine === "" ? "webgpu" : routine;
    return async () => {
      if (await memory) {
        this.onRefusedMemory();
        throw new EngineError(`${who}: the device has no memory for ${bytes} bytes, expected a smaller problem`);
      }
      const error = (await validation) ?? (await internal);
      if (error) throw new EngineError(`${who}: WebGPU refused a command, please report it: ${error.message}`);
    };
  }
}
