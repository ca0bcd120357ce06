// The oracle of solve(): A x = b in BigInt integers, nothing of the code under test. `eliminate` is Bareiss's fraction-free
// elimination, for orders up to about 60; `enclose` proves the same components by a fixed-point inverse with an exact
// residual, for orders up to about 120. `measures` are the two numbers of SPEC.md that say how good an answer is.
// Matrices are given row by row.
import { nearest, type Value, value } from "./matrices.ts";

/** p / q * 2^e. */
export interface Ratio {
  readonly p: bigint;
  readonly q: bigint;
  readonly e: number;
}

/** A regular system's solutions, one list for each right-hand side; or the first column that depends on those before it. */
export type Elimination = { readonly columns: Ratio[][] } | { readonly dependent: number };

type Numbers = ArrayLike<number>;

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);
const larger = (a: bigint, b: bigint): bigint => [a, b][Number(b > a)] as bigint;
const bits = (n: bigint): number => (n === 0n ? 0 : magnitude(n).toString(2).length);

/** RN of a ratio times 2^shift; what rounds to zero is +0. */
export function roundRatio({ p, q, e }: Ratio, shift = 0): number {
  return nearest(p, q, e + shift, "binary64") + 0; // -0 + 0 is +0
}

/** RN of the solution of A x = b, component by component, or the index of the first dependent column. */
export function solution(n: number, A: Numbers, b: Numbers): number[] | number {
  const result = eliminate(n, A, [b]);
  return "dependent" in result ? result.dependent : (result.columns[0] as Ratio[]).map((x) => roundRatio(x));
}

/** [A, right-hand sides] as integers: entry (i, j) is rows[i][j] * 2^(rowPowers[i] + columnPowers[j]). */
interface Integers {
  readonly rows: bigint[][];
  readonly columnPowers: number[];
}

// A double as an odd integer times a power of two.
function odd(x: number): Value {
  const { n, e } = value(x);
  if (n === 0n) return { n, e, special: undefined };
  const zeros = bits(n & -n) - 1;
  return { n: n >> BigInt(zeros), e: e + zeros, special: undefined };
}

// A row may be multiplied by any power of two, and a column too, which changes its unknown: without that, integers of a
// badly scaled matrix would have thousands of bits.
function integers(n: number, A: Numbers, rights: readonly Numbers[]): Integers {
  const stored = Array.from({ length: n }, (_, i) => {
    const row = Array.from({ length: n }, (_, j) => odd(A[i * n + j] as number));
    return [...row, ...rights.map((b) => odd(b[i] as number))];
  });
  const least = (values: readonly { n: bigint; e: number }[]): number => {
    const powers = values.filter((v) => v.n !== 0n).map((v) => v.e);
    return powers.length === 0 ? 0 : Math.min(...powers);
  };
  const rowPowers = stored.map((row) => least(row.slice(0, n)));
  const columnPowers = Array.from({ length: n + rights.length }, (_, j) =>
    least(stored.map((row, i) => ({ n: row[j]?.n as bigint, e: (row[j]?.e as number) - (rowPowers[i] as number) }))),
  );
  const rows = stored.map((row, i) =>
    row.map(({ n: m, e }, j) => (m === 0n ? 0n : m << BigInt(e - (rowPowers[i] as number) - (columnPowers[j] as number)))),
  );
  return { rows, columnPowers };
}

/** Solve A x = b for every b of `rights` by fraction-free elimination: every number on the way is a minor of [A, b]. */
export function eliminate(n: number, A: Numbers, rights: readonly Numbers[]): Elimination {
  const { rows, columnPowers } = integers(n, A, rights);
  const width = n + rights.length;
  let last = 1n;
  for (let k = 0; k < n; k++) {
    const pivot = rows.findIndex((row, i) => i >= k && row[k] !== 0n);
    if (pivot < 0) return { dependent: k };
    [rows[k], rows[pivot]] = [rows[pivot] as bigint[], rows[k] as bigint[]];
    const above = rows[k] as bigint[];
    const diagonal = above[k] as bigint;
    for (let i = k + 1; i < n; i++) {
      const row = rows[i] as bigint[];
      const factor = row[k] as bigint;
      for (let j = k + 1; j < width; j++) row[j] = (diagonal * (row[j] as bigint) - factor * (above[j] as bigint)) / last;
    }
    last = diagonal;
  }
  // `last` is the determinant but for its sign, and the unknowns times it are integers: Cramer's numerators.
  const columns = rights.map((_, r) => {
    const numerators = new Array<bigint>(n).fill(0n);
    for (let i = n - 1; i >= 0; i--) {
      const row = rows[i] as bigint[];
      let sum = last * (row[n + r] as bigint);
      for (let j = i + 1; j < n; j++) sum -= (row[j] as bigint) * (numerators[j] as bigint);
      numerators[i] = sum / (row[i] as bigint);
    }
    return numerators.map((p, j) => ({ p, q: last, e: (columnPowers[n + r] as number) - (columnPowers[j] as number) }));
  });
  return { columns };
}

/**
 * RN of the components of the solution of A x = b that an enclosure proves; undefined for the others, which are
 * ties or nearly so, and all of them where A is singular.
 *
 * R is an inverse of A in fixed point and E = I - R A, computed exactly. If its norm is at most 1/2, then A is regular,
 * and as A^-1 = (I - E)^-1 R, any y has norm(x - y) <= norm(R (b - A y)) / (1 - norm(E)) <= 2 norm(R (b - A y)). Residuals
 * are exact, so that corrections by R make this as small as wanted. A component is proved where both ends of
 * its interval round alike. The cost is that of 2 n^3 products of a few hundred bits, where elimination takes 2/3 n^3 of
 * up to 50 n bits.
 */
export function enclose(n: number, A: Numbers, b: Numbers): (number | undefined)[] {
  const { rows, columnPowers } = integers(n, A, [b]);
  const size = BigInt(Math.max(...rows.map((row) => Math.max(...row.slice(0, n).map(bits)))));
  for (let precision = 128n; precision <= 4096n; precision *= 2n) {
    const R = inverse(rows, n, size, precision);
    if (R === undefined || !contracts(R, rows, n, size + precision)) continue;
    for (let places = 256n; places <= 4096n; places *= 2n) {
      const { y, radius } = corrected(R, rows, n, size + precision, places);
      const result = y.map((v, j) => {
        const e = Number(-places) + (columnPowers[n] as number) - (columnPowers[j] as number);
        const ends = [-radius, radius].map((r) => roundRatio({ p: v + r, q: 1n, e }));
        return Object.is(ends[0], ends[1]) ? ends[0] : undefined;
      });
      if (places === 4096n || !result.includes(undefined)) return result;
    }
  }
  return new Array<undefined>(n).fill(undefined);
}

// About 2^(size + precision) times the inverse of the n by n integers of `size` bits, by Gauss and Jordan with partial pivoting.
function inverse(rows: readonly bigint[][], n: number, size: bigint, precision: bigint): bigint[][] | undefined {
  const shift = precision - size;
  const scaled = (v: bigint): bigint => (shift >= 0n ? v << shift : v >> -shift);
  const one = 1n << precision;
  const work = rows.map((row, i) => [...row.slice(0, n).map(scaled), ...row.slice(0, n).map((_, j) => (i === j ? one : 0n))]);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (magnitude(work[i]?.[k] as bigint) > magnitude(work[pivot]?.[k] as bigint)) pivot = i;
    [work[k], work[pivot]] = [work[pivot] as bigint[], work[k] as bigint[]];
    const above = work[k] as bigint[];
    const diagonal = above[k] as bigint;
    if (diagonal === 0n) return undefined;
    for (let j = k; j < 2 * n; j++) above[j] = ((above[j] as bigint) << precision) / diagonal;
    for (const [i, row] of work.entries()) {
      const factor = row[k] as bigint;
      if (i === k || factor === 0n) continue;
      for (let j = k; j < 2 * n; j++) {
        const u = above[j] as bigint;
        if (u !== 0n) row[j] = (row[j] as bigint) - ((factor * u) >> precision);
      }
    }
  }
  return work.map((row) => row.slice(n));
}

// Is the norm of I - 2^-shift R A at most 1/2 (in fact 2^-16, or corrections would be many)?
function contracts(R: readonly bigint[][], rows: readonly bigint[][], n: number, shift: bigint): boolean {
  const limit = 1n << (shift - 16n);
  return R.every((row, i) => {
    const sums = new Array<bigint>(n).fill(0n);
    sums[i] = -(1n << shift);
    row.forEach((r, k) => {
      const a = rows[k] as bigint[];
      for (let j = 0; j < n; j++) if (a[j] !== 0n) sums[j] = (sums[j] as bigint) + r * (a[j] as bigint);
    });
    return sums.reduce((sum, v) => sum + magnitude(v), 0n) <= limit;
  });
}

// y in units of 2^-places, and what it differs from the solution by at most.
function corrected(
  R: readonly bigint[][],
  rows: readonly bigint[][],
  n: number,
  shift: bigint,
  places: bigint,
): { y: bigint[]; radius: bigint } {
  const y = new Array<bigint>(n).fill(0n);
  let before: bigint | undefined;
  for (;;) {
    const residual = rows.map((row) => y.reduce((sum, v, j) => sum - (row[j] as bigint) * v, (row[n] as bigint) << places));
    const steps = R.map((row) => row.reduce((sum, v, j) => sum + v * (residual[j] as bigint), 0n));
    const norm = steps.reduce((most, v) => larger(most, magnitude(v)), 0n);
    const radius = ((2n * norm) >> shift) + 1n;
    if (radius <= 4n || (before !== undefined && radius >= before)) return { y, radius };
    before = radius;
    steps.forEach((v, i) => {
      y[i] = (y[i] as bigint) + (v >> shift);
    });
  }
}

/** The scaled residual and the componentwise backward error of x for one right-hand side, each rounded once. */
export function measures(n: number, A: Numbers, x: Numbers, b: Numbers): { residual: number; backwardError: number } {
  if (!Array.from(x).every(Number.isFinite)) return { residual: Number.NaN, backwardError: Number.NaN };
  // All in units of 2^-2148, norms of A and x in units of 2^-1074.
  const units = (v: number): bigint => {
    const { n: m, e } = value(v);
    return m === 0n ? 0n : m << BigInt(e + 1074);
  };
  const [xs, bs] = [Array.from(x, units), Array.from(b, units)];
  let [largest, norm, backwardError] = [0n, 0n, 0];
  for (let i = 0; i < n; i++) {
    const right = (bs[i] as bigint) << 1074n;
    let [sum, sizes, rowSum] = [right, magnitude(right), 0n];
    for (let j = 0; j < n; j++) {
      const a = units(A[i * n + j] as number);
      if (a === 0n) continue;
      const term = a * (xs[j] as bigint);
      sum -= term;
      sizes += magnitude(term);
      rowSum += magnitude(a);
    }
    largest = larger(largest, magnitude(sum));
    norm = larger(norm, rowSum);
    if (sum !== 0n) backwardError = Math.max(backwardError, nearest(magnitude(sum), sizes, 0, "binary64"));
  }
  const most = (values: readonly bigint[]): bigint => values.reduce((m, v) => larger(m, magnitude(v)), 0n);
  const below = BigInt(n) * (norm * most(xs) + (most(bs) << 1074n));
  return { residual: largest === 0n ? 0 : nearest(largest, below, 53, "binary64"), backwardError };
}
