// The dense routines as docs/spec.md defines them: every entry is one exact sum with the roundings of the definition, in its order. Part of
// the reference engine (index.ts). How the products of a sum are added is a parameter: study.ts runs each stage of the papers alone.
import type { StridedMatrix } from "../../arrays/matrix.ts";
import type { Format, Real } from "../../arrays/types.ts";
import { formatOf } from "../../arrays/vectors.ts";
import { store } from "../../exact/store.ts";
import { add, divide, unknown } from "../../exact/substitution.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import type { Kernels, Substitution } from "../kernels.ts";

/** The elements data[offset + k * step], k < length: a part of a row or of a column. */
export interface StridedVector {
  readonly data: Real;
  readonly offset: number;
  readonly step: number;
  readonly length: number;
}

/** Adds the products x_k y_k to a sum, exactly. x and y have equal length. */
export type AddProducts = (x: StridedVector, y: StridedVector, into: Superaccumulator) => void;

/** The routines, with inner products added by this function. */
export function dense(addProducts: AddProducts): Pick<Kernels, "gemv" | "gemm" | "trsv" | "trsm" | "lu"> {
  return {
    gemv: (alpha, A: StridedMatrix, x: Real, beta, y: Real) => gemm(addProducts, alpha, A, column(x), beta, column(y)),
    gemm: (alpha, A: StridedMatrix, B: StridedMatrix, beta, C: StridedMatrix) => gemm(addProducts, alpha, A, B, beta, C),
    trsv: (T: StridedMatrix, b: Real, x: Real, how) => trsv(addProducts, T, column(b), column(x), how),
    trsm(T: StridedMatrix, B: StridedMatrix, X, how) {
      for (let j = 0; j < B.cols; j++) trsv(addProducts, T, columnIn(B, j), columnIn(X, j), how);
    },
    // biome-ignore lint/correctness/useYield: a single step
    *lu(data: Real, rows, cols, count, pivots, info) {
      return lu(addProducts, data, rows, cols, count, pivots, info);
    },
  };
}

const sum = new Superaccumulator();

/** The index of entry (i, j) in its array. */
const index = (A: StridedMatrix, i: number, j: number): number => A.offset + i * A.rowStride + j * A.colStride;
const get = (A: StridedMatrix, i: number, j: number): number => A.data[index(A, i, j)] as number;
const set = (A: StridedMatrix, i: number, j: number, v: number): void => store(A.data, index(A, i, j), v);

// Entries from..to - 1 of row i, and of column j.
function inRow(A: StridedMatrix, i: number, from: number, to: number): StridedVector {
  return { data: A.data, offset: index(A, i, from), step: A.colStride, length: to - from };
}
function inColumn(A: StridedMatrix, j: number, from: number, to: number): StridedVector {
  return { data: A.data, offset: index(A, from, j), step: A.rowStride, length: to - from };
}

/** A vector as a matrix of one column. */
function column(x: Real): StridedMatrix {
  return { data: x, offset: 0, rows: x.length, cols: 1, rowStride: 1, colStride: x.length };
}

// sum := v - x . y.
function subtractProducts(addProducts: AddProducts, v: number, x: StridedVector, y: StridedVector): void {
  addProducts(x, y, sum.clear());
  sum.negate().add(v);
}

/** C := alpha A B + beta C. */
function gemm(addProducts: AddProducts, alpha: number, A: StridedMatrix, B: StridedMatrix, beta: number, C: StridedMatrix): void {
  const format = formatOf(C.data);
  for (let i = 0; i < C.rows; i++) {
    for (let j = 0; j < C.cols; j++) {
      sum.clear();
      if (!Number.isFinite(alpha)) {
        // Only the signs of the factors matter, and whether they are zero.
        for (let k = 0; k < A.cols; k++) sum.add(alpha * Math.sign(get(A, i, k)) * Math.sign(get(B, k, j)));
      } else if (alpha !== 0) {
        addProducts(inRow(A, i, 0, A.cols), inColumn(B, j, 0, A.cols), sum);
        sum.scale(alpha);
      }
      if (beta !== 0) sum.addProduct(beta, get(C, i, j));
      set(C, i, j, sum.round("nearest", format));
    }
  }
}

/** A triangular system in the order of substitution: T is lower triangular; an upper one has been reversed. */
interface OrderedTriangle {
  readonly addProducts: AddProducts;
  readonly T: StridedMatrix;
  readonly how: Substitution;
  readonly format: Format;
}

/** The same entries with the last row and column first. */
function reversed(A: StridedMatrix): StridedMatrix {
  return { ...A, offset: index(A, A.rows - 1, A.cols - 1), rowStride: -A.rowStride, colStride: -A.colStride };
}

/** Column j of a matrix, as a matrix of one column. */
function columnIn(A: StridedMatrix, j: number): StridedMatrix {
  return { ...A, offset: index(A, 0, j), cols: 1 };
}

/** x := the solution of T x = b by substitution. b and x are columns. */
function trsv(addProducts: AddProducts, T: StridedMatrix, b: StridedMatrix, x: StridedMatrix, how: Substitution): void {
  const inOrder = (A: StridedMatrix): StridedMatrix => (how.upper ? reversed(A) : A);
  const system: OrderedTriangle = { addProducts, T: inOrder(T), how, format: formatOf(x.data) };
  const right = inOrder(b);
  const solution = inOrder(x);
  substitute(system, right, solution);
  refine(system, how.refine, right, solution, 0, T.rows, (r, d) => substitute(system, r, d));
}

// Block by block; each is refined as soon as it is solved.
function substitute(system: OrderedTriangle, b: StridedMatrix, x: StridedMatrix): void {
  const { refineBlocks } = system.how;
  const blockSize = system.how.blockSize || x.rows;
  for (let from = 0; from < x.rows; from += blockSize) {
    const to = Math.min(from + blockSize, x.rows);
    solveRows(system, b, x, from, to, 0);
    refine(system, refineBlocks, b, x, from, to, (r, d) => solveRows(system, r, d, from, to, from));
  }
}

// Unknowns from..to - 1 of the system whose first column is `first`.
function solveRows(system: OrderedTriangle, b: StridedMatrix, x: StridedMatrix, from: number, to: number, first: number): void {
  for (let k = from; k < to; k++) {
    startRow(system, b, x, k, first);
    set(x, k, 0, unknown(sum, system.how.unit ? undefined : get(system.T, k, k), system.how.rounding, system.format));
  }
}

// sum := b_k - the products of row k with the unknowns first..k - 1.
function startRow({ addProducts, T }: OrderedTriangle, b: StridedMatrix, x: StridedMatrix, k: number, first: number): void {
  subtractProducts(addProducts, get(b, k, 0), inRow(T, k, first, k), inColumn(x, 0, first, k));
}

// While the unknowns from..to - 1 are finite: compute their residual, solve for it, and add the solution.
function refine(
  system: OrderedTriangle,
  steps: number,
  b: StridedMatrix,
  x: StridedMatrix,
  from: number,
  to: number,
  solution: (r: StridedMatrix, d: StridedMatrix) => void,
): void {
  for (let step = 0; step < steps && isFiniteIn(x, from, to); step++) {
    const r = column(x.data.slice(0, x.rows));
    const d = column(x.data.slice(0, x.rows));
    for (let k = from; k < to; k++) set(r, k, 0, residual(system, b, x, k));
    solution(r, d);
    for (let k = from; k < to; k++) set(x, k, 0, add(get(x, k, 0), get(d, k, 0), system.format));
  }
}

// RN(b_k - sum T_kj x_j).
function residual(system: OrderedTriangle, b: StridedMatrix, x: StridedMatrix, k: number): number {
  startRow(system, b, x, k, 0);
  sum.addProduct(system.how.unit ? -1 : -get(system.T, k, k), get(x, k, 0));
  return sum.round("nearest", system.format);
}

function isFiniteIn(x: StridedMatrix, from: number, to: number): boolean {
  for (let k = from; k < to; k++) if (!Number.isFinite(get(x, k, 0))) return false;
  return true;
}

/** P A = L U in place, for `count` matrices one after another: see Kernels.lu. */
function lu(addProducts: AddProducts, data: Real, rows: number, cols: number, count: number, pivots: Int32Array, info: Int32Array): number {
  const steps = Math.min(rows, cols);
  for (let m = 0; m < count; m++) {
    const A: StridedMatrix = { data, offset: m * rows * cols, rows, cols, rowStride: cols, colStride: 1 };
    const overflow = factor(addProducts, A, pivots.subarray(m * steps, (m + 1) * steps), info.subarray(m, m + 1));
    if (overflow >= 0) return overflow;
  }
  return -1;
}

// Column by column (left-looking): a column is updated with all columns to its left before its pivot is chosen.
function factor(addProducts: AddProducts, A: StridedMatrix, pivots: Int32Array, info: Int32Array): number {
  const format = formatOf(A.data);
  info[0] = 0;
  for (let j = 0; j < A.cols; j++) {
    for (let i = 0; i < A.rows; i++) {
      const left = Math.min(i, j);
      subtractProducts(addProducts, get(A, i, j), inRow(A, i, 0, left), inColumn(A, j, 0, left));
      set(A, i, j, sum.round("nearest", format));
      if (!Number.isFinite(get(A, i, j))) return index(A, i, j);
    }
    if (j >= pivots.length) continue;
    const pivot = largestInColumn(A, j);
    pivots[j] = pivot;
    swapRows(A, j, pivot);
    const u = get(A, j, j);
    if (u === 0) {
      info[0] = 1 + j;
      return -1;
    }
    for (let i = j + 1; i < A.rows; i++) set(A, i, j, divide(get(A, i, j), u, format));
  }
  return -1;
}

// The first of the rows from j on whose entry in column j has the largest magnitude.
function largestInColumn(A: StridedMatrix, j: number): number {
  let pivot = j;
  for (let i = j + 1; i < A.rows; i++) if (Math.abs(get(A, i, j)) > Math.abs(get(A, pivot, j))) pivot = i;
  return pivot;
}

function swapRows(A: StridedMatrix, i: number, k: number): void {
  for (let j = 0; j < A.cols; j++) {
    const kept = get(A, i, j);
    set(A, i, j, get(A, k, j));
    set(A, k, j, kept);
  }
}
