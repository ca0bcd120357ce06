// The OpenCL C of exact arithmetic, which most programs begin with: superaccumulator.cl with its layout in front of it.
import { ACCUMULATOR, DIGITS, LOWEST, NANS, NEGATIVE, POSITIVE } from "./layout.ts";
import { superaccumulator as source } from "./sources.generated.ts";

export { certificate, expansion } from "./sources.generated.ts";

const defines = Object.entries({ DIGITS, LOWEST, NANS, POSITIVE, NEGATIVE, ACCUMULATOR }).map(
  ([name, value]) => `#define ${name} (${value})\n`,
);

export const superaccumulator = defines.join("") + source;
