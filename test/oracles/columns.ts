// The second oracle: sums as one learns them at school, in base 2. Every set bit of every term goes into its column,
// bit by bit; then the carries run from right to left, and the result is read off the columns. No BigInt, no
// floating-point arithmetic on the data.
import type { Format, Real, Reduction, Rounding } from "../../src/arrays/types.ts";

const LOWEST = -2148;
const COLUMNS = 4352; // to 2^2203: 2^53 products and more

const view = new DataView(new ArrayBuffer(8));

/** The exponents of the set bits of a finite double. */
function setBits(x: number): number[] {
  view.setFloat64(0, Math.abs(x));
  const words = [view.getUint32(0), view.getUint32(4)] as const;
  const field = words[0] >>> 20;
  const last = Math.max(field, 1) - 1075;
  const bits: number[] = field === 0 ? [] : [last + 52];
  for (let i = 0; i < 52; i++) if (((i < 32 ? words[1] >>> i : words[0] >>> (i - 32)) & 1) === 1) bits.push(last + i);
  return bits;
}

/** A finite reduction, rounded. */
export function columnSum(op: Reduction, x: Real, y: Real, mode: Rounding, format: Format): number {
  const columns = new Int32Array(COLUMNS);
  const put = (exponent: number, by: number) => {
    (columns[exponent - LOWEST] as number) += by;
  };
  for (let i = 0; i < x.length; i++) {
    const a = x[i] as number;
    const b = y[i] as number;
    const by = op === "asum" ? 1 : a < 0 !== (op === "dot" && b < 0) ? -1 : 1;
    for (const e of setBits(a)) {
      if (op !== "dot") put(e, by);
      else for (const f of setBits(b)) put(e + f, by);
    }
  }
  const negative = runCarries(columns) < 0;
  if (negative) {
    // The columns hold the sum and one unit past the last of them; their negative, modulo that unit, is the magnitude.
    for (let i = 0; i < COLUMNS; i++) columns[i] = -(columns[i] as number);
    runCarries(columns);
  }
  const magnitude = roundColumns(columns, negative, mode, format);
  return negative ? -magnitude : magnitude;
}

// Leave 0 or 1 in every column; what leaves the last one is the sign.
function runCarries(columns: Int32Array): number {
  let carry = 0;
  for (let i = 0; i < COLUMNS; i++) {
    const v = (columns[i] as number) + carry;
    columns[i] = v & 1;
    carry = (v - (v & 1)) / 2;
  }
  return carry;
}

function roundColumns(columns: Int32Array, negative: boolean, mode: Rounding, format: Format): number {
  const top = columns.lastIndexOf(1);
  if (top < 0) return 0;
  const [precision, smallest] = format === "binary64" ? [53, -1074] : [24, -149];
  const last = Math.max(top - precision + 1, smallest - LOWEST);
  let digits = 0;
  for (let i = Math.max(top, last); i >= last; i--) digits = 2 * digits + (columns[i] ?? 0);
  const half = columns[last - 1] === 1;
  const below = columns.subarray(0, Math.max(last - 1, 0)).includes(1);
  if (mode === "nearest" ? half && (below || digits % 2 === 1) : (half || below) && mode === (negative ? "down" : "up")) digits++;
  // scaled in two steps, so that no power of two overflows or underflows by itself
  const exponent = last + LOWEST;
  const step = Math.trunc(exponent / 2);
  const value = exponent > 971 ? Number.POSITIVE_INFINITY : digits * 2 ** step * 2 ** (exponent - step);
  const largest = format === "binary64" ? Number.MAX_VALUE : 2 ** 128 - 2 ** 104;
  if (value <= largest) return value;
  return mode === "nearest" || mode === (negative ? "down" : "up") ? Number.POSITIVE_INFINITY : largest;
}
