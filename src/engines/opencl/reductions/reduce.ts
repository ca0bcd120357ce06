import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Format, Reduction, Rounding } from "../../../arrays/types.ts";
import { part } from "../../../arrays/vectors.ts";
import { roundSum, settleWithin } from "../../../exact/certify.ts";
import { Superaccumulator } from "../../../exact/superaccumulator.ts";
import type { Device, DeviceBuffer, Kernel, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { ExactStage } from "../../kernels.ts";
import type { Choices } from "../choices.ts";
import { long, type RealType, realOf } from "../device/numbers.ts";
import type { Scope } from "../device/scope.ts";
import { ACCUMULATOR, DIGITS, FIRST_DIGIT, specialsOf } from "../exact/layout.ts";
import { certificate, expansion, superaccumulator } from "../exact/sources.ts";
import { reduce as filter } from "./sources.generated.ts";

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
  /** Loads of 16 bytes that a work-item has on the way. */
  readonly unroll: number;
}

// On an H200, 2^28 terms, of cuBLAS's 4.53 TB/s: exdot 99.9 % and exsum 98.4 %, and with half the loads on the way 92 % for
// exsum. Three levels are no faster for binary64, and know only 2^-26 of a sum with a condition of 1e30. For binary32 (there
// with half the loads: exdot 97 % and exsum 78 %, with three levels 98 % and 86 %) they know 2^-23 of it where exponents
// spread over 60 bits and more: too little too, and the exact stage takes several times as long.
export const FILTER: Filter = { levels: 4, unroll: 4, group: 256, groups: 4 };

/** How the exact stages are: so many superaccumulators in local memory that the work-items of a group share. */
export interface Exact extends Layout {
  readonly stride: number;
}

export const EXACT: Exact = { group: 256, groups: 4, stride: 16 };
/** The stage for sums that the filter leaves open. */
const EXACT_STAGE: ExactStage = "fpe4ee";

// Of the grids in kernels/reduce.cl: terms in a block, and how often a larger term can come, each 2^5 times the one before.
const BLOCK = 128;
const PLACES = Math.ceil(1900 / 5);

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
  readonly types: readonly [RealType, RealType];
  readonly pieces: readonly Piece[];
}

const typeOf = (x: Operand): RealType => realOf(x.BYTES_PER_ELEMENT);

function bring(scope: Scope, op: Reduction, x: Operand, y: Operand): Terms {
  const same = x === y || op !== "dot";
  const here = isOnHost(x) || isOnHost(y);
  const most = here ? Math.min(LONGEST, Math.floor(scope.device.maxBufferBytes / 32) * 4) : LONGEST; // a multiple of every wide load
  const pieces: Piece[] = [];
  for (let from = 0; from < x.length; from += most) {
    const count = Math.min(most, x.length - from);
    const [bufferX, fromX] = pieceOf(scope, x, from, count);
    const [bufferY, fromY] = same ? [bufferX, fromX] : pieceOf(scope, y, from, count);
    pieces.push({ x: bufferX, y: bufferY, fromX, fromY, count });
  }
  return { op, same, types: [typeOf(x), same ? typeOf(x) : typeOf(y)], pieces };
}

function pieceOf(scope: Scope, x: Operand, from: number, count: number): [DeviceBuffer, number] {
  return isOnHost(x) ? [scope.copy(part(x, from, count)), 0] : [bufferOf(x), from];
}

// The groups for so many pieces of work, a work-item each, and their size on this device.
function spread(device: Device, kernel: Kernel, { group, groups }: Layout, work: number): { groups: number; group: number } {
  const size = Math.min(group, kernel.maxGroupSize, device.maxGroupSize);
  return { group: size, groups: Math.max(1, Math.min(device.computeUnits * groups, Math.ceil(work / size))) };
}

// A kernel of kernels/reduce.cl for terms of this kind.
function filterKernel(device: Device, name: string, { op, same, types: [type] }: Omit<Terms, "pieces">, how: Filter): Kernel {
  return device.kernel(name, [certificate, filter], {
    REAL: type,
    OP: op === "sum" ? 0 : op === "asum" ? 1 : same ? 3 : 2,
    LEVELS: how.levels,
    WIDTH: widthOf(type),
    UNROLL: how.unroll,
  });
}

// Numbers in a load of 16 bytes.
const widthOf = (type: RealType): number => (type === "double" ? 2 : 4);

const workspaces = new WeakMap<Device, DeviceBuffer>();

// The filter's counter, which every launch finds and leaves at 0, and so many numbers of its groups' records. Commands run one
// after another: all calls on a device share it, however many are pending, and none has to clear it.
function workspace({ device, routine }: Scope, numbers: number): DeviceBuffer {
  const known = workspaces.get(device);
  if (known && known.bytes >= 8 * (1 + numbers)) return known;
  const memory = device.allocate(routine, 8 * (1 + numbers));
  device.fill(memory, new Uint32Array(1), 0, 8);
  workspaces.set(device, memory);
  known?.free();
  return memory;
}

// Run the filter: add its levels to the sum, and return the bound of what they lost; NaN, and nothing added, if it knows nothing.
function* cascade(scope: Scope, terms: Terms, into: Superaccumulator, how: Filter): Work<number> {
  const { device } = scope;
  const { levels } = how;
  const { op, pieces } = terms;
  const [type] = terms.types;
  const width = widthOf(type);
  const errors = op === "dot" && type === "double";
  const kernel = filterKernel(device, "cascade", terms, how);
  const record = levels + 3;
  const memory = workspace(scope, device.computeUnits * how.groups * record);
  const sums = scope.scratch(8 * pieces.length * record);
  const depths = pieces.map(({ x, y, fromX, fromY, count }, i) => {
    const { group, groups } = spread(device, kernel, how, count / width);
    const pool = { localBytes: 8 * Math.max(record * ((group + 1) >> 1), (levels + 1) * group) };
    device.launch(kernel, [groups], [group], [long(fromX), long(fromY), long(count), x, y, pool, memory, sums, i]);
    return depthOf(how, errors, width, count, group, groups);
  });
  const records = new Float64Array(pieces.length * record);
  yield device.read(sums, records);
  let bound = 0;
  for (const [i, { count }] of pieces.entries()) {
    const [size, exactly] = records.subarray(i * record + levels) as unknown as [number, number];
    if (size !== 0) bound += (depths[i] as number) * 2 ** -53 * size * (1 + 2 ** -20) + Number.MIN_VALUE; // the product may underflow
    if (errors && exactly === 0) bound += count * Number.MIN_VALUE;
  }
  const parts = records.filter((_, i) => i % record < levels);
  if (!(bound < 2 ** 1000) || !parts.every(Number.isFinite)) return Number.NaN;
  for (const v of parts) into.add(v);
  return bound;
}

// The most additions that anything goes through at the last level: one for each term and each error term of its block, and
// `levels` for each block that its work-item closes and for each cascade that is added to its own. A block that does not end
// for a larger term has room for less than a turn.
function depthOf({ levels, unroll }: Filter, errors: boolean, width: number, count: number, group: number, groups: number): number {
  const turn = unroll * width;
  const mine = Math.ceil(count / (turn * group * groups)) * turn;
  const blocks = Math.ceil(mine / (BLOCK - turn)) + PLACES + 1;
  const cascades = 2 * Math.ceil(Math.log2(group)) + Math.ceil(groups / group) + 1;
  return (errors ? 2 : 1) * BLOCK + levels * (blocks + cascades);
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
    const pool = { localBytes: 8 * ACCUMULATOR * how.stride };
    device.launch(kernel, [groups], [group], [long(fromX), long(fromY), long(count), x, y, pool, digits]);
    const sums = new BigInt64Array(ACCUMULATOR);
    yield device.read(digits, sums);
    addSums(into, sums);
  }
}

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
  into.addDigits(digits, FIRST_DIGIT);
  into.addSpecials(specialsOf(sums));
}

/** One pass that returns high, low and bound of a sum; NaN where it knows nothing. */
export function* enclose(
  scope: Scope,
  op: Reduction,
  x: Operand,
  y: Operand,
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
  x: Operand,
  y: Operand,
  root: boolean,
  mode: Rounding,
  format: Format,
  choices: Choices = {},
): Work<number> {
  const terms = bring(scope, op, x, y);
  const sum = new Superaccumulator();
  const bound = yield* cascade(scope, terms, sum, { ...FILTER, ...choices.filter });
  let result = bound === bound ? settleWithin(sum, bound, root, mode, format) : undefined;
  if (result === undefined) {
    yield* expand(scope, terms, choices.stage ?? EXACT_STAGE, sum.clear(), { ...EXACT, ...choices.exact });
    result = roundSum(sum, root, mode, format);
  }
  return result === 0 && op === "sum" && !isOnHost(x) && (yield* onlyNegativeZeros(scope, x)) ? -0 : result;
}

/** Add the terms of a sum to an accumulator, and return a bound of what was lost: 0 if `exact`, where the widths may differ. */
export function* accumulate(
  scope: Scope,
  op: Reduction,
  x: Operand,
  y: Operand,
  into: Superaccumulator,
  exact: boolean,
  choices: Choices = {},
): Work<number> {
  const terms = bring(scope, op, x, y);
  const bound = exact ? Number.NaN : yield* cascade(scope, terms, into, { ...FILTER, ...choices.filter });
  if (bound === bound) return bound;
  yield* expand(scope, terms, choices.stage ?? EXACT_STAGE, into, { ...EXACT, ...choices.exact });
  return 0;
}

/** The same by one of the papers' stages, exactly. */
export function* accumulateBy(
  scope: Scope,
  stage: ExactStage,
  op: Reduction,
  x: Operand,
  y: Operand,
  into: Superaccumulator,
  how: Exact = EXACT,
): Work<void> {
  yield* expand(scope, bring(scope, op, x, y), stage, into, how);
}

// Whether a vector on the device holds nothing but -0: then that is its sum.
function* onlyNegativeZeros(scope: Scope, x: Operand): Work<boolean> {
  const { device } = scope;
  const kernel = filterKernel(device, "anyOther", { op: "sum", same: true, types: [typeOf(x), typeOf(x)] }, FILTER);
  const flag = scope.scratch(4);
  device.fill(flag, new Uint32Array(1), 0, 4);
  const { group, groups } = spread(device, kernel, FILTER, x.length);
  device.launch(kernel, [groups], [group], [long(x.length), scope.vector(x), flag]);
  const other = new Int32Array(1);
  yield device.read(flag, other);
  return other[0] === 0;
}
