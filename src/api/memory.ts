// allocate() and free(): arrays in the memory of the embedded engine (engines/wasm/arena.ts), or ordinary arrays where it has none.
import { checkCount, checkVector, checkWord, typedArrayTag } from "../arrays/checks.ts";
import { EngineError, ShapeError } from "../arrays/errors.ts";
import type { Format, Real } from "../arrays/types.ts";
import { embeddedMemory } from "../engines/embeddedVectors.ts";

type Allocated = Real | Int32Array;

const TYPES = { binary64: Float64Array, binary32: Float32Array, int32: Int32Array } as const;
const ordinary = new WeakSet<Allocated>();

/**
 * A zeroed array in the memory of the embedded engine, which routines read without a copy: of numbers or, for the pointers and indices of
 * sparse matrices, of integers. It never detaches. Arrays allocated one after another share a memory, which has room for at least four
 * of the size of its first. If a call uses arrays from different memories, all but those of one are copied, as ordinary arrays are.
 * @example
 * const x = allocate(1000).fill(0.1);
 * exsum(x); // 100
 * free(x);
 */
export function allocate(length: number, precision?: "binary64"): Float64Array<ArrayBuffer>;
export function allocate(length: number, precision: "binary32"): Float32Array<ArrayBuffer>;
export function allocate(length: number, precision: "int32"): Int32Array<ArrayBuffer>;
export function allocate(
  length: number,
  precision: Format | "int32" = "binary64",
): Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> {
  checkCount("allocate", "length", length, 0);
  checkWord("allocate", "precision", precision, ["binary64", "binary32", "int32"]);
  const type = TYPES[precision];
  const memory = embeddedMemory();
  if (memory) return memory.allocate<Float64Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>>(length, type);
  try {
    const array = new type(length); // the reference engine has no memory of its own
    ordinary.add(array);
    return array;
  } catch (cause) {
    throw new EngineError(`allocate: no memory for ${length} numbers`, { cause });
  }
}

/**
 * Free an array from `allocate`, which must not be used afterwards. An array that is never freed is garbage-collected together with
 * all others in its memory.
 * @example
 * const x = allocate(1000, "binary32");
 * free(x);
 */
export function free(array: Real | Int32Array): void {
  if (typedArrayTag(array) !== "Int32Array") checkVector("free", "array", array as Real);
  const memory = embeddedMemory();
  if (!(memory ? memory.free(array) : ordinary.delete(array)))
    throw new ShapeError("free: array is not one that allocate returned, or was freed before");
}
