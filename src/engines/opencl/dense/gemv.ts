// y := alpha A x + beta y on a device: all entries by the filter, then those that it does not prove exactly. Called by the engine.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, DeviceMatrix, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { ExactStage } from "../../kernels.ts";
import { double, realOf } from "../device/numbers.ts";
import { certificate } from "../exact/sources.ts";
import { kernelArguments, newList, type Product, settle, settleExactly, unreadMatrix } from "./entries.ts";
import { entries, gemv as gemvSource } from "./sources.ts";

/** How the work-items of a group divide rows and columns, and how work-groups divide the columns. */
export interface GemvShape {
  readonly rowLanes: number;
  readonly colLanes: number;
  readonly rowsEach: number; // rows of a work-item
  readonly deep: number; // loads at a time from each row
  readonly chunks: number; // parts of the columns
  readonly wide?: boolean; // loads of 16 bytes along rows, if these are aligned
}

export function* gemv(
  scope: Scope,
  alpha: number,
  A: StridedOperand,
  x: Operand,
  beta: number,
  y: Operand,
  shape: Partial<GemvShape> = {},
): Work<void> {
  const products = blocksOf(scope, alpha, A, x, beta, y);
  for (const product of products) launch(scope, product, { ...shapeFor(scope.device, product.A, product.single), ...shape });
  for (const product of products) yield* settle(scope, product);
  if (products[0]) yield* scope.store(products[0].C.buffer, y);
}

/** The same by one of the papers' stages alone, one work-group per entry, for study and comparison. */
export function* gemvBy(
  scope: Scope,
  stage: ExactStage,
  alpha: number,
  A: StridedOperand,
  x: Operand,
  beta: number,
  y: Operand,
): Work<void> {
  const products = blocksOf(scope, alpha, A, x, beta, y);
  const all = products.map((product) => ({
    ...product,
    list: scope.copy(Uint32Array.from({ length: product.C.rows + 1 }, (_, k) => k - 1)),
  }));
  for (const product of all) yield* settleExactly(scope, product, product.C.rows, stage);
  if (products[0]) yield* scope.store(products[0].C.buffer, y);
}

// The operands on the device, in blocks of rows if A is too large for one buffer. If no terms are read, alpha is 1.
function blocksOf(scope: Scope, alpha: number, A: StridedOperand, x: Operand, beta: number, y: Operand): Product[] {
  const { device } = scope;
  const single = y.BYTES_PER_ELEMENT === 4;
  const reads = alpha !== 0 && A.cols > 0;
  const B = reads ? columnOf(scope.vector(x), 0, x.length) : unreadMatrix(scope, 0, 1);
  const into = beta !== 0 ? scope.vector(y) : scope.result(y);
  const fits = Math.floor(device.maxBufferBytes / (A.cols * A.data.BYTES_PER_ELEMENT));
  const maxRows = reads && isOnHost(A.data) ? Math.max(fits, 1) : A.rows;
  return Array.from({ length: Math.ceil(A.rows / maxRows) || 0 }, (_, k) => {
    const from = k * maxRows;
    const rows = Math.min(maxRows, A.rows - from);
    const block = { ...A, offset: A.offset + from * A.rowStride, rows };
    const left = reads ? scope.matrix(block) : unreadMatrix(scope, rows, 0);
    return { alpha: reads ? alpha : 1, A: left, B, beta, C: columnOf(into, from, rows), single, list: newList(scope, rows) };
  });
}

function columnOf(buffer: DeviceBuffer, offset: number, rows: number): DeviceMatrix {
  return { buffer, offset, rows, cols: 1, rowStride: 1, colStride: 1 };
}

// By rows, a work-item has at least this many columns if there are enough: it loads 16 in each of 4 iterations.
const COLUMNS_EACH = 64;
// Merging more parts, one after another, takes longer than they save.
const MAX_CHUNKS = 128;

/**
 * The shape for a matrix: lanes along contiguous memory, as many as there is work for, and enough groups to keep the device busy.
 * At order 16384 an H200 takes 0.51 ms by rows (128 lanes along a row and 4 loads ahead: 0.54) and 0.54 ms by columns (groups of 128
 * by 2: 0.55); cuBLAS dgemv takes 0.48 and 0.50 ms.
 */
export function shapeFor(device: Device, { rows, cols, colStride }: DeviceMatrix, single: boolean): GemvShape {
  if (device.type !== "gpu") return { rowLanes: 4, colLanes: 4, rowsEach: 2, deep: 2, chunks: 1 }; // compiles quickly
  const chunksFor = (groups: number, blocks: number, minLength: number): number =>
    Math.max(1, Math.min(Math.round((groups * device.computeUnits) / blocks), Math.floor(cols / minLength), MAX_CHUNKS));
  if (colStride === 1) {
    const colLanes = 2 ** Math.min(Math.max(Math.floor(Math.log2(cols / COLUMNS_EACH)), 3), 6);
    const rowLanes = 128 / colLanes;
    const chunks = chunksFor(24, Math.ceil(rows / rowLanes), 16 * colLanes);
    return { rowLanes, colLanes, rowsEach: 1, deep: single ? 4 : 8, chunks, wide: true }; // in registers: 16 entries and their factors
  }
  const rowLanes = rows < 64 ? 8 : rows < 4096 ? 64 : 128;
  const group = device.maxGroupSize < 512 ? 256 : 512; // many devices allow 256, some 448
  const colLanes = group / rowLanes;
  const chunks = chunksFor(1024 / group, Math.ceil(rows / rowLanes), 16 * colLanes);
  return { rowLanes, colLanes, rowsEach: 1, deep: 4, chunks };
}

// Entries per load: those of 16 bytes, if all rows are aligned to that.
function loadWidth({ offset, rows, rowStride }: DeviceMatrix, single: boolean): number {
  const entries = single ? 4 : 2;
  return offset % entries === 0 && (rows === 1 || rowStride % entries === 0) ? entries : 1;
}

const MERGING = 64; // work-items in a group

function launch(scope: Scope, { alpha, A, B, beta, C, single, list }: Product, shape: GemvShape): void {
  const { device } = scope;
  const { rows, cols } = A;
  const { rowLanes, colLanes, rowsEach, deep } = shape;
  const wide = shape.wide && A.colStride === 1 ? loadWidth(A, single) : 1;
  const length = Math.max(1, Math.ceil(cols / shape.chunks / wide) * wide);
  const chunks = Math.max(1, Math.ceil(cols / length));
  const partials = scope.scratch(chunks > 1 ? chunks * rows * 32 : 0);
  const depth = Math.ceil(length / (colLanes * wide)) * wide + 2 * Math.ceil(Math.log2(colLanes)) + (chunks > 1 ? 2 * chunks : 0);
  const defines = {
    REAL: realOf(single ? 4 : 8),
    BY_ROWS: A.colStride === 1 ? 1 : 0,
    ROW_LANES: rowLanes,
    COL_LANES: colLanes,
    ROWS_EACH: rowsEach,
    DEEP: deep,
    WIDE: wide,
  };
  const sources = [certificate, entries, gemvSource];
  const scalars = [double(alpha), double(beta)];
  device.fill(list, Uint32Array.of(0), 0, 4);
  device.launch(
    device.kernel("gemv", sources, defines),
    [Math.ceil(rows / (rowLanes * rowsEach)), chunks],
    [rowLanes * colLanes, 1],
    [...kernelArguments(A), B.buffer, rows, cols, length, ...scalars, C.buffer, C.offset, double(depth), partials, list],
  );
  if (chunks === 1) return;
  device.launch(
    device.kernel("gemvMerge", sources, defines),
    [Math.ceil(rows / MERGING)],
    [MERGING],
    [partials, rows, cols, chunks, ...scalars, C.buffer, C.offset, double(depth), list],
  );
}
