// The part of the WebGPU API that the engine uses, as types, and where the API is: `navigator.gpu` in browsers, the package webgpu (Dawn) in
// Node. find.ts looks for adapters here. (https://www.w3.org/TR/webgpu/)
import { LITTLE_ENDIAN } from "../../../arrays/byteOrder.ts";
import { EngineError } from "../../../arrays/errors.ts";
import { importByName } from "../../importByName.js";

export interface Gpu {
  requestAdapter(options?: { powerPreference?: PowerPreference | undefined; forceFallbackAdapter?: boolean }): Promise<GpuAdapter | null>;
  readonly wgslLanguageFeatures?: ReadonlySet<string>;
}
export type PowerPreference = "low-power" | "high-performance";
export interface GpuAdapter {
  readonly info: { readonly vendor: string; readonly architecture: string; readonly device: string; readonly description: string };
  readonly limits: Readonly<Record<string, number>>;
  readonly features: ReadonlySet<string>;
  requestDevice(descriptor: { requiredLimits: Record<string, number>; requiredFeatures: readonly string[] }): Promise<GpuDevice>;
}
export interface GpuDevice {
  readonly limits: Readonly<Record<string, number>>;
  readonly queue: GpuQueue;
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>;
  createBuffer(descriptor: { size: number; usage: number }): GpuBuffer;
  createShaderModule(descriptor: { code: string; label?: string }): GpuObject;
  createBindGroupLayout(descriptor: { entries: readonly object[] }): GpuObject;
  createPipelineLayout(descriptor: { bindGroupLayouts: readonly GpuObject[] }): GpuObject;
  createComputePipeline(descriptor: { layout: GpuObject; compute: { module: GpuObject; entryPoint: string }; label?: string }): GpuObject;
  createBindGroup(descriptor: { layout: GpuObject; entries: readonly object[] }): GpuObject;
  createCommandEncoder(): GpuEncoder;
  pushErrorScope(filter: ErrorFilter): void;
  popErrorScope(): Promise<{ readonly message: string } | null>;
  destroy(): void;
}
export type ErrorFilter = "validation" | "out-of-memory" | "internal";
export interface GpuObject {
  readonly label: string;
}
export interface GpuBuffer extends GpuObject {
  readonly size: number;
  mapAsync(mode: number, offset: number, size: number): Promise<unknown>;
  getMappedRange(offset: number, size: number): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}
export interface GpuQueue {
  submit(commands: readonly GpuObject[]): void;
  writeBuffer(buffer: GpuBuffer, offset: number, data: ArrayBufferView): void;
  onSubmittedWorkDone(): Promise<unknown>;
}
export interface GpuEncoder {
  beginComputePass(): GpuPass;
  copyBufferToBuffer(from: GpuBuffer, fromOffset: number, to: GpuBuffer, toOffset: number, bytes: number): void;
  clearBuffer(buffer: GpuBuffer, offset: number, bytes: number): void;
  finish(): GpuObject;
}
export interface GpuPass {
  setPipeline(pipeline: GpuObject): void;
  setBindGroup(index: number, group: GpuObject, offsets?: readonly number[]): void;
  dispatchWorkgroups(x: number, y: number, z: number): void;
  end(): void;
}

/** Flags of buffers, and of their mapping. */
export const USAGE = { mapRead: 1, copySrc: 4, copyDst: 8, uniform: 64, storage: 128 } as const;
export const MAP_READ = 1;

interface Surroundings {
  readonly navigator?: { readonly gpu?: Gpu };
  readonly isSecureContext?: boolean;
  readonly process?: { readonly versions?: { readonly node?: string } };
}

// Held for as long as the process lives: Dawn aborts when its instance is collected before its devices.
let dawn: Gpu | undefined;

/** The API of this browser or of Node. Throws an EngineError that says in one line what is missing. */
export async function findGpu(): Promise<Gpu> {
  if (!LITTLE_ENDIAN) throw new EngineError("webgpu: it needs little-endian typed arrays, and this machine is big-endian");
  const { navigator, isSecureContext, process } = globalThis as Surroundings;
  if (navigator?.gpu) return navigator.gpu;
  if (process?.versions?.node === undefined)
    throw new EngineError(
      isSecureContext === false
        ? "webgpu: this page is not secure, and browsers offer WebGPU to pages over https or on localhost only"
        : "webgpu: this browser has no WebGPU",
    );
  dawn ??= await openDawn();
  return dawn;
}

async function openDawn(): Promise<Gpu> {
  try {
    const { create } = (await importByName("webgpu")) as { create(flags: readonly string[]): Gpu };
    return create([]);
  } catch (cause) {
    const isMissing = (cause as { code?: string }).code === "ERR_MODULE_NOT_FOUND";
    const what = isMissing ? "the package webgpu is not there: npm install webgpu" : "the package webgpu does not load on this machine";
    throw new EngineError(`webgpu: ${what}`, { cause });
  }
}
