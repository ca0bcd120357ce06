// The system as whole numbers, for the exact stages. Binary64 entries are whole numbers times powers of two, so that with powers for
// rows and columns M = 2^shift R A C has whole entries. They are cut into slices of so few bits that products with small digits,
// summed up in binary64, are exact in any order: that is a product in ordinary arithmetic, which every engine has.

import { rowMajor, type StridedOperand } from "../../arrays/matrix.ts";
import { newVector } from "../../arrays/vectors.ts";
import type { Allocation } from "../../engines/memory.ts";
import type { Routine } from "../../engines/steps.ts";
import { highWord, lowWord, powerOfTwo } from "../../exact/bits.ts";
import { exponentOf } from "../../exact/superaccumulator.ts";
import { exponent, timesPower } from "./powers.ts";

/** Powers of two for rows and columns. */
export interface Scale {
  readonly rows: Int32Array;
  readonly cols: Int32Array;
}

/**
 * Bits of slices and of digits: |t| <= 2^(bits - 1) for both, so that n products stay below 2^52. No more than 22, for which there
 * are primes that the kernels can work with.
 */
export function digitBits(n: number): number {
  return Math.min(22, Math.floor((54 - Math.ceil(Math.log2(Math.max(2, n)))) / 2));
}

/** M = sum over s of 2^(bits s) T_s, with |t| <= 2^(bits - 1): slice s is rows s n to (s + 1) n - 1 of `data`. */
export interface Slices {
  readonly n: number;
  readonly bits: number;
  readonly shift: number;
  readonly count: number;
  readonly data: Float64Array;
  /** log2 of the largest magnitude in M, rounded up. */
  readonly size: number;
  /** log2 of a bound of the determinant of M: Hadamard's, by rows or by columns, whichever is less. */
  readonly determinant: number;
}

const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word);

/** The power of two that the last set bit of x is worth; NONE for 0. */
export function lastBit(x: number): number {
  if (x === 0) return NONE;
  const high = highWord(x);
  const low = lowWord();
  const exponent = Math.max((high >>> 20) & 0x7ff, 1) - 1075;
  return exponent + (low !== 0 ? trailingZeros(low) : 32 + trailingZeros(high | ((high & 0x7ff00000) === 0 ? 0 : 0x100000)));
}

/** More than the last bit of any number is worth. */
const NONE = 2 ** 30;

/** lastBit() of every entry. */
export function lastBits(A: Float64Array): Int32Array {
  const bits = new Int32Array(A.length);
  for (let e = 0; e < A.length; e++) bits[e] = lastBit(A[e] as number);
  return bits;
}

/** The powers that make every entry of an n by n matrix whole, as small as rows first and then columns can have them: no shift is needed. */
export function wholeScale(bits: Int32Array, n: number): Scale {
  const rows = new Int32Array(n);
  const cols = new Int32Array(n).fill(NONE);
  for (let i = 0; i < n; i++) {
    let least = NONE;
    for (let j = 0; j < n; j++) least = Math.min(least, bits[i * n + j] as number);
    const row = least === NONE ? 0 : -least;
    rows[i] = row;
    for (let j = 0; j < n; j++) cols[j] = Math.min(cols[j] as number, (bits[i * n + j] as number) + row);
  }
  return { rows, cols: cols.map((least) => (least > NONE / 2 ? 0 : -least)) };
}

// x 2^-last, a whole number below 2^53.
function wholeOf(x: number, last: number): number {
  return last < -1000 || last > 1000 ? timesPower(x, -last) : x * powerOfTwo(-last);
}

/** Cut 2^shift R A C into slices, with the least shift that makes it whole. A is n by n, row by row, `last` its lastBits(). */
export function slicesOf(routine: string, A: Float64Array, last: Int32Array, n: number, { rows, cols }: Scale): Slices {
  const bits = digitBits(n);
  let [least, most] = [NONE, -NONE];
  const rowSize = new Float64Array(n).fill(-NONE);
  const colSize = new Float64Array(n).fill(-NONE);
  for (let i = 0; i < n; i++) {
    let size = -NONE;
    for (let j = 0; j < n; j++) {
      const v = A[i * n + j] as number;
      if (v === 0) continue;
      const power = (rows[i] as number) + (cols[j] as number);
      const top = exponentOf(v) + 53 + power;
      least = Math.min(least, (last[i * n + j] as number) + power);
      size = Math.max(size, top);
      colSize[j] = Math.max(colSize[j] as number, top);
    }
    rowSize[i] = size;
    most = Math.max(most, size);
  }
  const shift = least === NONE ? 0 : -least;
  const size = most === -NONE ? 0 : most + shift;
  // A number below 2^(bits count - 2) has no carry out of its last digit, which is then less than half of the radix.
  const count = Math.floor((size + 1) / bits) + 1;
  const data = newVector(routine, new Float64Array(0), count * n * n);
  const radix = 2 ** bits;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const v = A[i * n + j] as number;
      if (v === 0) continue;
      const bit = last[i * n + j] as number;
      let rest = wholeOf(v, bit);
      const at = bit + (rows[i] as number) + (cols[j] as number) + shift;
      const s = Math.floor(at / bits);
      // The lowest digit has fewer bits of the number, so that the others begin at multiples of `bits`.
      const scale = 2 ** (at - s * bits);
      let carry = Math.round((rest * scale) / radix);
      let e = (s * n + i) * n + j;
      data[e] = (rest - (carry * radix) / scale) * scale;
      for (rest = carry; rest !== 0; rest = carry) {
        e += n * n;
        carry = Math.round(rest / radix);
        data[e] = rest - carry * radix;
      }
    }
  }
  return { n, bits, shift, count, data, size, determinant: hadamard(rowSize, colSize, shift) };
}

// log2 of Hadamard's bound, from bounds of the largest entries.
function hadamard(rows: Float64Array, cols: Float64Array, shift: number): number {
  const half = 0.5 * Math.log2(Math.max(1, rows.length));
  const bound = (sizes: Float64Array): number => sizes.reduce((sum, top) => sum + Math.max(0, top + shift + half), 0);
  return Math.ceil(Math.min(bound(rows), bound(cols))) + 1; // logarithms are rounded
}

/** The slices of some rows and as many of the first columns. */
export function partOf({ n, bits, shift, count, data, size }: Slices, rows: Int32Array): Slices {
  const m = rows.length;
  const part = new Float64Array(count * m * m);
  for (let s = 0; s < count; s++)
    for (let i = 0; i < m; i++) {
      const from = (s * n + (rows[i] as number)) * n;
      part.set(data.subarray(from, from + m), (s * m + i) * m);
    }
  const sizes = new Float64Array(m).fill(size - shift);
  return { n: m, bits, shift, count, data: part, size, determinant: hadamard(sizes, sizes, shift) };
}

/** Slices on an engine. */
export interface KeptSlices extends Slices {
  readonly kept: Allocation<StridedOperand>;
}

/** The exact products of a matrix of small whole numbers with k vectors of small whole numbers, n by k row by row. */
export function* wholeProducts(routine: string, A: StridedOperand, x: Float64Array, k: number): Routine<Float64Array> {
  const out = new Float64Array(A.rows * k);
  yield (kernels) => {
    if (kernels.approximate.residual) return kernels.approximate.residual(routine, 1, A, x, new Float64Array(A.rows * k), k, out);
    return k === 1 ? kernels.gemv(1, A, x, 0, out) : kernels.gemm(1, A, rowMajor(x, A.cols, k), 0, rowMajor(out, A.rows, k));
  };
  return out;
}

/** b scaled by rows, as whole numbers times 2^-grid. */
export function wholeVector(b: Float64Array, rows: Int32Array): { whole: bigint[]; grid: number } {
  const last = lastBits(b);
  let least = NONE;
  for (let i = 0; i < b.length; i++) least = Math.min(least, (last[i] as number) + (rows[i] as number));
  const grid = least > NONE / 2 ? 0 : -least;
  const whole = Array.from(b, (v, i) => {
    const bit = last[i] as number;
    return v === 0 ? 0n : BigInt(wholeOf(v, bit)) << BigInt(bit + (rows[i] as number) + grid);
  });
  return { whole, grid };
}

/** floor(log2(n)) + 1 of a positive number; 0 of 0. */
export function bitLength(n: bigint): number {
  const size = n < 0n ? -n : n;
  const small = Number(size);
  if (small < 2 ** 1000) return small === 0 ? 0 : bitsOfNumber(size, small);
  const hex = size.toString(16);
  return 4 * hex.length - (Math.clz32(Number.parseInt(hex[0] as string, 16)) - 28);
}

// Rounding to a double may reach the next power of two.
function bitsOfNumber(size: bigint, rounded: number): number {
  const bits = exponent(rounded) + 1;
  return size >> BigInt(bits - 1) === 0n ? bits - 1 : bits;
}
