// C := alpha A B + beta C on a device: all entries by windows, then those that they do not prove exactly. Called by the engine.
import { compactLike, contiguousLines, type StridedMatrix, type StridedOperand, transposeOf } from "../../../arrays/matrix.ts";
import { isOnHost } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { DeviceMatrix, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import * as host from "../host.ts";
import { finishEntries, newList, settleEntries } from "./entries.ts";
import { WINDOW_BYTES } from "./gemv.ts";
import { launchTiles, partsOf } from "./tiles.ts";

// Windows of a launch, which take 40 bytes each, and products, so that a launch does not take long.
const MAX_WINDOWS = 2 ** 20;
const MAX_PRODUCTS = 2 ** 32;

export function* gemm(scope: Scope, alpha: number, A: StridedOperand, B: StridedOperand, beta: number, C: StridedOperand): Work<void> {
  if (C.rows === 0 || C.cols === 0) return;
  // Neighbours in a row are stored together: by columns it is the product of the transposes.
  if (C.colStride !== 1 && C.rowStride === 1) return yield* gemm(scope, alpha, transposeOf(B), transposeOf(A), beta, transposeOf(C));
  const device = scope.device as WebgpuDevice;
  const bytes = Math.max(bytesOf(A), bytesOf(B), bytesOf(C), WINDOW_BYTES * C.cols * partsOf(A.cols));
  if (bytes > device.maxBindingBytes) return yield* host.gemm(scope, alpha, A, B, beta, C);
  const single = C.data.BYTES_PER_ELEMENT === 4;
  const reads = alpha !== 0 && A.cols > 0;
  const unread = { buffer: scope.scratch(16), offset: 0, rowStride: 0, colStride: 0 };
  const left = reads ? scope.matrix(A) : { ...unread, rows: C.rows, cols: 0 };
  const right = reads ? scope.matrix(B) : { ...unread, rows: 0, cols: C.cols };
  const into = beta !== 0 ? scope.matrix(C) : output(scope, C);
  const parts = partsOf(left.cols);
  const maxRows = Math.max(1, Math.floor(Math.min(MAX_WINDOWS / Math.max(1, parts), MAX_PRODUCTS / Math.max(1, left.cols)) / C.cols));
  const records = scope.scratch(WINDOW_BYTES * Math.min(C.rows, maxRows) * C.cols * Math.max(1, parts));
  for (let from = 0; from < C.rows; from += maxRows) {
    const rows = Math.min(maxRows, C.rows - from);
    const block = (M: DeviceMatrix): DeviceMatrix => ({ ...M, offset: M.offset + from * M.rowStride, rows });
    const list = newList(scope, rows * C.cols);
    const product = { alpha: reads ? alpha : 1, A: block(left), B: right, beta, C: block(into), single, list };
    launchTiles(device, product.A, right, single, false, records);
    finishEntries(scope, product, records, parts, parts);
    yield* settleEntries(scope, product);
  }
  const { data } = C;
  if (!isOnHost(data)) {
    yield device.finish();
    return;
  }
  const copy = newVector(scope.routine, data, C.rows * C.cols);
  yield device.read(into.buffer, copy);
  writeBack(copy, { ...C, data });
}

// The bytes that a matrix has on the device: all of its array if it is there, else its entries.
function bytesOf({ data, rows, cols }: StridedOperand): number {
  return isOnHost(data) ? data.BYTES_PER_ELEMENT * rows * cols : data.byteLength;
}

// The memory of C, or new memory without gaps, in the order of C.
function output(scope: Scope, C: StridedOperand): DeviceMatrix {
  const { data, ...layout } = C;
  if (!isOnHost(data)) return { ...layout, buffer: bufferOf(data) };
  const { data: _, ...compact } = compactLike(C, data);
  return { ...compact, buffer: scope.scratch(data.BYTES_PER_ELEMENT * C.rows * C.cols) };
}

// Copy entries without gaps, in the order of C, to C.
function writeBack(from: Real, C: StridedMatrix): void {
  const { lines, length, stride } = contiguousLines(C);
  for (let l = 0; l < lines; l++) part(C.data, C.offset + l * stride, length).set(from.subarray(l * length, (l + 1) * length));
}
