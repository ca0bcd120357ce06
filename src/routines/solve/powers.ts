import { powerOfTwo } from "../../exact/bits.ts";
import { exponentOf } from "../../exact/superaccumulator.ts";

// Scaling by powers of two, which rounds nothing unless it leaves the range of binary64. Loops over indices: they take a tenth of
// the time of map() and from(), and at n = 200 all of this is a tenth of a solve.

/** floor(log2(x)) for a finite x > 0. */
export function exponent(x: number): number {
  return x < 2 ** -1022 ? exponent(x * 2 ** 54) - 54 : exponentOf(x) + 52;
}

// Where 2^k is a number and its inverse too.
const inRange = (k: number): boolean => k >= -1022 && k <= 1022;

/** x * 2^k, for any k; rounded once unless it is subnormal, where that does not matter. */
export function timesPower(x: number, k: number): number {
  if (inRange(k)) return x * powerOfTwo(k);
  const part = Math.max(-1022, Math.min(1022, k));
  return timesPower(x * powerOfTwo(part), k - part);
}

/** x * 2^k, a new vector without -0. */
export function scaled(x: Float64Array, k: number): Float64Array {
  const y = new Float64Array(x.length);
  const factor = inRange(k) ? powerOfTwo(k) : 0;
  for (let i = 0; i < x.length; i++) y[i] = (factor === 0 ? timesPower(x[i] as number, k) : (x[i] as number) * factor) + 0;
  return y;
}

/** Powers of two for the lines of a matrix. */
export interface Powers {
  readonly each: Int32Array;
  /** If they are all the same. */
  readonly common: number | undefined;
  /** How far apart those are that the lines call for. */
  readonly range: number;
}

/** The same with 2^(k + powers[i]). */
export function scaledBy(x: Float64Array, { each, common }: Omit<Powers, "range">, k: number): Float64Array {
  if (common !== undefined) return scaled(x, k + common);
  const y = new Float64Array(x.length);
  for (let i = 0; i < x.length; i++) y[i] = timesPower(x[i] as number, k + (each[i] as number)) + 0;
  return y;
}

/** The k for which the largest magnitude of the finite entries of scaledBy(x, powers, k) is from 1 to 2; 0 if there are none but zeros. */
export function normalizing(x: Float64Array, { each, common }: Powers): number {
  let top = Number.NEGATIVE_INFINITY;
  if (common !== undefined) {
    const most = largest(x);
    if (most > 0 && most < Number.POSITIVE_INFINITY) top = exponent(most) + common;
  } else {
    for (let i = 0; i < x.length; i++) {
      const size = Math.abs(x[i] as number);
      if (size > 0 && size < Number.POSITIVE_INFINITY) top = Math.max(top, exponent(size) + (each[i] as number));
    }
  }
  return top === Number.NEGATIVE_INFINITY ? 0 : -top;
}

/** Whether two vectors are the same, number by number. */
export function sameNumbers(x: Float64Array, y: Float64Array): boolean {
  for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
  return true;
}

/** The largest magnitude; NaN if one is NaN, 0 if there is none. */
export function largest(x: Float64Array): number {
  let most = 0;
  for (let i = 0; i < x.length; i++) {
    const size = Math.abs(x[i] as number);
    if (size > most) most = size;
    else if (size !== size) return size;
  }
  return most;
}
