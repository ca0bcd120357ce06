// Which kernels a call launches, for tests that must reach the device.
import type { WebgpuDevice } from "../../src/engines/webgpu/device/device.ts";

/** The names of the kernels, in order. */
export async function launched(device: WebgpuDevice, call: () => unknown): Promise<string[]> {
  const names: string[] = [];
  const launch = device.launch.bind(device);
  device.launch = (kernel, ...rest) => {
    names.push(kernel.name);
    launch(kernel, ...rest);
  };
  try {
    await call();
  } finally {
    device.launch = launch;
  }
  return names;
}
