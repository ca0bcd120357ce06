import type { Device, DeviceBuffer, Mark, Work } from "../../device.ts";
import type { Cpu } from "./cpu.ts";
import { updateVector } from "./kernels.ts";

// Forward and backward substitution by blocks: what happens on the diagonal is small, and done on the CPU; the rest of the vector
// is updated on the device, the next block first, so that it is on its way to the CPU while the device goes on.

/** A triangle of binary32 factors, row by row on the device, and what the CPU does on its diagonal. */
export interface Triangle {
  readonly matrix: DeviceBuffer;
  readonly step: number; // from row to row
  readonly n: number;
  readonly lower: boolean;
  /** Rows in a block. */
  readonly width: number;
  /** Solve with a diagonal block, in place. */
  readonly solve: (block: number, v: Float32Array) => void;
}

/** The solution, to the end of v, here in x and on the device in z. `solved` is called when the device has been given the rest of the work for a block. */
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
  let ready: Mark = device.mark();
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
    if (k + 1 < blocks) ready = device.mark();
    updateVector(device, [matrix, 0, step], z, v, rest, [first, count]);
    solved(first, first + count);
  }
}

/** v := T v with a lower triangle of 1s on its diagonal, row by row: the inverse of a block of L. */
export function timesInverse(T: Float32Array, width: number, v: Float32Array): void {
  for (let i = v.length - 1; i > 0; i--) {
    let sum = v[i] as number;
    for (let j = 0; j < i; j++) sum += (T[i * width + j] as number) * (v[j] as number);
    v[i] = sum;
  }
}

/** U x = v, in place, by back substitution. */
export function solveUpper(U: Float32Array, width: number, v: Float32Array): void {
  for (let i = v.length - 1; i >= 0; i--) {
    let sum = v[i] as number;
    for (let j = i + 1; j < v.length; j++) sum -= (U[i * width + j] as number) * (v[j] as number);
    v[i] = sum / (U[i * width + i] as number);
  }
}
