// y := alpha A x + beta y for a sparse matrix on a device: entries that the certificate proves, then the others exactly, without a read
// by the host in between. Called by the engine, and by the iterative solvers, which prepare a matrix once.
import { type Integers, isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Device, DeviceBuffer, Kernel, Work } from "../../device.ts";
import { bufferOf, DeviceArray } from "../../deviceArray.ts";
import { Scope } from "../../deviceScope.ts";
import type { SparseOperator } from "../../kernels.ts";
import { double } from "../device/numbers.ts";
import { prefixSums } from "./scan.ts";
import { realDefines, SetupKernels } from "./setupKernels.ts";
import { sort } from "./sort.ts";
import { finishSources, productSources } from "./sources.ts";
import { countKeys } from "./triangle.ts";
import { PRODUCT_WORDS } from "./words.ts";

/** How work is divided: the steps of a block, the entries of the longest row that is never cut, and the launches. */
export interface SpmvTuning {
  readonly step: number;
  readonly uncut: number; // less than step
  readonly group: number; // work-items in a group
  readonly deep: number; // entries of A that a work-item loads at a time
  readonly ahead: number; // entries of x, likewise
  readonly finishing: number; // work-items in a group that finishes entries
  readonly groups: number; // of these
}

/** A matrix by rows on the device, divided into blocks, and memory for one product at a time. */
export interface DeviceProduct {
  readonly rows: number;
  readonly width: number; // bytes of a number
  readonly tuning: SpmvTuning;
  readonly blocks: number;
  readonly pointers: DeviceBuffer;
  readonly indices: DeviceBuffer;
  readonly values: DeviceBuffer;
  /** Where blocks begin. */
  readonly bounds: DeviceBuffer;
  /** Sums of parts of rows: two per block, for the row that ends and the one that begins there. */
  readonly partials: DeviceBuffer;
  /** The rows that were cut. */
  readonly longs: DeviceBuffer;
  /** Counters, and the entries of y that are not proved. */
  readonly words: DeviceBuffer;
  readonly list: DeviceBuffer;
}

export function* spmv(
  scope: Scope,
  alpha: number,
  A: SparseOperator,
  x: Operand,
  beta: number,
  y: Operand,
  given: Partial<SpmvTuning> = {},
): Work<void> {
  const into = beta !== 0 ? scope.vector(y) : scope.result(y);
  launchSpmv(scope.device, keptProduct(scope, A, given), alpha, scope.vector(x), beta, into);
  yield* scope.store(into, y);
}

// The products of residents by rows and by columns. On an H200 a call that prepares its matrix again takes 0.3 ms more, most of it for new
// memory.
const products = new WeakMap<DeviceArray, Map<string, DeviceProduct>>();

function keptProduct(scope: Scope, A: SparseOperator, given: Partial<SpmvTuning>): DeviceProduct {
  const { pointers } = A;
  if (!(pointers instanceof DeviceArray)) return prepareSpmv(scope, A, given);
  const key = JSON.stringify([A.byRows, given]);
  const known = products.get(pointers) ?? new Map<string, DeviceProduct>();
  const found = known.get(key);
  if (found) return found;
  const own = new Scope(scope.device, scope.routine);
  try {
    const product = prepareSpmv(own, A, given);
    pointers.keep(own);
    products.set(pointers, known.set(key, product));
    return product;
  } catch (error) {
    own.free();
    throw error;
  }
}

/**
 * The tuning for a device and a mean number of entries in a row. On a GPU the rows of a block should be a little fewer than its lanes, or
 * half of them. On an H200, ms for 7 and 27 points, 128^3, and a power law of 8 entries per row: 0.078, 0.280, 0.174 in blocks of 1000 or
 * 1100 steps; 0.105, 0.253, 0.24 in blocks of 1400 to 1600. cuSPARSE takes 0.086, 0.252, 0.135.
 */
export function spmvTuning({ type, computeUnits, maxGroupSize }: Device, mean: number): SpmvTuning {
  const launches = { uncut: 64, groups: 8 * computeUnits };
  if (type !== "gpu") return { ...launches, step: 1000, group: 16, deep: 2, ahead: 2, finishing: 1 };
  return {
    ...launches,
    step: mean < 14 ? 1000 : 1400,
    group: Math.min(128, maxGroupSize),
    deep: 8,
    ahead: 3,
    finishing: 32,
  };
}

/** Divide a matrix into blocks for products; a matrix by columns is transposed first. Memory belongs to the scope, and nothing waits. */
export function prepareSpmv(scope: Scope, A: SparseOperator, given: Partial<SpmvTuning> = {}): DeviceProduct {
  const { device } = scope;
  const { rows } = A;
  const entries = A.indices.length;
  const tuning = { ...spmvTuning(device, entries / Math.max(1, rows)), ...given };
  const blocks = Math.max(1, Math.ceil((rows + entries) / tuning.step));
  const matrix = A.byRows
    ? { pointers: onDevice(scope, A.pointers), indices: onDevice(scope, A.indices), values: scope.vector(A.values) }
    : byRows(scope, A);
  const product: DeviceProduct = {
    ...matrix,
    rows,
    width: A.values.BYTES_PER_ELEMENT,
    tuning,
    blocks,
    bounds: scope.scratch(16 * (blocks + 1)),
    partials: scope.scratch(48 * blocks),
    longs: scope.scratch(12 * blocks),
    words: scope.scratch(4 * PRODUCT_WORDS),
    list: scope.scratch(4 * rows),
  };
  const { pointers, bounds, longs, words } = product;
  device.fill(words, new Int32Array(1));
  const { group } = tuning;
  const args = [rows, blocks, pointers, bounds, longs, words];
  device.launch(blockKernel(device, "spmvDivide", product), [Math.ceil((blocks + 1) / group)], [group], args);
  return product;
}

/** Start y := alpha A x + beta y. With a `gate`, nothing happens if its first number is not 0 by then. */
export function launchSpmv(
  device: Device,
  product: DeviceProduct,
  alpha: number,
  x: DeviceBuffer,
  beta: number,
  y: DeviceBuffer,
  gate?: DeviceBuffer,
): void {
  const { rows, tuning, blocks, pointers, indices, values, bounds, partials, longs, words, list } = product;
  if (rows === 0) return;
  const reads = Number(alpha !== 0);
  const scalars = [double(reads ? alpha : 1), double(beta)]; // no terms are read: the sum is 0
  const matrix = [pointers, indices, values];
  const gates = gate ? [gate] : [];
  const gated: Defines = gate ? { GATED: 1 } : {};
  device.launch(
    blockKernel(device, "spmvBlocks", product, gated),
    [blocks],
    [tuning.group],
    [...matrix, bounds, x, ...scalars, y, reads, partials, words, list, ...gates],
  );
  device.launch(
    finishKernel(device, product, gated),
    [tuning.groups],
    [tuning.finishing],
    [...matrix, x, ...scalars, y, reads, partials, longs, words, list, ...gates],
  );
}

type Defines = Readonly<Record<string, number>>;

function blockKernel(device: Device, name: string, { width, tuning }: DeviceProduct, more: Defines = {}): Kernel {
  const { step, uncut, group, deep, ahead } = tuning;
  const defines = { STEP: step, UNCUT: uncut, GROUP: group, DEEP: deep, AHEAD: ahead };
  return device.kernel(name, productSources, { ...realDefines(width), ...defines, ...more });
}

const COPIES = 4; // accumulators that a group shares, for fewer conflicts at a digit; the second is also used to multiply by alpha

function finishKernel(device: Device, { width, tuning: { finishing } }: DeviceProduct, more: Defines): Kernel {
  const stride = finishing === 1 ? 2 : COPIES;
  return device.kernel("spmvFinish", finishSources, { ...realDefines(width), FINISHING: finishing, STRIDE: stride, ...more });
}

const onDevice = (scope: Scope, array: Integers): DeviceBuffer => (isOnHost(array) ? scope.copy(array) : bufferOf(array));

// The rows of a matrix by columns: its entries sorted by row, stably, with the columns in which they were found.
function byRows(scope: Scope, A: SparseOperator): Pick<DeviceProduct, "pointers" | "indices" | "values"> {
  const { device } = scope;
  const { rows, cols } = A;
  const entries = A.indices.length;
  const setup = new SetupKernels(scope, { A: { ...A, format: "csc" }, n: rows, upper: false, byRows: false, unit: false });
  const { begins, index } = setup.stored;
  const width = A.values.BYTES_PER_ELEMENT;
  const pointers = countKeys(setup, index, entries, rows + 1);
  prefixSums(setup, pointers, rows + 1);
  const [, source] = sort(setup, entries, rows, [index]) as [DeviceBuffer, DeviceBuffer];
  const [indices, values] = [scope.scratch(4 * entries), scope.scratch(width * entries)];
  if (entries > 0)
    device.launch(
      device.kernel("spmvTranspose", productSources, realDefines(width)),
      [Math.ceil(entries / setup.group)],
      [setup.group],
      [entries, cols, begins, source, scope.vector(A.values), indices, values],
    );
  return { pointers, indices, values };
}
