// Finds the OpenCL devices of this machine, checks that they can run the kernels, and chooses one. Called by device.ts and by
// the engine, for lists of devices.
import { EngineError } from "../../../arrays/errors.ts";
import type { Device } from "../../device.ts";
import { type Handle, type Library, loadLibrary } from "./library.ts";
import { handlesOf, numberOf, textOf } from "./query.ts";

/** A device that OpenCL lists. */
export interface DeviceInfo {
  readonly index: number;
  readonly name: string;
  readonly platform: string;
  readonly type: Device["type"];
  /** Whether it has the arithmetic and the atomics that all kernels need. */
  readonly usable: boolean;
}

/** A device with its handle. */
export interface FoundDevice extends DeviceInfo {
  readonly id: Handle;
}

const PLATFORM_NAME = 0x0902;
const ALL_TYPES = 0xffffffff;
const TYPE = 0x1000;
const NAME = 0x102b;
const EXTENSIONS = 0x1030;
const SINGLE_CONFIG = 0x101b;
const DOUBLE_CONFIG = 0x1032;

const GPU = 4n;
const CPU = 2n;
const FMA = 32n; // CL_FP_FMA
const IEEE_SINGLE = 0x81n; // CL_FP_DENORM and CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
const ATOMICS = "cl_khr_int64_base_atomics";

/**
 * The devices of this machine, in the order of OpenCL's platforms.
 * @example
 * const names = (await devices()).map(({ name }) => name);
 * names.length > 0; // true
 */
export async function devices(): Promise<readonly DeviceInfo[]> {
  return findDevices(await loadLibrary()).map(({ index, name, platform, type, usable }) => ({ index, name, platform, type, usable }));
}

/** The same with their handles. */
export function findDevices(cl: Library): FoundDevice[] {
  return handlesOf("clGetPlatformIDs", (...args) => cl.clGetPlatformIDs(...args))
    .flatMap((id) => {
      const platform = textOf((...args) => cl.clGetPlatformInfo(id, PLATFORM_NAME, ...args));
      return handlesOf("clGetDeviceIDs", (...args) => cl.clGetDeviceIDs(id, ALL_TYPES, ...args)).map((device) => ({
        platform,
        id: device,
      }));
    })
    .map(({ platform, id }, index) => {
      const extensions = textOf((...args) => cl.clGetDeviceInfo(id, EXTENSIONS, ...args));
      const type = numberOf(cl, id, TYPE);
      return {
        index,
        id,
        platform,
        name: textOf((...args) => cl.clGetDeviceInfo(id, NAME, ...args)),
        type: (type & GPU) !== 0n ? "gpu" : (type & CPU) !== 0n ? "cpu" : "accelerator",
        usable:
          (numberOf(cl, id, DOUBLE_CONFIG) & FMA) !== 0n &&
          (numberOf(cl, id, SINGLE_CONFIG) & IEEE_SINGLE) === IEEE_SINGLE &&
          extensions.includes(ATOMICS),
      };
    });
}

/** The usable device that matches a choice, a GPU if there is one. A choice is an index, a type ("gpu", "cpu"), or part of a name. */
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
