// Checks of arguments. The routines, src/api and the readers of files check every argument once, before anything is written; kernels rely on
// it. Errors name the routine, the argument, its value and what was expected.
import { ShapeError } from "./errors.ts";
import { EngineArray, isOnHost, type Operand } from "./operands.ts";
import type { Format, Real, Rounding } from "./types.ts";

const TYPES = { Float64Array: "binary64", Float32Array: "binary32" } as const;

/**
 * The format of a vector; throws unless it is a live Float64Array or Float32Array, of any realm. Here and in other checks, `of` is the
 * argument that has `name` as a field, if any: putting names together takes longer than a check, so only errors do it.
 */
export function checkVector(routine: string, name: string, x: Operand, or = "", of = ""): Format {
  // instanceof is fast; the tag also recognizes vectors of another realm, and cannot be forged.
  const view = ArrayBuffer.isView(x);
  const format =
    view && x instanceof Float64Array
      ? "binary64"
      : view && x instanceof Float32Array
        ? "binary32"
        : TYPES[typedArrayTag(x) as keyof typeof TYPES];
  if (format !== undefined) {
    if (x.length === 0) checkAttached(routine, fieldOf(of, name), x as Real);
    return format;
  }
  if (x instanceof EngineArray && x.type !== "int32") return x.type;
  throw new ShapeError(`${routine}: ${fieldOf(of, name)} is ${describe(x)}, expected ${or}a Float64Array or a Float32Array`);
}

/** A field of an argument as error messages name it. */
export const fieldOf = (of: string, name: string): string => (of === "" ? name : `${of}.${name}`);

const TAG = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Int8Array.prototype), Symbol.toStringTag)?.get;

/** "Float64Array" and so on for a typed array of any realm; undefined for anything else, whatever it claims to be. */
export function typedArrayTag(x: unknown): string | undefined {
  return TAG?.call(x) as string | undefined;
}

/** Bytes: a Uint8Array of any realm. */
export function checkBytes(routine: string, bytes: Uint8Array): void {
  if (typedArrayTag(bytes) !== "Uint8Array") throw new ShapeError(`${routine}: bytes is not a Uint8Array`);
}

// A vector over a detached buffer, or over one that has shrunk, has length 0 like an empty one; only for these at() throws.
function checkAttached(routine: string, name: string, x: Real): void {
  try {
    x.at(0);
  } catch (cause) {
    throw new ShapeError(`${routine}: the buffer of ${name} is detached, expected a vector that can be read`, { cause });
  }
}

/** The common format of two vectors of equal length. */
export function checkPair(routine: string, x: Operand, y: Operand): Format {
  const format = checkVector(routine, "x", x);
  checkVectorOf(routine, "y", y, format, "x");
  checkLength(routine, x, y);
  return format;
}

/** A vector with the format of another argument, `like`. */
export function checkVectorOf(routine: string, name: string, x: Operand, format: Format, like: string): void {
  checkSameFormat(routine, name, checkVector(routine, name, x), format, like);
}

/** Precisions are never mixed. */
export function checkSameFormat(routine: string, name: string, format: Format, expected: Format, like: string): void {
  if (format !== expected) throw new ShapeError(`${routine}: ${name} is ${format}, expected ${expected} (the precision of ${like})`);
}

/** Two vectors of equal length. */
export function checkLength(routine: string, x: Operand, y: Operand): void {
  checkSize(routine, "y", y, x.length, "the length of x");
}

/** A vector of this length; `what` explains the length in the message. */
export function checkSize(routine: string, name: string, x: Operand, length: number, what: string): void {
  if (x.length !== length) throw new ShapeError(`${routine}: ${name} has length ${x.length}, expected ${length} (${what})`);
}

/** An output y may be the input x itself or separate from it, but must not overlap it partially. */
export function checkOverlap(routine: string, x: Operand, y: Operand): void {
  if (!isOnHost(x) || !isOnHost(y)) return; // arrays on an engine do not overlap
  if (x.buffer !== y.buffer || x.byteOffset === y.byteOffset) return;
  const distance = Math.abs(x.byteOffset - y.byteOffset);
  if (distance < x.byteLength) throw new ShapeError(`${routine}: y shares entries with x, expected the same vector or a separate one`);
}

/** A scalar: any number, NaN and infinities included. */
export function checkNumber(routine: string, name: string, a: number): void {
  if (typeof a !== "number") throw new ShapeError(`${routine}: ${name} is ${describe(a)}, expected a number`);
}

/** Options: an object with these properties only. */
export function checkOptions(routine: string, options: object, names: readonly string[]): void {
  if (typeof options !== "object" || options === null)
    throw new ShapeError(`${routine}: options is ${describe(options)}, expected an object`);
  for (const key of Object.keys(options))
    if (!names.includes(key)) throw new ShapeError(`${routine}: there is no option "${key}", expected ${names.join(", ")}`);
}

/** A whole number of at least `min`. */
export function checkCount(routine: string, name: string, n: number, min: number, of = ""): void {
  if (!Number.isSafeInteger(n) || n < min)
    throw new ShapeError(`${routine}: ${fieldOf(of, name)} is ${describe(n)}, expected a whole number of at least ${min}`);
}

/** True or false. */
export function checkFlag(routine: string, name: string, flag: boolean): void {
  if (typeof flag !== "boolean") throw new ShapeError(`${routine}: ${name} is ${describe(flag)}, expected true or false`);
}

/** One of a list of words. */
export function checkWord<W extends string>(routine: string, name: string, word: W, words: readonly W[], of = ""): W {
  if (words.includes(word)) return word;
  throw new ShapeError(`${routine}: ${fieldOf(of, name)} is ${describe(word)}, expected one of ${words.map((w) => `"${w}"`).join(", ")}`);
}

export const ROUNDINGS: readonly Rounding[] = ["nearest", "up", "down", "zero"];

/** A value as error messages name it. */
export function describe(x: unknown): string {
  if (typeof x === "string") return `"${x}"`;
  if (typeof x === "bigint") return `${x}n`;
  if (Array.isArray(x)) return "a plain array";
  if (typeof x === "object" && x !== null) return `an object of type ${x.constructor?.name ?? "Object"}`;
  return typeof x === "function" ? "a function" : typeof x === "symbol" ? "a symbol" : String(x);
}
