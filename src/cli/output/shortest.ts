// The shortest decimal of a binary32 number: the fewest digits that read back to the same bits, as String() prints for binary64.
// Called by numerals.ts.

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);
const fromBits = (pattern: number): number => {
  bits[0] = pattern;
  return float[0] as number;
};

const MAX_DIGITS = 9; // enough to tell any two binary32 numbers apart

/**
 * The binary64 number that String() prints as the shortest decimal of the binary32 number `x`. Two different decimals of at most 15
 * digits are never the same binary64 number, so String() finds the digits found here. A reader gets `x` whether it rounds the decimal
 * to binary32 directly or by way of binary64.
 */
export function shortest32(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const magnitude = Math.abs(x);
  float[0] = magnitude;
  const pattern = bits[0] as number;
  // The midpoints to the neighbours, exact in binary64. The successor of the largest number would be 2^128.
  const low = (fromBits(pattern - 1) + magnitude) / 2;
  const high = (Math.min(fromBits(pattern + 1), 2 ** 128) + magnitude) / 2;
  const isEven = pattern % 2 === 0; // a decimal at a midpoint is rounded to this number
  let best = magnitude;
  // If a decimal of n digits reads back, so does one of n + 1 digits: append a zero.
  for (let digits = MAX_DIGITS; digits > 0; digits--) {
    const [coefficient, exponent] = magnitude.toExponential(digits - 1).split("e") as [string, string];
    const nearest = Number(coefficient.replace(".", ""));
    const scale = Number(exponent) - digits + 1;
    // Of two equally close decimals, the one that ends in an even digit, as in String() and NumPy. The next decimal above is tried as
    // well: numbers are denser below a power of two than above it, so the nearest decimal may lie below and not read back, while the
    // next one does.
    const even = nearest % 2 === 0 || !isExact(10 * nearest - 5, scale - 1, magnitude) ? nearest : nearest - 1;
    const found = [even, nearest, nearest + 1].find((n) => {
      const decimal = Number(`${n}e${scale}`);
      return (low < decimal && decimal < high) || (isEven && (isExact(n, scale, low) || isExact(n, scale, high)));
    });
    if (found === undefined) break;
    best = Number(`${found}e${scale}`);
  }
  return x < 0 ? -best : best;
}

// Whether the decimal n 10^scale equals x exactly. Binary32 numbers and their midpoints are multiples of 2^-150.
function isExact(n: number, scale: number, x: number): boolean {
  if (Number(`${n}e${scale}`) !== x) return false;
  const power = (k: number): bigint => 10n ** BigInt(Math.max(k, 0));
  return (BigInt(n) * power(scale)) << 150n === BigInt(x * 2 ** 150) * power(-scale);
}
