// C := alpha A B + beta C on a device: tiles of C by sums on a grid; if that leaves many entries open, these by the filter; the rest
// exactly, entry by entry. Called by the engine.
import { compactLike, contiguousLines, type StridedMatrix, type StridedOperand, transposeOf } from "../../../arrays/matrix.ts";
import { isOnHost } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import { newVector, part } from "../../../arrays/vectors.ts";
import type { Device, DeviceBuffer, DeviceMatrix, Kernel, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import { double, long, realOf } from "../device/numbers.ts";
import { hasTensorCores } from "../device/tensorCores.ts";
import { certificate } from "../exact/sources.ts";
import { kernelArguments, listLength, newList, type Product, settle, unreadMatrix } from "./entries.ts";
import { type Measured, prepareProduct } from "./gemmResidues.ts";
import { type Lines, rowsOf } from "./residues.ts";
import { entries, gemm as gemmSource } from "./sources.ts";

export interface GemmOptions {
  /** The most entries of C at a time. The list of entries that are not proved has 32 bits for each. */
  readonly maxEntries?: number;
  /** The share of open entries up to which the exact stage costs less than trying the filter first. */
  readonly maxExactShare?: number;
  readonly shape?: GemmShape | undefined;
  /** Whether the first stage multiplies residues; default: where the device has tensor cores and the product is large. */
  readonly residues?: boolean | undefined;
}

/** How work-groups divide C. */
export interface GemmShape {
  readonly tile: number; // rows and columns of a work-group
  readonly rowsEach: number; // rows and columns of a work-item
  readonly colsEach: number;
  readonly deep: number; // products at a time
}

// On an H200, GRID reaches 6.1 Tflop/s at n = 4096, of the 8.4 possible with four operations per product; with 16 entries per work-item
// it reaches 5.8. The sums of the filter take more registers.
const GRID: GemmShape = { tile: 64, rowsEach: 8, colsEach: 4, deep: 8 };
const FILTER: GemmShape = { tile: 64, rowsEach: 4, colsEach: 4, deep: 16 };
const OTHER: GemmShape = { tile: 16, rowsEach: 1, colsEach: 1, deep: 16 }; // compiles quickly

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
  options: GemmOptions = {},
): Work<void> {
  if (C.rows === 0 || C.cols === 0) return;
  // Neighbours in a row are stored together: by columns it is the product of the transposes.
  if (C.colStride !== 1 && C.rowStride === 1)
    return yield* gemm(scope, alpha, transposeOf(B), transposeOf(A), beta, transposeOf(C), options);
  const { maxEntries = 2 ** 24, maxExactShare = 1 / 64, shape } = options;
  const { device } = scope;
  const single = C.data.BYTES_PER_ELEMENT === 4;
  const reads = alpha !== 0 && A.cols > 0;
  const left = reads ? scope.matrix(A) : unreadMatrix(scope, C.rows, 0);
  const right = reads ? scope.matrix(B) : unreadMatrix(scope, 0, C.cols);
  const into = beta !== 0 ? scope.matrix(C) : output(scope, C);
  const maxRows = Math.min(C.rows, Math.max(1, Math.floor(maxEntries / C.cols)));
  const list = newList(scope, maxRows * C.cols);
  const open = scope.scratch(maxRows * C.cols); // a byte per entry: whether it is open
  const [rowLines, colLines] = [rowsOf(left), rowsOf(transposeOf(right))];
  const [rows, columns] = [measureLines(scope, rowLines, single), measureLines(scope, colLines, single)];
  const byResidues =
    (options.residues ?? suitsResidues(device, C.rows, C.cols, left.cols))
      ? yield* prepareProduct(scope, rowLines, rows, colLines, columns, maxRows, single)
      : undefined;
  for (let from = 0; from < C.rows; from += maxRows) {
    const block = (M: DeviceMatrix): DeviceMatrix => ({
      ...M,
      offset: M.offset + from * M.rowStride,
      rows: Math.min(maxRows, C.rows - from),
    });
    const product = { alpha: reads ? alpha : 1, A: block(left), B: right, beta, C: block(into), single, list };
    const launch = (filter: boolean): void =>
      launchTiles(device, product, rows.sizes, columns.sizes, from, open, shape ?? shapeFor(device, filter), filter);
    if (byResidues) byResidues.launch(product, rowsOf(product.A), from, open);
    else launch(false);
    const unproved = yield* listLength(device, list);
    if (unproved > product.C.rows * C.cols * maxExactShare) launch(true);
    if (unproved > 0) yield* settle(scope, product);
  }
  const { data } = C;
  if (!isOnHost(data)) return;
  const copy = newVector(scope.routine, data, C.rows * C.cols);
  yield device.read(into.buffer, copy);
  writeBack(copy, { ...C, data });
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

function tileKernel(device: Device, name: string, single: boolean, shape: GemmShape, filter: boolean): Kernel {
  const { tile, rowsEach, colsEach, deep } = shape;
  const sizes = { TILE: tile, ROWS_EACH: rowsEach, COLS_EACH: colsEach, DEEP: deep };
  const defines = { REAL: realOf(single ? 4 : 8), ...sizes, ...(filter ? { FILTER: 1 } : {}) };
  return device.kernel(name, [certificate, entries, gemmSource], defines);
}

const MEASURING = 128; // work-items in a group

/** The largest and the smallest magnitude of each line, and its lowest bit. */
export function measureLines(scope: Scope, { buffer, offset, count, distance, step, n }: Lines, single: boolean): Measured {
  const { device } = scope;
  const [sizes, lowest] = [scope.scratch(8 * count), scope.scratch(4 * count)];
  device.fill(sizes, Uint32Array.of(0, 0xffffffff), 0, 8 * count);
  device.fill(lowest, Uint32Array.of(0xffffffff), 0, 4 * count);
  if (n === 0) return { sizes, lowest };
  const together = step === 1 ? 32 : 4;
  const blocks = Math.ceil(count / (MEASURING / together));
  const chunks = Math.min(Math.ceil(n / 256), Math.ceil((16 * device.computeUnits) / blocks));
  const args = [buffer, long(offset), long(distance), long(step), count, n, Math.ceil(n / chunks), together, sizes, lowest];
  device.launch(tileKernel(device, "measure", single, OTHER, false), [blocks, chunks], [MEASURING, 1], args);
  return { sizes, lowest };
}

// Where tensor cores save more than residues cost.
function suitsResidues(device: Device, M: number, N: number, K: number): boolean {
  return hasTensorCores(device) && Math.min(M, N, K) >= 128 && M * N * K >= 2 ** 27;
}

// Compute and prove what is possible: all entries by sums on a grid, or the open ones by the filter.
function launchTiles(
  device: Device,
  product: Product,
  rows: DeviceBuffer,
  columns: DeviceBuffer,
  from: number,
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
      ...kernelArguments(A),
      ...kernelArguments(B),
      ...kernelArguments(C),
      ...[C.rows, C.cols, A.cols],
      ...[double(alpha), double(beta)],
      ...[rows, columns, from, open, list],
    ],
  );
}
