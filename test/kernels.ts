// The synchronous kernels, one row each, for tests of what is below the routines: bounds, stages, and kernels alone.
// HALFULP_ENGINES and HALFULP_DEVICE choose among them as in engines.ts, which has the engines as users call them.
import { describe } from "vitest";
import { type Kernels, kernels, LOCAL_ENGINES, openclKernels } from "../src/study.ts";

export interface KernelRow {
  readonly name: string;
  readonly engine: Kernels;
}

const asked = process.env.HALFULP_ENGINES?.split(",");
const isAsked = (name: string): boolean => !asked || asked.includes(name) || (name !== "opencl" && asked.includes("synchronous"));

const missing: Record<string, string> = {
  "wasm-fma": "no relaxed SIMD with a fused multiply-add on this machine",
  "wasm-dekker": "no WebAssembly SIMD on this machine",
  opencl: "no OpenCL device on this machine, see npm run setup",
};
const opencl = isAsked("opencl") ? await openclKernels(process.env.HALFULP_DEVICE).catch(() => undefined) : undefined;
const table = [...LOCAL_ENGINES, "opencl" as const].filter(isAsked).map((name) => ({
  name,
  engine: name === "opencl" ? opencl : kernels(name),
}));

/** The kernels that run on this machine. */
export const KERNELS: readonly KernelRow[] = table.flatMap(({ name, engine }) => (engine ? [{ name, engine }] : []));

/** A block of tests for each set of kernels; where one cannot run here, skipped with the reason in its title. */
export function describeKernels(title: string, body: (engine: Kernels) => void): void {
  for (const { name, engine } of table) {
    const usable = engine ?? (kernels("reference") as Kernels); // a block that is skipped is still collected
    describe.skipIf(!engine)(`${title}, ${name}${engine ? "" : ` (${missing[name]})`}`, () => body(usable));
  }
}
