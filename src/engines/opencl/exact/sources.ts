// The OpenCL C of exact arithmetic, which most programs begin with: superaccumulator.cl with its layout in front of it.
import { defineText } from "../device/defines.ts";
import { ACCUMULATOR, DIGITS, LOWEST, NANS, NEGATIVE, POSITIVE } from "./layout.ts";
import { superaccumulator as source } from "./sources.generated.ts";

export { certificate, expansion } from "./sources.generated.ts";

export const superaccumulator = defineText({ DIGITS, LOWEST, NANS, POSITIVE, NEGATIVE, ACCUMULATOR }) + source;
