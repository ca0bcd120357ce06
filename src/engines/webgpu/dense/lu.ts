// P A = L U with exact sums on a device, left-looking by blocks of columns. Called by the engine; see the LU paper. Small matrices, and many of
// them, are factored on the host.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import { newVector } from "../../../arrays/vectors.ts";
import type { DeviceMatrix, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { Choices } from "../choices.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { gather, round, settle, window, words } from "../exact/sources.generated.ts";
import * as host from "../host.ts";
import { WINDOW_BYTES } from "./gemv.ts";
import { luCommon, luRow, luStep, luSwap } from "./sources.generated.ts";
import { launchTiles } from "./tiles.ts";

const WIDTH = 32; // columns of a block, at most as many as lanes
const GROUP = 64; // rows of a work-group of luStep, and columns of the other kernels

// The words of the state: see luCommon.wgsl.
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
  { minFactors }: Choices,
): Work<number> {
  const device = scope.device as WebgpuDevice;
  const windows = WINDOW_BYTES * WIDTH * Math.max(rows, cols);
  if (count !== 1 || Math.min(rows, cols) < minFactors || Math.max(data.byteLength, windows) > device.maxBindingBytes)
    return yield* host.lu(scope, data, rows, cols, count, pivots, info);
  const single = data.BYTES_PER_ELEMENT === 4;
  const A = scope.vector(data);
  const steps = Math.min(rows, cols);
  const state = scope.scratch(4 * (PIVOTS + steps));
  device.fill(state, Uint32Array.of(0));
  device.fill(state, Uint32Array.of(NOTHING), 0, 4);
  const records = scope.scratch(windows);
  const work = scope.scratch(4 * (3 * rows + 8 * Math.ceil(rows / GROUP) + 2 * WIDTH * WIDTH));
  const defines = { GROUP, WIDTH, SINGLE: Number(single) };
  const kernelOf = (name: string, source: string) => device.kernel(name, [words, window, round, gather, settle, luCommon, source], defines);
  const [step, swap, row] = [kernelOf("luStep", luStep), kernelOf("luSwap", luSwap), kernelOf("luRow", luRow)];
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
      device.launch(kernel, [count], [GROUP], [A, records, work, state, rows, cols, first, width, column, groups, parts, right]);
    launchTiles(device, part(first, 0, rows - first, first), part(0, first, first, width), single, true, records);
    for (let column = 0; column <= width; column++) launch(step, groups, column);
    launch(swap, Math.ceil(cols / GROUP), 0);
    if (right === cols) continue;
    launchTiles(device, part(first, 0, width, first), part(0, right, first, cols - right), single, true, records);
    launch(row, Math.ceil((cols - right) / GROUP), 0);
  }

  const found = new Uint32Array(PIVOTS + steps);
  yield device.read(state, found);
  const [overflow, zero] = found as unknown as [number, number];
  if (overflow !== NOTHING) {
    const [i, j] = [overflow % rows, Math.floor(overflow / rows)];
    if (zero === 0 || zero - 1 >= j) return i * cols + j;
  }
  if (isOnHost(data)) {
    const factors = newVector(scope.routine, data, data.length);
    yield device.read(A, factors);
    data.set(factors);
  }
  pivots.set(found.subarray(PIVOTS));
  info[0] = zero;
  return -1;
}
