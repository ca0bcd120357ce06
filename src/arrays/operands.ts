// Arrays in the memory of an engine. The host cannot read their elements, and the compiler knows it: a routine takes Operands, and can
// read the elements of one only after isOnHost().
import type { Matrix, Real, Sparse } from "./types.ts";

/** An array in the memory of an engine. Every kind of memory has a subclass that knows where the elements are. */
export abstract class EngineArray {
  readonly BYTES_PER_ELEMENT: number;
  readonly byteLength: number;

  constructor(
    readonly type: "binary64" | "binary32" | "int32",
    readonly length: number,
  ) {
    this.BYTES_PER_ELEMENT = type === "binary64" ? 8 : 4;
    this.byteLength = length * this.BYTES_PER_ELEMENT;
  }
}

/** A vector on the host or on an engine. */
export type Operand = Real | EngineArray;

/** The integers of a pattern, on the host or on an engine. */
export type Integers = Int32Array | EngineArray;

/** A matrix on the host or on an engine. */
export type MatrixOperand<V extends Operand = Operand> = Omit<Matrix<Real>, "data"> & { readonly data: V };

/** A sparse matrix on the host or, as a whole, on an engine. */
export type SparseOperand = Omit<Sparse<Real>, "pointers" | "indices" | "values"> & {
  readonly pointers: Integers;
  readonly indices: Integers;
  readonly values: Operand;
};

/** Whether an array is on the host, where its elements can be read. */
export function isOnHost<V extends ArrayBufferView>(x: V | EngineArray): x is V {
  return !(x instanceof EngineArray);
}

/** Whether a sparse matrix is on the host. */
export function isSparseOnHost(A: SparseOperand): A is Sparse<Real> {
  return isOnHost(A.values) && isOnHost(A.indices);
}
