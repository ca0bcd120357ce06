// How much local memory a kernel may declare. NVIDIA's OpenCL reports 48 KB and accepts what the processor has.
import type { Device } from "../../device.ts";

/** The local memory, in bytes, of arrays declared in a kernel. (CUDA's programming guide, by compute capability.) */
export function declarableLocalBytes({ computeCapability, localBytes }: Device): number {
  if (computeCapability === 80) return 163 * 1024;
  if (computeCapability >= 90 && computeCapability < 120) return 227 * 1024;
  return computeCapability > 80 ? 99 * 1024 : localBytes;
}
