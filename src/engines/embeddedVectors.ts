import type { VectorKernels } from "./kernels.ts";
import { reference } from "./reference.ts";
import { WasmKernels } from "./wasm/index.ts";
import { loadVectors } from "./wasm/loadVectors.ts";

let chosen: WasmKernels | typeof reference | undefined;

/**
 * The engine behind the synchronous routines for vectors, made at the first call: the fastest that runs here. A program that
 * imports nothing else has no kernels for matrices in its bundle.
 */
export function embeddedVectors(): VectorKernels {
  chosen ??= choose();
  return chosen;
}

function choose(): WasmKernels | typeof reference {
  try {
    return loadVectors("fma") ?? loadVectors("dekker") ?? reference;
  } catch {
    return reference; // WebAssembly is missing or forbidden (a content security policy): the same bits, slowly
  }
}

/** The same engine if it has a memory of its own. */
export function embeddedMemory(): WasmKernels | undefined {
  const kernels = embeddedVectors();
  return kernels instanceof WasmKernels ? kernels : undefined;
}
