// Sums and dot products on a device: one pass with windows that follow the largest terms (reduce.wgsl), and for sums that it leaves open,
// exact passes with lower windows. The host adds the windows of the work-groups and rounds. Called by the engine.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Format, Reduction, Rounding } from "../../../arrays/types.ts";
import { part } from "../../../arrays/vectors.ts";
import { roundSum, settleWithin } from "../../../exact/certify.ts";
import { LOWEST_EXPONENT, Superaccumulator } from "../../../exact/superaccumulator.ts";
import type { Device, DeviceBuffer, Kernel, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import type { WebgpuDevice } from "../device/device.ts";
import { piecesOf } from "../device/pieces.ts";
import { EMPTY, RECORD } from "../exact/layout.ts";
import { gather, limbs, window, words } from "../exact/sources.generated.ts";
import { negativeZeros, notFinite, reduce as source } from "./sources.generated.ts";

const OPS = ["sum", "asum", "dot", "square"] as const;

/** Work-items of a work-group, and work-groups for each unit of the device. */
export interface Launch {
  readonly group: number;
  readonly groups: number;
}

/** Enough lanes to keep the memory busy; a CPU runs the lanes of a group one after another. */
export const launchOn = (device: Device): Launch => (device.type === "gpu" ? { group: 256, groups: 8 } : { group: 64, groups: 4 });

/** `count` elements of two vectors on the device. */
interface Piece {
  readonly x: DeviceBuffer;
  readonly y: DeviceBuffer;
  readonly count: number;
}

interface Terms {
  readonly op: (typeof OPS)[number];
  readonly singles: readonly [boolean, boolean];
  readonly pieces: readonly Piece[];
}

/** Pieces of a vector that fit a binding each. Those of a vector on the host are copied. */
export function* onDevice(
  scope: Scope,
  x: Operand,
  bytesEach = x.BYTES_PER_ELEMENT,
): Generator<{ buffer: DeviceBuffer; from: number; length: number }> {
  const device = scope.device as WebgpuDevice;
  const width = x.BYTES_PER_ELEMENT;
  for (const { from, length } of piecesOf(x.length, bytesEach, device.maxBindingBytes)) {
    const buffer = isOnHost(x) ? scope.copy(part(x, from, length)) : device.part(bufferOf(x), from * width, length * width);
    yield { buffer, from, length };
  }
}

function upload(scope: Scope, op: Reduction, x: Operand, y: Operand): Terms {
  const same = op !== "dot" || x === y;
  const width = Math.max(x.BYTES_PER_ELEMENT, y.BYTES_PER_ELEMENT);
  const left = [...onDevice(scope, x, width)];
  const right = same ? left : [...onDevice(scope, y, width)];
  const isSingle = (v: Operand): boolean => v.BYTES_PER_ELEMENT === 4;
  return {
    op: op === "dot" && same ? "square" : op,
    singles: [isSingle(x), isSingle(same ? x : y)],
    pieces: left.map(({ buffer, length }, i) => ({ x: buffer, y: (right[i] as { buffer: DeviceBuffer }).buffer, count: length })),
  };
}

function kernelOn(device: Device, name: string, { op, singles }: Terms): Kernel {
  const [x, y] = singles.map(Number) as [number, number];
  const defines = { GROUP: launchOn(device).group, OP: OPS.indexOf(op), WIDTH: x + y === 0 ? 2 : 4, X_SINGLE: x, Y_SINGLE: y };
  return device.kernel(name, [words, window, limbs, gather, source], defines);
}

// A record of reduce.wgsl: a window and the digit above its terms.
const WORDS = RECORD + 1;

interface Found {
  readonly top: number;
  /** A bound of what was cut off; Infinity if it is too large to be a number. */
  readonly bound: number;
}

// Add the windows to the sum.
function addRecords(records: Int32Array, into: Superaccumulator, units: number): Found {
  let top = EMPTY;
  let cutAt = EMPTY;
  for (let at = 0; at < records.length; at += WORDS) {
    const record = records.subarray(at, at + WORDS);
    const [digit, cut, special] = record.subarray(7) as unknown as [number, number, number];
    top = Math.max(top, record[RECORD] as number);
    if (cut !== 0) cutAt = Math.max(cutAt, digit);
    into.addSpecials(special);
    // two's complement: the last word has the sign
    if (digit > EMPTY)
      into.addDigits(
        Array.from(record.subarray(0, 7), (word, i) => (i < 6 ? word >>> 0 : word)),
        digit,
      );
  }
  return { top, bound: cutAt === EMPTY ? 0 : boundOf(units, cutAt) };
}

// This number of units of a digit, as a bound: not zero if it underflows.
const boundOf = (units: number, digit: number): number => Math.max(units * 2 ** (32 * digit + LOWEST_EXPONENT), Number.MIN_VALUE);

const countOf = ({ pieces }: Terms): number => pieces.reduce((sum, { count }) => sum + count, 0);

const groupsFor = (device: Device, count: number): number => {
  const { group, groups } = launchOn(device);
  return Math.max(1, Math.min(groups * device.computeUnits, Math.ceil(count / (2 * group))));
};

// The pass with windows that move.
function* follow(scope: Scope, terms: Terms, into: Superaccumulator): Work<Found> {
  const { device } = scope;
  const kernel = kernelOn(device, "reduce", terms);
  const groups = terms.pieces.map(({ count }) => groupsFor(device, count));
  const total = groups.reduce((sum, n) => sum + n, 0);
  const memory = scope.scratch(4 * WORDS * total);
  let first = 0;
  for (const [i, { x, y, count }] of terms.pieces.entries()) {
    const n = groups[i] as number;
    device.launch(kernel, [n], [], [x, y, memory, count, n, first, 0]);
    first += n;
  }
  const records = new Int32Array(WORDS * total);
  yield device.read(memory, records);
  return addRecords(records, into, countOf(terms) + 4 * total * launchOn(device).group); // n + 4 L: see limbs.wgsl
}

// Windows of one launch, and then of further ones: typical terms reach over two.
const WINDOWS = 3;
const MORE_WINDOWS = 8;

/**
 * Add all terms exactly, window by window from this digit down. After each launch `settle` gets a bound of what is left: its result, if it has
 * one, ends that.
 */
function* addAll(
  scope: Scope,
  terms: Terms,
  from: number,
  into: Superaccumulator,
  settle: (bound: number) => number | undefined,
): Work<number | undefined> {
  const { device } = scope;
  const kernel = kernelOn(device, "reduceExactly", terms);
  const count = countOf(terms);
  let windows = WINDOWS;
  for (let top = from; top > EMPTY; windows = MORE_WINDOWS) {
    const launches = terms.pieces.map((piece) => ({ ...piece, groups: groupsFor(device, piece.count) }));
    const total = launches.reduce((sum, { groups }) => sum + groups * windows, 0);
    const memory = scope.scratch(4 * WORDS * total);
    const lowest: number[] = []; // of the last window, the records of each piece
    let first = 0;
    for (const { x, y, count: length, groups } of launches) {
      device.launch(kernel, [groups, windows], [], [x, y, memory, length, groups, first, top]);
      first += groups * windows;
      lowest.push(first - groups, first);
    }
    const records = new Int32Array(WORDS * total);
    yield device.read(memory, records);
    addRecords(records, into, 0);
    const digit = top - 6 * windows;
    top = EMPTY;
    for (let i = 0; i < lowest.length; i += 2)
      for (let at = lowest[i] as number; at < (lowest[i + 1] as number); at++) top = Math.max(top, records[WORDS * at + RECORD] as number);
    // A term loses less than a unit of the last digit.
    const result = top > EMPTY ? settle(boundOf(count, digit)) : undefined;
    if (result !== undefined) return result;
  }
  return undefined;
}

/** A reduction, rounded once. */
export function* reduce(scope: Scope, op: Reduction, x: Operand, y: Operand, root: boolean, mode: Rounding, format: Format): Work<number> {
  const terms = upload(scope, op, x, y);
  const sum = new Superaccumulator();
  const { top, bound } = yield* follow(scope, terms, sum);
  const settle = (lost: number): number | undefined =>
    lost < Number.POSITIVE_INFINITY ? settleWithin(new Superaccumulator().merge(sum), lost, root, mode, format) : undefined;
  let result = sum.special() === undefined ? settle(bound) : roundSum(sum, root, mode, format);
  if (result === undefined) {
    sum.clear();
    result = (yield* addAll(scope, terms, top, sum, settle)) ?? roundSum(sum, root, mode, format);
  }
  return result === 0 && op === "sum" && !isOnHost(x) && (yield* onlyNegativeZeros(scope, x)) ? -0 : result;
}

/** Add the exact sum of the terms to an accumulator. The precisions of x and y may differ. */
export function* accumulate(scope: Scope, op: Reduction, x: Operand, y: Operand, into: Superaccumulator): Work<void> {
  const terms = upload(scope, op, x, y);
  const sum = new Superaccumulator();
  const { top, bound } = yield* follow(scope, terms, sum);
  if (bound !== 0 && sum.special() === undefined) yield* addAll(scope, terms, top, sum.clear(), () => undefined);
  into.merge(sum);
}

// Whether all elements of a vector on the device are -0, and so its sum is too.
function* onlyNegativeZeros(scope: Scope, x: Operand): Work<boolean> {
  const { device } = scope;
  const kernel = device.kernel("anyOther", [negativeZeros], { GROUP: launchOn(device).group, WORDS_EACH: x.BYTES_PER_ELEMENT / 4 });
  const flag = scope.scratch(4);
  device.fill(flag, new Uint32Array(1), 0, 4);
  for (const { buffer, length } of onDevice(scope, x)) device.launch(kernel, [groupsFor(device, length)], [], [buffer, flag, length]);
  const other = new Uint32Array(1);
  yield device.read(flag, other);
  return other[0] === 0;
}

/** The index of the first element that is not finite, or -1. */
export function* firstNotFinite(scope: Scope, x: Operand): Work<number> {
  const { device } = scope;
  const kernel = device.kernel("firstNotFinite", [notFinite], { GROUP: launchOn(device).group, WORDS_EACH: x.BYTES_PER_ELEMENT / 4 });
  const first = scope.copy(Int32Array.of(-1)); // the largest u32
  for (const { buffer, from, length } of onDevice(scope, x))
    device.launch(kernel, [groupsFor(device, length)], [], [buffer, first, length, from]);
  const found = new Int32Array(1);
  yield device.read(first, found);
  return found[0] as number;
}
