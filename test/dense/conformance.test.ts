// The dense routines on every engine: the shared vectors, every shape, order and option against the oracle, and rows
// whose answer can be checked by hand.

import { describe, expect, test } from "vitest";
import { matrix } from "../../src/arrays/matrix.ts";
import type { Format, Real, TriangularOptions } from "../../src/arrays/types.ts";
import { Random } from "../../src/study.ts";
import { cases, FULL, SEED, sample } from "../effort.ts";
import { describeEngines, ENGINES } from "../engines.ts";
import { storedBits, toHex } from "../hex.ts";
import { factorable, LAYOUTS, numbers, pick, representable, scalar, system, type Table, table, vectorOf } from "../matrices.ts";
import { nearest, range } from "../oracles/matrices.ts";
import { roundRatio } from "../oracles/rational.ts";
import { VECTOR_FILES } from "../vectors/cases.ts";
import { readShared } from "../vectors/read.ts";
import { batchCheck, type Check, gemmCheck, gemvCheck, luCheck, trsvCheck } from "./checks.ts";

const FORMATS: readonly Format[] = ["binary64", "binary32"];
const ROUNDINGS = ["single", "paper", "corrected"] as const;
const FOUR_CASES = [false, true].flatMap((transA) => [false, true].map((transB) => [transA, transB] as const));
const MAX = Number.MAX_VALUE;
const { NaN: NAN, POSITIVE_INFINITY: INF, MIN_VALUE: TINY } = Number;

const onAll = async (check: Check, label: string): Promise<void> => {
  for (const { name, routines } of ENGINES) await check(routines, `${label} on ${name} (HALFULP_SEED=${SEED})`);
};

describeEngines("the shared vectors", (routines) => {
  const cases = readShared("matrices.jsonl");

  test("there are 420 of them", () => expect(new Set(cases.map(({ name }) => name)).size).toBe(VECTOR_FILES["matrices.jsonl"]));

  test.each(["exgemv", "exgemm", "extrsv", "exlu"] as const)("%s returns them", async (op) => {
    for (const shared of cases) if (shared.op === op) expect(await shared.outcome(routines), shared.name).toEqual(shared.want);
  });
});

describe("the oracle", () => {
  test(`rounds quotients as the oracle that searches does, HALFULP_SEED=${SEED}`, () => {
    const random = new Random(SEED);
    const big = (words: number): bigint => range(words).reduce((n) => (n << 32n) | BigInt(random.word() >>> 0), 1n);
    for (let k = 0; k < 4000; k++) {
      const format = pick(random, FORMATS);
      const q = 1n + (random.below(2) ? BigInt(random.below(64)) : big(random.below(4)));
      const midpoint = (2n ** pick(random, [53n, 24n]) + BigInt(random.below(4))) * q + BigInt(random.below(3) - 1);
      const p = (random.below(2) ? midpoint : big(random.below(6))) << BigInt(random.below(40));
      const e = pick(random, [0, 900, -1074, -1127, 960, 970, -149, -173, 100, -300]);
      const units = 2148 + e; // roundRatio counts in units of 2^-2148
      expect(toHex(nearest(-p, q, e, format))).toBe(toHex(roundRatio(-p << BigInt(units), q, "nearest", format)));
    }
  });
});

const SIZES = FULL ? [0, 1, 2, 3, 5, 17, 31, 32, 33, 63, 64, 65] : [0, 1, 2, 5, 31, 33, 64];
const INNER_SIZES = FULL ? [0, 1, 2, 5, 33] : [0, 1, 33];
const LARGE = FULL ? 130 : 67; // rational arithmetic takes seconds for an LU factorization of order 130

describe(`every shape, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);
  let turn = 0;
  const nextLayout = () => LAYOUTS[turn++ % LAYOUTS.length] as (typeof LAYOUTS)[number];

  test.each(FORMATS)("exgemv, plain and transposed, %s", async (format) => {
    for (const rows of [...SIZES, LARGE])
      for (const cols of [...SIZES, LARGE])
        for (const trans of [false, true]) {
          const [m, n] = trans ? [cols, rows] : [rows, cols];
          const A = table(random, rows, cols, format, random.below(4) > 0);
          const check = gemvCheck(
            scalar(random),
            A,
            numbers(random, n, format),
            scalar(random),
            numbers(random, m, format),
            trans,
            nextLayout(),
          );
          await onAll(check, "every shape");
        }
  });

  test.each(FORMATS)("exgemm, the four cases, %s", async (format) => {
    const small = INNER_SIZES.flatMap((m) => INNER_SIZES.flatMap((n) => INNER_SIZES.map((k) => [m, n, k] as const)));
    const large = [
      [31, 32, 33],
      [63, 64, 65],
      [65, 63, 64],
      [64, 64, 64],
      [1, 65, 64],
      [65, 1, 64],
      [64, 65, 1],
    ] as const;
    for (const [m, n, k] of [...small, ...sample(large, 3)])
      for (const [transA, transB] of FOUR_CASES) {
        const A = transA ? table(random, k, m, format, true) : table(random, m, k, format, true);
        const B = transB ? table(random, n, k, format, true) : table(random, k, n, format, true);
        const C = table(random, m, n, format, true);
        await onAll(
          gemmCheck(scalar(random), A, B, scalar(random), C, transA, transB, [nextLayout(), nextLayout(), nextLayout()]),
          "every shape",
        );
      }
  });

  // Eight triangles, in both orders, padded or not.
  const TRIANGLES = [false, true].flatMap((upper) =>
    [false, true].flatMap((trans) => [false, true].map((unit) => ({ upper, trans, unit }))),
  );

  test.each(FORMATS)("extrsv, the eight cases in every layout and rounding, %s", async (format) => {
    for (const n of SIZES)
      for (const { upper, trans, unit } of TRIANGLES)
        for (const at of FULL ? LAYOUTS : [nextLayout()]) {
          const { T, b } = system(random, n, format, upper);
          const options = { trans, unit, rounding: pick(random, ROUNDINGS), refine: pick(random, [0, 0, 1, 2]) };
          await onAll(trsvCheck(T, b, upper, options, at), "every shape");
        }
  });

  test.each(sample([16, 17, 31, 32, 48, 64, 100, 128], 3))("extrsv in blocks of %i", async (blockSize) => {
    for (const format of FORMATS)
      for (const n of sample([15, 16, 33, 65, 130], 2).filter((n) => FULL || n < 130))
        for (const { upper, trans, unit } of TRIANGLES) {
          const { T, b } = system(random, n, format, upper);
          const rounding = pick(random, ROUNDINGS);
          const options: TriangularOptions = {
            trans,
            unit,
            rounding,
            refine: pick(random, [0, 0, 1]),
            refineBlocks: pick(random, [0, 1, 2]),
            blockSize,
          };
          await onAll(trsvCheck(T, b, upper, options, nextLayout()), "blocks");
        }
  });

  test.each(FORMATS)("exlu, and its solve where it is square, %s", async (format) => {
    for (const rows of SIZES)
      for (const cols of SIZES) {
        const A = factorable(random, rows, cols, format);
        const b = rows === cols ? numbers(random, rows, format, "narrow") : undefined;
        await onAll(luCheck(A, nextLayout(), b, random.below(3)), "every shape");
      }
  });

  test.each(FORMATS)(`exlu of ${LARGE} by ${LARGE}, regular, %s`, async (format) => {
    const values = vectorOf(
      format,
      range(LARGE * LARGE).map(() => random.signed()),
    );
    await onAll(luCheck({ rows: LARGE, cols: LARGE, values }, nextLayout(), numbers(random, LARGE, format, "narrow"), 1), "every shape");
  });

  test.each(FORMATS)("exluBatch of no matrix, one and several, of order 0 up, %s", async (format) => {
    for (const n of sample([0, 1, 2, 3, 4, 5, 8, 16, 17, 33], 3))
      for (const count of sample([0, 1, 2, 5, 9], 2)) {
        const matrices = range(count).map(() => factorable(random, n, n, format));
        await onAll(batchCheck(matrices, n, format), "every shape");
      }
  });
});

describe(`alpha and beta, HALFULP_SEED=${SEED}`, () => {
  const SCALARS = [0, -0, 1, -1, 0.5, 3, 2 ** -600, -(2 ** -600), 2 ** 600, TINY, MAX, NAN, INF, -INF];
  const random = new Random(SEED);

  test.each(FORMATS)("every pair, on finite data, special data and data with zeros, %s", async (format) => {
    const kinds = ["narrow", "special", "zeros", "integers", "large", "subnormal"] as const;
    for (const [i, alpha] of SCALARS.entries())
      for (const [j, beta] of SCALARS.entries())
        for (const kind of FULL ? kinds : [kinds[(5 * i + j) % kinds.length] as (typeof kinds)[number]]) {
          const A: Table = { rows: 3, cols: 4, values: numbers(random, 12, format, kind) };
          const B: Table = { rows: 4, cols: 2, values: numbers(random, 8, format, kind) };
          const C: Table = { rows: 3, cols: 2, values: numbers(random, 6, format, kind) };
          await onAll(gemmCheck(alpha, A, B, beta, C), kind);
          await onAll(gemvCheck(alpha, A, numbers(random, 4, format, kind), beta, numbers(random, 3, format, kind)), kind);
        }
  });

  test.each([0, -0])("what %d multiplies is not read", async (zero) => {
    const nothing = new Float64Array(4).fill(NAN);
    const A: Table = { rows: 2, cols: 2, values: nothing };
    const one: Table = { rows: 2, cols: 2, values: Float64Array.of(1, 0, 0, 1) };
    for (const { routines } of ENGINES) {
      const y = Float64Array.of(-0, 3);
      await routines.exgemv(zero, matrix(nothing, 2, 2), nothing.subarray(0, 2), 2, y);
      expect(storedBits(y)).toEqual([toHex(0), toHex(6)]);
      await routines.exgemv(1, matrix(one.values as Float64Array, 2, 2), Float64Array.of(-0, 5), zero, y.fill(NAN));
      expect(storedBits(y)).toEqual([toHex(0), toHex(5)]);
      await routines.exgemv(zero, matrix(nothing, 2, 2), nothing.subarray(0, 2), zero, y.fill(NAN));
      expect(storedBits(y)).toEqual([toHex(0), toHex(0)]);
    }
    await onAll(gemmCheck(zero, A, A, 1, one), "not read");
    await onAll(gemmCheck(1, one, one, zero, A), "not read");
    await onAll(gemmCheck(zero, A, A, zero, A), "not read");
  });
});

describe("systems whose solution is representable", () => {
  // norm(T^-1) is at least the largest entry of its first column, here n_k / d by exact substitution.
  function logCondition(n: number, at: (i: number, j: number) => number): number {
    let d = 1n;
    const numerators: bigint[] = [];
    for (let k = 0; k < n; k++) {
      const s = numerators.reduce((sum, v, j) => sum - BigInt(at(k, j)) * v, k === 0 ? d : 0n);
      const t = BigInt(at(k, k));
      numerators.forEach((v, j) => {
        numerators[j] = v * t;
      });
      numerators.push(s);
      d *= t;
    }
    const size = (v: bigint): number => (v < 0n ? -v : v).toString().length;
    return Math.max(...numerators.map(size)) - size(d);
  }

  test.each(FORMATS)("are solved exactly at condition 1e30 and beyond, %s", async (format) => {
    const random = new Random(SEED);
    for (let k = 0; k < cases(40, 8); k++) {
      const upper = k % 2 === 1;
      const n = 65;
      const {
        system: { T, b },
        x,
      } = representable(random, n, format, upper);
      const at = (i: number, j: number): number => T.values[(upper ? n - 1 - i : i) * n + (upper ? n - 1 - j : j)] as number;
      expect(logCondition(n, at)).toBeGreaterThan(30);
      const want = storedBits(vectorOf(format, x));
      for (const { name, routines } of ENGINES) {
        const stored = matrix(T.values as Float64Array, n, n);
        const uplo = upper ? "upper" : "lower";
        expect(storedBits(await routines.extrsv(stored, b, { uplo })), `${name}, HALFULP_SEED=${SEED}, case ${k}`).toEqual(want);
      }
    }
  });
});

describe("hard rows of exgemv and exgemm", () => {
  const U = 2 ** -53;
  // name, row of A, x, alpha, beta, y, the answer
  const rows: [string, number[], number[], number, number, number, number][] = [
    ["a tie goes to even, down", [1, U], [1, 1], 1, 0, 0, 1],
    ["a tie goes to even, up", [1 + 2 * U, U], [1, 1], 1, 0, 0, 1 + 4 * U],
    ["a tie and the smallest product above it", [1, U, TINY], [1, 1, TINY], 1, 0, 0, 1 + 2 * U],
    ["a tie and the smallest product below it", [1 + 2 * U, U, TINY], [1, 1, -TINY], 1, 0, 0, 1 + 2 * U],
    ["a tie that only beta y breaks", [1, U], [1, 1], 1, TINY, TINY, 1 + 2 * U],
    ["a tie that alpha makes", [(2 ** 53 + 1) / 3], [1], 3, 0, 0, 2 ** 53],
    ["a three-factor product below everything else", [1, U, TINY], [1, 1, TINY], 2 ** -1000, 2 ** -1000, 0, 2 ** -1000 * (1 + 2 * U)],
    ["cancellation down to the smallest product", [1e300, 2 ** -500, -1e300], [1e300, 2 ** -500, 1e300], 1, 0, 0, 2 ** -1000],
    ["cancellation by beta y", [3, 5], [7, 11], 1, -1, 76, 0],
    ["an intermediate overflow", [MAX, MAX, -MAX], [2, 2, 2], 0.5, 0, 0, MAX],
    ["a product that overflows until alpha", [2 ** 1000], [2 ** 900], 2 ** -1000, 0, 0, 2 ** 900],
    ["a product that underflows until alpha", [2 ** -600], [2 ** -600], 2 ** 1000, 0, 0, 2 ** -200],
    ["overflow begins at MAX and half a step", [MAX, 2 ** 970], [1, 1], 1, 0, 0, INF],
    ["just below that it does not", [MAX, 2 ** 970, TINY], [1, 1, -TINY], 1, 0, 0, MAX],
    ["half the smallest subnormal is a tie", [TINY], [0.5], 1, 0, 0, 0],
    ["and its sign stays", [TINY], [-0.5], 1, 0, 0, -0],
    ["anything more is not", [TINY, TINY], [0.5, TINY], 1, 0, 0, TINY],
    ["a subnormal tie to even", [3 * TINY], [0.5], 1, 0, 0, 2 * TINY],
    ["a zero that is exact has no sign", [1, -1], [-5, -5], -1, 0, 0, 0],
    ["nor have zero terms", [-0, 0], [1, -1], 1, 1, -0, 0],
    ["a copy of -0", [1], [1], 0, 1, -0, 0],
    ["an infinity", [INF, 1], [2, 3], -1, 0, 0, -INF],
    ["infinities of both signs", [INF, 1], [2, 3], 1, -1, INF, NAN],
    ["an infinity and a zero", [INF, 1], [0, 3], 1, 0, 0, NAN],
    ["an infinite alpha and a zero product", [1, 0], [1, 1], INF, 0, 0, NAN],
    ["an infinite alpha and a product that underflows", [TINY], [-TINY], INF, 0, 0, -INF],
    ["an infinite alpha and products that would cancel", [1, 1], [1, -1], INF, 0, 0, NAN],
    ["an infinite alpha and no term", [], [], INF, 1, 3, 3],
    ["a NaN alpha and no term", [], [], NAN, 1, 3, 3],
    ["a NaN alpha", [1], [1], NAN, 1, 3, NAN],
    ["an infinite beta and a zero", [1], [1], 1, INF, 0, NAN],
    ["finite terms past the range beside an infinity", [MAX, -INF], [MAX, 1], 1, 0, 0, -INF],
  ];

  test.each(rows)("%s", async (_, a, x, alpha, beta, y, want) => {
    const n = a.length;
    const table: Table = { rows: 1, cols: n, values: Float64Array.from(a) };
    await onAll(gemvCheck(alpha, table, Float64Array.from(x), beta, Float64Array.of(y)), "the oracle");
    for (const { name, routines } of ENGINES) {
      const out = Float64Array.of(y);
      await routines.exgemv(alpha, matrix(Float64Array.from(a), 1, n), Float64Array.from(x), beta, out);
      expect(out[0], name).toBe(want);
      const C = matrix(Float64Array.of(y), 1, 1);
      await routines.exgemm(alpha, matrix(Float64Array.from(a), 1, n), matrix(Float64Array.from(x), n, 1), beta, C);
      expect(C.data[0], name).toBe(want);
      // the same row within others, after others, and with zeros beside it
      const wide = new Float64Array(70 * (n + 40));
      range(70).forEach((i) => {
        wide.set(a, i * (n + 40));
      });
      const many = new Float64Array(70).fill(y);
      const padded = Float64Array.of(...x, ...new Float64Array(40));
      if (n > 0 && Number.isFinite(alpha)) {
        await routines.exgemv(alpha, matrix(wide, 70, n + 40), padded, beta, many);
        expect(new Set(storedBits(many)), name).toEqual(new Set([Number.isNaN(want) ? "7ff8000000000000" : toHex(want)]));
      }
    }
  });

  test("binary32 is rounded once, not through binary64", async () => {
    // 1 + 2^-24 is a tie of binary32; 2^-80 above it vanishes in binary64
    for (const { name, routines } of ENGINES) {
      const y = Float32Array.of(0, 0);
      await routines.exgemv(
        1,
        matrix(Float32Array.of(1, 2 ** -24, 2 ** -40, 1, 2 ** -24, 0), 2, 3) as never,
        Float32Array.of(1, 1, 2 ** -40),
        0,
        y,
      );
      expect(Array.from(y), name).toEqual([1 + 2 ** -23, 1]);
    }
  });

  test("NaN is stored with one pattern", async () => {
    for (const { routines } of ENGINES)
      for (const y of [Float64Array.of(NAN), Float32Array.of(NAN)] as Real[]) {
        new Uint8Array(y.buffer).fill(0xff);
        const A = y.slice();
        const bits = y.BYTES_PER_ELEMENT === 8 ? "7ff8000000000000" : "7fc00000";
        expect(storedBits(await routines.exgemv(0, matrix(A as Float64Array, 1, 1), A, 1, y))).toEqual([bits]);
        expect(storedBits(await routines.extrsv(matrix(A as Float64Array, 1, 1), A, { unit: true }))).toEqual([bits]);
        expect(storedBits(await routines.extrsv(matrix(A as Float64Array, 1, 1), A))).toEqual([bits]);
      }
  });
});

describe("hard rows of extrsv", () => {
  const U = 2 ** -53;
  const odd = 1 + 2 * U;
  const near1 = 1 - 2 ** -10;
  // name, last row of T after a unit row, b, the answers of the three roundings; unknown 0 is b_0
  const rows: [string, [number, number], [number, number], [number, number, number]][] = [
    ["a division", [0, 3], [1, 1], [1 / 3, 1 / 3, 1 / 3]],
    ["zero divided by a negative number", [0, -3], [1, 0], [0, 0, 0]],
    ["an exact cancellation divided by a negative number", [5, -3], [1, 5], [0, 0, 0]],
    ["minus zero divided", [0, 3], [1, -0], [0, 0, 0]],
    ["a number divided by an infinity", [0, INF], [1, 5], [0, 0, 0]],
    ["a negative number divided by an infinity", [0, INF], [1, -5], [0, 0, 0]],
    ["an infinity divided by an infinity", [0, INF], [1, INF], [NAN, NAN, NAN]],
    ["an infinity on the right", [0, -2], [1, INF], [-INF, -INF, -INF]],
    ["a NaN on the diagonal", [0, NAN], [1, 5], [NAN, NAN, NAN]],
    ["an infinity times a zero", [INF, 1], [0, 5], [NAN, NAN, NAN]],
    ["a quotient that underflows keeps its sign", [0, 4], [1, -TINY], [-0, -0, 0]],
    ["a sum that underflows", [0.25, 0.25], [TINY, 0], [-TINY, 0, -TINY]],
    ["a sum that overflows, and a quotient that does not", [-MAX, 4], [1, MAX], [MAX / 2, INF, NAN]],
    ["a quotient that overflows", [0, 0.5], [1, MAX], [INF, INF, INF]],
    ["a quotient that is a tie, of a sum that is none", [-3 * U, 3], [1, 3], [1, 1 + 2 * U, 1 + 2 * U]],
    // the quotient is q + 1.52 U, between q and q + 2 U; what RN(s) drops, 1.9 U, decides
    ["a rounding that the correction undoes", [-1.9 * U, 1.25], [1, 2.5 * near1], [2 * near1 + 2 * U, 2 * near1, 2 * near1 + 2 * U]],
  ];

  test.each(rows)("%s", async (_, [a, t], b, want) => {
    for (const [i, rounding] of ROUNDINGS.entries()) {
      const T: Table = { rows: 2, cols: 2, values: Float64Array.of(1, 0, a, t) };
      await onAll(trsvCheck(T, Float64Array.from(b), false, { rounding }), "the oracle");
      for (const { name, routines } of ENGINES) {
        const x = await routines.extrsv(matrix(Float64Array.of(1, 0, a, t), 2, 2), Float64Array.from(b), { rounding });
        expect(x[1], `${rounding} on ${name}`).toBe(want[i]);
      }
    }
  });

  // s = odd + U - tiny: just below the tie above an odd number, so RN(s) is odd; RN(s - RN(s)) is U, a tie again.
  test("a correction that rounds to a tie, without a division", async () => {
    const T: Table = { rows: 3, cols: 3, values: Float64Array.of(1, 0, 0, 0, 1, 0, -U, TINY, 1) };
    for (const [rounding, want] of [
      ["single", odd],
      ["paper", odd],
      ["corrected", 1 + 4 * U],
    ] as const)
      for (const unit of [true, false])
        for (const { name, routines } of ENGINES) {
          const x = await routines.extrsv(matrix(T.values as Float64Array, 3, 3), Float64Array.of(1, TINY, odd), { rounding, unit });
          expect(x[2], `${rounding} on ${name}`).toBe(want);
        }
  });

  test("without a division a sum that underflows keeps its sign", async () => {
    // x_0 = TINY; s = -TINY / 4
    for (const [rounding, want] of [
      ["single", -0],
      ["paper", -0],
      ["corrected", 0],
    ] as const)
      for (const { name, routines } of ENGINES) {
        const x = await routines.extrsv(matrix(Float64Array.of(9, 9, 0.25, 9), 2, 2), Float64Array.of(TINY, 0), { rounding, unit: true });
        expect(x[1], `${rounding} on ${name}`).toBe(want);
      }
  });

  test("refinement stops at an infinity, which it would make NaN", async () => {
    for (const { name, routines } of ENGINES)
      for (const options of [{ refine: 1 }, { refineBlocks: 2 }, { refine: 2, refineBlocks: 1, blockSize: 1 }]) {
        const x = await routines.extrsv(matrix(Float64Array.of(0.5, 0, 1, 1), 2, 2), Float64Array.of(MAX, 1), options);
        expect(Array.from(x), `${JSON.stringify(options)} on ${name}`).toEqual([INF, -INF]);
      }
  });

  test("refinement of a block does not wait for the others", async () => {
    // The second block overflows: the first is refined all the same, the whole is not.
    const random = new Random(SEED);
    for (let k = 0; k < 50; k++) {
      const { T, b } = system(random, 6, "binary64", false);
      b[5] = MAX;
      T.values[35] = 2 ** -10;
      await onAll(trsvCheck(T, b, false, { rounding: "paper", refine: 1, refineBlocks: 2, blockSize: 3 }), "blocks");
    }
  });
});

describe("hard cases of exlu", () => {
  // A matrix as "1 2; 3 4".
  function parse(text: string): Table {
    const rows = text.split(";").map((row) => row.trim().split(" ").map(Number));
    return { rows: rows.length, cols: rows[0]?.length ?? 0, values: Float64Array.from(rows.flat()) };
  }

  test.each([
    ["of equal entries the first is the pivot", "1 1; -2 4; 2 6", "-2 4; -1 10; -0.5 0.3", [1, 2]],
    ["the row itself before an equal one below it", "2 1; 2 5", "2 1; 1 4", [0, 1]],
    ["zeros lose their sign", "-1 -0; 0 -2", "-1 0; 0 -2", [0, 1]],
    ["a multiplier that underflows keeps its sign", "-1e10 1; 5e-324 1", "-1e10 1; -0 1", [0, 1]],
    // 1 - 2^-54 - 2^-54: each product alone is half a step from 1 and would vanish
    [
      "one rounding for a whole inner product",
      `1 0 ${2 ** -27}; 0 1 1; ${2 ** -27} ${2 ** -54} 1`,
      `1 0 ${2 ** -27}; 0 1 1; ${2 ** -27} ${2 ** -54} ${1 - 2 ** -53}`,
      [0, 1, 2],
    ],
  ])("%s", async (_, text, want, pivots) => {
    await onAll(luCheck(parse(text)), "the oracle");
    for (const { name, routines } of ENGINES) {
      const { rows, cols, values } = parse(text);
      const factors = await routines.exlu(matrix(values as Float64Array, rows, cols));
      expect(storedBits(factors.lu.data), name).toEqual(storedBits(parse(want).values));
      expect(Array.from(factors.pivots), name).toEqual(pivots);
    }
  });

  test.each([
    ["the zero matrix", "0 -0; 0 0", { name: "SingularError", index: 0 }],
    ["equal rows", "1 2; 1 2", { name: "SingularError", index: 1 }],
    ["a row of zeros in a wide one", "1 2 3; 0 0 1", { name: "SingularError", index: 1 }],
    ["a column of zeros in a tall one", "1 0; 2 0; 3 0", { name: "SingularError", index: 1 }],
    ["one row that begins with zero", "0 5", { name: "SingularError", index: 0 }],
    ["an entry that overflows", `1 ${MAX}; 1 ${-MAX}`, { name: "ValueError", row: 1, column: 1 }],
    ["a zero pivot before an overflow", `1 1 ${MAX}; 1 1 ${-MAX}`, { name: "SingularError", index: 1 }],
    ["a zero pivot before an overflow in a row above it", `1 0 0 ${MAX}; 1 1 0 ${-MAX}; 0 0 0 0`, { name: "SingularError", index: 2 }],
    ["an overflow before a zero pivot", `1 ${MAX} 0; 1 ${-MAX} 0; 0 0 0`, { name: "ValueError", row: 1, column: 1 }],
  ])("%s is refused", async (_, text, error) => {
    const { rows, cols, values } = parse(text);
    for (const { name, routines } of ENGINES)
      await expect(async () => routines.exlu(matrix(values as Float64Array, rows, cols)), name).rejects.toThrow(
        expect.objectContaining(error),
      );
  });

  test("a singular matrix in a batch is reported, and the others are done", async () => {
    for (const { routines } of ENGINES) {
      const { lu, pivots, info } = await routines.exluBatch(Float64Array.of(1, 2, 1, 2, 0, 1, 2, 0, 0, 0, 0, 3), 2, 3);
      expect(Array.from(info)).toEqual([2, 0, 1]);
      // However far the work on a singular one went, on every engine the same is left of it.
      for (const k of [0, 2]) {
        expect(new Set(storedBits(lu.subarray(4 * k, 4 * k + 4)))).toEqual(new Set(["7ff8000000000000"]));
        expect(Array.from(pivots.subarray(2 * k, 2 * k + 2))).toEqual([0, 0]);
      }
      expect(Array.from(lu.subarray(4, 8))).toEqual([2, 0, 0, 1]);
      expect(Array.from(pivots.subarray(2, 4))).toEqual([1, 1]);
    }
  });
});
