import { compactLike, contiguousLines, type StridedMatrix, type StridedOperand } from "../../../arrays/matrix.ts";
import { isOnHost } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { Device, DeviceBuffer, Kernel, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import { double, long, realOf } from "../device/numbers.ts";
import type { DeviceMatrix, Scope } from "../device/scope.ts";
import { certificate } from "../exact/sources.ts";
import { listed, newList, nothing, type Product, placed, settle } from "./entries.ts";
import { entries, gemm as gemmSource } from "./sources.generated.ts";

// C := alpha A B + beta C on a device: tiles of C by sums on a grid; what those leave open, if it is much, by the filter; the
// rest exactly, entry by entry.

export interface GemmOptions {
  /** Entries of C at a time: the list of those that are not proved has 32 bits for each. */
  readonly atOnce?: number;
  /** The share of entries that may be done exactly without trying the filter: what it costs. */
  readonly few?: number;
  readonly shape?: GemmShape | undefined;
}

/** How work-groups share C. */
export interface GemmShape {
  readonly tile: number; // rows and columns of a group
  readonly rowsEach: number; // of a work-item
  readonly colsEach: number;
  readonly deep: number; // products at a time
}

// On an H200 the first has 6.1 Tflop/s at 4096, of the 8.4 that four operations a product leave, and 16 entries of a work-item
// 5.8. A filter's sums take more registers.
const GRID: GemmShape = { tile: 64, rowsEach: 8, colsEach: 4, deep: 8 };
const FILTER: GemmShape = { tile: 64, rowsEach: 4, colsEach: 4, deep: 16 };
const OTHER: GemmShape = { tile: 16, rowsEach: 1, colsEach: 1, deep: 16 }; // one that is soon compiled

function shapeFor(device: Device, filter: boolean): GemmShape {
  if (device.type !== "gpu") return OTHER;
  return filter ? FILTER : GRID;
}

export function* gemm(
  scope: Scope,
  alpha: number,
  A: StridedOperand,
  B: StridedOperand,
  beta: number,
  C: StridedOperand,
  { atOnce = 2 ** 24, few = 1 / 64, shape }: GemmOptions = {},
): Work<void> {
  if (C.rows === 0 || C.cols === 0) return;
  const { device } = scope;
  const single = C.data.BYTES_PER_ELEMENT === 4;
  const reads = alpha !== 0 && A.cols > 0;
  const left = reads ? scope.matrix(A) : nothing(scope, C.rows, 0);
  const right = reads ? scope.matrix(B) : nothing(scope, 0, C.cols);
  const into = beta !== 0 ? scope.matrix(C) : output(scope, C);
  const most = Math.min(C.rows, Math.max(1, Math.floor(atOnce / C.cols)));
  const list = newList(scope, most * C.cols);
  const open = scope.scratch(most * C.cols); // a byte for each entry: whether it is not proved
  const columns = measured(scope, right, right.cols, right.colStride, right.rowStride, left.cols, single);
  for (let from = 0; from < C.rows; from += most) {
    const block = (M: DeviceMatrix): DeviceMatrix => ({
      ...M,
      offset: M.offset + from * M.rowStride,
      rows: Math.min(most, C.rows - from),
    });
    const product = { alpha: reads ? alpha : 1, A: block(left), B: right, beta, C: block(into), single, list };
    const rows = measured(scope, product.A, product.A.rows, left.rowStride, left.colStride, left.cols, single);
    const run = (filter: boolean): void => tiles(device, product, rows, columns, open, shape ?? shapeFor(device, filter), filter);
    run(false);
    const unproved = yield* listed(device, list);
    if (unproved > product.C.rows * C.cols * few) run(true);
    if (unproved > 0) yield* settle(scope, product);
  }
  const { data } = C;
  if (!isOnHost(data)) return;
  const copy = newVector(scope.routine, data, C.rows * C.cols);
  yield device.read(into.buffer, copy);
  writeBack(copy, { ...C, data });
}

// Where C is, or new memory without gaps, in its order.
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

function tileKernel(device: Device, name: string, single: boolean, shape: GemmShape, filter: boolean): Kernel {
  const { tile, rowsEach, colsEach, deep } = shape;
  const sizes = { TILE: tile, ROWS_EACH: rowsEach, COLS_EACH: colsEach, DEEP: deep };
  const defines = { REAL: realOf(single ? 4 : 8), ...sizes, ...(filter ? { FILTER: 1 } : {}) };
  return device.kernel(name, [certificate, entries, gemmSource], defines);
}

const MEASURING = 128; // work-items in a group

// Largest and least of so many lines of n entries.
function measured(
  scope: Scope,
  { buffer, offset }: DeviceMatrix,
  lines: number,
  lineStep: number,
  step: number,
  n: number,
  single: boolean,
): DeviceBuffer {
  const { device } = scope;
  const sizes = scope.scratch(8 * lines);
  device.fill(sizes, Uint32Array.of(0, 0xffffffff), 0, 8 * lines);
  if (n === 0) return sizes;
  const together = step === 1 ? 32 : 4;
  const blocks = Math.ceil(lines / (MEASURING / together));
  const chunks = Math.min(Math.ceil(n / 256), Math.ceil((16 * device.computeUnits) / blocks));
  const args = [buffer, long(offset), long(lineStep), long(step), lines, n, Math.ceil(n / chunks), together, sizes];
  device.launch(tileKernel(device, "measure", single, OTHER, false), [blocks, chunks], [MEASURING, 1], args);
  return sizes;
}

// All entries that can be proved, by sums on a grid; or of those that are open, by the filter.
function tiles(
  device: Device,
  product: Product,
  rows: DeviceBuffer,
  columns: DeviceBuffer,
  open: DeviceBuffer,
  shape: GemmShape,
  filter: boolean,
): void {
  const { alpha, A, B, beta, C, single, list } = product;
  device.fill(list, Uint32Array.of(0), 0, 4);
  device.launch(
    tileKernel(device, "gemm", single, shape, filter),
    [Math.ceil(C.cols / shape.tile), Math.ceil(C.rows / shape.tile)],
    [shape.tile / shape.colsEach, shape.tile / shape.rowsEach],
    [
      ...placed(A),
      ...placed(B),
      ...placed(C),
      ...[C.rows, C.cols, A.cols],
      ...[double(alpha), double(beta)],
      ...[rows, columns, open, list],
    ],
  );
}
