import { Superaccumulator } from "../../../exact/superaccumulator.ts";
import type { Device, DeviceBuffer, Kernel, KernelArgument, Work } from "../../device.ts";
import type { ExactStage } from "../../kernels.ts";
import { double, long, realOf } from "../device/numbers.ts";
import type { DeviceMatrix, Scope } from "../device/scope.ts";
import { ACCUMULATOR, DIGITS, FIRST_DIGIT, specialsOf } from "../exact/layout.ts";
import { certificate, expansion, superaccumulator } from "../exact/sources.ts";
import { entries } from "./sources.generated.ts";

// What the products of matrices with vectors and with matrices share: entries that are not proved are listed, and done exactly.

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

/** In place of a matrix that is not read. */
export function nothing(scope: Scope, rows: number, cols: number): DeviceMatrix {
  return { buffer: scope.scratch(8), offset: 0, rows, cols, rowStride: 0, colStride: 0 };
}

/** A matrix as kernels take it. */
export function placed({ buffer, offset, rowStride, colStride }: DeviceMatrix): KernelArgument[] {
  return [buffer, long(offset), long(rowStride), long(colStride)];
}

/** How many are on a list. */
export function* listed(device: Device, list: DeviceBuffer): Work<number> {
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
const RECORD = ACCUMULATOR + 1; // and the old entry
const BATCH = 4096; // entries whose digits are read together
const LAUNCH = 65536; // entries in a launch, lest it be a long one

// An alpha that the terms take in; the device's accumulators have no room for a third factor.
const isInTerms = (alpha: number): boolean => Math.abs(alpha) === 1 || !Number.isFinite(alpha);

const STAGE = "fpe4";

/**
 * Finish the entries on the list, exactly. Where the device can, it is told so without a look at the list: there is mostly
 * nothing on it, and to ask takes longer than a launch for nothing.
 */
export function* settle(scope: Scope, product: Product): Work<void> {
  const { alpha, C } = product;
  if (isLooping(scope.device) && isInTerms(alpha) && C.rows * C.cols <= LAUNCH) {
    finishEntries(scope.device, product, 0, C.rows * C.cols, STAGE);
    return;
  }
  const open = yield* listed(scope.device, product.list);
  if (open > 0) yield* exactly(scope, product, open, STAGE);
}

function kernelOn(device: Device, name: string, single: boolean, stage: ExactStage): Kernel {
  const REAL = realOf(single ? 4 : 8);
  const components = Number(/\d/.exec(stage)?.[0] ?? 0);
  const more = { ...(stage.endsWith("ee") ? { EARLY: 1 } : {}), ...(isLooping(device) ? { LOOPING: 1 } : {}) };
  const defines = { REAL, REAL_X: REAL, REAL_Y: REAL, STRIDE: COPIES, OP: "DOT", COMPONENTS: components, ...more };
  return device.kernel(name, [certificate, superaccumulator, expansion, entries], defines);
}

// Whether a work-group takes one entry after another; then so many groups for each of the device's units.
const isLooping = (device: Device): boolean => device.type === "gpu";
const GROUPS = 8;

function finishEntries(
  device: Device,
  { alpha, A, B, beta, C, single, list }: Product,
  from: number,
  most: number,
  stage: ExactStage,
): void {
  device.launch(
    kernelOn(device, "finishEntries", single, stage),
    [isLooping(device) ? Math.min(most, GROUPS * device.computeUnits) : most],
    [EXACT],
    [list, from, most, ...placed(A), ...placed(B), ...placed(C), C.cols, A.cols, double(alpha), double(beta)],
  );
}

/** So many entries of the list, by one of the papers' stages. */
export function* exactly(scope: Scope, product: Product, open: number, stage: ExactStage): Work<void> {
  const { device } = scope;
  if (isInTerms(product.alpha))
    for (let from = 0; from < open; from += LAUNCH) finishEntries(device, product, from, Math.min(LAUNCH, open - from), stage);
  else yield* finishHere(scope, product, open, stage);
  yield device.finish();
}

// The sums by the device, the rest by the host.
function* finishHere(scope: Scope, { alpha, A, B, beta, C, single, list }: Product, open: number, stage: ExactStage): Work<void> {
  const { device } = scope;
  const records = new Float64Array(Math.min(open, BATCH) * RECORD);
  const sums = scope.scratch(records.byteLength);
  for (let from = 0; from < open; from += BATCH) {
    const n = Math.min(BATCH, open - from);
    device.launch(
      kernelOn(device, "sumEntries", single, stage),
      [n],
      [EXACT],
      [list, from, ...placed(A), ...placed(B), ...placed(C), C.cols, A.cols, double(beta), sums],
    );
    yield device.read(sums, records);
    const values = scope.copy(Float64Array.from({ length: n }, (_, k) => finished(records.subarray(k * RECORD), alpha, beta, single)));
    const put = kernelOn(device, "putListed", single, stage);
    device.launch(put, [Math.ceil(n / EXACT)], [EXACT], [list, from, n, values, ...placed(C), C.cols]);
  }
}

const sum = new Superaccumulator();

// RN(alpha s + beta y) from the digits of s, what was not finite among its terms, and y.
function finished(record: Float64Array, alpha: number, beta: number, single: boolean): number {
  const y = record[ACCUMULATOR] as number;
  sum.clear().addDigits(record.subarray(0, DIGITS), FIRST_DIGIT);
  sum.addSpecials(specialsOf(record));
  sum.scale(alpha);
  if (beta !== 0) sum.addProduct(beta, y);
  return sum.round("nearest", single ? "binary32" : "binary64");
}
