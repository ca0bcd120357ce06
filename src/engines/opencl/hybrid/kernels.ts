// Launches the kernels of hybrid.cl: for hybrid.ts, factor.ts and substitute.ts.
import type { Device, DeviceBuffer } from "../../device.ts";
import { long } from "../device/numbers.ts";
import { hybrid } from "./sources.generated.ts";

/** A block of a matrix stored by rows: its first element, and the distance between rows. */
type Block = readonly [buffer: DeviceBuffer, first: number, rowStride: number];

const TILE = [32, 8] as const;

/** Copy a block of binary32 numbers. */
export function moveBlock(device: Device, from: Block, to: Block, rows: number, cols: number): void {
  const args = [from[0], long(from[1]), from[2], to[0], long(to[1]), to[2], rows, cols];
  device.launch(kernel(device, "moveBlock"), [Math.ceil(cols / TILE[0]), Math.ceil(rows / TILE[1])], TILE, args);
}

/** Copy the diagonal blocks of a matrix of order n, one below the other, with rows of `width` elements. */
export function diagonalBlocks(device: Device, [matrix, , rowStride]: Block, n: number, width: number, to: DeviceBuffer): void {
  const args = [matrix, rowStride, n, to];
  device.launch(kernel(device, "diagonalBlocks", width), [Math.ceil(width / TILE[0]), Math.ceil(n / TILE[1])], TILE, args);
}

/** Neighbouring work-items read neighbouring elements of a row; on a CPU each work-item has its own row. */
export const lanesOf = (device: Device): { LANES: number; ROWS: number } =>
  device.type === "cpu" ? { LANES: 1, ROWS: 8 } : { LANES: 16, ROWS: 16 };

/** v[row...] -= T[row..., col...] z[col...]. */
export function updateVector(
  device: Device,
  [matrix, , rowStride]: Block,
  z: DeviceBuffer,
  v: DeviceBuffer,
  [row, rows]: readonly [number, number],
  [col, cols]: readonly [number, number],
): void {
  if (rows === 0) return;
  const { LANES, ROWS } = lanesOf(device);
  device.launch(
    kernel(device, "updateVector"),
    [1, Math.ceil(rows / ROWS)],
    [LANES, ROWS],
    [matrix, rowStride, z, v, row, rows, col, cols],
  );
}

function kernel(device: Device, name: string, width = 1) {
  return device.kernel(name, [hybrid], { W: width, ...lanesOf(device) });
}
