// exspmv on every engine, against the oracle: rows that can be checked by hand, random matrices of every shape in every way to store
// them, long rows, grids and webs that workers share, the matrices in shared/, and residents.

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Format, Real, Sparse } from "../../src/arrays/types.ts";
import { csc, csr, elasticity, exgemv, laplacian, matrix, powerLaw, readMatrixMarket, toCsc } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { cases, FULL, PATTERNS, SEED } from "../effort.ts";
import { type AnyRoutines, describeEngines, ENGINES, type Row, SELECTED_ENGINES } from "../engines.ts";
import { permutation } from "../generators.ts";
import { storedBits } from "../hex.ts";
import { coin, formatOf, numbers, pick, vectorOf, wantedBits } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { spmv } from "../oracles/spmv.ts";
import { same } from "./checks.ts";
import { anySparse, denseOf, type Product, productWith } from "./patterns.ts";

const { NaN: NAN, POSITIVE_INFINITY: INF, MIN_VALUE: TINY, MAX_VALUE: MAX } = Number;
const U = 2 ** -53;

/** A product with its answer. */
interface Case extends Product {
  readonly label: string;
  readonly want: readonly number[];
}

const answer = ({ A, trans, alpha, x, beta, y }: Product): number[] => spmv(alpha, A, x, beta, y, trans, formatOf(x));
function caseOf(of: Product, label: string): Case {
  const { A, trans, rows, cols, alpha, beta, x } = of;
  return {
    ...of,
    label: `${label}, ${rows} by ${cols} ${A.format} ${formatOf(x)} trans ${trans} alpha ${alpha} beta ${beta}`,
    want: answer(of),
  };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Real): Buffer => Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
const equal = (x: Real, y: Real): boolean => bytesOf(x).equals(bytesOf(y));

/** The product on an engine, which writes y, returns it, and changes nothing else. */
async function check({ exspmv }: AnyRoutines, { A, trans, alpha, x, beta, y, want, label }: Case): Promise<void> {
  const before = [x.slice(), A.values.slice()] as const;
  const out = y.slice() as Real;
  const result = await exspmv(alpha, A, x, beta, out, trans ? { trans } : undefined);
  if (result !== out) expect.fail(`${label}: another array came back`);
  same(out, want, label);
  if (!(equal(x, before[0]) && equal(A.values, before[1]))) expect.fail(`${label}: an input was written to`);
}

describe("by hand", () => {
  // name, alpha, the entries and what they meet, beta, y, the answer
  const ROWS: [string, number, number[], number[], number, number, number][] = [
    ["nothing", 1, [], [], 1, 7, 7],
    ["nothing, and minus zero", 1, [], [], 1, -0, 0],
    ["nothing, and beta zero", 1, [], [], 0, NAN, 0],
    ["a product", 3, [5], [7], 0, 0, 105],
    ["a tie goes to even, down", 1, [1, U], [1, 1], 0, 0, 1],
    ["a tie goes to even, up", 1, [1 + 2 * U, U], [1, 1], 0, 0, 1 + 4 * U],
    ["a tie and the smallest product above it", 1, [1, U, TINY], [1, 1, TINY], 0, 0, 1 + 2 * U],
    ["a tie that y breaks", 1, [1, U], [1, 1], TINY, TINY, 1 + 2 * U],
    ["a tie that y makes", 1, [1], [1], 1, U, 1],
    ["alpha is inside the one rounding", 1 + 2 * U, [1 - 2 * U], [1], -1, 1, -4 * U * U],
    // (1 + e)^3 - (1 + e)(1 + 2 e) = e^2 + e^3, with e = 2 U
    ["three factors", 1 + 2 * U, [1 + 2 * U, -1], [1 + 2 * U, 1 + 4 * U], 0, 0, 4 * U * U + 8 * U ** 3],
    ["cancellation down to the smallest product", 1, [1e300, 2 ** -500, -1e300], [1e300, 2 ** -500, 1e300], 0, 0, 2 ** -1000],
    ["an exact cancellation", 1, [5, -5], [3, 3], 1, -0, 0],
    ["all ones cancel", 1, [2 - 2 * U, -(2 - 2 * U)], [2 - 2 * U, 2 - 2 * U], 1, 2 - 2 * U, 2 - 2 * U],
    ["an intermediate overflow", 1, [MAX, MAX, -MAX], [2, 2, 2], -1, MAX, MAX],
    ["an overflow that alpha takes back", 2 ** -1000, [MAX], [2 ** 1000], 0, 0, MAX],
    ["an underflow that alpha takes back", 2 ** 1000, [2 ** -1000], [2 ** -1000], 0, 0, 2 ** -1000],
    ["overflow begins at MAX and half a step", 1, [MAX], [1], 1, 2 ** 970, INF],
    ["just below that it does not", 1, [MAX, -TINY], [1, TINY], 1, 2 ** 970, MAX],
    ["half the smallest subnormal is a tie", 0.5, [TINY], [1], 0, 0, 0],
    ["and its sign stays", -0.5, [TINY], [1], 0, 0, -0],
    ["anything more is not", 0.5, [TINY], [1], TINY, TINY, TINY],
    ["stored zeros", 1, [0, -0, 0], [1, 2, 3], -1, -7, 7],
    ["a stored zero and an infinity", 1, [0], [INF], 0, 0, NAN],
    ["a NaN among the entries", 1, [NAN, 1], [1, 1], 0, 0, NAN],
    ["a NaN that alpha leaves out", 0, [NAN, 1], [1, INF], 2, 3, 6],
    ["a NaN that minus zero leaves out", -0, [NAN, 1], [1, INF], -0, NAN, 0],
    ["an infinite alpha", -INF, [1, 2], [1, 1], 1, 5, -INF],
    ["an infinite alpha and a zero", INF, [0, 2], [1, 1], 1, 5, NAN],
    ["a NaN for alpha", NAN, [1], [1], 1, 5, NAN],
    ["a NaN for alpha and no entry", NAN, [], [], 1, 5, 5],
    ["a NaN for beta", 1, [1], [1], NAN, 0, NAN],
    ["an infinite beta", 1, [1], [1], -INF, 2, -INF],
    ["an infinite beta and a zero", 1, [1], [1], INF, 0, NAN],
    ["infinities of both signs", 1, [INF, 1], [1, -INF], 0, 0, NAN],
    ["infinities of one sign", 1, [INF, -1], [1, -INF], 1, INF, INF],
    ["finite terms past the range beside an infinity", 1, [MAX, INF], [-MAX, 1], 0, 0, INF],
  ];

  // The row alone, and many times; its entries meet the first elements of x.
  const products = ROWS.flatMap(([name, alpha, values, x, beta, y, want]) =>
    (FULL ? [1, 70] : [35]).map((copies): Case => {
      const m = x.length;
      const A = csr(
        copies,
        m,
        Int32Array.from(range(copies + 1), (i) => i * m),
        Int32Array.from(range(copies * m), (p) => p % m),
        Float64Array.from(range(copies * m), (p) => values[p % m] as number),
      );
      const [right, result] = [new Array(copies).fill(y), new Array(copies).fill(want)];
      const of = { A, trans: false, rows: copies, cols: m, alpha, x: Float64Array.from(x), beta, y: Float64Array.from(right) };
      return { ...of, label: name, want: result };
    }),
  );
  const turned = products.map((of, k): Case => {
    const by = toCsc(of.A as Sparse);
    // The same by columns; as the transpose of its transpose; and as that by columns.
    const flipped = { ...by, format: "csr", rows: by.cols, cols: by.rows } as const;
    if (k % 3 === 0) return { ...of, A: by };
    if (k % 3 === 1) return { ...of, A: flipped, trans: true };
    return { ...of, A: { ...of.A, format: "csc", rows: of.cols, cols: of.rows }, trans: true };
  });

  test("the oracle agrees", () => {
    for (const of of [...products, ...turned])
      expect(wantedBits(answer(of), "binary64"), of.label).toEqual(wantedBits(of.want, "binary64"));
  });

  describeEngines("rows", (routines) => {
    test("are what they should be", async () => {
      for (const of of [...products, ...turned]) await check(routines, of);
    });

    test("binary32 is rounded once, not through binary64", async () => {
      // 1 + 2^-24 is a tie of binary32; 2^-80 above it vanishes in binary64
      const A = csr(1, 3, Int32Array.of(0, 3), Int32Array.of(0, 1, 2), Float32Array.of(1, 2 ** -24, 2 ** -40));
      const x = Float32Array.of(1, 1, 2 ** -40);
      for (const stored of [A, toCsc(A)]) {
        const y = Float32Array.of(0);
        expect(await routines.exspmv(1, stored, x, 0, y)).toEqual(Float32Array.of(1 + 2 ** -23));
        await routines.exspmv(1, stored, Float32Array.of(1, 1, 0), 2 ** -90, y);
        expect(y).toEqual(Float32Array.of(1 + 2 ** -23));
        // alpha is a binary64 number
        await routines.exspmv(1 + 2 ** -52, stored, Float32Array.of(1, 1, 0), 0, y);
        expect(y).toEqual(Float32Array.of(1 + 2 ** -23));
      }
    });

    test("no rows, no columns, no entries", async () => {
      for (const [rows, cols] of [
        [0, 0],
        [0, 3],
        [3, 0],
        [3, 3],
      ] as const)
        for (const [make, lines] of [
          [csr, rows],
          [csc, cols],
        ] as const)
          for (const trans of [false, true]) {
            const A = make(rows, cols, new Int32Array(lines + 1), new Int32Array(0), new Float64Array(0));
            const [m, n] = trans ? [cols, rows] : [rows, cols];
            const y = Float64Array.from(range(m), (i) => -i);
            same((await routines.exspmv(NAN, A, new Float64Array(n).fill(NAN), -2, y, { trans })) as Real, [0, 2, 4].slice(0, m), "none");
          }
    });
  });
});

describe(`random matrices, HALFULP_SEED=${SEED}`, () => {
  function size(random: Random): number {
    const which = random.below(100);
    if (which < 3) return 100 + random.below(200);
    if (which < 20) return pick(random, [15, 16, 17, 31, 32, 33, 63, 64, 65]);
    return random.below(12);
  }

  // Each case, and it again in one of the ways that must not matter or that the answer follows.
  function variant(random: Random, k: number, of: Product): Product {
    const { A } = of;
    if (k % 4 === 0) return { ...of, alpha: -of.alpha, beta: -of.beta };
    if (k % 4 === 1) return { ...of, alpha: of.alpha * 2 ** (random.below(80) - 40), beta: of.beta * 2 ** (random.below(80) - 40) };
    if (k % 4 === 2) return { ...of, A: { ...A, values: A.values.map((v) => -v) as Real }, x: of.x.map((v) => -v) as Real };
    // Lines in another order within themselves.
    const order = range(A.pointers.length - 1).flatMap((line) => {
      const from = A.pointers[line] as number;
      return Array.from(permutation(random, (A.pointers[line + 1] as number) - from), (at) => from + at);
    });
    const indices = Int32Array.from(order, (p) => A.indices[p] as number);
    const values = vectorOf(
      formatOf(A.values),
      order.map((p) => A.values[p] as number),
    );
    return { ...of, A: { ...A, indices, values } };
  }

  const all = range(PATTERNS / 2).flatMap((k) => {
    const random = new Random(SEED * 2 ** 20 + k);
    const format = random.below(3) === 0 ? "binary32" : "binary64";
    const of = productWith(random, anySparse(random, size(random), size(random), format));
    return [caseOf(of, `matrix ${k}`), caseOf(variant(random, k, of), `matrix ${k} again`)];
  });

  describeEngines("products", (routines, row) => {
    const step = SELECTED_ENGINES.includes(row) ? Math.ceil(row.every / 4) : 8;
    const mine = all.filter((_, k) => k % step === 0);
    test(`of ${mine.length} matrices`, async () => {
      for (const of of mine) await check(routines, of);
    });
  });

  test("are those of exgemv, where all is finite", () => {
    let compared = 0;
    for (const { A, trans, rows, cols, alpha, x, beta, y, want, label } of all) {
      if (![alpha, ...A.values, ...x].every(Number.isFinite) || rows * cols > 3000) continue;
      const entry = denseOf(A, trans);
      const values = range(rows * cols).map((at) => entry(Math.floor(at / cols), at % cols) ?? 0);
      const D = matrix(vectorOf(formatOf(x), values) as Float64Array, rows, cols);
      same(exgemv(alpha, D, x as Float64Array, beta, y.slice() as Float64Array), want, label);
      compared++;
    }
    expect(compared).toBeGreaterThan(all.length / 4);
  });
});

describe(`long rows and large matrices, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED + 1);
  const ways = [
    ["csr", false],
    ["csc", false],
    ["csr", true],
    ["csc", true],
  ] as const;

  // One row of 100,000 entries among short ones, some of which are empty.
  function withLongRow(k: number, format: Format): Case {
    const [by, trans] = ways[k % 4] as (typeof ways)[number];
    const cols = 100_000;
    const rows = 40;
    const long = random.below(rows);
    const lines = range(rows).map((i) => (i === long ? range(cols) : range(random.below(4)).map((p) => random.below(3) + 3 * p + 7 * i)));
    const pointers = new Int32Array(rows + 1);
    for (const [i, line] of lines.entries()) pointers[i + 1] = (pointers[i] as number) + line.length;
    const indices = Int32Array.from(lines.flat());
    const values = numbers(random, indices.length, format, pick(random, ["narrow", "wide", "ones", "ties"]));
    const A = csr<Real>(rows, cols, pointers, indices, values);
    const other = by === "csr" ? A : toCsc(A);
    // The transpose of its transpose: by the other kind of lines.
    const stored = trans ? { ...other, format: by === "csr" ? "csc" : "csr", rows: cols, cols: rows } : other;
    const x = numbers(random, cols, format, pick(random, ["narrow", "wide", "ones", "bits"]));
    const of = { A: stored as Sparse<Real>, trans, rows, cols, alpha: pick(random, [1, -3]), x, beta: 1, y: numbers(random, rows, format) };
    return caseOf(of, `long row ${k}`);
  }
  // Half of the row takes the other half back but for little.
  function cancelling(): Case {
    const of = withLongRow(0, "binary64");
    const { A, x } = of;
    const at = A.pointers.findIndex((p, i) => (A.pointers[i + 1] as number) - p === of.cols);
    const from = A.pointers[at] as number;
    for (const j of range(of.cols / 2)) {
      x[of.cols - 1 - j] = x[j] as number;
      A.values[from + of.cols - 1 - j] = -(A.values[from + j] as number) * (j % 1000 === 0 ? 1 + 2 ** -52 : 1);
    }
    return caseOf(of, "a long row that cancels");
  }
  const longs = [...range(4).map((k) => withLongRow(k, k === 2 ? "binary32" : "binary64")), cancelling()];

  const shared = [
    laplacian(61, 50),
    laplacian(11, 12, 13, 27),
    elasticity(20, 21),
    powerLaw(3000, 24_000, 5),
    powerLaw(2000, 40_000, 6),
  ].flatMap((A, k) =>
    ways
      .filter((_, way) => FULL || (way + k) % 2 === 0)
      .map(([by, trans], way): Case => {
        const format = (k + way) % 3 === 0 ? "binary32" : "binary64";
        const single = { ...A, values: vectorOf(format, A.values) } as Sparse<Real>;
        const x = numbers(random, A.rows, format, pick(random, ["narrow", "integers", "wide"]));
        const y = numbers(random, A.rows, format, pick(random, ["narrow", "integers"]));
        const of = {
          A: by === "csr" ? single : toCsc(single),
          trans,
          rows: A.rows,
          cols: A.rows,
          alpha: -1,
          x,
          beta: pick(random, [0, 1, 0.5]),
          y,
        };
        return caseOf(of, `matrix ${k}`);
      }),
  );

  describeEngines("products", (routines, row) => {
    // In the quick suite pools that differ in their number of threads only take turns.
    const mine = (all: readonly Case[]): Case[] =>
      all.filter((_, k) => FULL || SELECTED_ENGINES.includes(row) || (k + row.threads) % 3 === 0);
    test("with a row of 100,000 entries", async () => {
      for (const of of mine(longs)) await check(routines, of);
    });
    test("of grids and webs", async () => {
      for (const of of mine(shared)) await check(routines, of);
    });
  });
});

test("an entry that is there twice is refused", () => {
  const [pointers, indices, values] = [Int32Array.of(0, 3, 4), Int32Array.of(1, 0, 1, 0), Float64Array.of(1, 2, 3, 4)];
  expect(() => csr(2, 2, pointers, indices, values)).toThrow("csr: indices[2] is 1, which row 0 has already at 0");
  expect(() => csc(2, 2, pointers, indices, values)).toThrow("csc: indices[2] is 1, which column 0 has already at 0");
});

const FOLDER = ["../../shared/", "../../../shared/"].map((at) => new URL(`${at}matrices/`, import.meta.url)).find((at) => existsSync(at));

describe.skipIf(FOLDER === undefined)(`the matrices in shared/${FOLDER ? "" : " (which is not here)"}, HALFULP_SEED=${SEED}`, () => {
  const NAMES = [
    "adder_dcop_05",
    "bcsstk13",
    "cryg2500",
    "hangGlider_2",
    "mahindas",
    "nnc1374",
    "rajat01",
    "reorientation_1",
    "watt_2",
    "west0479",
  ];
  const random = new Random(SEED + 4);
  const load = async (name: string): Promise<Case[]> => {
    const A = (await readMatrixMarket(readFileSync(new URL(`${name}.mtx`, FOLDER), "latin1"))) as Sparse;
    return range(FULL ? 4 : 2).map((k) => {
      const trans = coin(random);
      const [rows, cols] = trans ? [A.cols, A.rows] : [A.rows, A.cols];
      const x = numbers(random, cols, "binary64", pick(random, ["narrow", "integers", "bits"]));
      const of = { A: k % 2 ? toCsc(A) : A, trans, rows, cols, alpha: 1, x, beta: -1, y: numbers(random, rows, "binary64", "narrow") };
      return caseOf(of, name);
    });
  };
  const loaded = FOLDER ? Promise.all(NAMES.map(load)) : Promise.resolve([]);
  describeEngines("products", (routines, row) => {
    test("every row", async () => {
      const turn = ENGINES.indexOf(row);
      for (const [k, of] of (await loaded).flat().entries()) if (FULL || (k + turn) % 3 === 0) await check(routines, of);
    });
  });
});

describeEngines("exspmv as it is called", (routines, row) => {
  const random = new Random(SEED + 5);
  const make = (k: number): Case =>
    caseOf(
      productWith(random, anySparse(random, 50, 40, k % 2 ? "binary32" : "binary64", "few", k % 4 < 2 ? "csr" : "csc", k % 8 < 4)),
      `call ${k}`,
    );

  test("arrays that were made without csr() are checked, and do", async () => {
    const of = make(0);
    await check(routines, { ...of, A: { ...of.A } });
  });

  test("x may be the same array as another argument that is only read, and y may lie beside it", async () => {
    const both = new Float64Array(100);
    both.set(Float64Array.from(range(50), () => random.signed()));
    const A = laplacian(10, 5);
    const want = spmv(1, A, both.slice(0, 50), 0, both.slice(50), false, "binary64");
    same((await routines.exspmv(1, A, both.subarray(0, 50), 0, both.subarray(50))) as Real, want, "side by side");
  });

  if (row.opened === undefined) return;

  test("inputs are read before the call returns, and y is written when it resolves", async () => {
    for (const k of range(4)) {
      const { A, trans, alpha, x, beta, y, want, label } = make(k);
      const [values, vector, out] = [A.values.slice() as Real, x.slice() as Real, y.slice() as Real];
      const engine = (await row.opened?.()) as unknown as AnyRoutines;
      const pending = engine.exspmv(alpha, { ...A, values }, vector, beta, out, { trans });
      values.fill(NAN);
      vector.fill(NAN);
      expect(storedBits(out), label).toEqual(storedBits(y));
      await pending;
      same(out, want, label);
    }
  });

  test("residents stand for A, x and y", async () => {
    await withResidents(row, range(cases(16, 8)).map(make));
  });
});

async function withResidents(row: Row, all: readonly Case[]): Promise<void> {
  const engine = (await row.opened?.()) as NonNullable<Awaited<ReturnType<NonNullable<Row["opened"]>>>>;
  const { exspmv } = engine as unknown as { exspmv(...args: unknown[]): Promise<unknown> };
  for (const [k, { A, trans, alpha, x, beta, y, want, label }] of all.entries()) {
    const kept = {
      A: await engine.upload(A as Sparse),
      x: await engine.upload(x as Float64Array),
      y: await engine.upload(y as Float64Array),
    };
    expect(await exspmv(alpha, kept.A, kept.x, beta, kept.y, { trans })).toBe(kept.y);
    same(await kept.y.read(), want, `${label}, all resident`);
    same(await kept.x.read(), x, "x");
    // some of them, in turn
    const out = y.slice() as Real;
    expect(await exspmv(alpha, k % 3 ? kept.A : A, k % 2 ? kept.x : x, beta, out, { trans })).toBe(out);
    same(out, want, `${label}, some resident`);
    // once more on what was written
    const again = spmv(alpha, A, x, 1, Float64Array.from(want), trans, formatOf(x));
    const pending = exspmv(alpha, kept.A, kept.x, 1, kept.y, { trans });
    await expect(exspmv(alpha, kept.A, kept.x, 1, kept.y, { trans })).rejects.toThrow("exspmv: y is a resident that a pending call writes");
    await pending;
    same(await kept.y.read(), again, `${label}, twice`);
    for (const resident of Object.values(kept)) resident.free();
    await expect(exspmv(alpha, A, kept.x, beta, out, { trans })).rejects.toThrow("exspmv: x is a resident that was freed");
  }
}
