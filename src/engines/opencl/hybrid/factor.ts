// Right-looking LU of a binary32 matrix on the device, with panels factored on the CPU. Called by hybrid.ts; follows the
// mixed-precision paper.
import type { DeviceBuffer, DeviceEvent, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import { type ApproximateBlocking, ApproximateLu, type ApproximateMatrix } from "../solve/lu.ts";
import { ENDED, MOVES, PIVOTS } from "../solve/state.ts";
import type { Cpu } from "./cpu.ts";
import { moveBlock } from "./kernels.ts";

/** How many panels are updated ahead of the rest of the matrix, so that the CPU has one to work on. */
export type LookAhead = 0 | 1 | 2;

/** Factor a matrix on the device. Afterwards its state has the pivots and the column where elimination stopped. */
export function* eliminateWithCpu(
  scope: Scope,
  cpu: Cpu,
  matrix: ApproximateMatrix,
  how: ApproximateBlocking,
  lookAhead: LookAhead,
): Work<void> {
  const { device } = scope;
  const { size, ld } = matrix;
  const { panel: width } = how;
  const panels = new Panels(scope, matrix, width);
  const lu = new ApproximateLu(scope, matrix, { ...how, resident: false });
  // With two panels ahead, panels use a second queue: neither they nor the CPU wait for the rest of the matrix.
  const onPanelQueue = lookAhead === 2 ? <R>(give: () => R): R => device.onSecondQueue(give) : <R>(give: () => R): R => give();
  if (lookAhead === 2) {
    const start = device.event();
    onPanelQueue(() => device.waitFor(start));
  }
  let fetched: DeviceEvent | undefined = onPanelQueue(() => panels.fetch(0));
  let updated: DeviceEvent | undefined; // the last step has updated the rest of the matrix
  let badColumn = -1;
  for (let first = 0; first < size; first += width) {
    const next = first + width;
    const [endOfNext, endOfSecond] = [Math.min(next + width, size), Math.min(next + 2 * width, size)];
    yield* panels.read(first, fetched);
    const factored = cpu.panel(...panels.onHost(first));
    yield factored;
    if (factored.column >= 0) {
      badColumn = first + factored.column;
      break;
    }
    const moves = panels.movesOf(first);
    const eliminate = (from: number, to: number): void => {
      lu.rows(first, first, width, from, to, from, to, moves);
      lu.update(first, width, next, size, from, to);
    };
    const swapLeft = (): void => lu.rows(first, first, width, 0, 0, 0, first, moves);
    const fetchNext = (): DeviceEvent | undefined => (next < size ? panels.fetch(next) : undefined);
    onPanelQueue(() => panels.store(first));
    if (lookAhead === 0) {
      eliminate(next, ld);
      swapLeft();
      fetched = fetchNext();
    } else if (lookAhead === 1) {
      eliminate(next, endOfNext);
      fetched = fetchNext();
      eliminate(endOfNext, ld);
      swapLeft();
    } else {
      const [stored, before] = [onPanelQueue(() => device.event()), updated];
      fetched = onPanelQueue(() => {
        eliminate(next, endOfNext);
        const event = fetchNext();
        if (before) device.waitFor(before);
        eliminate(endOfNext, endOfSecond);
        return event;
      });
      device.waitFor(stored);
      eliminate(endOfSecond, ld);
      swapLeft();
      updated = device.event();
    }
  }
  if (lookAhead === 2) device.waitFor(onPanelQueue(() => device.event()));
  panels.writeState(badColumn);
}

// The row moves of a panel may be in use until two later panels have been stored: the rest of the matrix is updated late.
const MOVES_KEPT = 3;

// Panels in transfer between device and CPU, without gaps. One buffer on each side is enough: a panel has been read when it is
// stored, and has been stored when the next is fetched. No command uses what is written here: all commands before a panel that
// was read have finished, except the updates of the rest in the last two steps.
class Panels {
  private readonly staging: DeviceBuffer;
  private readonly data: Float32Array;
  private readonly moves: readonly DeviceBuffer[];
  private readonly pivots: Int32Array; // of each panel, counted from its first row
  private readonly diagonal: Float32Array;

  constructor(
    private readonly scope: Scope,
    private readonly matrix: ApproximateMatrix,
    private readonly width: number,
  ) {
    const { size } = matrix;
    this.data = new Float32Array(size * width);
    this.pivots = new Int32Array(size);
    this.diagonal = new Float32Array(size);
    this.staging = scope.scratch(this.data.byteLength);
    this.moves = Array.from({ length: MOVES_KEPT }, () => scope.scratch(4 * (MOVES + 4 * width)));
  }

  onHost(first: number): [data: Float32Array, rows: number, cols: number, pivots: Int32Array] {
    const { width } = this;
    const rows = this.matrix.size - first;
    return [this.data.subarray(0, rows * width), rows, width, this.pivots.subarray(first, first + width)];
  }

  fetch(first: number): DeviceEvent {
    const { data, ld, size } = this.matrix;
    const { device } = this.scope;
    moveBlock(device, [data, first * ld + first, ld], [this.staging, 0, this.width], size - first, this.width);
    return device.event();
  }

  *read(first: number, fetched: DeviceEvent | undefined): Work<void> {
    yield this.scope.device.read(this.staging, this.onHost(first)[0], 0, fetched);
  }

  store(first: number): void {
    const { data, ld, size } = this.matrix;
    const { device } = this.scope;
    const { width } = this;
    const [panel] = this.onHost(first);
    device.write(this.staging, panel);
    moveBlock(device, [this.staging, 0, width], [data, first * ld + first, ld], size - first, width);
    for (let j = 0; j < width; j++) this.diagonal[first + j] = panel[j * width + j] as number;
  }

  /** The row moves of a panel, in the format of the kernels. */
  movesOf(first: number): DeviceBuffer {
    const buffer = this.moves[(first / this.width) % MOVES_KEPT] as DeviceBuffer;
    const pivots = this.pivots.subarray(first, first + this.width);
    const words = new Int32Array(MOVES + 4 * this.width);
    words.set(movesOf(first, pivots), MOVES);
    this.scope.device.write(buffer, words);
    return buffer;
  }

  /** Write the pivots, the diagonal and the bad column, or -1, to the state of the matrix. */
  writeState(column: number): void {
    const { device } = this.scope;
    const { state, diagonal } = this.matrix;
    if (column >= 0) device.write(state, Int32Array.of(column + 1), 4 * ENDED);
    device.write(
      state,
      this.pivots.map((pivot, i) => pivot + i - (i % this.width)),
      4 * PIVOTS,
    );
    device.write(diagonal, this.diagonal);
  }
}

/**
 * The swaps of a panel as row moves, pairs (from, to) with from = -1 where nothing moves: first, for each row of the panel, the
 * move into it; then, for each row of the panel, its move to a row below the panel.
 */
export function movesOf(first: number, pivots: Int32Array): Int32Array {
  const width = pivots.length;
  const rows = new Map<number, number>(); // by their new positions
  for (const [j, pivot] of pivots.entries()) {
    const [top, other] = [first + j, first + pivot];
    const kept = rows.get(top) ?? top;
    rows.set(top, rows.get(other) ?? other);
    rows.set(other, kept);
  }
  const moves = new Int32Array(4 * width).fill(-1);
  for (const [to, from] of rows) {
    if (to < first + width) moves.set([from, to], 2 * (to - first));
    else if (from < first + width) moves.set([from, to], 2 * (width + from - first));
  }
  return moves;
}
