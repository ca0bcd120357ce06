// Loads the WebAssembly engine with its vector kernels only, for programs that use no matrix routine. engines/embeddedVectors.ts and
// load.ts call it.

import { LITTLE_ENDIAN } from "../../arrays/byteOrder.ts";
import { WasmKernels } from "./index.ts";
import { bytesOf, type Variant } from "./packedModule.ts";
import { vectors } from "./vectors.generated.ts";

interface Process {
  env?: Record<string, string | undefined>;
  getBuiltinModule?(name: "v8"): { setFlagsFromString(flag: string): void };
}

/**
 * The WebAssembly engine of this build with its vector kernels, or undefined if the machine cannot run it: the runtime has no relaxed
 * SIMD, multiply-add rounds twice, or the machine is big-endian. Throws if WebAssembly is not allowed at all.
 */
export function loadVectors(variant: Variant): WasmKernels | undefined {
  // WebAssembly memory is always little-endian. Typed arrays on a big-endian machine are not: numbers would arrive with reversed bytes.
  if (!LITTLE_ENDIAN) return undefined;
  const bytes = bytesOf(vectors, variant, false);
  if (!WebAssembly.validate(bytes) && !(variant === "fma" && allowRelaxedSimd() && WebAssembly.validate(bytes))) return undefined;
  const kernels = new WasmKernels(new WebAssembly.Module(bytes), variant);
  return variant === "dekker" || kernels.fuses() ? kernels : undefined;
}

// Node 20 has relaxed SIMD behind a flag, which affects the whole process: only the user may set it.
function allowRelaxedSimd(): boolean {
  const process = (globalThis as { process?: Process }).process;
  if (process?.env?.HALFULP_RELAXED_SIMD !== "1") return false;
  process.getBuiltinModule?.("v8").setFlagsFromString("--experimental-wasm-relaxed-simd");
  return true;
}
