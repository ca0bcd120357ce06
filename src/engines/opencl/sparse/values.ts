// The values of a triangle, gathered from A on the device when a plan is made and when it is updated. Called by plan.ts.
import type { DeviceBuffer } from "../../device.ts";
import type { SetupKernels } from "./setupKernels.ts";
import type { DevicePattern } from "./triangle.ts";

/** The values of a pattern, its diagonal and the reciprocals of that, and the maximum number of significant bits in any of them. */
export interface DeviceNumbers {
  readonly values: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
  readonly reciprocals: DeviceBuffer;
  readonly significantBits: DeviceBuffer;
}

/** Gather the values of A: those of the pattern, and the diagonal, in `order` if rows or columns have been reordered. */
export function gatherNumbers(
  setup: SetupKernels,
  { source, entries }: DevicePattern,
  order: DeviceBuffer | undefined,
  diagonalAt: DeviceBuffer,
  from: DeviceBuffer,
  to: DeviceNumbers,
): void {
  const { n, unit } = setup.triangle;
  const { values, diagonal, reciprocals, significantBits } = to;
  setup.device.fill(significantBits, new Int32Array(1));
  if (entries > 0) setup.forEach("takeValues", entries, [entries, source, from, values, significantBits]);
  if (unit || n === 0) return;
  const args = [n, order ?? diagonalAt, diagonalAt, from, diagonal, reciprocals, significantBits];
  setup.forEach("takeDiagonal", n, args, order ? { IN_ORDER: 1 } : {});
}
