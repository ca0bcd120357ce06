import type { Device, DeviceBuffer } from "../../device.ts";
import type { Scope } from "../device/scope.ts";
import { type ApproximateMatrix, BLOCK, bytesOf, definesOf } from "./lu.ts";
import * as sources from "./sources.generated.ts";

/** Right-hand sides or unknowns on the device: that of row i and column c is element offset + i * step + c. */
export interface Sides {
  readonly buffer: DeviceBuffer;
  readonly offset: number;
  readonly step: number;
}

const ITEMS = 256;

/**
 * Forward substitution with L, or backward with U, for k right-hand sides, which are used up, into `to` with k a row. The inverses
 * are those of the diagonal blocks of that factor. A launch a block.
 */
export function substituteBy(
  device: Device,
  { real, size, data, ld }: ApproximateMatrix,
  upper: boolean,
  inverses: DeviceBuffer,
  y: Sides,
  k: number,
  to: DeviceBuffer,
): void {
  const kernel = device.kernel("substituteBlock", [sources.common, sources.step], { ...definesOf(real), KB: BLOCK });
  const blocks = size / BLOCK;
  for (let done = 0; done < blocks; done++) {
    const block = upper ? blocks - 1 - done : done;
    const args = [data, ld, inverses, block, upper ? -1 : 1, y.buffer, y.offset, y.step, to];
    device.launch(kernel, [blocks - done, k], [ITEMS, 1], args);
  }
}

/** The same in one launch, without using up the right-hand sides. Where its groups have waited in vain the unknowns are NaN. */
export function substituteWaiting(
  scope: Scope,
  { real, size, data, ld }: ApproximateMatrix,
  upper: boolean,
  inverses: DeviceBuffer,
  y: Sides,
  k: number,
  to: DeviceBuffer,
  spins: number,
): void {
  const { device } = scope;
  const kernel = device.kernel("substituteWaiting", [sources.common, sources.wait], { ...definesOf(real), KB: BLOCK });
  const blocks = size / BLOCK;
  const flags = size * k * 2 * bytesOf(real);
  const published = scope.scratch(flags + 8);
  device.fill(published, Int32Array.of(0));
  const args = [data, ld, inverses, blocks, upper ? 1 : 0, y.buffer, y.offset, y.step, k, to, published, spins];
  if (blocks * k > 0) device.launch(kernel, [blocks * k], [ITEMS], args);
}
