// The engine "opencl": all kernels on a GPU or another OpenCL device, with panels of solve() optionally on the CPU. Reached through
// engines/table.ts, and through study.ts for benchmarks.
import { describe } from "../../arrays/checks.ts";
import { EngineError, ShapeError } from "../../arrays/errors.ts";
import type { EngineArray, Operand } from "../../arrays/operands.ts";
import type { Reduction } from "../../arrays/types.ts";
import { enclosure } from "../../exact/enclosure.ts";
import type { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Backend, Reducer } from "../backend.ts";
import type { Work } from "../device.ts";
import { deviceMemory } from "../deviceMemory.ts";
import { inScope, type Scope } from "../deviceScope.ts";
import type { Kernels } from "../kernels.ts";
import { inOrder, type Routine, runSync } from "../steps.ts";
import type { Configuration, Probe } from "../table.ts";
import { cores } from "../threads/cores.ts";
import type { Choices } from "./choices.ts";
import { gemm } from "./dense/gemm.ts";
import { gemv } from "./dense/gemv.ts";
import { firstNotFinite, lu, luBy } from "./dense/lu.ts";
import { trsm, trsv, trsvTuning } from "./dense/trsv.ts";
import { type OpenclDevice, openDevice } from "./device/device.ts";
import { bestOf, devices } from "./device/find.ts";
import { Cpu } from "./hybrid/cpu.ts";
import { approximateWithCpu } from "./hybrid/hybrid.ts";
import { panelOnHost } from "./hybrid/panel.ts";
import { deviceKrylov } from "./krylov/workspace.ts";
import { map } from "./reductions/elementwise.ts";
import { accumulate, accumulateBy, enclose, reduce } from "./reductions/reduce.ts";
import { ilu0 } from "./sparse/ilu0.ts";
import { plan } from "./sparse/plan.ts";
import { spmv } from "./sparse/spmv.ts";

export type { Choices } from "./choices.ts";
export { bestOf, type DeviceInfo, devices } from "./device/find.ts";
export type { Phase } from "./hybrid/phases.ts";

/** Runs work and returns its result or a promise of it. */
type Run = (work: Work<unknown>) => unknown;
type Args<K extends keyof Kernels> = Parameters<Required<Kernels>[K] extends (...args: infer A) => unknown ? (...args: A) => void : never>;

const inScopeBy =
  (run: Run, device: OpenclDevice) =>
  <A extends unknown[]>(routine: string, work: (scope: Scope, ...args: A) => Work<unknown>) =>
  (...args: A): unknown =>
    run(inScope(device, routine, (scope) => work(scope, ...args)));

// The threads of the CPU are another engine, loaded on first use. More than four do not make panels faster.
const MAX_THREADS = 4;
const newCpu = (): Cpu =>
  new Cpu(async () => (await import("../threads/backend.ts")).openThreads(Math.min(MAX_THREADS, cores())), panelOnHost);

// The kernels of the synchronous and the asynchronous engine, each call in a scope of its own.
function kernelsBy(run: Run, device: OpenclDevice, choices: Choices, cpu: Cpu): object {
  const call = inScopeBy(run, device);
  const firstNotFiniteOn = (routine: string, array: EngineArray) => run(inScope(device, routine, (scope) => firstNotFinite(scope, array)));
  return {
    accumulate: call("accumulate", (scope, op: Reduction, x: Operand, y: Operand, into: Superaccumulator, exact?: boolean) =>
      accumulate(scope, op, x, y, into, exact ?? true, choices),
    ),
    reduce: call("reduce", (scope, ...args: Parameters<Reducer<unknown>>) => reduce(scope, ...args, choices)),
    map: call("map", map),
    gemv: call("exgemv", (scope, ...args: Args<"gemv">) => gemv(scope, ...args, choices.gemv)),
    spmv: call("exspmv", (scope, ...args: Args<"spmv">) => spmv(scope, ...args)),
    ilu0: call("ilu0", ilu0),
    gemm: call("exgemm", (scope, ...args: Args<"gemm">) => gemm(scope, ...args)),
    trsv: call("extrsv", (scope, ...args: Args<"trsv">) => trsv(scope, ...args, { ...trsvTuning(device), ...choices.trsv })),
    trsm: call("extrsm", (scope, ...args: Args<"trsm">) => trsm(scope, ...args, { ...trsvTuning(device), ...choices.trsv })),
    *lu(...args: Args<"lu">): Routine<number> {
      return (yield () => run(inScope(device, "exlu", (scope) => lu(scope, ...args, luBy(choices.lu))))) as number;
    },
    krylov: deviceKrylov(device),
    plan: (...args: Args<"plan">) => run(plan(device, ...args, choices.sparse)),
    approximate: approximateWithCpu(run, device, choices, cpu),
    memory: { ...deviceMemory(device, run), firstNotFinite: firstNotFiniteOn },
  };
}

/** The device that open("opencl") would use, or the reason why there is none. */
export async function probe(): Promise<Probe> {
  try {
    return { device: bestOf(await devices()).name };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { reason: error.message.replace(/^opencl: /, "") };
  }
}

/** One configuration for each usable device. */
export async function configurations(): Promise<readonly Configuration[]> {
  const usable = (await devices().catch(() => [])).filter((device) => device.usable);
  return usable.map(({ index }) => ({ name: `opencl, device ${index}`, options: { device: index } }));
}

/** The engine "opencl". */
export async function openclBackend(choice?: string | number, choices: Choices = {}): Promise<Backend> {
  const isIndex = typeof choice === "number" && Number.isSafeInteger(choice) && choice >= 0;
  if (choice !== undefined && !isIndex && (typeof choice !== "string" || choice === ""))
    throw new ShapeError(`open: device is ${describe(choice)}, expected a place in the list of devices or a part of a name`);
  return backendOn(await openDevice(choice, undefined, choices.solve?.watch !== undefined), choices);
}

/** The same on an open device. */
export function backendOn(device: OpenclDevice, choices: Choices = {}, cpu = newCpu()): Backend {
  return {
    ...kernelsBy(inOrder(), device, choices, cpu),
    kind: "opencl",
    device: device.name,
    close: async () => {
      const ended = cpu.close();
      await device.close();
      await ended;
    },
  } as Backend;
}

/** The kernels of this engine as synchronous ones, for study and tests: every call waits for the device. */
export async function openclKernels(choice?: string | number, choices: Choices = {}): Promise<Kernels> {
  return kernelsOn(await openDevice(choice), choices);
}

/** The same on an open device. */
export function kernelsOn(device: OpenclDevice, choices: Choices = {}): Kernels {
  const call = inScopeBy(runSync, device);
  return {
    ...kernelsBy(runSync, device, choices, newCpu()),
    name: `opencl, ${device.name}`,
    enclose: call("enclose", function* (scope, ...args: Args<"enclose">) {
      const { high, low, bound } = yield* enclose(scope, ...args);
      enclosure.set([high, low, bound]);
    }),
    accumulateBy: call("accumulate", (scope, ...args: Args<"accumulateBy">) => accumulateBy(scope, ...args)),
  } as Kernels;
}
