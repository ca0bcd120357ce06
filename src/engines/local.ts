// The synchronous engines by name, for study, the self-test, the report and the tests. Users get the fastest one: see embedded.ts.
import type { LocalKernels } from "./kernels.ts";
import { reference } from "./reference/index.ts";
import { load } from "./wasm/load.ts";

/** Plain TypeScript, and the two builds of the WebAssembly kernels: with fused multiply-add, and with Dekker's products. */
export const LOCAL_ENGINES = ["reference", "wasm-fma", "wasm-dekker"] as const;
/** The name of a synchronous engine. */
export type LocalEngine = (typeof LOCAL_ENGINES)[number];

/** The kernels of one of them; undefined if this machine cannot run it. */
export function localKernels(name: LocalEngine): LocalKernels | undefined {
  if (name === "reference") return reference;
  return typeof WebAssembly === "object" ? load(name === "wasm-fma" ? "fma" : "dekker") : undefined;
}
