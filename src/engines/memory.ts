// How data stays on an engine between calls: residents, plans, factors and the matrices of solve() are all Allocations of the engine's
// EngineMemory. src/api/residents.ts and src/routines/lifetime.ts decide when they are freed.
import type { StridedOperand } from "../arrays/matrix.ts";
import type { EngineArray } from "../arrays/operands.ts";
import type { Real, Sparse } from "../arrays/types.ts";

/** A value, or a promise of one on an asynchronous engine. */
export type Later<T> = T | Promise<T>;

/** Something in the memory of an engine. Its owner frees it, once. */
export interface Allocation<T> {
  readonly value: T;
  /** Whether garbage collection of the value frees the memory as well, so that free() is optional. */
  readonly isCollected?: boolean;
  free(): void;
}

/** The elements of an array and the index at which they go. */
export type Piece<V> = readonly [elements: V, at: number];

/** The memory of an engine. */
export interface EngineMemory {
  /** Whether the host can read it. If so its arrays are typed arrays, otherwise EngineArrays. */
  readonly isOnHost: boolean;
  /** Whether it also holds the patterns of sparse matrices. If not, they stay in ordinary arrays. */
  readonly holdsPatterns: boolean;
  /** A new array of the type of `like` and of this length, filled with `pieces`. */
  upload<V extends Real | Int32Array>(routine: string, like: V, length: number, pieces: Iterable<Piece<V>>): Allocation<V | EngineArray>;
  /** A copy on the host of `length` elements from `from` on; default: all. */
  download<V extends Real | Int32Array>(routine: string, array: V | EngineArray, from?: number, length?: number): Later<V>;
  /** A matrix in this memory, without gaps and row by row. If it is there already it is used in place, unless `lasting` asks for a copy that the caller cannot change. */
  keepMatrix(routine: string, A: StridedOperand, lasting: boolean): Later<Allocation<StridedOperand>>;
  /** The index of the first element that is not finite, or -1. Present if the host cannot read the memory. */
  firstNotFinite?(routine: string, array: EngineArray): Later<number>;
}

/** A memory that the host can read and in which it lays out plans for sparse solves. */
export interface HostMemory extends EngineMemory {
  /** Bytes with arbitrary contents. */
  reserve(routine: string, bytes: number): Allocation<Uint8Array>;
  /** Keep a matrix that already is in this memory and never changes, for as long as a plan uses it; undefined for any other matrix. */
  share?(A: Sparse<Real>): Allocation<Sparse<Real>> | undefined;
}
