// The protocol of work in steps. A routine is written once, as a generator that yields what it wants from an engine and continues with
// the answer. runSync() runs it on an engine of the calling thread, runAsync() on any other; an asynchronous engine need not be able to
// block. Work on a device is the same protocol with waits only.
import { EngineError } from "../arrays/errors.ts";
import type { ApproximateKernels } from "./approximate.ts";
import type { Wait, Work } from "./device.ts";
import type { Kernels, SystemKernels } from "./kernels.ts";
import type { EngineMemory } from "./memory.ts";

type Name = "gemv" | "spmv" | "ilu0" | "gemm" | "trsv" | "trsm";
// A method type, not a function type: an engine may declare narrower operands, since it only gets those of its own memory.
type Promised<F> = F extends (...args: infer A) => infer R ? { method(...args: A): Promise<R> }["method"] : never;
type PromisedKernels<K, N extends keyof K> = { readonly [M in N]: Promised<K[M]> };

/** The kernels of a synchronous engine that the routines on matrices use. */
export type MatrixKernels = Pick<
  Kernels,
  Name | keyof SystemKernels | "lu" | "plan" | "krylov" | "approximate" | "memory" | "distribution"
>;

/**
 * The kernels of an asynchronous engine. A kernel reads its inputs before it returns, and writes its outputs in one step when its promise
 * resolves. A kernel that fails has written nothing.
 */
export type AsyncKernels = PromisedKernels<Kernels, Name> &
  Pick<Kernels, "lu" | "krylov" | "distribution"> &
  Partial<Omit<SystemKernels, "sptrsv" | "sptrsm" | "memory"> & PromisedKernels<SystemKernels, "sptrsv" | "sptrsm">> &
  Partial<PromisedKernels<Required<Kernels>, "plan">> & { readonly memory: EngineMemory; readonly approximate: ApproximateKernels };

/** What a routine wants from an engine: a value, a promise of one, or a Wait. `later` says whether the engine is asynchronous. */
export type Step = (kernels: MatrixKernels | AsyncKernels, later: boolean) => unknown;

/**
 * A routine. It checks its arguments before it yields its first step, and is resumed with the result of each step. It may also yield a
 * Wait: Work on a device is thus a routine too, and `yield*` runs it inside another.
 */
export type Routine<R> = Generator<Step | Wait, R, unknown>;

/** Runs a routine: at once, or returning a promise of its result. */
export type Run = (routine: Routine<unknown>) => unknown;

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

/** Run a routine on an asynchronous engine. Its checks and its first step are done when this returns. */
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
 * Runs the calls of one device in order: each submits its first commands at once, and continues when all calls before it are done. So
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
