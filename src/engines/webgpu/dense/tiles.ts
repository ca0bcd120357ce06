// The windows of a matrix product on a device, for lu.ts.
import type { Device, DeviceBuffer, DeviceMatrix } from "../../device.ts";
import { gather, limbs, window, words } from "../exact/sources.generated.ts";
import { tiles as source } from "./sources.generated.ts";

const MAX_LENGTH = 2 ** 21;

/** Parts of the columns of A, which are one term each. */
export const partsOf = (inner: number): number => Math.ceil(inner / MAX_LENGTH);

/** Compute the windows of A B, or of -A B if `negative`, one for each part and entry. */
export function launchTiles(
  device: Device,
  A: DeviceMatrix,
  B: DeviceMatrix,
  single: boolean,
  negative: boolean,
  records: DeviceBuffer,
): void {
  if (A.cols === 0) return;
  const tile = device.type === "gpu" ? 16 : 8;
  const kernel = device.kernel("tiles", [words, window, limbs, gather, source], { TILE: tile, GROUP: tile * tile, SINGLE: Number(single) });
  const ofA = [A.offset, A.rowStride, A.colStride];
  const ofB = [B.offset, B.rowStride, B.colStride];
  const shape = [A.rows, B.cols, A.cols, MAX_LENGTH, negative ? 2 ** 31 : 0];
  const groups = [Math.ceil(B.cols / tile), Math.ceil(A.rows / tile), partsOf(A.cols)];
  device.launch(kernel, groups, [tile * tile], [A.buffer, B.buffer, records, ...ofA, ...ofB, ...shape]);
}
