// y := alpha A x + beta y for a sparse matrix on the device: rows that the certificate proves, then the others exactly. Called by the engine,
// and by the iterative solvers, which prepare a matrix once.
import { type Integers, isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Real } from "../../../arrays/types.ts";
import { newIntegers, newVector } from "../../../arrays/vectors.ts";
import type { DeviceBuffer, Work } from "../../device.ts";
import { bufferOf, DeviceArray } from "../../deviceArray.ts";
import { Scope } from "../../deviceScope.ts";
import type { SparseOperator } from "../../kernels.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { BINDING_ALIGNMENT } from "../device/pieces.ts";
import * as host from "../host.ts";
import { spmvExact as exactSource, spmv as source } from "./sources.generated.ts";
import { exactSources, filterSources, groupOf, lanesOfRow } from "./sources.ts";

/** Rows whose entries fit a binding: the bindings of indices and values begin at entry `firstEntry`. */
interface RowRange {
  readonly firstRow: number;
  readonly rows: number;
  readonly firstEntry: number;
  readonly entries: number;
}

/** A matrix by rows on the device. */
export interface DeviceProduct {
  readonly rows: number;
  readonly width: number; // bytes of a number
  readonly parts: number; // lanes that share a row
  readonly pointers: DeviceBuffer;
  readonly indices: DeviceBuffer;
  readonly values: DeviceBuffer;
  readonly ranges: readonly RowRange[];
}

// Rows that one launch of the exact stage takes: a row of a thousand entries takes some 10 microseconds.
const MAX_EXACT_ROWS = 4096;
/** Bytes of entries in a binding before the first row, and after the last. */
export const ROW_SPACE = 2 * 8 * BINDING_ALIGNMENT;

export function* spmv(scope: Scope, alpha: number, A: SparseOperator, x: Operand, beta: number, y: Operand): Work<void> {
  const device = scope.device as WebgpuDevice;
  // Vectors, and the longest row that there may be, wherever it begins, must fit a binding.
  const largest = Math.max(x.byteLength + ROW_SPACE, y.byteLength, A.pointers.byteLength) + 4;
  // alpha is taken out of the sum, which an infinity or NaN cannot be.
  if (!Number.isFinite(alpha) || largest > device.maxBindingBytes) return yield* host.spmv(scope, alpha, A, x, beta, y);
  const [from, into] = [scope.vector(x), beta !== 0 ? scope.vector(y) : scope.result(y)];
  const product = yield* keptProduct(scope, A);
  yield* multiply(scope, product, alpha, from, beta, into);
  yield* scope.store(into, y);
}

/** Start y := alpha A x + beta y for a finite alpha, and settle what the certificate does not prove. */
export function* multiply(scope: Scope, product: DeviceProduct, alpha: number, x: DeviceBuffer, beta: number, y: DeviceBuffer): Work<void> {
  const { device } = scope;
  if (product.rows === 0) return;
  const undecided = scope.scratch(4 * (1 + product.rows));
  for (const range of product.ranges) {
    device.fill(undecided, new Int32Array(1), 0, 4);
    launch(device as WebgpuDevice, product, range, false, [range.firstRow, range.rows], alpha, x, beta, y, undecided);
    const found = new Int32Array(1);
    yield device.read(undecided, found);
    const count = found[0] as number;
    for (let first = 0; first < count; first += MAX_EXACT_ROWS) {
      const rows = Math.min(MAX_EXACT_ROWS, count - first);
      launch(device as WebgpuDevice, product, range, true, [first, rows], alpha, x, beta, y, undecided);
    }
  }
}

function launch(
  device: WebgpuDevice,
  { width, parts, pointers, indices, values }: DeviceProduct,
  { firstEntry, entries }: RowRange,
  exact: boolean,
  [first, count]: readonly [number, number],
  alpha: number,
  x: DeviceBuffer,
  beta: number,
  y: DeviceBuffer,
  undecided: DeviceBuffer,
): void {
  const GROUP = groupOf(device);
  const kernel = exact
    ? device.kernel("spmvExact", [...exactSources(width), exactSource], { GROUP })
    : device.kernel("spmv", [...filterSources(width), source], { GROUP, PARTS: parts });
  const groups = exact ? count : Math.ceil((count * parts) / GROUP);
  const matrix = [pointers, device.part(indices, 4 * firstEntry, 4 * entries), device.part(values, width * firstEntry, width * entries)];
  const scalars = [first, count, firstEntry, Number(alpha !== 0), Float64Array.of(alpha), Float64Array.of(beta)];
  device.launch(kernel, [groups], [GROUP], [...matrix, x, y, undecided, ...scalars]);
}

// The products of residents by rows and by columns.
const products = new WeakMap<DeviceArray, Map<boolean, DeviceProduct>>();

function* keptProduct(scope: Scope, A: SparseOperator): Work<DeviceProduct> {
  const { pointers, byRows } = A;
  if (!(pointers instanceof DeviceArray)) return yield* prepareProduct(scope, A);
  const found = products.get(pointers)?.get(byRows);
  if (found) return found;
  const own = new Scope(scope.device, scope.routine);
  try {
    const product = yield* prepareProduct(own, A);
    pointers.keep(own);
    products.set(pointers, (products.get(pointers) ?? new Map<boolean, DeviceProduct>()).set(byRows, product));
    return product;
  } catch (error) {
    own.free();
    throw error;
  }
}

/** A matrix by rows on the device, for products. A matrix by columns is transposed on the calling thread. Memory belongs to the scope. */
export function* prepareProduct(scope: Scope, A: SparseOperator): Work<DeviceProduct> {
  const { device } = scope;
  const { rows, cols } = A;
  const entries = A.indices.length;
  const width = A.values.BYTES_PER_ELEMENT;
  const fits = entries * width + 2 * BINDING_ALIGNMENT <= (device as WebgpuDevice).maxBindingBytes;
  let { pointers, indices, values }: Pick<SparseOperator, "pointers" | "indices" | "values"> = A;
  if (!A.byRows) {
    const [begins, index, numbers] = (yield* host.fetch(scope, A.pointers, A.indices, A.values)) as [Int32Array, Int32Array, Real];
    ({ pointers, indices, values } = transposed(rows, cols, begins, index, numbers));
  }
  const matrix = { pointers: onDevice(scope, pointers), indices: onDevice(scope, indices), values: scope.vector(values) };
  const begins = fits ? undefined : ((yield* host.fetch(scope, pointers))[0] as Int32Array);
  const maxEntries = Math.floor((device as WebgpuDevice).maxBindingBytes / width) - BINDING_ALIGNMENT;
  const ranges = begins ? cut(begins, maxEntries) : [{ firstRow: 0, rows, firstEntry: 0, entries }];
  return { ...matrix, rows, width, parts: lanesOfRow(entries, rows, cols, groupOf(device)), ranges };
}

const onDevice = (scope: Scope, array: Integers): DeviceBuffer => (isOnHost(array) ? scope.copy(array) : bufferOf(array));

// The rows of a matrix by columns.
function transposed(rows: number, cols: number, pointers: Int32Array, indices: Int32Array, values: Real) {
  const begins = newIntegers("exspmv", rows + 1);
  for (const i of indices) begins[i + 1] = (begins[i + 1] as number) + 1;
  for (let i = 0; i < rows; i++) begins[i + 1] = (begins[i + 1] as number) + (begins[i] as number);
  const next = begins.slice();
  const [columns, numbers] = [newIntegers("exspmv", indices.length), newVector("exspmv", values, values.length)];
  for (let j = 0; j < cols; j++)
    for (let p = pointers[j] as number; p < (pointers[j + 1] as number); p++) {
      const i = indices[p] as number;
      const at = next[i] as number;
      next[i] = at + 1;
      columns[at] = j;
      numbers[at] = values[p] as number;
    }
  return { pointers: begins, indices: columns, values: numbers };
}

// Ranges of rows with at most `maxEntries` entries, counted from where a binding may begin. Every row has fewer.
function cut(pointers: Int32Array, maxEntries: number): RowRange[] {
  const ranges: RowRange[] = [];
  const rows = pointers.length - 1;
  for (let first = 0; first < rows; ) {
    const firstEntry = Math.floor((pointers[first] as number) / BINDING_ALIGNMENT) * BINDING_ALIGNMENT;
    let last = first;
    while (last < rows && (pointers[last + 1] as number) - firstEntry <= maxEntries) last++;
    ranges.push({ firstRow: first, rows: last - first, firstEntry, entries: (pointers[last] as number) - firstEntry });
    first = last;
  }
  return ranges;
}
