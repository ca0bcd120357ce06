// exlu of a matrix on a device, left-looking by blocks. Called by lu.ts; see the LU paper.
import type { Device, DeviceBuffer, DeviceEvent, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { declarableLocalBytes } from "../device/local.ts";
import type { RealType } from "../device/numbers.ts";
import * as exact from "../exact/sources.ts";
import { type Factorization, type Outcome, oneByOne, outcomeOf, prepare } from "./luCommon.ts";
import { CANDIDATE, KT, PIVOTS, STRIP, STUCK, UPPER_LANES } from "./luLayout.ts";
import { type LuProducts, luProducts, suitsResidues } from "./luResidues.ts";
import * as sources from "./sources.ts";

/** How the blocked factorization divides its work. */
export interface Blocking {
  /** Columns in a block, a multiple of 8 and of the tiles of the products. */
  readonly width: number;
  /** Work-items in a work-group for columns, one row each: a power of two, at least 8; default: enough that all groups run at once. */
  readonly group?: number | undefined;
  /** Whether all columns of a block are one launch, whose groups wait for each other; default: where that is known to work. */
  readonly resident?: boolean | undefined;
  /** Looks after which a work-group abandons its wait for others. */
  readonly spins: number;
  /** Work-groups that a product is divided among, if it is long enough; default: one per multiprocessor. */
  readonly groups?: number | undefined;
  /** The fewest terms that a part of a product may have. */
  readonly shortest: number;
  /** Whether products are computed by residues; default: where the device has tensor cores and the matrix is large. */
  readonly residues?: boolean | undefined;
  /** Whether rows of U are computed beside the columns of the next block; default: on a GPU, in large matrices. */
  readonly ahead?: boolean | undefined;
  /** Called after each phase, for measurements. */
  readonly after?: ((phase: "panel" | "columns" | "swap" | "right" | "rows") => void) | undefined;
}

// H200, n = 4096, without residues: 56.8 ms with one part of a product per multiprocessor, 59.7 with two or four; 58.6 with blocks of 32
// columns; 66.6 with one launch per column. At n = 1024 and 2048 none of these differ by more than a tenth.
const DEFAULT: Blocking = { width: 64, shortest: 256, spins: 1 << 20 };

// See luColumn.cl.
const UNWRITTEN = BigUint64Array.of(0xfffffffffffffff5n);

const LONG = 64; // the longer side of a tile

/** A product in tiles, with the sums over k in parts. */
interface Parts {
  readonly tiles: number;
  readonly parts: number;
  readonly length: number;
}

/** Left-looking by blocks. */
export const luBlockedBy = (blocking: Partial<Blocking> = {}): Factorization =>
  oneByOne((scope, real, rows, cols) => {
    const how = completeBlocking(scope.device, { ...DEFAULT, ...blocking }, rows);
    const space = workspace(scope, how, real, rows, cols);
    return (data, pivots) => {
      const { work, out, sums } = space;
      const byResidues = how.residues ?? suitsResidues(scope, rows, cols);
      const products = byResidues ? luProducts(scope, real, data, work, out, sums, rows, cols, how.width) : undefined;
      return factor(scope.device, data, { ...space, products }, how, rows, cols, pivots);
    };
  });

type Complete = Blocking & { readonly group: number; readonly resident: boolean; readonly ahead: boolean };

// With at most one group per multiprocessor all groups run, since nothing else is on the device. On a CPU groups may run one after
// another.
function completeBlocking(device: Device, how: Blocking, rows: number): Complete {
  const isRunning = (size: number): boolean => device.type === "gpu" && Math.ceil(rows / size) <= device.computeUnits;
  // H200, n = 4096 and 8192: 39.3 and 104.8 ms with groups of 128, 39.6 and 108.2 with 64; n = 1024: 8.8 and 8.6.
  const group = how.group ?? (rows < 4096 ? [64, 128, 256] : [128, 256]).find(isRunning) ?? 64;
  return { ...how, group, resident: how.resident ?? isRunning(group), ahead: how.ahead ?? (device.type === "gpu" && rows > 8192) };
}

interface Workspace {
  readonly kernels: ReturnType<typeof kernelsOf>;
  readonly products?: LuProducts | undefined;
  readonly sums: readonly DeviceBuffer[]; // two if rows of U are computed beside columns
  readonly work: DeviceBuffer;
  readonly out: DeviceBuffer;
}

function workspace(scope: Scope, how: Complete, real: RealType, rows: number, cols: number): Workspace {
  const { device } = scope;
  const { width } = how;
  let largest = 0;
  for (let first = 0; first < Math.min(rows, cols); first += width) {
    for (const extent of [rows - first, cols - first, Math.min(width, cols)])
      largest = Math.max(largest, productOf(device, how, extent, first).parts * extent);
  }
  const groups = Math.ceil(rows / how.group);
  return {
    kernels: kernelsOf(device, how, real),
    sums: (how.ahead ? [0, 1] : [0]).map(() => scope.scratch(24 * width * largest)),
    work: scope.scratch(8 * (cols + rows + unwrittenOf(width, rows, groups))),
    out: scope.scratch(4 * (PIVOTS + Math.min(rows, cols) + rows + 4 * width)),
  };
}

// The doubles of `work` that are UNWRITTEN when a block begins: L, U and the candidates, at its end.
const unwrittenOf = (width: number, rows: number, groups: number): number => width * (rows + width + CANDIDATE * groups);

function productOf(device: Device, { groups = device.computeUnits, shortest }: Blocking, extent: number, terms: number): Parts {
  const tiles = Math.ceil(extent / LONG);
  if (terms === 0) return { tiles, parts: 0, length: 0 };
  const wanted = Math.max(1, Math.min(Math.floor(groups / tiles), Math.floor(terms / shortest)));
  const length = KT * Math.ceil(terms / wanted / KT);
  return { tiles, parts: Math.ceil(terms / length), length };
}

/** A product by residues is not divided. */
const whole = (terms: number): Parts => ({ tiles: 1, parts: terms > 0 ? 1 : 0, length: terms });

function kernelsOf(device: Device, { width, group, resident }: Complete, real: RealType) {
  const common = [exact.certificate, exact.superaccumulator, sources.lu, sources.luBlocked];
  // L in the block, and `block` and the rest of luColumn, which take less than 48 KB.
  const keepsL = declarableLocalBytes(device) >= 8 * width * group + 49152 ? { LOCAL_L: 1 } : {};
  const kernel = (name: string, source: string, more: Record<string, number>) =>
    device.kernel(name, [...common, source], { REAL: real, W: width, GROUP: group, ...more });
  return {
    panel: kernel("luProduct", sources.luProduct, { PANEL: 1, TM: LONG, TN: width }),
    right: kernel("luProduct", sources.luProduct, { PANEL: 0, TM: width, TN: LONG }),
    column: kernel("luColumn", sources.luColumn, {}),
    columns: resident ? kernel("luColumn", sources.luColumn, { RESIDENT: 1, ...keepsL }) : undefined,
    swap: kernel("luSwap", sources.luRow, { GROUP: 8 * STRIP }),
    row: kernel("luRow", sources.luRow, { GROUP: 8 * STRIP }),
  };
}

function* factor(
  device: Device,
  data: DeviceBuffer,
  space: Workspace,
  how: Complete,
  rows: number,
  cols: number,
  pivots: Int32Array,
): Work<Outcome> {
  const { work, out } = space;
  prepare(device, out);
  device.fill(work, Float64Array.of(0)); // the sizes of columns
  blocks(device, data, space, how, rows, cols, 0);
  const outcome = yield* outcomeOf(device, out, rows, cols, pivots);
  if (outcome.stuck === 0) return outcome;
  // Groups did not run at the same time: from that block on, one launch per column.
  device.fill(out, Int32Array.of(0), 4 * STUCK, 4);
  blocks(device, data, space, { ...how, resident: false }, rows, cols, outcome.stuck - 1);
  return yield* outcomeOf(device, out, rows, cols, pivots);
}

function blocks(
  device: Device,
  data: DeviceBuffer,
  { kernels, products, sums, work, out }: Workspace,
  how: Complete,
  rows: number,
  cols: number,
  from: number,
): void {
  const { width, group, resident, ahead, spins, after } = how;
  const steps = Math.min(rows, cols);
  const items = (LONG * width) / 16;
  const shape = new Int32Array(12);
  const bytes = new BigInt64Array(shape.buffer);

  // The columns of the block, below and above the diagonal, up to the rows that must move.
  const columnsOf = (first: number, columns: number, meanwhile: () => void): void => {
    const args = [data, sums[0] as DeviceBuffer, work, out, bytes];
    const groups = Math.ceil((rows - first) / group);
    const product = products ? whole(first) : productOf(device, how, rows - first, first);
    const set = (): void => shape.set([rows, cols, first, columns, 0, columns, spins, groups, product.parts, product.length, 0, 0]);
    set();
    if (products && first > 0) products.panel(bytes, first);
    else if (product.parts > 0) device.launch(kernels.panel, [product.tiles, 1, product.parts], [items, 1, 1], args);
    after?.("panel");
    meanwhile();
    set();
    if (resident) device.fill(work, UNWRITTEN, 8 * (cols + rows), 8 * unwrittenOf(width, rows, groups));
    if (resident && kernels.columns) device.launch(kernels.columns, [groups], [group + UPPER_LANES], args);
    for (let step = resident ? columns : 0; step <= columns; step++) {
      shape[4] = step;
      device.launch(kernels.column, [groups], [group + UPPER_LANES], args);
    }
    after?.("columns");
  };

  // The rows of the block in columns `right` to end - 1.
  const rowsOf = (first: number, columns: number, right: number, end: number, space: number): void => {
    const count = end - right;
    if (count === 0) return;
    const args = [data, sums[space] as DeviceBuffer, work, out, bytes];
    const product = products ? whole(first) : productOf(device, how, count, first);
    shape.set([rows, cols, first, columns, 0, columns, spins, 0, product.parts, product.length, right, end]);
    if (products && first > 0) products.right(bytes, first, right, count, space);
    else if (product.parts > 0) device.launch(kernels.right, [1, product.tiles, product.parts], [items, 1, 1], args);
    after?.("right");
    device.launch(kernels.row, [Math.ceil(count / STRIP)], [8 * STRIP], args);
    products?.afterRows(first, columns, right, count);
    after?.("rows");
  };

  // With look-ahead, the columns of the next block need only their own part of the rows: the rest is computed in the second queue.
  let rest: (() => void) | undefined;
  for (let first = from; first < steps; first += width) {
    const columns = Math.min(width, steps - first);
    const right = first + columns;
    let computed: DeviceEvent | undefined;
    columnsOf(first, columns, () => {
      if (!rest) return;
      const ready = device.event();
      computed = device.onSecondQueue(() => {
        device.waitFor(ready);
        rest?.();
        return device.event();
      });
    });
    if (computed) device.waitFor(computed);
    shape.set([0, 0], 10);
    device.launch(kernels.swap, [Math.ceil(cols / STRIP)], [8 * STRIP], [data, sums[0] as DeviceBuffer, work, out, bytes]);
    products?.afterColumns(bytes, first, columns);
    after?.("swap");
    const next = ahead && !after && right < steps ? Math.min(right + width, cols) : cols;
    rowsOf(first, columns, right, next, 0);
    rest = next < cols ? () => rowsOf(first, columns, next, cols, 1) : undefined;
  }
}
