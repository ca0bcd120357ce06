import type { DeviceBuffer, Mark, Work } from "../../device.ts";
import type { Scope } from "../device/scope.ts";
import { type ApproximateBlocking, ApproximateLu, type ApproximateMatrix, ENDED, MOVES, PIVOTS } from "../solve/lu.ts";
import type { Cpu } from "./cpu.ts";
import { moveBlock } from "./kernels.ts";

// Right-looking LU of a binary32 matrix on the device with panels factored on the CPU.

/** How many panels are kept ahead of the rest of the matrix, so that the CPU has one to work on. */
export type LookAhead = 0 | 1 | 2;

/** The elimination of a matrix that is on its way; afterwards its pivots, and the column where it ended, are in its state. */
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
  // With two levels the panels have a line of commands of their own: neither they nor the CPU wait for the rest.
  const line = lookAhead === 2 ? <R>(give: () => R): R => device.aside(give) : <R>(give: () => R): R => give();
  if (lookAhead === 2) {
    const before = device.mark();
    line(() => device.follow(before));
  }
  let ready: Mark | undefined = line(() => panels.fetch(0));
  let rest: Mark | undefined; // the rest of the last step is through
  let ended = -1;
  for (let first = 0; first < size; first += width) {
    const next = first + width;
    const [one, two] = [Math.min(next + width, size), Math.min(next + 2 * width, size)];
    yield* panels.read(first, ready);
    const factored = cpu.panel(...panels.here(first));
    yield factored;
    if (factored.column >= 0) {
      ended = first + factored.column;
      break;
    }
    const moves = panels.movesOf(first);
    const eliminate = (from: number, to: number): void => {
      lu.rows(first, first, width, from, to, from, to, moves);
      lu.update(first, width, next, size, from, to);
    };
    const left = (): void => lu.rows(first, first, width, 0, 0, 0, first, moves);
    const fetch = (): Mark | undefined => (next < size ? panels.fetch(next) : undefined);
    line(() => panels.store(first));
    if (lookAhead === 0) {
      eliminate(next, ld);
      left();
      ready = fetch();
    } else if (lookAhead === 1) {
      eliminate(next, one);
      ready = fetch();
      eliminate(one, ld);
      left();
    } else {
      const [stored, before] = [line(() => device.mark()), rest];
      ready = line(() => {
        eliminate(next, one);
        const mark = fetch();
        if (before) device.follow(before);
        eliminate(one, two);
        return mark;
      });
      device.follow(stored);
      eliminate(two, ld);
      left();
      rest = device.mark();
    }
  }
  if (lookAhead === 2) device.follow(line(() => device.mark()));
  panels.tell(ended);
}

// The moves of a panel may be in use until two panels later have been stored: rests come late.
const MOVES_KEPT = 3;

// Panels on their way between device and CPU, without gaps. One place will do on either side: a panel has been read when it is
// stored, and has been stored when the next is fetched. What is written here is not in use: everything before a panel that was
// read is through, but for the rests of the last two steps.
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

  here(first: number): [data: Float32Array, rows: number, cols: number, pivots: Int32Array] {
    const { width } = this;
    const rows = this.matrix.size - first;
    return [this.data.subarray(0, rows * width), rows, width, this.pivots.subarray(first, first + width)];
  }

  fetch(first: number): Mark {
    const { data, ld, size } = this.matrix;
    const { device } = this.scope;
    moveBlock(device, [data, first * ld + first, ld], [this.staging, 0, this.width], size - first, this.width);
    return device.mark();
  }

  *read(first: number, ready: Mark | undefined): Work<void> {
    yield this.scope.device.read(this.staging, this.here(first)[0], 0, ready);
  }

  store(first: number): void {
    const { data, ld, size } = this.matrix;
    const { device } = this.scope;
    const { width } = this;
    const [panel] = this.here(first);
    device.write(this.staging, panel);
    moveBlock(device, [this.staging, 0, width], [data, first * ld + first, ld], size - first, width);
    for (let j = 0; j < width; j++) this.diagonal[first + j] = panel[j * width + j] as number;
  }

  /** Where the swaps of a panel take rows, as kernels want it. */
  movesOf(first: number): DeviceBuffer {
    const buffer = this.moves[(first / this.width) % MOVES_KEPT] as DeviceBuffer;
    const pivots = this.pivots.subarray(first, first + this.width);
    const numbers = new Int32Array(MOVES + 4 * this.width);
    numbers.set(movesOf(first, pivots), MOVES);
    this.scope.device.write(buffer, numbers);
    return buffer;
  }

  /** Put down how it ended. */
  tell(column: number): void {
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
 * For each row of the panel the row that goes there, then for each row of the panel where it goes if not within the panel: pairs
 * of where from (-1: nothing moves) and where to.
 */
export function movesOf(first: number, pivots: Int32Array): Int32Array {
  const width = pivots.length;
  const rows = new Map<number, number>(); // by their new places
  for (const [j, pivot] of pivots.entries()) {
    const [here, there] = [first + j, first + pivot];
    const kept = rows.get(here) ?? here;
    rows.set(here, rows.get(there) ?? there);
    rows.set(there, kept);
  }
  const moves = new Int32Array(4 * width).fill(-1);
  for (const [place, row] of rows) {
    if (place < first + width) moves.set([row, place], 2 * (place - first));
    else if (row < first + width) moves.set([row, place], 2 * (width + row - first));
  }
  return moves;
}
