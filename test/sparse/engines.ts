// The sparse solves of every engine in the table, and the schedules.
import type { Schedule, SparseOptions } from "../../src/index.ts";
import { engineOf, onThreads } from "../../src/study.ts";
import type { Real, Sparse } from "../../src/types.ts";
import { DENSE } from "../engines.ts";

type Later<T> = T | Promise<T>;

/** A plan as tests see it: of either precision, and of an engine that may answer later. */
export interface AnyPlan {
  readonly schedule: Schedule;
  readonly reason: string;
  readonly levels: number;
  readonly bytes: number;
  solve(b: Real, out?: Real): Later<Real>;
  update(values: Real): Later<void>;
  free(): Later<void>;
}
export type Sptrsv = (A: Sparse<Real>, options?: SparseOptions) => Later<AnyPlan>;

export interface SparseRow {
  readonly name: string;
  /** Of the pool; 0 on the calling thread. */
  readonly threads: number;
  readonly sptrsv: Sptrsv;
}

export const SCHEDULES = ["serial", "levr", "levc", "slfr", "slfc", "gsf"] as const;
export const ALL = [...SCHEDULES, "auto"] as const;

// The pool is opened at the first call.
function onPool(threads: number, variant: "fma" | "dekker"): Sptrsv {
  let opened: Promise<{ sptrsv: Sptrsv }> | undefined;
  const open = async (): Promise<{ sptrsv: Sptrsv }> => engineOf(await onThreads(threads, variant)) as unknown as { sptrsv: Sptrsv };
  return async (...args) => {
    opened ??= open();
    return (await opened).sptrsv(...args);
  };
}

/** Every engine that runs here. */
export const SPARSE: readonly SparseRow[] = DENSE.map(({ name, routines }) => {
  const [, threads, variant] = /^threads-(\d+)-(fma|dekker)$/.exec(name) ?? [];
  if (threads === undefined) return { name, threads: 0, sptrsv: (routines as unknown as { sptrsv: Sptrsv }).sptrsv };
  return { name, threads: Number(threads), sptrsv: onPool(Number(threads), variant as "fma" | "dekker") };
});
export const HERE = SPARSE.filter(({ threads }) => threads === 0);
export const POOLS = SPARSE.filter(({ threads }) => threads > 0);
