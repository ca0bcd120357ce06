// Operands: vectors and matrices on the host or in the memory of an engine. Routines take Operands; the compiler lets them read elements
// only after isOnHost(). docs/architecture.md, "Data on an engine".
import type { Matrix, Real, Sparse } from "./types.ts";

/** An array in the memory of an engine, which the host cannot read. Each such engine has a subclass that knows where the elements are. */
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

/** A sparse matrix, all of it on the host or all of it on an engine. */
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

/** Whether an argument is a dense matrix. Anything else than an object is not, so that checks can name it. */
export const isMatrix = (b: Operand | MatrixOperand): b is MatrixOperand =>
  typeof b === "object" && b !== null && !ArrayBuffer.isView(b) && "data" in b;

/** Whether a matrix is sparse. Anything else than an object is not, so that checks can name it. */
export const isSparse = (A: MatrixOperand | SparseOperand): A is SparseOperand =>
  typeof A === "object" && A !== null && !ArrayBuffer.isView(A) && "pointers" in A;
