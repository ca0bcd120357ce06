import type { Device, DeviceBuffer, Work } from "../../device.ts";
import type { RealType } from "../device/numbers.ts";
import type { Scope } from "../device/scope.ts";

/** What has become of some matrices: for each -1, or the index in it of an entry that overflowed; its info; its pivots. */
export interface Outcome {
  readonly overflowed: readonly number[];
  readonly info: Int32Array;
  readonly pivots: Int32Array;
}

/** A way to factor matrices that are on the device. */
export type Factorization = (scope: Scope, data: DeviceBuffer, real: RealType, rows: number, cols: number, count: number) => Work<Outcome>;

/** The index of the entry that a kernel noted, column above row in 64 bits, unless the zero pivot of `info` came before it; or -1. */
export function overflowIn(words: Uint32Array, at: number, info: number, cols: number): number {
  const [row, column] = [words[2 * at] as number, words[2 * at + 1] as number];
  return column === 0xffffffff || (info !== 0 && info - 1 < column) ? -1 : row * cols + column;
}

/** Where the pivots begin among the integers of a factorization. */
export const PIVOTS = 8;
const STUCK = 6;

/** Before a factorization: nothing overflowed, no zero pivot, nothing tiny. */
export function prepare(device: Device, out: DeviceBuffer): void {
  device.fill(out, Int32Array.of(-1), 0, 8);
  device.fill(out, Int32Array.of(0), 8, 4 * PIVOTS - 8);
}

/** What has become of one matrix; `stuck` is 1 + the column of the block where work-groups waited in vain, or 0. */
export function* outcomeOf(device: Device, out: DeviceBuffer, rows: number, cols: number): Work<Outcome & { readonly stuck: number }> {
  const read = new Int32Array(PIVOTS + Math.min(rows, cols));
  yield device.read(out, read);
  const info = read.slice(2, 3);
  const stuck = read[STUCK] as number;
  return { stuck, info, pivots: read.slice(PIVOTS), overflowed: [overflowIn(new Uint32Array(read.buffer), 0, info[0] as number, cols)] };
}

/** A factorization of many matrices, given one of the matrix at the beginning of some memory. */
export function oneAfterAnother(
  prepared: (scope: Scope, real: RealType, rows: number, cols: number) => (data: DeviceBuffer) => Work<Outcome>,
): Factorization {
  return function* (scope, data, real, rows, cols, count) {
    const { device } = scope;
    const factor = prepared(scope, real, rows, cols);
    if (count === 1) return yield* factor(data);
    const steps = Math.min(rows, cols);
    const bytes = rows * cols * (real === "double" ? 8 : 4);
    const all = { info: new Int32Array(count), pivots: new Int32Array(count * steps), overflowed: [] as number[] };
    const one = scope.scratch(bytes);
    for (let k = 0; k < count; k++) {
      device.copy(data, one, bytes, k * bytes);
      const { info, pivots, overflowed } = yield* factor(one);
      device.copy(one, data, bytes, 0, k * bytes);
      all.info.set(info, k);
      all.pivots.set(pivots, k * steps);
      all.overflowed.push(...overflowed);
    }
    return all;
  };
}
