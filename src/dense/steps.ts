import type { Kernels } from "../engines/kernels.ts";

// A routine is written once, as a generator that yields what it wants of an engine and goes on with the answer. One
// driver runs it on a synchronous engine, one on an asynchronous engine.

type Name = "gemv" | "gemm" | "trsv" | "lu" | "sptrsv";
type Memory = "workers" | "reserve" | "bound";

/** The kernels that routines of matrices are made of. */
export type MatrixKernels = Pick<Kernels, Name | Memory>;

/**
 * The same of an asynchronous engine: a kernel reads its inputs before it returns, and writes its outputs when its
 * promise resolves, in one step. One that fails has written nothing.
 */
export type AsyncKernels = { readonly [K in Name]: (...args: Parameters<Kernels[K]>) => Promise<ReturnType<Kernels[K]>> } & Pick<
  Kernels,
  Memory
>;

/** One call of a kernel. */
export type Step = (kernels: MatrixKernels | AsyncKernels) => unknown;

/** A routine: it checks its arguments before it yields its first step, and is given the result of each step. */
export type Routine<R> = Generator<Step, R, unknown>;

/** Run a routine at once. A step that fails fails in it, so that it can put things in order. */
export function runSync<R>(routine: Routine<R>, kernels: () => MatrixKernels): R {
  let turn = routine.next();
  while (!turn.done) {
    let result: unknown;
    try {
      result = turn.value(kernels());
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
      result = await turn.value(kernels());
    } catch (error) {
      turn = routine.throw(error);
      continue;
    }
    turn = routine.next(result);
  }
  return turn.value;
}
