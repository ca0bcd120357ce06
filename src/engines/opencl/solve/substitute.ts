// Block substitution with approximate factors on the device, for approximate.ts: in one launch whose work-groups wait for each other, or
// with one launch per block of 128 unknowns.
import type { Device, DeviceBuffer } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { type ApproximateMatrix, BLOCK, bytesOf, definesOf } from "./lu.ts";
import * as sources from "./sources.ts";

/** Right-hand sides or unknowns on the device: that of row i and column c is element offset + i * step + c. */
export interface Sides {
  readonly buffer: DeviceBuffer;
  readonly offset: number;
  readonly step: number;
}

/** Forward substitution with L, or backward with U. */
export interface BlockSubstitution {
  readonly matrix: ApproximateMatrix;
  readonly upper: boolean;
  /** The inverses of the diagonal blocks of the factor. */
  readonly inverses: DeviceBuffer;
  /** The k right-hand sides. */
  readonly y: Sides;
  readonly k: number;
  /** The unknowns, k per row. */
  readonly to: DeviceBuffer;
}

const ITEMS = 256;

/** One launch per block. The right-hand sides are overwritten. */
export function substituteByBlocks(device: Device, { matrix, upper, inverses, y, k, to }: BlockSubstitution): void {
  const { real, size, data, ld } = matrix;
  const kernel = device.kernel("substituteBlock", [sources.common, sources.step], { ...definesOf(real), KB: BLOCK });
  const blocks = size / BLOCK;
  for (let done = 0; done < blocks; done++) {
    const block = upper ? blocks - 1 - done : done;
    const args = [data, ld, inverses, block, upper ? -1 : 1, y.buffer, y.offset, y.step, to];
    device.launch(kernel, [blocks - done, k], [ITEMS, 1], args);
  }
}

/** One launch in all, which leaves the right-hand sides unchanged. If a wait is abandoned after `spins` looks, unknowns are NaN. */
export function substituteWaiting(scope: Scope, { matrix, upper, inverses, y, k, to }: BlockSubstitution, spins: number): void {
  const { device } = scope;
  const { real, size, data, ld } = matrix;
  const kernel = device.kernel("substituteWaiting", [sources.common, sources.wait], { ...definesOf(real), KB: BLOCK });
  const blocks = size / BLOCK;
  const flags = size * k * 2 * bytesOf(real);
  const published = scope.scratch(flags + 8);
  device.fill(published, Int32Array.of(0));
  const args = [data, ld, inverses, blocks, upper ? 1 : 0, y.buffer, y.offset, y.step, k, to, published, spins];
  if (blocks * k > 0) device.launch(kernel, [blocks * k], [ITEMS], args);
}
