// Exact mode on every engine by every schedule: systems that can be checked by hand, every way to store a triangle, every
// kind of pattern, hard rows, the grids of the sparse paper and the matrices in shared/.

import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Format, Real, Sparse } from "../../src/arrays/types.ts";
import { csc, csr, extrsv, laplacian, matrix, readMatrixMarket, toCsc } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { cases, FULL, SEED, sample } from "../effort.ts";
import { DEVICES, ENGINES, ON_ONE_THREAD, POOLS, SCHEDULES, SCHEDULES_AND_AUTO, SELECTED_ENGINES } from "../engines.ts";
import { numbers, vectorOf } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { caseOf, check, checkAll, same } from "./checks.ts";
import { KINDS, nearTies, PATTERNS, type Storage, stored, systemOn } from "./patterns.ts";

const FORMATS: readonly Format[] = ["binary64", "binary32"];
const { NaN: NAN, POSITIVE_INFINITY: INF, MIN_VALUE: TINY, MAX_VALUE: MAX } = Number;
const U = 2 ** -53;

const TRIANGLES = (["lower", "upper"] as const).flatMap((uplo) =>
  [false, true].flatMap((trans) => [false, true].map((unit) => ({ uplo, trans, unit }))),
);

// Turns of a list, so that neighbours in a loop meet different ones.
function turns<T>(list: readonly T[]): () => T {
  let at = 0;
  return () => list[at++ % list.length] as T;
}

describe("by hand", () => {
  // [2 7 3; 1 4 8; 5 6 9], and (30, 24, 63)
  const full = csr(3, 3, Int32Array.of(0, 3, 6, 9), Int32Array.of(0, 1, 2, 0, 1, 2, 0, 1, 2), Float64Array.of(2, 7, 3, 1, 4, 8, 5, 6, 9));
  const b = Float64Array.of(30, 24, 63);
  const answers: [Storage["uplo"], boolean, boolean, number[]][] = [
    ["lower", false, false, [15, 9 / 4, (63 - 75 - 6 * (9 / 4)) / 9]],
    ["lower", false, true, [30, -6, 63 - 150 + 36]],
    ["upper", false, false, [(30 + 7 * 8 - 21) / 2, -8, 7]],
    ["upper", true, true, [30, 24 - 210, 63 - 90 + 8 * 186]],
    ["lower", true, false, [(30 + 4.5 - 35) / 2, -4.5, 7]],
  ];

  test.each(answers)("%s, trans %s, unit %s", async (uplo, trans, unit, want) => {
    for (const {
      name,
      routines: { sptrsv },
    } of ENGINES)
      for (const schedule of SCHEDULES_AND_AUTO)
        for (const A of [full, toCsc(full)]) {
          const plan = await sptrsv(A, { uplo, trans, unit, schedule });
          same(await plan.solve(b), want, `${schedule} on ${name}, ${A.format}`);
        }
  });

  test("no unknowns, and one", async () => {
    for (const {
      name,
      routines: { sptrsv },
    } of ENGINES)
      for (const schedule of SCHEDULES_AND_AUTO)
        for (const make of [csr, csc]) {
          const none = await sptrsv(make(0, 0, Int32Array.of(0), new Int32Array(0), new Float64Array(0)), { schedule });
          same(await none.solve(new Float64Array(0)), [], name);
          const one = await sptrsv(make(1, 1, Int32Array.of(0, 1), Int32Array.of(0), Float32Array.of(3)), { schedule });
          same(await one.solve(Float32Array.of(1)), [Math.fround(1 / 3)], name);
          await one.update(Float32Array.of(-1));
          same(await one.solve(Float32Array.of(0)), [0], name);
        }
  });
});

describe(`every way to store a triangle, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED);
  const nextKind = turns(KINDS);
  const nextPool = turns(POOLS);
  test.each(FORMATS)("%s", async (format) => {
    for (const part of TRIANGLES)
      for (const by of ["csr", "csc"] as const)
        for (const n of sample([2, 3, 31, 32, 33, 63, 64, 65], 3)) {
          const how = { ...part, by, sorted: random.below(2) === 0, full: random.below(2) === 0 };
          const kind = nextKind();
          const system = systemOn(random, PATTERNS[kind](random, n), format, part.unit, "tame");
          const { A, b } = stored(random, system, how);
          const of = caseOf(A, b, part);
          for (const row of [...ON_ONE_THREAD, ...DEVICES, ...POOLS.slice(0, 2).map(nextPool)]) await checkAll(row, of, kind);
        }
  });
});

describe(`systems that workers share, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED + 1);
  const nextPart = turns(TRIANGLES);
  const nextPool = turns(POOLS);
  test.each(KINDS)("%s, n = 1023 on every pool, 1024 and 1025 on four of them in turn, by every schedule", async (kind) => {
    for (const n of FULL ? [1023, 1024, 1025] : [1023]) {
      const part = nextPart();
      const format = n === 1024 ? "binary32" : "binary64";
      const how = { ...part, by: n === 1025 ? "csc" : "csr", sorted: n !== 1023, full: n !== 1024 } as const;
      const system = systemOn(random, PATTERNS[kind](random, kind === "dense" ? n - 800 : n), format, part.unit, "tame");
      const { A, b } = stored(random, system, how);
      const of = caseOf(A, b, part);
      for (const row of n === 1023 ? ENGINES : POOLS.slice(0, 4).map(nextPool)) await checkAll(row, of, kind);
    }
  });
});

describe(`ties and what is next to them, HALFULP_SEED=${SEED}`, () => {
  const random = new Random(SEED + 2);
  test.each(FORMATS.flatMap((format) => [false, true].map((unit) => [format, unit] as const)))("%s, unit %s", async (format, unit) => {
    const nextPool = turns(POOLS);
    for (const k of range(cases(40))) {
      const part = { ...TRIANGLES[2 * (k % 4)], unit };
      const { A, b } = stored(random, nearTies(random, format, unit), {
        ...part,
        by: k % 3 ? "csr" : "csc",
        sorted: k % 5 > 2,
        full: false,
      });
      const of = caseOf(A, b, part);
      for (const row of [...ON_ONE_THREAD, ...DEVICES]) if (k % row.every === 0) await check(row, of, {}, `system ${k}`);
      for (const row of POOLS.slice(0, 1).map(nextPool)) await checkAll(row, of, `system ${k}`);
    }
  });
});

describe("hard rows", () => {
  const odd = 1 + 2 * U;
  // name, the row's entries and the unknowns they meet, b, the diagonal, the answer
  const rows: [string, number[], number[], number, number, number][] = [
    ["a division", [], [], 1, 3, 1 / 3],
    ["a tie goes to even, down", [-U], [1], 1, 1, 1],
    ["a tie goes to even, up", [-U], [1], odd, 1, 1 + 4 * U],
    ["a tie and the smallest product above it", [-U, -TINY], [1, TINY], 1, 1, 1 + 2 * U],
    ["a tie and the smallest product below it", [-U, TINY], [1, TINY], odd, 1, odd],
    ["a quotient that is a tie, of a sum that is none", [-3 * U], [1], 3, 3, 1],
    ["a quotient of an exact sum of a few numbers", [-1, -1, -1], [1, 2, 4], 1, 6, 8 / 6],
    ["zero divided by a negative number", [], [], 0, -3, 0],
    ["minus zero", [], [], -0, 3, 0],
    ["an exact cancellation", [5], [1], 5, -3, 0],
    ["cancellation down to the smallest product", [-1e300, 2 ** -500, 1e300], [1e300, 2 ** -500, 1e300], 0, 1, -(2 ** -1000)],
    ["entries that are zero", [0, -0, 0], [1, 2, 3], 7, 2, 3.5],
    ["an intermediate overflow", [-MAX, -MAX, MAX], [2, 2, 2], 0, 2, MAX],
    ["a sum that overflows, and a quotient that does not", [-MAX], [1], MAX, 4, MAX / 2],
    ["a quotient that overflows", [], [], MAX, 0.5, INF],
    ["overflow begins at MAX and half a step", [-(2 ** 970)], [1], MAX, 1, INF],
    ["just below that it does not", [-(2 ** 970), TINY], [1, TINY], MAX, 1, MAX],
    ["half the smallest subnormal is a tie", [], [], TINY, 2, 0],
    ["and its sign stays", [], [], TINY, -2, -0],
    ["anything more is not", [-TINY], [TINY], TINY, 2, TINY],
    ["a subnormal tie to even", [], [], 3 * TINY, 2, 2 * TINY],
    ["a NaN among the entries", [NAN], [1], 1, 1, NAN],
    ["a NaN on the diagonal", [1], [1], 5, NAN, NAN],
    ["a NaN that divides zero", [5], [1], 5, NAN, NAN],
    ["an infinity that divides zero", [5], [1], 5, -INF, 0],
    ["a NaN on the right", [1], [1], NAN, 1, NAN],
    ["an infinity", [INF, 1], [2, 3], 1, -1, INF],
    ["an infinity on the right", [], [], INF, -2, -INF],
    ["infinities of both signs", [INF], [2], INF, 1, NAN],
    ["infinities of one sign", [-INF, INF], [2, -3], INF, 1, INF],
    ["an infinity and a zero", [INF], [0], 1, 1, NAN],
    ["a number divided by an infinity", [1], [2], 5, -INF, 0],
    ["an infinity divided by an infinity", [], [], INF, INF, NAN],
    ["finite terms past the range beside an infinity", [-MAX, INF], [MAX, 1], 0, 1, -INF],
  ];

  // The row alone, and many times after one another; the unknowns that it meets come first.
  test.each(rows)("%s", async (_, values, x, right, diagonal, want) => {
    for (const copies of FULL ? [1, 70] : [35]) {
      const m = x.length;
      const n = m + copies;
      const pointers = Int32Array.from(range(n + 1), (i) => (i <= m ? i : m + (i - m) * (m + 1)));
      const indices = Int32Array.from([...range(m), ...range(copies).flatMap((k) => [m + k, ...range(m)])]);
      const entries = Float64Array.from([...x.map(() => 1), ...range(copies).flatMap(() => [diagonal, ...values])]);
      const b = Float64Array.from([...x, ...range(copies).map(() => right)]);
      const A = csr(n, n, pointers, indices, entries);
      const of = caseOf(A, b, {});
      expect(of.want.slice(m)).toEqual(new Array(copies).fill(want));
      for (const row of ENGINES) await checkAll(row, of, "a hard row");
    }
  });

  test("binary32 is rounded once, not through binary64", async () => {
    // 1 + 2^-24 is a tie of binary32; 2^-80 above it vanishes in binary64
    const A = csr(3, 3, Int32Array.of(0, 1, 2, 5), Int32Array.of(0, 1, 0, 1, 2), Float32Array.of(1, 1, -(2 ** -24), -(2 ** -40), 1));
    const b = Float32Array.of(1, 2 ** -40, 1);
    for (const unit of [false, true])
      for (const row of ENGINES) {
        const of = caseOf(A, b, { unit });
        expect(of.want[2]).toBe(1 + 2 ** -23);
        await checkAll(row, of, "binary32");
      }
  });

  test("after an overflow a stored zero makes a NaN, and one that is not stored does not", async () => {
    const b = Float64Array.of(MAX, 1);
    const [without, stored] = [
      [0, 1],
      [0, 0, 1],
    ].map((columns) =>
      csr(
        2,
        2,
        Int32Array.of(0, 1, columns.length),
        Int32Array.from(columns),
        Float64Array.from(columns, (_, p) => (p === 0 ? 0.5 : p === columns.length - 1 ? 1 : 0)),
      ),
    );
    for (const row of ENGINES) {
      const of = caseOf(without as Sparse, b, {});
      expect(of.want).toEqual([INF, 1]);
      await checkAll(row, of, "not stored");
      await checkAll(row, { ...caseOf(stored as Sparse, b, {}) }, "stored");
    }
    expect(caseOf(stored as Sparse, b, {}).want).toEqual([INF, NAN]);
    expect(extrsv(matrix(Float64Array.of(0.5, 0, 0, 1), 2, 2), b)).toEqual(Float64Array.of(INF, NAN));
  });

  test("NaN is stored with one pattern, whichever comes in", async () => {
    for (const type of [Float64Array, Float32Array]) {
      const b = new type(40);
      new Uint8Array(b.buffer).fill(0xff);
      const A = csr<Real>(40, 40, Int32Array.from(range(41)), Int32Array.from(range(40)), b.slice());
      for (const part of [{}, { unit: true }]) for (const row of ENGINES) await checkAll(row, caseOf(A, b, part), "a NaN of ones");
    }
  });
});

describe(`the grids of the sparse paper, HALFULP_SEED=${SEED}`, () => {
  // Its Table 5.1, each side divided by 16 in the plane and by 8 in space; and sides next to these.
  const PLANE = [
    [64, 64],
    [32, 128],
    [16, 256],
    [8, 512],
    [4, 1024],
    [63, 65],
    [33, 17],
  ] as const;
  const SPACE = [
    [16, 16, 16],
    [8, 16, 32],
    [8, 8, 64],
    [4, 8, 128],
    [4, 4, 256],
    [15, 17, 9],
    [33, 5, 3],
  ] as const;
  const GRIDS = [
    ...PLANE.flatMap(([nx, ny]) => [5, 9].map((points) => [nx, ny, 1, points] as const)),
    ...SPACE.flatMap(([nx, ny, nz]) => [7, 27].map((points) => [nx, ny, nz, points] as const)),
  ];
  const random = new Random(SEED + 3);
  const nextPool = turns(POOLS);

  test.each(sample(GRIDS, 3))("%i by %i by %i, %i points, both triangles", async (nx, ny, nz, points) => {
    const L = laplacian(nx, ny, points < 10 && points !== 7 ? undefined : nz, points as 5 | 7 | 9 | 27);
    for (const uplo of ["lower", "upper"] as const) {
      const format = uplo === "lower" ? "binary64" : "binary32";
      const A = { ...L, values: vectorOf(format, L.values) };
      // small integers: many sums are exact and many quotients ties
      const b = vectorOf(
        format,
        range(A.rows).map(() => (random.below(3) > 0 ? random.signed() : random.below(9) - 4)),
      );
      const of = caseOf(uplo === "lower" ? A : toCsc(A), b, { uplo });
      for (const row of uplo === "lower" ? ENGINES : POOLS.slice(0, 3).map(nextPool)) await checkAll(row, of, "a grid");
    }
  });
});

const FOLDER = ["../../shared/", "../../../shared/"].map((at) => new URL(`${at}matrices/`, import.meta.url)).find((at) => existsSync(at));

describe.skipIf(FOLDER === undefined)(`the matrices in shared/${FOLDER ? "" : " (which is not here)"}, HALFULP_SEED=${SEED}`, () => {
  // Diagonal entries that are missing or zero become the sum of the magnitudes in their row, and one.
  function completed(A: Sparse): Sparse {
    const lines = range(A.rows).map((i) => {
      const [from, end] = [A.pointers[i] as number, A.pointers[i + 1] as number];
      const entries = range(end - from).map((p) => [A.indices[from + p] as number, A.values[from + p] as number] as const);
      const others = entries.filter(([j]) => j !== i);
      const diagonal = entries.find(([j]) => j === i)?.[1] || others.reduce((s, [, v]) => s + Math.abs(v), 1);
      return [...others, [i, diagonal] as const];
    });
    const pointers = Int32Array.from([0, ...lines.map((_, i) => lines.slice(0, i + 1).reduce((s, line) => s + line.length, 0))]);
    const flat = lines.flat();
    return csr(
      A.rows,
      A.cols,
      pointers,
      Int32Array.from(flat, ([j]) => j),
      Float64Array.from(flat, ([, v]) => v),
    );
  }

  test.each(["adder_dcop_05", "bcsstk13", "cryg2500", "hangGlider_2", "rajat01", "watt_2"])("%s, both triangles", async (name) => {
    const random = new Random(SEED + 4);
    const A = (await readMatrixMarket(readFileSync(new URL(`${name}.mtx`, FOLDER), "latin1"))) as Sparse;
    const whole = completed(A);
    const triangles = [
      caseOf(A, numbers(random, A.rows, "binary64", "narrow"), { unit: true }),
      caseOf(toCsc(A), numbers(random, A.rows, "binary64", "integers"), { unit: true, uplo: "upper" }),
      caseOf(whole, numbers(random, A.rows, "binary64", "narrow"), { uplo: "upper", trans: true }),
      caseOf(whole, numbers(random, A.rows, "binary64", "integers"), { uplo: "upper" }),
    ];
    for (const of of triangles) for (const row of FULL ? ENGINES : SELECTED_ENGINES) await checkAll(row, of, name);
  });
});

test("the six schedules are there, and six engines of threads at least run them", () => {
  expect(SCHEDULES).toHaveLength(6);
  if (process.env.HALFULP_ENGINES === undefined) expect(POOLS.map(({ threads }) => threads)).toEqual(expect.arrayContaining([1, 2, 16]));
});
