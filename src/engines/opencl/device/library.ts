// The functions of OpenCL 1.2 that the device layer calls, through koffi, and the meaning of their return codes.
import { LITTLE_ENDIAN } from "../../../arrays/byteOrder.ts";
import { EngineError } from "../../../arrays/errors.ts";
import { importByName } from "../../importByName.js";

/** A handle of an OpenCL object. */
export type Handle = bigint;

/** Returns a code, 0 for success. async() runs it on a thread of Node's pool and passes the code to its last argument. */
type Command = ((...args: unknown[]) => number) & { async(...args: unknown[]): void };
/** Returns a new object, and its code through the last argument. */
type Constructor = (...args: unknown[]) => Handle;

export interface Library {
  readonly clGetPlatformIDs: Command;
  readonly clGetDeviceIDs: Command;
  readonly clGetPlatformInfo: Command;
  readonly clGetDeviceInfo: Command;
  readonly clCreateContext: Constructor;
  readonly clCreateCommandQueue: Constructor;
  readonly clCreateBuffer: Constructor;
  readonly clCreateProgramWithSource: Constructor;
  readonly clBuildProgram: Command;
  readonly clGetProgramBuildInfo: Command;
  readonly clCreateKernel: Constructor;
  readonly clGetKernelWorkGroupInfo: Command;
  readonly clSetKernelArg: Command;
  readonly clEnqueueNDRangeKernel: Command;
  readonly clEnqueueReadBuffer: Command;
  readonly clEnqueueWriteBuffer: Command;
  readonly clEnqueueCopyBuffer: Command;
  readonly clEnqueueFillBuffer: Command;
  readonly clEnqueueMarkerWithWaitList: Command;
  readonly clEnqueueBarrierWithWaitList: Command;
  readonly clGetEventProfilingInfo: Command;
  readonly clFlush: Command;
  readonly clFinish: Command;
  readonly clReleaseEvent: Command;
  readonly clReleaseMemObject: Command;
  readonly clReleaseKernel: Command;
  readonly clReleaseProgram: Command;
  readonly clReleaseCommandQueue: Command;
  readonly clReleaseContext: Command;
}

const size = "size_t";
const COMMANDS: Record<string, string> = {
  clGetPlatformIDs: "uint32, void *, void *",
  clGetDeviceIDs: `void *, uint64, uint32, void *, void *`,
  clGetPlatformInfo: `void *, uint32, ${size}, void *, void *`,
  clGetDeviceInfo: `void *, uint32, ${size}, void *, void *`,
  clBuildProgram: "void *, uint32, void *, const char *, void *, void *",
  clGetProgramBuildInfo: `void *, void *, uint32, ${size}, void *, void *`,
  clGetKernelWorkGroupInfo: `void *, void *, uint32, ${size}, void *, void *`,
  clSetKernelArg: `void *, uint32, ${size}, void *`,
  clEnqueueNDRangeKernel: "void *, void *, uint32, void *, void *, void *, uint32, void *, void *",
  clEnqueueReadBuffer: `void *, void *, uint32, ${size}, ${size}, void *, uint32, void *, void *`,
  clEnqueueWriteBuffer: `void *, void *, uint32, ${size}, ${size}, void *, uint32, void *, void *`,
  clEnqueueCopyBuffer: `void *, void *, void *, ${size}, ${size}, ${size}, uint32, void *, void *`,
  clEnqueueFillBuffer: `void *, void *, void *, ${size}, ${size}, ${size}, uint32, void *, void *`,
  clEnqueueMarkerWithWaitList: "void *, uint32, void *, void *",
  clEnqueueBarrierWithWaitList: "void *, uint32, void *, void *",
  clGetEventProfilingInfo: `void *, uint32, ${size}, void *, void *`,
  clFlush: "void *",
  clFinish: "void *",
  clReleaseEvent: "void *",
  clReleaseMemObject: "void *",
  clReleaseKernel: "void *",
  clReleaseProgram: "void *",
  clReleaseCommandQueue: "void *",
  clReleaseContext: "void *",
};
const CONSTRUCTORS: Record<string, string> = {
  clCreateContext: "void *, uint32, void *, void *, void *, void *",
  clCreateCommandQueue: "void *, void *, uint64, void *",
  clCreateBuffer: `void *, uint64, ${size}, void *, void *`,
  clCreateProgramWithSource: "void *, uint32, const char **, void *, void *",
  clCreateKernel: "void *, const char *, void *",
};

const FILES: Record<string, readonly string[]> = {
  win32: ["OpenCL.dll"],
  darwin: ["/System/Library/Frameworks/OpenCL.framework/OpenCL"],
};
const INSTALL = "install your GPU's driver, or on Debian for a CPU: apt-get install ocl-icd-libopencl1 pocl-opencl-icd";

type Koffi = {
  load(file: string): { func(signature: string): unknown };
};

let loaded: Library | undefined;

/** The OpenCL library of this machine, loaded once. */
export async function loadLibrary(): Promise<Library> {
  loaded ??= bind(await openKoffi());
  return loaded;
}

async function openKoffi(): Promise<Koffi> {
  // Devices are little-endian, and memory is copied to them unchanged.
  if (!LITTLE_ENDIAN) throw new EngineError("opencl: it needs little-endian typed arrays, and this machine is big-endian");
  const process = (globalThis as { process?: { versions?: { node?: string } } }).process;
  if (process?.versions?.node === undefined) throw new EngineError("opencl: it needs Node, and this is another runtime");
  try {
    return ((await importByName("koffi")) as { default: Koffi }).default;
  } catch (cause) {
    throw new EngineError("opencl: the package koffi is not there: npm install koffi", { cause });
  }
}

function bind(koffi: Koffi): Library {
  const { platform } = (globalThis as unknown as { process: { platform: string } }).process;
  let library: ReturnType<Koffi["load"]> | undefined;
  let cause: unknown;
  for (const file of FILES[platform] ?? ["libOpenCL.so.1", "libOpenCL.so"]) {
    try {
      library = koffi.load(file);
      break;
    } catch (error) {
      cause = error;
    }
  }
  if (!library) throw new EngineError(`opencl: no OpenCL library on this machine: ${INSTALL}`, { cause });
  const functions: Record<string, unknown> = {};
  for (const [name, args] of Object.entries(COMMANDS)) functions[name] = library.func(`int32 ${name}(${args})`);
  for (const [name, args] of Object.entries(CONSTRUCTORS)) functions[name] = library.func(`void *${name}(${args})`);
  return functions as unknown as Library;
}

// The codes that a user can do something about.
const CODES: Record<number, string> = {
  [-1]: "no device found",
  [-2]: "the device is not available",
  [-4]: "no device memory for it",
  [-5]: "the device is out of resources, or was lost",
  [-6]: "no host memory for it",
  [-11]: "the program does not build",
  [-36]: "the device was lost",
  [-54]: "the work-group is too large",
  [-61]: "the buffer is larger than the device can allocate at once",
  [-1001]: `no OpenCL driver: ${INSTALL}`,
};

/** Throw if a command failed. */
export function check(what: string, code: number): void {
  if (code !== 0) throw new EngineError(`${what}: ${CODES[code] ?? "OpenCL refused"} (${code})`);
}

/** A new OpenCL object. */
export function create(what: string, construct: (code: Int32Array) => Handle): Handle {
  const code = new Int32Array(1);
  const handle = construct(code);
  check(`opencl: ${what}`, code[0] as number);
  return handle;
}
