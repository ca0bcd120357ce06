// What the factorizations of lu.ts, luBlocked.ts and luUnblocked.ts share: how they end, and the factorization of several
// matrices one after another.
import type { Device, DeviceBuffer, Work } from "../../device.ts";
import type { Scope } from "../../deviceScope.ts";
import type { RealType } from "../device/numbers.ts";
import { INFO, PIVOTS, STUCK } from "./luLayout.ts";

/** How factorizations ended: for each matrix -1 or the index of an entry that overflowed (none: []), and its info. */
export interface Outcome {
  readonly overflowed: readonly number[];
  readonly info: Int32Array;
}

/** A way to factor `count` matrices on the device, stored one after another. It writes their pivots. */
export type Factorization = (
  scope: Scope,
  data: DeviceBuffer,
  real: RealType,
  rows: number,
  cols: number,
  count: number,
  pivots: Int32Array,
) => Work<Outcome>;

/** The index of the first entry that overflowed, 64 bits with the column in the high half; -1 if there is none or a zero pivot came first. */
export function overflowIn(words: Uint32Array, at: number, info: number, cols: number): number {
  const [row, column] = [words[2 * at] as number, words[2 * at + 1] as number];
  return column === 0xffffffff || (info !== 0 && info - 1 < column) ? -1 : row * cols + column;
}

/** Reset the integers of a factorization: nothing overflowed, no zero pivot, nothing tiny. */
export function prepare(device: Device, out: DeviceBuffer): void {
  device.fill(out, Int32Array.of(-1), 0, 4 * INFO);
  device.fill(out, Int32Array.of(0), 4 * INFO, 4 * (PIVOTS - INFO));
}

/** How one factorization ended, and its pivots. `stuck` is 1 + the first column of the block in which a wait was abandoned, or 0. */
export function* outcomeOf(
  device: Device,
  out: DeviceBuffer,
  rows: number,
  cols: number,
  pivots: Int32Array,
): Work<Outcome & { readonly stuck: number }> {
  const read = new Int32Array(PIVOTS + Math.min(rows, cols));
  yield device.read(out, read);
  pivots.set(read.subarray(PIVOTS));
  const info = read.slice(INFO, INFO + 1);
  const stuck = read[STUCK] as number;
  return { stuck, info, overflowed: [overflowIn(new Uint32Array(read.buffer), 0, info[0] as number, cols)] };
}

/** A factorization of many matrices, one after another, from a factorization of the matrix at the beginning of a buffer. */
export function oneByOne(
  prepared: (scope: Scope, real: RealType, rows: number, cols: number) => (data: DeviceBuffer, pivots: Int32Array) => Work<Outcome>,
): Factorization {
  return function* (scope, data, real, rows, cols, count, pivots) {
    const { device } = scope;
    const factor = prepared(scope, real, rows, cols);
    if (count === 1) return yield* factor(data, pivots);
    const steps = Math.min(rows, cols);
    const bytes = rows * cols * (real === "double" ? 8 : 4);
    const all = { info: new Int32Array(count), overflowed: [] as number[] };
    const one = scope.scratch(bytes);
    for (let k = 0; k < count; k++) {
      device.copy(data, one, bytes, k * bytes);
      const { info, overflowed } = yield* factor(one, pivots.subarray(k * steps, (k + 1) * steps));
      device.copy(one, data, bytes, 0, k * bytes);
      all.info.set(info, k);
      all.overflowed.push(...overflowed);
    }
    return all;
  };
}
