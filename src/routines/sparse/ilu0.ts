// ilu0, the incomplete LU factorization without fill, on the calling thread. Exported by src/index.ts. Its factors are typical systems for
// sptrsv, solved in every iteration of a preconditioned method. A "line" is a row of a matrix by rows and a column of one by columns.
import { ShapeError, SingularError, ValueError } from "../../arrays/errors.ts";
import { checkSparse, patternInfoOf, toCsc, toCsr, trusted } from "../../arrays/sparse.ts";
import type { Format, Real, Sparse } from "../../arrays/types.ts";
import { copyOf, newIntegers, newVector } from "../../arrays/vectors.ts";
import { roundEnclosure } from "../../exact/enclosure.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import { twoProd, twoSum } from "../../exact/transforms.ts";

/**
 * Incomplete LU without fill of a square matrix: unit L below the diagonal and U on and above it, in the pattern of A, whose
 * pointers and indices the result shares. Where A has an entry (i, j), with the sum over those k < min(i, j) for which it has both
 * (i, k) and (k, j), `s = RN(a_ij - sum l_ik u_kj)`, exact and rounded once; `u_ij = s` for i <= j, and `l_ij = RN(s / u_jj)` below.
 * There is no pivoting: throws a SingularError for a zero pivot or a missing diagonal entry, and a ValueError for an entry that
 * is not finite or overflows.
 */
export function ilu0<V extends Real>(A: Sparse<V>): Sparse<V> {
  const format = checkSparse("ilu0", "A", A);
  if (A.rows !== A.cols) throw new ShapeError(`ilu0: A is ${A.rows} by ${A.cols}, expected a square matrix`);
  checkDiagonal(A);
  const info = patternInfoOf(A);
  checkFinite(A);
  const S = info.ascends ? A : A.format === "csr" ? toCsr(toCsc(A)) : toCsc(toCsr(A));
  const factors = { ...S, values: copyOf("ilu0", S.values) };
  factor(factors, format);
  return trusted(info.ascends ? factors : { ...A, values: inOrderOf(A, factors) }, info);
}

// Throws unless every row (or column) has its diagonal entry.
function checkDiagonal({ rows: n, pointers, indices }: Sparse<Real>): void {
  for (let i = 0; i < n; i++)
    if (!indices.subarray(pointers[i], pointers[i + 1]).includes(i))
      throw new SingularError(`ilu0: A has no entry (${i}, ${i}), expected a full diagonal`, i);
}

function checkFinite(A: Sparse<Real>): void {
  const p = A.values.findIndex((v) => !Number.isFinite(v));
  if (p < 0) return;
  const line = A.pointers.findIndex((end) => end > p) - 1;
  throw entryError(A.format, line, A.indices[p] as number, `A is ${A.values[p]}`);
}

function entryError(format: "csr" | "csc", line: number, index: number, what: string): ValueError {
  const [row, column] = format === "csr" ? [line, index] : [index, line];
  return new ValueError(`ilu0: entry (${row}, ${column}) of ${what}, expected a finite number`, row, column);
}

// The values of a matrix with ascending lines, in the order of A.
function inOrderOf<V extends Real>(A: Sparse<V>, { values: sorted, indices }: Sparse<V>): V {
  const values = newVector("ilu0", A.values, sorted.length);
  const line = newVector("ilu0", A.values, A.rows);
  for (let i = 0; i < A.rows; i++) {
    const [from, end] = [A.pointers[i] as number, A.pointers[i + 1] as number];
    for (let p = from; p < end; p++) line[indices[p] as number] = sorted[p] as number;
    for (let p = from; p < end; p++) values[p] = line[A.indices[p] as number] as number;
  }
  return values;
}

// If line k is this many times as long as the rest of the line it is subtracted from, it is searched instead of read. Otherwise a
// matrix with a full first row and column would take n^2 steps; with the search it takes 0.2 s at n = 300,000.
const SEARCH_RATIO = 32;

/**
 * Factors in place, line by line. From line i, the lines k < i for which it has an entry are subtracted in ascending order; entries outside
 * the pattern of line i are skipped. By rows, the factor of line k is l_ik, an entry divided by u_kk. By columns it is u_ki, the entry
 * itself, and the entries below the diagonal are divided at the end. 27 points on 64 x 64 x 64 nodes, 6.9 million entries, take 1.8 s.
 */
function factor({ format: by, rows: n, pointers, indices, values }: Sparse<Real>, format: Format): void {
  const diagonal = newIntegers("ilu0", n); // its position in each finished line
  const lastAt = newIntegers("ilu0", n); // 1 + the last position at which each index occurred
  let longest = 0;
  for (let i = 0; i < n; i++) longest = Math.max(longest, (pointers[i + 1] as number) - (pointers[i] as number));
  const sums = new Sums(longest);

  for (let i = 0; i < n; i++) {
    const from = pointers[i] as number;
    const end = pointers[i + 1] as number;
    for (let p = from; p < end; p++) lastAt[indices[p] as number] = p + 1;
    sums.start(values, from, end);
    for (let p = from; p < end; p++) {
      const k = indices[p] as number;
      let s = sums.round(p - from, format);
      if (s !== s) s = exactEntry({ pointers, indices, values, diagonal }, from, p, Math.min(i, k), format);
      if (k < i && by === "csr") s = divide(s, values[diagonal[k] as number] as number, format);
      values[p] = finite(s, by, i, k);
      if (k === i) diagonal[i] = p;
      if (k >= i) continue;
      const first = (diagonal[k] as number) + 1;
      const last = pointers[k + 1] as number;
      if (last - first > SEARCH_RATIO * (end - p)) {
        for (let t = p + 1; t < end; t++) {
          const q = find(indices, first, last, indices[t] as number);
          if (q >= 0) sums.subtract(t - from, s, values[q] as number);
        }
        continue;
      }
      for (let q = first; q < last; q++) {
        const at = lastAt[indices[q] as number] as number;
        if (at > from) sums.subtract(at - 1 - from, s, values[q] as number);
      }
    }
    const pivot = values[diagonal[i] as number] as number;
    if (pivot === 0) throw new SingularError(`ilu0: the pivot of row ${i} is 0, expected another number (rows are not exchanged)`, i);
    if (by === "csr") continue;
    for (let p = (diagonal[i] as number) + 1; p < end; p++)
      values[p] = finite(divide(values[p] as number, pivot, format), by, i, indices[p] as number);
  }
}

function finite(v: number, by: "csr" | "csc", line: number, index: number): number {
  if (v - v !== 0) throw entryError(by, line, index, "the factors of A overflows");
  return v;
}

/**
 * RN(s / u); a zero s gives +0. In binary32 it is safe to round the quotient to binary64 first: there it is 0 or a normal number, and
 * with integers S, U < 2^24 and M < 2^25 a quotient S / U 2^a that is not a midpoint M 2^b of binary32 differs from it by at least 2^-49
 * of itself, so that it stays on the same side.
 */
function divide(s: number, u: number, format: Format): number {
  if (s === 0) return 0;
  return format === "binary64" ? s / u : Math.fround(s / u);
}

interface FactoredLines {
  readonly pointers: Int32Array;
  readonly indices: Int32Array;
  readonly values: Real;
  readonly diagonal: Int32Array;
}

const sum = new Superaccumulator();

// The entry at p of the line that begins at `from`, with the products of the lines k < end, exactly: for entries that the filter
// cannot decide. Lines ascend.
function exactEntry({ pointers, indices, values, diagonal }: FactoredLines, from: number, p: number, end: number, format: Format): number {
  sum.clear().add(values[p] as number);
  for (let q = from; (indices[q] as number) < end; q++) {
    const k = indices[q] as number;
    const at = find(indices, (diagonal[k] as number) + 1, pointers[k + 1] as number, indices[p] as number);
    if (at >= 0) sum.addProduct(-(values[q] as number), values[at] as number);
  }
  return sum.round("nearest", format);
}

// The position of `index` in indices[from] to indices[end - 1], which ascend, or -1.
function find(indices: Int32Array, from: number, end: number, index: number): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((indices[middle] as number) < index) low = middle + 1;
    else high = middle;
  }
  return low < end && indices[low] === index ? low : -1;
}

/** The sums for all entries of a line, each as in the certified filter (the bound is proved in exact/filter.ts). */
class Sums {
  private readonly high: Float64Array;
  private readonly low: Float64Array;
  private readonly lost: Float64Array;
  private readonly size: Float64Array;

  constructor(private readonly longest: number) {
    this.high = new Float64Array(longest);
    this.low = new Float64Array(longest);
    this.lost = new Float64Array(longest);
    this.size = new Float64Array(longest);
  }

  /** Start with values[from] to values[end - 1]. */
  start(values: Real, from: number, end: number): void {
    for (let p = from; p < end; p++) this.high[p - from] = values[p] as number;
    this.low.fill(0, 0, end - from);
    this.lost.fill(0, 0, end - from);
    this.size.fill(0, 0, end - from);
  }

  /** Subtract x y. If the product overflows or is too small for TwoProd, the sum is left to the exact stage. */
  subtract(at: number, x: number, y: number): void {
    const p = -x * y;
    const e = twoProd(-x, y, p);
    const high = this.high[at] as number;
    const low = this.low[at] as number;
    const s = high + p;
    const r = twoSum(high, p, s);
    const t = low + r;
    const lost1 = twoSum(low, r, t);
    const l = t + e;
    const lost2 = twoSum(t, e, l);
    this.high[at] = Math.abs(p) < 2 ** -960 && x !== 0 && y !== 0 ? Number.NaN : s;
    this.low[at] = l;
    this.lost[at] = (this.lost[at] as number) + lost1 + lost2;
    this.size[at] = (this.size[at] as number) + Math.abs(lost1) + Math.abs(lost2);
  }

  /** The rounded sum, or NaN if the bound does not decide it. */
  round(at: number, format: Format): number {
    const low = this.low[at] as number;
    const lost = this.lost[at] as number;
    const l = low + lost;
    const bound = this.longest * 2 ** -52 * (this.size[at] as number) + Math.abs(twoSum(low, lost, l));
    return roundEnclosure(this.high[at] as number, l, bound, "nearest", format);
  }
}
