// How the library creates vectors: new ones, copies, and views of a part. Every layer above uses these functions, which throw an
// EngineError if there is no memory.

import { EngineError } from "./errors.ts";
import type { Operand } from "./operands.ts";
import type { Format, Real } from "./types.ts";

/** The format of a vector. */
export function formatOf(x: Operand): Format {
  return x.BYTES_PER_ELEMENT === 8 ? "binary64" : "binary32"; // not instanceof: vectors come from any realm
}

/** A new vector with the precision of `like`, which may be on an engine, of a subclass or of another realm. */
export function newVector<V extends Real>(routine: string, like: V, length: number): V;
export function newVector(routine: string, like: Operand, length: number): Real;
export function newVector(routine: string, like: Operand, length: number): Real {
  return orNoMemory(routine, length, () => (like.BYTES_PER_ELEMENT === 8 ? new Float64Array(length) : new Float32Array(length)));
}

/** A new vector with the elements of x. */
export function copyOf<V extends Real>(routine: string, x: V): V {
  const copy = newVector(routine, x, x.length);
  copy.set(x);
  return copy;
}

/** A view of n elements of x from element i on. Not subarray(): a subclass may override it to return another type. */
export function part(x: Real, i: number, n: number): Real;
export function part(x: Real | Int32Array, i: number, n: number): Real | Int32Array;
export function part(x: Real | Int32Array, i: number, n: number): Real | Int32Array {
  const at = x.byteOffset + i * x.BYTES_PER_ELEMENT;
  if (x instanceof Int32Array) return new Int32Array(x.buffer, at, n);
  return x.BYTES_PER_ELEMENT === 8 ? new Float64Array(x.buffer, at, n) : new Float32Array(x.buffer, at, n);
}

// Up to this number of elements, a loop is faster than set() with a view, which takes 45 ns.
const SHORT = 16;

/** Copy n elements of x from element i on to element `at` of another vector. */
export function copyPart<V extends Real | Int32Array>(x: V, i: number, n: number, to: V, at: number): void {
  if (n <= SHORT) for (let k = 0; k < n; k++) to[at + k] = x[i + k] as number;
  else to.set(i === 0 && n === x.length ? x : part(x, i, n), at);
}

/** A size in bytes, rounded up to whole cache lines, so that what follows in a block of memory is aligned. */
export function aligned(bytes: number): number {
  return Math.ceil(bytes / 64) * 64;
}

/** A new array of 32-bit integers. */
export function newIntegers(routine: string, length: number): Int32Array {
  return orNoMemory(routine, length, () => new Int32Array(length));
}

function orNoMemory<A>(routine: string, length: number, make: () => A): A {
  try {
    return make();
  } catch (cause) {
    throw new EngineError(`${routine}: no memory for ${length} numbers`, { cause });
  }
}
