// Sparse triangular systems of every kind. A pattern says, for each unknown in the order of substitution, which earlier ones
// its row has; numbers are put on it; and the triangle is stored by rows or columns, sorted or not, alone or in a full matrix.
// Then matrices of any shape, for products.

import { csc, csr } from "../../src/arrays/sparse.ts";
import type { Format, Real, Sparse } from "../../src/arrays/types.ts";
import type { Random } from "../../src/study.ts";
import { permutation } from "../generators.ts";
import { coin, completing, formatOf, numbers, opposite, pick, scalar, system, vectorOf } from "../matrices.ts";
import { negated, product, quotient, range, rounded, sum, value } from "../oracles/matrices.ts";
import { leftOf, type Part } from "../oracles/sparse.ts";
import { storedRows, terms } from "../oracles/spmv.ts";

/** For each place in the order of substitution the earlier places in its row, ascending. */
export type Pattern = readonly (readonly number[])[];

// Up to `most` places of from..to.
function some(random: Random, from: number, to: number, most: number): number[] {
  if (to <= from) return [];
  const places = range(random.below(most + 1)).map(() => from + random.below(to - from));
  return [...new Set(places)].sort((a, b) => a - b);
}

// The grid's lower neighbours: all offsets of a 3 x 3 x 3 cube (or its star) that come before.
function grid(random: Random, n: number): Pattern {
  const nx = Math.max(1, pick(random, [3, 5, 31, 33, 45, 63, 65, 100]));
  const ny = Math.max(1, pick(random, [1, 2, 7, 10 ** 6]));
  const star = coin(random);
  const inSpace = coin(random);
  const offsets = range(27)
    .map((c) => [(c % 3) - 1, (Math.floor(c / 3) % 3) - 1, Math.floor(c / 9) - 1] as const)
    .filter(([x, y, z]) => (!star || Math.abs(x) + Math.abs(y) + Math.abs(z) <= 1) && (inSpace || z === 0));
  return range(n).map((k) => {
    const [i, j, l] = [k % nx, Math.floor(k / nx) % ny, Math.floor(k / nx / ny)];
    return offsets
      .filter(([x, y, z]) => i + x >= 0 && i + x < nx && j + y >= 0 && j + y < ny && l + z >= 0)
      .map(([x, y, z]) => k + x + nx * (y + ny * z))
      .filter((p) => p >= 0 && p < k)
      .sort((a, b) => a - b);
  });
}

// Levels of these widths in turn; each row has one of the level before, and a few of any.
function levels(random: Random, n: number, widths: readonly number[]): Pattern {
  const rows: number[][] = [];
  let [before, start] = [0, 0];
  for (let m = 0; rows.length < n; m++) {
    const end = Math.min(n, start + (widths[m % widths.length] as number));
    for (let k = start; k < end; k++) {
      const near = m > 0 ? [before + random.below(start - before)] : [];
      rows.push([...new Set([...near, ...some(random, 0, start, 3)])].sort((a, b) => a - b));
    }
    [before, start] = [start, end];
  }
  return rows;
}

export const PATTERNS = {
  diagonal: (_, n) => range(n).map(() => []),
  chain: (_, n) => range(n).map((k) => (k > 0 ? [k - 1] : [])),
  dense: (_, n) => range(n).map((k) => range(Math.min(k, 400))),
  scattered: (random, n) => range(n).map((k) => some(random, 0, k, 4)),
  crowded: (random, n) => range(n).map((k) => some(random, 0, k, 40)),
  "empty rows": (random, n) => range(n).map((k) => (random.below(3) > 0 ? [] : some(random, 0, k, 6))),
  "one long row": (random, n) => {
    const long = random.below(n + 1);
    return range(n).map((k) => (k === long ? range(k) : some(random, Math.max(0, k - 3), k, 1)));
  },
  blocks: (random, n) => {
    const size = 2 + random.below(20);
    return range(n).map((k) => range(k % size).map((j) => k - (k % size) + j));
  },
  arrow: (_, n) => range(n).map((k) => (k === n - 1 ? range(k) : k > 0 ? [0] : [])),
  banded: (random, n) => {
    const width = 1 + random.below(9);
    return range(n).map((k) => range(k).slice(Math.max(0, k - width)));
  },
  strided: (random, n) => {
    const stride = pick(random, [2, 16, 31, 32, 33, 64, 70]);
    return range(n).map((k) => [k - 2 * stride - 1, k - stride].filter((j) => j >= 0));
  },
  grid,
  "wide levels": (random, n) => levels(random, n, [64 + random.below(130)]),
  "uneven levels": (random, n) => levels(random, n, [1, 100, 3, 63, 64, 65, 2, 2, 150]),
  "a few enormous rows": (random, n) => range(n).map((k) => (random.below(50) === 0 ? range(k) : some(random, 0, Math.min(k, 5), 3))),
} satisfies Record<string, (random: Random, n: number) => Pattern>;
export type Kind = keyof typeof PATTERNS;
export const KINDS = Object.keys(PATTERNS) as Kind[];

/** A triangle as substitution sees it, its unknowns numbered in the order in which they are solved, and a right-hand side. */
export interface System {
  readonly pattern: Pattern;
  readonly values: readonly (readonly number[])[];
  readonly diagonal: readonly number[];
  readonly b: readonly number[];
  readonly format: Format;
}

const STYLES = ["tame", "tame", "integers", "cancelling", "ties", "any", "any rows", "powers"] as const;
export type Style = (typeof STYLES)[number];

/**
 * Numbers on a pattern. Tame ones have solutions that stay in range; integers a solution of small integers; cancelling rows
 * nearly nothing left of b; ties what is left at a midpoint of two numbers, or next to one; any are random bit patterns,
 * subnormal, huge, and special values too; powers are so far apart that some products are lost in the sum.
 */
export function systemOn(random: Random, pattern: Pattern, format: Format, unit: boolean, style: Style = pick(random, STYLES)): System {
  const n = pattern.length;
  const round = format === "binary64" ? (v: number) => v : Math.fround;
  const common = style === "any" ? numbers(random, Math.max(1, pattern.flat().length), format) : undefined;
  let used = 0;
  const entry = (row: Real | undefined, p: number): number => {
    if (style === "any") return (common as Real)[used++] as number;
    if (style === "any rows") return (row as Real)[p] as number;
    if (style === "integers") return random.below(15) - 7;
    if (style === "powers") return (coin(random) ? 1 : -1) * 2 ** (random.below(120) - 110) * (1 + random.below(3));
    return round(random.signed() / pick(random, [1, 4, 8]));
  };
  const values = pattern.map((places) => {
    const row = style === "any rows" ? numbers(random, places.length, format) : undefined;
    return places.map((_, p) => entry(row, p));
  });
  const special = style === "any" || style === "any rows" ? numbers(random, n, format) : undefined;
  const divisor = (k: number): number => {
    if (special && coin(random)) return (special[k] as number) || 1;
    if (style === "integers" || style === "ties") return pick(random, [1, 2, 3, 4, 5, 6, 8, 26, -1, -3, -4]);
    return round(random.signed() * pick(random, [1, 4, 100])) || 1;
  };
  const diagonal = range(n).map((k) => (unit ? 1 : divisor(k)));
  if (special) return { pattern, values, diagonal, b: Array.from(numbers(random, n, format)), format };
  return { pattern, values, diagonal, b: rightSide(random, pattern, values, diagonal, format, style), format };
}

// b row by row, with what the rows before it make of it.
function rightSide(
  random: Random,
  pattern: Pattern,
  values: readonly (readonly number[])[],
  diagonal: readonly number[],
  format: Format,
  style: Style,
): number[] {
  const round = format === "binary64" ? (v: number) => v : Math.fround;
  const x: number[] = [];
  const solution = pattern.map(() => random.below(15) - 7);
  return pattern.map((places, k) => {
    const row = { columns: [...places], values: [...(values[k] as number[])], diagonal: diagonal[k] };
    const minus = leftOf(row, 0, (j) => x[j] as number); // what the entries take from b
    let b = round(random.signed());
    if (style === "integers")
      b = places.reduce(
        (s, j, p) => s + (row.values[p] as number) * (solution[j] as number),
        (diagonal[k] as number) * (solution[k] as number),
      );
    else if (style === "cancelling" && random.below(3) > 0) b = opposite(random, minus, format);
    else if (style === "ties" && random.below(4) > 0) b = completing(random, minus, format);
    else if (random.below(12) === 0) b = pick(random, [0, -0]);
    if (!Number.isFinite(b)) b = 1;
    x.push(quotient(sum([value(b), minus]), value(diagonal[k] as number), format));
    return b;
  });
}

/** One of the dense systems that the dense routines are tested with, as a sparse one without its zeros, or with them. */
export function fromDense(random: Random, n: number, format: Format): System {
  const { T, b } = system(random, n, format, false);
  const zeros = coin(random);
  const at = (i: number, j: number): number => T.values[i * n + j] as number;
  const pattern = range(n).map((i) => range(i).filter((j) => zeros || at(i, j) !== 0));
  return {
    pattern,
    values: pattern.map((row, i) => row.map((j) => at(i, j))),
    diagonal: range(n).map((i) => at(i, i)),
    b: Array.from(b),
    format,
  };
}

export interface Storage extends Part {
  readonly by: "csr" | "csc";
  /** Whether lines ascend. */
  readonly sorted: boolean;
  /** Whether the other triangle, and a diagonal that is not read, have entries too; NaN among them. */
  readonly full: boolean;
}

export function storage(random: Random, unit = random.below(3) === 0): Storage {
  return {
    by: coin(random) ? "csr" : "csc",
    uplo: coin(random) ? "lower" : "upper",
    trans: coin(random),
    unit,
    sorted: coin(random),
    full: coin(random),
  };
}

/** The system as a sparse matrix and a right-hand side. */
export function stored(random: Random, { pattern, values, diagonal, b, format }: System, how: Storage): { A: Sparse<Real>; b: Real } {
  const { by, uplo = "lower", trans = false, unit = false, sorted, full } = how;
  const n = pattern.length;
  const upper = (uplo === "upper") !== trans;
  const unknown = (k: number): number => (upper ? n - 1 - k : k);
  const lines: [number, number][][] = range(n).map(() => []);
  // The row of T is a line of A unless one of the two, storage and transposition, is by columns.
  const put = (i: number, j: number, v: number): void => {
    const [line, index] = (by === "csr") !== trans ? [i, j] : [j, i];
    lines[line]?.push([index, v]);
  };
  pattern.forEach((places, k) => {
    places.forEach((j, p) => {
      put(unknown(k), unknown(j), values[k]?.[p] as number);
      if (full && random.below(3) === 0) put(unknown(j), unknown(k), pick(random, [Number.NaN, Number.POSITIVE_INFINITY, 3, 0]));
    });
    if (!unit) put(unknown(k), unknown(k), diagonal[k] as number);
    else if (full && coin(random)) put(unknown(k), unknown(k), pick(random, [Number.NaN, 0, 5]));
  });
  return { A: fromLines(random, by, n, n, lines, format, sorted), b: vectorOf(format, upper ? [...b].reverse() : b) };
}

// A matrix of these lines, each a list of indices and numbers, which ascend or come in random order.
function fromLines(
  random: Random,
  by: "csr" | "csc",
  rows: number,
  cols: number,
  lines: [number, number][][],
  format: Format,
  sorted: boolean,
): Sparse<Real> {
  const ordered = lines.map((line) => {
    const ascending = line.sort(([a], [c]) => a - c);
    return sorted ? ascending : Array.from(permutation(random, line.length), (at) => ascending[at] as [number, number]);
  });
  const pointers = new Int32Array(lines.length + 1);
  ordered.forEach((line, i) => {
    pointers[i + 1] = (pointers[i] as number) + line.length;
  });
  const flat = ordered.flat();
  const make = by === "csr" ? csr<Real> : csc<Real>;
  return make(
    rows,
    cols,
    pointers,
    Int32Array.from(flat, ([index]) => index),
    vectorOf(
      format,
      flat.map(([, v]) => v),
    ),
  );
}

// Unknowns that are 1, so that a row can bring its sum to where it is wanted: see nearTies.
const ONES = 3;

/**
 * Rows whose quotient is a midpoint of two numbers of the format, or next to one by 2^-60 to 2^-130 of it: what an error bound
 * that is too small gets wrong. Most of a row are products of random numbers; b and the first two ones bring the sum to the
 * midpoint times the diagonal, the last one beside it.
 */
export function nearTies(random: Random, format: Format, unit: boolean, rows = 60): System {
  const [digits, round] = format === "binary64" ? [53, (v: number) => v] : [24, Math.fround];
  const known = 45;
  const start = known + ONES;
  const x = range(start).map((k) => (k < ONES ? 1 : round(random.signed())));
  const first = x.map((b): Line => ({ places: [], values: [], diagonal: 1, b }));
  const rest = range(rows).map((): Line => {
    const scale = 2 ** (random.below(60) - 30);
    const others = some(random, ONES, start, pick(random, [1, 2, 5, 26, 200]));
    const values = others.map(() => round(random.signed() * scale));
    const diagonal = unit ? 1 : pick(random, [1, 3, 6, -4, 26, round(random.signed()), round(random.signed() * scale)]) || 1;
    const exponent = Math.round(Math.log2(scale)) - digits + random.below(9) - 4;
    // Above a power of two, further on, or below the next one, where the step changes.
    const n = 2n ** BigInt(digits) + pick(random, [1n, 2n * BigInt(random.below(2 ** 20)) + 1n, 2n ** BigInt(digits) - 1n]);
    const midpoint = { n, e: exponent, special: undefined };
    const products = others.map((j, p) => product(value(values[p] as number), value(x[j] as number)));
    let left = sum([product(midpoint, value(diagonal)), ...products]);
    const next = (): number => {
      const part = rounded(left, format);
      left = sum([left, negated(value(part))]);
      return part;
    };
    const [b, one, two] = [next(), -next(), -next()];
    const beside = random.below(3) === 0 ? 0 : (coin(random) ? 1 : -1) * round(scale * 2 ** -(60 + random.below(70)));
    return { places: [0, 1, 2, ...others], values: [one, two, beside, ...values], diagonal, b };
  });
  const lines = [...first, ...rest];
  return {
    pattern: lines.map(({ places }) => places),
    values: lines.map(({ values }) => values),
    diagonal: lines.map(({ diagonal }) => diagonal),
    b: lines.map(({ b }) => b),
    format,
  };
}
interface Line {
  readonly places: number[];
  readonly values: number[];
  readonly diagonal: number;
  readonly b: number;
}

/** Of this matrix by rows what is below the diagonal or on it; or above it. */
export function triangleOf(A: Sparse, upper: boolean): Sparse<Float64Array> {
  const pointers = new Int32Array(A.rows + 1);
  const indices = new Int32Array(A.indices.length);
  const values = new Float64Array(A.values.length);
  let q = 0;
  for (let i = 0; i < A.rows; i++) {
    for (let p = A.pointers[i] as number; p < (A.pointers[i + 1] as number); p++) {
      const j = A.indices[p] as number;
      if (upper ? j < i : j > i) continue;
      indices[q] = j;
      values[q++] = A.values[p] as number;
    }
    pointers[i + 1] = q;
  }
  return csr(A.rows, A.cols, pointers, indices.slice(0, q), values.slice(0, q));
}

// ---------------------------------------------------------------- matrices of any shape

/** The columns of each row of a matrix. */
type Columns = (random: Random, rows: number, cols: number) => number[][];

export const SHAPES = {
  none: (_, rows) => range(rows).map(() => []),
  full: (_, rows, cols) => range(rows).map(() => range(cols)),
  few: (random, rows, cols) => range(rows).map(() => some(random, 0, cols, 4)),
  many: (random, rows, cols) => range(rows).map(() => some(random, 0, cols, 2 * cols)),
  "empty and full rows": (random, rows, cols) => range(rows).map(() => pick(random, [[], [], range(cols), some(random, 0, cols, 3)])),
  "one full row": (random, rows, cols) => {
    const long = random.below(rows + 1);
    return range(rows).map((i) => (i === long ? range(cols) : some(random, 0, cols, 2)));
  },
  "one full column": (random, rows, cols) => {
    const long = random.below(cols + 1);
    return range(rows).map(() => [...new Set([...some(random, 0, cols, 2), ...(long < cols ? [long] : [])])]);
  },
  bands: (random, rows, cols) => {
    const width = 1 + random.below(4);
    return range(rows).map((i) => range(cols).filter((j) => Math.abs(i - j) <= width));
  },
} satisfies Record<string, Columns>;
export type Shape = keyof typeof SHAPES;
const SHAPE_NAMES = Object.keys(SHAPES) as Shape[];

/** A sparse matrix, of which itself or the transpose is rows by cols. */
export interface AnySparse {
  readonly A: Sparse<Real>;
  readonly trans: boolean;
  readonly rows: number;
  readonly cols: number;
}

/** Numbers of one kind, or of a kind in each row, on a pattern, stored in one of the eight ways. */
export function anySparse(
  random: Random,
  rows: number,
  cols: number,
  format: Format,
  shape: Shape = pick(random, SHAPE_NAMES),
  by: "csr" | "csc" = coin(random) ? "csr" : "csc",
  trans = coin(random),
): AnySparse {
  const columns = SHAPES[shape](random, rows, cols);
  const common = coin(random) ? numbers(random, Math.max(1, columns.flat().length), format) : undefined;
  const lines: [number, number][][] = range((by === "csr") !== trans ? rows : cols).map(() => []);
  let used = 0;
  for (const [i, row] of columns.entries()) {
    const values = common?.subarray(used, used + row.length) ?? numbers(random, row.length, format);
    for (const [p, j] of row.entries()) {
      const [line, index] = (by === "csr") !== trans ? [i, j] : [j, i];
      lines[line]?.push([index, values[p] as number]);
    }
    used += row.length;
  }
  const [m, n] = trans ? [cols, rows] : [rows, cols];
  return { A: fromLines(random, by, m, n, lines, format, coin(random)), trans, rows, cols };
}

/** The stored entries of A or its transpose by their places. */
export function denseOf(A: Sparse<Real>, trans = false): (i: number, j: number) => number | undefined {
  const rows = storedRows(A, trans);
  return (i, j) => {
    const v = rows[i]?.values[rows[i]?.columns.indexOf(j) ?? -1];
    return v && rounded(v, formatOf(A.values));
  };
}

/** The operands of a product. */
export interface Product extends AnySparse {
  readonly alpha: number;
  readonly x: Real;
  readonly beta: number;
  readonly y: Real;
}

/**
 * Operands for a matrix: random ones; or y that leaves nearly nothing of the product, or brings it to a midpoint of two numbers, or
 * next to one.
 */
export function productWith(random: Random, of: AnySparse): Product {
  const format = formatOf(of.A.values);
  const x = numbers(random, of.cols, format);
  const style = pick(random, ["any", "cancelling", "ties"] as const);
  if (style === "any") return { ...of, alpha: scalar(random), x, beta: scalar(random), y: numbers(random, of.rows, format) };
  const [alpha, beta] = [pick(random, [1, -1, 2, 0.5]), pick(random, [1, -1, 2])];
  const xs = Array.from(x, value);
  const y = storedRows(of.A, of.trans).map((row) => {
    const v = sum(terms(row, xs).map((t) => product(value(alpha), t)));
    return (style === "ties" ? completing(random, v, format) : opposite(random, v, format)) / beta;
  });
  return { ...of, alpha, x, beta, y: vectorOf(format, y) };
}
