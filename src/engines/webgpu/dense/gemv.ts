// y := alpha A x + beta y on a device: all entries by windows, then those that they do not prove exactly. Called by the engine.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, DeviceMatrix, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { BINDING_ALIGNMENT, spread } from "../device/pieces.ts";
import { RECORD } from "../exact/layout.ts";
import { gather, limbs, window, words } from "../exact/sources.generated.ts";
import * as host from "../host.ts";
import { finishEntries, newList, type Product, settleEntries } from "./entries.ts";
import { gemv as source } from "./sources.generated.ts";

export function* gemv(scope: Scope, alpha: number, A: StridedOperand, x: Operand, beta: number, y: Operand): Work<void> {
  const device = scope.device as WebgpuDevice;
  const reads = alpha !== 0 && A.cols > 0;
  const bytes = y.BYTES_PER_ELEMENT * Math.max(A.cols, A.rows);
  if (bytes > device.maxBindingBytes) return yield* host.gemv(scope, alpha, A, x, beta, y);
  const single = y.BYTES_PER_ELEMENT === 4;
  const from = reads ? scope.vector(x) : scope.scratch(16);
  const into = beta !== 0 ? scope.vector(y) : scope.result(y);
  const products: Product[] = [];
  for (const { left, first } of blocksOf(device, scope, A, reads)) {
    const list = newList(scope, left.rows);
    const B = columnOf(from, 0, left.cols);
    const product = { alpha: reads ? alpha : 1, A: left, B, beta, C: columnOf(into, first, left.rows), single, list };
    const { records, parts, lanes } = windowsOf(scope, left, { buffer: from, count: 1, offset: 0, step: 1, column: 0 }, single, false);
    finishEntries(scope, product, records, parts, lanes);
    products.push(product);
  }
  for (const product of products) yield* settleEntries(scope, product);
  yield* scope.store(into, y);
}

function columnOf(buffer: DeviceBuffer, offset: number, rows: number): DeviceMatrix {
  return { buffer, offset, rows, cols: 1, rowStride: 1, colStride: 1 };
}

/** Blocks of rows of a matrix that fit a binding each, and their first rows. Of a matrix that is not read, no column. */
export function* blocksOf(
  device: WebgpuDevice,
  scope: Scope,
  A: StridedOperand,
  reads: boolean,
): Generator<{ left: DeviceMatrix; first: number }> {
  const { data } = A;
  if (A.rows === 0) return;
  if (!reads) {
    yield { left: { buffer: scope.scratch(16), offset: 0, rows: A.rows, cols: 0, rowStride: 0, colStride: 0 }, first: 0 };
    return;
  }
  const width = data.BYTES_PER_ELEMENT;
  const bytes = device.maxBindingBytes - BINDING_ALIGNMENT;
  const whole = width * ((A.rows - 1) * A.rowStride + (A.cols - 1) * A.colStride + 1);
  const inPlace = !isOnHost(data) && (whole <= bytes || A.colStride === 1);
  const maxRows = Math.max(1, Math.floor(inPlace ? (bytes / width - A.cols) / A.rowStride + 1 : bytes / (width * A.cols)));
  // The windows of the rows must fit a binding too: at most one each, and those of 2^16 more.
  const rowsEach = Math.min(whole <= bytes ? A.rows : maxRows, Math.max(1, Math.floor(bytes / (2 * WINDOW_BYTES))));
  for (let first = 0; first < A.rows; first += rowsEach) {
    const rows = Math.min(rowsEach, A.rows - first);
    const block = { ...A, offset: A.offset + first * A.rowStride, rows };
    if (isOnHost(data)) {
      yield { left: scope.matrix(block), first };
      continue;
    }
    const { data: _, ...layout } = block;
    const there = { ...layout, buffer: bufferOf(data) };
    if (inPlace) {
      const length = (rows - 1) * A.rowStride + (A.cols - 1) * A.colStride + 1;
      const { part, before } = device.around(there.buffer, width * block.offset, width * length);
      yield { left: { ...layout, buffer: part, offset: before / width }, first };
    } else {
      const copy = scope.scratch(width * rows * A.cols);
      device.copyMatrix(there, copy, width);
      yield { left: { buffer: copy, offset: 0, rows, cols: A.cols, rowStride: A.cols, colStride: 1 }, first };
    }
  }
}

// Lanes along contiguous memory, and enough groups to keep the device busy.
const MAX_LENGTH = 2 ** 21;
const MIN_LENGTH = 128;
const GROUPS_PER_UNIT = 16;
const MAX_PARTS = 64; // a lane adds the windows of all parts
/** The most windows that a row has in `count` products. */
export const maxWindows = (device: Device, count: number): number =>
  Math.min(MAX_PARTS * count, GROUPS_PER_UNIT * device.computeUnits + count);
export const WINDOW_BYTES = 4 * RECORD;

function shapeFor(device: Device, { rows, cols, colStride }: DeviceMatrix, count: number) {
  const group = device.type === "gpu" ? 128 : 16;
  const colLanes = Math.abs(colStride) === 1 ? group / 4 : 4;
  const rowLanes = group / colLanes;
  const blocks = Math.ceil(rows / rowLanes);
  const wanted = Math.ceil((GROUPS_PER_UNIT * device.computeUnits) / (blocks * count));
  const parts = Math.max(1, Math.min(wanted, Math.floor(cols / MIN_LENGTH), MAX_PARTS));
  const length = Math.min(MAX_LENGTH, Math.ceil(cols / parts));
  return { group, rowLanes, colLanes, blocks, length, parts: Math.ceil(cols / length) };
}

/** The windows of A times vectors: see gemv.wgsl. */
export interface Windows {
  readonly records: DeviceBuffer;
  readonly parts: number;
  /** The lanes whose windows were added. */
  readonly lanes: number;
}

/** The vectors that a matrix is multiplied by: element j of vector c is element offset + c * column + j * step of the buffer. */
export interface Vectors {
  readonly buffer: DeviceBuffer;
  readonly count: number;
  readonly offset: number;
  readonly step: number;
  readonly column: number;
}

/** Compute the windows of A x, or of -A x if `negative`, into `records` if it is given. */
export function windowsOf(scope: Scope, A: DeviceMatrix, x: Vectors, single: boolean, negative: boolean, given?: DeviceBuffer): Windows {
  const { device } = scope;
  const { offset, rowStride, colStride, rows, cols } = A;
  if (cols === 0 || rows === 0) return { records: given ?? scope.scratch(16), parts: 0, lanes: 0 };
  const { group, rowLanes, colLanes, blocks, length, parts } = shapeFor(device, A, x.count);
  const records = given ?? scope.scratch(WINDOW_BYTES * rows * parts * x.count);
  const defines = {
    GROUP: group,
    ROW_LANES: rowLanes,
    COL_LANES: colLanes,
    BY_ROWS: Number(Math.abs(colStride) === 1),
    SINGLE: Number(single),
  };
  const kernel = device.kernel("gemv", [words, window, limbs, gather, source], defines);
  const shape = [offset, rowStride, colStride, rows, cols, length, parts, negative ? 2 ** 31 : 0];
  device.launch(kernel, [...spread(blocks), parts * x.count], [group], [A.buffer, x.buffer, records, ...shape, x.offset, x.step, x.column]);
  return { records, parts, lanes: parts * colLanes };
}
