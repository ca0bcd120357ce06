// Matrices with known LU factors that are exact in binary32, for tests of the approximate factorizations.
import type { StridedMatrix } from "../../src/arrays/matrix.ts";
import type { Real } from "../../src/arrays/types.ts";
import { Random } from "../../src/study.ts";

/** A matrix whose factors are known, with every sum of products in them a number of binary32: any order of work gives these bits. */
export interface Known {
  readonly rows: number;
  readonly cols: number;
  /** Row by row. */
  readonly A: Float64Array;
  readonly lu: Float64Array;
  readonly pivots: Int32Array;
}

/**
 * L has quarters below 1 in magnitude, U small whole numbers: the largest of a column is the pivot, alone, and sums
 * stay far below 2^24 quarters.
 */
export function known(rows: number, cols: number, seed: number): Known {
  const random = new Random(seed);
  const lu = new Float64Array(rows * cols);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < cols; j++) {
      const small = random.below(7) - 3;
      lu[i * cols + j] = i > j ? small / 4 : i === j ? (small < 0 ? -1 : 1) * (1 + random.below(3)) : small;
    }
  const order = Array.from({ length: rows }, (_, i) => i);
  for (let i = rows - 1; i > 0; i--) swap(order, i, random.below(i + 1));
  // Row p of the product is row order[p] of L U; the pivot steps bring row j of that to place j.
  const A = new Float64Array(rows * cols);
  for (const [p, i] of order.entries())
    for (let j = 0; j < cols; j++) {
      let sum = i <= j ? at(lu, cols, i, j) : 0;
      for (let k = 0; k < Math.min(i, j + 1); k++) sum += at(lu, cols, i, k) * at(lu, cols, k, j);
      A[p * cols + j] = sum;
    }
  const pivots = new Int32Array(cols);
  const places = [...order];
  for (let j = 0; j < cols; j++) {
    pivots[j] = places.indexOf(j);
    swap(places, j, pivots[j] as number);
  }
  // Rows without a pivot stay in the order that the swaps leave them in.
  const settled = Float64Array.from(lu, (_, e) => at(lu, cols, places[Math.floor(e / cols)] as number, e % cols));
  return { rows, cols, A, lu: settled, pivots };
}

function at(M: Float64Array, cols: number, i: number, j: number): number {
  return M[i * cols + j] as number;
}

function swap<V>(array: V[], i: number, k: number): void {
  [array[i], array[k]] = [array[k] as V, array[i] as V];
}

/** A X for k right-hand sides, row by row. */
export function product(n: number, A: Float64Array, X: Float64Array, k: number): Float64Array {
  return Float64Array.from({ length: n * k }, (_, e) => {
    const [i, r] = [Math.floor(e / k), e % k];
    let sum = 0;
    for (let j = 0; j < n; j++) sum += (A[i * n + j] as number) * (X[j * k + r] as number);
    return sum;
  });
}

/** Small whole numbers. */
export function wholes(length: number, seed: number): Float64Array {
  const random = new Random(seed);
  return Float64Array.from({ length }, () => random.below(7) - 3);
}

/** Numbers in (-1, 1). */
export function randoms(length: number, seed: number): Float64Array {
  const random = new Random(seed);
  return Float64Array.from({ length }, () => random.signed());
}

export interface Placing {
  readonly order: "row" | "column";
  readonly gap: number; // between lines
  readonly offset: number;
  readonly type: new (length: number) => Real;
}

/** A matrix that is given row by row, in memory as `how` says, with NaN between its entries. */
export function placed(rows: number, cols: number, A: Float64Array, how: Placing): StridedMatrix {
  const { order, gap, offset } = how;
  const [rowStride, colStride] = order === "row" ? [cols + gap, 1] : [1, rows + gap];
  const data = new how.type(offset + (order === "row" ? rows * rowStride : cols * colStride)).fill(Number.NaN);
  for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) data[offset + i * rowStride + j * colStride] = A[i * cols + j] as number;
  return { data, offset, rows, cols, rowStride, colStride };
}

export const ROW_BY_ROW: Placing = { order: "row", gap: 0, offset: 0, type: Float64Array };
