import { checkCount } from "../../checks.ts";
import type { MatrixKernels } from "../../dense/steps.ts";
import { enclosure } from "../../exact/enclosure.ts";
import type { Real } from "../../types.ts";
import { later, now, type Work } from "../device.ts";
import type { Backend } from "../engine.ts";
import type { Kernels } from "../kernels.ts";
import { type OpenclDevice, openDevice } from "./device.ts";
import { map } from "./elementwise.ts";
import { gemm } from "./gemm.ts";
import { gemv } from "./gemv.ts";
import { firstNotFinite, lu } from "./lu.ts";
import { accumulate, accumulateBy, enclose, reduce } from "./reductions.ts";
import { inScope, type Scope } from "./scope.ts";
import { plan } from "./sparse.ts";
import { Copies, fetch, upload } from "./store.ts";
import { trsv } from "./trsv.ts";

export { bestOf, type DeviceInfo, devices } from "./device.ts";

// The kernels as work on a device, each call in a scope of its own.
function worksOn(device: OpenclDevice) {
  const run =
    <A extends unknown[], R>(routine: string, work: (scope: Scope, ...args: A) => Work<R>) =>
    (...args: A): Work<R> =>
      inScope(device, routine, (scope) => work(scope, ...args));
  return {
    enclose: run("enclose", enclose),
    accumulate: run("accumulate", accumulate),
    accumulateBy: run("accumulate", accumulateBy),
    reduce: run("reduce", reduce),
    map: run("map", map),
    gemv: run("exgemv", gemv),
    gemm: run("exgemm", gemm),
    trsv: run("extrsv", trsv),
    lu: run("exlu", lu),
    firstNotFinite: run("exlu", firstNotFinite),
    fetch: (routine: string, x: Real, from = 0, length = x.length) => fetch(device, routine, x, from, length),
  };
}

/** The engine "opencl". */
export async function openclBackend(choice?: string | number): Promise<Backend> {
  if (choice !== undefined && typeof choice !== "string") checkCount("open", "device", choice, 0);
  return backendOn(await openDevice(choice));
}

/** The same on a device that is open. */
export function backendOn(device: OpenclDevice): Backend {
  const works = worksOn(device);
  const copies = new Copies(device);
  const fetchAll = <V extends Real | Int32Array>(x: V): Promise<V> => later(fetch(device, "read", x, 0, x.length));
  return {
    kind: "opencl",
    device: device.name,
    reduce: (...args) => later(works.reduce(...args)),
    accumulate: async (op, x, y, into) => void (await later(works.accumulate(op, x, y, into, true))),
    map: (...args) => later(works.map(...args)),
    gemv: (...args) => later(works.gemv(...args)),
    gemm: (...args) => later(works.gemm(...args)),
    trsv: (...args) => later(works.trsv(...args)),
    lu: (...args) => later(works.lu(...args)),
    plan: (...args) => later(plan(device, ...args)),
    keeping: {
      keep: (routine, A) => copies.keep(routine, A),
      fetch: (...args) => later(works.fetch(...args)),
      firstNotFinite: (x) => later(works.firstNotFinite(x)),
    },
    store: { keep: (...args) => upload(device, ...args), fetch: fetchAll, patterns: true },
    close: () => device.close(),
  };
}

type SyncKernels = Kernels & Pick<MatrixKernels, "keeping">;

/** The kernels of this engine as a synchronous one, for study and tests: every call waits for the device. */
export async function openclKernels(choice?: string | number): Promise<SyncKernels> {
  return kernelsOn(await openDevice(choice));
}

/** The same on a device that is open. */
export function kernelsOn(device: OpenclDevice): SyncKernels {
  const works = worksOn(device);
  const copies = new Copies(device);
  return {
    name: `opencl, ${device.name}`,
    enclose(op, x, y) {
      const { high, low, bound } = now(works.enclose(op, x, y));
      enclosure.set([high, low, bound]);
    },
    accumulate: (...args) => now(works.accumulate(...args)),
    accumulateBy: (...args) => now(works.accumulateBy(...args)),
    map: (...args) => now(works.map(...args)),
    gemv: (...args) => now(works.gemv(...args)),
    gemm: (...args) => now(works.gemm(...args)),
    trsv: (...args) => now(works.trsv(...args)),
    lu: (...args) => now(works.lu(...args)),
    plan: (...args) => now(plan(device, ...args)),
    keeping: {
      keep: (routine, A) => copies.keep(routine, A),
      fetch: (...args) => now(works.fetch(...args)),
      firstNotFinite: (x) => now(works.firstNotFinite(x)),
    },
  };
}
