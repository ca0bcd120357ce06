// Storing results in arrays of either format, with one NaN for all.
import type { Format, Real } from "../arrays/types.ts";
import { formatOf } from "../arrays/vectors.ts";
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

/** Which columns of a row-major matrix are finite: those that refinement corrects. */
export function finiteColumns(X: Real, cols: number): boolean[] {
  const finite = new Array<boolean>(cols).fill(true);
  for (let at = 0, c = 0; at < X.length; at++, c = c + 1 === cols ? 0 : c + 1) if (!Number.isFinite(X[at] as number)) finite[c] = false;
  return finite;
}

/** Make the residuals of the other columns zero: solving for them then takes no time. */
export function clearColumns(R: Real, finite: readonly boolean[]): void {
  for (const [c, kept] of finite.entries()) if (!kept) for (let at = c; at < R.length; at += finite.length) R[at] = 0;
}

/** correct() for the finite columns of a row-major matrix, whose numbers may be of a narrower format than its array. */
export function correctColumns(X: Real, D: Real, finite: readonly boolean[], format: Format = formatOf(X)): void {
  const round = format === "binary32" ? Math.fround : (v: number): number => v;
  for (const [c, kept] of finite.entries())
    if (kept) for (let at = c; at < X.length; at += finite.length) store(X, at, round((X[at] as number) + (D[at] as number)) + 0);
}
