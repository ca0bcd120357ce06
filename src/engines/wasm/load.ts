import type { WasmKernels } from "./index.ts";
import { loadVectors } from "./loadVectors.ts";
import { matrices } from "./matrices.generated.ts";
import type { WasmModule } from "./objects.ts";
import { bytesOf, type Variant } from "./packedModule.ts";

/** The embedded engine of this build with all kernels, or undefined where the machine cannot run it. */
export function load(variant: Variant): WasmKernels | undefined {
  const kernels = loadVectors(variant);
  return kernels && withMatrices(kernels);
}

/** The same engine, from now on with its kernels for matrices. */
export function withMatrices(kernels: WasmKernels): WasmKernels {
  kernels.modules.matrices ??= new WebAssembly.Module(bytesOf(matrices, kernels.variant, false));
  return kernels;
}

/** The module for a memory that threads share, of the build that load() finds usable. */
export function sharedModule(variant: Variant): WasmModule | undefined {
  return loadVectors(variant) && new WebAssembly.Module(bytesOf(matrices, variant, true));
}
