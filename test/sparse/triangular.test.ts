// What csr() and csc() find of matrices that are triangles, against the definition; and that plans which rely on it see every zero.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Shapes } from "../../src/arrays/shapes.ts";
import { patternInfoOf } from "../../src/arrays/sparse.ts";
import { reference } from "../../src/engines/reference/index.ts";
import { csr, type Engine, laplacian, open, SingularError, type Sparse, sptrsv, toCsc, toCsr } from "../../src/index.ts";
import { ReservedArrays } from "../../src/routines/sparse/storage.ts";
import { blocksFromBits, findBlocks } from "../../src/routines/sparse/tasks.ts";
import { openThreads, Random } from "../../src/study.ts";
import { cases, SEED } from "../effort.ts";
import { range } from "../oracles/matrices.ts";
import { exactly } from "../oracles/sparse.ts";
import { same } from "./checks.ts";
import { triangleOf } from "./patterns.ts";

type Lines = readonly (readonly number[])[];

function matrix(lines: Lines, cols: number, values?: Float64Array): Sparse<Float64Array> {
  const pointers = Int32Array.from([0, ...lines.map((_, l) => lines.slice(0, l + 1).flat().length)]);
  const indices = Int32Array.from(lines.flat());
  return csr(lines.length, cols, pointers, indices, values ?? new Float64Array(indices.length).fill(1));
}

// Lines below the diagonal or above it, mostly those before once more; now and then one has, or lacks, what the others do not.
function someLines(random: Random, n: number, cols: number): Lines {
  const before = random.below(2) === 1;
  const diagonal = random.below(2) === 1;
  const odd = [0, 0, 2, 20][random.below(4)] as number; // in a hundred
  const lines: number[][] = [];
  for (const l of range(n)) {
    const shifted = (lines[l - 1] ?? []).map((m) => m + 1);
    if (random.below(4) > 0 && shifted.every((m) => m < cols)) {
      lines.push(shifted);
      continue;
    }
    const isThere = (m: number): boolean => {
      if (random.below(100) < odd) return true;
      if (m === l) return diagonal;
      return m < l === before && random.below(10) < (Math.abs(l - m) === 1 ? 8 : 2);
    };
    lines.push(range(cols).filter(isThere));
  }
  return lines;
}

function expected(lines: Lines) {
  const before = lines.every((line, l) => line.every((m) => m <= l));
  const after = lines.every((line, l) => line.every((m) => m >= l));
  const has = lines.map((line, l) => line.includes(l));
  if (!(before || after) || new Set(has).size > 1) return undefined;
  return { before, after, diagonal: has.every((yes) => yes), gaps: lines.map((line, l) => !line.includes(before ? l - 1 : l + 1)) };
}

function found(A: Sparse, n: number) {
  const { triangular } = patternInfoOf(A);
  if (!triangular) return undefined;
  const { endsAtDiagonal: before, startsAtDiagonal: after, diagonal, lacksNeighbour: gaps } = triangular;
  return { before, after, diagonal, gaps: range(n).map((l) => (((gaps[l >> 5] as number) >>> (l & 31)) & 1) === 1) };
}

function linesOf({ ofLine, starts, offsets }: Shapes): Lines {
  return [...ofLine].map((shape, l) => [...offsets.subarray(starts[shape], starts[shape + 1])].map((offset) => l + offset));
}

describe.each([0, 1, 2, 5, 31, 32, 33, 70, 300])("of %i lines", (n) => {
  test.each(range(cases(20, 5)))(`as the definition says, seed ${SEED} + %i`, (k) => {
    const random = new Random(SEED + 1000 * n + k);
    for (const cols of [n, n + 3, Math.max(0, n - 2)]) {
      const lines = someLines(random, n, cols);
      const A = matrix(lines, cols);
      for (const made of [A, toCsr(toCsc(A))]) {
        expect(patternInfoOf(made).ascends).toBe(true);
        expect(found(made, n)).toEqual(expected(lines));
        const shapes = patternInfoOf(made).triangular?.shapes;
        if (shapes) expect(linesOf(shapes)).toEqual(lines);
      }
    }
  });

  test("their blocks are those found from the entries", () => {
    const random = new Random(SEED + n);
    for (const _ of range(20)) {
      const lines = someLines(random, n, n);
      const { triangular } = patternInfoOf(matrix(lines, n));
      if (!triangular) continue;
      const strict = matrix(
        lines.map((line, l) => line.filter((m) => m !== l)),
        n,
      );
      for (const columns of [false, true])
        for (const most of [32, 100, 1024]) {
          const upper = columns === triangular.endsAtDiagonal;
          const { pointers: begins, indices } = strict;
          const without = { n, upper, begins, ends: begins.subarray(1), indices, order: undefined, diagonalAt: undefined };
          expect(blocksFromBits(triangular.lacksNeighbour, n, upper, columns, most)).toEqual(findBlocks(without, columns, most));
        }
    }
  });
});

describe("shapes", () => {
  test("of a grid are few", () => {
    const L = triangleOf(laplacian(13, 11, 9, 27), false);
    const { shapes } = patternInfoOf(L).triangular ?? {};
    expect(shapes && linesOf(shapes).flat()).toEqual([...L.indices]);
    expect(shapes?.starts.length).toBe(14 + 1);
  });

  test("are given up where there are too many, too long ones, or too much to compare", () => {
    const shapesOf = (lines: Lines): Shapes | undefined => patternInfoOf(matrix(lines, lines.length)).triangular?.shapes;
    // Nearly every line is a shape of its own, and is compared with all before it.
    const halves = (count: number): Lines => range(count).map((l) => (l < 2 ? [l] : [l >> 1, l]));
    expect(shapesOf(halves(100))).toBeDefined();
    expect(shapesOf(halves(200))).toBeUndefined();
    // So many shapes and one, behind so many lines that they may all be compared.
    const many = (count: number): Lines =>
      range(41_000).map((l) => (l >= 40_000 && l % 2 === 0 && (l - 40_000) / 2 < count ? [(l - 40_000) / 2, l] : [l]));
    const flat = (lines: Lines): Sparse<Float64Array> => {
      const pointers = new Int32Array(lines.length + 1);
      for (const [l, line] of lines.entries()) pointers[l + 1] = (pointers[l] as number) + line.length;
      const indices = Int32Array.from(lines.flat());
      return csr(lines.length, lines.length, pointers, indices, new Float64Array(indices.length).fill(1));
    };
    const ofMany = (count: number): Shapes | undefined => patternInfoOf(flat(many(count))).triangular?.shapes;
    expect(ofMany(255)?.starts.length).toBe(256 + 1);
    expect(ofMany(256)).toBeUndefined();
    const long = (length: number): Lines => [...range(length - 1).map((l) => [l]), range(length)];
    expect(patternInfoOf(flat(long(65_535))).triangular?.shapes).toBeDefined();
    expect(patternInfoOf(flat(long(65_536))).triangular?.shapes).toBeUndefined(); // and one entry of the lines before
  });
});

describe("patterns that are none", () => {
  test("a line that repeats another beyond the last column", () => {
    const lines = range(50).map((l) => (l < 10 ? [l] : [l - 10, l]));
    expect(() => matrix(lines, 44)).toThrow("csr: indices[79] is 44, expected at least 0 and below 44 (in row 44)");
    expect(() => matrix(lines, 50)).not.toThrow();
  });

  test("a line that repeats one that does not ascend is looked at", () => {
    const lines = [[0], [1], [3, 0], [4, 1], [5, 2], [6, 3]];
    expect(() => matrix(lines, 6)).toThrow("indices[8] is 6, expected at least 0 and below 6 (in row 5)");
    expect(patternInfoOf(matrix(lines, 7))).toEqual({ ascends: false });
    expect(() => matrix([[0], [2, 1], [2, 2]], 3)).toThrow("indices[4] is 2, which row 2 has already at 3");
  });

  test("a negative index where a line would repeat the one before", () => {
    expect(() => matrix([[0], [1], [2], [-1]], 4)).toThrow("indices[3] is -1");
    expect(() => matrix([[0], [-(2 ** 31)]], 4)).toThrow("indices[1] is -2147483648");
  });

  const handOver = (array: Int32Array | Float64Array): void => void structuredClone(array, { transfer: [array.buffer as ArrayBuffer] });

  test("arrays that were handed to another thread", () => {
    for (const name of ["pointers", "indices", "values"] as const) {
      const A = matrix([[0], [0, 1]], 2);
      handOver(A[name]);
      expect(() => sptrsv(A)).toThrow(name === "values" ? "the buffer of A.values is detached" : `sptrsv: A.${name} has length 0`);
    }
    const A = matrix([[0], [0, 1]], 2);
    handOver(A.indices);
    handOver(A.values);
    expect(() => sptrsv(A, { trans: true, unit: true })).toThrow("the buffer of A.values is detached");
    expect(() => toCsc(A)).toThrow("the buffer of A.values is detached");
  });

  test("a plan does not need the values of A, but for new ones its pattern", () => {
    for (const name of ["values", "pointers", "indices"] as const) {
      const A = matrix([[0], [0, 1]], 2);
      const plan = sptrsv(A);
      handOver(A[name]);
      if (name === "values") plan.update(Float64Array.of(2, 2, 4));
      else expect(() => plan.update(Float64Array.of(0, 2, 4))).toThrow(`TriangularPlan.update: A.${name} has length 0`);
      expect([...plan.solve(Float64Array.of(2, 6))]).toEqual(name === "values" ? [1, 1] : [2, 4]);
    }
  });

  test("nor can its levels be told without it", async () => {
    const engine = await open("threads", { threads: 2 });
    const A = matrix(
      range(40).map((l) => (l < 2 ? [l] : [l - 2, l])),
      40,
    );
    const [asked, never] = [await engine.sptrsv(A, { schedule: "levr" }), await engine.sptrsv(A, { schedule: "levr" })];
    expect(asked.levels).toBe(20);
    handOver(A.pointers);
    expect(asked.levels).toBe(20);
    expect(() => never.levels).toThrow("TriangularPlan.levels: A.pointers has length 0");
    await engine.close();
  });
});

describe("a zero on the diagonal", () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open("threads", { threads: 2 });
  });
  afterAll(() => engine.close());

  // A band of so many entries in a row: pieces that are looked at together have some 16384 of them.
  const n = 20_000;
  const band = (width: number, upper: boolean): Sparse<Float64Array> => {
    const pointers = new Int32Array(n + 1);
    const indices: number[] = [];
    for (const i of range(n)) {
      const [from, to] = upper ? [i, Math.min(n - 1, i + width - 1)] : [Math.max(0, i - width + 1), i];
      for (let j = from; j <= to; j++) indices.push(j);
      pointers[i + 1] = indices.length;
    }
    return csr(n, n, pointers, Int32Array.from(indices), new Float64Array(indices.length).fill(0.125));
  };
  const own = (A: Sparse, i: number, upper: boolean): number => (upper ? (A.pointers[i] as number) : (A.pointers[i + 1] as number) - 1);

  test.each([
    [1, false],
    [3, false],
    [3, true],
    [8, false],
  ])("is found wherever it is: %i entries in a row, upper %s", async (width, upper) => {
    const uplo = upper ? "upper" : "lower";
    const A = band(width, upper);
    const size = Math.ceil(16384 / (A.values.length / n));
    for (const i of new Set([0, 1, size - 1, size, size + 1, 2 * size - 1, 2 * size, n - 1].filter((i) => i < n))) {
      for (const zero of [0, -0]) {
        A.values[own(A, i, upper)] = zero;
        const last = A.values[own(A, n - 1, upper)];
        A.values[own(A, n - 1, upper)] = 0; // the first is named
        for (const schedule of ["gsf", "slfr", "serial"] as const) {
          const error = await engine.sptrsv(A, { uplo, schedule }).catch((error) => error);
          expect(error).toBeInstanceOf(SingularError);
          expect(error.message).toBe(`sptrsv: entry (${i}, ${i}) of A is 0, expected a diagonal without zeros`);
        }
        expect(() => sptrsv(A, { uplo })).toThrow(`(${i}, ${i})`);
        expect(() => sptrsv(A, { uplo, unit: true })).not.toThrow();
        A.values[own(A, n - 1, upper)] = last as number;
      }
      A.values[own(A, i, upper)] = 0.125;
    }
    const plan = await engine.sptrsv(A, { uplo, schedule: "gsf" });
    const values = A.values.slice();
    values[own(A, 77, upper)] = 0;
    await expect(plan.update(values)).rejects.toThrow("(77, 77)");
    const b = Float64Array.from({ length: n }, (_, i) => ((i * 37) % 101) - 50);
    same(await plan.solve(b), exactly(A, b, { uplo }, "binary64"), "as before");
    await plan.free();
  });

  test.each([Float64Array, Float32Array])("by the kernel and its twin, $name", async (type) => {
    const threads = await openThreads(2);
    const lengths = [1, 3, 2, 1, 4];
    const n = lengths.length;
    for (const kernels of [threads, reference]) {
      const memory = new ReservedArrays((bytes) => kernels.memory.reserve("test", bytes), [4 * (n + 1), 8 * 11]);
      const pointers = memory.integers(n + 1);
      pointers[0] = 0;
      for (const [l, length] of lengths.entries()) pointers[l + 1] = (pointers[l] as number) + length;
      const values = memory.reals(new type(), 11);
      for (const diagonalAt of ["first", "last"] as const)
        for (const zero of range(n))
          for (const from of range(n)) {
            values.fill(Number.MIN_VALUE * 2 ** 925); // not 0 in either format
            values[diagonalAt === "first" ? (pointers[zero] as number) : (pointers[zero + 1] as number) - 1] = -0;
            expect(kernels.firstZero({ pointers, values, diagonalAt }, from, n)).toBe(zero < from ? n : zero);
            expect(kernels.firstZero({ pointers, values, diagonalAt }, 0, from)).toBe(Math.min(zero, from));
          }
      memory.allocation.free();
    }
    await threads.close();
  });

  test("other zeros do not matter", async () => {
    const A = band(3, false);
    for (const i of range(n).slice(1)) A.values[own(A, i, false) - 1] = 0;
    const b = new Float64Array(n).fill(1);
    const plan = await engine.sptrsv(A, { schedule: "gsf" });
    same(await plan.solve(b), exactly(A, b, {}, "binary64"), "gsf");
    expect(plan.bytes).toBeLessThan(0.8 * (A.values.byteLength + A.indices.byteLength + A.pointers.byteLength));
    await plan.free();
  });
});
