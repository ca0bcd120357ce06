// One rounding of an exact value to a format, in any direction: of 64 leading bits and a sticky bit, of a rational number, and of a
// square root. Superaccumulator ends here.
import type { Format, Rounding } from "../arrays/types.ts";
import { powerOfTwo } from "./bits.ts";

// precision, exponent of the smallest subnormal, the largest number
const FORMATS = {
  binary64: { precision: 53, lowest: -1074, largest: Number.MAX_VALUE },
  binary32: { precision: 24, lowest: -149, largest: 3.4028234663852886e38 },
} as const;

/**
 * The magnitude (high * 2^32 + low) * 2^exponent, plus something less than 2^exponent if `sticky`, with its sign, rounded once. The
 * top bit of `high` is set: no format keeps more than 53 of the 64 bits, and what is below them only breaks ties. A value that rounds
 * to zero keeps its sign; overflow follows IEEE 754.
 */
export function roundWords(
  negative: boolean,
  high: number,
  low: number,
  sticky: boolean,
  exponent: number,
  mode: Rounding,
  format: Format,
): number {
  const { precision, lowest, largest } = FORMATS[format];
  const last = Math.max(exponent + 64 - precision, lowest); // the exponent of the result's last bit
  const kept = exponent + 64 - last;
  // The bits kept, the first bit not kept, and whether any bit after it is set.
  let units = 0;
  let half = false;
  let rest = sticky;
  if (kept > 32) {
    units = high * 2 ** (kept - 32) + (low >>> (64 - kept));
    half = ((low >>> (63 - kept)) & 1) === 1;
    rest ||= (low & ((1 << (63 - kept)) - 1)) !== 0;
  } else if (kept >= 0) {
    units = kept === 0 ? 0 : high >>> (32 - kept);
    half = ((kept === 32 ? low >>> 31 : high >>> (31 - kept)) & 1) === 1;
    rest ||= kept === 32 ? low << 1 !== 0 : (high & (2 ** (31 - kept) - 1)) !== 0 || low !== 0;
  } else {
    rest = true;
  }
  const away = mode === (negative ? "down" : "up");
  if (mode === "nearest" ? half && (rest || units % 2 === 1) : away && (half || rest)) units++;
  // units has at most 53 bits, so that by the choice of `last` the product is a number of the format unless it is too large.
  let size = last > 971 ? Number.POSITIVE_INFINITY : units * powerOfTwo(last);
  if (size > largest) size = mode === "nearest" || away ? Number.POSITIVE_INFINITY : largest;
  return negative ? -size : size;
}

/** The number n / d * 2^exponent, rounded once; d > 0. Zero is +0. */
export function roundRational(n: bigint, d: bigint, exponent: number, mode: Rounding, format: Format): number {
  const magnitude = n < 0n ? -n : n;
  const extra = Math.max(0, 65 + bitLength(d) - bitLength(magnitude)); // at least 64 bits of quotient
  const shifted = magnitude << BigInt(extra);
  return roundInteger(n < 0n, shifted / d, shifted % d !== 0n, exponent - extra, mode, format);
}

/** The square root of n * 2^exponent, n >= 0, rounded once. */
export function roundSquareRoot(n: bigint, exponent: number, mode: Rounding, format: Format): number {
  if (n === 0n) return 0;
  let extra = Math.max(0, 128 - bitLength(n)); // at least 64 bits of root
  if ((exponent - extra) % 2 !== 0) extra++;
  const shifted = n << BigInt(extra);
  const root = integerSquareRoot(shifted);
  return roundInteger(false, root, root * root !== shifted, (exponent - extra) / 2, mode, format);
}

// n * 2^exponent, plus something less than 2^exponent if `sticky`, rounded once.
function roundInteger(negative: boolean, n: bigint, sticky: boolean, exponent: number, mode: Rounding, format: Format): number {
  if (n === 0n) return 0;
  const shift = BigInt(bitLength(n) - 64);
  const top = shift > 0n ? n >> shift : n << -shift;
  const below = shift > 0n && top << shift !== n;
  return roundWords(negative, Number(top >> 32n), Number(top & 0xffffffffn), sticky || below, exponent + Number(shift), mode, format);
}

function bitLength(n: bigint): number {
  const hex = n.toString(16);
  return n === 0n ? 0 : 4 * hex.length - (Math.clz32(Number.parseInt(hex[0] as string, 16)) - 28);
}

// Newton's iteration, from above.
function integerSquareRoot(n: bigint): bigint {
  let root = 1n << BigInt((bitLength(n) + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
