// The pieces of src/exact, one by one, against rational arithmetic.
import { describe, expect, test } from "vitest";
import type { Format, Rounding } from "../../src/arrays/types.ts";
import { nextDown, nextUp, powerOfTwo } from "../../src/exact/bits.ts";
import { roundEnclosure, roundSingle } from "../../src/exact/enclosure.ts";
import { expansionAccumulate } from "../../src/exact/expansion.ts";
import { Superaccumulator } from "../../src/exact/superaccumulator.ts";
import { twoProd, twoSum } from "../../src/exact/transforms.ts";
import { Random } from "../../src/study.ts";
import { SEED } from "../effort.ts";
import { ENGINES } from "../engines.ts";
import { assemble, KINDS, vector } from "../generators.ts";
import { exactNumber, exactProduct, exactReduction, round, roundRatio, roundRoot, units } from "../oracles/rational.ts";

const MODES: readonly Rounding[] = ["nearest", "up", "down", "zero"];
const FORMATS: readonly Format[] = ["binary64", "binary32"];
const random = new Random(SEED);
const finite = (kind: (typeof KINDS)[number] = "bits"): number => vector(random, 1, kind)[0] as number;
const middling = (): number => assemble(random.below(2), 823 + random.below(400), random.word() >>> 12, random.word());

describe(`error-free transforms, HALFULP_SEED=${SEED}`, () => {
  test("a + b is s and its error, for any bits that do not overflow", () => {
    for (let k = 0; k < 20000; k++) {
      const a = finite();
      const b = random.below(2) ? finite() : a * middling();
      const s = a + b;
      if (Number.isFinite(s) && Math.abs(a) < 1e300 && Math.abs(b) < 1e300)
        expect(units(s) + units(twoSum(a, b, s))).toBe(units(a) + units(b));
    }
  });

  test("a b is p and its error, in the middle of the range", () => {
    for (let k = 0; k < 20000; k++) {
      const a = middling();
      const b = middling();
      const p = a * b;
      expect((units(p) + units(twoProd(a, b, p))) << 1074n).toBe(exactProduct(a, b));
    }
  });
});

describe("expansionAccumulate", () => {
  test.each([2, 3, 4, 5, 6, 7, 8])("an expansion of %i and what it passes on add up, with early exit or without", (size) => {
    for (const early of [true, false]) {
      const a = new Float64Array(size);
      let total = 0n;
      let passed = 0n;
      for (let k = 0; k < 300; k++) {
        const x = middling();
        total += units(x);
        passed += units(expansionAccumulate(a, x, early));
      }
      expect(a.reduce((sum, v) => sum + units(v), passed)).toBe(total);
    }
  });

  test("numbers within 100 bits leave nothing in an expansion of 4", () => {
    const a = new Float64Array(4);
    for (let k = 0; k < 1000; k++) expect(expansionAccumulate(a, random.signed() * powerOfTwo(random.below(47)))).toBe(0);
  });
});

describe(`superaccumulator, HALFULP_SEED=${SEED}`, () => {
  // In units of 2^-2148, from two sums of numbers and products.
  const some = (): [Superaccumulator, bigint] => {
    const kind = KINDS[random.below(KINDS.length - 2)] as (typeof KINDS)[number];
    const x = vector(random, 1 + random.below(6), kind);
    const sum = new Superaccumulator();
    let exact = 0n;
    for (const v of x) {
      if (random.below(2)) {
        sum.add(v);
        exact += exactNumber(v) as bigint;
      } else {
        const w = finite();
        sum.addProduct(v, w);
        exact += exactProduct(v, w) as bigint;
      }
    }
    return [sum, exact];
  };

  test("rounds in four modes to two formats", () => {
    for (let k = 0; k < 3000; k++) {
      const [sum, exact] = some();
      for (const mode of MODES) for (const format of FORMATS) expect(sum.round(mode, format)).toBe(round(exact, mode, format));
      expect(sum.sign()).toBe(exact > 0n ? 1 : exact < 0n ? -1 : 0);
    }
  });

  test("merges, and negates", () => {
    for (let k = 0; k < 1000; k++) {
      const [a, exactA] = some();
      const [b, exactB] = some();
      expect(a.merge(b).round()).toBe(round(exactA + exactB, "nearest", "binary64"));
      expect(a.negate().round()).toBe(round(-exactA - exactB, "nearest", "binary64"));
      expect(a.merge(a).round()).toBe(round(-2n * (exactA + exactB), "nearest", "binary64"));
    }
  });

  test("scales by a number exactly, also by the smallest and the largest", () => {
    for (let k = 0; k < 2000; k++) {
      const [sum, exact] = some();
      const factor = random.below(3) ? finite() : ([5e-324, Number.MAX_VALUE, -1, 0, 2 ** -1022][random.below(5)] as number);
      // exact * factor is in units of 2^-3222: divide that by 2^1074 where it is rounded
      expect(sum.scale(factor).round()).toBe(roundRatio(exact * units(factor), 1n << 1074n, "nearest", "binary64"));
    }
  });

  test("divides by a number", () => {
    for (let k = 0; k < 2000; k++) {
      const [sum, exact] = some();
      const d = finite() || 1;
      for (const mode of MODES)
        for (const format of FORMATS) expect(sum.quotient(d, mode, format)).toBe(roundRatio(exact << 1074n, units(d), mode, format));
    }
  });

  test("takes square roots", () => {
    for (let k = 0; k < 2000; k++) {
      const [sum, exact] = some();
      for (const mode of MODES)
        for (const format of FORMATS) expect(sum.squareRoot(mode, format)).toBe(exact < 0n ? Number.NaN : roundRoot(exact, mode, format));
    }
  });

  test("a root and a quotient that are exact, or halfway, are so in every mode", () => {
    const square = new Superaccumulator().addProduct(1 + 2 ** -52, 1 + 2 ** -52);
    for (const mode of MODES) expect(square.squareRoot(mode)).toBe(1 + 2 ** -52);
    const tie = new Superaccumulator().addProduct(3, 1).addProduct(3, 2 ** -53); // 3 (1 + 2^-53)
    expect(MODES.map((mode) => tie.quotient(3, mode))).toEqual([1, 1 + 2 ** -52, 1, 1]);
    const above = tie.add(5e-324);
    expect(MODES.map((mode) => above.quotient(3, mode))).toEqual([1 + 2 ** -52, 1 + 2 ** -52, 1, 1]);
  });

  test("keeps track of what is not finite", () => {
    expect(new Superaccumulator().add(Number.POSITIVE_INFINITY).add(1).round()).toBe(Number.POSITIVE_INFINITY);
    expect(new Superaccumulator().addProduct(Number.POSITIVE_INFINITY, 0).round()).toBe(Number.NaN);
    expect(new Superaccumulator().add(Number.POSITIVE_INFINITY).add(Number.NEGATIVE_INFINITY).round()).toBe(Number.NaN);
    expect(new Superaccumulator().add(Number.POSITIVE_INFINITY).scale(-2).round()).toBe(Number.NEGATIVE_INFINITY);
    expect(new Superaccumulator().add(Number.POSITIVE_INFINITY).scale(0).round()).toBe(Number.NaN);
    expect(new Superaccumulator().add(Number.NEGATIVE_INFINITY).quotient(-3)).toBe(Number.POSITIVE_INFINITY);
    expect(new Superaccumulator().add(-3).quotient(0)).toBe(Number.NEGATIVE_INFINITY);
  });

  test("eight million terms of one sign run the carries in time", () => {
    const sum = new Superaccumulator();
    const x = -(2 - 2 ** -52);
    for (let k = 0; k < 2 ** 23; k++) sum.add(x);
    expect(sum.round()).toBe(x * 2 ** 23);
  });
});

describe("bits", () => {
  test("powers of two, and neighbours, over the whole range", () => {
    for (let k = -1074; k < 1024; k++) expect(powerOfTwo(k)).toBe(2 ** k);
    expect([nextUp(0), nextDown(0), nextUp(-5e-324), nextUp(1), nextDown(1), nextUp(Number.MAX_VALUE)]).toEqual([
      5e-324,
      -5e-324,
      -0,
      1 + 2 ** -52,
      1 - 2 ** -53,
      Number.POSITIVE_INFINITY,
    ]);
  });

  test("binary64 to binary32 in four modes", () => {
    for (let k = 0; k < 20000; k++) {
      const x = random.below(2)
        ? finite()
        : assemble(random.below(2), 870 + random.below(290), random.word() >>> 12, random.below(4) << 28);
      for (const mode of MODES) expect(roundSingle(x, mode), `${x} ${mode}`).toBe(round(exactNumber(x), mode, "binary32"));
    }
  });
});

describe("enclosures", () => {
  test("never decide what the ends of the interval do not agree on", () => {
    for (let k = 0; k < 20000; k++) {
      const high = middling();
      const low = high * random.signed() * 2 ** -(50 + random.below(10));
      const bound = Math.abs(high) * 2 ** -(53 + random.below(60)) * (random.below(4) === 0 ? 0 : 1);
      const centre = exactReduction("sum", Float64Array.of(high, low)) as bigint;
      const reach = exactNumber(bound) as bigint;
      for (const mode of MODES)
        for (const format of FORMATS) {
          const got = roundEnclosure(high, low, bound, mode, format);
          if (Number.isNaN(got)) continue;
          expect(got).toBe(round(centre - reach, mode, format));
          expect(got).toBe(round(centre + reach, mode, format));
        }
    }
  });

  test("do not take a root for exact when the bound, or the rest, has underflowed", async () => {
    for (const { routines } of ENGINES) {
      expect(await routines.exnrm2(Float64Array.of(2 ** 480, 2 ** -480), { round: "up" })).toBe(nextUp(2 ** 480));
      expect(await routines.exnrm2(Float64Array.of(3, 1e-200), { round: "up" })).toBe(nextUp(3));
      expect(await routines.exnrm2(Float64Array.of(9.613410764658682e97, 1e-299), { round: "up" })).toBe(nextUp(9.613410764658682e97));
    }
  });

  test("decide nearly always when the bound is small", () => {
    let undecided = 0;
    for (let k = 0; k < 1000; k++) {
      const high = middling();
      if (Number.isNaN(roundEnclosure(high, high * random.signed() * 2 ** -60, Math.abs(high) * 2 ** -75, "nearest", "binary64")))
        undecided++;
    }
    expect(undecided).toBe(0);
  });
});
