import { LITTLE_ENDIAN } from "../../../arrays/byteOrder.ts";
import { EngineError } from "../../../arrays/errors.ts";
import { importByName } from "../../importByName.js";

// OpenCL 1.2 through koffi: the functions that device.ts uses, as they are.

/** A handle of the library. */
export type Handle = bigint;

type Native = ((...args: unknown[]) => number) & { async(...args: unknown[]): void };
type Making = (...args: unknown[]) => Handle;

export interface Library {
  readonly clGetPlatformIDs: Native;
  readonly clGetDeviceIDs: Native;
  readonly clGetPlatformInfo: Native;
  readonly clGetDeviceInfo: Native;
  readonly clCreateContext: Making;
  readonly clCreateCommandQueue: Making;
  readonly clCreateBuffer: Making;
  readonly clCreateProgramWithSource: Making;
  readonly clBuildProgram: Native;
  readonly clGetProgramBuildInfo: Native;
  readonly clCreateKernel: Making;
  readonly clGetKernelWorkGroupInfo: Native;
  readonly clSetKernelArg: Native;
  readonly clEnqueueNDRangeKernel: Native;
  readonly clEnqueueReadBuffer: Native;
  readonly clEnqueueWriteBuffer: Native;
  readonly clEnqueueCopyBuffer: Native;
  readonly clEnqueueFillBuffer: Native;
  readonly clEnqueueMarkerWithWaitList: Native;
  readonly clEnqueueBarrierWithWaitList: Native;
  readonly clGetEventProfilingInfo: Native;
  readonly clFlush: Native;
  readonly clFinish: Native;
  readonly clReleaseEvent: Native;
  readonly clReleaseMemObject: Native;
  readonly clReleaseKernel: Native;
  readonly clReleaseProgram: Native;
  readonly clReleaseCommandQueue: Native;
  readonly clReleaseContext: Native;
}

const size = "size_t";
const NATIVE: Record<string, string> = {
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
const MAKING: Record<string, string> = {
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

/** The library of this machine. */
export async function loadLibrary(): Promise<Library> {
  loaded ??= bind(await openKoffi());
  return loaded;
}

async function openKoffi(): Promise<Koffi> {
  // Devices are little-endian, and memory is copied to them as it is.
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
  for (const [name, args] of Object.entries(NATIVE)) functions[name] = library.func(`int32 ${name}(${args})`);
  for (const [name, args] of Object.entries(MAKING)) functions[name] = library.func(`void *${name}(${args})`);
  return functions as unknown as Library;
}

// What OpenCL's numbers mean where a user can do something about them.
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

/** Throw unless a call went well. */
export function check(what: string, code: number): void {
  if (code !== 0) throw new EngineError(`${what}: ${CODES[code] ?? "OpenCL refused"} (${code})`);
}
