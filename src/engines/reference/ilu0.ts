// ILU(0), the incomplete LU factorization without fill, in plain TypeScript: the reference of the kernels `ilu0` of all engines, with the
// definition of SPEC.md. Called by the routine ilu0 through reference/index.ts. A "line" is a row of a matrix by rows and a column of one
// by columns.
import { positionOf } from "../../arrays/sparse.ts";
import type { Format, Real } from "../../arrays/types.ts";
import { formatOf, newIntegers } from "../../arrays/vectors.ts";
import { roundEnclosure } from "../../exact/enclosure.ts";
import { Superaccumulator } from "../../exact/superaccumulator.ts";
import { twoProd, twoSum } from "../../exact/transforms.ts";
import type { Breakdown, HostLines } from "../kernels.ts";

// If line k is this many times as long as the rest of the line it is subtracted from, it is searched instead of read. Otherwise a
// matrix with a full first row and column would take n^2 steps; with the search it takes 0.2 s at n = 300,000.
const SEARCH_RATIO = 32;

/**
 * See Kernels.ilu0. It works line by line. From line i, the lines k < i for which it has an entry are subtracted in ascending order; entries outside
 * the pattern of line i are skipped. By rows, the factor of line k is l_ik, an entry divided by u_kk. By columns it is u_ki, the entry
 * itself, and the entries below the diagonal are divided at the end. 27 points on 64 x 64 x 64 nodes, 6.9 million entries, take 1.8 s.
 */
export function ilu0({ n, byRows, pointers, indices, values: given, diagonal }: HostLines, values: Real): Breakdown | undefined {
  const format = formatOf(values);
  values.set(given);
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
      if (k < i && byRows) s = divide(s, values[diagonal[k] as number] as number, format);
      if (!Number.isFinite(s)) return { position: p, value: s };
      values[p] = s;
      if (k >= i) continue;
      const first = (diagonal[k] as number) + 1;
      const last = pointers[k + 1] as number;
      if (last - first > SEARCH_RATIO * (end - p)) {
        for (let t = p + 1; t < end; t++) {
          const q = positionOf(indices, first, last, indices[t] as number);
          if (q >= 0) sums.subtract(t - from, s, values[q] as number);
        }
        continue;
      }
      for (let q = first; q < last; q++) {
        const at = lastAt[indices[q] as number] as number;
        if (at > from) sums.subtract(at - 1 - from, s, values[q] as number);
      }
    }
    const position = diagonal[i] as number;
    const pivot = values[position] as number;
    if (pivot === 0) return { position, value: 0 };
    if (byRows) continue;
    for (let p = position + 1; p < end; p++) {
      const v = divide(values[p] as number, pivot, format);
      if (!Number.isFinite(v)) return { position: p, value: v };
      values[p] = v;
    }
  }
  return undefined;
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
    const at = positionOf(indices, (diagonal[k] as number) + 1, pointers[k + 1] as number, indices[p] as number);
    if (at >= 0) sum.addProduct(-(values[q] as number), values[at] as number);
  }
  return sum.round("nearest", format);
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
