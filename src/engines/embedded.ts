// The embedded engine: it runs on the calling thread, behind the synchronous functions. src/api/matrixRoutines.ts and open("auto") use it.
// embeddedVectors.ts is the same engine without the matrix kernels.
import { embeddedMemory } from "./embeddedVectors.ts";
import type { LocalKernels } from "./kernels.ts";
import { reference } from "./reference/index.ts";
import { withMatrices } from "./wasm/load.ts";

let engine: LocalKernels | undefined;

/** The engine of embeddedVectors(), with the kernels for matrices loaded. */
export function embedded(): LocalKernels {
  if (engine === undefined) {
    const wasm = embeddedMemory();
    engine = wasm ? withMatrices(wasm) : reference;
  }
  return engine;
}
