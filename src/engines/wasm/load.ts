// Loads the WebAssembly engine with its matrix kernels, and the module for threads. engines/embedded.ts, engines/local.ts and
// threads/backend.ts call it.

import type { WasmKernels } from "./index.ts";
import { loadVectors } from "./loadVectors.ts";
import { matrices } from "./matrices.generated.ts";
import type { WasmModule } from "./objects.ts";
import { bytesOf, type Variant } from "./packedModule.ts";

/** The WebAssembly engine of this build with all kernels, or undefined if the machine cannot run it. */
export function load(variant: Variant): WasmKernels | undefined {
  const kernels = loadVectors(variant);
  return kernels && withMatrices(kernels);
}

/** Adds the matrix kernels to an engine, and returns it. */
export function withMatrices(kernels: WasmKernels): WasmKernels {
  kernels.modules.matrices ??= new WebAssembly.Module(bytesOf(matrices, kernels.variant, false));
  return kernels;
}

/** The module for a memory that threads share, or undefined if the machine cannot run this build. */
export function sharedModule(variant: Variant): WasmModule | undefined {
  return loadVectors(variant) && new WebAssembly.Module(bytesOf(matrices, variant, true));
}
