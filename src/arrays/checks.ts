import { ShapeError } from "./errors.ts";
import { EngineArray, isOnHost, type Operand } from "./operands.ts";
import type { Format, Real, Rounding } from "./types.ts";

// Arguments are checked once, at the public door, before anything is written.

const TYPES = { Float64Array: "binary64", Float32Array: "binary32" } as const;

/** The format of a vector; throws unless it is a live Float64Array or Float32Array, of any realm. */
export function checkVector(routine: string, name: string, x: Operand, or = ""): Format {
  // The first two are the fast way; the tag also knows vectors of another realm, and no impostor.
  const view = ArrayBuffer.isView(x);
  const format =
    view && x instanceof Float64Array
      ? "binary64"
      : view && x instanceof Float32Array
        ? "binary32"
        : TYPES[typedArrayTag(x) as keyof typeof TYPES];
  if (format !== undefined) {
    if (x.length === 0) checkAttached(routine, name, x as Real);
    return format;
  }
  if (x instanceof EngineArray && x.type !== "int32") return x.type;
  throw new ShapeError(`${routine}: ${name} is ${describe(x)}, expected ${or}a Float64Array or a Float32Array`);
}

const TAG = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Int8Array.prototype), Symbol.toStringTag)?.get;

/** "Float64Array" and so on for a typed array of any realm, undefined for anything else, whatever it says of itself. */
export function typedArrayTag(x: unknown): string | undefined {
  return TAG?.call(x) as string | undefined;
}

// A detached buffer, or one that has shrunk under its view, makes a vector of length 0; at() tells them apart.
function checkAttached(routine: string, name: string, x: Real): void {
  try {
    x.at(0);
  } catch (cause) {
    throw new ShapeError(`${routine}: the buffer of ${name} is detached, expected a vector that can be read`, { cause });
  }
}

/** The common format of two vectors of one length. */
export function checkPair(routine: string, x: Operand, y: Operand): Format {
  const format = checkVector(routine, "x", x);
  checkVectorOf(routine, "y", y, format, "x");
  checkLength(routine, x, y);
  return format;
}

/** A vector of the format of another argument. */
export function checkVectorOf(routine: string, name: string, x: Operand, format: Format, like: string): void {
  checkSameFormat(routine, name, checkVector(routine, name, x), format, like);
}

/** Precisions are never mixed. */
export function checkSameFormat(routine: string, name: string, format: Format, expected: Format, like: string): void {
  if (format !== expected) throw new ShapeError(`${routine}: ${name} is ${format}, expected ${expected} (the precision of ${like})`);
}

/** Two vectors of one length. */
export function checkLength(routine: string, x: Operand, y: Operand): void {
  checkSize(routine, "y", y, x.length, "the length of x");
}

/** A vector of this length, which is that of something. */
export function checkSize(routine: string, name: string, x: Operand, length: number, what: string): void {
  if (x.length !== length) throw new ShapeError(`${routine}: ${name} has length ${x.length}, expected ${length} (${what})`);
}

/** An output may be the same vector as the input or share nothing with it, but not overlap it. */
export function checkOverlap(routine: string, x: Operand, y: Operand): void {
  if (!isOnHost(x) || !isOnHost(y)) return; // an array on an engine is a vector of its own
  if (x.buffer !== y.buffer || x.byteOffset === y.byteOffset) return;
  const distance = Math.abs(x.byteOffset - y.byteOffset);
  if (distance < x.byteLength) throw new ShapeError(`${routine}: y shares entries with x, expected the same vector or a separate one`);
}

/** A scalar: any number, NaN and infinities included. */
export function checkNumber(routine: string, name: string, a: number): void {
  if (typeof a !== "number") throw new ShapeError(`${routine}: ${name} is ${describe(a)}, expected a number`);
}

/** Options: an object with none but these properties. */
export function checkOptions(routine: string, options: object, names: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw new ShapeError(`${routine}: options is ${describe(options)}, expected an object`);
  const stray = Object.keys(options).find((key) => !names.includes(key));
  if (stray !== undefined) throw new ShapeError(`${routine}: there is no option "${stray}", expected ${names.join(", ")}`);
}

/** A whole number of at least `least`. */
export function checkCount(routine: string, name: string, n: number, least: number): void {
  if (!Number.isSafeInteger(n) || n < least)
    throw new ShapeError(`${routine}: ${name} is ${describe(n)}, expected a whole number of at least ${least}`);
}

/** True or false. */
export function checkFlag(routine: string, name: string, flag: boolean): void {
  if (typeof flag !== "boolean") throw new ShapeError(`${routine}: ${name} is ${describe(flag)}, expected true or false`);
}

/** One of a list of words. */
export function checkWord<W extends string>(routine: string, name: string, word: W, words: readonly W[]): W {
  if (words.includes(word)) return word;
  throw new ShapeError(`${routine}: ${name} is ${describe(word)}, expected one of ${words.map((w) => `"${w}"`).join(", ")}`);
}

export const ROUNDINGS: readonly Rounding[] = ["nearest", "up", "down", "zero"];

/** A value as a person would name it in an error message. */
export function describe(x: unknown): string {
  if (typeof x === "string") return `"${x}"`;
  if (typeof x === "bigint") return `${x}n`;
  if (Array.isArray(x)) return "a plain array";
  if (typeof x === "object" && x !== null) return `an object of type ${x.constructor?.name ?? "Object"}`;
  return typeof x === "function" ? "a function" : typeof x === "symbol" ? "a symbol" : String(x);
}
