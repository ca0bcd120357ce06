import { newVector } from "../../dense/vectors.ts";
import { LOWEST_EXPONENT, Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Real } from "../../types.ts";
import type { Device, DeviceBuffer, Kernel, KernelArgument, Work } from "../device.ts";
import type { Entries, ExactStage } from "../kernels.ts";
import { remoteMemory } from "../remote.ts";
import { part } from "../wasm/arena.ts";
import type { DeviceMatrix, Scope } from "./scope.ts";
import { certificate, expansion, gemm as gemmSource, gemv as gemvSource, superaccumulator } from "./sources.generated.ts";

// C := alpha A B + beta C on a device: tiles of C by sums on a grid; what those leave open, if it is much, by the filter; the
// rest exactly, entry by entry.

/** Matrices on a device, and a list for the entries of C that are not proved: how many, and i * C.cols + j for each. */
export interface Product {
  readonly alpha: number;
  readonly A: DeviceMatrix;
  readonly B: DeviceMatrix;
  readonly beta: number;
  readonly C: DeviceMatrix;
  readonly single: boolean;
  readonly list: DeviceBuffer;
}

export interface GemmOptions {
  /** Entries of C at a time: the list of those that are not proved has 32 bits for each. */
  readonly atOnce?: number;
  /** The share of entries that may be done exactly without trying the filter: what it costs. */
  readonly few?: number;
  /** Rows and columns of a tile of C: 16 work-items have each. */
  readonly tile?: 16 | 32 | 64;
}

const SIDE = 16;

export function* gemm(
  scope: Scope,
  alpha: number,
  A: Entries,
  B: Entries,
  beta: number,
  C: Entries,
  { atOnce = 2 ** 24, few = 1 / 64, tile = scope.device.type === "gpu" ? 64 : SIDE }: GemmOptions = {},
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
  const columns = measured(scope, right, right.cols, right.colStep, right.rowStep, left.cols, single);
  for (let from = 0; from < C.rows; from += most) {
    const block = (M: DeviceMatrix): DeviceMatrix => ({
      ...M,
      offset: M.offset + from * M.rowStep,
      rows: Math.min(most, C.rows - from),
    });
    const product = { alpha: reads ? alpha : 1, A: block(left), B: right, beta, C: block(into), single, list };
    const rows = measured(scope, product.A, product.A.rows, left.rowStep, left.colStep, left.cols, single);
    const run = (filter: boolean): void => tiles(device, product, rows, columns, open, tile, filter);
    run(false);
    const unproved = yield* listed(device, list);
    if (unproved > product.C.rows * C.cols * few) run(true);
    if (unproved > 0) yield* settle(scope, product);
  }
  if (remoteMemory(C.data)) return;
  const copy = newVector(scope.routine, C.data, C.rows * C.cols);
  yield device.read(into.buffer, copy);
  writeBack(copy, C);
}

/** In place of a matrix that is not read. */
export function nothing(scope: Scope, rows: number, cols: number): DeviceMatrix {
  return { buffer: scope.scratch(8), offset: 0, rows, cols, rowStep: 0, colStep: 0 };
}

// Where C is, or new memory without gaps, in its order.
function output(scope: Scope, { data, ...C }: Entries): DeviceMatrix {
  const here = remoteMemory(data);
  if (here) return { ...C, buffer: here };
  const [rowStep, colStep] = C.colStep === 1 ? [C.cols, 1] : [1, C.rows];
  return { ...C, buffer: scope.scratch(C.rows * C.cols * data.BYTES_PER_ELEMENT), offset: 0, rowStep, colStep };
}

// Entries without gaps, in C's order, into C.
function writeBack(from: Real, C: Entries): void {
  const [lines, length, step] = C.colStep === 1 ? [C.rows, C.cols, C.rowStep] : [C.cols, C.rows, C.colStep];
  for (let l = 0; l < lines; l++) part(C.data, C.offset + l * step, length).set(from.subarray(l * length, (l + 1) * length));
}

const long = (x: number): BigInt64Array => BigInt64Array.of(BigInt(x));
export const double = (x: number): Float64Array => Float64Array.of(x);
export const realOf = (single: boolean): string => (single ? "float" : "double");

/** A matrix as kernels take it. */
export function placed({ buffer, offset, rowStep, colStep }: DeviceMatrix): KernelArgument[] {
  return [buffer, long(offset), long(rowStep), long(colStep)];
}

function tileKernel(device: Device, name: string, single: boolean, tile: number, filter: boolean): Kernel {
  const defines = { REAL: realOf(single), TILE: tile, ...(filter ? { FILTER: 1 } : {}) };
  return device.kernel(name, [certificate, gemvSource, gemmSource], defines);
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
  const chunks = Math.min(Math.ceil(n / 256), Math.ceil((16 * device.units) / blocks));
  const args = [buffer, long(offset), long(lineStep), long(step), lines, n, Math.ceil(n / chunks), together, sizes];
  device.launch(tileKernel(device, "measure", single, SIDE, false), [blocks, chunks], [MEASURING, 1], args);
  return sizes;
}

// All entries that can be proved, by sums on a grid; or of those that are open, by the filter.
function tiles(
  device: Device,
  product: Product,
  rows: DeviceBuffer,
  columns: DeviceBuffer,
  open: DeviceBuffer,
  tile: number,
  filter: boolean,
): void {
  const { alpha, A, B, beta, C, single, list } = product;
  device.fill(list, Uint32Array.of(0), 0, 4);
  device.launch(
    tileKernel(device, "gemm", single, tile, filter),
    [Math.ceil(C.cols / tile), Math.ceil(C.rows / tile)],
    [SIDE, SIDE],
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

function* listed(device: Device, list: DeviceBuffer): Work<number> {
  const found = new Uint32Array(1);
  yield device.read(list, found);
  return found[0] as number;
}

/** A list with room for so many. */
export function newList(scope: Scope, entries: number): DeviceBuffer {
  return scope.scratch(4 + 4 * entries);
}

const EXACT = 128; // work-items in a group
const COPIES = 8; // accumulators that they share: 9 KB, and fewer meetings at a digit
const DIGITS = 138;
const RECORD = DIGITS + 4;
const FIRST = (-2176 - LOWEST_EXPONENT) / 32; // the place of the device's first digit in an accumulator of the host
const BATCH = 4096; // entries whose digits are read together
const LAUNCH = 65536; // entries in a launch, lest it be a long one

/** Finish the entries on the list, exactly. */
export function* settle(scope: Scope, product: Product): Work<void> {
  const open = yield* listed(scope.device, product.list);
  if (open > 0) yield* exactly(scope, product, open, "fpe4");
}

/** So many entries of the list, by one of the papers' stages. */
export function* exactly(scope: Scope, { alpha, A, B, beta, C, single, list }: Product, open: number, stage: ExactStage): Work<void> {
  const { device } = scope;
  const REAL = realOf(single);
  const components = Number(/\d/.exec(stage)?.[0] ?? 0);
  const early = stage.endsWith("ee") ? { EARLY: 1 } : {};
  const defines = { REAL, REAL_X: REAL, REAL_Y: REAL, STRIDE: COPIES, OP: "DOT", COMPONENTS: components, ...early };
  const kernel = (name: string): Kernel => device.kernel(name, [certificate, superaccumulator, expansion, gemmSource], defines);
  const here = Math.abs(alpha) !== 1 && Number.isFinite(alpha); // the device's accumulators have no room for a third factor
  const most = here ? BATCH : LAUNCH;
  const records = new Float64Array(here ? Math.min(open, most) * RECORD : 0);
  const sums = scope.scratch(records.byteLength);
  for (let from = 0; from < open; from += most) {
    const n = Math.min(most, open - from);
    device.launch(
      kernel("exactEntries"),
      [n],
      [EXACT],
      [list, from, ...placed(A), ...placed(B), ...placed(C), C.cols, A.cols, double(alpha), double(beta), sums],
    );
    if (!here) continue;
    yield device.read(sums, records);
    const values = scope.copy(Float64Array.from({ length: n }, (_, k) => finished(records.subarray(k * RECORD), alpha, beta, single)));
    device.launch(kernel("putListed"), [Math.ceil(n / EXACT)], [EXACT], [list, from, n, values, ...placed(C), C.cols]);
  }
  yield device.finish();
}

const sum = new Superaccumulator();

// RN(alpha s + beta y) from the digits of s, what was not finite among its terms, and y.
function finished(record: Float64Array, alpha: number, beta: number, single: boolean): number {
  const [nans, positive, negative, y] = record.subarray(DIGITS, RECORD) as unknown as [number, number, number, number];
  sum.clear().addDigits(record.subarray(0, DIGITS), FIRST);
  sum.addSpecials((nans && 1) | (positive && 2) | (negative && 4));
  sum.scale(alpha);
  if (beta !== 0) sum.addProduct(beta, y);
  return sum.round("nearest", single ? "binary32" : "binary64");
}
