// Runs WGSL by itself, without the engine: for tests of the arithmetic in src/engines/webgpu/exact.
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Gpu {
  requestAdapter(): Promise<{ requestDevice(): Promise<Dawn> } | null>;
}
// biome-ignore lint/suspicious/noExplicitAny: the types of WebGPU are not a dependency
type Dawn = any;

// Dawn aborts when the instance is collected before the device.
const kept: unknown[] = [];

/** A device, or the reason why there is none. */
export async function openDawn(): Promise<{ readonly device?: Dawn; readonly missing?: string }> {
  const { create, globals } = (await import("webgpu")) as unknown as { create(flags: string[]): Gpu; globals: object };
  Object.assign(globalThis, globals);
  const gpu = create([]);
  const adapter = await gpu.requestAdapter();
  if (!adapter) return { missing: "Dawn finds no adapter" };
  const device = await adapter.requestDevice();
  kept.push(gpu, adapter, device);
  return { device };
}

/** The text of the files of src/engines/webgpu/exact with these names, in this order. */
export function exactSources(...names: readonly string[]): string {
  return names.map((name) => readFileSync(join(import.meta.dirname, `../../src/engines/webgpu/exact/${name}.wgsl`), "utf8")).join("\n");
}

/** Run the entry point `main` on inputs at bindings 0, 1, … and return the words of the output at the binding after them. */
export async function runWgsl(
  device: Dawn,
  code: string,
  inputs: readonly Uint32Array[],
  words: number,
  groups: number,
): Promise<Uint32Array> {
  const module = device.createShaderModule({ code });
  const { messages } = await module.getCompilationInfo();
  if (messages.length > 0)
    throw new Error(messages.map((m: { lineNum: number; message: string }) => `${m.lineNum}: ${m.message}`).join("\n"));
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
  const buffer = (bytes: number, usage: number) => device.createBuffer({ size: Math.max(16, bytes), usage });
  const [STORAGE, SOURCE, TARGET, READ] = [0x80, 0x04, 0x08, 0x01];
  const buffers = inputs.map((data) => {
    const b = buffer(data.byteLength, STORAGE | TARGET);
    device.queue.writeBuffer(b, 0, data);
    return b;
  });
  const output = buffer(4 * words, STORAGE | SOURCE);
  const copy = buffer(4 * words, TARGET | READ);
  const entries = [...buffers, output].map((b, binding) => ({ binding, resource: { buffer: b } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(groups);
  pass.end();
  encoder.copyBufferToBuffer(output, 0, copy, 0, 4 * words);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(1);
  const result = new Uint32Array(copy.getMappedRange().slice(0));
  for (const b of [...buffers, output, copy]) b.destroy();
  return result;
}
