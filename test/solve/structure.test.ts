// Patterns of zeros, and powers of two by assignment: both against definitions that can be tried out for small orders.

import { describe, expect, it } from "vitest";
import { matchingExponents } from "../../src/routines/solve/matching.ts";
import { perfectMatching, structuralZeros } from "../../src/routines/solve/structure.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { permutation, vector } from "../generators.ts";
import { range, value } from "../oracles/matrices.ts";
import { exponentsOf, hasAssignment, patternOf, solveWhole, type Whole } from "./units.ts";

const isMatching = (matching: Int32Array, n: number, isThere: (i: number, j: number) => boolean): boolean =>
  matching.length === n && new Set(matching).size === n && matching.every((j, i) => j >= 0 && j < n && isThere(i, j));

const randomPattern = (random: Random, n: number, share: number): Float64Array =>
  Float64Array.from({ length: n * n }, () => (random.below(100) < share ? 1 : 0));

describe(`perfect matchings, HALFULP_SEED=${SEED}`, () => {
  it("are found exactly if there are any, on random patterns", () => {
    const random = new Random(SEED);
    let found = 0;
    for (let k = 0; k < 4000; k++) {
      const n = 1 + random.below(8);
      const data = randomPattern(random, n, 10 + random.below(50));
      const isThere = (i: number, j: number): boolean => data[i * n + j] !== 0;
      const matching = perfectMatching(patternOf(data, n));
      expect(matching !== undefined, `${n}: ${data}`).toBe(hasAssignment(n, isThere));
      if (!matching) continue;
      found++;
      expect(isMatching(matching, n, isThere), `${n}: ${data}`).toBe(true);
    }
    expect(found).toBeGreaterThan(500);
    expect(found).toBeLessThan(3500);
  });

  it("are found along paths through all rows, and for hidden permutations among few other entries", () => {
    const random = new Random(SEED + 1);
    for (const n of [2, 3, 10, 100, 300]) {
      // Row i has columns i and i + 1, the last row column 0 only: the greedy start takes 0, 1, 2, ... and all must move.
      const chain = Float64Array.from({ length: n * n }, (_, e) => {
        const [i, j] = [Math.floor(e / n), e % n];
        return i === n - 1 ? Number(j === 0) : Number(j === i || j === i + 1);
      });
      expect(Array.from(perfectMatching(patternOf(chain, n)) as Int32Array)).toEqual([...range(n - 1).map((i) => i + 1), 0]);
      const order = permutation(random, n);
      const data = randomPattern(random, n, 1);
      for (let i = 0; i < n; i++) data[i * n + (order[i] as number)] = -1;
      const matching = perfectMatching(patternOf(data, n));
      expect(matching && isMatching(matching, n, (i, j) => data[i * n + j] !== 0)).toBe(true);
      for (let i = 0; i < n; i++) data[i * n + (order[0] as number)] = 0;
      expect(perfectMatching(patternOf(data, n))).toBeUndefined();
    }
  });
});

// The solution of a system with random values in these places, exactly: which components are zero. Undefined if it is singular.
function zerosOf(random: Random, n: number, isThere: (i: number, j: number) => boolean, b: Float64Array): boolean[] | undefined {
  const any = (): bigint => BigInt(random.word() >>> 0) + 1n;
  const M: Whole = range(n).map((i) => range(n).map((j) => (isThere(i, j) ? any() : 0n)));
  return solveWhole(
    M,
    Array.from(b, (v) => [v === 0 ? 0n : any()]),
  )?.Y.map(([y]) => y === 0n);
}

describe(`zeros by structure, HALFULP_SEED=${SEED}`, () => {
  it("are those of the exact solution for random values on random patterns, all of them and no others", () => {
    const random = new Random(SEED + 2);
    let [systems, zeros] = [0, 0];
    for (let k = 0; k < 3000; k++) {
      const n = 1 + random.below(8);
      const data = randomPattern(random, n, 15 + random.below(30));
      const b = Float64Array.from({ length: n }, () => (random.below(4) === 0 ? -1 : 0));
      const matching = perfectMatching(patternOf(data, n));
      if (!matching) continue;
      const want = zerosOf(random, n, (i, j) => data[i * n + j] !== 0, b);
      if (!want) continue;
      systems++;
      const found = structuralZeros(patternOf(data, n), matching, b);
      expect(Array.from(found, Boolean), `${n}: ${data}; ${b}`).toEqual(want);
      zeros += want.filter(Boolean).length;
    }
    expect(systems).toBeGreaterThan(300);
    expect(zeros).toBeGreaterThan(300);
  });

  it("are all found in block triangular systems that permutations hide", () => {
    const random = new Random(SEED + 3);
    for (let k = 0; k < 150; k++) {
      // Blocks of random orders: dense on the diagonal, and some entries above it. b reaches down to one of them.
      const block: number[] = [];
      for (let each = 0; block.length < 14; each++) for (let size = 1 + random.below(4); size > 0; size--) block.push(each);
      const n = block.length;
      const [rows, cols] = [permutation(random, n), permutation(random, n)];
      const data = new Float64Array(n * n);
      for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++) {
          const [r, c] = [block[i] as number, block[j] as number];
          if (r === c || (r < c && random.below(3) === 0)) data[(rows[i] as number) * n + (cols[j] as number)] = 1 + random.below(9);
        }
      const last = random.below((block[n - 1] as number) + 1);
      const b = new Float64Array(n);
      for (let i = 0; i < n; i++) if ((block[i] as number) <= last && random.below(3) === 0) b[rows[i] as number] = random.signed();
      const found = structuralZeros(patternOf(data, n), perfectMatching(patternOf(data, n)) as Int32Array, b);
      for (let j = 0; j < n; j++) if ((block[j] as number) > last) expect(found[cols[j] as number], `block ${block[j]} of ${last}`).toBe(1);
      const want = zerosOf(random, n, (i, j) => data[i * n + j] !== 0, b);
      expect(Array.from(found, Boolean)).toEqual(want);
    }
  });

  it("are all components for b = 0, and none for a dense matrix and another b", () => {
    const [data, matching] = [new Float64Array(9).fill(1), Int32Array.of(2, 0, 1)];
    expect(Array.from(structuralZeros(patternOf(data, 3), matching, new Float64Array(3)))).toEqual([1, 1, 1]);
    expect(Array.from(structuralZeros(patternOf(data, 3), matching, Float64Array.of(0, 0, 1)))).toEqual([0, 0, 0]);
  });
});

// floor(log2(x)) by definition.
function exponentOf(x: number): number {
  const { n, e } = value(Math.abs(x));
  return e + n.toString(2).length - 1;
}

function checkPowers(data: Float64Array, n: number, what: string): void {
  const found = matchingExponents(exponentsOf(data, n), n);
  const size = (i: number, j: number): number => {
    const v = data[i * n + j] as number;
    return v === 0 ? Number.NEGATIVE_INFINITY : exponentOf(v) + (found?.rows[i] as number) + (found?.cols[j] as number);
  };
  if (!found) {
    const isThere = (i: number, j: number): boolean => data[i * n + j] !== 0;
    expect(n <= 10 ? hasAssignment(n, isThere) : perfectMatching(patternOf(data, n)) !== undefined, what).toBe(false);
    return;
  }
  // Below 2 is an exponent of at most 0, and 1 or more one of at least 0.
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) expect(size(i, j), what).toBeLessThanOrEqual(0);
  const ones = Float64Array.from({ length: n * n }, (_, e) => Number(size(Math.floor(e / n), e % n) >= 0));
  expect(perfectMatching(patternOf(ones, n)), what).toBeDefined();
}

describe(`powers by assignment, HALFULP_SEED=${SEED}`, () => {
  it("leave no entry of 2 or more and an assignment of entries of 1 or more, for any bits", () => {
    const random = new Random(SEED + 4);
    for (const kind of ["bits", "narrow", "wide", "subnormal", "large", "edges", "zeros"] as const)
      for (let k = 0; k < 60; k++) {
        const n = 1 + random.below(9);
        checkPowers(vector(random, n * n, kind), n, `${kind}, n = ${n}`);
      }
    for (const n of [30, 60]) checkPowers(vector(random, n * n, "bits"), n, `bits, n = ${n}`);
  });

  it("are there exactly if there is an assignment, on random patterns with random sizes", () => {
    const random = new Random(SEED + 5);
    let found = 0;
    for (let k = 0; k < 1500; k++) {
      const n = 1 + random.below(7);
      const data = randomPattern(random, n, 15 + random.below(50)).map((v) => v * random.signed() * 2 ** (random.below(600) - 300));
      const isThere = (i: number, j: number): boolean => data[i * n + j] !== 0;
      const isFound = matchingExponents(exponentsOf(data, n), n) !== undefined;
      expect(isFound, `${n}: ${data}`).toBe(hasAssignment(n, isThere));
      checkPowers(data, n, `${n}: ${data}`);
      found += Number(isFound);
    }
    expect(found).toBeGreaterThan(200);
    expect(found).toBeLessThan(1300);
  });

  it("find rows and columns that were scaled apart, whatever powers these were scaled by", () => {
    const random = new Random(SEED + 6);
    for (let k = 0; k < 40; k++) {
      const n = 2 + random.below(12);
      const powers = (): number[] => range(n).map(() => random.below(800) - 400);
      const [rows, cols, order] = [powers(), powers(), permutation(random, n)];
      // Entries far below 1, and a permutation of numbers from 1 to 2, scaled.
      const data = Float64Array.from({ length: n * n }, (_, e) => {
        const [i, j] = [Math.floor(e / n), e % n];
        const v = order[i] === j ? 1 + Math.abs(random.signed()) / 2 : random.signed() * 2 ** -80;
        return v * 2 ** ((rows[i] as number) + (cols[j] as number));
      });
      checkPowers(data, n, `n = ${n}`);
      const found = matchingExponents(exponentsOf(data, n), n);
      for (let i = 0; i < n; i++) {
        const j = order[i] as number;
        expect((found?.rows[i] as number) + (found?.cols[j] as number)).toBe(0 - (rows[i] as number) - (cols[j] as number));
      }
    }
  });
});
