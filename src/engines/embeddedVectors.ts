import { LITTLE_ENDIAN } from "../arrays/byteOrder.ts";
import type { VectorKernels } from "./kernels.ts";
import { reference } from "./reference/index.ts";
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

/** What an engine of WebAssembly needs and does not find here, to follow "it needs"; undefined where nothing is missing. */
export function missingForWasm(): string | undefined {
  if (!LITTLE_ENDIAN) return "WebAssembly over little-endian typed arrays, and this machine is big-endian";
  return embeddedMemory() ? undefined : "WebAssembly, which is not allowed here";
}

/** The same engine if it has a memory of its own. */
export function embeddedMemory(): WasmKernels | undefined {
  const kernels = embeddedVectors();
  return kernels instanceof WasmKernels ? kernels : undefined;
}
