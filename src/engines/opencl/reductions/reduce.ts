// Sums and dot products on a device: the certified filter of reduce.cl, then the exact stages of exact/expansion.cl for sums that it
// leaves open. Called by the engine.
import { isOnHost, type Operand } from "../../../arrays/operands.ts";
import type { Format, Reduction, Rounding } from "../../../arrays/types.ts";
import { part } from "../../../arrays/vectors.ts";
import { roundSum, settleWithin } from "../../../exact/certify.ts";
import { Superaccumulator } from "../../../exact/superaccumulator.ts";
import type { Device, DeviceBuffer, Kernel, Work } from "../../device.ts";
import { bufferOf } from "../../deviceArray.ts";
import type { Scope } from "../../deviceScope.ts";
import type { ExactStage } from "../../kernels.ts";
import type { Choices } from "../choices.ts";
import { double, long, type RealType, realOf } from "../device/numbers.ts";
import { ACCUMULATOR, DIGITS, FIRST_DIGIT, specialsOf } from "../exact/layout.ts";
import { certificate, expansion, superaccumulator } from "../exact/sources.ts";
import { stageDefines } from "../exact/stages.ts";
import { reduce as filter } from "./sources.generated.ts";

/** How a pass is launched on a device. */
export interface Layout {
  /** Work-items in a work-group. */
  readonly group: number;
  /** Work-groups per multiprocessor. */
  readonly groups: number;
}

/** The parameters of the filter: see reduce.cl. */
export interface Filter extends Layout {
  /** 2, 3 or 4. */
  readonly levels: number;
  /** Loads of 16 bytes that a work-item has in flight. */
  readonly unroll: number;
}

// On an H200, 2^28 terms, relative to the 4.53 TB/s of cuBLAS: exdot 99.9 % and exsum 98.4 %; with half the loads in flight 92 % for
// exsum. For binary64, three levels are no faster, and leave a relative error of 2^-26 in a sum with condition 1e30. For binary32
// (with half the loads: exdot 97 % and exsum 78 %, with three levels 98 % and 86 %) they leave 2^-23 if exponents spread over 60 bits
// or more. That is not accurate enough either, and the exact stage takes several times as long.
export const FILTER: Filter = { levels: 4, unroll: 4, group: 256, groups: 4 };

/** The parameters of the exact stages. */
export interface Exact extends Layout {
  /** Superaccumulators in local memory that the work-items of a work-group share. */
  readonly stride: number;
}

export const EXACT: Exact = { group: 256, groups: 4, stride: 16 };
/** The stage for sums that the filter leaves open. */
const EXACT_STAGE: ExactStage = "fpe4ee";

// The grids of reduce.cl: the terms in a block, and how often a grid can be replaced because of a larger term, at least 2^5 times the
// one before.
const BLOCK = 128;
const MAX_GRIDS = Math.ceil(1900 / 5);

// The maximum number of terms in one launch: see the digits in expansion.cl and the bound in reduce.cl.
const MAX_TERMS = 2 ** 29;

/** `count` elements of two vectors on the device. */
interface Piece {
  readonly x: DeviceBuffer;
  readonly y: DeviceBuffer;
  readonly fromX: number;
  readonly fromY: number;
  readonly count: number;
}

/** The terms of a sum on the device. All are copied before the first stage: the caller may change its arrays while later stages run. */
interface Terms {
  readonly op: Reduction;
  readonly same: boolean; // whether both operands are the same vector
  readonly types: readonly [RealType, RealType];
  readonly pieces: readonly Piece[];
}

const typeOf = (x: Operand): RealType => realOf(x.BYTES_PER_ELEMENT);

function upload(scope: Scope, op: Reduction, x: Operand, y: Operand): Terms {
  const same = x === y || op !== "dot";
  const isCopied = isOnHost(x) || isOnHost(y);
  const fitting = Math.floor(scope.device.maxBufferBytes / 32) * 4; // a multiple of every wide load
  const maxTerms = isCopied ? Math.min(MAX_TERMS, fitting) : MAX_TERMS;
  const pieces: Piece[] = [];
  for (let from = 0; from < x.length; from += maxTerms) {
    const count = Math.min(maxTerms, x.length - from);
    const [bufferX, fromX] = pieceOf(scope, x, from, count);
    const [bufferY, fromY] = same ? [bufferX, fromX] : pieceOf(scope, y, from, count);
    pieces.push({ x: bufferX, y: bufferY, fromX, fromY, count });
  }
  return { op, same, types: [typeOf(x), same ? typeOf(x) : typeOf(y)], pieces };
}

function pieceOf(scope: Scope, x: Operand, from: number, count: number): [DeviceBuffer, number] {
  return isOnHost(x) ? [scope.copy(part(x, from, count)), 0] : [bufferOf(x), from];
}

// The size and the number of work-groups for `work` units of work, one per work-item, within the limits of the device.
function groupsFor(device: Device, kernel: Kernel, { group, groups }: Layout, work: number): { groups: number; group: number } {
  const size = Math.min(group, kernel.maxGroupSize, device.maxGroupSize);
  return { group: size, groups: Math.max(1, Math.min(device.computeUnits * groups, Math.ceil(work / size))) };
}

// A kernel of reduce.cl for these terms. `finish` is the source of what follows the reduction, if the device does it.
function filterKernel(device: Device, name: string, terms: Omit<Terms, "pieces">, how: Filter, finish?: string): Kernel {
  const { op, same, types } = terms;
  const [type] = types;
  return device.kernel(name, finish === undefined ? [certificate, filter] : [certificate, finish, filter], {
    REAL: type,
    OP: op === "sum" ? 0 : op === "asum" ? 1 : same ? 3 : 2,
    LEVELS: how.levels,
    WIDTH: widthOf(type),
    UNROLL: how.unroll,
    ...(finish === undefined ? {} : { FINISH: 1 }),
  });
}

// Numbers in a load of 16 bytes.
const widthOf = (type: RealType): number => (type === "double" ? 2 : 4);

const workspaces = new WeakMap<Device, DeviceBuffer>();

// The filter's counter, which is 0 before and after every launch, and room for `numbers` of its groups' records. Commands run one after
// another, so all calls on a device share this memory, however many are pending, and none needs to clear it.
function workspace({ device, routine }: Scope, numbers: number): DeviceBuffer {
  const known = workspaces.get(device);
  if (known && known.bytes >= 8 * (1 + numbers)) return known;
  const memory = device.allocate(routine, 8 * (1 + numbers));
  device.fill(memory, new Uint32Array(1), 0, 8);
  workspaces.set(device, memory);
  known?.free();
  return memory;
}

// Run the filter: add its levels to the sum, and return a bound of the error. NaN, with nothing added, if there is no bound.
function* cascade(scope: Scope, terms: Terms, into: Superaccumulator, given: Partial<Filter> = {}): Work<number> {
  const { device } = scope;
  const how = { ...FILTER, ...given };
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
    const { group, groups } = groupsFor(device, kernel, how, count / width);
    const pool = { localBytes: poolFor(how, group).localBytes };
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

/** Whether launchDot() takes vectors of this length: one launch adds all terms. */
export const fitsOneLaunch = (n: number): boolean => n <= MAX_TERMS;

/** A part of a vector of binary64 numbers on the device; `from` is even. */
export interface Elements {
  readonly buffer: DeviceBuffer;
  readonly from: number;
}

/**
 * Start the dot product of two vectors of length n, or the norm of one (y is x), and what follows from it there: `finish` is the source of
 * finishReduction(), and `args` are its arguments after the bound's depth. The host does not wait.
 */
export function launchDot(
  scope: Scope,
  n: number,
  x: Elements,
  y: Elements,
  root: boolean,
  finish: string,
  state: DeviceBuffer,
  args: readonly number[],
): void {
  const { device } = scope;
  const kernel = filterKernel(device, "cascade", { op: "dot", same: root, types: ["double", "double"] }, FILTER, finish);
  const { group, groups } = groupsFor(device, kernel, FILTER, n / 2);
  const { localBytes, record } = poolFor(FILTER, group);
  const memory = workspace(scope, device.computeUnits * FILTER.groups * record);
  const depth = double(depthOf(FILTER, true, 2, n, group, groups));
  const terms = [long(x.from), long(y.from), long(n), x.buffer, y.buffer] as const;
  device.launch(kernel, [groups], [group], [...terms, { localBytes }, memory, state, depth, ...args]);
}

/** The same exactly, for a sum that the certificate did not decide. Returns the result. */
export function* exactDot(scope: Scope, n: number, x: Elements, y: Elements, root: boolean): Work<number> {
  const sum = new Superaccumulator();
  const pieces = [{ x: x.buffer, y: y.buffer, fromX: x.from, fromY: y.from, count: n }];
  yield* expand(scope, { op: "dot", same: false, types: ["double", "double"], pieces }, sum);
  return roundSum(sum, root, "nearest", "binary64");
}

// The local memory of a work-group, and the numbers in a record.
function poolFor({ levels }: Filter, group: number): { localBytes: number; record: number } {
  const record = levels + 3;
  return { localBytes: 8 * Math.max(record * ((group + 1) >> 1), (levels + 1) * group), record };
}

// The maximum number of additions that a term goes through at the last level: one for each term and each error term of its block, and
// `levels` for each block that its work-item closes and for each cascade that is added to its own. A block that does not end because
// of a larger term has room for less than one iteration.
function depthOf({ levels, unroll }: Filter, errors: boolean, width: number, count: number, group: number, groups: number): number {
  const perIteration = unroll * width;
  const perItem = Math.ceil(count / (perIteration * group * groups)) * perIteration;
  const blocks = Math.ceil(perItem / (BLOCK - perIteration)) + MAX_GRIDS + 1;
  const cascades = 2 * Math.ceil(Math.log2(group)) + Math.ceil(groups / group) + 1;
  return (errors ? 2 : 1) * BLOCK + levels * (blocks + cascades);
}

// Add all terms exactly, by one of the papers' stages.
function* expand(
  scope: Scope,
  terms: Terms,
  into: Superaccumulator,
  stage: ExactStage = EXACT_STAGE,
  given: Partial<Exact> = {},
): Work<void> {
  const { device } = scope;
  const how = { ...EXACT, ...given };
  const { op, types, pieces } = terms;
  const kernel = device.kernel("expansion", [certificate, superaccumulator, expansion], {
    REAL_X: types[0],
    REAL_Y: types[1],
    OP: ["sum", "asum", "dot"].indexOf(op),
    ...stageDefines(stage),
    STRIDE: how.stride,
  });
  const digits = scope.scratch(8 * ACCUMULATOR);
  for (const { x, y, fromX, fromY, count } of pieces) {
    device.fill(digits, new Uint32Array(2));
    const { group, groups } = groupsFor(device, kernel, how, count / 2);
    const pool = { localBytes: 8 * ACCUMULATOR * how.stride };
    device.launch(kernel, [groups], [group], [long(fromX), long(fromY), long(count), x, y, pool, digits]);
    const sums = new BigInt64Array(ACCUMULATOR);
    yield device.read(digits, sums);
    addDigitSums(into, sums);
  }
}

// Add a superaccumulator of the device, whose carries have not been propagated.
function addDigitSums(into: Superaccumulator, sums: BigInt64Array): void {
  const digits = new Float64Array(DIGITS);
  let carry = 0n;
  for (let k = 0; k < DIGITS; k++) {
    const v = (sums[k] as bigint) + carry;
    carry = v >> 32n;
    digits[k] = Number(BigInt.asUintN(32, v));
  }
  digits[DIGITS - 1] = (digits[DIGITS - 1] as number) + Number(carry) * 2 ** 32; // the last digit has the sign
  into.addDigits(digits, FIRST_DIGIT);
  into.addSpecials(specialsOf(sums));
}

/** One pass that returns an enclosure of a sum, or NaN if it has no bound. */
export function* enclose(
  scope: Scope,
  op: Reduction,
  x: Operand,
  y: Operand,
  how?: Filter,
): Work<{ high: number; low: number; bound: number }> {
  const sum = new Superaccumulator();
  const bound = yield* cascade(scope, upload(scope, op, x, y), sum, how);
  const high = bound === bound ? sum.round() : Number.NaN;
  if (!Number.isFinite(high)) return { high, low: 0, bound: Number.NaN };
  const low = sum.add(-high).round();
  return { high, low, bound: bound + Math.abs(sum.add(-low).round()) * (1 + 2 ** -52) };
}

/** A reduction: by the filter, and exactly if that does not determine the result. */
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
  const terms = upload(scope, op, x, y);
  const sum = new Superaccumulator();
  const bound = yield* cascade(scope, terms, sum, choices.filter);
  let result = bound === bound ? settleWithin(sum, bound, root, mode, format) : undefined;
  if (result === undefined) {
    yield* expand(scope, terms, sum.clear(), choices.stage, choices.exact);
    result = roundSum(sum, root, mode, format);
  }
  return result === 0 && op === "sum" && !isOnHost(x) && (yield* onlyNegativeZeros(scope, x)) ? -0 : result;
}

/** Add the terms of a sum to an accumulator, and return a bound of the error: 0 if `exact`. Only then may the widths of x and y differ. */
export function* accumulate(
  scope: Scope,
  op: Reduction,
  x: Operand,
  y: Operand,
  into: Superaccumulator,
  exact: boolean,
  choices: Choices = {},
): Work<number> {
  const terms = upload(scope, op, x, y);
  const bound = exact ? Number.NaN : yield* cascade(scope, terms, into, choices.filter);
  if (bound === bound) return bound;
  yield* expand(scope, terms, into, choices.stage, choices.exact);
  return 0;
}

/** The same exactly, by one of the papers' stages. */
export function* accumulateBy(
  scope: Scope,
  stage: ExactStage,
  op: Reduction,
  x: Operand,
  y: Operand,
  into: Superaccumulator,
  how?: Exact,
): Work<void> {
  yield* expand(scope, upload(scope, op, x, y), into, stage, how);
}

// Whether all elements of a vector on the device are -0, and so its sum is too.
function* onlyNegativeZeros(scope: Scope, x: Operand): Work<boolean> {
  const { device } = scope;
  const kernel = filterKernel(device, "anyOther", { op: "sum", same: true, types: [typeOf(x), typeOf(x)] }, FILTER);
  const flag = scope.scratch(4);
  device.fill(flag, new Uint32Array(1), 0, 4);
  const { group, groups } = groupsFor(device, kernel, FILTER, x.length);
  device.launch(kernel, [groups], [group], [long(x.length), scope.vector(x), flag]);
  const other = new Int32Array(1);
  yield device.read(flag, other);
  return other[0] === 0;
}
