// The shortest decimal of a binary32 number: the fewest digits that read back to the same bits, as String() has them for binary64.
// numerals.ts prints with it.

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);
const fromBits = (pattern: number): number => {
  bits[0] = pattern;
  return float[0] as number;
};

const MAX_DIGITS = 9; // these tell any two numbers of binary32 apart

/**
 * The binary64 number whose digits, as String() prints them, are the shortest decimal of the binary32 number `x`. Two decimals of at
 * most 15 digits are never the same binary64 number, so that the digits found here are the ones that String() finds. Whether a reader
 * rounds the decimal to binary32 at once or by way of binary64, the result is `x`.
 */
export function shortest32(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const magnitude = Math.abs(x);
  float[0] = magnitude;
  const pattern = bits[0] as number;
  // Halfway to the neighbours: binary64 holds both without an error. The number after the largest would be 2^128.
  const low = (fromBits(pattern - 1) + magnitude) / 2;
  const high = (Math.min(fromBits(pattern + 1), 2 ** 128) + magnitude) / 2;
  const tiesHere = pattern % 2 === 0; // a decimal halfway to a neighbour is rounded to this number
  let best = magnitude;
  // If some decimal of n digits reads back, so does one of n + 1: the same with a zero.
  for (let digits = MAX_DIGITS; digits > 0; digits--) {
    const [coefficient, exponent] = magnitude.toExponential(digits - 1).split("e") as [string, string];
    const nearest = Number(coefficient.replace(".", ""));
    const scale = Number(exponent) - digits + 1;
    // Of two decimals that are equally close, the one that ends in an even digit, as in String() and NumPy. The next one above:
    // below a power of two the numbers are closer together than above, so that the nearest decimal may lie below and not read back,
    // while that one does.
    const even = nearest % 2 === 0 || !isExact(10 * nearest - 5, scale - 1, magnitude) ? nearest : nearest - 1;
    const found = [even, nearest, nearest + 1].find((n) => {
      const decimal = Number(`${n}e${scale}`);
      return (low < decimal && decimal < high) || (tiesHere && (isExact(n, scale, low) || isExact(n, scale, high)));
    });
    if (found === undefined) break;
    best = Number(`${found}e${scale}`);
  }
  return x < 0 ? -best : best;
}

// Whether the decimal n 10^scale is x and not just rounded to it. A number of binary32 or halfway between two is a multiple of 2^-150.
function isExact(n: number, scale: number, x: number): boolean {
  if (Number(`${n}e${scale}`) !== x) return false;
  const power = (k: number): bigint => 10n ** BigInt(Math.max(k, 0));
  return (BigInt(n) * power(scale)) << 150n === BigInt(x * 2 ** 150) * power(-scale);
}
