// Random matrices in random places of memory: either order, rows further apart than they need to be, from an offset.
// What is no entry of the matrix is NaN, so that reading it shows.
import { matrix } from "../src/arrays/matrix.ts";
import type { Format, Matrix, Real } from "../src/arrays/types.ts";
import type { Random } from "../src/study.ts";
import { KINDS, type Kind, toSingle, vector } from "./generators.ts";
import { storedBits, toHex } from "./hex.ts";
import { type Entry, nearest, negated, product, range, rounded, sum, type Value, value } from "./oracles/matrices.ts";

/** Numbers row by row, and how many rows and columns. */
export interface Table {
  readonly rows: number;
  readonly cols: number;
  readonly values: Real;
}

export const formatOf = (x: Real): Format => (x instanceof Float64Array ? "binary64" : "binary32");
export const vectorOf = (format: Format, x: Iterable<number>): Real =>
  format === "binary64" ? Float64Array.from(x) : Float32Array.from(x);
export const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T;
export const coin = (random: Random): boolean => random.below(2) === 1;

/** The entries of a table, or of its transpose. */
export function entry(A: Table, trans = false): Entry {
  return trans ? (i, j) => A.values[j * A.cols + i] as number : (i, j) => A.values[i * A.cols + j] as number;
}

/** A vector as a matrix of one column. */
export const column =
  (x: ArrayLike<number>): Entry =>
  (i) =>
    x[i] as number;

export function transposed(A: Table): Table {
  const at = entry(A, true);
  const values = range(A.cols).flatMap((i) => range(A.rows).map((j) => at(i, j)));
  return { rows: A.cols, cols: A.rows, values: vectorOf(formatOf(A.values), values) };
}

/** How a table lies in memory; `gap` is what the leading dimension exceeds the least by. */
export interface Layout {
  readonly order: "row" | "column";
  readonly gap: number;
  readonly offset: number;
}
export const PLAIN: Layout = { order: "row", gap: 0, offset: 0 };
export const LAYOUTS: readonly Layout[] = [
  PLAIN,
  { order: "column", gap: 0, offset: 0 },
  { order: "row", gap: 3, offset: 5 },
  { order: "column", gap: 2, offset: 7 },
];

export function layout(random: Random): Layout {
  return { order: coin(random) ? "row" : "column", gap: pick(random, [0, 0, 1, 3, 8]), offset: pick(random, [0, 0, 1, 2, 9]) };
}

/** A table laid out in an array of its own; entries that `reads` refuses are NaN there. */
export function place(
  { rows, cols, values }: Table,
  { order, gap, offset }: Layout,
  reads: (i: number, j: number) => boolean = () => true,
): Matrix<Real> {
  const ld = (order === "row" ? cols : rows) + gap;
  const length = offset + ld * (order === "row" ? rows : cols) + 3;
  const data = vectorOf(formatOf(values), new Array(length).fill(Number.NaN));
  const A = matrix(data as Float64Array, rows, cols, { order, ld, offset });
  for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) if (reads(i, j)) data[position(A, i, j)] = values[i * cols + j] as number;
  return A;
}

const position = (A: Matrix<Real>, i: number, j: number): number => A.offset + (A.order === "row" ? i * A.ld + j : j * A.ld + i);

/** The bits of a matrix's entries, row by row. */
export function entryBits(A: Matrix<Real>): string[] {
  const stored = storedBits(A.data);
  return range(A.rows).flatMap((i) => range(A.cols).map((j) => stored[position(A, i, j)] as string));
}

/** The bits of what surrounds the entries. */
export function paddingBits(A: Matrix<Real>): string[] {
  const entries = new Set(range(A.rows).flatMap((i) => range(A.cols).map((j) => position(A, i, j))));
  return storedBits(A.data).filter((_, k) => !entries.has(k));
}

/** The bits with which numbers are to be stored. */
export function wantedBits(want: readonly number[], format: Format): string[] {
  if (format === "binary64") return want.map((x) => (Number.isNaN(x) ? "7ff8000000000000" : toHex(x)));
  const single = new DataView(new ArrayBuffer(4));
  return want.map((x) => {
    single.setFloat32(0, x);
    return Number.isNaN(x) ? "7fc00000" : single.getUint32(0).toString(16).padStart(8, "0");
  });
}

// ---------------------------------------------------------------- kinds

const FINITE = KINDS.filter((kind) => kind !== "special");

/** Numbers of one kind, in one of the precisions. */
export function numbers(random: Random, n: number, format: Format, kind: Kind = pick(random, KINDS)): Real {
  if (format === "binary64") return vector(random, n, kind);
  if (kind === "integers") return Float32Array.from(vector(random, n, kind));
  if (kind !== "ties") return toSingle(random, vector(random, n, kind));
  return Float32Array.from({ length: n }, () => (random.below(9) - 4) * 2 ** pick(random, [0, -1, -23, -24, -25, -47, -48, -80]));
}

/** A matrix of one kind, of a kind in each row, or of small integers, among which zeros and equal entries are many. */
export function table(random: Random, rows: number, cols: number, format: Format, finite = false): Table {
  const kinds = finite ? FINITE : KINDS;
  const values = vectorOf(format, new Array(rows * cols).fill(0));
  const style = random.below(4);
  const common = pick(random, kinds);
  for (let i = 0; i < rows; i++) {
    const row =
      style === 0 ? range(cols).map(() => random.below(7) - 3) : numbers(random, cols, format, style === 1 ? pick(random, kinds) : common);
    values.set(row, i * cols);
  }
  return { rows, cols, values };
}

/** Scalars as callers use them: mostly harmless, and then what the definition has a word on. */
export function scalar(random: Random): number {
  if (coin(random)) return pick(random, [1, -1, 0, -0, 2, 0.5, -3]);
  if (random.below(8) === 0) return pick(random, [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  return numbers(random, 1, "binary64", pick(random, ["bits", "narrow", "ties", "subnormal", "large"]))[0] as number;
}

/** What to add to an exact value so that little is left: minus its rounding, now and then one step beside it. */
export function opposite(random: Random, v: Value, format: Format): number {
  const step = format === "binary64" ? 2 ** -52 : 2 ** -23;
  return -rounded(v, format) * (random.below(3) === 0 ? 1 + step : 1);
}

/**
 * A triangular system, whose diagonal has no zero: with a solution of few bits, with rows whose quotient is a midpoint
 * or next to one, or of random numbers and diagonals of several sizes, some of them infinite.
 */
export function system(random: Random, n: number, format: Format, upper: boolean): { T: Table; b: Real } {
  const style = random.below(8);
  if (style === 0) return representable(random, n, format, upper).system;
  if (style === 1) return ties(random, n, format, upper);
  const T = table(random, n, n, format);
  const diagonal = style === 2 ? numbers(random, n, format) : range(n).map(() => random.signed() * 2 ** random.below(style * 2));
  for (let i = 0; i < n; i++) T.values[i * n + i] = (diagonal[i] as number) || 1;
  for (let i = 0; i < n; i++) if (T.values[i * n + i] === 0) T.values[i * n + i] = 1;
  if (n > 0 && style === 3) T.values[random.below(n) * (n + 1)] = pick(random, [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
  return { T, b: numbers(random, n, format) };
}

/** A system of small integers, some of them far apart in size, and the solution it has exactly. */
export function representable(random: Random, n: number, format: Format, upper: boolean): { system: { T: Table; b: Real }; x: number[] } {
  const far = format === "binary64" ? 20 : 11; // so that b has no more bits than the format
  const x = range(n).map(() => random.below(15) - 7);
  const values = vectorOf(format, new Array(n * n).fill(0));
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) values[i * n + j] = (random.below(15) - 7) * (i === j ? 1 : 2 ** random.below(far)) || Number(i === j);
  const T: Table = { rows: n, cols: n, values };
  const inside = (i: number, j: number): boolean => (upper ? j >= i : j <= i);
  const at = entry(T);
  const b = range(n).map((i) => range(n).reduce((s, j) => s + (inside(i, j) ? at(i, j) * (x[j] as number) : 0), 0));
  return { system: { T, b: vectorOf(format, b) }, x };
}

// Unknowns 0, 1 and 2 are 1, so that row k can bring its sum to where it is wanted with four numbers: b_k, T_k0, T_k1
// and T_k2. That is T_kk times a midpoint of two numbers of the format: a tie, or where the last number is left out or
// changed, next to one.
function ties(random: Random, n: number, format: Format, upper: boolean): { T: Table; b: Real } {
  const [digits, tiny] = format === "binary64" ? [53, 2 ** -300] : [24, 2 ** -149];
  const at = (k: number): number => (upper ? n - 1 - k : k);
  const values = vectorOf(format, new Array(n * n).fill(0));
  const b = vectorOf(format, new Array(n).fill(1));
  const x = new Array<Value>(n).fill(value(1));
  const put = (i: number, j: number, v: number): number => {
    values[at(i) * n + at(j)] = v;
    return values[at(i) * n + at(j)] as number;
  };
  for (let k = 0; k < n; k++) {
    const divisor = put(k, k, k < 3 ? 1 : random.below(2000) - 1000 || 1);
    if (k < 3) continue;
    const known = range(k - 3).map((j) => product(value(put(k, j + 3, random.below(3) ? random.signed() : 0)), x[j + 3] as Value));
    const midpoint: Value = { n: 2n ** BigInt(digits) + 2n * BigInt(random.below(2 ** 20)) + 1n, e: -digits, special: undefined };
    let rest = sum([product(midpoint, value(divisor)), ...known]);
    const next = (): number => {
      const part = rounded(rest, format);
      rest = sum([rest, negated(value(part))]);
      return part;
    };
    b[at(k)] = next();
    put(k, 0, -next());
    put(k, 1, -next());
    const last = next();
    const written = put(k, 2, pick(random, [-last, -last, 0, last, 2 ** -80, -(2 ** -80), tiny, -tiny]));
    const s = sum([product(midpoint, value(divisor)), negated(rest), negated(value(last)), negated(value(written))]);
    x[k] = value(nearest(s.n * BigInt(Math.sign(divisor)), BigInt(Math.abs(divisor)), s.e, format));
  }
  return { T: { rows: n, cols: n, values }, b };
}

/** The number that, added to an exact value, brings it to a midpoint of two numbers of the format, or next to one. */
export function completing(random: Random, v: Value, format: Format): number {
  const r = value(rounded(v, format));
  if (r.special !== undefined || v.special !== undefined) return 1;
  const half = format === "binary64" ? 1n : 1n << 29n; // half a last place in the units of 2 r.n
  const midpoint: Value = { n: 2n * r.n + (coin(random) ? half : -half), e: r.e - 1, special: undefined };
  return rounded(sum([midpoint, negated(v)]), format);
}

/** A finite matrix to be factored: random, or with rows that are alike, singular, or of low rank but for rounding. */
export function factorable(random: Random, rows: number, cols: number, format: Format): Table {
  const A = table(random, rows, cols, format, true);
  const style = random.below(6);
  if (rows < 2 || style > 2) return A;
  const [to, from] = [random.below(rows), random.below(rows)];
  const factor = pick(random, [1, -1, 2, 0.5, 1 / 3]);
  for (let j = 0; j < cols; j++) {
    const v = style === 0 ? 0 : (A.values[from * cols + j] as number) * factor;
    if (Number.isFinite(Math.fround(v))) A.values[to * cols + j] = v;
  }
  return A;
}
