// An engine that computes nothing and remembers what it was asked for.
import { ordinaryMemory } from "../../src/engines/ordinaryMemory.ts";
import type { Routine } from "../../src/engines/steps.ts";
import { type AsyncKernels, asyncRoutines, type Kernels, routinesOn } from "../../src/study.ts";

export interface Call {
  readonly kernel: string;
  readonly args: readonly unknown[];
}

/** The routines on such an engine, synchronous and asynchronous, and the calls that reached it. */
export function recorder(): { sync: ReturnType<typeof routinesOn>; async: ReturnType<typeof asyncRoutines>; calls: Call[] } {
  const calls: Call[] = [];
  const record = (kernel: string, result: unknown) => ({
    [kernel]: (...args: unknown[]) => {
      calls.push({ kernel, args });
      return result;
    },
  });
  function* lu(...args: unknown[]): Routine<number> {
    calls.push({ kernel: "lu", args });
    return (yield () => -1) as number;
  }
  const engine = { ...record("gemv", undefined), ...record("gemm", undefined), ...record("trsv", undefined), lu, memory: ordinaryMemory };
  return {
    sync: routinesOn(engine as unknown as Kernels),
    async: asyncRoutines(() => engine as unknown as AsyncKernels),
    calls,
  };
}
