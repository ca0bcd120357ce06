// The device layer: what host code needs from a GPU, whichever API drives it. Commands run in the order in which they are given.
// The host continues at once; only a Wait waits for them, and a device that cannot block the calling thread (WebGPU) has Waits
// without now().

import type { StridedMatrix } from "../arrays/matrix.ts";

/** Memory of a device. */
export interface DeviceBuffer {
  readonly bytes: number;
  /** Release the memory. Commands already given may still use it. Freeing twice has no effect. */
  free(): void;
  /** Release the memory for immediate reuse. The caller guarantees that all commands that use it have finished. */
  recycle(): void;
}

/** A matrix on a device: entry (i, j) is element offset + i * rowStride + j * colStride of the buffer, and one of the strides is 1. */
export interface DeviceMatrix extends Omit<StridedMatrix, "data"> {
  readonly buffer: DeviceBuffer;
}

/** An argument of a kernel: a buffer, a 32-bit integer, a value of another type, or the size of an array in local memory. */
export type KernelArgument = DeviceBuffer | number | BigInt64Array | Float64Array | { readonly localBytes: number };

/** A compiled kernel. */
export interface Kernel {
  readonly name: string;
  /** The largest work-group that it can be launched with. */
  readonly maxGroupSize: number;
}

/** Something to wait for. A device that cannot block the calling thread has no now(). */
export interface Wait {
  now?(): void;
  later(): Promise<void>;
}

/** A point in a queue of commands, reached when all commands before it have finished. It can be waited for once. */
export interface DeviceEvent {
  readonly kind: "event";
}

/** When a command began and ended, in milliseconds of performance.now(). */
export type Interval = readonly [from: number, to: number];

/** Work on a device: it gives commands, and yields where it must wait for them. The drivers of steps.ts run it. */
export type Work<R> = Generator<Wait, R, unknown>;

export interface Device {
  /** The name for display. */
  readonly name: string;
  readonly type: "gpu" | "cpu" | "accelerator";
  readonly vendor: string;
  /** Multiprocessors of a GPU, or cores of a CPU. */
  readonly computeUnits: number;
  readonly memoryBytes: number;
  /** The size of the largest buffer. */
  readonly maxBufferBytes: number;
  /** The local memory of a work-group. */
  readonly localBytes: number;
  /** The work-items of the largest work-group. */
  readonly maxGroupSize: number;
  /** Ten times NVIDIA's compute capability, and 0 for other vendors. */
  readonly computeCapability: number;
  /** Allocate memory, uninitialized. `routine` is named in the error if this fails. */
  allocate(routine: string, bytes: number): DeviceBuffer;
  /** Write to a buffer. The data has been copied when this returns. */
  write(to: DeviceBuffer, from: ArrayBufferView, offset?: number): void;
  copy(from: DeviceBuffer, to: DeviceBuffer, bytes: number, fromOffset?: number, toOffset?: number): void;
  /** Copy a matrix, whose entries have `width` bytes, row by row and without gaps. */
  copyMatrix(from: DeviceMatrix, to: DeviceBuffer, width: number): void;
  /** Fill with a pattern of 4 or 8 bytes. */
  fill(buffer: DeviceBuffer, pattern: ArrayBufferView, offset?: number, bytes?: number): void;
  /** A kernel of the program made of these sources, in this order, with these macro definitions. It is compiled once. */
  kernel(name: string, sources: readonly string[], defines?: Readonly<Record<string, string | number>>): Kernel;
  /** Start a kernel on `groups` work-groups of `group` work-items, in up to three dimensions. */
  launch(kernel: Kernel, groups: readonly number[], group: readonly number[], args: readonly KernelArgument[]): void;
  /** Wait for all commands so far and read a buffer. With an event, wait for that and for nothing after it. */
  read(from: DeviceBuffer, to: ArrayBufferView, offset?: number, until?: DeviceEvent): Wait;
  /** Wait for all commands so far. */
  finish(): Wait;
  /** Put the commands that `give` gives into a second queue, which runs beside the first. A device with one queue may use that. */
  onSecondQueue<R>(give: () => R): R;
  /** The current end of the queue. */
  event(): DeviceEvent;
  /** Later commands of this queue wait for an event of the other queue. */
  waitFor(event: DeviceEvent): void;
  /** Record when commands run, on a device opened for that. The function returned stops it and returns the times; call it when the commands have finished. */
  record(): () => readonly Interval[];
  /** Refuse further commands; pending waits fail. Resolves when all resources are released. */
  close(): Promise<void>;
}
