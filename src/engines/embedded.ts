import { embeddedMemory } from "./embeddedVectors.ts";
import type { LocalKernels } from "./kernels.ts";
import { reference } from "./reference/index.ts";
import { withMatrices } from "./wasm/load.ts";

let whole: LocalKernels | undefined;

/** The engine behind the synchronous routines, with all its kernels: that of embeddedVectors(), and those for matrices. */
export function embedded(): LocalKernels {
  if (whole === undefined) {
    const kernels = embeddedMemory();
    whole = kernels ? withMatrices(kernels) : reference;
  }
  return whole;
}
