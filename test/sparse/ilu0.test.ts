// ilu0 against its definition in rational arithmetic, and the matrices that it refuses.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { csc, csr, toCsc, toCsr } from "../../src/arrays/sparse.ts";
import { readMatrixMarket } from "../../src/files/matrixMarket.ts";
import { exlu, ilu0, matrix, type Real, type Sparse } from "../../src/index.ts";
import { elasticity } from "../../src/problems/elasticity.ts";
import { illConditionedMatrix } from "../../src/problems/illConditionedMatrix.ts";
import { laplacian } from "../../src/problems/laplacian.ts";
import { powerLaw } from "../../src/problems/powerLaw.ts";
import { Random } from "../../src/study.ts";
import { caught } from "../caught.ts";
import { storedBits } from "../hex.ts";
import { formatOf, pick, vectorOf } from "../matrices.ts";
import { negated, product, quotient, range, rounded, sum, value } from "../oracles/matrices.ts";
import { full, random } from "./ilu0Cases.ts";

type Entries = ReadonlyMap<number, number>[]; // by rows: column to number

function rowsOf(A: Sparse<Real>): Entries {
  const rows = range(A.rows).map(() => new Map<number, number>());
  for (let line = 0; line < A.pointers.length - 1; line++)
    for (let p = A.pointers[line] as number; p < (A.pointers[line + 1] as number); p++) {
      const [i, j] = A.format === "csr" ? [line, A.indices[p] as number] : [A.indices[p] as number, line];
      rows[i]?.set(j, A.values[p] as number);
    }
  return rows;
}

/** The definition, entry by entry in whatever order they are asked for; NaN where a pivot it needs is zero. */
function definition(A: Sparse<Real>): (i: number, j: number) => number {
  const rows = rowsOf(A);
  const format = formatOf(A.values);
  const known = rows.map(() => new Map<number, number>());
  return function entry(i: number, j: number): number {
    const cached = known[i]?.get(j);
    if (cached !== undefined) return cached;
    const both = [...(rows[i] as ReadonlyMap<number, number>).keys()].filter((k) => k < Math.min(i, j) && rows[k]?.has(j));
    const terms = both.map((k) => negated(product(value(entry(i, k)), value(entry(k, j)))));
    const s = rounded(sum([value(rows[i]?.get(j) as number), ...terms]), format);
    const u = i > j ? entry(j, j) : 1;
    const v = i <= j || !Number.isFinite(s) ? s : u === 0 ? Number.NaN : quotient(value(s), value(u), format);
    known[i]?.set(j, v);
    return v;
  };
}

const outcomes = { factored: 0, singular: 0, overflow: 0 };

function expectDefinition(A: Sparse<Real>): void {
  const entry = definition(A);
  const place = (line: number, index: number): [number, number] => (A.format === "csr" ? [line, index] : [index, line]);
  const wanted = range(A.rows).flatMap((line) =>
    Array.from(A.indices.subarray(A.pointers[line], A.pointers[line + 1]), (index) => entry(...place(line, index))),
  );
  const stays = storedBits(A.values);
  const pivots = range(A.rows).map((i) => entry(i, i));
  if (wanted.every(Number.isFinite) && !pivots.includes(0)) {
    const factors = ilu0(A);
    expect(storedBits(factors.values)).toEqual(storedBits(vectorOf(formatOf(A.values), wanted)));
    expect([factors.format, factors.rows, factors.cols]).toEqual([A.format, A.rows, A.cols]);
    expect([factors.pointers, factors.indices]).toEqual([A.pointers, A.indices]);
    outcomes.factored++;
  } else {
    const error = caught(() => ilu0(A)) as { name: string; index: number; row: number; column: number };
    if (error.name === "SingularError") {
      expect(Math.abs(entry(error.index, error.index))).toBe(0);
      outcomes.singular++;
    } else {
      expect(error.name).toBe("ValueError");
      expect(Math.abs(entry(error.row, error.column))).toBe(Number.POSITIVE_INFINITY);
      outcomes.overflow++;
    }
  }
  expect(storedBits(A.values)).toEqual(stays);
}

describe("ilu0 has the bits of its definition", () => {
  test.each(["binary64", "binary32"] as const)("on random patterns, %s", (format) => {
    const source = new Random(format === "binary64" ? 41 : 42);
    Object.assign(outcomes, { factored: 0, singular: 0, overflow: 0 });
    for (let k = 0; k < 1500; k++) {
      const n = source.below(k % 50 === 0 ? 30 : 10);
      const density = pick(source, [0, 0.1, 0.3, 0.6, 1]);
      expectDefinition(random(source, n, density, format, pick(source, ["csr", "csc"]), source.below(2) === 0));
    }
    expect(outcomes.factored).toBeGreaterThan(900);
    expect(outcomes.singular).toBeGreaterThan(20);
    expect(outcomes.overflow).toBeGreaterThan(20);
  });

  test("on problems of grids and webs", () => {
    const problems = [
      laplacian(7, 6),
      laplacian(5, 6, undefined, 9),
      laplacian(4, 3, 5),
      laplacian(4, 4, 4, 27),
      elasticity(4, 3),
      elasticity(2, 2, 3),
      powerLaw(60, 300, 1),
      powerLaw(40, 900, 2),
    ];
    for (const A of problems) {
      expectDefinition(A);
      expectDefinition(toCsc(A));
      expectDefinition(csr(A.rows, A.cols, A.pointers, A.indices, Float32Array.from(A.values)));
    }
  });

  // Rows of A are scaled versions of one another but for the last bits: nearly everything cancels.
  test("where nearly everything cancels", () => {
    for (let seed = 0; seed < 4; seed++) expectDefinition(full(illConditionedMatrix(12, 1e40, seed).data, 12));
    const source = new Random(5);
    for (let k = 0; k < 40; k++) {
      const [x, y] = [0, 1].map(() => range(6).map(() => source.signed()));
      const close = range(36).map((p) => (x?.[Math.floor(p / 6)] as number) * (y?.[p % 6] as number) * (1 + source.below(3) * 2 ** -52));
      expectDefinition(full(Float64Array.from(close), 6));
      expectDefinition(full(Float32Array.from(close), 6));
    }
  });

  // The last row times the last column, in this order: 1 and -1 are lost twice on the way, and 2^-60 beside them.
  test("where what is left was lost on the way", () => {
    const terms = [2 ** 120, 2 ** 60, 1, 2 ** -60, -1, -(2 ** 60), -(2 ** 120), 0];
    const table = terms.flatMap((_, i) => (i < 7 ? terms.map((_, j) => Number(i === j || j === 7)) : terms));
    const both: Sparse<Real>[] = [full(Float64Array.from(table), 8), full(Float32Array.from(table), 8)];
    for (const A of both) {
      expect(ilu0(A).values[63]).toBe(-(2 ** -60));
      expect(ilu0(toCsc(A)).values[63]).toBe(-(2 ** -60));
      expectDefinition(A);
    }
  });

  test("where products underflow, and where the sums of them round to zero", () => {
    const source = new Random(6);
    for (const scale of [2 ** -537, 2 ** -520, 2 ** -500, 2 ** -480, 2 ** -1060]) {
      for (let k = 0; k < 20; k++) {
        const values = Float64Array.from({ length: 16 }, (_, p) => (p % 5 === 0 ? 1 : scale * source.signed()));
        expectDefinition(full(values, 4));
      }
    }
    // l_10 u_01 = 2^-1200, and 0 - 2^-1200 is stored as -0; -0 / u is an exact zero again
    const A = full(Float64Array.of(1, 2 ** -600, 0, 2 ** -600, 1, 0, 2 ** -600, 0, 1), 3);
    expect(storedBits(ilu0(A).values)[7]).toBe("0000000000000000");
    expect(storedBits(ilu0(toCsc(A)).values)[5]).toBe("0000000000000000");
    const upper = full(Float64Array.of(1, 0, 2 ** -600, 2 ** -600, 1, 0, 0, 0, 1), 3);
    expect(storedBits(ilu0(upper).values)[5]).toBe("8000000000000000");
    expectDefinition(A);
    expectDefinition(upper);
  });

  // The first line is so long that it is searched, not read, in the others.
  test("of an arrow, where one line is much longer than the others", () => {
    const n = 200;
    const lines = range(n).map((i) => (i === 0 ? range(n) : i % 3 === 0 && i > 1 ? [0, i - 1, i] : [0, i]));
    const pointers = Int32Array.from([0, ...lines.map((_, i) => lines.slice(0, i + 1).flat().length)]);
    const indices = Int32Array.from(lines.flat());
    const source = new Random(7);
    const values = Float64Array.from(indices, (j, p) => (j === 0 || p < n ? source.signed() : 3 + source.signed()));
    expectDefinition(csr(n, n, pointers, indices, values));
    expectDefinition(csc(n, n, pointers, indices, values));
  });
});

describe("ilu0", () => {
  test("by hand", () => {
    // row 1: l = 1/2, u = 5 - 2/2; row 2 has no (2, 0), and (1, 2) no counterpart in row 0: l = 8/4, u = 9 - 2 * 3
    const A = csr(3, 3, Int32Array.of(0, 2, 5, 7), Int32Array.of(0, 1, 0, 1, 2, 1, 2), Float64Array.of(2, 2, 1, 5, 3, 8, 9));
    expect(ilu0(A).values).toEqual(Float64Array.of(2, 2, 0.5, 4, 3, 2, 3));
    expect(ilu0(toCsc(A)).values).toEqual(Float64Array.of(2, 0.5, 2, 4, 2, 3, 3));
  });

  test("of a full pattern is exlu where that exchanges no rows", () => {
    const source = new Random(8);
    for (const type of [Float64Array, Float32Array] as const)
      for (const n of [1, 2, 5, 40]) {
        const values = new type(range(n * n).map((p) => source.signed() + (p % (n + 1) === 0 ? n : 0))) as Float64Array;
        const { lu, pivots } = exlu(matrix(values, n, n));
        expect(Array.from(pivots)).toEqual(range(n));
        const factors = ilu0(full(values, n));
        expect(storedBits(factors.values)).toEqual(storedBits(lu.data));
        expect(storedBits(toCsr(ilu0(toCsc(full(values, n)))).values)).toEqual(storedBits(lu.data));
      }
  });

  test("of a tridiagonal pattern, where there is no fill to leave out, is exlu too", () => {
    const A = laplacian(30, 1);
    const table = new Float64Array(900);
    rowsOf(A).forEach((row, i) => {
      for (const [j, v] of row) table[i * 30 + j] = v;
    });
    const { lu } = exlu(matrix(table, 30, 30));
    rowsOf(ilu0(A)).forEach((row, i) => {
      for (const [j, v] of row) expect(v).toBe(lu.data[i * 30 + j]);
    });
  });

  test("by columns is the same as by rows, and the order within a line does not matter", () => {
    const source = new Random(9);
    for (let k = 0; k < 30; k++) {
      const A = random(source, 20, 0.3, "binary64", "csr", false) as Sparse;
      for (let i = 0; i < 20; i++)
        for (let p = A.pointers[i] as number; p < (A.pointers[i + 1] as number); p++)
          A.values[p] = A.indices[p] === i ? 4 + source.signed() : source.signed();
      const sorted = toCsr(toCsc(A));
      const wanted = storedBits(ilu0(sorted).values);
      expect(storedBits(toCsr(ilu0(toCsc(A))).values)).toEqual(wanted);
      const unsorted = ilu0(A);
      expect(unsorted.indices).toEqual(A.indices);
      expect(storedBits(toCsr(toCsc(unsorted)).values)).toEqual(wanted);
    }
  });

  test("of no rows, of one, and of a diagonal", () => {
    expect(ilu0(csr(0, 0, Int32Array.of(0), new Int32Array(0), new Float64Array(0))).values).toEqual(new Float64Array(0));
    expect(ilu0(csc(0, 0, Int32Array.of(0), new Int32Array(0), new Float32Array(0))).values).toEqual(new Float32Array(0));
    expect(ilu0(csr(1, 1, Int32Array.of(0, 1), Int32Array.of(0), Float64Array.of(0.1))).values).toEqual(Float64Array.of(0.1));
    const diagonal = csr(3, 3, Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 1, 2), Float32Array.of(3, -5, 1e-45));
    expect(ilu0(diagonal).values).toEqual(Float32Array.of(3, -5, 1e-45));
  });

  test("an entry that is only copied is +0 where it is zero", () => {
    const A = csr(2, 2, Int32Array.of(0, 2, 3), Int32Array.of(0, 1, 1), Float64Array.of(1, -0, 1));
    expect(storedBits(ilu0(A).values)[1]).toBe("0000000000000000");
    const below = csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), Float64Array.of(-1, 0, 1));
    expect(storedBits(ilu0(below).values)[1]).toBe("0000000000000000");
    expect(storedBits(ilu0(toCsc(below)).values)[1]).toBe("0000000000000000");
  });

  test("quotients in binary32 are rounded once, subnormal ones too", () => {
    const source = new Random(10);
    for (let k = 0; k < 2000; k++) {
      const size = (): number => Math.fround(source.signed() * 2 ** pick(source, [0, 40, -100, -120, -140]));
      const values = Float32Array.of(size() || 1, size(), 1);
      expectDefinition(csr(2, 2, Int32Array.of(0, 1, 3), Int32Array.of(0, 0, 1), values));
    }
  });

  test("a matrix made by hand is checked, the result is not checked again", () => {
    const A = { ...laplacian(3, 3) };
    const factors = ilu0(A);
    expect(storedBits(factors.values)).toEqual(storedBits(ilu0(laplacian(3, 3)).values));
    expect(Object.isFrozen(factors)).toBe(true);
    expect(factors.values).not.toBe(A.values);
    expect(caught(() => ilu0({ ...A, indices: A.indices.map(() => 0) }))).toMatchObject({
      name: "PatternError",
      message: "ilu0: A.indices[1] is 0, which row 0 has already at 0",
    });
  });
});

describe("ilu0 refuses", () => {
  const pattern = [Int32Array.of(0, 2, 4), Int32Array.of(0, 1, 0, 1)] as const;

  test("what is no square sparse matrix", () => {
    expect(caught(() => ilu0(csr(1, 2, Int32Array.of(0, 1), Int32Array.of(0), Float64Array.of(1))))).toMatchObject({
      name: "ShapeError",
      message: "ilu0: A is 1 by 2, expected a square matrix",
    });
    expect(caught(() => ilu0(matrix(new Float64Array(4), 2, 2) as never))).toMatchObject({ name: "ShapeError" });
    expect(caught(() => ilu0(Float64Array.of(1) as never))).toMatchObject({
      name: "ShapeError",
      message: "ilu0: A is an object of type Float64Array, expected a sparse matrix (see csr() and csc())",
    });
  });

  test("a diagonal with a missing entry, before anything else", () => {
    const A = csr(3, 3, Int32Array.of(0, 1, 2, 3), Int32Array.of(0, 2, 2), Float64Array.of(0, Number.NaN, 1));
    const error = { name: "SingularError", index: 1, message: "ilu0: A has no entry (1, 1), expected a full diagonal" };
    expect(caught(() => ilu0(A))).toMatchObject(error);
    expect(caught(() => ilu0(toCsc(A)))).toMatchObject(error);
  });

  test("entries that are not finite, before work begins", () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const error = { name: "ValueError", row: 1, column: 0, message: `ilu0: entry (1, 0) of A is ${bad}, expected a finite number` };
      expect(caught(() => ilu0(csr(2, 2, ...pattern, Float64Array.of(0, 1, bad, 1))))).toMatchObject(error);
      expect(caught(() => ilu0(csc(2, 2, ...pattern, Float32Array.of(0, bad, 1, 1))))).toMatchObject(error);
    }
    const last = csr(2, 2, Int32Array.of(0, 1, 2), Int32Array.of(0, 1), Float64Array.of(1, Number.NaN));
    expect(caught(() => ilu0(last))).toMatchObject({ row: 1, column: 1 });
  });

  test("zero pivots, with the row", () => {
    const message = "ilu0: the pivot of row 1 is 0, expected another number (rows are not exchanged)";
    for (const make of [csr, csc] as const) {
      expect(caught(() => ilu0(make(2, 2, ...pattern, Float64Array.of(1, 2, 2, 4))))).toMatchObject({
        name: "SingularError",
        index: 1,
        message,
      });
      expect(caught(() => ilu0(make(2, 2, ...pattern, Float32Array.of(-0, 2, 2, 4))))).toMatchObject({ name: "SingularError", index: 0 });
    }
  });

  test("entries that overflow, with their place", () => {
    const message = (i: number, j: number) => `ilu0: entry (${i}, ${j}) of the factors of A overflows, expected a finite number`;
    const large = csr(2, 2, ...pattern, Float64Array.of(1, -1e308, 1, 1e308));
    const quotient = csr(2, 2, ...pattern, Float32Array.of(1e-20, 1, 1e20, 1));
    for (const turned of [toCsr, toCsc] as const) {
      expect(caught(() => ilu0(turned(large)))).toMatchObject({ name: "ValueError", row: 1, column: 1, message: message(1, 1) });
      expect(caught(() => ilu0(turned(quotient)))).toMatchObject({ name: "ValueError", row: 1, column: 0, message: message(1, 0) });
    }
  });
});

const FOLDER = ["../../shared/", "../../../shared/"].map((at) => new URL(`${at}matrices/`, import.meta.url)).find((at) => existsSync(at));

describe.skipIf(FOLDER === undefined)("ilu0 of the matrices in shared/matrices", () => {
  test.each(["adder_dcop_05", "bcsstk13", "cryg2500", "hangGlider_2", "rajat01", "watt_2"])("%s", async (name) => {
    const A = (await readMatrixMarket(readFileSync(new URL(`${name}.mtx`, FOLDER), "latin1"))) as Sparse;
    const missing = rowsOf(A).findIndex((row, i) => !row.has(i));
    for (const turned of [toCsr(A), toCsc(A)])
      if (missing >= 0) expect(caught(() => ilu0(turned))).toMatchObject({ name: "SingularError", index: missing });
      else expectDefinition(turned);
  });
});
