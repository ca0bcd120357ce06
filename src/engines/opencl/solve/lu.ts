import type { Device, DeviceBuffer, DeviceEvent, Kernel } from "../../device.ts";
import type { RealType } from "../device/numbers.ts";
import type { Scope } from "../device/scope.ts";
import * as sources from "./sources.generated.ts";

// P (R A C) = L U in ordinary arithmetic, right-looking by blocks. The pieces are commands only: nobody waits for the device.

/** Rows, columns and diagonal blocks of padded matrices come in such blocks. */
export const BLOCK = 128;

/** How the factorization divides its work. */
export interface ApproximateBlocking {
  /** Columns between updates of everything to the right: a multiple of `panel` and of 128. */
  readonly width: number;
  /** Columns of a panel: 32, 64 or 128. */
  readonly panel: number;
  /** Work-items (rows) in a group that does a panel. */
  readonly group: number;
  /** Whether a panel is done by groups that wait for each other; undefined where that is known to work. */
  readonly resident?: boolean | undefined;
  /** How often a group looks whether the others have come, at most. */
  readonly spins: number;
  /** Whether the next block is factored while the rest is updated; undefined: on a GPU. */
  readonly ahead?: boolean | undefined;
  /** How deep the pieces are that products go through local memory in: 8 or 16. */
  readonly deep: number;
  /** Called after the commands of a phase: for measurements. */
  readonly after?: ((phase: PlainPhase) => void) | undefined;
}
export type PlainPhase = "convert" | "panel" | "rows" | "inner" | "update" | "inverses" | "substitute";

/**
 * A matrix and its right-hand sides on a device, row by row: entry (i, j) is element i * ld + j of `data`. Rows and columns from n to
 * `size` are those of the identity; right-hand sides are the columns from `size` on, and zeros fill up the last 128 of them.
 * `state`: see the kernels; `diagonal` is that of U.
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

/** Of the ints of `state`: 1 + the column that ended the work, whether groups waited in vain, moves, the pivots. */
export const ENDED = 0;
export const STUCK = 1;
export const MOVES = 8;
const WIDEST = 256; // block
export const PIVOTS = MOVES + 8 * WIDEST;

/**
 * What ApproximateFactors and ApproximateInverses say of roundings. Products of a block are summed up, `width` of them at the most, and subtracted at
 * once; in its own block an entry is updated at most BLOCK times by a panel and BLOCK times by a triangle of L.
 */
export const roundingsOf = (n: number, width: number): number => width + 2 * BLOCK + Math.ceil(n / BLOCK);

export const bytesOf = (real: RealType): number => (real === "double" ? 8 : 4);
export const padded = (n: number): number => BLOCK * Math.ceil(n / BLOCK);

export const definesOf = (real: RealType) => ({ REAL: real, REAL2: `${real}2`, REAL4: `${real}4`, WORDS: bytesOf(real) / 4 });

/** The commands of one factorization. */
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
    // A group on every multiprocessor, at most, is a group that runs: nothing else is on the device. It takes a row from each.
    const most = 2 ** Math.ceil(Math.log2(Math.max(1, groups)));
    const fits = most * panel * bytesOf(real) <= device.localBytes - SPARE_LOCAL;
    this.resident = fits && (how.resident ?? (device.type === "gpu" && groups <= device.computeUnits));
    this.panels = this.resident
      ? this.kernel("factorPanel", sources.panel, { P: panel, GROUP: group, MAX_GROUPS: most })
      : this.kernel("factorPanelAlone", sources.alone, { P: panel, GROUP: ALONE });
    this.slots = scope.scratch(this.resident ? 16 * groups * panel * (bytesOf(real) / 4) : 8);
    device.fill(this.slots, Int32Array.of(0));
  }

  private kernel(name: string, source: string, defines: Record<string, string | number>): Kernel {
    return this.scope.device.kernel(name, [sources.common, source], { ...definesOf(this.matrix.real), ...defines });
  }

  // Of 141 registers 128 leave room for two groups on a multiprocessor: 42 Tflop/s on an H200, 128 deep, rather than 30.
  private product(width: number): Kernel {
    const registers = this.matrix.real === "float" ? { REGISTERS: 128 } : {};
    return this.kernel("subtractProduct", sources.gemm, { TN: width, KT: this.how.deep, ...registers });
  }

  /** L and U in the panel's columns from `first` on, with their pivots, and the moves they make; other columns are not yet swapped. */
  panel(first: number, moves = MOVES): void {
    const { device } = this.scope;
    const { data, ld, size, state, diagonal } = this.matrix;
    const { group, spins } = this.how;
    const args = [data, ld, size, first, state, moves, PIVOTS, diagonal];
    if (this.resident) device.launch(this.panels, [Math.ceil((size - first) / group)], [group], [...args, this.slots, spins]);
    else device.launch(this.panels, [1], [ALONE], args);
  }

  /**
   * The swaps of the panel at `first`, or of several up to that one, then U in columns `column` to columnEnd - 1 of the `order` rows from
   * `top` on, by the triangle of L in these rows and columns. That is in columns `from` to `to` - 1, but for those of the panels and
   * of the triangle, which must have been swapped before. `state` may be elsewhere.
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
    const kernel = made(this.strips, order * WIDEST + lists, () => this.kernel("swapAndSolveRows", sources.rows, defines));
    const args = [data, ld, state, moves, top, column, columnEnd, strip(from), gap / STRIP, gaps / STRIP];
    if (strips > 0) this.scope.device.launch(kernel, [strips], [ITEMS], args);
  }

  /** Rows `row` to rowEnd - 1 of columns `column` to columnEnd - 1, less their products with the columns k0 to k0 + depth - 1 of L. */
  update(k0: number, depth: number, row: number, rowEnd: number, column: number, columnEnd: number): void {
    if (row >= rowEnd || column >= columnEnd) return;
    const { data, ld } = this.matrix;
    const width = [128, 64, 32].find((w) => (columnEnd - column) % w === 0) as number;
    const kernel = made(this.products, width, () => this.product(width));
    const groups = [(columnEnd - column) / width, Math.ceil((rowEnd - row) / BLOCK)];
    this.scope.device.launch(kernel, groups, [ITEMS, 1], [data, ld, rowEnd, row, column, k0, depth]);
  }

  // Where the moves of a block begin: two blocks are on their way at the same time.
  private movesOf(first: number): number {
    return MOVES + ((first / this.how.width) % 2) * 4 * WIDEST;
  }

  /** L and U in columns first to end - 1, which are up to date. */
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

  /** What the block of columns first to end - 1 makes of columns `from` to `to` - 1: all there is of it on the left, else U and the update. */
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

  /** All of it. With look-ahead the next block has a line of commands of its own beside the update of the rest. */
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
      const factored = ready && device.onSecondQueue(() => this.following(ready, end, next));
      if (isBeside) this.others(first, end, next, ld);
      this.others(first, end, 0, first);
      if (factored) device.waitFor(factored);
      else if (end < size) this.columns(end, next);
    }
  }

  private following(ready: DeviceEvent, first: number, end: number): DeviceEvent {
    const { device } = this.scope;
    device.waitFor(ready);
    this.columns(first, end);
    return device.event();
  }
}

function made(kernels: Map<number, Kernel>, key: number, make: () => Kernel): Kernel {
  const kernel = kernels.get(key) ?? make();
  kernels.set(key, kernel);
  return kernel;
}

const SPARE_LOCAL = 8192; // what a group needs beside rows of others
const ALONE = 256; // work-items of the group that does a panel alone
export const STRIP = 32;
export const ITEMS = 256;

/** Before a factorization. */
export function prepare(device: Device, { state }: ApproximateMatrix): void {
  device.fill(state, Int32Array.of(0), 0, 4 * PIVOTS);
}

/** How much memory a matrix with k right-hand sides takes, in elements a row and bytes. */
export function spaceOf(n: number, k: number, real: RealType): { readonly size: number; readonly ld: number; readonly bytes: number } {
  const size = padded(n);
  const ld = size + padded(k);
  return { size, ld, bytes: size * ld * bytesOf(real) };
}
