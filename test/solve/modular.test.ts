// Elimination modulo a prime: remainders, primes, residues, and inverses modulo p against those in BigInt, on every engine.

import { describe, expect, it, vi } from "vitest";
import type { StridedMatrix } from "../../src/arrays/matrix.ts";
import type { EngineMemory } from "../../src/engines/memory.ts";
import { reference } from "../../src/engines/reference/index.ts";
import type { MatrixKernels } from "../../src/engines/steps.ts";
import { digitBits, lastBits, type Slices } from "../../src/routines/solve/integers.ts";
import { digitPrimes, invertModulo, isDependent, type ModularInverse, remainder, residuesOf } from "../../src/routines/solve/modular.ts";
import { Progress } from "../../src/routines/solve/progress.ts";
import { kernels, Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { permutation, vector } from "../generators.ts";
import { range } from "../oracles/matrices.ts";
import { Counting, integerScale, openRunners, runnerOn, shifted, slicesOf, type Whole } from "./units.ts";

const runners = await openRunners();

const modulo = (v: bigint, p: bigint): bigint => ((v % p) + p) % p;
const firstPrime = (n: number): number => digitPrimes(n).next().value as number;

describe(`remainders, HALFULP_SEED=${SEED}`, () => {
  it("are congruent and at most half of p, up to 2^52 and next to odd halves of p", () => {
    const random = new Random(SEED);
    for (const p of [3, 5, 65521, 1048573, 2097143, 4194301]) {
      const near = range(1000).flatMap(() => {
        const q = random.below(Math.min(2 ** 32, Math.floor(2 ** 48 / p)));
        return [q * p, q * p + (p - 1) / 2, q * p + (p + 1) / 2, q * p - 1];
      });
      for (const x of [...near, 2 ** 52 - 1, 2 ** 52 - 2, ...range(50)]) {
        for (const signed of [x, -x]) {
          const r = remainder(signed, p);
          const isCongruent = modulo(BigInt(signed) - BigInt(r), BigInt(p)) === 0n;
          // Next to 2^52 the quotient is rounded too.
          const isSmall = x < 2 ** 49 ? 2 * Math.abs(r) < p : Math.abs(r) <= p;
          if (!isCongruent || !isSmall) expect.fail(`${signed} modulo ${p} is not ${r}`);
        }
      }
    }
  });
});

describe("primes for digits", () => {
  // The sieve of Eratosthenes.
  const isComposite = new Uint8Array(2 ** 22);
  for (let d = 2; d * d < isComposite.length; d++) for (let v = d * d; v < isComposite.length; v += d) isComposite[v] = 1;

  it.each([1, 2, 1024, 1025, 5000, 2 ** 20])("are primes below 2^digitBits(n), from the largest on and without a gap, n = %i", (n) => {
    const found: number[] = [];
    for (const p of digitPrimes(n)) if (found.push(p) === 600) break;
    const first = 2 ** digitBits(n) - 1;
    const wanted = range(first - (found.at(-1) as number) + 1)
      .map((d) => first - d)
      .filter((p) => isComposite[p] === 0);
    expect(found).toEqual(wanted);
    for (const p of found) expect(p).toBeLessThan(2 ** digitBits(n));
  });
});

describe(`residues of slices, HALFULP_SEED=${SEED}`, () => {
  it("are those of the whole matrix, balanced, for random patterns of bits", () => {
    const random = new Random(SEED + 1);
    for (const kind of ["bits", "narrow", "subnormal", "large", "ones", "edges"] as const) {
      for (let k = 0; k < 20; k++) {
        const n = 1 + random.below(5);
        const A = vector(random, n * n, kind);
        const scale = k % 2 === 0 ? integerScale(lastBits(A), n) : { rows: new Int32Array(n), cols: new Int32Array(n) };
        const slices = slicesOf(A, n, scale);
        for (const p of [firstPrime(n), 65521]) {
          const residues = residuesOf(slices, p);
          for (let e = 0; e < n * n; e++) {
            const power = (scale.rows[Math.floor(e / n)] as number) + (scale.cols[e % n] as number) + slices.shift;
            const want = shifted(A[e] as number, power);
            expect(modulo(want - BigInt(residues[e] as number), BigInt(p)), kind).toBe(0n);
            expect(2 * Math.abs(residues[e] as number), kind).toBeLessThan(p);
          }
        }
      }
    }
  });

  it("stay exact for thousands of slices with the largest digits", () => {
    const [bits, count, p] = [22, 20000, firstPrime(1)];
    // Signs are those of the powers of the radix, so that no products cancel.
    let power = 1;
    const data = Float64Array.from({ length: count }, () => {
      const sign = Math.sign(power);
      power = remainder(power * 2 ** bits, p);
      return sign * 2 ** (bits - 1);
    });
    const slices: Slices = { n: 1, rows: Int32Array.of(0), bits, shift: 0, count, data, size: bits * count, determinant: bits * count };
    let want = 0n;
    for (let s = count - 1; s >= 0; s--) want = modulo((want << BigInt(bits)) + BigInt(data[s] as number), BigInt(p));
    expect(modulo(BigInt(residuesOf(slices, p)[0] as number), BigInt(p))).toBe(want);
  });
});

// Gauss and Jordan modulo p: the inverse, or the first column that depends on those before it.
function invertWhole(M: Whole, p: bigint): { inverse: Whole } | { column: number } {
  const n = M.length;
  const rows = M.map((row, i) => [...row.map((v) => modulo(v, p)), ...row.map((_, j) => (i === j ? 1n : 0n))]);
  const power = (base: bigint, e: bigint): bigint => (e === 0n ? 1n : (power((base * base) % p, e >> 1n) * (e & 1n ? base : 1n)) % p);
  for (let k = 0; k < n; k++) {
    const pivot = rows.findIndex((row, i) => i >= k && row[k] !== 0n);
    if (pivot < 0) return { column: k };
    [rows[k], rows[pivot]] = [rows[pivot] as bigint[], rows[k] as bigint[]];
    const above = rows[k] as bigint[];
    const factor = power(above[k] as bigint, p - 2n);
    for (let j = k; j < 2 * n; j++) above[j] = ((above[j] as bigint) * factor) % p;
    for (const [i, row] of rows.entries()) {
      const f = row[k] as bigint;
      if (i !== k && f !== 0n) for (let j = k; j < 2 * n; j++) row[j] = modulo((row[j] as bigint) - f * (above[j] as bigint), p);
    }
  }
  return { inverse: rows.map((row) => row.slice(n)) };
}

const wholeOf = (residues: Float64Array, n: number): Whole =>
  range(n).map((i) => Array.from(residues.subarray(i * n, (i + 1) * n), (v) => BigInt(v)));

// Residues at random, the largest ones often.
function residuesAtRandom(random: Random, n: number, p: number): Float64Array {
  const half = (p - 1) / 2;
  const one = (): number => [half, -half, 0, 1][random.below(16)] ?? random.below(p) - half;
  return Float64Array.from({ length: n * n }, one);
}

function readInverse({ allocation, rows }: ModularInverse, n: number): Float64Array {
  const { data, offset, rowStride } = allocation.value as StridedMatrix;
  const inverse = new Float64Array(n * n);
  for (let k = 0; k < n; k++)
    for (let l = 0; l < n; l++) inverse[k * n + (rows[l] as number)] = data[offset + (rows[k] as number) * rowStride + l] as number;
  return inverse;
}

describe(`inverses modulo p, HALFULP_SEED=${SEED}`, () => {
  it.each([1, 2, 31, 32, 33, 70])("are those in BigInt on every engine, n = %i", async (n) => {
    const random = new Random(SEED + n);
    for (const p of [firstPrime(n), 65521]) {
      for (const isPermuted of [false, true]) {
        // An upper triangle in another order of rows needs every pivot to be looked for.
        const dense = residuesAtRandom(random, n, p);
        const order = permutation(random, n);
        const triangle = dense.map((_, e) => {
          const [i, j] = [order[Math.floor(e / n)] as number, e % n];
          return i > j ? 0 : i === j ? 1 + random.below((p - 1) / 2) : (dense[e] as number);
        });
        const residues = isPermuted ? triangle : dense;
        const want = invertWhole(wholeOf(residues, n), BigInt(p));
        for (const { name, run } of runners) {
          const what = `${isPermuted ? "triangle" : "dense"} modulo ${p} on ${name}`;
          const found = await run(invertModulo("test", residues.slice(), n, p, new Progress(undefined, undefined)));
          if (!found) expect.fail(`${what}: aborted`);
          if (isDependent(found)) {
            expect({ column: found.column }, what).toEqual(want);
            continue;
          }
          expect(found.p).toBe(p);
          const inverse = readInverse(found, n);
          for (const v of inverse) expect(Math.abs(v), what).toBeLessThanOrEqual(p);
          expect({ inverse: wholeOf(inverse, n).map((row) => row.map((v) => modulo(v, BigInt(p)))) }, what).toEqual(want);
          found.allocation.free();
        }
      }
    }
  });

  it.each([
    [1, 0],
    [2, 1],
    [33, 32],
    [70, 0],
    [70, 1],
    [70, 31],
    [70, 32],
    [70, 33],
    [70, 63],
    [70, 64],
    [70, 69],
  ])("of order %i end at the first dependent column, %i, with independent rows before it", async (n, column) => {
    const random = new Random(SEED + 1000 * n + column);
    const p = firstPrime(n);
    const residues = residuesAtRandom(random, n, p);
    const factors = range(column).map(() => random.below(p));
    for (let i = 0; i < n; i++) {
      const sum = factors.reduce((s, f, j) => s + BigInt(f) * BigInt(residues[i * n + j] as number), 0n);
      residues[i * n + column] = remainder(Number(modulo(sum, BigInt(p))), p);
    }
    const want = invertWhole(wholeOf(residues, n), BigInt(p));
    for (const { name, run } of runners) {
      const found = await run(invertModulo("test", residues.slice(), n, p, new Progress(undefined, undefined)));
      if (!found || !isDependent(found)) expect.fail(`${name}: no dependent column`);
      expect({ column: found.column }, name).toEqual(want);
      expect(found.p).toBe(p);
      expect(found.rows.length, name).toBe(found.column);
      expect(new Set(found.rows).size, name).toBe(found.column);
      const minor = Array.from(found.rows, (row) => Array.from(residues.subarray(row * n, row * n + found.column), (v) => BigInt(v)));
      expect("inverse" in invertWhole(minor, BigInt(p)), name).toBe(true);
    }
  });

  it("are given up when the work is aborted, and what was kept on the engine is freed", async () => {
    const [n, p] = [70, firstPrime(70)];
    const residues = residuesAtRandom(new Random(SEED + 5), n, p);
    let [kept, freed] = [0, 0];
    const counting = {
      ...(kernels("reference") as MatrixKernels),
      memory: {
        ...reference.memory,
        keepMatrix(...args: Parameters<EngineMemory["keepMatrix"]>) {
          kept++;
          return { ...reference.memory.keepMatrix(...args), free: () => void freed++ };
        },
      },
    } as unknown as MatrixKernels;
    const { run } = runnerOn("counting", counting);
    for (const most of [0, 1, 2]) {
      expect(await run(invertModulo("test", residues.slice(), n, p, new Counting(most)))).toBeUndefined();
      expect([kept, freed]).toEqual([most + 1, most + 1]);
    }
    const whole = await run(invertModulo("test", residues.slice(), n, p, new Counting(3)));
    expect(whole && !isDependent(whole)).toBe(true);
    expect([kept, freed]).toEqual([4, 3]);
    expect(await run(invertModulo("test", new Float64Array(n * n), n, p, new Counting()))).toMatchObject({ column: 0 });
    expect([kept, freed]).toEqual([5, 4]);
  });

  it.each(runners)("tell how far they are, and are given up on a signal meanwhile, on $name", async ({ run }) => {
    const [n, p] = [70, firstPrime(70)];
    const residues = residuesAtRandom(new Random(SEED + 6), n, p);
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      now += 1000;
      return now;
    });
    try {
      const stages: [string, number][] = [];
      const controller = new AbortController();
      const progress = new Progress(controller.signal, (stage, done) => {
        stages.push([stage, done]);
        if (done > 0.5) controller.abort();
      });
      expect(await run(invertModulo("test", residues.slice(), n, p, progress))).toBeUndefined();
      expect(stages).toEqual([
        ["elimination", 0],
        ["elimination", 32 / 70],
        ["elimination", 64 / 70],
      ]);
    } finally {
      clock.mockRestore();
    }
  });
});
