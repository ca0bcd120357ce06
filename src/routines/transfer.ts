// Steps that move data between the host and the memory of an engine. Every routine that keeps data on an engine uses these.

import { rowMajorCopy, type StridedOperand } from "../arrays/matrix.ts";
import { type Integers, isOnHost, isSparseOnHost, type Operand, type SparseOperand } from "../arrays/operands.ts";
import type { Real, Sparse } from "../arrays/types.ts";
import type { Allocation } from "../engines/memory.ts";
import type { Routine } from "../engines/steps.ts";

/** A matrix in the engine's memory: see EngineMemory. */
export function* keepMatrix(routine: string, A: StridedOperand, lasting: boolean): Routine<Allocation<StridedOperand>> {
  return (yield (kernels) => kernels.memory.keepMatrix(routine, A, lasting)) as Allocation<StridedOperand>;
}

/** A copy on the host of `length` elements of an array on an engine, from `from` on; default: all. */
export function* download<V extends Real | Int32Array>(
  routine: string,
  array: V | Operand | Integers,
  from?: number,
  length?: number,
): Routine<V> {
  return (yield (kernels) => kernels.memory.download(routine, array as V, from, length)) as V;
}

/** A sparse matrix on the host: itself, or a copy. */
export function* downloadSparse(routine: string, A: SparseOperand): Routine<Sparse<Real>> {
  if (isSparseOnHost(A)) return A;
  const pointers = yield* download<Int32Array>(routine, A.pointers);
  const indices = yield* download<Int32Array>(routine, A.indices);
  return { ...A, pointers, indices, values: yield* download<Real>(routine, A.values) };
}

/** A copy of a matrix on the host, row by row. */
export function* copyToHost(routine: string, A: StridedOperand): Routine<Real> {
  const { data } = A;
  return rowMajorCopy(routine, { ...A, data: isOnHost(data) ? data : yield* download<Real>(routine, data) });
}
