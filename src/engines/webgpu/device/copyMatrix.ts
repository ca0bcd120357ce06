// Copies of matrices on a device that are not stored row by row. Called by device.ts.
import type { DeviceBuffer, DeviceMatrix } from "../../device.ts";
import type { WebgpuDevice } from "./device.ts";
import { BINDING_ALIGNMENT, MAX_GROUPS } from "./pieces.ts";
import { transpose } from "./sources.generated.ts";

const TILE = 32;
const LINES = 8;

/** See Device.copyMatrix. Blocks of rows are cut so that each fits a binding, and so do the lines of `from` that it needs. */
export function copyMatrix(device: WebgpuDevice, from: DeviceMatrix, to: DeviceBuffer, width: number): void {
  const { buffer, offset, rows, cols, rowStride, colStride } = from;
  if (rows === 0 || cols === 0) return;
  const kernel = device.kernel("rowByRow", [transpose], { WORD: width === 8 ? "vec2<u32>" : "u32" });
  const limit = device.maxBindingBytes;
  // Of `from` a block reads from its first entry to its last. If columns are contiguous that is nearly everything, whatever the block.
  const span = (count: number): number => ((count - 1) * rowStride + (cols - 1) * colStride + 1) * width + BINDING_ALIGNMENT;
  let count = Math.min(rows, MAX_GROUPS * TILE);
  while (count > 1 && (span(count) > limit || count * cols * width + BINDING_ALIGNMENT > limit)) count = Math.ceil(count / 2);
  if (span(count) > limit) {
    copyLines(device, from, to, width);
    return;
  }
  for (let i = 0; i < rows; i += count) {
    const height = Math.min(count, rows - i);
    const source = device.around(buffer, (offset + i * rowStride) * width, span(height) - BINDING_ALIGNMENT);
    const target = device.around(to, i * cols * width, height * cols * width);
    if (target.before > 0) {
      // A binding begins at a multiple of 256 bytes, and the kernel writes from the beginning of its own.
      const block = device.allocate("copyMatrix", height * cols * width);
      launch(block);
      device.copy(block, to, height * cols * width, 0, i * cols * width);
      block.recycle();
    } else launch(target.part);
    function launch(into: DeviceBuffer): void {
      const groups = [Math.ceil(cols / TILE), Math.ceil(height / TILE)];
      const args = [source.part, into, source.before / width, rowStride, colStride, height, cols];
      device.launch(kernel, groups, [TILE, LINES], args);
    }
  }
}

// Line after line by plain copies, for a matrix whose block of one row needs more than a binding of `from`.
function copyLines(device: WebgpuDevice, from: DeviceMatrix, to: DeviceBuffer, width: number): void {
  const { buffer, offset, rows, cols, rowStride, colStride } = from;
  if (colStride === 1) {
    for (let i = 0; i < rows; i++) device.copy(buffer, to, cols * width, (offset + i * rowStride) * width, i * cols * width);
    return;
  }
  const step = Math.max(1, Math.min(cols, Math.floor(device.maxBindingBytes / (2 * width * rows))));
  const strip = device.allocate("copyMatrix", rows * step * width);
  const turned = device.allocate("copyMatrix", rows * step * width);
  for (let j = 0; j < cols; j += step) {
    const count = Math.min(step, cols - j);
    for (let k = 0; k < count; k++) device.copy(buffer, strip, rows * width, (offset + (j + k) * colStride) * width, k * rows * width);
    copyMatrix(device, { buffer: strip, offset: 0, rows, cols: count, rowStride: 1, colStride: rows }, turned, width);
    for (let i = 0; i < rows; i++) device.copy(turned, to, count * width, i * count * width, (i * cols + j) * width);
  }
  strip.recycle();
  turned.recycle();
}
