// The OpenCL C of the approximate kernels of solve(): common.cl, which all programs begin with, has its constants in front of it.
import { defineText } from "../device/defines.ts";
import { common as source } from "./sources.generated.ts";
import { ENDED, STUCK } from "./state.ts";

export { alone, convert, gemm, halves, inverse, magnitudes, modulo, panel, residual, rows, step, wait } from "./sources.generated.ts";

export const common = defineText({ ENDED, STUCK }) + source;
