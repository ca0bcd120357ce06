import type { Format, Real } from "../types.ts";
import { storeNaN } from "./bits.ts";

/** The format of an array's entries. */
export function formatOf(x: Real): Format {
  return x.BYTES_PER_ELEMENT === 8 ? "binary64" : "binary32"; // not instanceof: vectors come from any realm
}

/** x[i] := v, a number of x's format or NaN. */
export function store(x: Real, i: number, v: number): void {
  if (v === v) x[i] = v;
  else storeNaN(x, i);
}
