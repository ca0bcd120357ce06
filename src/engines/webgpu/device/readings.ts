// Reads buffers through memory that the host can map. Called by device.ts.
import { type GpuBuffer, type GpuDevice, type GpuEncoder, MAP_READ, USAGE } from "./gpu.ts";

// Large reads are cut, so that no more than this is mapped at once beyond the first part.
const PART_BYTES = 2 ** 26;
// Mapped memory that is kept for the next reads.
const MAX_KEPT = 8;
const KEPT_BYTES = 2 ** 16;

/** A read whose commands were given. finish() waits for them and copies the data. */
export interface Reading {
  finish(): Promise<void>;
}

export class Readings {
  private readonly kept: GpuBuffer[] = []; // each of KEPT_BYTES

  constructor(private readonly device: GpuDevice) {}

  /** Give the commands that read from a buffer. */
  begin(commands: GpuEncoder, from: GpuBuffer, offset: number, to: ArrayBufferView): Reading {
    const target = new Uint8Array(to.buffer, to.byteOffset, to.byteLength);
    const parts: { memory: GpuBuffer; at: number; bytes: number }[] = [];
    for (let at = 0; at < target.length; at += PART_BYTES) {
      const bytes = Math.min(PART_BYTES, target.length - at);
      const memory = this.take(bytes);
      commands.copyBufferToBuffer(from, offset + at, memory, 0, bytes);
      parts.push({ memory, at, bytes });
    }
    return {
      finish: async () => {
        await Promise.all(parts.map(({ memory, bytes }) => memory.mapAsync(MAP_READ, 0, bytes)));
        for (const { memory, at, bytes } of parts) {
          target.set(new Uint8Array(memory.getMappedRange(0, bytes)), at);
          memory.unmap();
          this.give(memory);
        }
      },
    };
  }

  private take(bytes: number): GpuBuffer {
    const kept = bytes <= KEPT_BYTES ? this.kept.pop() : undefined;
    return kept ?? this.device.createBuffer({ size: Math.max(bytes, KEPT_BYTES), usage: USAGE.mapRead | USAGE.copyDst });
  }

  private give(memory: GpuBuffer): void {
    if (memory.size === KEPT_BYTES && this.kept.length < MAX_KEPT) this.kept.push(memory);
    else memory.destroy();
  }
}
