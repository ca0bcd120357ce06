// Storing results in arrays of either format, with one NaN for all.
import type { Real } from "../arrays/types.ts";
import { storeNaN } from "./bits.ts";

/** x[i] := v, where v is a number of x's format or NaN. */
export function store(x: Real, i: number, v: number): void {
  if (v === v) x[i] = v;
  else storeNaN(x, i);
}

/**
 * x := RN(x + d), entry by entry. A sum of two binary32 numbers in binary64 may be rounded twice, which is harmless because
 * 53 >= 2 * 24 + 2. Both terms may have underflowed to -0; adding 0 makes an exact zero +0.
 */
export function correct(x: Real, d: Real): void {
  for (let i = 0; i < x.length; i++) store(x, i, (x[i] as number) + (d[i] as number) + 0);
}
