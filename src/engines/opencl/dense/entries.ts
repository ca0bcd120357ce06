// The exact stage of exgemv and exgemm on a device: entries that the certificate does not prove are listed, then computed exactly.
import { Superaccumulator } from "../../../exact/superaccumulator.ts";
import type { Device, DeviceBuffer, DeviceMatrix, Kernel, KernelArgument, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { ExactStage } from "../../kernels.ts";
import { double, long, realOf } from "../device/numbers.ts";
import { ACCUMULATOR, DIGITS, FIRST_DIGIT, specialsOf } from "../exact/layout.ts";
import { certificate, expansion, superaccumulator } from "../exact/sources.ts";
import { stageDefines } from "../exact/stages.ts";
import { entries } from "./sources.ts";

/** Matrices on a device, and a list for the entries of C that are not proved: their number, then i * C.cols + j for each. */
export interface Product {
  readonly alpha: number;
  readonly A: DeviceMatrix;
  readonly B: DeviceMatrix;
  readonly beta: number;
  readonly C: DeviceMatrix;
  readonly single: boolean;
  readonly list: DeviceBuffer;
}

/** A placeholder for a matrix that is not read. */
export function unreadMatrix(scope: Scope, rows: number, cols: number): DeviceMatrix {
  return { buffer: scope.scratch(8), offset: 0, rows, cols, rowStride: 0, colStride: 0 };
}

/** A matrix as kernels take it. */
export function kernelArguments({ buffer, offset, rowStride, colStride }: DeviceMatrix): KernelArgument[] {
  return [buffer, long(offset), long(rowStride), long(colStride)];
}

/** The number of entries on a list. */
export function* listLength(device: Device, list: DeviceBuffer): Work<number> {
  const found = new Uint32Array(1);
  yield device.read(list, found);
  return found[0] as number;
}

/** A list with room for `entries`. */
export function newList(scope: Scope, entries: number): DeviceBuffer {
  return scope.scratch(4 + 4 * entries);
}

const EXACT = 128; // work-items in a group
const COPIES = 8; // accumulators that they share: 9 KB, and fewer conflicts at a digit
const RECORD = ACCUMULATOR + 1; // and the old entry
const BATCH = 4096; // entries whose digits are read together
const LAUNCH = 65536; // entries in a launch, which should not take long
const MAX_TERMS = 2 ** 30; // of all entries in a launch that does not know how many are open

// Whether alpha can be a factor of the terms. The device's accumulators have no room for a third factor.
const isInTerms = (alpha: number): boolean => Math.abs(alpha) === 1 || !Number.isFinite(alpha);

const STAGE = "fpe4";

/**
 * Compute the entries on the list exactly. If the device can, the host does not read the list first: it is mostly empty, and a read
 * takes longer than a launch that finds nothing to do.
 */
export function* settle(scope: Scope, product: Product): Work<void> {
  const { alpha, A, C } = product;
  if (isLooping(scope.device) && isInTerms(alpha) && C.rows * C.cols * A.cols <= MAX_TERMS) {
    finishEntries(scope.device, product, 0, C.rows * C.cols, STAGE);
    return;
  }
  const open = yield* listLength(scope.device, product.list);
  if (open > 0) yield* settleExactly(scope, product, open, STAGE);
}

function kernelOn(device: Device, name: string, single: boolean, stage: ExactStage): Kernel {
  const REAL = realOf(single ? 4 : 8);
  const looping = isLooping(device) ? { LOOPING: 1 } : {};
  const defines = { REAL, REAL_X: REAL, REAL_Y: REAL, STRIDE: COPIES, OP: "DOT", ...stageDefines(stage), ...looping };
  return device.kernel(name, [certificate, superaccumulator, expansion, entries], defines);
}

// Whether a work-group takes one entry after another, and then the groups per multiprocessor.
const isLooping = (device: Device): boolean => device.type === "gpu";
const GROUPS = 8;

function finishEntries(
  device: Device,
  { alpha, A, B, beta, C, single, list }: Product,
  from: number,
  count: number,
  stage: ExactStage,
): void {
  device.launch(
    kernelOn(device, "finishEntries", single, stage),
    [isLooping(device) ? Math.min(count, GROUPS * device.computeUnits) : count],
    [EXACT],
    [list, from, count, ...kernelArguments(A), ...kernelArguments(B), ...kernelArguments(C), C.cols, A.cols, double(alpha), double(beta)],
  );
}

/** Compute the first `open` entries of the list by one of the papers' stages. */
export function* settleExactly(scope: Scope, product: Product, open: number, stage: ExactStage): Work<void> {
  const { device } = scope;
  if (isInTerms(product.alpha))
    for (let from = 0; from < open; from += LAUNCH) finishEntries(device, product, from, Math.min(LAUNCH, open - from), stage);
  else yield* finishOnHost(scope, product, open, stage);
  yield device.finish();
}

// The device computes the sums, the host alpha s + beta y.
function* finishOnHost(scope: Scope, { alpha, A, B, beta, C, single, list }: Product, open: number, stage: ExactStage): Work<void> {
  const { device } = scope;
  const records = new Float64Array(Math.min(open, BATCH) * RECORD);
  const sums = scope.scratch(records.byteLength);
  for (let from = 0; from < open; from += BATCH) {
    const n = Math.min(BATCH, open - from);
    device.launch(
      kernelOn(device, "sumEntries", single, stage),
      [n],
      [EXACT],
      [list, from, ...kernelArguments(A), ...kernelArguments(B), ...kernelArguments(C), C.cols, A.cols, double(beta), sums],
    );
    yield device.read(sums, records);
    const values = scope.copy(Float64Array.from({ length: n }, (_, k) => roundEntry(records.subarray(k * RECORD), alpha, beta, single)));
    const put = kernelOn(device, "putListed", single, stage);
    device.launch(put, [Math.ceil(n / EXACT)], [EXACT], [list, from, n, values, ...kernelArguments(C), C.cols]);
  }
}

const sum = new Superaccumulator();

// RN(alpha s + beta y) from a record: the digits of s, its counters of terms that were not finite, and y.
function roundEntry(record: Float64Array, alpha: number, beta: number, single: boolean): number {
  const y = record[ACCUMULATOR] as number;
  sum.clear().addDigits(record.subarray(0, DIGITS), FIRST_DIGIT);
  sum.addSpecials(specialsOf(record));
  sum.scale(alpha);
  if (beta !== 0) sum.addProduct(beta, y);
  return sum.round("nearest", single ? "binary32" : "binary64");
}
