// The system in integers, for the exact stages (exact.ts). Binary64 entries are integers times powers of two, so with suitable powers
// for rows and columns M = 2^shift R A C has integer entries. They are cut into slices of so few bits that sums of products with small
// digits are exact in binary64, in any order: a matrix product in ordinary arithmetic, which every engine has.

import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import type { Allocation } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { highWord, lowWord, powerOfTwo } from "../../exact/bits.ts";
import { exponentOf } from "../../exact/superaccumulator.ts";
import { allRows, keepRows, largestOver, maximumOver, newHeldVector, shareNumbers } from "./held.ts";
import { exponent, timesPower } from "./powers.ts";

/** The exponents of powers of two for rows and columns. */
export interface ScaleExponents {
  readonly rows: Int32Array;
  readonly cols: Int32Array;
}

/**
 * The number of bits of slices and digits: |t| <= 2^(bits - 1) for both, so that sums of n products stay below 2^52. At most 22, so that
 * there are primes that the kernels can work with.
 */
export function digitBits(n: number): number {
  return Math.min(22, Math.floor((54 - Math.ceil(Math.log2(Math.max(2, n)))) / 2));
}

/**
 * M = sum over s of 2^(bits s) T_s, with |t| <= 2^(bits - 1). `data` has the held rows of each slice T_s, one slice after another; the
 * whole of it, on the engine, has slice s in the rows s n to (s + 1) n - 1.
 */
export interface Slices {
  readonly n: number;
  /** The rows that this process holds (held.ts). */
  readonly rows: Int32Array;
  readonly bits: number;
  readonly shift: number;
  readonly count: number;
  readonly data: Float64Array;
  /** All magnitudes in M are below 2^size. */
  readonly size: number;
  /** log2 of a bound on the determinant of M: Hadamard's, by rows or by columns, whichever is less. */
  readonly determinant: number;
}

const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word);

/** The exponent of the last set bit of x; NO_BITS for 0. */
export function lastBit(x: number): number {
  if (x === 0) return NO_BITS;
  const high = highWord(x);
  const low = lowWord();
  const exponent = Math.max((high >>> 20) & 0x7ff, 1) - 1075;
  return exponent + (low !== 0 ? trailingZeros(low) : 32 + trailingZeros(high | ((high & 0x7ff00000) === 0 ? 0 : 0x100000)));
}

/** Above the exponent of any last bit. */
const NO_BITS = 2 ** 30;

/** lastBit() of every entry. */
export function lastBits(A: Float64Array): Int32Array {
  const bits = new Int32Array(A.length);
  for (let e = 0; e < A.length; e++) bits[e] = lastBit(A[e] as number);
  return bits;
}

/**
 * The smallest exponents, for rows first and then for columns, that make every entry of an n by n matrix an integer without a shift.
 * `bits` are the last bits of the held rows.
 */
export function* integerScale(bits: Int32Array, n: number, held = allRows(n)): Routine<ScaleExponents> {
  const rows = new Int32Array(held.length);
  const cols = new Float64Array(n).fill(-NO_BITS);
  for (let i = 0; i < held.length; i++) {
    let minBit = NO_BITS;
    for (let j = 0; j < n; j++) minBit = Math.min(minBit, bits[i * n + j] as number);
    const row = minBit === NO_BITS ? 0 : -minBit;
    rows[i] = row;
    for (let j = 0; j < n; j++) cols[j] = Math.max(cols[j] as number, -(bits[i * n + j] as number) - row);
  }
  yield* maximumOver(cols);
  return {
    rows: Int32Array.from(yield* shareNumbers(held, rows, n)),
    cols: Int32Array.from(cols, (exponent) => (exponent < -NO_BITS / 2 ? 0 : exponent)),
  };
}

// x 2^-last, an integer below 2^53.
function integerOf(x: number, last: number): number {
  return last < -1000 || last > 1000 ? timesPower(x, -last) : x * powerOfTwo(-last);
}

/**
 * Cut 2^shift R A C into slices, with the smallest shift that makes them integers. A has the held rows of an n by n matrix, `last` their
 * lastBits().
 */
export function* slicesOf(
  routine: string,
  A: Float64Array,
  last: Int32Array,
  n: number,
  { rows, cols }: ScaleExponents,
  held = allRows(n),
): Routine<Slices> {
  const bits = digitBits(n);
  let minBit = NO_BITS;
  const rowSize = new Float64Array(held.length).fill(-NO_BITS);
  const colSize = new Float64Array(n).fill(-NO_BITS);
  for (let k = 0; k < held.length; k++) {
    let size = -NO_BITS;
    const row = rows[held[k] as number] as number;
    for (let j = 0; j < n; j++) {
      const v = A[k * n + j] as number;
      if (v === 0) continue;
      const power = row + (cols[j] as number);
      const top = exponentOf(v) + 53 + power;
      minBit = Math.min(minBit, (last[k * n + j] as number) + power);
      size = Math.max(size, top);
      colSize[j] = Math.max(colSize[j] as number, top);
    }
    rowSize[k] = size;
  }
  minBit = -(yield* largestOver(-minBit));
  yield* maximumOver(colSize);
  const rowSizes = yield* shareNumbers(held, rowSize, n);
  const maxTop = rowSizes.reduce((top, size) => Math.max(top, size), -NO_BITS);
  const shift = minBit === NO_BITS ? 0 : -minBit;
  const size = maxTop === -NO_BITS ? 0 : maxTop + shift;
  // A number below 2^(bits count - 2) has no carry out of its last digit, which is below half of the radix.
  const count = Math.floor((size + 1) / bits) + 1;
  const data = yield* newHeldVector(routine, count * held.length * n);
  const radix = 2 ** bits;
  for (let k = 0; k < held.length; k++) {
    const row = rows[held[k] as number] as number;
    for (let j = 0; j < n; j++) {
      const v = A[k * n + j] as number;
      if (v === 0) continue;
      const bit = last[k * n + j] as number;
      let rest = integerOf(v, bit);
      const at = bit + row + (cols[j] as number) + shift;
      const s = Math.floor(at / bits);
      // The lowest digit takes fewer bits of the number, so that the others begin at multiples of `bits`.
      const scale = 2 ** (at - s * bits);
      let carry = Math.round((rest * scale) / radix);
      let e = (s * held.length + k) * n + j;
      data[e] = (rest - (carry * radix) / scale) * scale;
      for (rest = carry; rest !== 0; rest = carry) {
        e += held.length * n;
        carry = Math.round(rest / radix);
        data[e] = rest - carry * radix;
      }
    }
  }
  return { n, rows: held, bits, shift, count, data, size, determinant: hadamardBound(rowSizes, colSize, shift) };
}

// log2 of Hadamard's bound, from bounds on the largest entries.
function hadamardBound(rows: Float64Array, cols: Float64Array, shift: number): number {
  const half = 0.5 * Math.log2(Math.max(1, rows.length));
  const bound = (sizes: Float64Array): number => sizes.reduce((sum, top) => sum + Math.max(0, top + shift + half), 0);
  return Math.ceil(Math.min(bound(rows), bound(cols))) + 1; // logarithms are rounded
}

/** The slices of m of the rows and of the first m columns. The rows are numbered as in the list. */
export function slicesOfRows({ n, rows: held, bits, shift, count, data, size }: Slices, rows: Int32Array): Slices {
  const m = rows.length;
  const place = new Int32Array(n).fill(-1);
  for (const [k, row] of held.entries()) place[row] = k;
  const isHeld = (row: number): boolean => (place[row] as number) >= 0;
  const own = allRows(m).filter((i) => isHeld(rows[i] as number));
  const part = new Float64Array(count * own.length * m);
  for (let s = 0; s < count; s++)
    for (const [k, i] of own.entries()) {
      const from = (s * held.length + (place[rows[i] as number] as number)) * n;
      part.set(data.subarray(from, from + m), (s * own.length + k) * m);
    }
  const sizes = new Float64Array(m).fill(size - shift);
  return { n: m, rows: own, bits, shift, count, data: part, size, determinant: hadamardBound(sizes, sizes, shift) };
}

/** Slices in the memory of an engine. */
export interface EngineSlices extends Slices {
  readonly allocation: Allocation<StridedOperand>;
}

/** Slices in the memory of the engine. */
export function* keepSlices(routine: string, slices: Slices): Routine<EngineSlices> {
  const { n, rows, count, data } = slices;
  const all = Int32Array.from(
    { length: count * rows.length },
    (_, k) => Math.floor(k / rows.length) * n + (rows[k % rows.length] as number),
  );
  return { ...slices, allocation: yield* keepRows(routine, { rows: all, data }, count * n, n) };
}

/** The exact products of a matrix of small integers with k vectors of small integers, n by k row by row. */
export function* integerProducts(routine: string, A: StridedOperand, x: Float64Array, k: number): Routine<Float64Array> {
  const out = new Float64Array(A.rows * k);
  yield (kernels) => {
    if (kernels.approximate.residual) return kernels.approximate.residual(routine, 1, A, x, new Float64Array(A.rows * k), k, out);
    return k === 1 ? kernels.gemv(1, A, x, 0, out) : kernels.gemm(1, A, rowMajor(x, A.cols, k), 0, rowMajor(out, A.rows, k));
  };
  return out;
}

/** b scaled by rows, as integers times 2^-shift. */
export function integerVector(b: Float64Array, rows: Int32Array): { integers: bigint[]; shift: number } {
  const last = lastBits(b);
  let minBit = NO_BITS;
  for (let i = 0; i < b.length; i++) minBit = Math.min(minBit, (last[i] as number) + (rows[i] as number));
  const shift = minBit > NO_BITS / 2 ? 0 : -minBit;
  const integers = Array.from(b, (v, i) => {
    const bit = last[i] as number;
    return v === 0 ? 0n : BigInt(integerOf(v, bit)) << BigInt(bit + (rows[i] as number) + shift);
  });
  return { integers, shift };
}

/** floor(log2(|n|)) + 1; 0 for 0. */
export function bitLength(n: bigint): number {
  const size = n < 0n ? -n : n;
  const small = Number(size);
  if (small < 2 ** 1000) return small === 0 ? 0 : bitsOfNumber(size, small);
  const hex = size.toString(16);
  return 4 * hex.length - (Math.clz32(Number.parseInt(hex[0] as string, 16)) - 28);
}

// Corrects for a double that was rounded up to the next power of two.
function bitsOfNumber(size: bigint, rounded: number): number {
  const bits = exponent(rounded) + 1;
  return size >> BigInt(bits - 1) === 0n ? bits - 1 : bits;
}

/** The bit length of the largest magnitude. */
export function maxBitLength(r: readonly bigint[]): number {
  let [top, size] = [0n, 0];
  for (const v of r) {
    const rough = Math.abs(Number(v));
    if (rough < size) continue;
    const magnitude = v < 0n ? -v : v;
    if (magnitude > top) [top, size] = [magnitude, rough];
  }
  return bitLength(top);
}
