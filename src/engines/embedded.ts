import type { LocalKernels } from "./kernels.ts";
import { reference } from "./reference.ts";
import { WasmKernels } from "./wasm/index.ts";
import { load } from "./wasm/load.ts";

let chosen: LocalKernels | undefined;

/** The engine behind the synchronous routines, made at the first call: the fastest that runs here. */
export function embedded(): LocalKernels {
  chosen ??= choose();
  return chosen;
}

function choose(): LocalKernels {
  try {
    return load("fma") ?? load("dekker") ?? reference;
  } catch {
    return reference; // WebAssembly is missing or forbidden (a content security policy): the same bits, slowly
  }
}

/** The embedded engine if it has a memory of its own. */
export function embeddedMemory(): WasmKernels | undefined {
  const kernels = embedded();
  return kernels instanceof WasmKernels ? kernels : undefined;
}
