// Which devices have tensor cores that the kernels can use, with inline PTX.
import type { Device } from "../../device.ts";

/** 8-bit integers and binary16, as int8Product.cl and halves.cl multiply them: from compute capability 8.0 on. */
export const hasTensorCores = (device: Device): boolean => device.computeCapability >= 80;
