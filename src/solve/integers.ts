import type { Routine } from "../dense/steps.ts";
import { newVector } from "../dense/vectors.ts";
import type { Entries } from "../engines/kernels.ts";
import type { Kept } from "../engines/plain.ts";
import { exponentOf, significand } from "../exact/superaccumulator.ts";

// The system as whole numbers, for the exact stages. Binary64 entries are whole numbers times powers of two, so that with powers for
// rows and columns M = 2^shift R A C has whole entries. They are cut into slices of so few bits that products with small digits,
// summed up in binary64, are exact in any order: that is a product in ordinary arithmetic, which every engine has.

/** Powers of two for rows and columns. */
export interface Scale {
  readonly rows: Int32Array;
  readonly cols: Int32Array;
}

/**
 * Bits of slices and of digits: |t| <= 2^(bits - 1) for both, so that n products stay below 2^53. No more than 22, for which there
 * are primes that the kernels can work with.
 */
export function digitBits(n: number): number {
  return Math.min(22, Math.floor((55 - Math.ceil(Math.log2(Math.max(2, n)))) / 2));
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

function trailingZeros(m: number): number {
  const low = m % 2 ** 32 | 0;
  if (low !== 0) return 31 - Math.clz32(low & -low);
  const high = (m / 2 ** 32) | 0;
  return 32 + 31 - Math.clz32(high & -high);
}

/** The power of two that the last set bit of x is worth; x is not 0. */
export function lastBit(x: number): number {
  return exponentOf(x) + trailingZeros(Math.abs(significand(x)));
}

/** 1 + floor(log2(|x|)); x is not 0. */
function firstBit(x: number): number {
  const m = Math.abs(significand(x));
  const high = Math.floor(m / 2 ** 32);
  return exponentOf(x) + (high > 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(m));
}

/** The powers that make every entry a whole number, as small as rows first and then columns can have them: no shift is needed. */
export function wholeScale(A: Float64Array, rows: number, cols: number): Scale {
  const down = new Int32Array(rows);
  const right = new Int32Array(cols).fill(NONE);
  for (let i = 0; i < rows; i++) {
    let least = NONE;
    for (let j = 0; j < cols; j++) if (A[i * cols + j] !== 0) least = Math.min(least, lastBit(A[i * cols + j] as number));
    down[i] = least === NONE ? 0 : -least;
    for (let j = 0; j < cols; j++) {
      const v = A[i * cols + j] as number;
      if (v !== 0) right[j] = Math.min(right[j] as number, lastBit(v) + (down[i] as number));
    }
  }
  return { rows: down, cols: right.map((least) => (least === NONE ? 0 : -least)) };
}
const NONE = 2 ** 30;

/** Cut 2^shift R A C into slices, with the least shift that makes it whole. A is n by n, row by row. */
export function slicesOf(routine: string, A: Float64Array, n: number, { rows, cols }: Scale): Slices {
  const bits = digitBits(n);
  let [least, most] = [NONE, -NONE];
  const rowSize = new Float64Array(n).fill(-NONE);
  const colSize = new Float64Array(n).fill(-NONE);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const v = A[i * n + j] as number;
      if (v === 0) continue;
      const power = (rows[i] as number) + (cols[j] as number);
      const top = firstBit(v) + power;
      least = Math.min(least, lastBit(v) + power);
      rowSize[i] = Math.max(rowSize[i] as number, top);
      colSize[j] = Math.max(colSize[j] as number, top);
    }
    most = Math.max(most, rowSize[i] as number);
  }
  const shift = least === NONE ? 0 : -least;
  const size = most === -NONE ? 0 : most + shift;
  // The first digit of a number of `size` bits may carry into another.
  const count = Math.floor(size / bits) + 1;
  const data = newVector(routine, new Float64Array(0), count * n * n);
  const radix = 2 ** bits;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const v = A[i * n + j] as number;
      if (v === 0) continue;
      const zeros = trailingZeros(Math.abs(significand(v)));
      let rest = significand(v) / 2 ** zeros;
      const at = exponentOf(v) + zeros + (rows[i] as number) + (cols[j] as number) + shift;
      let s = Math.floor(at / bits);
      // The lowest digit has fewer bits of the number, so that the others begin at multiples of `bits`.
      let [room, scale] = [2 ** ((s + 1) * bits - at), 2 ** (at - s * bits)];
      for (; rest !== 0; s++) {
        const carry = Math.round(rest / room);
        data[(s * n + i) * n + j] = (rest - carry * room) * scale;
        rest = carry;
        [room, scale] = [radix, 1];
      }
    }
  }
  const half = 0.5 * Math.log2(Math.max(1, n));
  const bound = (sizes: Float64Array): number => sizes.reduce((sum, top) => sum + Math.max(0, top + shift + half), 0);
  return { n, bits, shift, count, data, size, determinant: Math.ceil(Math.min(bound(rowSize), bound(colSize))) };
}

/** Slices on an engine. */
export interface KeptSlices extends Slices {
  readonly kept: Kept;
}

/** A matrix of whole numbers on the engine, for products. */
export function* keepMatrix(routine: string, data: Float64Array, rows: number, cols: number): Routine<Kept> {
  const A: Entries = { data, offset: 0, rows, cols, rowStep: cols, colStep: 1 };
  return (yield (kernels) => kernels.plain.keep(routine, A, true)) as Kept;
}

/** The products of a matrix of small whole numbers with k vectors of such, n by k row by row: exact. */
export function* wholeProducts(routine: string, { A }: Kept, x: Float64Array, k: number): Routine<Float64Array> {
  const out = new Float64Array(A.rows * k);
  yield (kernels) => {
    if (kernels.plain.residual) return kernels.plain.residual(routine, 1, A, x, new Float64Array(A.rows * k), k, out);
    const matrix = (data: Float64Array, rows: number): Entries => ({ data, offset: 0, rows, cols: k, rowStep: k, colStep: 1 });
    return k === 1 ? kernels.gemv(1, A, x, 0, out) : kernels.gemm(1, A, matrix(x, A.cols), 0, matrix(out, A.rows));
  };
  return out;
}

/** b scaled by rows, as whole numbers times 2^-grid. */
export function wholeVector(b: Float64Array, rows: Int32Array): { whole: bigint[]; grid: number } {
  let least = NONE;
  for (let i = 0; i < b.length; i++) if (b[i] !== 0) least = Math.min(least, lastBit(b[i] as number) + (rows[i] as number));
  const grid = least === NONE ? 0 : -least;
  const whole = Array.from(b, (v, i) => {
    if (v === 0) return 0n;
    const zeros = trailingZeros(Math.abs(significand(v)));
    return BigInt(significand(v) / 2 ** zeros) << BigInt(exponentOf(v) + zeros + (rows[i] as number) + grid);
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
  const bits = firstBit(rounded);
  return size >> BigInt(bits - 1) === 0n ? bits - 1 : bits;
}
