// P (R A C) = L U in binary32 on the device, right-looking by panels with partial pivoting, in ordinary WGSL floats: exact residuals decide
// what the factors are worth. Called by approximate.ts; follows the mixed-precision paper.
import type { StridedOperand } from "../../../arrays/matrix.ts";
import type { ApproximateFactors, Scaling } from "../../approximate.ts";
import type { DeviceBuffer, Work } from "../../device.ts";
import { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { convert, panel, rows, update } from "./sources.generated.ts";

/** Matrices are padded to multiples of this, the order of a block in substitution. */
export const BLOCK = 64;
const PANEL = 32;
const TILE = 64; // of an update
const CONVERTED = 32; // the tiles of a conversion
const ROWS_GROUP = 64;
// On a CPU every barrier costs time for each lane.
const [MAX_PANEL_GROUP, CPU_PANEL_GROUP] = [1024, 16];
// Panels whose commands are given before the host waits, so that a long factorization does not fill the queue.
const PANELS_AHEAD = 64;

/** Factors on the device: W has L and U by columns, `size` by `size`. */
export interface DeviceFactors extends ApproximateFactors {
  readonly size: number;
  readonly W: DeviceBuffer;
  /** Row i of the factors is row order[i] of the matrix. */
  readonly order: Int32Array;
}

/** Whether the factors of a matrix of order n fit bindings. */
export const fitsDevice = (device: WebgpuDevice, n: number): boolean => 8 * (n + BLOCK) ** 2 <= device.maxBindingBytes;

/** Factor a binary64 matrix. The factors own their memory. */
export function* factorize(scope: Scope, A: StridedOperand, scaling: Scaling): Work<DeviceFactors> {
  const device = scope.device as WebgpuDevice;
  const n = A.rows;
  const size = BLOCK * Math.ceil(n / BLOCK);
  const lasting = new Scope(device, scope.routine);
  try {
    const W = lasting.scratch(4 * size * size);
    const state = scope.scratch(4 * (1 + 2 * size));
    device.fill(state, new Int32Array(1));
    const { buffer, offset, rowStride, colStride } = scope.matrix(A);
    const exponents = scope.copy(Int32Array.from([...scaling.rows, ...scaling.cols], Math.log2));
    const tiles = size / CONVERTED;
    const layout = [offset, rowStride, colStride, n, size];
    device.launch(device.kernel("convert", [convert]), [tiles, tiles], [CONVERTED, 8], [buffer, exponents, W, ...layout]);
    yield* eliminate(device, W, state, n, size);
    const found = new Int32Array(1 + 2 * size);
    yield device.read(state, found);
    const column = (found[0] as number) - 1;
    const diagonal = Array.from(new Float32Array(found.buffer, 4 * (1 + size), column < 0 ? n : 0), Math.abs);
    return {
      n,
      format: "binary32",
      column,
      minPivot: diagonal.reduce((a, v) => Math.min(a, v), Number.POSITIVE_INFINITY),
      maxPivot: diagonal.reduce((a, v) => Math.max(a, v), 0),
      roundings: 2 * n,
      size,
      W,
      order: orderOf(found.subarray(1, 1 + n)),
      free: () => lasting.free(),
    };
  } catch (error) {
    lasting.free();
    throw error;
  }
}

function* eliminate(device: WebgpuDevice, W: DeviceBuffer, state: DeviceBuffer, n: number, size: number): Work<void> {
  const group = device.type === "cpu" ? CPU_PANEL_GROUP : 2 ** Math.floor(Math.log2(Math.min(MAX_PANEL_GROUP, device.maxGroupSize)));
  const panels = device.kernel("panel", [panel], { PANEL, GROUP: group });
  const others = device.kernel("rows", [rows], { PANEL, GROUP: ROWS_GROUP });
  const updates = device.kernel("update", [update], { PANEL });
  for (let first = 0; first < n; first += PANEL) {
    const args = [W, state, first, size, n];
    device.launch(panels, [1], [group], args);
    if (size > PANEL) device.launch(others, [Math.ceil((size - PANEL) / ROWS_GROUP)], [ROWS_GROUP], args);
    const tiles = Math.ceil((size - first - PANEL) / TILE);
    device.launch(updates, [tiles, tiles], [16, 16], args);
    if ((first / PANEL) % PANELS_AHEAD === PANELS_AHEAD - 1) yield device.finish();
  }
}

function orderOf(pivots: Int32Array): Int32Array {
  const order = Int32Array.from(pivots, (_, i) => i);
  for (const [i, pivot] of pivots.entries()) {
    const kept = order[i] as number;
    order[i] = order[pivot] as number;
    order[pivot] = kept;
  }
  return order;
}
