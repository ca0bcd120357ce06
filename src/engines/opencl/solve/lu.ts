// P (R A C) = L U in ordinary arithmetic, right-looking by blocks, for approximate.ts and hybrid/factor.ts. Follows the mixed-precision
// paper.
import type { Device, DeviceBuffer, DeviceEvent, Kernel } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { RealType } from "../device/numbers.ts";
import { hasTensorCores } from "../device/tensorCores.ts";
import * as sources from "./sources.ts";
import { MAX_WIDTH, MOVES, PIVOTS } from "./state.ts";

/** Matrices are padded to multiples of this. */
export const BLOCK = 128;

/** How the factorization divides its work. */
export interface ApproximateBlocking {
  /** Columns between updates of everything to the right: a multiple of `panel` and of 128. */
  readonly width: number;
  /** Columns of a panel: 32, 64 or 128. */
  readonly panel: number;
  /** Work-items in a work-group that factors a panel, one row each. */
  readonly group: number;
  /** Whether work-groups that wait for each other factor a panel; default: where that is known to work. */
  readonly resident?: boolean | undefined;
  /** Looks after which a work-group abandons its wait for others. */
  readonly spins: number;
  /** Whether the next block is factored while the rest is updated; default: on a GPU. */
  readonly ahead?: boolean | undefined;
  /** The depth of the pieces of a product in local memory: 8 or 16. */
  readonly deep: number;
  /** Whether tensor cores compute the products of binary32 factors, see halves.cl; default: where the device has them. */
  readonly tensorCores?: boolean | undefined;
  /** Called after the commands of each phase, for measurements. */
  readonly after?: ((phase: ApproximatePhase) => void) | undefined;
}
export type ApproximatePhase = "convert" | "panel" | "rows" | "inner" | "update" | "inverses" | "substitute";

/**
 * A matrix and its right-hand sides on a device, by rows: entry (i, j) is element i * ld + j of `data`. Rows and columns from n to `size`
 * are those of the identity. The right-hand sides are the columns from `size` on, padded with zeros to a multiple of 128. `state`: see
 * state.ts. `diagonal` is that of U.
 */
export interface ApproximateMatrix {
  readonly real: RealType;
  readonly n: number;
  readonly size: number;
  readonly ld: number;
  readonly data: DeviceBuffer;
  readonly state: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
}

/**
 * The roundings of binary64 ApproximateFactors and of ApproximateInverses. At most `width` products of a block are summed and then subtracted together;
 * in its own block, an entry is updated at most BLOCK times by a panel and BLOCK times by a triangle of L.
 */
export const roundingsOf = (n: number, width: number): number => width + 2 * BLOCK + Math.ceil(n / BLOCK);

export const bytesOf = (real: RealType): number => (real === "double" ? 8 : 4);
export const padded = (n: number): number => BLOCK * Math.ceil(n / BLOCK);

export const definesOf = (real: RealType) => ({ REAL: real, REAL2: `${real}2`, REAL4: `${real}4`, WORDS: bytesOf(real) / 4 });

/** Whether products are computed as in halves.cl, in which large entries overflow. */
export const usesHalves = (device: Device, real: RealType, { tensorCores }: ApproximateBlocking): boolean =>
  real === "float" && (tensorCores ?? hasTensorCores(device));

/** The commands of one factorization. Nothing here waits for the device. */
export class ApproximateLu {
  private readonly resident: boolean;
  private readonly panels: Kernel;
  private readonly strips = new Map<number, Kernel>(); // by the order of their triangle and the lists of moves
  private readonly products = new Map<number, Kernel>(); // by the width of their tiles
  private readonly slots: DeviceBuffer;

  constructor(
    private readonly scope: Scope,
    private readonly matrix: ApproximateMatrix,
    readonly how: ApproximateBlocking,
  ) {
    const { device } = scope;
    const { real, size } = matrix;
    const { panel, group } = how;
    const groups = Math.ceil(size / group);
    // With at most one group per multiprocessor all groups run, since nothing else is on the device. Each takes a row from every other.
    const maxGroups = 2 ** Math.ceil(Math.log2(Math.max(1, groups)));
    const fits = maxGroups * panel * bytesOf(real) <= device.localBytes - SPARE_LOCAL;
    this.resident = fits && (how.resident ?? (device.type === "gpu" && groups <= device.computeUnits));
    this.panels = this.resident
      ? this.kernel("factorPanel", sources.panel, { P: panel, GROUP: group, MAX_GROUPS: maxGroups })
      : this.kernel("factorPanelAlone", sources.alone, { P: panel, GROUP: ALONE });
    this.slots = scope.scratch(this.resident ? 16 * groups * panel * (bytesOf(real) / 4) : 8);
    device.fill(this.slots, Int32Array.of(0));
  }

  private kernel(name: string, source: string, defines: Record<string, string | number>): Kernel {
    return this.scope.device.kernel(name, [sources.common, source], { ...definesOf(this.matrix.real), ...defines });
  }

  // With 128 registers instead of 141, two groups fit on a multiprocessor: 42 Tflop/s on an H200 at depth 128, instead of 30.
  private product(width: number): Kernel {
    if (usesHalves(this.scope.device, this.matrix.real, this.how)) return this.kernel("subtractHalves", sources.halves, { TN: width });
    const registers = this.matrix.real === "float" ? { REGISTERS: 128 } : {};
    return this.kernel("subtractProduct", sources.gemm, { TN: width, KT: this.how.deep, ...registers });
  }

  /** Factor the panel from column `first`: L and U, the pivots, and their row moves. Rows in other columns are not yet swapped. */
  panel(first: number, moves = MOVES): void {
    const { device } = this.scope;
    const { data, ld, size, state, diagonal } = this.matrix;
    const { group, spins } = this.how;
    const args = [data, ld, size, first, state, moves, PIVOTS, diagonal];
    if (this.resident) device.launch(this.panels, [Math.ceil((size - first) / group)], [group], [...args, this.slots, spins]);
    else device.launch(this.panels, [1], [ALONE], args);
  }

  /**
   * The row swaps of the panel at `first`, or of `lists` panels up to it, then U in columns `column` to columnEnd - 1 of the `order` rows
   * from `top`, by the triangle of L in these rows and columns. Applies to columns `from` to `to` - 1, except those of the panels and the
   * triangle, which must have been swapped before. `state` has the row moves; it need not be that of the matrix.
   */
  rows(
    first: number,
    top: number,
    order: number,
    column: number,
    columnEnd: number,
    from = 0,
    to = this.matrix.ld,
    state = this.matrix.state,
    moves = MOVES,
    lists = 1,
  ): void {
    const { data, ld } = this.matrix;
    const { panel } = this.how;
    const gap = Math.min(first, top);
    const gaps = first + panel - gap;
    const strip = (c: number): number => (c > gap ? c - gaps : c) / STRIP;
    const strips = strip(to) - strip(from);
    const defines = { P: panel, KB: order, LISTS: lists };
    const kernel = cached(this.strips, order * MAX_WIDTH + lists, () => this.kernel("swapAndSolveRows", sources.rows, defines));
    const args = [data, ld, state, moves, top, column, columnEnd, strip(from), gap / STRIP, gaps / STRIP];
    if (strips > 0) this.scope.device.launch(kernel, [strips], [ITEMS], args);
  }

  /** Update rows `row` to rowEnd - 1 of columns `column` to columnEnd - 1: subtract the products with columns k0 to k0 + depth - 1 of L. */
  update(k0: number, depth: number, row: number, rowEnd: number, column: number, columnEnd: number): void {
    if (row >= rowEnd || column >= columnEnd) return;
    const { data, ld } = this.matrix;
    const width = [128, 64, 32].find((w) => (columnEnd - column) % w === 0) as number;
    const kernel = cached(this.products, width, () => this.product(width));
    const groups = [(columnEnd - column) / width, Math.ceil((rowEnd - row) / BLOCK)];
    this.scope.device.launch(kernel, groups, [ITEMS, 1], [data, ld, rowEnd, row, column, k0, depth]);
  }

  // Where the row moves of a block begin. Two blocks are in progress at the same time.
  private movesOf(first: number): number {
    return MOVES + ((first / this.how.width) % 2) * 4 * MAX_WIDTH;
  }

  /** Factor columns first to end - 1, which are up to date. */
  private columns(first: number, end: number): void {
    const { size, state } = this.matrix;
    const { panel, after } = this.how;
    for (let f = first; f < end; f += panel) {
      const [next, moves] = [f + panel, this.movesOf(first) + 4 * (f - first)];
      this.panel(f, moves);
      after?.("panel");
      this.rows(f, f, panel, next, end, first, end, state, moves);
      this.update(f, panel, next, size, next, end);
      after?.("inner");
    }
  }

  /** Apply the block of columns first to end - 1 to columns `from` to `to` - 1: on its left the row swaps only, else U and the update too. */
  private others(first: number, end: number, from: number, to: number): void {
    const { size, state } = this.matrix;
    const { panel, after } = this.how;
    if (from >= to) return;
    let lists = (end - first) / panel;
    for (let top = first; top < (from < end ? first + 1 : end); top += BLOCK) {
      const order = Math.min(BLOCK, end - top); // larger triangles take seconds to compile
      this.rows(end - panel, top, order, end, to, from, to, state, this.movesOf(first), lists);
      this.update(top, order, top + order, from < end ? 0 : end, from, to);
      lists = 0; // the swaps are done
    }
    after?.("rows");
    if (from >= end) this.update(first, end - first, end, size, from, to);
    after?.("update");
  }

  /** The whole factorization. With look-ahead the next block is factored in the second queue, beside the update of the rest. */
  all(): void {
    const { device } = this.scope;
    const { size, ld } = this.matrix;
    const { width, ahead = device.type === "gpu", after } = this.how;
    const endOf = (first: number): number => Math.min(first + width, size);
    if (size > 0) this.columns(0, endOf(0));
    for (let first = 0; first < size; first += width) {
      const end = endOf(first);
      const next = endOf(end);
      const isBeside = ahead && !after && end < size;
      this.others(first, end, end, isBeside ? next : ld);
      const ready = isBeside ? device.event() : undefined;
      const factored = ready && device.onSecondQueue(() => this.factorNext(ready, end, next));
      if (isBeside) this.others(first, end, next, ld);
      this.others(first, end, 0, first);
      if (factored) device.waitFor(factored);
      else if (end < size) this.columns(end, next);
    }
  }

  private factorNext(ready: DeviceEvent, first: number, end: number): DeviceEvent {
    const { device } = this.scope;
    device.waitFor(ready);
    this.columns(first, end);
    return device.event();
  }
}

function cached(kernels: Map<number, Kernel>, key: number, make: () => Kernel): Kernel {
  const kernel = kernels.get(key) ?? make();
  kernels.set(key, kernel);
  return kernel;
}

const SPARE_LOCAL = 8192; // what a group needs besides rows of others
const ALONE = 256; // work-items of the group that factors a panel alone
export const STRIP = 32;
export const ITEMS = 256;

/** Reset the state before a factorization. */
export function prepare(device: Device, { state }: ApproximateMatrix): void {
  device.fill(state, Int32Array.of(0), 0, 4 * PIVOTS);
}

/** The padded size of a matrix with k right-hand sides, the distance between its rows, and its bytes. */
export function spaceOf(n: number, k: number, real: RealType): { readonly size: number; readonly ld: number; readonly bytes: number } {
  const size = padded(n);
  const ld = size + padded(k);
  return { size, ld, bytes: size * ld * bytesOf(real) };
}
