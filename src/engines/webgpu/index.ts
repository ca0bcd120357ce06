// The engine "webgpu": exact kernels on a GPU in u32 arithmetic, since WGSL has no binary64 and promises little about its floats. What has no
// form on the device runs on the calling thread (host.ts). Reached through engines/table.ts and src/webgpu.ts.
import { EngineError } from "../../arrays/errors.ts";
import type { EngineArray } from "../../arrays/operands.ts";
import type { TriangleSource } from "../../arrays/triangle.ts";
import type { Backend } from "../backend.ts";
import type { Work } from "../device.ts";
import { deviceMemory } from "../deviceMemory.ts";
import { inScope, type Scope } from "../deviceScope.ts";
import type { Kernels } from "../kernels.ts";
import { inOrder, type Routine } from "../steps.ts";
import type { Configuration, Probe } from "../table.ts";
import { CHOICES, type Choices } from "./choices.ts";
import { gemm } from "./dense/gemm.ts";
import { gemv } from "./dense/gemv.ts";
import { lu } from "./dense/lu.ts";
import { trsm, trsv } from "./dense/trsv.ts";
import { openDevice, type WebgpuDevice } from "./device/device.ts";
import { type AdapterChoice, findAdapter } from "./device/find.ts";
import * as host from "./host.ts";
import { krylov } from "./krylov/workspace.ts";
import { map } from "./reductions/elementwise.ts";
import { accumulate, firstNotFinite, reduce } from "./reductions/reduce.ts";
import { approximate } from "./solve/approximate.ts";
import { ilu0 } from "./sparse/ilu0.ts";
import { plan } from "./sparse/plan.ts";
import { spmv } from "./sparse/spmv.ts";

/** Runs work and returns a promise of its result. */
type Run = (work: Work<unknown>) => Promise<unknown>;
type Args<K extends keyof Kernels> = Parameters<Required<Kernels>[K] extends (...args: infer A) => unknown ? (...args: A) => void : never>;

// Each call in a scope of its own. A kernel that exists on the device replaces that of the host here.
function kernelsOn(run: Run, device: WebgpuDevice, choices: Choices): object {
  const call =
    <A extends unknown[]>(routine: string, work: (scope: Scope, ...args: A) => Work<unknown>) =>
    (...args: A): unknown =>
      run(inScope(device, routine, (scope) => work(scope, ...args)));
  return {
    accumulate: call("accumulate", accumulate),
    reduce: call("reduce", reduce),
    map: call("map", map),
    gemv: call("exgemv", gemv),
    gemm: call("exgemm", (scope, ...args: Args<"gemm">) => gemm(scope, ...args, choices)),
    trsv: call("extrsv", trsv),
    trsm: call("extrsm", trsm),
    *lu(...args: Args<"lu">): Routine<number> {
      return (yield () => run(inScope(device, "exlu", (scope) => lu(scope, ...args, choices)))) as number;
    },
    spmv: call("exspmv", (scope, ...args: Args<"spmv">) =>
      args[1].indices.length < choices.minEntries ? host.spmv(scope, ...args) : spmv(scope, ...args),
    ),
    ilu0: call("ilu0", (scope, ...args: Args<"ilu0">) => ilu0(scope, ...args, choices)),
    plan: (triangle: TriangleSource, exact: boolean) => run(plan(device, triangle, exact, choices)),
    krylov: krylov(run, device, choices),
    approximate: approximate(run, device, choices),
    memory: {
      ...deviceMemory(device, run),
      firstNotFinite: (routine: string, array: EngineArray) => run(inScope(device, routine, (scope) => firstNotFinite(scope, array))),
    },
  };
}

/** The adapter that open("webgpu") would use, or the reason why there is none. */
export async function probe(): Promise<Probe> {
  try {
    return { device: (await findAdapter()).name };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { reason: error.message.replace(/^webgpu: /, "") };
  }
}

/** WebGPU offers one adapter at a time. */
export async function configurations(): Promise<readonly Configuration[]> {
  return "device" in (await probe()) ? [{ name: "webgpu", options: {} }] : [];
}

/** The engine "webgpu". */
export async function webgpuBackend(choice: AdapterChoice = {}): Promise<Backend> {
  return backendOn(await openDevice(await findAdapter(choice)));
}

/** The same on an open device. */
export function backendOn(device: WebgpuDevice, choices: Partial<Choices> = {}): Backend {
  return {
    ...kernelsOn(inOrder(), device, { ...CHOICES, ...choices }),
    kind: "webgpu",
    device: device.name,
    close: () => device.close(),
  } as Backend;
}
