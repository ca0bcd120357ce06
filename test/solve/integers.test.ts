// The system as whole numbers: last bits, powers that make a matrix whole, slices of few bits, and lengths of whole numbers.

import { describe, expect, it } from "vitest";
import {
  bitLength,
  digitBits,
  integerVector,
  lastBit,
  lastBits,
  type ScaleExponents,
  type Slices,
  slicesOfRows,
} from "../../src/routines/solve/integers.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { assemble, permutation, vector } from "../generators.ts";
import { range, value } from "../oracles/matrices.ts";
import { determinant, integerScale, larger, magnitude, shifted, slicesOf, type Whole } from "./units.ts";

const MAX = Number.MAX_VALUE;
const FRACTION = 0xfffff;
const WORD = 0xffffffff;
const KINDS = ["bits", "narrow", "wide", "subnormal", "large", "ones", "edges", "zeros"] as const;

// The definition: the power of two of the last set bit.
function lastBitOf(x: number): number {
  const { n, e } = value(x);
  return e + (n & -n).toString(2).length - 1;
}

describe(`last bits, HALFULP_SEED=${SEED}`, () => {
  it("are those of the whole number and the exponent that the bits spell, for random patterns", () => {
    const random = new Random(SEED);
    for (const kind of KINDS) {
      const x = vector(random, 2000, kind).filter((v) => v !== 0);
      expect(Array.from(lastBits(x)), kind).toEqual(Array.from(x, lastBitOf));
    }
  });

  it("are found wherever the last set bit is, in normal numbers and in subnormal ones", () => {
    for (const field of [0, 1, 2, 1023, 2045, 2046]) {
      for (let bit = 0; bit < 52; bit++) {
        const [high, low] = bit < 32 ? [0x80000, 2 ** bit] : [2 ** (bit - 32), 0];
        for (const sign of [0, 1]) {
          const x = assemble(sign, field, high, low);
          expect(lastBit(x), `${x}`).toBe(Math.max(field, 1) - 1075 + bit);
        }
      }
    }
  });

  it("of powers of two are those powers, of the largest number 971, and of zero more than of any other", () => {
    for (let k = -1074; k <= 1023; k++) expect([lastBit(2 ** k), lastBit(-(2 ** k))]).toEqual([k, k]);
    expect([lastBit(MAX), lastBit(-MAX)]).toEqual([971, 971]);
    for (const zero of [0, -0]) expect(lastBit(zero)).toBeGreaterThan(10000);
  });
});

// Random n by n matrices, some of them with zeros, lines of zeros among those.
function matrixOf(random: Random, n: number, kind: (typeof KINDS)[number]): Float64Array {
  const A = vector(random, n * n, kind);
  const share = random.below(4);
  for (let e = 0; e < n * n; e++) if (random.below(8) < share) A[e] = 0;
  if (random.below(4) === 0) A.fill(0, 0, n);
  if (random.below(4) === 0) for (let i = 0; i < n; i++) A[i * n] = 0;
  return A;
}

describe(`powers that make a matrix whole, HALFULP_SEED=${SEED}`, () => {
  it("leave every entry whole and an odd one in every row and column that has any", () => {
    const random = new Random(SEED + 1);
    for (let k = 0; k < 400; k++) {
      const n = 1 + random.below(6);
      const kind = KINDS[k % KINDS.length] as (typeof KINDS)[number];
      const A = matrixOf(random, n, kind);
      const { rows, cols } = integerScale(lastBits(A), n);
      const M = range(n).map((i) => range(n).map((j) => shifted(A[i * n + j] as number, (rows[i] as number) + (cols[j] as number))));
      const lines = [...M, ...range(n).map((j) => M.map((row) => row[j] as bigint))];
      for (const line of lines)
        if (line.some((v) => v !== 0n))
          expect(
            line.some((v) => v % 2n !== 0n),
            kind,
          ).toBe(true);
      expect(slicesOf(A, n, { rows, cols }).shift + 0, kind).toBe(0);
      for (let i = 0; i < n; i++) {
        // Rows first: each has an odd entry before columns are scaled.
        const lasts = Array.from(A.subarray(i * n, (i + 1) * n), (v) => (v === 0 ? [] : [lastBitOf(v)])).flat();
        expect((rows[i] as number) + (lasts.length === 0 ? 0 : Math.min(...lasts)), kind).toBe(0);
        if (M.every((row) => row[i] === 0n)) expect(cols[i]).toBe(0);
      }
    }
  });
});

const combined = ({ n, bits, count, data }: Slices): Whole =>
  range(n).map((i) =>
    range(n).map((j) => range(count).reduceRight((sum, s) => (sum << BigInt(bits)) + BigInt(data[(s * n + i) * n + j] as number), 0n)),
  );

// 2^shift R A C by definition, and the shift that makes it whole, not more.
function wholeMatrix(A: Float64Array, n: number, { rows, cols }: ScaleExponents): { M: Whole; shift: number } {
  const powers = Array.from(A, (_, e) => (rows[Math.floor(e / n)] as number) + (cols[e % n] as number));
  const lasts = Array.from(A, (v, e) => (v === 0 ? [] : [lastBitOf(v) + (powers[e] as number)])).flat();
  const shift = lasts.length === 0 ? 0 : -Math.min(...lasts);
  const M = range(n).map((i) => range(n).map((j) => shifted(A[i * n + j] as number, (powers[i * n + j] as number) + shift)));
  return { M, shift };
}

const largestOf = (M: Whole): bigint => M.flat().reduce((most, v) => larger(most, magnitude(v)), 0n);

function checkSlices(slices: Slices, M: Whole, what: string): void {
  const { bits, data, size, determinant: bound } = slices;
  expect(combined(slices), what).toEqual(M);
  expect(
    data.every((t) => Math.abs(t) <= 2 ** (bits - 1)),
    what,
  ).toBe(true);
  expect(largestOf(M) <= 1n << BigInt(size), what).toBe(true);
  expect(determinant(M) <= 1n << BigInt(bound), what).toBe(true);
}

const NO_SCALE = (n: number): ScaleExponents => ({ rows: new Int32Array(n), cols: new Int32Array(n) });

describe(`slices, HALFULP_SEED=${SEED}`, () => {
  it("make up the scaled matrix exactly, and their sizes are bounds, for random matrices and powers", () => {
    const random = new Random(SEED + 2);
    for (let k = 0; k < 400; k++) {
      const n = 1 + random.below(5);
      const kind = KINDS[k % KINDS.length] as (typeof KINDS)[number];
      const A = matrixOf(random, n, kind);
      const powers = (): Int32Array => Int32Array.from({ length: n }, () => random.below(201) - 100);
      const scale = k % 3 === 0 ? integerScale(lastBits(A), n) : k % 3 === 1 ? { rows: powers(), cols: powers() } : NO_SCALE(n);
      const slices = slicesOf(A, n, scale);
      const { M, shift } = wholeMatrix(A, n, scale);
      expect(slices, kind).toMatchObject({ n, shift, bits: digitBits(n) });
      checkSlices(slices, M, kind);
      const isNormal = A.every((v) => v === 0 || Math.abs(v) >= 2 ** -1022);
      if (isNormal && largestOf(M) > 0n) expect(largestOf(M) >= 1n << BigInt(slices.size - 1), kind).toBe(true);
    }
  });

  it("keep the carry out of the top digit, for all ones, powers of two and their neighbours at every alignment", () => {
    const random = new Random(SEED + 3);
    for (let length = 1; length <= 53; length++) {
      const top = 2 ** length;
      for (const v of [top - 1, top / 2, top - 2, top / 2 + 1]) {
        if (v < 1 || !Number.isSafeInteger(v)) continue;
        // The 1 beside it holds the shift; column 0 moves through all places of a digit, and farther.
        for (let place = 0; place < 46; place++) {
          const A = Float64Array.of(random.below(2) === 0 ? v : -v, 0, 0, 1);
          const scale = { rows: new Int32Array(2), cols: Int32Array.of(place, 0) };
          const slices = slicesOf(A, 2, scale);
          const what = `${v} * 2^${place}`;
          expect(slices.shift + 0, what).toBe(0);
          checkSlices(slices, wholeMatrix(A, 2, scale).M, what);
        }
      }
    }
  });

  it("hold all-ones significands of the whole range without a scale, with 2^-1074 beside them", () => {
    for (let field = 0; field <= 2046; field += 1) {
      for (const low of [WORD, WORD - 1]) {
        const A = Float64Array.of(assemble(field % 2, field, FRACTION, low), 0, 0, Number.MIN_VALUE);
        const slices = slicesOf(A, 2, NO_SCALE(2));
        checkSlices(slices, wholeMatrix(A, 2, NO_SCALE(2)).M, `field ${field}`);
      }
    }
  });

  it("have fewer bits for more than 1024 rows, and carries are kept there too", () => {
    const n = 1025;
    const A = new Float64Array(n * n);
    const wanted = new Map<number, bigint>();
    for (let k = 0; k < 1000; k++) {
      const e = k * (n + 1);
      A[e] = (k % 2 === 0 ? 1 : -1) * (2 ** (1 + (k % 53)) - 1) * 2 ** Math.floor(k / 53);
      wanted.set(e, shifted(A[e] as number, 0));
    }
    const { bits, count, data, shift } = slicesOf(A, n, NO_SCALE(n));
    expect([bits, shift + 0]).toEqual([21, 0]);
    const isSmall = data.every((t) => Math.abs(t) <= 2 ** (bits - 1));
    expect(isSmall).toBe(true);
    for (const [e, v] of wanted) {
      let sum = 0n;
      for (let s = count - 1; s >= 0; s--) sum = (sum << BigInt(bits)) + BigInt(data[s * n * n + e] as number);
      expect(sum).toBe(v);
    }
  });

  it("of a matrix of zeros are zeros", () => {
    const slices = slicesOf(new Float64Array(9), 3, NO_SCALE(3));
    expect(slices).toMatchObject({ shift: 0, size: 0 });
    checkSlices(
      slices,
      range(3).map(() => [0n, 0n, 0n]),
      "zeros",
    );
  });

  it("of a part are those of its rows and of as many of the first columns", () => {
    const random = new Random(SEED + 4);
    for (let k = 0; k < 200; k++) {
      const n = 2 + random.below(4);
      const kind = KINDS[k % KINDS.length] as (typeof KINDS)[number];
      const A = matrixOf(random, n, kind);
      const slices = slicesOf(A, n, NO_SCALE(n));
      const rows = permutation(random, n).slice(0, 1 + random.below(n - 1));
      const M = combined(slices);
      const part = slicesOfRows(slices, rows);
      expect(part, kind).toMatchObject({ n: rows.length, bits: slices.bits, shift: slices.shift, count: slices.count });
      checkSlices(
        part,
        Array.from(rows, (row) => (M[row] as bigint[]).slice(0, rows.length)),
        kind,
      );
    }
  });
});

describe(`whole vectors, HALFULP_SEED=${SEED}`, () => {
  it("are the scaled numbers times the least power of two that makes them whole", () => {
    const random = new Random(SEED + 5);
    for (let k = 0; k < 400; k++) {
      const kind = KINDS[k % KINDS.length] as (typeof KINDS)[number];
      const b = vector(random, 1 + random.below(6), kind);
      if (random.below(3) === 0) b[0] = 0;
      const rows = Int32Array.from(b, () => random.below(4001) - 2000);
      const { integers, shift } = integerVector(b, rows);
      expect(integers, kind).toEqual(Array.from(b, (v, i) => (v === 0 ? 0n : shifted(v, (rows[i] as number) + shift))));
      if (integers.some((v) => v !== 0n))
        expect(
          integers.some((v) => v % 2n !== 0n),
          kind,
        ).toBe(true);
      else expect(shift).toBe(0);
    }
    expect(integerVector(Float64Array.of(0, -0), Int32Array.of(-5000, 5000))).toEqual({ integers: [0n, 0n], shift: 0 });
  });
});

describe("sizes", () => {
  it("of whole numbers count their bits, next to powers of two and beyond the range of doubles", () => {
    expect(bitLength(0n)).toBe(0);
    for (let k = 0; k < 2200; k++) {
      const power = 1n << BigInt(k);
      for (const v of [power - 1n, power, power + 1n, power - (power >> 53n), power - (power >> 54n), power - (power >> 55n)]) {
        const want = v === 0n ? 0 : v.toString(2).length;
        expect([bitLength(v), bitLength(-v)], `near 2^${k}`).toEqual([want, want]);
      }
    }
  });

  it("of digits leave room for n products below 2^52, and waste less than two bits", () => {
    const orders = [...range(5000).map((n) => n + 1), ...range(19).flatMap((k) => [-1, 0, 1].map((d) => 2 ** (k + 12) + d))];
    for (const n of orders) {
      const bits = digitBits(n);
      expect(n * 2 ** (2 * bits - 2), `n = ${n}`).toBeLessThanOrEqual(2 ** 52);
      if (bits < 22) expect(n * 2 ** (2 * bits), `n = ${n}`).toBeGreaterThan(2 ** 52);
      expect(bits).toBeLessThanOrEqual(22);
    }
    expect([digitBits(1), digitBits(2), digitBits(1024), digitBits(1025)]).toEqual([22, 22, 22, 21]);
  });
});
