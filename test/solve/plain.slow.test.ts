// The factorisation in ordinary arithmetic on the embedded engine and on pools of threads.

import { afterAll, describe, expect, it } from "vitest";
import type { StridedMatrix } from "../../src/arrays/matrix.ts";
import type { Format, Real } from "../../src/arrays/types.ts";
import type { ApproximateFactors, ApproximateKernels, Scaling } from "../../src/engines/approximate.ts";
import type { EngineMemory } from "../../src/engines/memory.ts";
import { openThreads } from "../../src/engines/threads/backend.ts";
import type { ThreadKernels } from "../../src/engines/threads/index.ts";
import type { ArenaFactors } from "../../src/engines/wasm/approximate.ts";
import type { WasmKernels } from "../../src/engines/wasm/index.ts";
import { load } from "../../src/engines/wasm/load.ts";
import { storedBits } from "../hex.ts";
import { known, type Placing, placed, product, ROW_BY_ROW, randoms, wholes } from "./knownFactors.ts";

const FORMATS = ["binary32", "binary64"] as const;
const VARIANTS = ["fma", "dekker"] as const;
const WORKERS = { fma: [1, 5], dekker: [2, 3] } as const;
const SIZES = [0, 1, 2, 3, 4, 5, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 257];

interface Row {
  readonly name: string;
  readonly plain: ApproximateKernels;
  readonly memory: EngineMemory;
  readonly pool?: ThreadKernels;
}
const rows: Row[] = [];
for (const variant of VARIANTS) {
  const embedded = load(variant);
  if (!embedded) continue;
  rows.push({ name: `wasm-${variant}`, plain: embedded.approximate, memory: embedded.memory });
  for (const workers of WORKERS[variant]) {
    const pool = await openThreads(workers, variant);
    rows.push({ name: `threads-${workers}-${variant}`, plain: pool.approximate, memory: pool.memory, pool });
  }
}
const pools = rows.flatMap(({ pool }) => (pool ? [pool] : []));
afterAll(async () => {
  for (const pool of pools) await pool.close();
});

function unscaled(n: number): Scaling {
  return { rows: new Float64Array(n).fill(1), cols: new Float64Array(n).fill(1) };
}

/** L and U in one matrix, row by row, and the pivots, as they are in the engine's memory. */
function read(factors: ApproximateFactors): { lu: Float64Array; pivots: Int32Array } {
  const { arena, at, shape } = factors as ArenaFactors;
  const heap = arena.heap(shape.like);
  const width = shape.like.BYTES_PER_ELEMENT;
  const { rows: n } = shape;
  const lu = Float64Array.from({ length: n * n }, (_, e) => heap[(at + Math.floor(e / n) * shape.rowStride) / width + (e % n)] as number);
  return { lu, pivots: Int32Array.from(arena.words.subarray((at + shape.pivots) / 4, (at + shape.pivots) / 4 + n)) };
}

// The first place where two arrays differ, or -1. Zeros of either sign are one number here: what a zero was divided by is the
// engine's own business.
function difference(x: Real, y: Real): number {
  if (x.length !== y.length) return Math.min(x.length, y.length);
  return x.findIndex((v: number, i: number) => !Object.is(v + 0, (y[i] as number) + 0));
}

interface Solved {
  readonly column: number;
  readonly lu: Float64Array;
  readonly pivots: Int32Array;
  readonly x: Float64Array;
  readonly y: Float64Array;
}

// Both ways to solve: along with the elimination, and afterwards.
async function solveOn(
  { plain, memory }: Row,
  A: StridedMatrix,
  format: Format,
  b: Float64Array,
  k: number,
  scaling?: Scaling,
): Promise<Solved> {
  const kept = await memory.keepMatrix("test", A, false);
  const x = new Float64Array(b.length).fill(7);
  const factors = await plain.factorize("test", kept.value, scaling ?? unscaled(A.rows), format, b, k, x);
  const y = new Float64Array(b.length);
  if (factors.column < 0) await plain.substitute("test", factors, b, k, y);
  const result = { column: factors.column, ...read(factors), x, y };
  factors.free();
  kept.free();
  return result;
}

const matrixOf = (n: number, data: Float64Array): StridedMatrix => placed(n, n, data, ROW_BY_ROW);

describe.each(rows)("$name", (row) => {
  const { plain, memory } = row;
  it.each(FORMATS)("%s: known factors and solutions of all sizes", async (format) => {
    for (const n of SIZES) {
      const { A, lu, pivots } = known(n, n, n + 1);
      const k = n % 4;
      const X = wholes(n * k, n);
      const solved = await solveOn(row, matrixOf(n, A), format, product(n, A, X, k), k);
      expect(solved.column, `n = ${n}`).toBe(-1);
      expect(difference(solved.lu, lu), `n = ${n}`).toBe(-1);
      expect(solved.pivots).toEqual(pivots);
      expect(difference(solved.x, X), `n = ${n}`).toBe(-1);
      expect(difference(solved.y, X), `n = ${n}`).toBe(-1);
    }
  });

  it.each(FORMATS)("%s: the least and the largest pivot", async (format) => {
    const n = 150;
    const { A, lu } = known(n, n, 4);
    for (const [small, large] of [
      [3, 70],
      [140, 3],
      [63, 64],
    ] as const) {
      const scaling = unscaled(n);
      [scaling.cols[small], scaling.cols[large]] = [2 ** -9, 2 ** 9];
      const factors = await plain.factorize("test", matrixOf(n, A), scaling, format, new Float64Array(), 0, new Float64Array());
      const pivot = (i: number): number => Math.abs(lu[i * n + i] as number);
      const want = [n, format, 2 ** -9 * pivot(small), 2 ** 9 * pivot(large)];
      expect([factors.n, factors.format, factors.minPivot, factors.maxPivot]).toEqual(want);
      factors.free();
      factors.free();
    }
  });

  it.each(FORMATS)("%s: many right-hand sides, at once and afterwards", async (format) => {
    const n = 70;
    const { A } = known(n, n, 3);
    const factors = await plain.factorize("test", matrixOf(n, A), unscaled(n), format, new Float64Array(), 0, new Float64Array());
    for (const k of [1, 2, 4, 5, 8, 9, 33]) {
      const X = wholes(n * k, k);
      const b = product(n, A, X, k);
      const x = new Float64Array(n * k);
      await plain.substitute("test", factors, b, k, x);
      expect(difference(x, X)).toBe(-1);
      expect(difference((await solveOn(row, matrixOf(n, A), format, b, k)).x, X)).toBe(-1);
    }
    factors.free();
  });

  it.each(FORMATS)("%s: rows and columns of either precision, anywhere in an array, scaled", async (format) => {
    for (const n of [1, 2, 5, 37, 66, 130]) {
      const { A, lu } = known(n, n, 5);
      const power = (i: number): number => 2 ** (((i * 7) % 23) - 11);
      const scaling = {
        rows: Float64Array.from({ length: n }, (_, i) => power(i)),
        cols: Float64Array.from({ length: n }, (_, i) => power(i + 5)),
      };
      const unlike = A.map((a, e) => a / power(Math.floor(e / n)) / power((e % n) + 5));
      for (const order of ["row", "column"] as const)
        for (const type of [Float64Array, Float32Array])
          for (const [gap, offset] of [
            [0, 0],
            [3, 0],
            [1, 7],
          ] as const) {
            const how: Placing = { order, gap, offset, type };
            const solved = await solveOn(row, placed(n, n, unlike, how), format, new Float64Array(), 0, scaling);
            expect(difference(solved.lu, lu), `n = ${n}, ${JSON.stringify(how)}`).toBe(-1);
          }
    }
  });

  it.each(FORMATS)("%s: of equal magnitudes the first is the pivot", async (format) => {
    const n = 90;
    for (const column of [0, 3, 4, 7, 8, 40, 63, 64, 70])
      for (const [p, q] of [
        [0, 1],
        [1, 2],
        [2, 7],
        [5, 6],
        [3, 19],
      ] as const) {
        const A = new Float64Array(n * n);
        for (let i = 0; i < n; i++) A[i * n + i] = 1;
        for (let i = column; i < n; i++) A[i * n + column] = 0.25;
        A[(column + p) * n + column] = -3;
        A[(column + q) * n + column] = 3;
        const { pivots } = await solveOn(row, matrixOf(n, A), format, new Float64Array(), 0);
        expect(pivots[column]).toBe(column + p);
      }
  });

  it.each(FORMATS)("%s: a pivot that is zero or not finite ends it with its column, and x is left alone", async (format) => {
    for (const n of [1, 9, 66, 140])
      for (const column of [0, 1, 3, 4, 8, 63, 64, 65, n - 1].filter((c) => c < n)) {
        const { A } = known(n, n, 6);
        const b = new Float64Array(n).fill(1);
        const changed = async (value: (i: number) => number): Promise<number> => {
          const B = A.slice();
          for (let i = 0; i < n; i++) B[i * n + column] = value(i);
          const solved = await solveOn(row, matrixOf(n, B), format, b, 1);
          expect(solved.x.every((v) => v === 7)).toBe(true);
          return solved.column;
        };
        expect(await changed(() => 0)).toBe(column);
        if (column > 0) expect(await changed((i) => 2 * (A[i * n + column - 1] as number))).toBe(column); // the column before it, doubled
        expect(await changed((i) => (i === n >> 1 ? Number.POSITIVE_INFINITY : 1))).toBe(column);
        expect(await changed((i) => (i === 0 ? Number.NEGATIVE_INFINITY : 1))).toBe(column);
        expect(await changed(() => Number.NaN)).toBe(column);
        expect(await changed((i) => (i === n - 1 ? Number.NaN : (A[i * n + column] as number)))).toBeGreaterThanOrEqual(column);
      }
  });

  it.each(FORMATS)("%s: an overflow ends it too", async (format) => {
    // The last column doubles at every step.
    const n = 100;
    const most = format === "binary32" ? 2 ** 100 : 2 ** 1000;
    const A = Float64Array.from({ length: n * n }, (_, e) => {
      const [i, j] = [Math.floor(e / n), e % n];
      return j === n - 1 ? most : i === j ? 1 : i > j ? -1 : 0;
    });
    expect((await solveOn(row, matrixOf(n, A), format, new Float64Array(n), 1)).column).toBe(n - 1);
  });

  it.each(FORMATS)("%s: L U is near P A for random matrices", async (format) => {
    const u = format === "binary32" ? 2 ** -24 : 2 ** -53;
    for (const n of [10, 100, 193]) {
      const A = randoms(n * n, n).map((a) => (format === "binary32" ? Math.fround(a) : a));
      const { lu, pivots } = await solveOn(row, matrixOf(n, A), format, new Float64Array(), 0);
      const PA = A.slice();
      for (const [i, k] of pivots.entries()) {
        const row = PA.slice(i * n, i * n + n);
        PA.copyWithin(i * n, k * n, k * n + n);
        PA.set(row, k * n);
      }
      let [worst, largest] = [0, 0];
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          let sum = -(PA[i * n + j] as number);
          let size = 0;
          for (let k = 0; k <= Math.min(i, j); k++) {
            const term = (i === k ? 1 : (lu[i * n + k] as number)) * (lu[k * n + j] as number);
            sum += term;
            size += Math.abs(term);
          }
          worst = Math.max(worst, Math.abs(sum) / (n * u * (size + 1))); // the classical bound
          if (i > j) largest = Math.max(largest, Math.abs(lu[i * n + j] as number));
        }
      expect(worst).toBeLessThan(1);
      expect(largest).toBeLessThanOrEqual(1);
    }
  });

  it("sums and largest magnitudes of rows and of columns", async () => {
    for (const [m, n] of [
      [1, 1],
      [1, 9],
      [9, 1],
      [6, 5],
      [64, 130],
      [131, 67],
      [1100, 3],
    ] as const)
      for (const order of ["row", "column"] as const)
        for (const type of [Float64Array, Float32Array]) {
          const A = wholes(m * n, m + n);
          const hurt = m > 5 ? 3 : -1;
          if (hurt >= 0) A[hurt * n + n - 1] = Number.NaN;
          const E = placed(m, n, A, { order, gap: 2, offset: 3, type });
          const T = { ...E, rows: n, cols: m, rowStride: E.colStride, colStride: E.rowStride };
          for (const [rowsOf, count, length, entry] of [
            [E, m, n, (i: number, j: number) => A[i * n + j] as number],
            [T, n, m, (i: number, j: number) => A[j * n + i] as number],
          ] as const) {
            const scale = Float64Array.from({ length }, (_, j) => 2 ** ((j % 5) - 2));
            const [sums, largest] = [new Float64Array(count), new Float64Array(count)];
            await plain.magnitudes("test", rowsOf, scale, sums, largest);
            for (let i = 0; i < count; i++) {
              const sizes = Array.from({ length }, (_, j) => (scale[j] as number) * Math.abs(entry(i, j)));
              expect(sums[i]).toBe(sizes.reduce((a, b) => a + b));
              expect(largest[i]).toBe(sizes.some(Number.isNaN) ? Number.NaN : Math.max(...sizes));
            }
          }
        }
  });

  it("residuals in binary64", async () => {
    for (const [m, n] of [
      [0, 0],
      [1, 1],
      [1, 8],
      [7, 1],
      [5, 6],
      [66, 131],
      [600, 3],
    ] as const)
      for (const order of ["row", "column"] as const)
        for (const type of [Float64Array, Float32Array])
          for (const k of [1, 3]) {
            const [A, x, b] = [wholes(m * n, m), wholes(n * k, n), wholes(m * k, k)];
            const r = new Float64Array(m * k);
            await plain.residual?.("test", -2, placed(m, n, A, { order, gap: 1, offset: 2, type }), x, b, k, r);
            const want = Float64Array.from(r, (_, e) => {
              let sum = 0;
              for (let j = 0; j < n; j++) sum += (A[Math.floor(e / k) * n + j] as number) * (x[j * k + (e % k)] as number);
              return (b[e] as number) - 2 * sum;
            });
            expect(difference(r, want), `${m} by ${n}, ${order}`).toBe(-1);
          }
  });

  it("keeps a copy, unless the matrix is there", async () => {
    const n = 20;
    for (const order of ["row", "column"] as const) {
      const { A, lu } = known(n, n, 8);
      const E = placed(n, n, A, { ...ROW_BY_ROW, order, gap: 1 });
      const kept = await memory.keepMatrix("test", E, false);
      const lasting = await memory.keepMatrix("test", kept.value, true);
      expect((await memory.keepMatrix("test", kept.value, false)).value).toBe(kept.value);
      E.data.fill(Number.NaN);
      for (const { value } of [kept, lasting]) {
        const there = value as StridedMatrix;
        expect(difference((await solveOn(row, there, "binary32", new Float64Array(), 0)).lu, lu)).toBe(-1);
        there.data.fill(Number.NaN);
      }
      kept.free();
      lasting.free();
    }
  });

  it("many small ones in a row", async () => {
    const n = 12;
    const { A } = known(n, n, 9);
    const X = wholes(n, 10);
    const b = product(n, A, X, 1);
    for (let i = 0; i < 300; i++) expect(difference((await solveOn(row, matrixOf(n, A), FORMATS[i % 2] as Format, b, 1)).y, X)).toBe(-1);
  });
});

describe.each(VARIANTS)("%s", (variant) => {
  it.skipIf(!load(variant)).each(FORMATS)("%s: the same bits for any number of workers", async (format) => {
    const same = rows.filter(({ name }) => name.endsWith(variant));
    for (const n of [65, 150, 330]) {
      const A = matrixOf(n, randoms(n * n, n));
      const b = randoms(3 * n, n);
      const [first, ...others] = await Promise.all(same.map((row) => solveOn(row, A, format, b, 3)));
      for (const other of others) {
        for (const part of ["lu", "x", "y"] as const) expect(storedBits(other[part])).toEqual(storedBits(first?.[part] as Float64Array));
        expect(other.pivots).toEqual(first?.pivots);
      }
    }
  });
});

describe.each(pools.map((pool) => ({ name: pool.device, pool })))("panels, $name", ({ pool }) => {
  it("known factors", async () => {
    for (const [m, n] of [
      [1, 1],
      [2, 1],
      [33, 1],
      [40, 7],
      [64, 64],
      [65, 64],
      [129, 65],
      [700, 3],
      [301, 130],
      [9, 0],
      [4099, 9],
      [4200, 70],
    ] as const) {
      const { A, lu, pivots } = known(m, n, m + n);
      const data = Float32Array.from(A);
      const found = new Int32Array(n);
      expect(await pool.panel(data, m, n, found)).toBe(-1);
      expect(difference(data, Float32Array.from(lu)), `${m} by ${n}`).toBe(-1);
      expect(found).toEqual(pivots);
    }
  });

  it("of equal magnitudes far apart the first is the pivot", async () => {
    const m = 5000;
    const data = new Float32Array(2 * m).fill(0.25);
    for (const i of [1200, 2600, 4900]) data[2 * i] = 3 * (i === 2600 ? -1 : 1);
    const pivots = new Int32Array(2);
    await pool.panel(data, m, 2, pivots);
    expect(pivots[0]).toBe(1200);
  });

  it("a bad pivot is told, and nothing written", async () => {
    const { A } = known(100, 70, 1);
    for (let i = 0; i < 100; i++) A[i * 70 + 66] = 0;
    const data = Float32Array.from(A);
    const pivots = new Int32Array(70).fill(-5);
    expect(await pool.panel(data, 100, 70, pivots)).toBe(66);
    expect(storedBits(data)).toEqual(storedBits(Float32Array.from(A)));
    expect(pivots.every((p) => p === -5)).toBe(true);
  });

  it("many at once", async () => {
    const { A, lu } = known(90, 20, 2);
    const panels = Array.from({ length: 40 }, () => Float32Array.from(A));
    await Promise.all(panels.map((data) => pool.panel(data, 90, 20, new Int32Array(20))));
    for (const data of panels) expect(difference(data, Float32Array.from(lu))).toBe(-1);
  });
});

describe("memory of the embedded engine", () => {
  it("a matrix in an arena without room is copied", () => {
    const kernels = load("dekker") as WasmKernels;
    const n = 300;
    const arrays = Array.from({ length: 30 }, () => kernels.allocate(n * n, Float64Array)); // more than one arena
    const { A, lu } = known(n, n, 1);
    const solved = arrays.map((data) => {
      data.set(A);
      const factors = kernels.approximate.factorize(
        "test",
        { ...matrixOf(n, A), data },
        unscaled(n),
        "binary64",
        new Float64Array(),
        0,
        new Float64Array(),
      );
      const x = new Float64Array(5 * n);
      kernels.approximate.substitute("test", factors, product(n, A, wholes(5 * n, 3), 5), 5, x);
      expect(difference(x, wholes(5 * n, 3))).toBe(-1);
      return factors;
    });
    for (const factors of solved) {
      expect(difference(read(factors).lu, lu)).toBe(-1);
      factors.free();
    }
    for (const array of arrays) expect(kernels.free(array)).toBe(true);
  });
});
