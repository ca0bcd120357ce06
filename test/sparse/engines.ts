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
  /** Of many random cases it takes those whose number is a multiple of this. */
  readonly every: number;
}

export const ALL = [...SCHEDULES, "auto"] as const;

/** Every engine that runs here. */
export const SPARSE: readonly SparseRow[] = DENSE.map(({ name, threads, routines, every }) => ({
  name,
  threads,
  sptrsv: routines.sptrsv,
  every,
}));
const onDevice = ({ name }: SparseRow): boolean => name === "opencl";
/** Those on the calling thread, on devices, and on pools. */
export const HERE = SPARSE.filter((row) => row.threads === 0 && !onDevice(row));
export const DEVICES = SPARSE.filter(onDevice);
export const POOLS = SPARSE.filter(({ threads }) => threads > 0);
