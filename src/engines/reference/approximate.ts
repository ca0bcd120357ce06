// The approximate kernels of solve() as in textbooks: unblocked, right-looking, one row after another. Part of the reference engine
// (index.ts); the contract is engines/approximate.ts.
import type { StridedMatrix } from "../../arrays/matrix.ts";
import type { Format } from "../../arrays/types.ts";
import { copyOf, newVector } from "../../arrays/vectors.ts";
import type { ApproximateFactors, ApproximateInverses, ApproximateKernels, Scaling } from "../approximate.ts";

interface Factors extends ApproximateFactors {
  readonly lu: Float64Array; // row by row, unit L below the diagonal
  readonly pivots: Int32Array;
}

interface Inverses extends ApproximateInverses {
  readonly lu: Float64Array;
}

type Round = (x: number) => number;
// binary32 operations in binary64: 53 >= 2 * 24 + 2 bits, so rounding twice is the same as rounding once.
const rounding = (format: Format): Round => (format === "binary32" ? Math.fround : (x) => x);

export const approximateReference: ApproximateKernels = {
  magnitudes(_routine, { data, offset, rows, cols, rowStride, colStride }: StridedMatrix, scale, sums, largest) {
    for (let i = 0; i < rows; i++) {
      let sum = 0;
      let max = 0;
      for (let j = 0; j < cols; j++) {
        const size = (scale[j] as number) * Math.abs(data[offset + i * rowStride + j * colStride] as number);
        sum += size;
        max = Math.max(max, size); // NaN if either is NaN
      }
      sums[i] = sum;
      largest[i] = max;
    }
  },

  factorize(routine, A: StridedMatrix, scaling, format, b, k, x) {
    const n = A.rows;
    const lu = scaled(routine, A, scaling, rounding(format));
    const pivots = new Int32Array(n);
    const column = eliminate(lu, n, pivots, rounding(format));
    const diagonal = Float64Array.from({ length: column < 0 ? n : 0 }, (_, i) => Math.abs(lu[i * n + i] as number));
    const minPivot = diagonal.reduce((a, v) => Math.min(a, v), Number.POSITIVE_INFINITY);
    const maxPivot = diagonal.reduce((a, v) => Math.max(a, v), 0);
    const factors: Factors = { n, format, column, minPivot, maxPivot, roundings: 2 * n, lu, pivots, free() {} };
    if (column < 0 && k > 0) approximateReference.substitute(routine, factors, b, k, x);
    return factors;
  },

  substitute(routine, factors, b, k, x) {
    const { n, format, lu, pivots } = factors as Factors;
    const round = rounding(format);
    const y = copyOf(routine, b).map(round);
    for (let i = 0; i < n; i++) swapRows(y, k, i, pivots[i] as number);
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) subtract(y, i * k, j * k, k, lu[i * n + j] as number, round);
    for (let i = n - 1; i >= 0; i--) {
      for (let j = i + 1; j < n; j++) subtract(y, i * k, j * k, k, lu[i * n + j] as number, round);
      for (let c = i * k; c < (i + 1) * k; c++) y[c] = round((y[c] as number) / (lu[i * n + i] as number));
    }
    x.set(y);
  },

  invert(_routine, factors) {
    const { n, lu } = factors as Factors;
    const inverse = new Float64Array(n * n);
    for (let j = 0; j < n; j++) invertColumn(lu, n, j, inverse);
    const inverses: Inverses = { n, roundings: 2 * n, lu: inverse, free() {} };
    return inverses;
  },

  weigh(_routine, triangles, part, v, out) {
    const { n, lu } = triangles as Factors | Inverses;
    for (let i = 0; i < n; i++) {
      let sum = part === "lower" ? (v[i] as number) : 0;
      for (let j = part === "lower" ? 0 : i; j < (part === "lower" ? i : n); j++)
        sum += Math.abs(lu[i * n + j] as number) * (v[j] as number);
      out[i] = sum;
    }
  },

  subtractModulo(_routine, { data, rows, cols }: StridedMatrix, P, Q, depth, p) {
    for (let i = 0; i < rows; i++) {
      for (let k = 0; k < depth; k++) {
        const f = P[i * depth + k] as number;
        if (f !== 0) for (let j = 0; j < cols; j++) data[i * cols + j] = (data[i * cols + j] as number) - f * (Q[k * cols + j] as number);
      }
      for (let j = 0; j < cols; j++) data[i * cols + j] = remainder(data[i * cols + j] as number, p);
    }
  },
};

const remainder = (x: number, p: number): number => x - p * Math.floor(x / p + 0.5);

// Column j of the inverses of both triangles: substitution with a column of the identity.
function invertColumn(lu: Float64Array, n: number, j: number, inverse: Float64Array): void {
  const entry = (i: number, k: number): number => (lu[i * n + k] as number) * (inverse[k * n + j] as number);
  for (let i = j + 1; i < n; i++) {
    let sum = -(lu[i * n + j] as number);
    for (let k = j + 1; k < i; k++) sum -= entry(i, k);
    inverse[i * n + j] = sum;
  }
  for (let i = j; i >= 0; i--) {
    let sum = i === j ? 1 : 0;
    for (let k = i + 1; k <= j; k++) sum -= entry(i, k);
    inverse[i * n + j] = sum / (lu[i * n + i] as number);
  }
}

function scaled(routine: string, A: StridedMatrix, { rows, cols }: Scaling, round: Round): Float64Array {
  const data = newVector(routine, rows, A.rows * A.cols);
  forEach(A, (k, v, i, j) => {
    data[k] = round((rows[i] as number) * v * (cols[j] as number));
  });
  return data;
}

function forEach(
  { data, offset, rows, cols, rowStride, colStride }: StridedMatrix,
  f: (k: number, v: number, i: number, j: number) => void,
): void {
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < cols; j++) f(i * cols + j, data[offset + i * rowStride + j * colStride] as number, i, j);
}

// Gaussian elimination in place. Returns the first column whose pivot is 0 or not finite, or -1.
function eliminate(lu: Float64Array, n: number, pivots: Int32Array, round: Round): number {
  for (let j = 0; j < n; j++) {
    const p = largestBelow(lu, n, j);
    const pivot = lu[p * n + j] as number;
    if (pivot === 0 || !Number.isFinite(pivot)) return j;
    pivots[j] = p;
    swapRows(lu, n, j, p);
    for (let i = j + 1; i < n; i++) {
      const factor = round((lu[i * n + j] as number) / pivot);
      lu[i * n + j] = factor;
      subtract(lu, i * n + j + 1, j * n + j + 1, n - j - 1, factor, round);
    }
  }
  return -1;
}

// The row of the first entry of largest magnitude on or below the diagonal of column j, or of the first NaN.
function largestBelow(lu: Float64Array, n: number, j: number): number {
  let row = j;
  for (let i = j; i < n; i++) {
    const v = Math.abs(lu[i * n + j] as number);
    if (Number.isNaN(v)) return i;
    if (v > Math.abs(lu[row * n + j] as number)) row = i;
  }
  return row;
}

function swapRows(data: Float64Array, length: number, i: number, p: number): void {
  for (let c = 0; i !== p && c < length; c++) {
    const kept = data[i * length + c] as number;
    data[i * length + c] = data[p * length + c] as number;
    data[p * length + c] = kept;
  }
}

// data[to + c] -= factor * data[from + c] for all c < length.
function subtract(data: Float64Array, to: number, from: number, length: number, factor: number, round: Round): void {
  for (let c = 0; c < length; c++) data[to + c] = round((data[to + c] as number) - round(factor * (data[from + c] as number)));
}
