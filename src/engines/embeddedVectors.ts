// The embedded engine with its vector kernels only, so that a program without matrix routines has no matrix kernels in its bundle.
// src/api/vectorRoutines.ts, Accumulator and allocate() use it.
import { LITTLE_ENDIAN } from "../arrays/byteOrder.ts";
import type { VectorKernels } from "./kernels.ts";
import { reference } from "./reference/index.ts";
import { WasmKernels } from "./wasm/index.ts";
import { loadVectors } from "./wasm/loadVectors.ts";

let engine: WasmKernels | typeof reference | undefined;
let missing = "WebAssembly, which is not allowed here"; // if the engine is the reference

/** The engine behind the synchronous functions on vectors: the fastest that this machine can run, chosen at the first call. */
export function embeddedVectors(): VectorKernels {
  engine ??= choose();
  return engine;
}

function choose(): WasmKernels | typeof reference {
  try {
    const kernels = loadVectors("fma") ?? loadVectors("dekker");
    if (kernels) return kernels;
    missing = "WebAssembly with SIMD, which this runtime does not have"; // Node on ppc64le
  } catch {
    // WebAssembly is missing, or forbidden by a content security policy.
  }
  return reference; // the same bits, slowly
}

/** What this machine lacks for WebAssembly engines, as an object of "needs"; undefined if nothing is missing. */
export function missingForWasm(): string | undefined {
  if (!LITTLE_ENDIAN) return "WebAssembly over little-endian typed arrays, and this machine is big-endian";
  return embeddedMemory() ? undefined : missing;
}

/** The same engine if it is the WebAssembly one, which has a memory of its own; undefined if it is the reference. */
export function embeddedMemory(): WasmKernels | undefined {
  const kernels = embeddedVectors();
  return kernels instanceof WasmKernels ? kernels : undefined;
}
