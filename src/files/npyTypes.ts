// The types of numbers in .npy files: how their bytes become binary64 numbers, or binary32 for those of that format. npyHeader.ts finds the
// type of a file; npy.ts, the command and the ranks of MPI read with it. No value is ever rounded.
import { LITTLE_ENDIAN } from "../arrays/byteOrder.ts";
import { FormatError } from "../arrays/errors.ts";
import type { Real } from "../arrays/types.ts";
import { newVector } from "../arrays/vectors.ts";
import { bytesOf, swapBytes } from "./bytes.ts";

/** The value at a byte; undefined if it has none, or if binary64 does not hold it exactly. */
type Read = (view: DataView, at: number, littleEndian: boolean) => number | undefined;

interface Kind {
  /** Bytes per number in the file. */
  readonly width: 1 | 2 | 4 | 8;
  /** Bytes per number in memory. */
  readonly precision: 4 | 8;
  /** Absent if the bytes in the file are those in memory, but for their order. */
  readonly read?: Read;
}

/** How the numbers of a file are stored. */
export interface NpyType extends Kind {
  readonly littleEndian: boolean;
}

/** How the numbers of a file are stored, and in which order. An index in an error message needs both. */
export interface NpyLayout {
  readonly type: NpyType;
  readonly shape: readonly number[];
  readonly fortranOrder: boolean;
}

const converted = (width: Kind["width"], read: Read): Kind => ({ width, precision: 8, read });

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["f8", { width: 8, precision: 8 }],
  ["f4", { width: 4, precision: 4 }],
  ["f2", converted(2, (view, at, littleEndian) => half(view.getUint16(at, littleEndian)))],
  ["b1", converted(1, (view, at) => (view.getUint8(at) <= 1 ? view.getUint8(at) : undefined))],
  ["i1", converted(1, (view, at) => view.getInt8(at))],
  ["u1", converted(1, (view, at) => view.getUint8(at))],
  ["i2", converted(2, (view, at, littleEndian) => view.getInt16(at, littleEndian))],
  ["u2", converted(2, (view, at, littleEndian) => view.getUint16(at, littleEndian))],
  ["i4", converted(4, (view, at, littleEndian) => view.getInt32(at, littleEndian))],
  ["u4", converted(4, (view, at, littleEndian) => view.getUint32(at, littleEndian))],
  ["i8", converted(8, (view, at, littleEndian) => long(view.getInt32(littleEndian ? at + 4 : at, littleEndian), view, at, littleEndian))],
  ["u8", converted(8, (view, at, littleEndian) => long(view.getUint32(littleEndian ? at + 4 : at, littleEndian), view, at, littleEndian))],
] as const);

/** The type that a header names, such as "<f8"; undefined if it is not supported. The byte order of a single byte says nothing. */
export function npyType(descr: unknown): NpyType | undefined {
  const [, order, name] = (typeof descr === "string" && /^([<>|])([fbiu]\d)$/.exec(descr)) || [];
  const kind = KINDS.get(name as string);
  return kind === undefined || (order === "|" && kind.width > 1) ? undefined : { ...kind, littleEndian: order !== ">" };
}

/** Raw numbers, little-endian. */
export const RAW: Readonly<Record<4 | 8, NpyType>> = { 4: npyType("<f4") as NpyType, 8: npyType("<f8") as NpyType };

// binary16: a sign, 5 bits of exponent and 10 of significand. Every value is exact in binary64.
function half(bits: number): number {
  const sign = bits >>> 15 === 0 ? 1 : -1;
  const exponent = (bits >>> 10) & 31;
  const significand = bits & 1023;
  if (exponent === 31) return significand === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? significand * 2 ** -24 : (1024 + significand) * 2 ** (exponent - 25));
}

// A 64-bit integer, given its high word. Up to 2^53 in magnitude, the sum is exact; beyond, it may have been rounded.
function long(high: number, view: DataView, at: number, littleEndian: boolean): number | undefined {
  const low = view.getUint32(littleEndian ? at : at + 4, littleEndian);
  const value = high * 2 ** 32 + low;
  const isExact = Math.abs(value) < 2 ** 53 || BigInt(value) === (BigInt(high) << 32n) + BigInt(low);
  return isExact ? value : undefined;
}

/** A new vector for numbers of this type. */
export function vectorOf(routine: string, { precision }: NpyType, count: number): Real {
  return newVector<Real>(routine, precision === 8 ? new Float64Array(0) : new Float32Array(0), count);
}

/** The bytes to read from a file for these numbers: their own, or others that decode() will convert. */
export function rawBytes({ read, width }: NpyType, numbers: Real): Uint8Array {
  return read === undefined ? bytesOf(numbers) : new Uint8Array(numbers.length * width);
}

/** Makes numbers of the bytes that were read; `first` is the index of the first one in the file. */
export function decode(routine: string, layout: NpyLayout, raw: Uint8Array, numbers: Real, first: number): void {
  const { width, littleEndian, read } = layout.type;
  if (read === undefined) {
    if (littleEndian !== LITTLE_ENDIAN) swapBytes(raw, width as 4 | 8);
    return;
  }
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  for (let k = 0; k < numbers.length; k++) numbers[k] = read(view, k * width, littleEndian) ?? refuse(routine, layout, view, k, first);
}

function refuse(routine: string, { type, shape, fortranOrder }: NpyLayout, view: DataView, k: number, first: number): never {
  const element = `${routine}: element ${placeOf(first + k, shape, fortranOrder)}`;
  if (type.width === 1) throw new FormatError(`${element} has the byte ${view.getUint8(k)}, expected a boolean: 0 or 1`);
  const isSigned = type.read === KINDS.get("i8")?.read;
  const value = isSigned ? view.getBigInt64(8 * k, type.littleEndian) : view.getBigUint64(8 * k, type.littleEndian);
  throw new FormatError(`${element} is ${value}, expected an integer that binary64 holds exactly`);
}

// The indices of element k in the order of the file.
function placeOf(k: number, shape: readonly number[], fortranOrder: boolean): string {
  if (shape.length < 2) return String(k);
  const indices: number[] = [];
  let rest = k;
  for (const n of fortranOrder ? shape : [...shape].reverse()) {
    indices.push(rest % n);
    rest = Math.floor(rest / n);
  }
  return `(${(fortranOrder ? indices : indices.reverse()).join(", ")})`;
}
