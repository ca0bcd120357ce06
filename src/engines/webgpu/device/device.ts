// The device layer (engines/device.ts) on WebGPU. The engine opens it; kernels' host code gives it commands.
//
// How arguments get to a kernel:
// - Buffers are storage bindings of group 0, in the order of the arguments: `@group(0) @binding(k) var<storage, read>` (or `read_write`) for
//   the k-th buffer, from 0. A kernel has at most 8 buffers: more are not available everywhere. A binding has the bytes of its buffer,
//   rounded up to a multiple of 16, so arrayLength() may count padding: pass lengths as numbers. A buffer larger than `maxBindingBytes` is
//   passed in parts (part(), piecesOf() of pieces.ts).
// - Numbers are the words of one uniform block, in the order of the arguments: `@group(1) @binding(0) var<uniform>` of a struct whose members
//   are all u32 or i32. A number is one word (two's complement if it is negative), a BigInt64Array or Float64Array two words per element,
//   the lower one first. At most 64 words.
// - Definitions are constants and types: see programs.ts. WGSL fixes the size of work-groups when it compiles: the kernel declares it
//   (`@workgroup_size(GROUP)`, with GROUP among the definitions), and the size given to launch() is not used.
// - More than 65535 groups in one dimension become a rectangle: kernels that may have that many find their place with groupIndex() of
//   prelude.wgsl, and check it against a length.
// - WebGPU forbids that a launch reads a buffer by one argument and writes it by another: then the one that is only read is copied first.
//
// Commands are collected and submitted together, at the latest when something is waited for. Errors of WebGPU arrive later, so each wait
// also asks for the errors of the commands that were given since the wait before it, which are those of the same call (steps.ts, inOrder).
import { EngineError } from "../../../arrays/errors.ts";
import type { Device, DeviceBuffer, DeviceEvent, DeviceMatrix, Interval, Kernel, KernelArgument, Wait } from "../../device.ts";
import { Buffer, Buffers } from "./buffers.ts";
import { copyMatrix } from "./copyMatrix.ts";
import { ErrorScopes } from "./errorScopes.ts";
import { type FoundAdapter, requestDevice } from "./find.ts";
import { type GpuBuffer, type GpuDevice, type GpuEncoder, type GpuObject, type GpuPass, USAGE } from "./gpu.ts";
import { BINDING_ALIGNMENT, MAX_GROUPS, piecesOf, spread } from "./pieces.ts";
import { type CompiledKernel, Programs } from "./programs.ts";
import { Readings } from "./readings.ts";
import { fill } from "./sources.generated.ts";
import { Status } from "./status.ts";

const FILL_GROUP = 256;
const MAX_WORDS = 64; // numbers of a launch, as words: a slot of 256 bytes, at which a uniform binding may begin
const SLOT_BYTES = 4 * MAX_WORDS;
// Launches that are submitted together. A submit takes about as long as ten launches.
const MAX_LAUNCHES = 64;
// WebGPU does not tell the number of multiprocessors. Enough for the largest GPUs; smaller ones take groups one after another.
const GPU_UNITS = 128;

// Shared memory is copied in parts of this size.
const COPY_BYTES = 2 ** 24;
const isShared = (buffer: ArrayBufferLike): boolean => typeof SharedArrayBuffer === "function" && buffer instanceof SharedArrayBuffer;

// Everything that is open, with all that Dawn must not collect before the device.
const open = new Set<WebgpuDevice>();

export async function openDevice(found: FoundAdapter): Promise<WebgpuDevice> {
  return new WebgpuDevice(found, await requestDevice(found));
}

export class WebgpuDevice implements Device {
  readonly name: string;
  readonly type: Device["type"];
  readonly vendor: string;
  readonly computeUnits: number;
  readonly memoryBytes: number;
  maxBufferBytes: number; // tests make these two smaller
  maxBindingBytes: number;
  readonly localBytes: number;
  readonly maxGroupSize: number;
  readonly computeCapability = 0;
  /** Whether WGSL has dot4I8Packed. */
  readonly hasPackedDot: boolean;
  private readonly status: Status;
  private readonly buffers: Buffers;
  private readonly programs: Programs;
  private readonly errors: ErrorScopes;
  private readonly readings: Readings;
  // The commands that are not submitted yet.
  private encoder: GpuEncoder | undefined;
  private pass: GpuPass | undefined;
  private launches = 0;
  private readonly words = new Uint32Array(MAX_LAUNCHES * MAX_WORDS);
  private readonly numbers: GpuBuffer;
  private readonly numbersGroup: GpuObject;

  constructor(
    readonly found: FoundAdapter,
    private readonly gpu: GpuDevice,
  ) {
    const { adapter } = found;
    const { limits } = gpu;
    const limit = (name: string): number => limits[name] as number;
    this.name = found.name;
    this.vendor = adapter.info.vendor;
    this.type = /swiftshader|llvmpipe|basic render/i.test(`${found.name} ${adapter.info.architecture}`) ? "cpu" : "gpu";
    this.computeUnits = this.type === "gpu" ? GPU_UNITS : 4;
    this.maxBufferBytes = limit("maxBufferSize");
    this.memoryBytes = this.maxBufferBytes; // it is not told either
    this.maxBindingBytes = Math.floor(Math.min(limit("maxStorageBufferBindingSize"), this.maxBufferBytes) / 16) * 16;
    this.localBytes = limit("maxComputeWorkgroupStorageSize");
    this.maxGroupSize = Math.min(limit("maxComputeInvocationsPerWorkgroup"), limit("maxComputeWorkgroupSizeX"));
    this.hasPackedDot = found.gpu.wgslLanguageFeatures?.has("packed_4x8_integer_dot_product") ?? false;
    this.status = new Status(found.name);
    this.buffers = new Buffers(gpu, this.maxBufferBytes);
    this.programs = new Programs(gpu, this.maxGroupSize);
    this.errors = new ErrorScopes(gpu, () => this.buffers.freeSpare());
    this.readings = new Readings(gpu);
    this.numbers = gpu.createBuffer({ size: MAX_LAUNCHES * SLOT_BYTES, usage: USAGE.uniform | USAGE.copyDst });
    const entries = [{ binding: 0, resource: { buffer: this.numbers, offset: 0, size: SLOT_BYTES } }];
    this.numbersGroup = gpu.createBindGroup({ layout: this.programs.numbers, entries });
    gpu.lost.then(
      ({ message }) => this.status.lose(message),
      () => {},
    );
    open.add(this);
  }

  allocate(routine: string, bytes: number): DeviceBuffer {
    this.status.checkOpen();
    if (bytes > this.maxBufferBytes)
      throw new EngineError(
        `${routine}: ${bytes} bytes are more than ${this.name} takes at once (${this.maxBufferBytes}), expected a smaller problem`,
      );
    this.errors.begin(routine, bytes);
    return this.buffers.allocate(bytes);
  }

  /** A part of a buffer as an argument of a kernel. It begins where a binding may: at a multiple of 256 bytes. */
  part(buffer: DeviceBuffer, offset: number, bytes: number): DeviceBuffer {
    const { memory, offset: from } = buffer as Buffer;
    if ((from + offset) % BINDING_ALIGNMENT !== 0)
      throw new EngineError(`webgpu: a part begins at byte ${from + offset}, expected a multiple of ${BINDING_ALIGNMENT}`);
    return new Buffer(undefined, memory, from + offset, bytes);
  }

  /** The smallest part that contains these bytes, and how many bytes of it come before them. */
  around(buffer: DeviceBuffer, offset: number, bytes: number): { readonly part: DeviceBuffer; readonly before: number } {
    const before = offset % BINDING_ALIGNMENT;
    return { part: this.part(buffer, offset - before, bytes + before), before };
  }

  write(to: DeviceBuffer, from: ArrayBufferView, offset = 0): void {
    this.status.checkOpen();
    if (from.byteLength === 0) return;
    this.begin();
    this.submit(); // the queue writes before commands that are submitted later
    const { memory, offset: start } = to as Buffer;
    const { buffer, byteOffset, byteLength } = from;
    if (!isShared(buffer)) {
      this.gpu.queue.writeBuffer(memory, start + offset, from);
      return;
    }
    // Dawn aborts if it is given shared memory.
    for (let at = 0; at < byteLength; at += COPY_BYTES) {
      const copy = new Uint8Array(buffer, byteOffset + at, Math.min(COPY_BYTES, byteLength - at)).slice();
      this.gpu.queue.writeBuffer(memory, start + offset + at, copy);
    }
  }

  copy(from: DeviceBuffer, to: DeviceBuffer, bytes: number, fromOffset = 0, toOffset = 0): void {
    this.status.checkOpen();
    if (bytes === 0) return;
    const [source, target] = [from as Buffer, to as Buffer];
    if (source.memory === target.memory) {
      const between = this.allocate("copy", bytes); // WebGPU does not copy within a buffer
      this.copy(from, between, bytes, fromOffset);
      this.copy(between, to, bytes, 0, toOffset);
      between.recycle();
      return;
    }
    this.commands().copyBufferToBuffer(source.memory, source.offset + fromOffset, target.memory, target.offset + toOffset, bytes);
  }

  copyMatrix(from: DeviceMatrix, to: DeviceBuffer, width: number): void {
    copyMatrix(this, from, to, width);
  }

  fill(buffer: DeviceBuffer, pattern: ArrayBufferView, offset = 0, bytes = buffer.bytes - offset): void {
    this.status.checkOpen();
    if (bytes === 0) return;
    const { buffer: source, byteOffset, byteLength } = pattern;
    const words = new Uint32Array(source, byteOffset, byteLength / 4);
    if (words.every((word) => word === 0)) {
      const { memory, offset: start } = buffer as Buffer;
      this.commands().clearBuffer(memory, start + offset, bytes);
      return;
    }
    const kernel = this.kernel("fill", [fill], { GROUP: FILL_GROUP });
    for (const { from, length } of piecesOf(bytes / 4, 4, this.maxBindingBytes - BINDING_ALIGNMENT)) {
      const { part, before } = this.around(buffer, offset + 4 * from, 4 * length);
      const args = [part, words[0] as number, words.at(-1) as number, before / 4, length];
      this.launch(kernel, [Math.ceil(length / FILL_GROUP)], [FILL_GROUP], args);
    }
  }

  kernel(name: string, sources: readonly string[], defines: Readonly<Record<string, string | number>> = {}): Kernel {
    this.begin();
    return this.programs.kernel(name, sources, defines);
  }

  /** See above for how arguments are passed. */
  launch(kernel: Kernel, groups: readonly number[], _group: readonly number[], args: readonly KernelArgument[]): void {
    this.begin();
    const { name, pipeline, layout, writes, hasNumbers } = kernel as CompiledKernel;
    const count = groups.length === 1 && (groups[0] as number) > MAX_GROUPS ? spread(groups[0] as number) : groups;
    if (count.some((n) => n > MAX_GROUPS))
      throw new EngineError(`webgpu: ${name} has ${count.join(" by ")} groups, expected at most ${MAX_GROUPS} in each dimension`);
    if (count.some((n) => n === 0)) return;
    const buffers = this.separate(args.filter((arg) => arg instanceof Buffer) as Buffer[], writes, name);
    if (this.launches === MAX_LAUNCHES) this.submit();
    const entries = buffers.map((buffer, binding) => ({ binding, resource: this.bindingOf(buffer, name) }));
    this.pass ??= this.commands().beginComputePass();
    this.pass.setPipeline(pipeline);
    this.pass.setBindGroup(0, this.gpu.createBindGroup({ layout, entries }));
    if (hasNumbers) {
      this.store(name, args);
      this.pass.setBindGroup(1, this.numbersGroup, [this.launches * SLOT_BYTES]);
    }
    this.pass.dispatchWorkgroups(count[0] as number, count[1] ?? 1, count[2] ?? 1);
    this.launches++;
  }

  // Copies what a launch only reads of a buffer that it writes by another argument.
  private separate(buffers: readonly Buffer[], writes: readonly boolean[], name: string): readonly Buffer[] {
    if (buffers.length !== writes.length)
      throw new EngineError(`webgpu: ${name} gets ${buffers.length} buffers, expected ${writes.length} (its bindings)`);
    if (new Set(buffers.map(({ memory }) => memory)).size === buffers.length) return buffers;
    return buffers.map((buffer, i) => {
      const isWritten = buffers.some((other, k) => k !== i && writes[k] && other.memory === buffer.memory);
      if (!isWritten || writes[i]) return buffer;
      const copy = this.buffers.allocate(buffer.bytes);
      this.copy(buffer, copy, Math.ceil(buffer.bytes / 4) * 4);
      copy.recycle(); // commands run in order
      return copy;
    });
  }

  private bindingOf({ memory, offset, bytes }: Buffer, name: string): object {
    if (bytes > this.maxBindingBytes)
      throw new EngineError(`webgpu: ${name} gets ${bytes} bytes at once, expected at most ${this.maxBindingBytes} (a binding)`);
    return { buffer: memory, offset, size: Math.min(Math.max(16, Math.ceil(bytes / 16) * 16), memory.size - offset) };
  }

  // The numbers of a launch, as words of its slot.
  private store(name: string, args: readonly KernelArgument[]): void {
    const first = this.launches * MAX_WORDS;
    let at = first;
    for (const arg of args) {
      if (typeof arg === "number") this.words[at++] = arg;
      else if (ArrayBuffer.isView(arg))
        for (const word of new Uint32Array(arg.buffer, arg.byteOffset, arg.byteLength / 4)) this.words[at++] = word;
    }
    if (at - first > MAX_WORDS) throw new EngineError(`webgpu: ${name} gets ${at - first} words of numbers, expected at most ${MAX_WORDS}`);
  }

  read(from: DeviceBuffer, to: ArrayBufferView, offset = 0): Wait {
    if (to.byteLength === 0) return this.finish();
    this.begin();
    const { memory, offset: start } = from as Buffer;
    const reading = this.readings.begin(this.commands(), memory, start + offset, to);
    return this.wait(() => reading.finish());
  }

  finish(): Wait {
    this.begin();
    return this.wait(() => this.gpu.queue.onSubmittedWorkDone());
  }

  private wait(command: () => Promise<unknown>): Wait {
    this.submit();
    const errors = this.errors.end();
    return {
      later: async () => {
        this.status.checkOpen();
        try {
          await command();
        } catch (cause) {
          await this.settled();
          this.status.checkOpen();
          await errors();
          throw new EngineError(`webgpu: ${this.name} failed (${(cause as Error).message})`, { cause });
        }
        await errors();
        await this.settled();
        this.status.checkOpen();
      },
    };
  }

  // A lost device says so a moment after its commands ended.
  private async settled(): Promise<void> {
    await Promise.race([this.gpu.lost.catch(() => undefined), undefined]);
  }

  /** There is one queue. */
  onSecondQueue<R>(give: () => R): R {
    return give();
  }

  event(): DeviceEvent {
    this.status.checkOpen();
    return { kind: "event" };
  }

  waitFor(): void {
    this.status.checkOpen();
  }

  record(): () => readonly Interval[] {
    throw new EngineError("webgpu: this device does not note when commands run, expected one that does");
  }

  async close(): Promise<void> {
    if (this.status.isClosed) return;
    this.status.close();
    this.gpu.destroy();
    await this.gpu.lost.catch(() => undefined);
    open.delete(this);
  }

  // Before each command: errors from here on belong to it.
  private begin(): void {
    this.status.checkOpen();
    this.errors.begin();
  }

  // The encoder outside of a compute pass.
  private commands(): GpuEncoder {
    this.begin();
    this.pass?.end();
    this.pass = undefined;
    this.encoder ??= this.gpu.createCommandEncoder();
    return this.encoder;
  }

  private submit(): void {
    if (this.encoder) {
      this.pass?.end();
      if (this.launches > 0) this.gpu.queue.writeBuffer(this.numbers, 0, this.words.subarray(0, this.launches * MAX_WORDS));
      this.gpu.queue.submit([this.encoder.finish()]);
    }
    this.pass = undefined;
    this.encoder = undefined;
    this.launches = 0;
    this.buffers.submitted();
  }

  /** Lose the device, as a driver would: for tests. */
  lose(): void {
    this.gpu.destroy();
  }
}
