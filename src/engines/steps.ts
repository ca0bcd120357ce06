import type { StridedMatrix } from "../arrays/matrix.ts";
import type { Real } from "../arrays/types.ts";
import type { ApproximateKernels } from "./approximate.ts";
import type { Wait, Work } from "./device.ts";
import type { Kernels, SystemKernels } from "./kernels.ts";

// A routine is written once, as a generator that yields what it wants of an engine and goes on with the answer. One
// driver runs it on a synchronous engine, one on an asynchronous engine.

type Name = "gemv" | "gemm" | "trsv" | "lu";
type Promised<K, N extends keyof K> = {
  readonly [M in N]: K[M] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};

/** The kernels that routines of matrices are made of. */
export type MatrixKernels = Pick<Kernels, Name | keyof SystemKernels | "plan" | "approximate"> & { readonly keeping?: Keeping };

/**
 * What an engine with a memory of its own offers beside: data that stays there between steps, and goes when it is collected.
 * An asynchronous engine answers later.
 */
export interface Keeping {
  /** A copy there, row by row. */
  keep(routine: string, A: StridedMatrix): Later<Real>;
  /** So many of the elements of an array that is there, from one on; unless said otherwise all. */
  fetch(routine: string, x: Real, from?: number, length?: number): Later<Real>;
  /** The index of the first element that is not finite, or -1. */
  firstNotFinite(x: Real): Later<number>;
}
type Later<T> = T | Promise<T>;

/**
 * The same of an asynchronous engine: a kernel reads its inputs before it returns, and writes its outputs when its
 * promise resolves, in one step. One that fails has written nothing.
 */
export type AsyncKernels = Promised<Kernels, Name> &
  Partial<Omit<SystemKernels, "sptrsv"> & Promised<SystemKernels, "sptrsv">> &
  Partial<Promised<Required<Kernels>, "plan">> & { readonly keeping?: Keeping; readonly approximate: ApproximateKernels };

/** One call of a kernel, or of something to wait for. `later` says whether the engine is asynchronous. */
export type Step = (kernels: MatrixKernels | AsyncKernels, later: boolean) => unknown;

/** A routine: it checks its arguments before it yields its first step, and is given the result of each step. */
export type Routine<R> = Generator<Step, R, unknown>;

/** Run a routine at once. A step that fails fails in it, so that it can put things in order. */
export function runSync<R>(routine: Routine<R>, kernels: () => MatrixKernels): R {
  let turn = routine.next();
  while (!turn.done) {
    let result: unknown;
    try {
      result = turn.value(kernels(), false);
      if (isWait(result)) result.now();
    } catch (error) {
      turn = routine.throw(error);
      continue;
    }
    turn = routine.next(result);
  }
  return turn.value;
}

/** Run a routine on an asynchronous engine. Checks and the first step have been made when this returns. */
export async function runAsync<R>(routine: Routine<R>, kernels: () => AsyncKernels): Promise<R> {
  let turn = routine.next();
  while (!turn.done) {
    let result: unknown;
    try {
      result = turn.value(kernels(), true);
      if (isWait(result)) result = result.later();
      if (result instanceof Promise) result = await result; // what is there already is gone on with before this returns
    } catch (error) {
      turn = routine.throw(error);
      continue;
    }
    turn = routine.next(result);
  }
  return turn.value;
}

const isWait = (result: unknown): result is Wait => typeof result === "object" && result !== null && "later" in result;

/** Work on a device as a part of a routine. */
export function* onDevice<R>(work: Work<R>): Routine<R> {
  let turn = work.next();
  while (!turn.done) {
    const wait = turn.value;
    try {
      yield () => wait;
    } catch (error) {
      turn = work.throw(error);
      continue;
    }
    turn = work.next();
  }
  return turn.value;
}
