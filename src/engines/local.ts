// The synchronous engines by name, for study, the self-test, the report and the tests. Users get the fastest that runs here:
// see embedded.ts.
import type { LocalKernels } from "./kernels.ts";
import { reference } from "./reference/index.ts";
import { load } from "./wasm/load.ts";

/** Plain TypeScript, and the two builds of the WebAssembly kernels: with and without fused multiply-add. */
export const LOCAL_ENGINES = ["reference", "wasm-fma", "wasm-dekker"] as const;
/** The name of a synchronous engine. */
export type LocalEngine = (typeof LOCAL_ENGINES)[number];

/** The kernels of one of them; undefined where this machine cannot run it. */
export function localKernels(name: LocalEngine): LocalKernels | undefined {
  if (name === "reference") return reference;
  return typeof WebAssembly === "object" ? load(name === "wasm-fma" ? "fma" : "dekker") : undefined;
}
