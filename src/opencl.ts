// The OpenCL engine by itself: its devices, and an engine on one of them, as open("opencl") gives.
import { checkOptions } from "./checks.ts";
import { type Engine, engineOf } from "./engines/engine.ts";
import { openclBackend } from "./engines/opencl/index.ts";

export { type DeviceInfo, devices } from "./engines/opencl/index.ts";

export interface DeviceOptions {
  /** Its place in the list of devices, "gpu" or "cpu", or a part of its name; the first GPU unless said otherwise. */
  device?: string | number | undefined;
}

/** An engine on a device that OpenCL knows, with asynchronous routines. Close it when done. */
export async function open(options: DeviceOptions = {}): Promise<Engine> {
  checkOptions("open", options, ["device"]);
  return engineOf(await openclBackend(options.device));
}
