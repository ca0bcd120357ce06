// Systems A x = b to test solve() with, each kind made so that one thing is likely: ties, cancellation, overflow, dependence.
// Matrices are row by row. systems.test.ts holds every kind to what it promises.
import type { Random } from "../../src/study.ts";
import { permutation, vector } from "../generators.ts";
import { toHex } from "../hex.ts";
import { coin, pick } from "../matrices.ts";
import { negated, product, range, rounded, sum, type Value, value } from "../oracles/matrices.ts";

export interface System {
  readonly kind: string;
  readonly n: number;
  readonly A: Float64Array;
  readonly b: Float64Array;
}

/** A system as a line of solve.jsonl, to be found again. */
export const described = ({ kind, n, A, b }: System): string =>
  n > 30 ? `${kind} of order ${n}` : JSON.stringify({ kind, n, A: Array.from(A, toHex), b: Array.from(b, toHex) });

/** v * 2^k, or undefined where that is not a double. */
export function times(v: number, k: number): number | undefined {
  const scale = (x: number, by: number): number =>
    Math.abs(by) > 1000 ? scale(x * 2 ** (Math.sign(by) * 1000), by - Math.sign(by) * 1000) : x * 2 ** by;
  const result = scale(v, k);
  return Number.isFinite(result) && scale(result, -k) === v ? result : undefined;
}

const at = (A: ArrayLike<number>, n: number, i: number, j: number): number => A[i * n + j] as number;
const fill = (n: number, entry: (i: number, j: number) => number): Float64Array =>
  Float64Array.from({ length: n * n }, (_, k) => entry(Math.floor(k / n), k % n));
const list = (n: number, entry: (i: number) => number): Float64Array => Float64Array.from({ length: n }, (_, i) => entry(i));
const whole = (random: Random, most: number): number => random.below(2 * most + 1) - most;
const power = (random: Random, most: number): number => 2 ** whole(random, most);

/** Rows and columns in another order; `columns[j]` is the old place of column j. */
export function permuted(system: System, rows: ArrayLike<number>, columns: ArrayLike<number>): System {
  const { n, A, b } = system;
  return {
    ...system,
    A: fill(n, (i, j) => at(A, n, rows[i] as number, columns[j] as number)),
    b: list(n, (i) => b[rows[i] as number] as number),
  };
}
const shuffled = (random: Random, system: System): System => permuted(system, permutation(random, system.n), permutation(random, system.n));

/** Row i times 2^rows[i], column j times 2^columns[j], the unknowns by the opposite; undefined where an entry would be no double. */
export function scaled(system: System, rows: ArrayLike<number>, columns: ArrayLike<number>): System | undefined {
  const { n, A, b } = system;
  const entries = range(n * n).map((k) => times(A[k] as number, (rows[Math.floor(k / n)] as number) + (columns[k % n] as number)));
  const rights = range(n).map((i) => times(b[i] as number, rows[i] as number));
  if (entries.includes(undefined) || rights.includes(undefined)) return undefined;
  return { ...system, A: Float64Array.from(entries as number[]), b: Float64Array.from(rights as number[]) };
}
function mustScale(system: System, rows: ArrayLike<number>, columns: ArrayLike<number>): System {
  const result = scaled(system, rows, columns);
  if (!result) throw new Error(`${system.kind}: an entry does not survive its scaling`);
  return result;
}

// ---------------------------------------------------------------- regular, or nearly always so

function random(source: Random, n: number): System {
  return { kind: "random", n, A: fill(n, () => source.signed()), b: list(n, () => source.signed()) };
}

function bitPatterns(source: Random, n: number): System {
  return { kind: "bit patterns", n, A: vector(source, n * n, "bits"), b: vector(source, n, "bits") };
}

function spread(source: Random, n: number): System {
  return {
    kind: "spread",
    n,
    A: fill(n, () => source.signed() * power(source, 60)),
    b: list(n, () => source.signed() * power(source, 60)),
  };
}

function integers(source: Random, n: number): System {
  const most = pick(source, [1, 3, 100, 2 ** 20]);
  return { kind: "integers", n, A: fill(n, () => whole(source, most)), b: list(n, () => whole(source, most)) };
}

/** The solution is `x`, exactly. */
function representable(source: Random, n: number): System & { readonly x: number[] } {
  const x = range(n).map(() => whole(source, 2 ** 22));
  const A = fill(n, (i, j) => whole(source, 2 ** 20) + Number(i === j) * 2 ** 21 * (coin(source) ? 1 : -1));
  const b = list(n, (i) => range(n).reduce((s, j) => s + at(A, n, i, j) * (x[j] as number), 0));
  const shifts = range(n).map(() => whole(source, 300));
  const system = mustScale(
    { kind: "representable", n, A, b },
    range(n).map(() => whole(source, 300)),
    shifts.map((s) => -s),
  );
  return { ...system, x: x.map((v, j) => times(v, shifts[j] as number) as number) };
}

// A system with the solution x, of which x_0 = 1 is a column of its own: row i takes small integers for its other columns,
// about their sum S for b_i, and what is left for column 0: a random number, larger than a last place of b_i, so that column 0
// depends on no others.
function withSolution(source: Random, kind: string, x: readonly Value[], A: Float64Array): System {
  const n = x.length;
  const b = list(n, (i) => {
    for (let j = 1; j < n; j++) A[i * n + j] = whole(source, 500);
    const S = sum(range(n - 1).map((j) => product(value(at(A, n, i, j + 1)), x[j + 1] as Value)));
    const right = rounded(sum([S, value(whole(source, 2 ** 20))]), "binary64");
    const rest = sum([value(right), negated(S)]);
    A[i * n] = rounded(rest, "binary64");
    if (sum([rest, negated(value(A[i * n] as number))]).n !== 0n) throw new Error(`${kind}: a row that has too many bits`);
    return right;
  });
  return { kind, n, A, b };
}

/** An odd integer of 54 bits, with its sign: a midpoint of two doubles. */
const midpoint = (source: Random): bigint =>
  (coin(source) ? 1n : -1n) * ((1n << 53n) + 2n * BigInt(source.word() >>> 0) * BigInt(1 + source.below(2 ** 20)) + 1n);
const exactly = (n: bigint, e = 0): Value => ({ n, e, special: undefined });

/** All components but one are exact midpoints of two doubles. From order 2. */
function ties(source: Random, n: number): System {
  const x = [exactly(1n), ...range(n - 1).map(() => exactly(midpoint(source)))];
  const system = withSolution(source, "ties", x, new Float64Array(n * n));
  const powers = (): number[] => range(n).map(() => whole(source, 200));
  return shuffled(source, mustScale(system, powers(), powers()));
}

/**
 * All components but three are 2^-60 to 2^-700 of their size away from a midpoint: x is y + 2^-below d with midpoints in y
 * and 1 or -1 in d. Of b = A y + 2^-below A d the second part is 0 in all rows but row 0, and there the first part is: entries
 * of column 2, where y is 0 and d is 1, see to the one, those of columns 0 and 1, where y is 1 and d is 0, to the other. From order 4.
 */
function nearTies(source: Random, n: number): System & { readonly below: number } {
  const below = 7 + source.below(640);
  const y = [exactly(1n), exactly(1n), exactly(0n), ...range(n - 3).map(() => exactly(midpoint(source)))];
  const d = range(n - 3).map(() => (coin(source) ? 1 : -1));
  const { A, b } = withSolution(source, "near ties", y, new Float64Array(n * n));
  const along = (i: number): number => d.reduce((s, sign, j) => s + at(A, n, i, j + 3) * sign, 0);
  for (let i = 1; i < n; i++) A[i * n + 2] = -along(i);
  const S = sum(range(n - 3).map((j) => product(value(at(A, n, 0, j + 3)), y[j + 3] as Value)));
  A[0] = -rounded(S, "binary64");
  A[1] = -rounded(sum([S, value(A[0] as number)]), "binary64");
  A[2] = whole(source, 500);
  b[0] = (along(0) + (A[2] as number) || 1) * 2 ** -below;
  if (along(0) + (A[2] as number) === 0) A[2] = (A[2] as number) + 1;
  const powers = (): number[] => range(n).map(() => whole(source, 80));
  return { ...shuffled(source, mustScale({ kind: "near ties", n, A, b }, powers(), powers())), below };
}

/** Midpoints at the ends of the range, or next to them: 2^1024 - 2^970 is an infinity, 2^-1075 is 0. From order 2. */
function edges(source: Random, n: number): System {
  const x: Value[] = range(n).map((j) => {
    const sign = coin(source) ? 1n : -1n;
    if (j === 0) return exactly(1n, -65);
    if (coin(source)) return exactly(sign * ((1n << 54n) - 1n - BigInt(source.below(4) * source.below(2))), 970);
    return exactly(sign * BigInt(1 + source.below(pick(source, [1, 2, 9]))), -1075);
  });
  const integers = x.map((v) => exactly(v.n));
  const system = withSolution(source, "edges", integers, new Float64Array(n * n));
  // All powers are 65 less on both sides: 2^1075 would be no double.
  const columns = x.map(({ e }) => -65 - e);
  const moved = mustScale(system, new Float64Array(n), columns);
  return shuffled(source, { ...moved, b: moved.b.map((v) => times(v, -65) as number) });
}

/** Hilbert's matrix as doubles, as integers, and Pascal's. */
function hilbert(source: Random, n: number): System {
  const style = source.below(3);
  const common = range(2 * n).reduce((l, k) => (l * (k || 1)) / gcd(l, k || 1), 1);
  const pascal = fill(n, () => 1);
  for (let i = 1; i < n; i++) for (let j = 1; j < n; j++) pascal[i * n + j] = at(pascal, n, i - 1, j) + at(pascal, n, i, j - 1);
  const hilbertian = (i: number, j: number): number => (style === 1 ? common : 1) / (i + j + 1);
  return { kind: "hilbert", n, A: style === 2 ? pascal : fill(n, hilbertian), b: list(n, () => whole(source, 9)) };
}
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** The last column is a combination of the others but for one unit in one entry, `place`. From order 2. */
function nearlySingular(source: Random, n: number): System & { readonly place: number } {
  const most = 2 ** pick(source, [10, 30, 47]);
  const A = fill(n, () => whole(source, most));
  const factors = range(n - 1).map(() => whole(source, 3) || 1);
  for (let i = 0; i < n; i++) A[i * n + n - 1] = factors.reduce((s, f, j) => s + f * at(A, n, i, j), 0);
  const place = source.below(n) * n + n - 1;
  A[place] = (A[place] as number) + 1;
  return { kind: "nearly singular", n, A, b: list(n, () => whole(source, most)), place };
}

/** The determinant is 1: products of unit triangles, whose inverses grow with the order; or consecutive numbers of 52 bits. */
function unimodular(source: Random, n: number): System {
  const most = pick(source, [1, 3, 9]);
  const L = fill(n, (i, j) => (i === j ? 1 : i > j ? whole(source, most) : 0));
  const U = fill(n, (i, j) => (i === j ? 1 : i < j ? whole(source, most) : 0));
  const A = fill(n, (i, j) => range(n).reduce((s, k) => s + at(L, n, i, k) * at(U, n, k, j), 0));
  if (n === 2) {
    const m = 2 ** 51 + source.below(2 ** 32);
    A.set([m, m + 1, m + 1, m + 2]);
  }
  return shuffled(source, { kind: "unimodular", n, A, b: list(n, () => whole(source, 1000)) });
}

/** Rows and columns times powers of two, entries up to 2^±1000; `base` is the system before that, `columns` the powers of columns. */
function badlyScaled(source: Random, n: number): System & { readonly base: System; readonly columns: number[] } {
  const base = { ...pick(source, [random, integers])(source, n), kind: "badly scaled" };
  const columns = range(n).map(() => whole(source, 480));
  const rows = range(n).map(() => whole(source, 480));
  return { ...mustScale(base, rows, columns), base, columns };
}

/** Block triangular, most of it zeros, rows and columns shuffled. */
function blocks(source: Random, n: number): System {
  const starts = range(n).map((i) => i === 0 || source.below(3) === 0);
  let block = 0;
  const blockOf = starts.map((start) => {
    block += Number(start);
    return block;
  });
  const entry = (i: number, j: number): number => {
    const [p, q] = [blockOf[i] as number, blockOf[j] as number];
    return p > q || (p < q && coin(source)) ? 0 : source.signed() * (p < q ? power(source, 20) : 1);
  };
  const A = fill(n, entry);
  return shuffled(source, { kind: "blocks", n, A, b: list(n, () => (source.below(3) === 0 ? 0 : source.signed())) });
}

/** Huge and tiny entries side by side, subnormal ones among them. */
function hugeAndTiny(source: Random, n: number): System {
  const style = source.below(3);
  const entry = (): number => {
    const [any] = vector(source, 1, style === 0 ? "subnormal" : style === 1 ? "large" : pick(source, ["subnormal", "large", "edges"]));
    return any as number;
  };
  return { kind: "huge and tiny", n, A: fill(n, entry), b: list(n, entry) };
}

/** Components past the range, subnormal ones, and ones that round to zero. */
function outOfRange(source: Random, n: number): System {
  const columns = range(n).map(() => pick(source, [0, -1020, -960, 960, 1010, 1015]));
  const right = pick(source, [0, 30, 80, -30, -60, -80, -100]);
  const A = fill(n, (_, j) => source.signed() * 2 ** (columns[j] as number));
  return { kind: "out of range", n, A, b: list(n, () => source.signed() * 2 ** right) };
}

/** The kinds, and the orders for which they are made. */
export const SYSTEMS = {
  random: { make: random, orders: [1, 24] },
  bitPatterns: { make: bitPatterns, orders: [1, 7] },
  spread: { make: spread, orders: [1, 16] },
  integers: { make: integers, orders: [1, 24] },
  representable: { make: representable, orders: [1, 20] },
  ties: { make: ties, orders: [2, 16] },
  nearTies: { make: nearTies, orders: [4, 14] },
  edges: { make: edges, orders: [2, 10] },
  hilbert: { make: hilbert, orders: [1, 12] },
  nearlySingular: { make: nearlySingular, orders: [2, 16] },
  unimodular: { make: unimodular, orders: [2, 20] },
  badlyScaled: { make: badlyScaled, orders: [1, 16] },
  blocks: { make: blocks, orders: [1, 20] },
  hugeAndTiny: { make: hugeAndTiny, orders: [1, 7] },
  outOfRange: { make: outOfRange, orders: [1, 10] },
} as const;
export type SystemKind = keyof typeof SYSTEMS;
export const SYSTEM_KINDS = Object.keys(SYSTEMS) as SystemKind[];

/** A system of a kind, of a random order. */
export function systemOf<K extends SystemKind>(source: Random, kind: K): ReturnType<(typeof SYSTEMS)[K]["make"]> {
  const { make, orders } = SYSTEMS[kind];
  return make(source, orders[0] + source.below(orders[1] - orders[0] + 1)) as ReturnType<(typeof SYSTEMS)[K]["make"]>;
}

// ---------------------------------------------------------------- singular

export interface Singular extends System {
  /** The first column that depends on those before it. */
  readonly index: number;
}

// Integers that are hardly ever dependent by chance: the generator's test counts on it.
const independent = (source: Random, n: number): Float64Array => fill(n, () => whole(source, 2 ** 20) || 1);

const SINGULAR: Record<string, (source: Random, n: number) => { A: Float64Array; index: number }> = {
  "a zero column": (source, n) => {
    const [A, index] = [independent(source, n), source.below(n)];
    for (let i = 0; i < n; i++) A[i * n + index] = 0;
    return { A, index };
  },
  "a column that is a combination of others before it": (source, n) => {
    const [A, index] = [independent(source, n), Math.min(n - 1, pick(source, [1, n >> 1, n - 1]))];
    const factors = range(index).map(() => whole(source, 3));
    for (let i = 0; i < n; i++) A[i * n + index] = factors.reduce((s, f, j) => s + f * at(A, n, i, j), 0);
    return { A, index };
  },
  "two columns alike": (source, n) => {
    const [A, index] = [independent(source, n), n === 1 ? 0 : 1 + source.below(n - 1)];
    const [from, factor] = [source.below(index), n === 1 ? 0 : power(source, 30)];
    for (let i = 0; i < n; i++) A[i * n + index] = at(A, n, i, from) * factor;
    return { A, index };
  },
  "two rows alike": (source, n) => {
    const A = independent(source, n);
    const [from, to] = permutation(source, n);
    for (let j = 0; j < n; j++) A[(to ?? 0) * n + j] = n === 1 ? 0 : -3 * at(A, n, from as number, j);
    return { A, index: n - 1 };
  },
  "a product of low rank": (source, n) => {
    const rank = source.below(n);
    const [L, R] = [independent(source, n), independent(source, n)];
    return { A: fill(n, (i, j) => range(rank).reduce((s, k) => s + at(L, n, i, k) * at(R, n, k, j), 0)), index: rank };
  },
  "a zero row": (source, n) => {
    const A = independent(source, n);
    A.fill(0, 0, n);
    return { A, index: n - 1 };
  },
  "a block of zeros that is too large": (source, n) => {
    const A = independent(source, n);
    // The first r rows are zero in all columns but r - 1: these rows have rank r - 1.
    const r = 1 + source.below(n);
    const keep = new Set(Array.from(permutation(source, n).subarray(0, r - 1)));
    for (let i = 0; i < r; i++) for (let j = 0; j < n; j++) if (!keep.has(j)) A[i * n + j] = 0;
    // Columns that are not kept have but n - r places: the one after that many of them depends on those before it.
    const others = range(n).filter((j) => !keep.has(j));
    return { A, index: others[n - r] as number };
  },
};

/** A singular system of one of several constructions, with rows shuffled and scaled by powers of two, and columns scaled. */
export function singular(source: Random, n: number): Singular {
  const kind = pick(source, Object.keys(SINGULAR));
  const { A, index } = (SINGULAR[kind] as (typeof SINGULAR)[string])(source, n);
  const most = pick(source, [0, 0, 20, 400]);
  const powers = (): number[] => range(n).map(() => whole(source, most));
  const columns = range(n);
  const system = permuted({ kind: `singular: ${kind}`, n, A, b: list(n, () => whole(source, 1000)) }, permutation(source, n), columns);
  return { ...mustScale(system, powers(), powers()), index };
}
export const SINGULAR_KINDS = Object.keys(SINGULAR);

// ---------------------------------------------------------------- large

/**
 * Integers with an integer solution, of any order: below the diagonal entries are even and on it odd, so that the determinant
 * is odd and not zero. Rows and columns are shuffled. All sums are below 2^53.
 */
export function knownIntegers(source: Random, n: number): System & { readonly x: Float64Array } {
  const A = fill(n, (i, j) => (i > j ? 2 * whole(source, 50) : i === j ? 2 * whole(source, 50) + 1 : whole(source, 100)));
  const x = list(n, () => whole(source, 1000));
  const b = list(n, (i) => {
    let s = 0;
    for (let j = 0; j < n; j++) s += at(A, n, i, j) * (x[j] as number);
    return s;
  });
  const order = permutation(source, n);
  return {
    ...permuted({ kind: "known integers", n, A, b }, permutation(source, n), order),
    x: list(n, (j) => x[order[j] as number] as number),
  };
}
