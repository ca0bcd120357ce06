// P A = L U with exact sums on a device, left-looking by blocks of columns; many small matrices are in luBatch.ts. Called by the engine; see
// the LU paper. What does not pay off there is factored on the host: choices.ts.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { DeviceBuffer, DeviceMatrix, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { Choices } from "../choices.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { gather, round, settle, window, words } from "../exact/sources.generated.ts";
import * as host from "../host.ts";
import { WINDOW_BYTES } from "./gemv.ts";
import { factorBatch } from "./luBatch.ts";
import { luBlock, luCommon, luPivot, luRow, luStep, luSwap } from "./sources.generated.ts";
import { launchTiles } from "./tiles.ts";

const WIDTH = 32; // columns of a block, at most as many as lanes
const GROUP = 64; // rows of a work-group of luStep, and columns of the other kernels

// The words of the state of a matrix before its pivots: see luCommon.wgsl.
const PIVOTS = 2;
const NOTHING = 0xffffffff;

/** Factor matrices in place: see Kernels.lu. `data` may be on the device. */
export function* lu(
  scope: Scope,
  data: Operand,
  rows: number,
  cols: number,
  count: number,
  pivots: Int32Array,
  info: Int32Array,
  choices: Choices,
): Work<number> {
  const device = scope.device as WebgpuDevice;
  const steps = Math.min(rows, cols);
  const isSmall = count > 1 && rows <= choices.maxBatchOrder;
  const stateBytes = 4 * (PIVOTS + steps) * count;
  const bytes = isSmall ? stateBytes : Math.max(data.byteLength / count, WINDOW_BYTES * WIDTH * Math.max(rows, cols));
  if (!(isSmall ? batchPaysOff(rows, count, choices) : steps >= choices.minFactors) || bytes > device.maxBindingBytes)
    return yield* host.lu(scope, data, rows, cols, count, pivots, info);
  const single = data.BYTES_PER_ELEMENT === 4;
  const A = scope.vector(data);
  const state = scope.copy(initialState(steps, count));
  if (isSmall) factorBatch(scope, A, state, single, rows, count);
  else if (count === 1) factor(scope, A, state, single, rows, cols);
  else factorEach(scope, A, state, single, rows, count);

  const found = new Uint32Array((PIVOTS + steps) * count);
  yield device.read(state, found);
  for (let k = 0; k < count; k++) {
    const overflow = overflowIn(found.subarray((PIVOTS + steps) * k), rows, cols);
    if (overflow >= 0) return k * rows * cols + overflow;
  }
  if (isOnHost(data)) {
    const factors = newVector(scope.routine, data, data.length);
    yield device.read(A, factors);
    data.set(factors);
  }
  for (let k = 0; k < count; k++) {
    const at = (PIVOTS + steps) * k;
    info[k] = found[at + 1] as number;
    pivots.set(found.subarray(at + PIVOTS, at + PIVOTS + steps), k * steps);
  }
  return -1;
}

const batchPaysOff = (n: number, count: number, { minBatchOrder, minBatchCount, minBatchEntries }: Choices): boolean =>
  n >= minBatchOrder && count >= minBatchCount && n * n * count >= minBatchEntries;

function initialState(steps: number, count: number): Uint32Array {
  const state = new Uint32Array((PIVOTS + steps) * count);
  for (let k = 0; k < count; k++) state[(PIVOTS + steps) * k] = NOTHING;
  return state;
}

// The entry that overflows, or -1. One to the right of the column of a zero pivot does not count.
function overflowIn([overflow, zero]: Uint32Array, rows: number, cols: number): number {
  if (overflow === undefined || zero === undefined || overflow === NOTHING) return -1;
  const [i, j] = [overflow % rows, Math.floor(overflow / rows)];
  return zero === 0 || zero - 1 >= j ? i * cols + j : -1;
}

// Matrices that are too large for a work-group, one after another, in memory of one.
function factorEach(scope: Scope, A: DeviceBuffer, states: DeviceBuffer, single: boolean, n: number, count: number): void {
  const { device } = scope;
  const [bytes, stateBytes] = [n * n * (single ? 4 : 8), 4 * (PIVOTS + n)];
  const [matrix, state] = [scope.scratch(bytes), scope.scratch(stateBytes)];
  for (let k = 0; k < count; k++) {
    device.copy(A, matrix, bytes, k * bytes);
    device.copy(states, state, stateBytes, k * stateBytes);
    factor(scope, matrix, state, single, n, n);
    device.copy(matrix, A, bytes, 0, k * bytes);
    device.copy(state, states, stateBytes, 0, k * stateBytes);
  }
}

// One matrix, by blocks of columns.
function factor(scope: Scope, A: DeviceBuffer, state: DeviceBuffer, single: boolean, rows: number, cols: number): void {
  const device = scope.device as WebgpuDevice;
  const steps = Math.min(rows, cols);
  const records = scope.scratch(WINDOW_BYTES * WIDTH * Math.max(rows, cols));
  const work = scope.scratch(4 * (3 * rows + 8 * Math.ceil(rows / GROUP) + 2 * WIDTH * WIDTH));
  const defines = { GROUP, WIDTH, SINGLE: Number(single) };
  const common = [words, window, round, gather, settle, luCommon, luBlock];
  const kernelOf = (name: string, ...sources: string[]) => device.kernel(name, [...common, ...sources], defines);
  const [step, swap, row] = [kernelOf("luStep", luPivot, luStep), kernelOf("luSwap", luSwap), kernelOf("luRow", luRow)];
  const part = (i: number, j: number, height: number, width: number): DeviceMatrix => ({
    buffer: A,
    offset: i * cols + j,
    rows: height,
    cols: width,
    rowStride: cols,
    colStride: 1,
  });

  for (let first = 0; first < steps; first += WIDTH) {
    const width = Math.min(WIDTH, steps - first);
    const right = first + width;
    const groups = Math.ceil((rows - first) / GROUP);
    const parts = Number(first > 0);
    const launch = (kernel: typeof step, count: number, column: number): void =>
      device.launch(kernel, [count], [GROUP], [A, state, records, work, rows, cols, first, width, column, groups, parts, right, 0, 0]);
    launchTiles(device, part(first, 0, rows - first, first), part(0, first, first, width), single, true, records);
    for (let column = 0; column <= width; column++) launch(step, groups, column);
    launch(swap, Math.ceil(cols / GROUP), 0);
    if (right === cols) continue;
    launchTiles(device, part(first, 0, width, first), part(0, right, first, cols - right), single, true, records);
    launch(row, Math.ceil((cols - right) / GROUP), 0);
  }
}
