// Copies of matrices on a device that are not stored row by row. Called by device.ts.
import type { Device, DeviceBuffer, DeviceMatrix } from "../../device.ts";
import { long } from "./numbers.ts";
import { transpose } from "./sources.generated.ts";

const TILE = 32;
const ROWS = 8;

/** See Device.copyMatrix. */
export function copyMatrix(device: Device, from: DeviceMatrix, to: DeviceBuffer, width: number): void {
  const { buffer, offset, rows, cols, rowStride, colStride } = from;
  const kernel = device.kernel("rowByRow", [transpose], { WORD: width === 8 ? "ulong" : "uint" });
  device.launch(
    kernel,
    [Math.ceil(cols / TILE), Math.ceil(rows / TILE)],
    [TILE, ROWS],
    [buffer, long(offset), long(rowStride), long(colStride), to, rows, cols],
  );
}
