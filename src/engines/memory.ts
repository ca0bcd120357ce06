// The memory of an engine: where residents, plans and factors live.
import type { Real } from "../arrays/types.ts";
import { copyOf } from "../arrays/vectors.ts";

/** Where an engine keeps data. */
export interface Store {
  /** An array of so many elements, of the type of `like`, with these pieces in it, each from its place on. */
  keep<V extends Real | Int32Array>(like: V, length: number, pieces: Iterable<readonly [V, number]>): Kept<V>;
  /** A copy of such an array for the caller. */
  fetch<V extends Real | Int32Array>(array: V): Promise<V>;
  /** Whether patterns of sparse matrices are kept there too: else they are analysed, and kept, on this thread. */
  readonly patterns: boolean;
}
/** An array that is kept, and how to give its memory back. */
export interface Kept<V> {
  readonly array: V;
  free(): void;
}

/** The store of an engine whose memory is at hand. */
export function storeIn(allocate: <V extends Real | Int32Array>(like: V, length: number) => Kept<V>, patterns: boolean): Store {
  return {
    keep<V extends Real | Int32Array>(like: V, length: number, pieces: Iterable<readonly [V, number]>) {
      const kept = allocate(like, length);
      for (const [piece, at] of pieces) kept.array.set(piece, at);
      return kept;
    },
    fetch: async (array) => copyOf("read", array as Real) as typeof array,
    patterns,
  };
}
