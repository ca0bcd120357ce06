// Forward and backward substitution by blocks, called by hybrid.ts. The CPU solves with the small diagonal blocks; the device updates
// the rest of the vector, the next block first, so that this is transferred to the CPU while the device continues.
import type { Device, DeviceBuffer, DeviceEvent, Work } from "../../device.ts";
import type { Cpu } from "./cpu.ts";
import { updateVector } from "./kernels.ts";

/** A triangle of binary32 factors, stored by rows on the device, and the solver for its diagonal blocks on the CPU. */
export interface Triangle {
  readonly matrix: DeviceBuffer;
  readonly step: number; // between rows
  readonly n: number;
  readonly lower: boolean;
  /** Rows in a block. */
  readonly width: number;
  /** Solve with this diagonal block, in place. */
  readonly solve: (block: number, v: Float32Array) => void;
}

/**
 * Solve for the right-hand side v, which is overwritten; the solution is x on the host and z on the device. `solved` is called for each
 * block when all its commands have been given.
 */
export function* substituteWithCpu(
  device: Device,
  cpu: Cpu,
  { matrix, step, n, lower, width, solve }: Triangle,
  v: DeviceBuffer,
  z: DeviceBuffer,
  x: Float32Array,
  solved: (from: number, to: number) => void = () => {},
): Work<void> {
  const blocks = Math.ceil(n / width);
  const rowsOf = (block: number): readonly [number, number] => {
    const first = block * width;
    return block < 0 || first >= n ? [0, 0] : [first, Math.min(width, n - first)];
  };
  let ready: DeviceEvent = device.event();
  for (let k = 0; k < blocks; k++) {
    const block = lower ? k : blocks - 1 - k;
    const [first, count] = rowsOf(block);
    const part = x.subarray(first, first + count);
    yield device.read(v, part, 4 * first, ready);
    cpu.work(() => solve(block, part));
    device.write(z, part, 4 * first);
    const next = rowsOf(lower ? block + 1 : block - 1);
    const rest: readonly [number, number] = lower ? [next[0] + next[1], next[1] && n - next[0] - next[1]] : [0, next[0]];
    updateVector(device, [matrix, 0, step], z, v, next, [first, count]);
    if (k + 1 < blocks) ready = device.event();
    updateVector(device, [matrix, 0, step], z, v, rest, [first, count]);
    solved(first, first + count);
  }
}

/** v := T v for a unit lower triangle stored by rows: the inverse of a block of L. */
export function timesInverse(T: Float32Array, width: number, v: Float32Array): void {
  for (let i = v.length - 1; i > 0; i--) {
    let sum = v[i] as number;
    for (let j = 0; j < i; j++) sum += (T[i * width + j] as number) * (v[j] as number);
    v[i] = sum;
  }
}

/** Solve U x = v by back substitution, in place. */
export function solveUpper(U: Float32Array, width: number, v: Float32Array): void {
  for (let i = v.length - 1; i >= 0; i--) {
    let sum = v[i] as number;
    for (let j = i + 1; j < v.length; j++) sum -= (U[i * width + j] as number) * (v[j] as number);
    v[i] = sum / (U[i * width + i] as number);
  }
}
