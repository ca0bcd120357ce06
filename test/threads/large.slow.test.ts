// Systems large enough that several workers share them, bit for bit as on this thread; a few against the oracle too.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Format, Matrix, Real, TriangularOptions } from "../../src/arrays/types.ts";
import { engineOf, type Kernels, kernels, openThreads, Random, routinesOn } from "../../src/study.ts";
import { gemmCheck, gemvCheck, luCheck, trsvCheck } from "../dense/checks.ts";
import { SEED } from "../effort.ts";
import type { AnyRoutines } from "../engines.ts";
import { storedBits } from "../hex.ts";
import { coin, type Layout, layout, numbers, pick, place, scalar, system, type Table, table, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";

const FORMATS: readonly Format[] = ["binary64", "binary32"];
const here = routinesOn(kernels("embedded") as Kernels) as unknown as AnyRoutines;
const COUNTS = [2, 3, 7, 16];
let pools: { threads: number; routines: AnyRoutines; close(): Promise<void> }[];

beforeAll(async () => {
  pools = await Promise.all(
    COUNTS.map(async (threads) => {
      const engine = engineOf(await openThreads(threads, threads === 3 ? "dekker" : undefined));
      return { threads, routines: engine as unknown as AnyRoutines, close: engine.close };
    }),
  );
});
afterAll(() => Promise.all(pools.map((pool) => pool.close())));

// The bits of all that a call returns or writes, here and on every pool.
async function same(label: string, call: (routines: AnyRoutines) => Promise<Real[]>): Promise<void> {
  const bits = async (routines: AnyRoutines) => (await call(routines)).flatMap(storedBits);
  const want = await bits(here);
  for (const { threads, routines } of pools) {
    const got = await bits(routines);
    const i = got.findIndex((b, k) => b !== want[k]);
    if (i >= 0 || got.length !== want.length)
      expect.fail(`${label}, ${threads} threads (HALFULP_SEED=${SEED}): entry ${i} is ${got[i]}, expected ${want[i]}`);
  }
}

// A matrix of random bits now and then, and else of numbers that do not overflow in a product.
function data(random: Random, rows: number, cols: number, format: Format): Table {
  if (coin(random)) return table(random, rows, cols, format, true);
  return {
    rows,
    cols,
    values: vectorOf(
      format,
      range(rows * cols).map(() => random.signed()),
    ),
  };
}

const copied = (A: Matrix<Real>): Matrix<Real> => ({ ...A, data: A.data.slice() });

describe(`large systems, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);
  const sizes = [130, 131, 192, 255, 256, 257, 300];
  const some = () => pick(random, sizes);

  test.each(FORMATS)("exgemv %s", async (format) => {
    const shapes = [
      [300, 130],
      [130, 300],
      [257, 257],
      [1, 300],
      [300, 1],
      [1100, 33], // where columns are contiguous a worker takes 512 rows at a time
      [33, 1100],
      [1537, 9],
    ];
    for (const [rows, cols] of shapes as [number, number][])
      for (const trans of [false, true])
        for (const order of ["row", "column"] as const) {
          const A = place(data(random, rows, cols, format), { order, gap: random.below(3), offset: random.below(3) });
          const [m, n] = trans ? [cols, rows] : [rows, cols];
          const [x, y] = [numbers(random, n, format, "narrow"), numbers(random, m, format)];
          const [alpha, beta] = [scalar(random), scalar(random)];
          await same(`exgemv ${rows} by ${cols}, ${order}, trans ${trans}`, async (routines) => [
            await routines.exgemv(alpha, A, x, beta, y.slice(), { trans }),
          ]);
        }
  });

  test.each(FORMATS)("exgemm %s", async (format) => {
    for (const transA of [false, true])
      for (const transB of [false, true])
        for (let k = 0; k < 2; k++) {
          const [m, n, inner] = [some(), some(), some()];
          const A = place(transA ? data(random, inner, m, format) : data(random, m, inner, format), layout(random));
          const B = place(transB ? data(random, n, inner, format) : data(random, inner, n, format), layout(random));
          const C = place(data(random, m, n, format), layout(random));
          const [alpha, beta] = [scalar(random), scalar(random)];
          await same(`exgemm ${m} by ${n} over ${inner}, ${transA}, ${transB}`, async (routines) => [
            (await routines.exgemm(alpha, A, B, beta, copied(C), { transA, transB })).data,
          ]);
        }
  });

  // Solutions that stay finite: entries beside the diagonal are small against those on it.
  function tame(n: number, format: Format): { T: Table; b: Real } {
    const values = vectorOf(
      format,
      range(n * n).map((k) => (k % (n + 1) === 0 ? 1 + random.below(100) / 7 : random.signed() / 8)),
    );
    return {
      T: { rows: n, cols: n, values },
      b: vectorOf(
        format,
        range(n).map(() => random.signed()),
      ),
    };
  }

  test.each(FORMATS)("extrsv %s, both orders and triangles, in blocks of 16 to 128", async (format) => {
    for (const order of ["row", "column"] as const)
      for (const uplo of ["lower", "upper"] as const)
        for (const blockSize of [16, 17, 32, 50, 64, 100, 128]) {
          const n = some();
          const { T, b } = random.below(3) > 0 ? tame(n, format) : system(random, n, format, uplo === "upper");
          const at: Layout = { order, gap: random.below(3), offset: random.below(3) };
          const options: TriangularOptions = {
            uplo,
            trans: coin(random),
            unit: random.below(4) === 0,
            rounding: pick(random, ["single", "single", "paper", "corrected"] as const),
            refine: random.below(3),
            refineBlocks: random.below(3),
            blockSize,
          };
          const placed = place(T, at);
          await same(`extrsv of order ${n}, ${order}, ${JSON.stringify(options)}`, async (routines) => [
            await routines.extrsv(placed, b, options),
          ]);
        }
  });

  test.each(FORMATS)("exlu and LU.solve %s", async (format) => {
    const shapes = [
      [130, 130],
      [257, 257],
      [300, 150],
      [150, 300],
      [300, 33],
      [33, 300],
    ];
    for (const [rows, cols] of shapes as [number, number][]) {
      const values = vectorOf(
        format,
        range(rows * cols).map(() => random.signed()),
      );
      const A = place({ rows, cols, values }, layout(random));
      const b = numbers(random, rows, format, "narrow");
      await same(`exlu of ${rows} by ${cols}`, async (routines) => {
        const { lu, pivots, solve } = await routines.exlu(A);
        return [lu.data, Float64Array.from(pivots), ...(rows === cols ? [await solve(b), await solve(b, { refine: 2 })] : [])];
      });
    }
  });

  test.each(FORMATS)("exluBatch %s", async (format) => {
    for (const [n, count] of [
      [12, 40],
      [33, 17],
      [1, 300],
      [70, 5],
    ] as const) {
      const values = vectorOf(
        format,
        range(n * n * count).map((k) => (n > 1 && Math.floor(k / (n * n)) % 5 === 4 ? 1 : random.signed())), // a few of them singular
      );
      await same(`exluBatch of ${count} of order ${n}`, async (routines) => {
        const { lu, pivots, info } = await routines.exluBatch(values, n, count);
        return [lu.slice(0, n * n), Float64Array.from(pivots.subarray(0, n)), Float64Array.from(info)];
      });
    }
  });

  test.each(FORMATS)("a sample of each is what the oracle says, %s", async (format) => {
    for (const { threads, routines } of pools) {
      const label = `${threads} threads (HALFULP_SEED=${SEED})`;
      const A = data(random, 200, 150, format);
      await gemvCheck(
        3,
        A,
        numbers(random, 150, format, "narrow"),
        -1,
        numbers(random, 200, format),
        false,
        layout(random),
      )(routines, label);
      const [L, R, C] = [data(random, 140, 20, format), data(random, 20, 150, format), data(random, 140, 150, format)];
      await gemmCheck(0.3, L, R, 1, C, false, false, [layout(random), layout(random), layout(random)])(routines, label);
      const { T, b } = tame(140, format);
      const options = { refine: 1, refineBlocks: 1, blockSize: 16, rounding: pick(random, ["single", "paper", "corrected"] as const) };
      await trsvCheck(T, b, coin(random), options, layout(random))(routines, label);
      await luCheck(tame(60, format).T, layout(random), numbers(random, 60, format, "narrow"), 1)(routines, label);
    }
  });
});
