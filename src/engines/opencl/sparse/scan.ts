// Exclusive scans on the device, in the set-up phase of sparse triangular solves.
import type { DeviceBuffer } from "../../device.ts";
import type { SetupKernels } from "./setupKernels.ts";
import { KEYS } from "./sources.ts";

/** Replace each number by the sum of those before it. */
export function prefixSums(setup: SetupKernels, numbers: DeviceBuffer, count: number): void {
  const { device, group } = setup;
  const blocks = Math.max(1, Math.ceil(count / (group * KEYS)));
  const sums = setup.scope.scratch(4 * blocks);
  device.launch(setup.kernel("sumBlocks"), [blocks], [group], [count, numbers, sums]);
  device.launch(setup.kernel("scanBlocks"), [1], [group], [blocks, sums]);
  device.launch(setup.kernel("scanWithin"), [blocks], [group], [count, numbers, sums]);
}
