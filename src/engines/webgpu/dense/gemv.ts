// y := alpha A x + beta y on a device: all entries by windows, then those that they do not prove exactly. Called by the engine.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, DeviceMatrix, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { BINDING_ALIGNMENT, spread } from "../device/pieces.ts";
import { RECORD } from "../exact/layout.ts";
import { gather, round, window, words } from "../exact/sources.generated.ts";
import * as host from "../host.ts";
import { newList, type Product, settleEntries } from "./entries.ts";
import { gemvFinish, gemv as source } from "./sources.generated.ts";

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
    launch(scope, product);
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
  const rowsEach = whole <= bytes ? A.rows : maxRows;
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
const MAX_LENGTH = 2 ** 22;
const MIN_LENGTH = 128;
const GROUPS_PER_UNIT = 16;

function shapeFor(device: Device, { rows, cols, colStride }: DeviceMatrix) {
  const group = device.type === "gpu" ? 128 : 16;
  const colLanes = colStride === 1 ? group / 4 : 4;
  const rowLanes = group / colLanes;
  const blocks = Math.ceil(rows / rowLanes);
  const parts = Math.max(1, Math.min(Math.ceil((GROUPS_PER_UNIT * device.computeUnits) / blocks), Math.floor(cols / MIN_LENGTH)));
  const length = Math.min(MAX_LENGTH, Math.ceil(cols / parts));
  return { group, rowLanes, colLanes, blocks, length, parts: Math.ceil(cols / length) };
}

const FINISHING = 64; // work-items in a group

function launch(scope: Scope, { alpha, A, B, beta, C, single, list }: Product): void {
  const { device } = scope;
  const { offset, rowStride, colStride, rows, cols } = A;
  const { group, rowLanes, colLanes, blocks, length, parts } = cols > 0 ? shapeFor(device, A) : { ...NOTHING };
  const records = scope.scratch(4 * RECORD * rows * parts);
  const SINGLE = Number(single);
  if (parts > 0) {
    const defines = { GROUP: group, ROW_LANES: rowLanes, COL_LANES: colLanes, BY_ROWS: Number(colStride === 1), SINGLE };
    const kernel = device.kernel("gemv", [words, window, gather, source], defines);
    const args = [A.buffer, B.buffer, records, offset, rowStride, colStride, rows, cols, length];
    device.launch(kernel, [...spread(blocks), parts], [group], args);
  }
  const finish = device.kernel("gemvFinish", [words, window, round, gather, gemvFinish], { GROUP: FINISHING, SINGLE });
  const lanes = parts * colLanes;
  const scalars = [Float64Array.of(alpha), Float64Array.of(beta)];
  device.launch(
    finish,
    [Math.ceil(rows / FINISHING)],
    [FINISHING],
    [records, C.buffer, list, ...scalars, C.offset, rows, parts, cols + 3 * lanes], // n + 3 L: see window.wgsl
  );
}

const NOTHING = { group: 1, rowLanes: 1, colLanes: 1, blocks: 0, length: 0, parts: 0 };
