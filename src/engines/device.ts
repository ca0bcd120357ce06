// The device layer: what host algorithms need of a GPU, whoever drives it. Commands run one after another, in the order
// in which they were given; only what yields a Wait waits for them.

/** Memory of a device. */
export interface DeviceBuffer {
  readonly bytes: number;
  free(): void;
  /** The same where all commands that use it are through: the next that wants as much may have it at once. */
  recycle(): void;
}

/** What a kernel is given: memory, a whole number of 32 bits, numbers of the array's type, or so many bytes for a work-group to share. */
export type KernelArgument = DeviceBuffer | number | BigInt64Array | Float64Array | { readonly local: number };

/** A compiled kernel. */
export interface Kernel {
  readonly name: string;
  /** The most work-items in a group that it can be started with. */
  readonly most: number;
}

/** Something to wait for. A device that cannot block the calling thread has no now(). */
export interface Wait {
  now?(): void;
  later(): Promise<void>;
}

/** A point in a line of commands. It is good for one use. */
export interface Mark {
  readonly kind: "mark";
}

/** When commands began and ended, in milliseconds as performance.now() counts them. */
export type Interval = readonly [from: number, to: number];

/** Work on a device: it gives commands, and yields where it must wait for them. The drivers of steps.ts run it. */
export type Work<R> = Generator<Wait, R, unknown>;

export interface Device {
  /** What a person would call it. */
  readonly name: string;
  readonly type: "gpu" | "cpu" | "accelerator";
  readonly vendor: string;
  readonly units: number; // multiprocessors, or cores
  readonly memory: number; // bytes
  readonly largest: number; // bytes of one buffer
  readonly local: number; // bytes that a work-group shares
  readonly mostInGroup: number; // work-items
  /** Memory with whatever it holds. `routine` is named if it is refused. */
  allocate(routine: string, bytes: number): DeviceBuffer;
  /** Copy from the caller's memory before this returns. */
  write(to: DeviceBuffer, from: ArrayBufferView, offset?: number): void;
  copy(from: DeviceBuffer, to: DeviceBuffer, bytes: number, fromOffset?: number, toOffset?: number): void;
  /** Fill with a pattern of 4 or 8 bytes. */
  fill(buffer: DeviceBuffer, pattern: ArrayBufferView, offset?: number, bytes?: number): void;
  /** A kernel from these sources, one after another, with these definitions; compiled once. */
  kernel(name: string, sources: readonly string[], defines?: Readonly<Record<string, string | number>>): Kernel;
  launch(kernel: Kernel, groups: readonly number[], group: readonly number[], args: readonly KernelArgument[]): void;
  /** Wait for everything so far, or up to a mark and for nothing behind it, and copy to the caller's memory. */
  read(from: DeviceBuffer, to: ArrayBufferView, offset?: number, until?: Mark): Wait;
  /** Wait for everything so far. */
  finish(): Wait;
  /** Give these commands in a second line, which runs beside the first. */
  aside<R>(give: () => R): R;
  /** Where the line of commands is now. */
  mark(): Mark;
  /** Commands from here on wait for the other line to reach that mark. */
  follow(mark: Mark): void;
  /** Note when commands run, on a device opened for it; what this returns ends that and tells, when they are through. */
  record(): () => readonly Interval[];
  /** Refuse commands from now on; what is waited for fails. Resolves when everything is given back. */
  close(): Promise<void>;
}
