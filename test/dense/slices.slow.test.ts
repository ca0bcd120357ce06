// Products whose entries all cancel: whole tiles of them are cut into slices, where their entries are of like size once rows, columns
// and the sums' terms are scaled. All sizes here are above what a tile must have for that.
import { expect, test } from "vitest";
import { type Matrix, matrix } from "../../src/index.ts";
import { kernels, type LocalKernels, Random, routinesOn } from "../../src/study.ts";
import { FULL } from "../effort.ts";
import { SELECTED_ENGINES } from "../engines.ts";
import { storedBits } from "../hex.ts";

interface Case {
  readonly rows?: number;
  readonly cols?: number;
  /** Products of a sum that cancel in pairs, and how many come beside them. */
  readonly pairs?: number;
  readonly others?: number;
  /** Bits of the entries of A and of B. */
  readonly bits?: readonly [number, number];
  /** Binades over which rows, terms (in A and in B), columns and single entries (of A and of B) are spread. */
  readonly spread?: Partial<Record<"row" | "termA" | "termB" | "column" | "entryA" | "entryB", number>>;
  /** The binade of the products beside the pairs, and of all of A and of B. */
  readonly depth?: number;
  readonly exponents?: readonly [number, number];
  /** All terms but the second of each pair positive: sums on the way are large. */
  readonly positive?: boolean;
  /** One unit in the last place more in the second of each pair, or in one of the two others: what is left of it is an error term. */
  readonly nearly?: "pairs" | "others";
  readonly special?: (A: Float64Array, B: Float64Array, k: number, cols: number) => void;
}

const CASES: Record<string, Case> = {
  "entries of one size": {},
  "sizes that differ by rows, columns and terms": { spread: { row: 40, termA: 50, termB: 50, column: 40 } },
  "entries of all sizes, a little": { spread: { entryA: 4, entryB: 6 } },
  "entries of all sizes, more slices": { spread: { entryA: 30, entryB: 20 } },
  "entries that no slices hold": { spread: { entryA: 120, entryB: 120 } },
  "terms beyond all slices": { spread: { termA: 300, termB: 100 } },
  "one pair": { pairs: 1, others: 0 },
  "many pairs": { pairs: 150, others: 1, rows: 128, cols: 65 },
  "many pairs, all of them positive first": { pairs: 130, others: 1, positive: true },
  "several tiles": { rows: 131, cols: 260, pairs: 9 },
  "tile after tile, and then columns that do not cancel": {
    rows: 64,
    cols: 390,
    positive: true,
    special(_, B, k, cols) {
      for (let i = k >> 1; i < k; i++) for (let j = 256; j < cols; j += 7) B[i * cols + j] = 0;
    },
  },
  "few bits: all sums are zeros or exact": { bits: [3, 5], others: 0 },
  "what is left is an error term": { nearly: "pairs", others: 0 },
  "what is left is an error term of other sizes": { nearly: "pairs", spread: { row: 9, termA: 20, termB: 30, column: 9 } },
  ...Object.fromEntries([48, 49, 50].map((depth) => [`sums that end on the third grid, 2^-${depth}`, { depth, pairs: 40, others: 40 }])),
  ...Object.fromEntries(
    [40, 70, 85, 100].map((depth) => [`what is left is an error term at 2^-${depth}`, { nearly: "others" as const, depth, pairs: 80 }]),
  ),
  ...Object.fromEntries(
    [30, 45, 48, 50, 52, 55, 90, 120, 150, 165, 174, 180, 230].flatMap((depth) =>
      [
        [53, 53],
        [53, 1],
        [1, 53],
      ].map((bits) => [`${bits.join(" by ")} bits at 2^-${depth}`, { depth, bits: bits as [number, number], others: 3 }]),
    ),
  ),
  "far from 1": { exponents: [300, 300] },
  "far from 1, and opposite": { exponents: [400, -420] },
  "farther than rows are scaled": { exponents: [500, -500] },
  "next to underflow": { exponents: [-440, -440] },
  underflow: { exponents: [-600, -420] },
  "large rows that meet zeros: sums are next to underflow": {
    exponents: [-640, -440],
    special(A, B, k, cols) {
      for (let i = 0; i < A.length; i += k) A[i] = 2 ** -440;
      B.fill(0, 0, cols);
    },
  },
  "large rows that meet zeros: the others cannot be scaled": {
    exponents: [-700, 300],
    special(A, B, k, cols) {
      for (let i = 0; i < A.length; i += k) A[i] = 2 ** 440;
      for (let i = 1; i < A.length; i += k) A[i] = 0;
      B.fill(0, 0, cols);
      B.fill(2 ** 440, cols, 2 * cols);
    },
  },
  "rows, columns and terms of zeros": {
    special(A, B, k, cols) {
      A.fill(0, 5 * k, 6 * k);
      for (let i = 0; i < k; i++) B[i * cols + 7] = 0;
      B.fill(0, 3 * cols, 4 * cols);
      for (let i = 2; i < A.length; i += k) A[i] = 0;
    },
  },
  "nothing but zeros": { special: (A) => A.fill(0) },
  "a NaN": { special: (A) => A.fill(Number.NaN, 77, 78) },
  "an infinity": { special: (_, B) => B.fill(Number.POSITIVE_INFINITY, 99, 100) },
  "a subnormal number": { special: (A) => A.fill(5e-324, 77, 78) },
  "a row of subnormal numbers": { special: (A, _, k) => A.fill(2 ** -1040, 2 * k, 3 * k) },
};

const SCALARS = [
  [1, 0],
  [-1.5, 2],
] as const;

/** [P P' Q] times [R; -R; S]: entries of P R - P' R + Q S. */
function cancelling(one: Case, random: Random): { A: Matrix<Float64Array>; B: Matrix<Float64Array> } {
  const { rows = 67, cols = 66, pairs = 11, others = 2, bits = [53, 53], spread = {}, depth = 90, exponents = [0, 0] } = one;
  const k = 2 * pairs + others;
  const power = (range = 0): number => 2 ** -random.below(range + 1);
  const powers = (count: number, range?: number): Float64Array => Float64Array.from({ length: count }, () => power(range));
  const number = (digits: number): number => {
    const size = 2 ** (digits - 1);
    return (Math.floor((1 + Math.abs(random.signed())) * size) / size) * (one.positive || random.below(2) === 0 ? 1 : -1);
  };
  const [row, termA] = [powers(rows, spread.row), powers(pairs, spread.termA)];
  const [column, termB] = [powers(cols, spread.column), powers(pairs, spread.termB)];
  const A = new Float64Array(rows * k);
  const B = new Float64Array(k * cols);
  for (let i = 0; i < rows; i++)
    for (let t = 0; t < k; t++) {
      const scale = (row[i] as number) * 2 ** exponents[0];
      const twin = A[i * k + t - pairs] as number;
      if (t < pairs) A[i * k + t] = number(bits[0]) * scale * (termA[t] as number) * power(spread.entryA);
      else if (t < 2 * pairs) A[i * k + t] = one.nearly === "pairs" && t % 3 === 0 ? twin * (1 + 2 ** -52) : twin;
      else if (one.nearly === "others" && t > 2 * pairs) A[i * k + t] = (A[i * k + t - 1] as number) * (1 + 2 ** -52);
      else A[i * k + t] = number(bits[0]) * scale;
    }
  for (let j = 0; j < cols; j++)
    for (let t = 0; t < k; t++) {
      const scale = (column[j] as number) * 2 ** exponents[1];
      if (t < pairs) B[t * cols + j] = number(bits[1]) * scale * (termB[t] as number) * power(spread.entryB);
      else if (t < 2 * pairs) B[t * cols + j] = -(B[(t - pairs) * cols + j] as number);
      else if (one.nearly === "others" && t > 2 * pairs) B[t * cols + j] = -(B[(t - 1) * cols + j] as number);
      else B[t * cols + j] = number(bits[1]) * scale * 2 ** -depth;
    }
  one.special?.(A, B, k, cols);
  return { A: matrix(A, rows, k), B: matrix(B, k, cols) };
}

for (const [name, one] of Object.entries(CASES)) {
  test(`exgemm of entries that cancel: ${name}`, async () => {
    const random = new Random(name.length);
    const { A, B } = cancelling(one, random);
    const start = Float64Array.from({ length: A.rows * B.cols }, () => random.signed());
    for (const [alpha, beta] of FULL ? SCALARS : [SCALARS[one.spread ? 1 : 0]]) {
      const expected = matrix(start.slice(), A.rows, B.cols);
      routinesOn(kernels("reference") as LocalKernels).exgemm(alpha, A, B, beta, expected);
      for (const { name: engine, routines } of SELECTED_ENGINES.filter(({ name }) => name !== "reference")) {
        const C = matrix(start.slice(), A.rows, B.cols);
        await routines.exgemm(alpha, A, B, beta, C);
        expect(storedBits(C.data), `${engine}, alpha ${alpha}`).toEqual(storedBits(expected.data));
      }
    }
  });
}

test("exgemm of entries that cancel: transposed, and in binary32", async () => {
  const { A, B } = cancelling({ bits: [24, 24], spread: { row: 5, termA: 9, termB: 9, column: 5 }, depth: 40 }, new Random(9));
  const turned = ({ data, rows, cols }: Matrix<Float64Array>): Matrix<Float64Array> =>
    matrix(
      Float64Array.from(data, (_, i) => data[(i % rows) * cols + Math.floor(i / rows)] as number),
      cols,
      rows,
    );
  const single = ({ data, rows, cols }: Matrix<Float64Array>): Matrix<Float32Array> => matrix(Float32Array.from(data), rows, cols);
  const reference = routinesOn(kernels("reference") as LocalKernels);
  const expected = matrix(new Float64Array(A.rows * B.cols), A.rows, B.cols);
  const rounded = matrix(new Float32Array(A.rows * B.cols), A.rows, B.cols);
  reference.exgemm(1, A, B, 0, expected);
  reference.exgemm(1, single(A), single(B), 0, rounded);
  const [transA, transB] = [true, true];
  for (const { name, routines } of SELECTED_ENGINES) {
    const C = matrix(new Float64Array(expected.data.length), A.rows, B.cols);
    await routines.exgemm(1, turned(A), turned(B), 0, C, { transA, transB });
    expect(storedBits(C.data), name).toEqual(storedBits(expected.data));
    const c = matrix(new Float32Array(rounded.data.length), A.rows, B.cols);
    await routines.exgemm(1, single(turned(A)), single(B), 0, c, { transA });
    expect(storedBits(c.data), name).toEqual(storedBits(rounded.data));
  }
});
