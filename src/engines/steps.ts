// The protocol of routines. A routine is written once, as a generator that yields what it wants of an engine and continues with the
// answer: runSync() runs it on an engine of the calling thread, runAsync() on any other, which need not be able to block.
import { EngineError } from "../arrays/errors.ts";
import type { StridedMatrix } from "../arrays/matrix.ts";
import type { Real } from "../arrays/types.ts";
import type { ApproximateKernels } from "./approximate.ts";
import type { Wait, Work } from "./device.ts";
import type { Kernels, SystemKernels } from "./kernels.ts";

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

/** What a routine wants of an engine: a value, a promise of one, or something to wait for. `later` says whether the engine is asynchronous. */
export type Step = (kernels: MatrixKernels | AsyncKernels, later: boolean) => unknown;

/**
 * A routine: it checks its arguments before it yields its first step, and is given the result of each step. It may also yield a
 * Wait, so that work on a device (Work) is a routine too and `yield*` puts one into another.
 */
export type Routine<R> = Generator<Step | Wait, R, unknown>;

/** Run a routine at once. A step that fails throws inside the routine, which can then clean up. */
export function runSync<R>(routine: Routine<R>, kernels: () => MatrixKernels = noKernels): R {
  let next = routine.next();
  while (!next.done) {
    let result: unknown;
    try {
      result = typeof next.value === "function" ? next.value(kernels(), false) : next.value;
      if (isWait(result)) waitNow(result);
    } catch (error) {
      next = routine.throw(error);
      continue;
    }
    next = routine.next(result);
  }
  return next.value;
}

/** Run a routine on an asynchronous engine. Checks and the first step are done when this returns. */
export async function runAsync<R>(routine: Routine<R>, kernels: () => AsyncKernels = noKernels, first = routine.next()): Promise<R> {
  let next = first;
  while (!next.done) {
    let result: unknown;
    try {
      result = typeof next.value === "function" ? next.value(kernels(), true) : next.value;
      if (isWait(result)) result = result.later();
      if (result instanceof Promise) result = await result; // a result that is ready does not wait
    } catch (error) {
      next = routine.throw(error);
      continue;
    }
    next = routine.next(result);
  }
  return next.value;
}

/**
 * Runs work of one device after another: each gives its first commands at once and continues when all work before it is done, so that
 * calls end in the order in which they began.
 */
export function inOrder(): <R>(work: Work<R>) => Promise<R> {
  let before: Promise<unknown> = Promise.resolve();
  return async (work) => {
    const first = work.next();
    const mine = before.then(() => runAsync(work, undefined, first));
    before = mine.catch(() => undefined);
    return mine;
  };
}

const isWait = (result: unknown): result is Wait => typeof result === "object" && result !== null && "later" in result;

function waitNow(wait: Wait): void {
  if (!wait.now) throw new EngineError("this engine cannot block: use its asynchronous routines");
  wait.now();
}

function noKernels(): never {
  throw new EngineError("work on a device has no kernels, expected it to yield waits only");
}
