// Matrices with structure, against the oracle on every engine: sums of zeros only, sums that are exactly zero or a tie, bands, grids,
// products that underflow, infinities among zeros. The kernels leave out products that are zero and settle a few terms alone.
import { describe, test } from "vitest";
import type { Format } from "../../src/arrays/types.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { ENGINES } from "../engines.ts";
import { LAYOUTS, type Table, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { type Check, gemmCheck, gemvCheck, luCheck } from "./checks.ts";

const FORMATS: readonly Format[] = ["binary64", "binary32"];
const { NaN: NAN, POSITIVE_INFINITY: INF, MIN_VALUE: TINY } = Number;
const N = 48; // more than the terms that are settled alone, and tiles with enough open entries to mark their nonzeros
const GRID = 8;

const onAll = async (check: Check, label: string): Promise<void> => {
  for (const { name, routines } of ENGINES) await check(routines, `${label} on ${name} (HALFULP_SEED=${SEED})`);
};

type Make = (random: Random, i: number, j: number) => number;
const distance = (i: number, j: number): number => Math.abs(i - j);
const isNeighbour = (i: number, j: number): boolean =>
  distance(i, j) === GRID || (distance(i, j) === 1 && Math.floor(i / GRID) === Math.floor(j / GRID));

const KINDS: Record<string, Make> = {
  "mostly zeros": (random, i, j) => (i === j || random.below(40) === 0 ? random.signed() : 0),
  "zeros of both signs": (random, i, j) => (i === j ? 1 : random.below(2) ? 0 : -0),
  "a band": (random, i, j) => (distance(i, j) <= 3 ? random.signed() : 0),
  "a Laplacian": (_, i, j) => (i === j ? 4 : isNeighbour(i, j) ? -1 : 0),
  "integers that often cancel": (random) => random.below(3) - 1,
  "a band with subnormal products": (random, i, j) => (distance(i, j) <= 2 ? random.signed() * 2 ** -530 : 0),
  "a band with products below the smallest number": (random, i, j) => (distance(i, j) <= 2 ? (random.signed() + 2) * 2 ** -560 : 0),
  "a band and the smallest number": (random, i, j) => (distance(i, j) <= 1 ? random.signed() : (i + j) % 17 === 0 ? TINY : 0),
  "Hilbert's matrix": (_, i, j) => 1 / (i + j + 1),
};

describe.each(FORMATS)(`structure, HALFULP_SEED=${SEED}, %s`, (format) => {
  const random = new Random(SEED);
  const tableOf = (make: Make, n = N): Table => ({
    rows: n,
    cols: n,
    values: vectorOf(
      format,
      range(n * n).map((k) => make(random, Math.floor(k / n), k % n)),
    ),
  });
  const vector = (make: (i: number) => number) => vectorOf(format, range(N).map(make));
  const vectors = {
    ones: vector(() => 1),
    "numbers of 20 bits": vector(() => (random.below(2 ** 20) - 2 ** 19) / 2 ** 19),
    "one number and zeros": vector((i) => (i === 20 ? random.signed() : i % 2 ? 0 : -0)),
    "tiny numbers": vector(() => random.signed() * 2 ** (format === "binary64" ? -530 : -120)),
  };

  test.each(Object.entries(KINDS))("exgemv of %s", async (kind, make) => {
    const A = tableOf(make);
    for (const [name, x] of Object.entries(vectors))
      for (const [alpha, beta] of [
        [1, 0],
        [1, 1],
        [-3, 0.5],
      ] as const)
        for (const at of LAYOUTS.slice(0, 2))
          await onAll(
            gemvCheck(
              alpha,
              A,
              x,
              beta,
              vector(() => -0),
              false,
              at,
            ),
            `${kind}, ${name}`,
          );
  });

  test.each(Object.entries(KINDS))("exgemm of %s", async (kind, make) => {
    const [A, B] = [tableOf(make), tableOf(make)];
    const zeros = tableOf(() => -0);
    await onAll(gemmCheck(1, A, B, 0, zeros), kind);
    await onAll(gemmCheck(1, A, B, 1, zeros), kind);
    await onAll(gemmCheck(-3, A, B, 0.5, tableOf(make)), kind);
  });

  test.each(Object.entries(KINDS))("exlu of %s", async (kind, make) => {
    await onAll(luCheck(tableOf(make), LAYOUTS[0] as (typeof LAYOUTS)[number]), kind);
  });

  test.each([INF, -INF, NAN])("%d among zeros is not lost", async (special) => {
    const band = KINDS["a band"] as Make;
    const A = tableOf(band);
    for (const at of [0, 5, 31, 40, N - 1]) {
      const x = vector((i) => (i === at ? special : 1));
      for (const layout of LAYOUTS.slice(0, 2))
        await onAll(
          gemvCheck(
            1,
            A,
            x,
            0,
            vector(() => 0),
            false,
            layout,
          ),
          `x[${at}]`,
        );
      const B = tableOf((r, i, j) => (i === at && j === 7 ? special : band(r, i, j)));
      await onAll(gemmCheck(1, A, B, 0, A), "in B");
      await onAll(gemmCheck(1, B, A, 0, A), "in A");
    }
    await onAll(gemmCheck(special, A, A, 0, A), "alpha");
    await onAll(
      gemvCheck(
        special,
        A,
        vector(() => 1),
        0,
        vector(() => 0),
      ),
      "alpha",
    );
  });
});

// The pivots fall below what binary64 resolves of the entries, at once or step by step: sums continue on finer grids.
describe(`exlu of columns that nearly depend on those before them, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);
  const ORDER = 144; // four blocks of columns, and a half
  const columns = (make: () => number) => range(ORDER).map(() => range(ORDER).map(make));
  const falling = (rate: number): Make => {
    const [left, right] = [columns(() => random.signed()), columns(() => random.signed())];
    return (_, i, j) => range(ORDER).reduce((sum, k) => sum + (left[i]?.[k] ?? 0) * (right[k]?.[j] ?? 0) * 2 ** (-rate * k), 0);
  };
  const kinds: Record<string, Make> = {
    "Hilbert's matrix": (_, i, j) => 1 / (i + j + 1),
    "Hilbert's matrix, columns of unlike magnitude": (_, i, j) => 2 ** (((j * 37) % 60) - 30) / (i + j + 1),
    "Vandermonde's matrix": (_, i, j) => ((i + 1) / ORDER) ** j,
    "fast decay": falling(3),
    "slow decay": falling(0.5),
    "tiny entries": (_, i, j) => 2 ** -700 / (i + j + 1),
    "large entries": (_, i, j) => 2 ** 900 / (i + j + 1),
    "a large entry among small ones": (_, i, j) => (i === ORDER - 20 && j === ORDER - 3 ? 2 ** 40 : 1 / (i + j + 1)),
  };

  test.each(Object.entries(kinds))("%s", async (kind, make) => {
    const values = vectorOf(
      "binary64",
      range(ORDER ** 2).map((k) => make(random, Math.floor(k / ORDER), k % ORDER)),
    );
    await onAll(luCheck({ rows: ORDER, cols: ORDER, values }), kind);
  });
});

// The workspace still has the records of the columns of Hilbert's matrix, in which sums continued on finer grids.
test(`exlu of columns that overflow, after Hilbert's matrix, HALFULP_SEED=${SEED}`, async () => {
  const random = new Random(SEED);
  const tableOf = (n: number, entry: (i: number, j: number) => number): Table => ({
    rows: n,
    cols: n,
    values: Float64Array.from(range(n * n), (k) => entry(Math.floor(k / n), k % n)),
  });
  const hilbert = luCheck(tableOf(100, (i, j) => 1 / (i + j + 1)));
  for (const n of [40, 84, 96]) {
    for (let at = 0; at < n; at += 11) {
      // One column is large in all rows, and in some matrices a later one is zero.
      const zero = at % 2 ? at + 5 : -1;
      const A = tableOf(n, (_, j) => (j === zero ? 0 : random.signed() * (j === at ? 2 ** 1023 : 1)));
      await onAll(hilbert, "before");
      await onAll(luCheck(A), `column ${at}`);
    }
  }
});
