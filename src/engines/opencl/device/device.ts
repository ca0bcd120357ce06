// The device layer (engines/device.ts) on OpenCL 1.2: a device, its queues and the commands it is given. The OpenCL engine opens it.
import { EngineError } from "../../../arrays/errors.ts";
import type { Device, DeviceBuffer, DeviceEvent, DeviceMatrix, Interval, Kernel, KernelArgument, Wait } from "../../device.ts";
import { Buffer, Buffers, handleOf } from "./buffers.ts";
import { copyMatrix } from "./copyMatrix.ts";
import { Events } from "./events.ts";
import { bestOf, type FoundDevice, findDevices } from "./find.ts";
import { create, type Handle, type Library, loadLibrary } from "./library.ts";
import { type CompiledKernel, Programs } from "./programs.ts";
import { numberOf, textOf } from "./query.ts";
import { Status } from "./status.ts";
import { CommandTimes } from "./times.ts";
import { Waits } from "./waits.ts";

const VENDOR = 0x102c;
const COMPUTE_UNITS = 0x1002;
const MAX_GROUP_SIZE = 0x1004;
const MAX_BUFFER_BYTES = 0x1010;
const MEMORY_BYTES = 0x101f;
const LOCAL_BYTES = 0x1023;
const CAPABILITY_MAJOR = 0x4000; // of NVIDIA
const CAPABILITY_MINOR = 0x4001;
const PROFILING = 2; // CL_QUEUE_PROFILING_ENABLE

/**
 * Open the device with this index, of this type ("gpu", "cpu") or with this text in its name or its platform's; default: the best.
 * `recording`: its queues can record when commands run.
 */
export async function openDevice(choice?: string | number, library?: Library, recording = false): Promise<OpenclDevice> {
  const cl = library ?? (await loadLibrary());
  return new OpenclDevice(cl, bestOf(findDevices(cl), choice), recording);
}

export class OpenclDevice implements Device {
  readonly name: string;
  readonly type: Device["type"];
  readonly vendor: string;
  readonly computeUnits: number;
  readonly memoryBytes: number;
  maxBufferBytes: number; // tests make it smaller
  readonly localBytes: number;
  readonly maxGroupSize: number;
  readonly computeCapability: number;
  private readonly context: Handle;
  private queue: Handle; // the one that takes commands now, one of `queues`
  private readonly queues: readonly [first: Handle, second: Handle];
  private readonly uploads: Handle; // a queue of its own, so that a write need not wait for kernels
  private readonly downloads: Handle; // for reads up to an event: they and later commands do not wait for each other
  private readonly status: Status;
  private readonly buffers: Buffers;
  private readonly programs: Programs;
  private readonly events: Events;
  private readonly waits: Waits;
  private readonly times: CommandTimes;
  // The arguments of a launch, allocated once: with new arrays a launch takes 7 to 16 microseconds, without 2.
  private readonly globalSizes = new BigUint64Array(3);
  private readonly localSizes = new BigUint64Array(3);
  private readonly word = new Int32Array(1);
  private readonly pointer = new BigUint64Array(1);

  constructor(
    private readonly cl: Library,
    found: FoundDevice,
    private readonly recording: boolean,
  ) {
    const { id } = found;
    this.name = found.name;
    this.type = found.type;
    this.vendor = textOf((...args) => cl.clGetDeviceInfo(id, VENDOR, ...args));
    this.computeUnits = Number(numberOf(cl, id, COMPUTE_UNITS));
    this.memoryBytes = Number(numberOf(cl, id, MEMORY_BYTES));
    this.maxBufferBytes = Number(numberOf(cl, id, MAX_BUFFER_BYTES));
    this.localBytes = Number(numberOf(cl, id, LOCAL_BYTES));
    this.maxGroupSize = Number(numberOf(cl, id, MAX_GROUP_SIZE));
    this.computeCapability = this.vendor.startsWith("NVIDIA")
      ? 10 * Number(numberOf(cl, id, CAPABILITY_MAJOR)) + Number(numberOf(cl, id, CAPABILITY_MINOR))
      : 0;
    const context = create("a context", (code) => cl.clCreateContext(null, 1, BigUint64Array.of(id), null, null, code));
    const queue = (properties: number): Handle => create("a queue", (code) => cl.clCreateCommandQueue(context, id, properties, code));
    this.context = context;
    const properties = recording ? PROFILING : 0;
    this.queues = [queue(properties), queue(properties)];
    this.queue = this.queues[0];
    this.uploads = queue(0);
    this.downloads = queue(0);
    this.status = new Status(found.name);
    this.buffers = new Buffers(cl, context, this.status);
    this.programs = new Programs(cl, context, found, this.status, this.vendor);
    this.events = new Events(cl, this.status);
    this.waits = new Waits(this.status);
    this.times = new CommandTimes(cl);
  }

  allocate(routine: string, bytes: number): DeviceBuffer {
    this.status.checkOpen();
    if (bytes > this.maxBufferBytes)
      throw new EngineError(
        `${routine}: ${bytes} bytes are more than ${this.name} takes at once (${this.maxBufferBytes}), expected a smaller problem`,
      );
    return this.buffers.allocate(routine, bytes);
  }

  write(to: DeviceBuffer, from: ArrayBufferView, offset = 0): void {
    if (from.byteLength === 0) return;
    const { cl, uploads } = this;
    this.status.check("write", cl.clEnqueueWriteBuffer(uploads, handleOf(to), 1, offset, from.byteLength, from, 0, null, null));
  }

  copy(from: DeviceBuffer, to: DeviceBuffer, bytes: number, fromOffset = 0, toOffset = 0): void {
    if (bytes === 0) return;
    const { cl, queue, times } = this;
    const code = cl.clEnqueueCopyBuffer(queue, handleOf(from), handleOf(to), fromOffset, toOffset, bytes, 0, null, times.eventOfNext);
    this.status.check("copy", code);
    times.add();
  }

  copyMatrix(from: DeviceMatrix, to: DeviceBuffer, width: number): void {
    copyMatrix(this, from, to, width);
  }

  fill(buffer: DeviceBuffer, pattern: ArrayBufferView, offset = 0, bytes = buffer.bytes - offset): void {
    if (bytes === 0) return;
    const { cl, queue, times } = this;
    const code = cl.clEnqueueFillBuffer(queue, handleOf(buffer), pattern, pattern.byteLength, offset, bytes, 0, null, times.eventOfNext);
    this.status.check("fill", code);
    times.add();
  }

  kernel(name: string, sources: readonly string[], defines: Readonly<Record<string, string | number>> = {}): Kernel {
    this.status.checkOpen();
    return this.programs.kernel(name, sources, defines);
  }

  launch(kernel: Kernel, groups: readonly number[], group: readonly number[], args: readonly KernelArgument[]): void {
    const { cl, queue, status, times, globalSizes, localSizes } = this;
    status.checkOpen();
    const { name, handle } = kernel as CompiledKernel;
    for (let i = 0; i < args.length; i++) status.check(name, this.setArgument(handle, i, args[i] as KernelArgument));
    for (let k = 0; k < group.length; k++) {
      localSizes[k] = BigInt(group[k] as number);
      globalSizes[k] = BigInt((groups[k] as number) * (group[k] as number));
    }
    status.check(name, cl.clEnqueueNDRangeKernel(queue, handle, group.length, null, globalSizes, localSizes, 0, null, times.eventOfNext));
    times.add();
  }

  private setArgument(kernel: Handle, index: number, arg: KernelArgument): number {
    const { cl, word, pointer } = this;
    if (typeof arg === "number") {
      word[0] = arg;
      return cl.clSetKernelArg(kernel, index, 4, word);
    }
    if (arg instanceof Buffer) {
      pointer[0] = arg.handle;
      return cl.clSetKernelArg(kernel, index, 8, pointer);
    }
    if (ArrayBuffer.isView(arg)) return cl.clSetKernelArg(kernel, index, arg.byteLength, arg);
    return cl.clSetKernelArg(kernel, index, (arg as { localBytes: number }).localBytes, null);
  }

  read(from: DeviceBuffer, to: ArrayBufferView, offset = 0, until?: DeviceEvent): Wait {
    if (to.byteLength === 0) return this.finish();
    const { cl, events, waits } = this;
    const place = [handleOf(from), 1, offset, to.byteLength, to] as const;
    if (!until) return waits.wait("read", cl.clEnqueueReadBuffer, [this.queue, ...place, 0, null, null]);
    const args = [this.downloads, ...place, 1, events.waitList(until), null];
    return waits.wait("read", cl.clEnqueueReadBuffer, args, () => events.release(until));
  }

  finish(): Wait {
    return this.waits.wait("finish", this.cl.clFinish, [this.queue]);
  }

  onSecondQueue<R>(give: () => R): R {
    const { queue } = this;
    this.queue = this.queues[1];
    try {
      return give();
    } finally {
      this.queue = queue;
    }
  }

  event(): DeviceEvent {
    this.status.checkOpen();
    return this.events.create(this.queue);
  }

  waitFor(event: DeviceEvent): void {
    this.status.checkOpen();
    this.events.waitFor(this.queue, event);
  }

  record(): () => readonly Interval[] {
    if (!this.recording) throw new EngineError("opencl: this device does not note when commands run, expected one opened for that");
    const buffer = this.allocate("record", 8);
    const stop = this.times.record(() => {
      this.fill(buffer, Float64Array.of(0));
      this.status.check("finish", this.cl.clFinish(this.queue));
    });
    buffer.recycle();
    return stop;
  }

  async close(): Promise<void> {
    if (this.status.isClosed) return;
    this.status.close();
    await this.waits.finished();
    const { cl } = this;
    for (const queue of this.queues) cl.clFinish(queue);
    for (const part of [this.events, this.times, this.buffers, this.programs]) part.releaseAll();
    for (const queue of [...this.queues, this.uploads, this.downloads]) cl.clReleaseCommandQueue(queue);
    cl.clReleaseContext(this.context);
  }
}
