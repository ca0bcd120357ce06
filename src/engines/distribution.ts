// The contract of an engine whose matrices are spread over several processes, by rows. Each process runs the same routine and holds some
// rows of every matrix; vectors are whole on every process. src/ranks/solve implements it, and src/routines/solve/held.ts calls it.
import type { StridedOperand } from "../arrays/matrix.ts";
import type { ApproximateFactors } from "./approximate.ts";
import type { Allocation, Later } from "./memory.ts";

/** Rows of a matrix on the host, row by row without gaps, with their indices, which ascend. */
export interface HeldRows {
  readonly rows: Int32Array;
  readonly data: Float64Array;
}

/** All processes make the same calls in the same order. */
export interface Distribution {
  /** The rows of a kept matrix that this process holds. They must not be changed. */
  heldRows(A: StridedOperand): Later<HeldRows>;
  /** Keep a matrix of `total` rows and `cols` columns of which this process holds these rows. */
  keepRows(routine: string, held: HeldRows, total: number, cols: number): Later<Allocation<StridedOperand>>;
  /** All rows of a matrix of which each process has some, row by row. */
  shareRows(held: HeldRows, total: number, cols: number): Later<Float64Array>;
  /** These rows of a kept matrix, row by row. */
  readRows(A: StridedOperand, rows: Int32Array): Later<Float64Array>;
  /** `width` columns of a kept matrix, row by row. */
  readColumns(A: StridedOperand, first: number, width: number): Later<Float64Array>;
  /** values := their largest over all processes, element by element. None is NaN. */
  maximum(values: Float64Array): Later<void>;
  /** Whether a process has an error; then all throw, each its own if it has one. */
  throwTogether(error: unknown): Later<void>;
  /** P A = L U by exlu, whose substitution is exact too; `column` says where it broke down. */
  exactFactors(routine: string, held: HeldRows, n: number): Later<ApproximateFactors>;
}
