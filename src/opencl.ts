// The OpenCL engine by itself: its devices, and an engine on one of them, as open("opencl") gives.

import { type Engine, engineOf } from "./api/engine.ts";
import { checkOptions } from "./arrays/checks.ts";
import { checkChoices } from "./engines/opencl/choices.ts";
import { type Choices, openclBackend } from "./engines/opencl/index.ts";

export { type Choices, type DeviceInfo, devices, type Phase } from "./engines/opencl/index.ts";

/** What open() of this module is asked for. */
export interface DeviceOptions {
  /** Its place in the list of devices, "gpu" or "cpu", or a part of its name; the first GPU unless said otherwise. */
  device?: string | number | undefined;
  /** How work is divided on the device, where you know better: see docs/opencl.md. The bits depend on none of it. */
  choices?: Choices | undefined;
}

/** An engine on a device that OpenCL knows, with asynchronous routines. Close it when done. */
export async function open(options: DeviceOptions = {}): Promise<Engine> {
  checkOptions("open", options, ["device", "choices"]);
  const { device, choices = {} } = options;
  checkChoices(choices);
  return engineOf(await openclBackend(device, choices));
}
