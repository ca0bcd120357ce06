import { EngineError } from "./errors.ts";
import type { Real } from "./types.ts";

/** A new vector of the precision of `like`, which may be of a subclass or of another realm. */
export function newVector<V extends Real>(routine: string, like: V, length: number): V {
  return room(routine, length, () => (like.BYTES_PER_ELEMENT === 8 ? new Float64Array(length) : new Float32Array(length))) as V;
}

/** A new vector with the elements of x. */
export function copyOf<V extends Real>(routine: string, x: V): V {
  const copy = newVector(routine, x, x.length);
  copy.set(x);
  return copy;
}

/** So many whole numbers. */
export function newIntegers(routine: string, length: number): Int32Array {
  return room(routine, length, () => new Int32Array(length));
}

function room<A>(routine: string, length: number, make: () => A): A {
  try {
    return make();
  } catch (cause) {
    throw new EngineError(`${routine}: no memory for ${length} numbers`, { cause });
  }
}
