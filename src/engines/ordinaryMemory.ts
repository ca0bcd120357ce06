// The memory of the reference engine: ordinary arrays, which the garbage collector frees. Engines whose memory the host can read share
// copyElements() and filled().
import { rowMajor, rowMajorCopy, type StridedMatrix } from "../arrays/matrix.ts";
import type { EngineArray } from "../arrays/operands.ts";
import type { Real } from "../arrays/types.ts";
import { newIntegers, newVector, part } from "../arrays/vectors.ts";
import type { Allocation, HostMemory, Piece } from "./memory.ts";

const collected = <T>(value: T): Allocation<T> => ({ value, isCollected: true, free() {} });

export const ordinaryMemory: HostMemory = {
  isOnHost: true,
  holdsPatterns: false,
  upload: (routine, like, length, pieces) => collected(filled(newArray(routine, like, length), pieces)),
  download: copyElements,
  keepMatrix(routine, A: StridedMatrix, lasting) {
    return collected(lasting ? rowMajor(rowMajorCopy(routine, A), A.rows, A.cols) : A);
  },
  reserve: (_routine, bytes) => collected(new Uint8Array(bytes)),
};

/** EngineMemory.download() for a memory that the host can read. */
export function copyElements<V extends Real | Int32Array>(
  routine: string,
  array: V | EngineArray,
  from = 0,
  length = array.length - from,
): V {
  const elements = array as V;
  const copy = newArray(routine, elements, length);
  copy.set(elements instanceof Int32Array ? elements.subarray(from, from + length) : part(elements as Real, from, length));
  return copy;
}

/** Copies pieces into an array, and returns it. */
export function filled<V extends Real | Int32Array>(array: V, pieces: Iterable<Piece<V>>): V {
  for (const [elements, at] of pieces) array.set(elements, at);
  return array;
}

function newArray<V extends Real | Int32Array>(routine: string, like: V, length: number): V {
  return (like instanceof Int32Array ? newIntegers(routine, length) : newVector(routine, like as Real, length)) as V;
}
