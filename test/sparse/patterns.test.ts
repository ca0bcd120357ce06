// The generators make what they say, and the oracle of the sparse solves agrees with that of the dense ones.

import { describe, expect, test } from "vitest";
import { csr } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { product, range, rounded, sum, trsv, value } from "../oracles/matrices.ts";
import { exactly, orderOf, plainly, rowsOf } from "../oracles/sparse.ts";
import { storedRows, terms } from "../oracles/spmv.ts";
import { same } from "./checks.ts";
import {
  anySparse,
  denseOf,
  fromDense,
  KINDS,
  type Kind,
  nearTies,
  PATTERNS,
  type Pattern,
  productWith,
  SHAPES,
  type Shape,
  storage,
  stored,
  systemOn,
} from "./patterns.ts";

const entriesOf = (pattern: Pattern): number => pattern.reduce((s, row) => s + row.length, 0);
const levelsOf = (pattern: Pattern): number[] => {
  const level: number[] = [];
  for (const row of pattern) level.push(row.reduce((most, j) => Math.max(most, 1 + (level[j] as number)), 0));
  return level;
};
const widthsOf = (pattern: Pattern): number[] => {
  const level = levelsOf(pattern);
  return range(Math.max(...level) + 1).map((m) => level.filter((l) => l === m).length);
};

describe(`patterns, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);

  test.each(KINDS)("%s: rows ascend and have earlier places only, at every size", (kind) => {
    for (const n of [0, 1, 2, 31, 32, 33, 65, 130, 500]) {
      const pattern = PATTERNS[kind](random, n);
      expect(pattern).toHaveLength(n);
      pattern.forEach((row, k) => {
        row.forEach((j, p) => {
          if (!(j >= 0 && j < k && (p === 0 || j > (row[p - 1] as number)))) expect.fail(`row ${k} is ${row}`);
        });
      });
    }
  });

  test("they differ in what a schedule sees", () => {
    const widths = (kind: Kind) => widthsOf(PATTERNS[kind](random, 1000));
    expect(widths("diagonal")).toEqual([1000]);
    expect(widths("chain")).toEqual(new Array(1000).fill(1));
    expect(widths("arrow")).toEqual([1, 998, 1]);
    expect(Math.min(...widths("wide levels").slice(0, -1))).toBeGreaterThanOrEqual(64);
    expect(widths("uneven levels").slice(0, 9)).toEqual([1, 100, 3, 63, 64, 65, 2, 2, 150]);
    expect(PATTERNS["empty rows"](random, 1000).filter((row) => row.length === 0).length).toBeGreaterThan(400);
    expect(entriesOf(PATTERNS.dense(random, 100))).toBe(4950);
    expect(Math.max(...PATTERNS["a few enormous rows"](random, 1000).map((row) => row.length))).toBeGreaterThan(300);
    for (const _ of range(20)) expect(PATTERNS.blocks(random, 100).every((row, k) => row.every((j) => k - j < 22))).toBe(true);
  });
});

describe(`systems, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);

  test("of integers have a solution of small integers", () => {
    for (const k of range(50)) {
      const format = k % 2 ? "binary32" : "binary64";
      const how = storage(random);
      const { A, b } = stored(random, systemOn(random, PATTERNS.scattered(random, 40), format, how.unit ?? false, "integers"), how);
      for (const x of exactly(A, b, how, format)) if (!(Number.isInteger(x) && Math.abs(x) <= 7)) expect.fail(`${x}`);
    }
  });

  test("stored in any way are the same system", () => {
    for (const k of range(100)) {
      const unit = k % 3 === 0;
      const system = systemOn(random, PATTERNS.scattered(random, 30), "binary64", unit, "tame");
      const want = [false, true].map((upper) => {
        const how = { by: "csr", uplo: upper ? "upper" : "lower", unit, sorted: true, full: false } as const;
        const { A, b } = stored(random, system, how);
        return exactly(A, b, how, "binary64");
      });
      expect(want[1]).toEqual([...(want[0] as number[])].reverse());
      const how = storage(random, unit);
      const { A, b } = stored(random, system, how);
      expect(exactly(A, b, how, "binary64")).toEqual(want[(how.uplo === "upper") !== how.trans ? 1 : 0]);
      const sorted = range(30).every((i) =>
        rowLine(A.pointers, A.indices, i).every((index, p, line) => p === 0 || index > (line[p - 1] as number)),
      );
      if (how.sorted) expect(sorted).toBe(true);
    }
  });

  test("next to ties are there: exactly on them, above and below", () => {
    const { pattern, values, diagonal, b } = nearTies(random, "binary64", true, 200);
    const x = range(48).map((k) => b[k] as number);
    const sides = range(200).map((k) => {
      const row = { columns: [...(pattern[48 + k] as number[])], values: [...(values[48 + k] as number[])], diagonal: diagonal[48 + k] };
      const [s, beside] = [48 + k, 2].map((at, which) => (which === 0 ? (b[at] as number) : (row.values[at] as number)));
      const products = row.columns.map((j, p) => [row.values[p] as number, x[j] as number] as const);
      const without = products.reduce((n, [a, z]) => n - scaled(a) * scaled(z), scaled(s as number) << 400n);
      return { tie: isMidpoint(without - (-scaled(beside as number) << 400n)), side: Math.sign(beside as number) };
    });
    for (const side of [-1, 0, 1]) expect(sides.filter((row) => row.tie && row.side === side).length).toBeGreaterThan(20);
  });
});

describe(`matrices of any shape, HALFULP_SEED=${SEED}`, () => {
  test.each(Object.keys(SHAPES) as Shape[])("%s: every size and way to store it, checked by csr() and csc()", (shape) => {
    const random = new Random(SEED);
    const seen = new Set<string>();
    for (const k of range(200)) {
      const format = k % 2 ? "binary32" : "binary64";
      const of = anySparse(random, random.below(9), random.below(9), format, shape);
      expect(of.trans ? [of.A.cols, of.A.rows] : [of.A.rows, of.A.cols]).toEqual([of.rows, of.cols]);
      const entry = denseOf(of.A, of.trans);
      const there = range(of.rows).map((i) => range(of.cols).filter((j) => entry(i, j) !== undefined).length);
      if (shape === "none") expect(Math.max(0, ...there)).toBe(0);
      if (shape === "full" && of.rows > 0) expect(Math.min(...there)).toBe(of.cols);
      expect(there.reduce((s, v) => s + v, 0)).toBe(of.A.values.length);
      seen.add(`${of.A.format} ${of.trans}`);
      const { x, y } = productWith(random, of);
      expect([x.length, y.length]).toEqual([of.cols, of.rows]);
    }
    expect(seen.size).toBe(4);
  });

  test("the products cancel and tie now and then", () => {
    const random = new Random(SEED);
    let [zeros, small, ties] = [0, 0, 0];
    for (const _ of range(400)) {
      const { A, trans, alpha, x, beta, y } = productWith(random, anySparse(random, 4, 4, "binary64", "full"));
      if (![...x, ...y, ...A.values].every(Number.isFinite) || Math.abs(beta) > 2 || beta === 0 || Math.abs(alpha) > 2) continue;
      const xs = Array.from(x, value);
      for (const [i, row] of storedRows(A, trans).entries()) {
        const products = terms(row, xs).map((t) => product(value(alpha), t));
        const exact = sum([...products, product(value(beta), value(y[i] as number))]);
        const got = rounded(exact, "binary64");
        if (got === 0) zeros++;
        if (got !== 0 && Math.abs(got) < 1e-12 * Math.abs(beta * (y[i] as number))) small++;
        if (isMidpoint(exact.n)) ties++;
      }
    }
    expect(Math.min(zeros, small, ties)).toBeGreaterThan(10);
  });
});

const rowLine = (pointers: Int32Array, indices: Int32Array, i: number): number[] =>
  Array.from(indices.subarray(pointers[i], pointers[i + 1]));
// In units of 2^-400; none of these numbers is smaller than that.
const scaled = (v: number): bigint => {
  const { n, e } = value(v);
  return n << BigInt(400 + e);
};
// Whether an integer is half way between two numbers of 53 bits: one of 54 bits that ends in 1.
function isMidpoint(n: bigint): boolean {
  const digits = (n < 0n ? -n : n).toString(2).replace(/0+$/, "");
  return digits.length === 54;
}

describe("the oracle", () => {
  test("reads what is stored, along lines and across them", () => {
    // [1 7 0; 0 2 8; 5 6 3], the last row unsorted
    const A = csr(3, 3, Int32Array.of(0, 2, 4, 7), Int32Array.of(0, 1, 1, 2, 1, 2, 0), Float64Array.of(1, 7, 2, 8, 6, 3, 5));
    expect(rowsOf(A)).toEqual([
      { columns: [], values: [], diagonal: 1 },
      { columns: [], values: [], diagonal: 2 },
      { columns: [1, 0], values: [6, 5], diagonal: 3 },
    ]);
    expect(rowsOf(A, { uplo: "upper", trans: true, unit: true })).toEqual([
      { columns: [], values: [], diagonal: 1 },
      { columns: [0], values: [7], diagonal: 1 },
      { columns: [1], values: [8], diagonal: 1 },
    ]);
    expect(rowsOf({ ...A, format: "csc" }, { uplo: "upper" })[1]).toEqual({ columns: [2], values: [6], diagonal: 2 });
    expect(orderOf(3, { uplo: "upper" })).toEqual([2, 1, 0]);
    expect(orderOf(3, { uplo: "upper", trans: true })).toEqual([0, 1, 2]);
    expect(exactly(A, Float64Array.of(1, 4, 20), {}, "binary64")).toEqual([1, 2, 1]);
    expect(plainly(A, Float32Array.of(1, 3, 19), {}, "binary32")).toEqual([1, 1.5, Math.fround(5 / 3)]);
  });

  test(`agrees with the one of the dense routines, HALFULP_SEED=${SEED}`, () => {
    const random = new Random(SEED);
    for (const k of range(60)) {
      const format = k % 2 ? "binary64" : "binary32";
      const system = fromDense(random, random.below(30), format);
      const n = system.b.length;
      const T = (i: number, j: number): number =>
        i === j ? (system.diagonal[i] as number) : (system.values[i]?.[system.pattern[i]?.indexOf(j) ?? -1] ?? 0);
      const how = { by: "csr", uplo: "lower", sorted: false, full: true } as const;
      const { A, b } = stored(random, system, how);
      const plain = { rounding: "single", refine: 0, refineBlocks: 0, blockSize: 64 } as const;
      const want = trsv({ n, T, upper: false, unit: false, format, ...plain }, system.b);
      const got = exactly(A, b, how, format);
      // a zero that is not stored is no term
      if (want.every(Number.isFinite) && A.values.every(Number.isFinite)) same(Float64Array.from(got), want, `system ${k}`);
    }
  });
});
