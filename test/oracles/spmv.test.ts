// The oracle of sparse products and of vector operations: by hand, and against the two oracles of sums.
import { describe, expect, test } from "vitest";
import { csc, csr } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { KINDS, vector } from "../generators.ts";
import { column, numbers, pick, scalar, wantedBits } from "../matrices.ts";
import { anySparse, denseOf } from "../sparse/patterns.ts";
import { columnSum } from "./columns.ts";
import { gemm, range } from "./matrices.ts";
import { exactNumber, exactProduct, exactReduction, exactSum, round } from "./rational.ts";
import { axpy, dot, fma, nrm2, spmv } from "./spmv.ts";

const { NaN: NAN, POSITIVE_INFINITY: INF, MIN_VALUE: TINY, MAX_VALUE: MAX } = Number;
const same = (got: readonly number[], want: readonly number[]): void => {
  expect(wantedBits(got, "binary64")).toEqual(wantedBits(want, "binary64"));
};

describe("spmv", () => {
  // [1 . 2; . . .; 3 4 .; . 5 .]
  const A = csr(4, 3, Int32Array.of(0, 2, 2, 4, 5), Int32Array.of(2, 0, 0, 1, 1), Float64Array.of(2, 1, 3, 4, 5));
  // the same by columns
  const C = csc(4, 3, Int32Array.of(0, 2, 4, 5), Int32Array.of(0, 2, 3, 2, 0), Float64Array.of(1, 3, 5, 4, 2));

  test("by hand, plain and transposed", () => {
    for (const stored of [A, C]) {
      same(spmv(1, stored, [1, 10, 100], 0, [9, 9, 9, 9], false, "binary64"), [201, 0, 43, 50]);
      same(spmv(-2, stored, [1, 10, 100], 3, [1, 2, 3, 4], false, "binary64"), [-399, 6, -77, -88]);
      same(spmv(1, stored, [1, 10, 100, 1000], 1, [7, 7, 7], true, "binary64"), [308, 5407, 9]);
    }
  });

  test("alpha and beta that are zero are not read, and other zeros are", () => {
    const nan = [NAN, INF, NAN];
    same(spmv(0, A, nan, 1, [1, -0, -5, 0.5], false, "binary64"), [1, 0, -5, 0.5]);
    same(spmv(-0, A, nan, -0, [NAN, NAN, INF, 1], false, "binary64"), [0, 0, 0, 0]);
    same(spmv(1, A, [1, 1, 1], 0, [NAN, INF, NAN, NAN], false, "binary64"), [3, 0, 7, 5]);
    same(spmv(NAN, A, [0, 0, 0], 1, [1, 2, 3, 4], false, "binary64"), [NAN, 2, NAN, NAN]); // row 1 has no term with alpha
    same(spmv(INF, A, [1, -1, 1], 0, [0, 0, 0, 0], false, "binary64"), [INF, 0, NAN, -INF]);
    same(spmv(1, A, [1, 1, 1], NAN, [0, 0, 0, 0], false, "binary64"), [NAN, NAN, NAN, NAN]);
    same(spmv(1, A, [1, 1, 1], INF, [1, 0, -1, 2], false, "binary64"), [INF, NAN, -INF, INF]);
    const zeros = csr(2, 1, Int32Array.of(0, 1, 2), Int32Array.of(0, 0), Float64Array.of(0, -0));
    same(spmv(1, zeros, [INF], 0, [0, 0], false, "binary64"), [NAN, NAN]);
    same(spmv(-1, zeros, [5], 1, [-0, -0], false, "binary64"), [0, 0]);
  });

  test("one rounding for the whole expression, and no overflow on the way", () => {
    const row = csr(1, 3, Int32Array.of(0, 3), Int32Array.of(0, 1, 2), Float64Array.of(MAX, MAX, TINY));
    same(spmv(2, row, [1, -1, 1], 0, [0], false, "binary64"), [2 * TINY]);
    same(spmv(0.5, row, [1, 1, 0], 0, [0], false, "binary64"), [MAX]);
    same(spmv(2, row, [1, 0, 0], -1, [MAX], false, "binary64"), [MAX]);
    same(spmv(TINY, row, [0, 0, -0.5], 0, [0], false, "binary64"), [-0]); // a nonzero value keeps its sign
    const single = csr(1, 2, Int32Array.of(0, 2), Int32Array.of(0, 1), Float32Array.of(1, 2 ** -24));
    same(spmv(1, single, [1, 1], 2 ** -80, [1], false, "binary32"), [1 + 2 ** -23]); // a tie of binary32 in binary64
  });

  test(`is what the other oracles say, HALFULP_SEED=${SEED}`, () => {
    const random = new Random(SEED);
    for (const k of range(300)) {
      const format = k % 2 ? "binary32" : "binary64";
      const { A, trans, rows, cols } = anySparse(random, 1 + random.below(6), 1 + random.below(6), format);
      const [x, y] = [numbers(random, cols, format), numbers(random, rows, format)];
      // Sums of products alone: an integer in units of 2^-2148.
      const entry = denseOf(A, trans);
      const lines = range(rows).map((i) => range(cols).filter((j) => entry(i, j) !== undefined));
      const sums = lines.map((line, i) =>
        exactSum([...line.map((j) => exactProduct(entry(i, j) as number, x[j] as number)), exactNumber(y[i] as number)]),
      );
      same(
        spmv(1, A, x, 1, y, trans, format),
        sums.map((s) => round(s, "nearest", format)),
      );
      // With factors, where zeros are terms or not alike: the dense oracle.
      const [alpha, beta] = [scalar(random), scalar(random)];
      if (![alpha, ...x, ...A.values].every(Number.isFinite)) continue;
      const T = (i: number, j: number): number => entry(i, j) ?? 0;
      same(spmv(alpha, A, x, beta, y, trans, format), gemm(rows, 1, cols, alpha, T, column(x), beta, column(y), format));
    }
  });
});

describe("vector operations", () => {
  test(`dot products and norms are those of the oracles of sums, HALFULP_SEED=${SEED}`, () => {
    const random = new Random(SEED);
    for (const _ of range(100)) {
      const n = random.below(12);
      const [x, y] = [vector(random, n, pick(random, KINDS)), vector(random, n, pick(random, KINDS))];
      same([dot(x, y)], [round(exactReduction("dot", x, y), "nearest", "binary64")]);
      if (x.every(Number.isFinite) && y.every(Number.isFinite)) expect(dot(x, y)).toBe(columnSum("dot", x, y, "nearest", "binary64"));
    }
    same(
      [nrm2([3, 4]), nrm2([3 * TINY, 4 * TINY]), nrm2([MAX, MAX]), nrm2([MAX / 2, MAX / 2])],
      [5, 5 * TINY, INF, fma(MAX / 2, Math.SQRT2, 0)],
    );
    same([nrm2([]), nrm2([-0]), nrm2([INF, -INF]), nrm2([NAN, INF])], [0, 0, INF, NAN]);
  });

  const U = 2 ** -53;
  const FMA: [number, number, number, number][] = [
    [1, 1, U, 1],
    [1 + 2 * U, 1 - U, -1, U - 2 * U * U],
    [MAX, 2, -MAX, MAX],
    [2 ** -600, 2 ** -600, 0, 0],
    [-(2 ** -600), 2 ** -600, 0, -0],
    [-(2 ** -600), 2 ** -600, -0, -0],
    [3, 1, -3, 0],
    [-3, 1, 3, 0],
    [0, 5, -0, 0],
    [-0, 5, -0, -0],
    [-1, 0, -0, -0],
    [-1, 0, 0, 0],
    [-1, -0, -0, 0],
    [2, 0, -7, -7],
    [INF, 0, 1, NAN],
    [INF, 1, -INF, NAN],
    [INF, -1, 5, -INF],
    [0, INF, 0, NAN],
    [1, 1, NAN, NAN],
    [MAX, 1, 2 ** 970, INF],
  ];
  test.each(FMA)("fma(%d, %d, %d) is %d", (a, x, y, want) => {
    same([fma(a, x, y)], [want]);
  });

  test("axpy with zero leaves y as it is", () => {
    const y = [1, -0, NAN, INF];
    for (const zero of [0, -0]) same(axpy(zero, [NAN, 1, 2, INF], y), y);
    same(axpy(2, [1, -0, 2, -INF], y), [3, -0, NAN, NAN]);
  });

  test(`fma rounds the exact value once, HALFULP_SEED=${SEED}`, () => {
    const random = new Random(SEED + 1);
    const one = (): number => vector(random, 1, pick(random, KINDS))[0] as number;
    for (const _ of range(300)) {
      const [a, x, y] = [one(), one(), one()];
      const want = round(exactSum([exactProduct(a, x), exactNumber(y)]), "nearest", "binary64");
      // The other oracle has no sign of an exact zero.
      same([fma(a, x, y)], want === 0 ? [fma(a, x, y)] : [want]);
      expect(fma(a, x, y) === 0).toBe(want === 0);
    }
  });
});
