import { roundSum, settleWithin } from "../../dense/reduce.ts";
import { LOWEST_EXPONENT, Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Format, Real, Reduction, Rounding } from "../../types.ts";
import type { Device, DeviceBuffer, Kernel, Work } from "../device.ts";
import type { ExactStage } from "../kernels.ts";
import { remoteMemory } from "../remote.ts";
import { part } from "../wasm/arena.ts";
import type { Scope } from "./scope.ts";
import { certificate, expansion, reduce as filter, superaccumulator } from "./sources.generated.ts";

// Reductions on a device: the certified filter of kernels/reduce.cl, and the exact stages of kernels/expansion.cl behind it.

/** How a pass is laid out on a device. */
export interface Layout {
  /** Work-items in a group. */
  readonly group: number;
  /** Groups for each of the device's units. */
  readonly groups: number;
}

/** How the filter is: see kernels/reduce.cl. */
export interface Filter extends Layout {
  /** 2, 3 or 4. */
  readonly levels: number;
  /** Whether they are grids. */
  readonly grids: boolean;
  /** Wide loads that a work-item has on the way. */
  readonly unroll: number;
  /** Independent sums in a work-item. */
  readonly accumulators: number;
}

export const FILTER: Filter = { levels: 4, grids: true, group: 256, groups: 8, unroll: 2, accumulators: 1 };

/** How the exact stages are: so many superaccumulators in local memory that the work-items of a group share. */
export interface Exact extends Layout {
  readonly stride: number;
}

export const EXACT: Exact = { group: 256, groups: 4, stride: 16 };
/** The stage for sums that the filter leaves open. */
export const EXACT_STAGE: ExactStage = "fpe4ee";

// Of the grids in kernels/reduce.cl: pairs in a block, and how often a larger term can come, each 2^5 times the one before.
const BLOCK = 128;
const PLACES = Math.ceil(1900 / 5);

const BINARY64 = 8;
// The most terms in one launch: see the digits in kernels/expansion.cl and the bound in kernels/reduce.cl.
const LONGEST = 2 ** 29;

/** A part of two vectors on the device, from an element of each on. */
interface Piece {
  readonly x: DeviceBuffer;
  readonly y: DeviceBuffer;
  readonly fromX: number;
  readonly fromY: number;
  readonly count: number;
}

/** The terms of a sum on the device, all brought there at once: the caller may change its arrays while later stages run. */
interface Terms {
  readonly op: Reduction;
  readonly same: boolean; // both operands are one
  readonly types: readonly [string, string];
  readonly pieces: readonly Piece[];
}

const typeOf = (x: Real): string => (x.BYTES_PER_ELEMENT === BINARY64 ? "double" : "float");

function bring(scope: Scope, op: Reduction, x: Real, y: Real): Terms {
  const same = x === y || op !== "dot";
  const here = [x, y].some((v) => remoteMemory(v) === undefined);
  const most = here ? Math.min(LONGEST, Math.floor(scope.device.largest / 32) * 4) : LONGEST; // a multiple of every wide load
  const pieces: Piece[] = [];
  for (let from = 0; from < x.length; from += most) {
    const count = Math.min(most, x.length - from);
    const [bufferX, fromX] = pieceOf(scope, x, from, count);
    const [bufferY, fromY] = same ? [bufferX, fromX] : pieceOf(scope, y, from, count);
    pieces.push({ x: bufferX, y: bufferY, fromX, fromY, count });
  }
  return { op, same, types: [typeOf(x), same ? typeOf(x) : typeOf(y)], pieces };
}

function pieceOf(scope: Scope, x: Real, from: number, count: number): [DeviceBuffer, number] {
  const memory = remoteMemory(x);
  return memory ? [memory, from] : [scope.copy(part(x, from, count)), 0];
}

const long = (n: number): BigInt64Array => BigInt64Array.of(BigInt(n));

// The groups for so many pieces of work, a work-item each, and their size on this device.
function spread(device: Device, kernel: Kernel, { group, groups }: Layout, work: number): { groups: number; group: number } {
  const size = Math.min(group, kernel.most, device.mostInGroup);
  return { group: size, groups: Math.max(1, Math.min(device.units * groups, Math.ceil(work / size))) };
}

// A kernel of kernels/reduce.cl for terms of this kind.
function filterKernel(device: Device, name: string, { op, same, types: [type] }: Omit<Terms, "pieces">, how: Filter): Kernel {
  return device.kernel(name, [certificate, filter], {
    REAL: type,
    OP: op === "sum" ? 0 : op === "asum" ? 1 : same ? 3 : 2,
    LEVELS: how.levels,
    WIDTH: widthOf(type),
    UNROLL: how.unroll,
    ACCUMULATORS: how.accumulators,
    ...(how.grids ? { GRIDS: 1 } : {}),
    ...(device.vendor.startsWith("NVIDIA") ? { NVIDIA: 1 } : {}),
  });
}

// Numbers in a load of 16 bytes.
const widthOf = (type: string): number => (type === "double" ? 2 : 4);

// Run the filter: add its levels to the sum, and return the bound of what they lost; NaN, and nothing added, if it knows nothing.
function* cascade(scope: Scope, terms: Terms, into: Superaccumulator, how: Filter): Work<number> {
  const { device } = scope;
  const { levels, grids, unroll, accumulators } = how;
  const { op, pieces } = terms;
  const [type] = terms.types;
  const width = widthOf(type);
  const errors = op === "dot" && type === "double";
  const kernel = filterKernel(device, "cascade", terms, how);
  const record = levels + 3;
  const layouts = pieces.map(({ count }) => spread(device, kernel, how, count / width));
  const most = layouts.reduce((n, { groups }) => Math.max(n, groups), 0);
  const memory = scope.scratch(8 * (1 + (pieces.length + most) * record));
  device.fill(memory, new Uint32Array(1), 0, 8);
  for (const [i, { x, y, fromX, fromY, count }] of pieces.entries()) {
    const { group, groups } = layouts[i] as (typeof layouts)[0];
    const pool = { local: 8 * Math.max(record * ((group + 1) >> 1), grids ? (levels + 1) * group : 0) + 8 };
    device.launch(kernel, [groups], [group], [long(fromX), long(fromY), long(count), x, y, pool, memory, i, pieces.length]);
  }
  const records = new Float64Array(pieces.length * record);
  yield device.read(memory, records, 8);
  let bound = 0;
  for (const [i, { count }] of pieces.entries()) {
    const { group, groups } = layouts[i] as (typeof layouts)[0];
    const [size, exactly] = records.subarray(i * record + levels) as unknown as [number, number];
    // What reaches the last level goes through an addition for each term and each error term that its work-item sees (in a
    // block of grids, and at the end), and through `levels` for each of the cascades added to its own on the way.
    const mine = Math.ceil(count / (group * groups)) + 2 * width;
    const cascades = accumulators + 2 * Math.ceil(Math.log2(group)) + Math.ceil(groups / group) + 1;
    const blocks = grids ? Math.ceil(mine / (BLOCK - unroll * width)) + PLACES : 0;
    const depth = (errors ? 2 : 1) * (grids ? BLOCK + (unroll + 1) * width : mine) + levels * (cascades + blocks);
    if (size !== 0) bound += depth * 2 ** -53 * size * (1 + 2 ** -20) + Number.MIN_VALUE; // the product may underflow
    if (errors && exactly === 0) bound += count * Number.MIN_VALUE;
  }
  const parts = records.filter((_, i) => i % record < levels);
  if (!(bound < 2 ** 1000) || !parts.every(Number.isFinite)) return Number.NaN;
  for (const v of parts) into.add(v);
  return bound;
}

// All terms exactly, by one of the papers' stages.
function* expand(scope: Scope, terms: Terms, stage: ExactStage, into: Superaccumulator, how: Exact): Work<void> {
  const { device } = scope;
  const { op, types, pieces } = terms;
  const kernel = device.kernel("expansion", [certificate, superaccumulator, expansion], {
    REAL_X: types[0],
    REAL_Y: types[1],
    OP: ["sum", "asum", "dot"].indexOf(op),
    COMPONENTS: stage === "superaccumulator" ? 0 : Number(stage[3]),
    ...(stage.endsWith("ee") ? { EARLY: 1 } : {}),
    STRIDE: how.stride,
  });
  const digits = scope.scratch(8 * ACCUMULATOR);
  for (const { x, y, fromX, fromY, count } of pieces) {
    device.fill(digits, new Uint32Array(2));
    const { group, groups } = spread(device, kernel, how, count / 2);
    const pool = { local: 8 * ACCUMULATOR * how.stride };
    device.launch(kernel, [groups], [group], [long(fromX), long(fromY), long(count), x, y, pool, digits]);
    const sums = new BigInt64Array(ACCUMULATOR);
    yield device.read(digits, sums);
    addSums(into, sums);
  }
}

// kernels/superaccumulator.cl: so many digits of radix 2^32, the first worth 2^-2176, and three counters.
const DIGITS = 138;
const ACCUMULATOR = DIGITS + 3;
const FIRST = (-2176 - LOWEST_EXPONENT) / 32;

// Add what a superaccumulator of the device holds, whose carries have not run.
function addSums(into: Superaccumulator, sums: BigInt64Array): void {
  const digits = new Float64Array(DIGITS);
  let carry = 0n;
  for (let k = 0; k < DIGITS; k++) {
    const v = (sums[k] as bigint) + carry;
    carry = v >> 32n;
    digits[k] = Number(BigInt.asUintN(32, v));
  }
  digits[DIGITS - 1] = (digits[DIGITS - 1] as number) + Number(carry) * 2 ** 32; // the sign is in the last
  into.addDigits(digits, FIRST);
  into.addSpecials((sums[DIGITS] ? 1 : 0) | (sums[DIGITS + 1] ? 2 : 0) | (sums[DIGITS + 2] ? 4 : 0));
}

/** One pass that returns high, low and bound of a sum; NaN where it knows nothing. */
export function* enclose(
  scope: Scope,
  op: Reduction,
  x: Real,
  y: Real,
  how: Filter = FILTER,
): Work<{ high: number; low: number; bound: number }> {
  const sum = new Superaccumulator();
  const bound = yield* cascade(scope, bring(scope, op, x, y), sum, how);
  const high = bound === bound ? sum.round() : Number.NaN;
  if (!Number.isFinite(high)) return { high, low: 0, bound: Number.NaN };
  const low = sum.add(-high).round();
  return { high, low, bound: bound + Math.abs(sum.add(-low).round()) * (1 + 2 ** -52) };
}

/** A reduction: by the filter, and where that leaves the result open, exactly. */
export function* reduce(
  scope: Scope,
  op: Reduction,
  x: Real,
  y: Real,
  root: boolean,
  mode: Rounding,
  format: Format,
  how: Filter = FILTER,
): Work<number> {
  const terms = bring(scope, op, x, y);
  const sum = new Superaccumulator();
  const bound = yield* cascade(scope, terms, sum, how);
  let result = bound === bound ? settleWithin(sum, bound, root, mode, format) : undefined;
  if (result === undefined) {
    yield* expand(scope, terms, EXACT_STAGE, sum.clear(), EXACT);
    result = roundSum(sum, root, mode, format);
  }
  return result === 0 && op === "sum" && remoteMemory(x) && (yield* onlyNegativeZeros(scope, x)) ? -0 : result;
}

/** Add the terms of a sum to an accumulator, and return a bound of what was lost: 0 if `exact`, where the widths may differ. */
export function* accumulate(scope: Scope, op: Reduction, x: Real, y: Real, into: Superaccumulator, exact: boolean): Work<number> {
  const terms = bring(scope, op, x, y);
  const bound = exact ? Number.NaN : yield* cascade(scope, terms, into, FILTER);
  if (bound === bound) return bound;
  yield* expand(scope, terms, EXACT_STAGE, into, EXACT);
  return 0;
}

/** The same by one of the papers' stages, exactly. */
export function* accumulateBy(
  scope: Scope,
  stage: ExactStage,
  op: Reduction,
  x: Real,
  y: Real,
  into: Superaccumulator,
  how: Exact = EXACT,
): Work<void> {
  yield* expand(scope, bring(scope, op, x, y), stage, into, how);
}

/** Whether a vector on the device holds nothing but -0: then that is its sum. */
export function* onlyNegativeZeros(scope: Scope, x: Real): Work<boolean> {
  const { device } = scope;
  const kernel = filterKernel(device, "anyOther", { op: "sum", same: true, types: [typeOf(x), typeOf(x)] }, FILTER);
  const flag = scope.scratch(8);
  device.fill(flag, new Uint32Array(1), 0, 8);
  const { group, groups } = spread(device, kernel, FILTER, x.length);
  device.launch(kernel, [groups], [group], [long(x.length), scope.vector(x), flag]);
  const other = new Int32Array(1);
  yield device.read(flag, other);
  return other[0] === 0;
}
