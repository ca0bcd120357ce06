import { EngineError } from "../../../arrays/errors.ts";
import type { Device, DeviceBuffer, Interval, Kernel, KernelArgument, Mark, Wait } from "../../device.ts";
import { check, type Handle, type Library, loadLibrary } from "./library.ts";

// The device layer on OpenCL 1.2.

/** A device that OpenCL knows. */
export interface DeviceInfo {
  readonly index: number;
  readonly name: string;
  readonly platform: string;
  readonly type: Device["type"];
  /** Whether it has the arithmetic and the atomics that every kernel needs. */
  readonly usable: boolean;
}

interface Found extends DeviceInfo {
  readonly id: Handle;
}

const GPU = 4n;
const CPU = 2n;
const ALL = 0xffffffff;
const NOT_FOUND = -1;
const NO_DRIVER = -1001;

const INFO = {
  type: 0x1000,
  units: 0x1002,
  mostInGroup: 0x1004,
  largest: 0x1010,
  memory: 0x101f,
  local: 0x1023,
  single: 0x101b,
  double: 0x1032,
};
const NAME = 0x102b;
const VENDOR = 0x102c;
const EXTENSIONS = 0x1030;
const PLATFORM_NAME = 0x0902;
const BUILD_LOG = 0x1183;
const GROUP_SIZE = 0x11b0;
const PROFILING = 2; // CL_QUEUE_PROFILING_ENABLE
const COMMAND_START = 0x1282;
const COMMAND_END = 0x1283;
const FUSED = 32n; // CL_FP_FMA
const IEEE = 0x81n; // of binary32: CL_FP_DENORM, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
const ATOMICS = ["cl_khr_int64_base_atomics"];

/** The devices of this machine, in the order of OpenCL's platforms. */
export async function devices(): Promise<readonly DeviceInfo[]> {
  return found(await loadLibrary()).map(({ index, name, platform, type, usable }) => ({ index, name, platform, type, usable }));
}

/**
 * One of them: by its place in that list, by its type ("gpu", "cpu"), or by a part of its name or its platform's; else the best.
 * `recording`: with queues that note when commands run.
 */
export async function openDevice(choice?: string | number, library?: Library, recording = false): Promise<OpenclDevice> {
  const cl = library ?? (await loadLibrary());
  return new OpenclDevice(cl, bestOf(found(cl), choice), recording);
}

/** Of these devices the one that this choice means. */
export function bestOf<D extends DeviceInfo>(all: readonly D[], choice?: string | number): D {
  if (all.length === 0) throw new EngineError("opencl: no device on this machine: install your GPU's driver, or pocl-opencl-icd for a CPU");
  const wanted = all.filter((device) => matches(device, choice));
  const names = all.map(({ index, name }) => `${index} "${name}"`).join(", ");
  if (wanted.length === 0) throw new EngineError(`opencl: no device ${JSON.stringify(choice)}, expected one of ${names}`);
  const usable = wanted.filter((device) => device.usable);
  const best = usable.find(({ type }) => type === "gpu") ?? usable[0];
  if (!best)
    throw new EngineError(
      `opencl: ${wanted[0]?.name} lacks binary64 with fused multiply-add, IEEE binary32 or 64-bit atomics, expected a device that has all of them (of ${names})`,
    );
  return best;
}

function matches({ index, name, platform, type }: DeviceInfo, choice: string | number | undefined): boolean {
  if (choice === undefined) return true;
  if (typeof choice === "number") return index === choice;
  const word = choice.toLowerCase();
  return type === word || `${platform} ${name}`.toLowerCase().includes(word);
}

function found(cl: Library): Found[] {
  return handles("clGetPlatformIDs", (...args) => cl.clGetPlatformIDs(...args))
    .flatMap((platform) => {
      const text = textOf((...args) => cl.clGetPlatformInfo(platform, PLATFORM_NAME, ...args));
      return handles("clGetDeviceIDs", (...args) => cl.clGetDeviceIDs(platform, ALL, ...args)).map((id) => ({ platform: text, id }));
    })
    .map(({ platform, id }, index) => {
      const extensions = textOf((...args) => cl.clGetDeviceInfo(id, EXTENSIONS, ...args));
      const type = numberOf(cl, id, INFO.type);
      return {
        index,
        id,
        platform,
        name: textOf((...args) => cl.clGetDeviceInfo(id, NAME, ...args)),
        type: (type & GPU) !== 0n ? "gpu" : (type & CPU) !== 0n ? "cpu" : "accelerator",
        usable:
          (numberOf(cl, id, INFO.double) & FUSED) !== 0n &&
          (numberOf(cl, id, INFO.single) & IEEE) === IEEE &&
          ATOMICS.every((name) => extensions.includes(name)),
      };
    });
}

// OpenCL's way to return a list: once for its length, once for its elements.
function handles(what: string, ask: (count: number, list: unknown, length: unknown) => number): Handle[] {
  const length = new Uint32Array(1);
  const code = ask(0, null, length);
  if (code === NOT_FOUND || code === NO_DRIVER) return [];
  check(`opencl: ${what}`, code);
  const list = new BigUint64Array(length[0] as number);
  if (list.length > 0) check(`opencl: ${what}`, ask(list.length, list, null));
  return [...list];
}

type Ask = (bytes: number, value: unknown, length: unknown) => number;

function textOf(ask: Ask): string {
  const length = new BigUint64Array(1);
  check("opencl", ask(0, null, length));
  const bytes = new Uint8Array(Number(length[0]));
  check("opencl", ask(bytes.length, bytes, null));
  return new TextDecoder().decode(bytes).replace(/\0.*$/s, "").trim();
}

// A number of 4 or 8 bytes; little-endian, so that the rest stays 0.
function numberOf(cl: Library, id: Handle, info: number): bigint {
  const value = new BigUint64Array(1);
  check("opencl", cl.clGetDeviceInfo(id, info, 8, value, null));
  return value[0] as bigint;
}

class Buffer implements DeviceBuffer {
  constructor(
    private readonly device: OpenclDevice,
    readonly handle: Handle,
    readonly bytes: number,
    readonly size: number, // what it has room for
  ) {}

  free(): void {
    this.device.release(this, false);
  }

  recycle(): void {
    this.device.release(this, true);
  }
}

// Memory that was given back and not yet to OpenCL. Fresh memory costs a call 0.15 to 0.2 ms on an H200.
const MAX_SPARE = 2 ** 30;
const sizeFor = (bytes: number): number =>
  bytes <= 2 ** 20 ? 2 ** Math.max(8, Math.ceil(Math.log2(bytes))) : Math.ceil(bytes / 2 ** 20) * 2 ** 20;

class Marker implements Mark {
  readonly kind = "mark";

  constructor(readonly event: Handle) {}
}

interface Program {
  readonly handle: Handle;
  readonly sources: readonly string[];
}

interface Compiled extends Kernel, Program {}

// Texts are constants: the same one is compared by its address.
const sameTexts = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((text, i) => text === b[i]);

// FMA contraction is off in every source, and no option allows less than IEEE arithmetic.
const PRAGMAS = `#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
`;

export class OpenclDevice implements Device {
  readonly name: string;
  readonly type: Device["type"];
  readonly vendor: string;
  readonly units: number;
  readonly memory: number;
  largest: number;
  readonly local: number;
  readonly mostInGroup: number;
  private readonly context: Handle;
  private queue: Handle; // the one that commands are given to: the first, or for a while the second
  private readonly queues: readonly [first: Handle, second: Handle];
  private readonly uploads: Handle; // apart, so that a write need not wait for kernels
  private readonly downloads: Handle; // of what a mark stands behind: later commands need not wait for them, nor they for those
  private readonly marks = new Set<Handle>();
  private recorded: Handle[] | undefined;
  private readonly programs = new Map<string, Program[]>(); // by their definitions
  private readonly kernels = new Map<string, Compiled[]>(); // by their names and definitions
  private readonly buffers = new Set<Buffer>();
  private readonly spare = new Map<number, Handle[]>();
  private spareBytes = 0;
  private line: Promise<unknown> = Promise.resolve(); // of those that wait
  // What a launch hands over, made once: with new arrays a launch takes 7 to 16 microseconds, without 2.
  private readonly global = new BigUint64Array(3);
  private readonly localSizes = new BigUint64Array(3);
  private readonly word = new Int32Array(1);
  private readonly pointer = new BigUint64Array(1);
  private readonly event = new BigUint64Array(1);
  private lost: string | undefined;
  private closing = false;

  constructor(
    private readonly cl: Library,
    private readonly info: Found,
    private readonly recording: boolean,
  ) {
    const { id } = info;
    this.name = info.name;
    this.type = info.type;
    this.vendor = textOf((...args) => cl.clGetDeviceInfo(id, VENDOR, ...args));
    this.units = Number(numberOf(cl, id, INFO.units));
    this.memory = Number(numberOf(cl, id, INFO.memory));
    this.largest = Number(numberOf(cl, id, INFO.largest));
    this.local = Number(numberOf(cl, id, INFO.local));
    this.mostInGroup = Number(numberOf(cl, id, INFO.mostInGroup));
    this.context = this.made("a context", (code) => cl.clCreateContext(null, 1, BigUint64Array.of(id), null, null, code));
    const queue = (properties: number): Handle =>
      this.made("a queue", (code) => cl.clCreateCommandQueue(this.context, id, properties, code));
    const properties = recording ? PROFILING : 0;
    this.queues = [queue(properties), queue(properties)];
    this.queue = this.queues[0];
    this.uploads = queue(0);
    this.downloads = queue(0);
  }

  allocate(routine: string, bytes: number): DeviceBuffer {
    this.checkHere();
    if (bytes > this.largest)
      throw new EngineError(
        `${routine}: ${bytes} bytes are more than ${this.name} takes at once (${this.largest}), expected a smaller problem`,
      );
    const size = sizeFor(bytes);
    const buffer = new Buffer(this, this.takeSpare(size) ?? this.create(routine, size), bytes, size);
    this.buffers.add(buffer);
    return buffer;
  }

  private takeSpare(size: number): Handle | undefined {
    const handle = this.spare.get(size)?.pop();
    if (handle !== undefined) this.spareBytes -= size;
    return handle;
  }

  private create(routine: string, size: number): Handle {
    const make = (): Handle =>
      this.made(`${routine}: ${size} bytes of device memory`, (code) => this.cl.clCreateBuffer(this.context, 1, size, null, code));
    try {
      return make();
    } catch (refused) {
      if (this.freeSpare() === 0) throw refused;
      return make();
    }
  }

  // Returns how many buffers there were.
  private freeSpare(): number {
    const all = [...this.spare.values()].flat();
    this.spare.clear();
    this.spareBytes = 0;
    for (const handle of all) this.cl.clReleaseMemObject(handle);
    return all.length;
  }

  release(buffer: Buffer, recycle: boolean): void {
    if (!this.buffers.delete(buffer)) return; // freed, or gone with the device
    const { handle, size } = buffer;
    if (!recycle || this.lost !== undefined || this.spareBytes + size > MAX_SPARE) {
      this.cl.clReleaseMemObject(handle);
      return;
    }
    this.spareBytes += size;
    const others = this.spare.get(size);
    if (others) others.push(handle);
    else this.spare.set(size, [handle]);
  }

  write(to: DeviceBuffer, from: ArrayBufferView, offset = 0): void {
    if (from.byteLength === 0) return;
    this.call("write", this.cl.clEnqueueWriteBuffer(this.uploads, handleOf(to), 1, offset, from.byteLength, from, 0, null, null));
  }

  copy(from: DeviceBuffer, to: DeviceBuffer, bytes: number, fromOffset = 0, toOffset = 0): void {
    if (bytes === 0) return;
    this.call(
      "copy",
      this.cl.clEnqueueCopyBuffer(this.queue, handleOf(from), handleOf(to), fromOffset, toOffset, bytes, 0, null, this.note()),
    );
    this.noted();
  }

  fill(buffer: DeviceBuffer, pattern: ArrayBufferView, offset = 0, bytes = buffer.bytes - offset): void {
    if (bytes === 0) return;
    this.call(
      "fill",
      this.cl.clEnqueueFillBuffer(this.queue, handleOf(buffer), pattern, pattern.byteLength, offset, bytes, 0, null, this.note()),
    );
    this.noted();
  }

  kernel(name: string, sources: readonly string[], defines: Readonly<Record<string, string | number>> = {}): Kernel {
    this.checkHere();
    let options = this.vendor.startsWith("NVIDIA") ? " -D NVIDIA=1" : ""; // with inline PTX beside OpenCL C
    for (const key in defines) options += ` -D ${key}=${defines[key]}`;
    // NVIDIA's compiler takes what registers it likes: with fewer, more groups run on a multiprocessor.
    if (options.startsWith(" -D NVIDIA") && "REGISTERS" in defines) options += ` -cl-nv-maxrregcount=${defines.REGISTERS}`;
    const known = this.kernels.get(name + options)?.find((kernel) => sameTexts(kernel.sources, sources));
    if (known) return known;
    const program = this.program(sources, options);
    const handle = this.made(`kernel ${name}`, (code) => this.cl.clCreateKernel(program, name, code));
    const most = new BigUint64Array(1);
    this.call(name, this.cl.clGetKernelWorkGroupInfo(handle, this.info.id, GROUP_SIZE, 8, most, null));
    const kernel = { name, handle, most: Number(most[0]), sources };
    this.kernels.set(name + options, [...(this.kernels.get(name + options) ?? []), kernel]);
    return kernel;
  }

  private program(sources: readonly string[], options: string): Handle {
    const known = this.programs.get(options)?.find((program) => sameTexts(program.sources, sources));
    if (known) return known.handle;
    const text = `${PRAGMAS}${sources.join("\n")}`;
    const { id } = this.info;
    const program = this.made("a program", (code) => this.cl.clCreateProgramWithSource(this.context, 1, [text], null, code));
    const code = this.cl.clBuildProgram(
      program,
      1,
      BigUint64Array.of(id),
      `-cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt${options}`,
      null,
      null,
    );
    if (code !== 0) {
      const log = textOf((...args) => this.cl.clGetProgramBuildInfo(program, id, BUILD_LOG, ...args));
      this.cl.clReleaseProgram(program);
      throw new EngineError(`opencl: a kernel does not build on ${this.name} (${code}), please report it with this log: ${log}`);
    }
    this.programs.set(options, [...(this.programs.get(options) ?? []), { handle: program, sources }]);
    return program;
  }

  launch(kernel: Kernel, groups: readonly number[], group: readonly number[], args: readonly KernelArgument[]): void {
    this.checkHere();
    const { handle } = kernel as Compiled;
    for (let i = 0; i < args.length; i++) this.call(kernel.name, this.setArgument(handle, i, args[i] as KernelArgument));
    const { global, localSizes: local } = this;
    for (let k = 0; k < group.length; k++) {
      local[k] = BigInt(group[k] as number);
      global[k] = BigInt((groups[k] as number) * (group[k] as number));
    }
    this.call(kernel.name, this.cl.clEnqueueNDRangeKernel(this.queue, handle, group.length, null, global, local, 0, null, this.note()));
    this.noted();
  }

  private setArgument(handle: Handle, index: number, arg: KernelArgument): number {
    const { word, pointer } = this;
    if (typeof arg === "number") {
      word[0] = arg;
      return this.cl.clSetKernelArg(handle, index, 4, word);
    }
    if (arg instanceof Buffer) {
      pointer[0] = arg.handle;
      return this.cl.clSetKernelArg(handle, index, 8, pointer);
    }
    if (ArrayBuffer.isView(arg)) return this.cl.clSetKernelArg(handle, index, arg.byteLength, arg);
    return this.cl.clSetKernelArg(handle, index, (arg as { local: number }).local, null);
  }

  read(from: DeviceBuffer, to: ArrayBufferView, offset = 0, until?: Mark): Wait {
    if (to.byteLength === 0) return this.finish();
    if (!until)
      return this.wait("read", this.cl.clEnqueueReadBuffer, [this.queue, handleOf(from), 1, offset, to.byteLength, to, 0, null, null]);
    const list = BigUint64Array.of((until as Marker).event);
    const args = [this.downloads, handleOf(from), 1, offset, to.byteLength, to, 1, list, null];
    return this.wait("read", this.cl.clEnqueueReadBuffer, args, () => this.drop(until));
  }

  aside<R>(give: () => R): R {
    const { queue } = this;
    this.queue = this.queues[1];
    try {
      return give();
    } finally {
      this.queue = queue;
    }
  }

  mark(): Mark {
    this.checkHere();
    this.call("mark", this.cl.clEnqueueMarkerWithWaitList(this.queue, 0, null, this.event));
    const event = this.event[0] as Handle;
    this.marks.add(event);
    this.call("mark", this.cl.clFlush(this.queue)); // or those who wait for it might do so for ever
    return new Marker(event);
  }

  follow(mark: Mark): void {
    this.checkHere();
    this.call("follow", this.cl.clEnqueueBarrierWithWaitList(this.queue, 1, BigUint64Array.of((mark as Marker).event), null));
    this.drop(mark);
  }

  private drop(mark: Mark): void {
    const { event } = mark as Marker;
    if (this.marks.delete(event)) this.cl.clReleaseEvent(event);
  }

  // Where OpenCL is to put the event of the next command, if anybody wants to know when it ran.
  private note(): BigUint64Array | null {
    return this.recorded ? this.event : null;
  }

  private noted(): void {
    this.recorded?.push(this.event[0] as Handle);
  }

  record(): () => readonly Interval[] {
    if (!this.recording) throw new EngineError("opencl: this device does not note when commands run, expected one opened for that");
    const offset = this.clockOffset();
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

  // A device has a clock of its own. Where the two stand is known from commands that have just ended, each of which can only seem
  // to have ended later than it did: 1 ms for the first after a pause, a few microseconds then (H200; its markers tell nothing).
  private clockOffset(): number {
    const probe = this.allocate("record", 8);
    const offsets = Array.from({ length: 4 }, () => {
      this.recorded = [];
      this.fill(probe, Float64Array.of(0));
      this.call("finish", this.cl.clFinish(this.queue));
      const event = this.recorded[0] as Handle;
      const offset = performance.now() - this.timeOf(event, COMMAND_END);
      this.cl.clReleaseEvent(event);
      return offset;
    });
    probe.recycle();
    return Math.min(...offsets);
  }

  // NaN for a command that is not through: of a call that failed.
  private timeOf(event: Handle, what: number): number {
    const time = new BigUint64Array(1);
    return this.cl.clGetEventProfilingInfo(event, what, 8, time, null) === 0 ? Number(time[0]) / 1e6 : Number.NaN;
  }

  finish(): Wait {
    return this.wait("finish", this.cl.clFinish, [this.queue]);
  }

  private wait(what: string, command: Library["clFinish"], args: unknown[], through = () => {}): Wait {
    this.checkHere();
    return {
      now: () => {
        this.checkHere();
        this.call(what, command(...args));
        through();
      },
      later: async () => {
        this.checkHere();
        const waiting = this.line.then(() => this.await(command, args));
        this.line = waiting.catch(() => undefined);
        this.call(what, await waiting);
        through();
        this.checkHere();
      },
    };
  }

  // One at a time: commands end in their order anyway, each that waits takes a thread of Node's, and koffi has room for 256.
  private await(command: Library["clFinish"], args: unknown[]): Promise<number> {
    this.checkHere();
    return new Promise((resolve, reject) => {
      command.async(...args, (error: Error | null, code: number) => (error ? reject(error) : resolve(code)));
    });
  }

  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    await this.line;
    const { cl } = this;
    for (const queue of this.queues) cl.clFinish(queue);
    for (const event of [...this.marks, ...(this.recorded ?? [])]) cl.clReleaseEvent(event);
    this.marks.clear();
    this.recorded = undefined;
    for (const buffer of this.buffers) cl.clReleaseMemObject(buffer.handle);
    this.buffers.clear();
    this.freeSpare();
    for (const { handle } of [...this.kernels.values()].flat()) cl.clReleaseKernel(handle);
    for (const { handle } of [...this.programs.values()].flat()) cl.clReleaseProgram(handle);
    for (const queue of [...this.queues, this.uploads, this.downloads]) cl.clReleaseCommandQueue(queue);
    cl.clReleaseContext(this.context);
  }

  private checkHere(): void {
    if (this.closing) throw new EngineError("opencl: the engine is closed");
    if (this.lost !== undefined) throw new EngineError(`opencl: ${this.name} was lost (${this.lost}): close the engine and open it again`);
  }

  // A command that was given and failed: what was on the device is not to be trusted.
  private call(what: string, code: number): void {
    if (code === 0) return;
    if (LOST.includes(code)) this.lost = `${what}, ${code}`;
    check(`opencl: ${what}`, code);
  }

  private made(what: string, make: (code: Int32Array) => Handle): Handle {
    const code = new Int32Array(1);
    const handle = make(code);
    check(`opencl: ${what}`, code[0] as number);
    return handle;
  }
}

const LOST = [-5, -14, -36];

function handleOf(buffer: DeviceBuffer): Handle {
  return (buffer as Buffer).handle;
}
