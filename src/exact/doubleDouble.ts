// Triangular substitution in double-double arithmetic, with which the papers compare: every number is an unevaluated sum high + low of
// two doubles, about 106 bits, and each operation is off by a few units of 2^-104. It shares no arithmetic with the exact routines, not
// even the error-free transforms, so that agreement with them means something. As a baseline it takes no care of the range: factors
// beyond 2^995 overflow when they are split, and products below 2^-968 lose their low parts.
import { checkFlag, checkOptions, checkSize, checkVector, checkWord } from "../arrays/checks.ts";
import { ShapeError, SingularError } from "../arrays/errors.ts";
import { checkMatrix, stridedView } from "../arrays/matrix.ts";
import type { Matrix } from "../arrays/types.ts";

const SPLITTER = 2 ** 27 + 1;

// The operations leave their result here: allocating a pair for each would cost more than the arithmetic.
let high = 0;
let low = 0;

// high + low := a + b, exactly. |a| >= |b|, or a is 0.
function fastSum(a: number, b: number): void {
  high = a + b;
  low = b - (high - a);
}

// high + low := a b, exactly: each factor is split into halves of 26 bits.
function product(a: number, b: number): void {
  const p = SPLITTER * a;
  const q = SPLITTER * b;
  const aHigh = p - (p - a);
  const bHigh = q - (q - b);
  const aLow = a - aHigh;
  const bLow = b - bHigh;
  high = a * b;
  low = aLow * bLow - (high - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

// high + low := (a + aLow) - (high + low), off by 2^-104 of the magnitudes.
function subtractFrom(a: number, aLow: number): void {
  const b = -high;
  const bLow = -low;
  const sum = a + b;
  const part = sum - a;
  const error = a - (sum - part) + (b - part);
  fastSum(sum, error + (aLow + bLow));
}

/**
 * Solves a triangular system by substitution in double-double arithmetic, rounded to doubles at the end.
 * `uplo`, `trans` and `unit` are those of extrsv. For comparison: not exact, and only as reproducible as its order of operations.
 */
export function doubleDoubleTrsv(
  T: Matrix,
  b: Float64Array,
  options: { uplo?: "lower" | "upper" | undefined; trans?: boolean | undefined; unit?: boolean | undefined } = {},
): Float64Array {
  checkMatrix("doubleDoubleTrsv", "T", T);
  if (T.rows !== T.cols) throw new ShapeError(`doubleDoubleTrsv: T is ${T.rows} by ${T.cols}, expected a square matrix`);
  checkVector("doubleDoubleTrsv", "b", b);
  checkSize("doubleDoubleTrsv", "b", b, T.rows, "the order of T");
  checkOptions("doubleDoubleTrsv", options, ["uplo", "trans", "unit"]);
  const { uplo = "lower", trans = false, unit = false } = options;
  checkWord("doubleDoubleTrsv", "uplo", uplo, ["lower", "upper"]);
  checkFlag("doubleDoubleTrsv", "trans", trans);
  checkFlag("doubleDoubleTrsv", "unit", unit);

  const { data, offset, rows: n, rowStride, colStride } = stridedView(T, trans);
  const [first, step] = (uplo === "upper") !== trans ? [n - 1, -1] : [0, 1];
  const x = new Float64Array(n);
  const xLow = new Float64Array(n);
  for (let count = 0; count < n; count++) {
    const i = first + step * count;
    let sum = b[i] as number;
    let sumLow = 0;
    for (let j = first; j !== i; j += step) {
      const entry = data[offset + i * rowStride + j * colStride] as number;
      product(entry, x[j] as number);
      fastSum(high, low + entry * (xLow[j] as number));
      subtractFrom(sum, sumLow);
      sum = high;
      sumLow = low;
    }
    const diagonal = unit ? 1 : (data[offset + i * (rowStride + colStride)] as number);
    if (diagonal === 0) throw new SingularError(`doubleDoubleTrsv: entry (${i}, ${i}) of T is 0, expected a diagonal without zeros`, i);
    divide(sum, sumLow, diagonal);
    x[i] = high;
    xLow[i] = low;
  }
  return x;
}

// high + low := (sum + sumLow) / d: a quotient, its remainder, and the quotient of that.
function divide(sum: number, sumLow: number, d: number): void {
  const q = sum / d;
  product(q, d);
  subtractFrom(sum, sumLow);
  fastSum(q, high / d);
}
