// The oracle of the dense routines: BigInt rationals and the definitions of SPEC.md, nothing of the code under test.
// Matrices are functions of (i, j), already transposed; answers are plain numbers, row by row.
import type { Format } from "../../src/arrays/types.ts";

/** A finite number n * 2^e, or NaN or an infinity in `special`. */
export interface Value {
  readonly n: bigint;
  readonly e: number;
  readonly special: number | undefined;
}
export type Entry = (i: number, j: number) => number;

const bytes = new DataView(new ArrayBuffer(8));
const ZERO: Value = { n: 0n, e: 0, special: undefined };

/** A double, exactly. */
export function value(x: number): Value {
  if (x === 0) return ZERO;
  if (!Number.isFinite(x)) return { n: 0n, e: 0, special: x };
  bytes.setFloat64(0, x);
  const high = bytes.getUint32(0);
  const field = (high >>> 20) & 0x7ff;
  const n = BigInt((high & 0xfffff) + (field > 0 ? 0x100000 : 0)) * 0x100000000n + BigInt(bytes.getUint32(4));
  return { n: x < 0 ? -n : n, e: Math.max(field, 1) - 1075, special: undefined };
}

// What a special value is multiplied or divided by: its infinity, or the sign of a finite number.
const likeNumber = (v: Value): number => v.special ?? (v.n > 0n ? 1 : v.n < 0n ? -1 : 0);

export function product(a: Value, b: Value): Value {
  if (a.special !== undefined || b.special !== undefined) return { n: 0n, e: 0, special: likeNumber(a) * likeNumber(b) };
  return { n: a.n * b.n, e: a.e + b.e, special: undefined };
}

export const negated = (a: Value): Value => ({ n: -a.n, e: a.e, special: a.special === undefined ? undefined : -a.special });

export function sum(terms: Iterable<Value>): Value {
  let n = 0n;
  let e = 0;
  let special: number | undefined;
  for (const t of terms) {
    if (t.special !== undefined) special = (special ?? t.special) + t.special; // Inf - Inf and NaN stay NaN
    if (t.n === 0n) continue;
    if (n === 0n) e = t.e;
    if (t.e >= e) {
      n += t.n << BigInt(t.e - e);
    } else {
      n = (n << BigInt(e - t.e)) + t.n;
      e = t.e;
    }
  }
  return { n, e, special };
}

const FORMATS = {
  binary64: { digits: 53, lowest: -1074, largest: Number.MAX_VALUE },
  binary32: { digits: 24, lowest: -149, largest: (2 - 2 ** -23) * 2 ** 127 },
};

// floor(log2(p / q)) for positive integers
function exponent(p: bigint, q: bigint): number {
  const estimate = bits(p) - bits(q); // the answer, or one more
  return (estimate >= 0 ? p < q << BigInt(estimate) : p << BigInt(-estimate) < q) ? estimate - 1 : estimate;
}
const bits = (n: bigint): number => n.toString(2).length;

/** p / q * 2^e to nearest, ties to even; an exact zero is +0. */
export function nearest(p: bigint, q: bigint, e: number, format: Format): number {
  if (p === 0n) return 0;
  const { digits, lowest, largest } = FORMATS[format];
  const negative = p < 0n !== q < 0n;
  let above = p < 0n ? -p : p;
  let below = q < 0n ? -q : q;
  const last = Math.max(exponent(above, below) + e - digits + 1, lowest); // the weight of the last place
  if (last > 1023) return negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (e >= last) above <<= BigInt(e - last);
  else below <<= BigInt(last - e);
  let places = above / below;
  const twice = 2n * (above - places * below);
  if (twice > below || (twice === below && places % 2n === 1n)) places += 1n;
  const size = Number(places) * 2 ** last;
  return (negative ? -1 : 1) * (size > largest ? Number.POSITIVE_INFINITY : size);
}

/** RN(v). */
export const rounded = (v: Value, format: Format): number => v.special ?? nearest(v.n, 1n, v.e, format);

/** RN(v / d); where one of them is not finite as IEEE 754 has it, but a zero is +0. */
export function quotient(v: Value, d: Value, format: Format): number {
  if (v.special === undefined && d.special === undefined) return nearest(v.n, d.n, v.e - d.e, format);
  const q = likeNumber(v) / likeNumber(d);
  return q === 0 ? 0 : q;
}

/** The exact entries of alpha A B, where A is m by k and B is k by n, row by row. */
export function products(m: number, n: number, k: number, alpha: number, A: Entry, B: Entry): Value[] {
  if (alpha === 0) return new Array<Value>(m * n).fill(ZERO);
  const scaled = range(n).map((j) => range(k).map((l) => product(value(alpha), value(B(l, j)))));
  return range(m).flatMap((i) => {
    const row = range(k).map((l) => value(A(i, l)));
    return scaled.map((column) => sum(column.map((b, l) => product(row[l] as Value, b))));
  });
}

/** alpha A B + beta C, where A is m by k and B is k by n. */
export function gemm(m: number, n: number, k: number, alpha: number, A: Entry, B: Entry, beta: number, C: Entry, format: Format): number[] {
  return products(m, n, k, alpha, A, B).map((v, at) => {
    const c = C(Math.floor(at / n), at % n);
    return rounded(beta === 0 ? v : sum([v, product(value(beta), value(c))]), format);
  });
}

export interface System {
  readonly n: number;
  readonly T: Entry;
  readonly upper: boolean;
  readonly unit: boolean;
  readonly rounding: "single" | "paper" | "corrected";
  readonly refine: number;
  readonly refineBlocks: number;
  readonly blockSize: number;
  readonly format: Format;
}

/** T x = b by substitution. */
export function trsv(system: System, b: readonly number[]): number[] {
  const { n, upper, unit, rounding, refine, refineBlocks, blockSize, format } = system;
  const order = upper ? range(n).reverse() : range(n); // the unknowns as they are solved
  const T = range(n).map((i) =>
    range(n).map((j) => (unit && i === j ? value(1) : (upper ? j >= i : j <= i) ? value(system.T(i, j)) : ZERO)),
  );
  const at = (i: number, j: number): Value => T[i]?.[j] as Value;

  const minus = (right: number, i: number, x: readonly number[], columns: readonly number[]): Value =>
    sum([value(right), ...columns.map((j) => negated(product(at(i, j), value(x[j] as number))))]);

  function unknown(s: Value, i: number): number {
    if (s.special !== undefined || rounding === "single") return quotient(s, at(i, i), format);
    const first = rounded(s, format);
    const q = unit ? first : quotient(value(first), at(i, i), format);
    if (rounding === "paper") return q;
    const rest = quotient(sum([s, negated(value(first))]), at(i, i), format);
    return rounded(sum([value(q), value(rest)]), format);
  }

  const solveWithin = (block: readonly number[], before: readonly number[], right: readonly number[], x: number[]): void => {
    block.forEach((i, k) => {
      x[i] = unknown(minus(right[i] as number, i, x, [...before, ...block.slice(0, k)]), i);
    });
  };

  function refined(times: number, block: readonly number[], right: readonly number[], x: number[], solve: (r: number[]) => number[]): void {
    for (let step = 0; step < times; step++) {
      if (!block.every((i) => Number.isFinite(x[i]))) return;
      const r = new Array<number>(n).fill(0);
      for (const i of block) {
        const columns = order.slice(0, order.indexOf(i) + 1);
        r[i] = rounded(minus(right[i] as number, i, x, columns), format);
      }
      const d = solve(r);
      for (const i of block) x[i] = rounded(sum([value(x[i] as number), value(d[i] as number)]), format);
    }
  }

  function substitute(right: readonly number[]): number[] {
    const x = new Array<number>(n).fill(0);
    for (let from = 0; from < n; from += blockSize) {
      const block = order.slice(from, from + blockSize);
      solveWithin(block, order.slice(0, from), right, x);
      refined(refineBlocks, block, right, x, (r) => {
        const d = new Array<number>(n).fill(0);
        solveWithin(block, [], r, d);
        return d;
      });
    }
    return x;
  }

  const x = substitute(b);
  refined(refine, order, b, x, substitute);
  return x;
}

/** L and U in one matrix, row by row; or the column of a zero pivot; or the place of an entry that overflowed. */
export type Factors =
  | { readonly lu: number[]; readonly pivots: number[] }
  | { readonly singular: number }
  | { readonly overflow: readonly [number, number] };

/** P A = L U with partial pivoting, left-looking. */
export function lu(m: number, n: number, A: Entry, format: Format): Factors {
  const rows = range(m).map((i) => range(n).map((j) => value(A(i, j))));
  const result = rows.map((row) => row.map(() => 0));
  const pivots: number[] = [];
  const write = (i: number, j: number, x: number): void => {
    (rows[i] as Value[])[j] = value(x);
    (result[i] as number[])[j] = x;
  };
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < m; i++) {
      const row = rows[i] as Value[];
      const terms = range(Math.min(i, j)).map((k) => negated(product(row[k] as Value, rows[k]?.[j] as Value)));
      const s = rounded(sum([row[j] as Value, ...terms]), format);
      if (!Number.isFinite(s)) return { overflow: [i, j] };
      write(i, j, s);
    }
    if (j >= m) continue;
    const sizes = result.slice(j).map((row) => Math.abs(row[j] as number));
    const pivot = j + sizes.indexOf(Math.max(...sizes));
    pivots.push(pivot);
    for (const table of [rows, result] as unknown[][]) [table[j], table[pivot]] = [table[pivot], table[j]];
    if (sizes[pivot - j] === 0) return { singular: j };
    for (let i = j + 1; i < m; i++) write(i, j, quotient(rows[i]?.[j] as Value, rows[j]?.[j] as Value, format));
  }
  return { lu: result.flat(), pivots };
}

export const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
