// The sparse solves of every engine in the table, and the schedules.
import { SCHEDULES } from "../../src/engines/kernels.ts";
import { DENSE, type DenseRoutines } from "../engines.ts";

export { SCHEDULES } from "../../src/engines/kernels.ts";
export type { AnyPlan } from "../engines.ts";
export type Sptrsv = DenseRoutines["sptrsv"];

export interface SparseRow {
  readonly name: string;
  /** Of the pool; 0 on the calling thread. */
  readonly threads: number;
  readonly sptrsv: Sptrsv;
}

export const ALL = [...SCHEDULES, "auto"] as const;

/** Every engine that runs here. */
export const SPARSE: readonly SparseRow[] = DENSE.map(({ name, threads, routines }) => ({ name, threads, sptrsv: routines.sptrsv }));
export const HERE = SPARSE.filter(({ threads }) => threads === 0);
export const POOLS = SPARSE.filter(({ threads }) => threads > 0);
