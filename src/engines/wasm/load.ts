import { WasmKernels } from "./index.ts";
import { DEKKER, FMA } from "./modules.generated.ts";

/** The two builds of one source: with fused multiply-add, and with Dekker's products. The bits are the same. */
export type Variant = "fma" | "dekker";

interface Process {
  env?: Record<string, string | undefined>;
  getBuiltinModule?(name: "v8"): { setFlagsFromString(flag: string): void };
}

// The module's bytes, for a memory of its own or for one that threads share.
function bytesOf(variant: Variant, shared: boolean): Uint8Array<ArrayBuffer> {
  const source = variant === "fma" ? FMA : DEKKER;
  const bytes = Uint8Array.from(atob(source.base64), (c) => c.charCodeAt(0));
  if (shared) bytes[source.shared] = 3;
  return bytes;
}

/**
 * The embedded engine of this build, or undefined where the machine cannot run it: no relaxed SIMD in this
 * runtime, or a multiply-add that rounds twice. Throws where WebAssembly is not allowed at all.
 */
export function load(variant: Variant): WasmKernels | undefined {
  const bytes = bytesOf(variant, false);
  if (!WebAssembly.validate(bytes) && !(variant === "fma" && allowRelaxedSimd() && WebAssembly.validate(bytes))) return undefined;
  const kernels = new WasmKernels(new WebAssembly.Module(bytes), `wasm-${variant}`);
  return variant === "dekker" || kernels.fuses() ? kernels : undefined;
}

/** The module for a memory that threads share, of the build that load() finds usable. */
export function sharedModule(variant: Variant): WebAssembly.Module | undefined {
  return load(variant) && new WebAssembly.Module(bytesOf(variant, true));
}

// Node 20 has relaxed SIMD behind a flag of the whole process: set only when the user says so, never by us.
function allowRelaxedSimd(): boolean {
  const process = (globalThis as { process?: Process }).process;
  if (process?.env?.HALFULP_RELAXED_SIMD !== "1") return false;
  process.getBuiltinModule?.("v8").setFlagsFromString("--experimental-wasm-relaxed-simd");
  return true;
}
