import { checkCount, checkVector, checkWord } from "./checks.ts";
import { embeddedMemory } from "./engines/embedded.ts";
import { EngineError, ShapeError } from "./errors.ts";
import type { Format, Real } from "./types.ts";

/** A zeroed array in the embedded engine's own memory, which routines read and write without a copy. It never detaches. */
export function allocate(length: number, precision?: "binary64"): Float64Array;
export function allocate(length: number, precision: "binary32"): Float32Array;
export function allocate(length: number, precision: Format = "binary64"): Float64Array | Float32Array {
  checkCount("allocate", "length", length, 0);
  checkWord("allocate", "precision", precision, ["binary64", "binary32"]);
  const type = precision === "binary64" ? Float64Array : Float32Array;
  const memory = embeddedMemory();
  if (memory) return memory.allocate<Float64Array | Float32Array>(length, type);
  try {
    return new type(length); // the reference engine has no memory of its own
  } catch (cause) {
    throw new EngineError(`allocate: no memory for ${length} numbers`, { cause });
  }
}

/** Give an array from `allocate` back. It must not be used afterwards; an array never freed goes with the collector, together with its neighbours. */
export function free(array: Real): void {
  checkVector("free", "array", array);
  const memory = embeddedMemory();
  if (memory && !memory.free(array)) throw new ShapeError("free: array is not one that allocate returned, or was freed before");
}
