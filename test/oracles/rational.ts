// The first oracle: BigInt integers. A finite double is an integer times 2^-1074, a product an integer times 2^-2148.
// Rounding is a search among the format's bit patterns, which are ordered as the numbers are, by exact comparison:
// no shifts, no sticky bits, nothing in common with the code under test.
import type { Format, Real, Reduction, Rounding } from "../../src/arrays/types.ts";

const view = new DataView(new ArrayBuffer(8));

/** A finite double in units of 2^-1074. */
export function units(x: number): bigint {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const field = (bits >> 52n) & 0x7ffn;
  const fraction = bits & 0xfffffffffffffn;
  const magnitude = field === 0n ? fraction : (fraction | (1n << 52n)) << (field - 1n);
  return bits >> 63n ? -magnitude : magnitude;
}

/** An exact value: an integer in units of 2^-2148, or NaN or an infinity. */
export type Exact = bigint | number;

/** The exact sum of terms, or what special values make of it. */
export function exactSum(terms: Iterable<Exact>): Exact {
  let sum = 0n;
  let nan = false;
  let plus = false;
  let minus = false;
  for (const t of terms) {
    if (typeof t === "bigint") sum += t;
    else if (Number.isNaN(t)) nan = true;
    else if (t > 0) plus = true;
    else minus = true;
  }
  if (nan || (plus && minus)) return Number.NaN;
  return plus ? Number.POSITIVE_INFINITY : minus ? Number.NEGATIVE_INFINITY : sum;
}

/** x as a term. */
export function exactNumber(x: number): Exact {
  return Number.isFinite(x) ? units(x) << 1074n : x;
}

/** x y as a term. */
export function exactProduct(x: number, y: number): Exact {
  return Number.isFinite(x) && Number.isFinite(y) ? units(x) * units(y) : x * y;
}

/** The exact value of a reduction before rounding. */
export function exactReduction(op: Reduction, x: Real, y: Real = x): Exact {
  return exactSum(Array.from(x, (v, i) => (op === "dot" ? exactProduct(v, y[i] as number) : exactNumber(op === "asum" ? Math.abs(v) : v))));
}

function decode64(p: bigint): number {
  view.setBigUint64(0, p);
  return view.getFloat64(0);
}
function decode32(p: bigint): number {
  view.setUint32(0, Number(p));
  return view.getFloat32(0);
}
// The patterns of the finite numbers of a format, and the first one past them, where infinity is.
const FORMATS = { binary64: { patterns: 0x7ff0000000000000n, decode: decode64 }, binary32: { patterns: 0x7f800000n, decode: decode32 } };

// Round a positive real given by comparison: is a non-negative number of units of 2^-1075 (half steps, for
// midpoints) below it, equal, or above? `side` returns the sign of (the real - that number).
function roundPositive(side: (halfUnits: bigint) => number, up: boolean, nearest: boolean, format: Format): number {
  const { patterns, decode } = FORMATS[format];
  // The value of a pattern in half units; one past the largest number is where the format would go on.
  const value = (p: bigint): bigint => (p === patterns ? 2n * value(p - 1n) - value(p - 2n) : units(decode(p)) << 1n);
  let low = 0n; // value(low) <= the real
  let high = patterns; // value(high) > the real, or beyond the format
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (side(value(middle)) >= 0) low = middle;
    else high = middle;
  }
  if (side(value(low)) === 0) return decode(low);
  if (nearest) {
    const s = low === patterns - 1n && side(value(patterns)) >= 0 ? 1 : side((value(low) + value(high)) >> 1n);
    return decode(s > 0 || (s === 0 && low % 2n === 1n) ? high : low);
  }
  return decode(up ? high : low);
}

const sign = (n: bigint): number => (n > 0n ? 1 : n < 0n ? -1 : 0);

/** n / d in units of 2^-2148, rounded. */
export function roundRatio(n: bigint, d: bigint, mode: Rounding, format: Format): number {
  if (n === 0n) return 0;
  const negative = n < 0n !== d < 0n;
  const p = n < 0n ? -n : n;
  const q = d < 0n ? -d : d;
  const r = roundPositive((h) => sign(p - ((h * q) << 1073n)), mode === (negative ? "down" : "up"), mode === "nearest", format);
  return negative ? -r : r;
}

/** An exact value, rounded. */
export function round(v: Exact, mode: Rounding, format: Format): number {
  return typeof v === "number" ? v : roundRatio(v, 1n, mode, format);
}

/** The square root of an exact value, rounded. */
export function roundRoot(v: Exact, mode: Rounding, format: Format): number {
  if (typeof v === "number") return Math.sqrt(v);
  if (v === 0n) return 0;
  // (h 2^-1075)^2 against v 2^-2148: h^2 against 4 v
  return roundPositive((h) => sign((v << 2n) - h * h), mode === "up", mode === "nearest", format);
}
