// Compiles programs and their kernels, each once per set of sources and definitions. Called by device.ts.
import { EngineError } from "../../../arrays/errors.ts";
import type { Kernel } from "../../device.ts";
import type { FoundDevice } from "./find.ts";
import { create, type Handle, type Library } from "./library.ts";
import { textOf } from "./query.ts";
import { prelude } from "./sources.generated.ts";
import type { Status } from "./status.ts";

const BUILD_LOG = 0x1183;
const WORK_GROUP_SIZE = 0x11b0;

// No option allows less than IEEE arithmetic.
const OPTIONS = "-cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt";

interface Program {
  readonly handle: Handle;
  readonly sources: readonly string[];
}

export interface CompiledKernel extends Kernel, Program {}

export class Programs {
  private readonly programs = new Map<string, Program[]>(); // by their definitions
  private readonly kernels = new Map<string, CompiledKernel[]>(); // by their names and definitions
  private readonly isNvidia: boolean;

  constructor(
    private readonly cl: Library,
    private readonly context: Handle,
    private readonly device: FoundDevice,
    private readonly status: Status,
    vendor: string,
  ) {
    this.isNvidia = vendor.startsWith("NVIDIA");
  }

  kernel(name: string, sources: readonly string[], defines: Readonly<Record<string, string | number>>): CompiledKernel {
    const options = this.optionsFor(defines);
    const known = sameSources(this.kernels.get(name + options), sources);
    if (known) return known;
    const program = this.program(sources, options);
    const handle = create(`kernel ${name}`, (code) => this.cl.clCreateKernel(program, name, code));
    const size = new BigUint64Array(1);
    this.status.check(name, this.cl.clGetKernelWorkGroupInfo(handle, this.device.id, WORK_GROUP_SIZE, 8, size, null));
    const kernel = { name, handle, maxGroupSize: Number(size[0]), sources };
    this.kernels.set(name + options, [...(this.kernels.get(name + options) ?? []), kernel]);
    return kernel;
  }

  // NVIDIA: sources may contain inline PTX. Its compiler uses as many registers as it wants unless REGISTERS limits them; with
  // fewer, more groups run on a multiprocessor.
  private optionsFor(defines: Readonly<Record<string, string | number>>): string {
    let options = this.isNvidia ? " -D NVIDIA=1" : "";
    for (const key in defines) options += ` -D ${key}=${defines[key]}`;
    if (this.isNvidia && "REGISTERS" in defines) options += ` -cl-nv-maxrregcount=${defines.REGISTERS}`;
    return options;
  }

  private program(sources: readonly string[], options: string): Handle {
    const known = sameSources(this.programs.get(options), sources);
    if (known) return known.handle;
    const { cl, context } = this;
    const { id, name } = this.device;
    const text = [prelude, ...sources].join("\n");
    const handle = create("a program", (code) => cl.clCreateProgramWithSource(context, 1, [text], null, code));
    const code = cl.clBuildProgram(handle, 1, BigUint64Array.of(id), OPTIONS + options, null, null);
    if (code !== 0) {
      const log = textOf((...args) => cl.clGetProgramBuildInfo(handle, id, BUILD_LOG, ...args));
      cl.clReleaseProgram(handle);
      throw new EngineError(`opencl: a kernel does not build on ${name} (${code}), please report it with this log: ${log}`);
    }
    this.programs.set(options, [...(this.programs.get(options) ?? []), { handle, sources }]);
    return handle;
  }

  releaseAll(): void {
    for (const { handle } of [...this.kernels.values()].flat()) this.cl.clReleaseKernel(handle);
    for (const { handle } of [...this.programs.values()].flat()) this.cl.clReleaseProgram(handle);
  }
}

// Sources are constants: comparing equal ones compares addresses.
function sameSources<P extends Program>(programs: readonly P[] | undefined, sources: readonly string[]): P | undefined {
  return programs?.find((program) => program.sources.length === sources.length && sources.every((text, i) => text === program.sources[i]));
}
