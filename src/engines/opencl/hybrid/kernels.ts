import type { Device, DeviceBuffer } from "../../device.ts";
import { long } from "../device/numbers.ts";
import { hybrid } from "./sources.generated.ts";

// Launches of kernels/hybrid.cl.

/** A place in a matrix that is stored row by row. */
type Place = readonly [buffer: DeviceBuffer, at: number, step: number];

const TILE = [32, 8] as const;

/** Copy a block of binary32 numbers. */
export function moveBlock(device: Device, from: Place, to: Place, rows: number, cols: number): void {
  const args = [from[0], long(from[1]), from[2], to[0], long(to[1]), to[2], rows, cols];
  device.launch(kernel(device, "moveBlock"), [Math.ceil(cols / TILE[0]), Math.ceil(rows / TILE[1])], TILE, args);
}

/** The diagonal blocks of a matrix, n rows of so many columns. */
export function diagonalBlocks(device: Device, [matrix, , step]: Place, n: number, width: number, to: DeviceBuffer): void {
  const args = [matrix, step, n, to];
  device.launch(kernel(device, "diagonalBlocks", width), [Math.ceil(width / TILE[0]), Math.ceil(n / TILE[1])], TILE, args);
}

/** Neighbouring work-items read neighbours in a row; on a CPU each has a row to itself. */
export const lanesOf = (device: Device): { LANES: number; ROWS: number } =>
  device.type === "cpu" ? { LANES: 1, ROWS: 8 } : { LANES: 16, ROWS: 16 };

/** v[row...] -= T[row..., col...] z[col...]. */
export function updateVector(
  device: Device,
  [matrix, , step]: Place,
  z: DeviceBuffer,
  v: DeviceBuffer,
  [row, rows]: readonly [number, number],
  [col, cols]: readonly [number, number],
): void {
  if (rows === 0) return;
  const { LANES, ROWS } = lanesOf(device);
  device.launch(kernel(device, "updateVector"), [1, Math.ceil(rows / ROWS)], [LANES, ROWS], [matrix, step, z, v, row, rows, col, cols]);
}

function kernel(device: Device, name: string, width = 1) {
  return device.kernel(name, [hybrid], { W: width, ...lanesOf(device) });
}
