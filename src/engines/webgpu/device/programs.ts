// Compiles WGSL and makes pipelines, each once per set of sources and definitions. Called by device.ts.
//
// A program is its definitions, the prelude and its sources, one after another. A definition that is a number becomes a constant
// (`const GROUP = 64;`), one that is a string a type (`alias WORD = u32;`). The bindings of a program are read from its text, so a program
// has one list of arguments: entry points with other arguments belong in another file.
import { EngineError } from "../../../arrays/errors.ts";
import type { Kernel } from "../../device.ts";
import type { GpuDevice, GpuObject } from "./gpu.ts";
import { prelude } from "./sources.generated.ts";

const COMPUTE = 4; // GPUShaderStage.COMPUTE

export interface CompiledKernel extends Kernel {
  readonly pipeline: GpuObject;
  readonly layout: GpuObject;
  /** For each buffer, whether the kernel may write it. */
  readonly writes: readonly boolean[];
  /** Whether it has numbers among its arguments. */
  readonly hasNumbers: boolean;
  readonly sources: readonly string[];
}

export class Programs {
  private readonly kernels = new Map<string, CompiledKernel[]>(); // by their names and definitions
  private readonly modules = new Map<string, GpuObject>(); // by their text
  private readonly layouts = new Map<string, GpuObject>();
  /** The layout of the numbers, in @group(1). */
  readonly numbers: GpuObject;

  constructor(
    private readonly device: GpuDevice,
    private readonly maxGroupSize: number,
  ) {
    const buffer = { type: "uniform", hasDynamicOffset: true };
    this.numbers = device.createBindGroupLayout({ entries: [{ binding: 0, visibility: COMPUTE, buffer }] });
  }

  kernel(name: string, sources: readonly string[], defines: Readonly<Record<string, string | number>>): CompiledKernel {
    const head = Object.entries(defines).map(([key, value]) =>
      typeof value === "number" ? `const ${key} = ${value};` : `alias ${key} = ${value};`,
    );
    const key = [name, ...head].join("\n");
    const sameName = this.kernels.get(key) ?? [];
    const known = sameName.find(
      (kernel) => kernel.sources.length === sources.length && sources.every((text, i) => text === kernel.sources[i]),
    );
    if (known) return known;
    const code = [...head, prelude, ...sources].join("\n");
    const writes = bindingsOf(name, code);
    const hasNumbers = /@group\(1\)/.test(code);
    const layout = this.layout(writes);
    const module = this.modules.get(code) ?? this.device.createShaderModule({ code, label: name });
    this.modules.set(code, module);
    const bindGroupLayouts = hasNumbers ? [layout, this.numbers] : [layout];
    const pipeline = this.device.createComputePipeline({
      layout: this.device.createPipelineLayout({ bindGroupLayouts }),
      compute: { module, entryPoint: name },
      label: name,
    });
    const kernel = { name, pipeline, layout, writes, hasNumbers, sources, maxGroupSize: this.maxGroupSize };
    this.kernels.set(key, [...sameName, kernel]);
    return kernel;
  }

  private layout(writes: readonly boolean[]): GpuObject {
    const key = writes.map(Number).join("");
    let layout = this.layouts.get(key);
    if (layout) return layout;
    const entries = writes.map((written, binding) => ({
      binding,
      visibility: COMPUTE,
      buffer: { type: written ? "storage" : "read-only-storage" },
    }));
    layout = this.device.createBindGroupLayout({ entries });
    this.layouts.set(key, layout);
    return layout;
  }
}

// For each buffer of a program, whether it is written. The bindings are 0, 1, … without gaps.
function bindingsOf(name: string, code: string): boolean[] {
  const writes: boolean[] = [];
  for (const [, binding, access] of code.matchAll(/@group\(0\)\s*@binding\((\d+)\)\s*var<storage,\s*(read_write|read)>/g)) {
    if (writes[Number(binding)] !== undefined)
      throw new EngineError(`webgpu: kernel ${name} declares binding ${binding} twice, expected once`);
    writes[Number(binding)] = access === "read_write";
  }
  if (Object.keys(writes).length !== writes.length)
    throw new EngineError(`webgpu: the bindings of kernel ${name} have gaps, expected 0 to ${writes.length - 1}`);
  return writes;
}
