// Certificates and products: their weights against exact inverses, and corrections against exact solutions.

import { describe, expect, it } from "vitest";
import type { Routine } from "../../src/engines/steps.ts";
import { illConditionedMatrix } from "../../src/index.ts";
import { certify } from "../../src/routines/solve/certificate.ts";
import { exactMatrix, factorScale } from "../../src/routines/solve/exact.ts";
import { factorize } from "../../src/routines/solve/factors.ts";
import { allRows } from "../../src/routines/solve/held.ts";
import { productCorrector } from "../../src/routines/solve/product.ts";
import { systemOf } from "../../src/routines/solve/system.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { permutation } from "../generators.ts";
import { range } from "../oracles/matrices.ts";
import {
  approximateFactors,
  identity,
  keepWhole,
  larger,
  magnitude,
  openRunners,
  shifted,
  shiftedMatrix,
  solveWhole,
  timesMatrix,
  timesVector,
  type Whole,
} from "./units.ts";

const runners = await openRunners();

function* weightsOf(data: Float64Array, n: number): Routine<Float64Array | undefined> {
  const factors = yield* approximateFactors(data, n);
  try {
    return (yield* certify("test", factors))?.weights;
  } finally {
    factors.free();
  }
}

// Places after the point that hold every number of these tests.
const PLACES = 300;

// Whether weights_i >= sum_j |inverse_ij|, the inverse being that of the given matrix times 2^-givenPlaces.
function checkBound(weights: Float64Array, given: Whole, givenPlaces: number, what: string): void {
  // Without the zeros that all entries end in.
  const all = given.flat().reduce((bits, v) => bits | v, 0n);
  const zeros = (all & -all).toString(2).length - 1;
  const M = given.map((row) => row.map((v) => v >> BigInt(zeros)));
  const places = givenPlaces - zeros;
  const inverse = solveWhole(M, identity(M.length));
  if (!inverse) expect.fail(`${what}: singular`);
  for (const [i, row] of inverse.Y.entries()) {
    const sum = row.reduce((s, v) => s + magnitude(v), 0n) << BigInt(places);
    const isBound = shifted(weights[i] as number, PLACES) * magnitude(inverse.d) >= sum << BigInt(PLACES);
    expect(isBound, `${what}: row ${i}`).toBe(true);
  }
}

const randomEntries = (random: Random, n: number): Float64Array => Float64Array.from({ length: n * n }, () => random.signed());

describe(`certificates, HALFULP_SEED=${SEED}`, () => {
  it.each([1, 2, 3, 5, 8, 12])("bound the sums of magnitudes in the rows of the inverse, n = %i", async (n) => {
    const random = new Random(SEED + n);
    for (let k = 0; k < 12; k++) {
      const data = randomEntries(random, n).map((v) => (k % 3 === 0 ? Math.round(8 * v) : v));
      const M = shiftedMatrix(data, n, PLACES);
      if (!solveWhole(M, identity(n))) continue;
      for (const { name, run } of runners) {
        const weights = await run(weightsOf(data, n));
        if (k % 3 !== 0) expect(weights, name).toBeDefined();
        if (weights) checkBound(weights, M, PLACES, `${name}: ${data}`);
      }
    }
  });

  it("bound them for diagonals and permutations, where nothing is lost but roundings", async () => {
    const random = new Random(SEED + 20);
    for (let k = 0; k < 30; k++) {
      const n = 1 + random.below(6);
      const order = permutation(random, n);
      const data = new Float64Array(n * n);
      for (let i = 0; i < n; i++) data[i * n + (order[i] as number)] = (1 + 2 * random.below(1000)) * 2 ** (random.below(60) - 30);
      for (const { name, run } of runners) {
        const weights = await run(weightsOf(data, n));
        if (!weights) expect.fail(`${name}: no certificate`);
        checkBound(weights, shiftedMatrix(data, n, PLACES), PLACES, `${name}: ${data}`);
        for (let i = 0; i < n; i++) {
          const j = order[i] as number;
          expect((weights[j] as number) * (data[i * n + j] as number)).toBeLessThan(1 + 1e-9);
        }
      }
    }
  });

  it("bound them where roundings have moved the last pivot, up to the condition that has no certificate any more", async () => {
    const random = new Random(SEED + 21);
    let found = 0;
    for (let k = 0; k < 300; k++) {
      const [a, b, ratio] = [1 + Math.abs(random.signed()), random.signed(), random.signed()];
      const data = Float64Array.of(a, b, a * ratio, b * ratio + random.signed() * 2 ** -(30 + random.below(22)));
      const M = shiftedMatrix(data, 2, PLACES);
      if (!solveWhole(M, identity(2))) continue;
      for (const { name, run } of runners.slice(0, 2)) {
        const weights = await run(weightsOf(data, 2));
        if (!weights) continue;
        found++;
        checkBound(weights, M, PLACES, `${name}: ${data}`);
      }
    }
    expect(found).toBeGreaterThan(200);
  });

  it("are not given to singular matrices, nor for a condition of 1e17", async () => {
    const random = new Random(SEED + 22);
    const none: [string, Float64Array, number][] = [
      ["zero", new Float64Array(1), 1],
      ["ones", new Float64Array(9).fill(1), 3],
      ["tenths", Float64Array.from({ length: 9 }, (_, e) => e + 1).map((v) => v / 8), 3],
      ["a row of zeros", randomEntries(random, 5).fill(0, 10, 15), 5],
    ];
    for (let k = 0; k < 10; k++) {
      const n = 12;
      const whole = Float64Array.from({ length: n * n }, () => random.below(2001) - 1000);
      // The last column is a sum of two others, scaled, so that elimination rounds before it cancels.
      for (let i = 0; i < n; i++) whole[i * n + n - 1] = (whole[i * n] as number) + (whole[i * n + 5] as number);
      none.push(
        ["dependent columns", whole, n],
        ["condition 1e17", illConditionedMatrix(n, 1e17, random.below(1000)).data as Float64Array, n],
      );
    }
    for (const { name, run } of runners)
      for (const [what, data, n] of none) expect(await run(weightsOf(data, n)), `${what} on ${name}`).toBeUndefined();
  });

  it("are not given to factors out of range", async () => {
    for (const { name, run } of runners) {
      expect(await run(weightsOf(Float64Array.of(2 ** 201), 1)), name).toBeUndefined();
      expect(await run(weightsOf(Float64Array.of(2 ** -201), 1)), name).toBeUndefined();
      expect(await run(weightsOf(Float64Array.of(2 ** 150, 0, 0, 2 ** -150), 2)), name).toBeDefined();
    }
  });
});

describe(`correctors by products, HALFULP_SEED=${SEED}`, () => {
  const n = 20;
  it.each([14, 16, 18, 20, 22, 24])(
    "have weights that bound the inverse of R F, and correct to a thousandth, condition 1e%d",
    async (digits) => {
      const random = new Random(SEED + digits);
      const seed = random.below(1000);
      // Rows and columns that call for a scale.
      const power = (e: number): number => (digits === 18 ? 20 * (Math.floor(e / n) % 3) - 30 * ((e % n) % 2) : 0);
      const matrixOf = (k: number): Float64Array =>
        (illConditionedMatrix(n, 10 ** digits, seed + k).data as Float64Array).map((v, e) => v * 2 ** power(e));
      const word = (): bigint => BigInt(random.word() >>> 0);
      const whole = range(n).map((i) => (i % 2 === 0 ? 1n : -1n) * (word() * 2n ** 126n + word() * 2n ** 64n + word()));
      for (const { name, run } of runners) {
        // A last pivot that cancels to exactly 0 leaves no factors: then the next matrix.
        let result: Corrected | "broken" | undefined = "broken";
        for (let k = 0; result === "broken" && k < 30; k++) result = await run(corrected(matrixOf(k), whole));
        if (!result || result === "broken") expect.fail(`${name}: no corrector`);
        const { F, R, weights, d, size, left } = result;
        checkBound(weights, timesMatrix(R, F), 2 * PLACES, name);
        // What three words leave of a residual is below 2^-158 in every entry.
        const norm = R.map((row) => row.reduce((sum, v) => sum + magnitude(v), 0n)).reduce(larger);
        expect(norm <= shifted(left, PLACES + 158), `${name}: what is left`).toBe(true);
        // F d = r, nearly, and the bound of it.
        const exact = solveWhole(
          F,
          whole.map((v) => [v]),
        );
        if (!exact) expect.fail("singular");
        // z = Y / det(F), times 2^(PLACES - 158), in units of 2^-PLACES.
        const z = exact.Y.map(([y]) => ((y as bigint) << BigInt(2 * PLACES - 158)) / exact.d);
        const most = z.reduce((s, v) => larger(s, magnitude(v)), 0n);
        for (let j = 0; j < n; j++) {
          const error = magnitude(shifted(d[j] as number, PLACES) - (z[j] as bigint));
          expect(error * 1000n <= most, `${name}: component ${j} of the correction`).toBe(true);
          const bound = shifted(weights[j] as number, PLACES) * shifted(size, PLACES);
          expect(magnitude(z[j] as bigint) << BigInt(PLACES) <= bound, `${name}: bound of component ${j}`).toBe(true);
        }
      }
    },
  );

  it("are not there for a condition of 1e40, nor for a singular matrix", async () => {
    const random = new Random(SEED + 30);
    const far = illConditionedMatrix(n, 1e40, random.below(1000)).data as Float64Array;
    const singular = randomEntries(random, n);
    for (let i = 0; i < n; i++) singular[i * n + 7] = (singular[i * n + 3] as number) * 4;
    for (const { name, run } of runners)
      for (const data of [far, singular])
        expect(
          await run(
            corrected(
              data,
              range(n).map(() => 1n),
            ),
          ),
          name,
        ).toBeOneOf(["broken", undefined]);
  });

  interface Corrected {
    /** F 2^PLACES and R 2^PLACES. */
    readonly F: Whole;
    readonly R: Whole;
    readonly weights: Float64Array;
    readonly d: Float64Array;
    readonly size: number;
    /** The size for a residual of zeros. */
    readonly left: number;
  }

  // whole * 2^-158 as a sum of three words.
  function wordsOf(whole: readonly bigint[]): Float64Array[] {
    const words = range(3).map(() => new Float64Array(n));
    for (const [i, v] of whole.entries()) {
      let rest = v;
      for (const [k, word] of words.entries()) {
        const places = BigInt(106 - 53 * k);
        const top = rest >> places;
        word[i] = Number(top) * 2 ** (-53 * (k + 1) + 1);
        rest -= top << places;
      }
      expect(words.reduce((sum, word) => sum + shifted(word[i] as number, 158), 0n)).toBe(v);
    }
    return words;
  }

  // The corrector of a matrix, and its correction for the residual whole * 2^-158.
  function* corrected(data: Float64Array, whole: readonly bigint[]): Routine<Corrected | "broken" | undefined> {
    const kept = yield* keepWhole(data, n);
    const system = yield* systemOf("test", kept);
    const { factors } = yield* factorize(system, "double", new Float64Array(0), 0);
    try {
      if (factors.isBroken) return "broken";
      const corrector = yield* productCorrector(exactMatrix("test", n, { rows: allRows(n), data }), system, factors);
      if (!corrector) return undefined;
      try {
        const unit = new Float64Array(n * n);
        for (let i = 0; i < n; i++) unit[i * n + i] = 1;
        const R = shiftedMatrix(yield* factors.substitute(unit, n), n, PLACES);
        const { rows, cols } = factorScale(system);
        const F = range(n).map((i) =>
          range(n).map((j) => shifted(data[i * n + j] as number, PLACES + (rows[i] as number) + (cols[j] as number))),
        );
        expect(corrector.words).toBe(3);
        const { size: left } = yield* corrector.correct(range(3).map(() => new Float64Array(n)));
        // F z times 2^-17, which R brings back from far smaller than its norm: it takes all words.
        const known = range(n).map((j) => BigInt(j % 2 === 0 ? 100 + j : -j));
        const right = timesVector(F, known).map((v) => v >> BigInt(PLACES + 17 - 158));
        const { d: back } = yield* corrector.correct(wordsOf(right));
        for (const [j, v] of known.entries())
          expect(Math.abs((back[j] as number) * 2 ** 17 - Number(v)), `component ${j}`).toBeLessThan(0.1);
        return { F, R, weights: corrector.weights, left, ...(yield* corrector.correct(wordsOf(whole))) };
      } finally {
        corrector.free();
      }
    } finally {
      factors.free();
      kept.free();
    }
  }
});
