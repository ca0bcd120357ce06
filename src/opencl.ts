// The entry point "halfulp/opencl": the list of OpenCL devices, and an engine on one of them. open("opencl") of the main entry point opens
// the same engine without choices.

import { type Engine, engineOf } from "./api/engine.ts";
import { checkOptions } from "./arrays/checks.ts";
import { checkChoices } from "./engines/opencl/choices.ts";
import { type Choices, openclBackend } from "./engines/opencl/index.ts";

export { type Choices, type DeviceInfo, devices, type Phase } from "./engines/opencl/index.ts";

/** Options of open() in this module. */
export interface DeviceOptions {
  /** Its index in the list of devices, "gpu", "cpu" or a part of its name; default: the first GPU. */
  device?: string | number | undefined;
  /** Overrides how work is divided on the device: see docs/opencl.md. No choice changes a bit of a result. */
  choices?: Choices | undefined;
}

/**
 * An engine on an OpenCL device, with asynchronous routines. Close it when done.
 * @example
 * const engine = await open({ device: 0 });
 * await engine.exsum(Float64Array.of(1e16, 1, -1e16)); // 1
 * await engine.close();
 */
export async function open(options: DeviceOptions = {}): Promise<Engine> {
  checkOptions("open", options, ["device", "choices"]);
  const { device, choices = {} } = options;
  checkChoices(choices);
  return engineOf(await openclBackend(device, choices));
}
