// The radix sort of the set-up phase of sparse triangular solves.
import type { DeviceBuffer } from "../../device.ts";
import { prefixSums } from "./scan.ts";
import type { SetupKernels } from "./setupKernels.ts";
import { KEYS } from "./sources.ts";

// The most bits of a key per pass. Two passes of 6 bits take longer than three of 4.
const MAX_DIGIT = 5;

/**
 * Sort keys below `bound`, stably, with the one or two numbers that belong to each. Keys alone are returned with their original
 * positions. The arrays are not changed: they may be those of a resident.
 */
export function sort(setup: SetupKernels, count: number, bound: number, arrays: readonly DeviceBuffer[]): readonly DeviceBuffer[] {
  const { device, group, scope } = setup;
  // At least one pass: keys get their positions from it.
  const bits = Math.max(1, 32 - Math.clz32(Math.max(0, bound - 1)));
  const passes = Math.ceil(bits / MAX_DIGIT);
  const digit = Math.ceil(bits / passes);
  const blocks = Math.max(1, Math.ceil(count / (group * KEYS)));
  const counts = scope.scratch(4 * blocks * 2 ** digit);
  const width = Math.max(2, arrays.length);
  let from = arrays;
  let spare: readonly DeviceBuffer[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const shift = pass * digit;
    const to = Array.from({ length: width }, (_, k) => spare[k] ?? scope.scratch(4 * count));
    const [keys, one = keys, two = one] = from as [DeviceBuffer, DeviceBuffer?, DeviceBuffer?];
    const [toKeys, toOne = toKeys, toTwo = toOne] = to as [DeviceBuffer, DeviceBuffer?, DeviceBuffer?];
    const defines = { DIGIT: digit, ...(from.length === 3 ? { TWO: 1 } : from.length === 1 ? { COUNTED: 1 } : {}) };
    device.launch(setup.kernel("countDigits", defines), [blocks], [group], [count, shift, blocks, keys, counts]);
    prefixSums(setup, counts, blocks * 2 ** digit);
    const args = [count, shift, blocks, counts, keys, one, two, toKeys, toOne, toTwo];
    device.launch(setup.kernel("moveByDigit", defines), [blocks], [group], args);
    [from, spare] = [to, pass === 0 ? [] : from];
  }
  return from;
}
