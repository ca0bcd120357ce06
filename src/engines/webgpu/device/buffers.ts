// The buffers of a device. Memory that was freed is kept for the next buffer of its size, because new memory is cleared first. Commands run
// in order, so it can be used again at once.
import type { DeviceBuffer } from "../../device.ts";
import { type GpuBuffer, type GpuDevice, USAGE } from "./gpu.ts";

const MAX_SPARE_BYTES = 2 ** 28;

// Sizes are rounded up, to powers of two or to MiB, so that more buffers can share memory, and so that a binding may be rounded up.
const roundUp = (bytes: number): number =>
  bytes <= 2 ** 20 ? 2 ** Math.max(8, Math.ceil(Math.log2(bytes))) : Math.ceil(bytes / 2 ** 20) * 2 ** 20;

/** Memory of a device, or a part of it: `bytes` from `offset` on. */
export class Buffer implements DeviceBuffer {
  constructor(
    private readonly owner: Buffers | undefined, // undefined: a part of another buffer, which is not freed by itself
    readonly memory: GpuBuffer,
    readonly offset: number,
    readonly bytes: number,
  ) {}

  free(): void {
    this.owner?.release(this);
  }

  recycle(): void {
    this.owner?.release(this);
  }
}

export class Buffers {
  private readonly inUse = new Set<Buffer>();
  private readonly spare = new Map<number, GpuBuffer[]>(); // by size
  private spareBytes = 0;
  private retired: GpuBuffer[] = []; // to be destroyed when the commands that use it have been submitted

  constructor(
    private readonly device: GpuDevice,
    private readonly maxBytes: number,
  ) {}

  allocate(bytes: number): Buffer {
    const size = Math.min(roundUp(bytes), Math.floor(this.maxBytes / 16) * 16);
    const memory = this.takeSpare(size) ?? this.device.createBuffer({ size, usage: USAGE.storage | USAGE.copySrc | USAGE.copyDst });
    const buffer = new Buffer(this, memory, 0, bytes);
    this.inUse.add(buffer);
    return buffer;
  }

  private takeSpare(size: number): GpuBuffer | undefined {
    const memory = this.spare.get(size)?.pop();
    if (memory) this.spareBytes -= size;
    return memory;
  }

  release(buffer: Buffer): void {
    if (!this.inUse.delete(buffer)) return; // already freed, or released with the device
    const { memory } = buffer;
    if (this.spareBytes + memory.size > MAX_SPARE_BYTES) {
      this.retired.push(memory);
      return;
    }
    this.spareBytes += memory.size;
    const others = this.spare.get(memory.size);
    if (others) others.push(memory);
    else this.spare.set(memory.size, [memory]);
  }

  /** All commands so far have been submitted. */
  submitted(): void {
    for (const memory of this.retired.splice(0)) memory.destroy();
  }

  /** Give the memory that is not in use back to the device: it has refused some. */
  freeSpare(): void {
    this.retired.push(...[...this.spare.values()].flat());
    this.spare.clear();
    this.spareBytes = 0;
  }
}
