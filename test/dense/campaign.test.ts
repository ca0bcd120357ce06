// Random systems of every kind on every engine, against the oracle.

import { describe, expect, test } from "vitest";
import type { Format } from "../../src/arrays/types.ts";
import { Random } from "../../src/study.ts";
import { SEED, SYSTEMS } from "../effort.ts";
import { SELECTED_ENGINES } from "../engines.ts";
import { coin, factorable, layout, numbers, pick, system } from "../matrices.ts";
import { range } from "../oracles/matrices.ts";
import { batchCheck, type Check, luCheck, trsvCheck } from "./checks.ts";
import { randomGemm, randomGemv } from "./products.ts";

// Sizes that matter to the engines: mostly small, some around their blocks, a few beyond. An inner product costs n, a
// factorization n^3: `rare` is how many times rarer the larger ones are.
function size(random: Random, rare: number): number {
  const which = random.below(100 * rare);
  if (which < 1) return 130 + random.below(2);
  if (which < 12) return 13 + random.below(68);
  return random.below(13);
}

const formatFor = (random: Random): Format => (random.below(4) === 0 ? "binary32" : "binary64");

const CASES: Record<string, { share: number; make: (random: Random) => Check }> = {
  exgemv: {
    share: 0.3,
    make: (random) => randomGemv(random, formatFor(random), size(random, 1), size(random, 1)),
  },
  exgemm: {
    share: 0.2,
    make: (random) => randomGemm(random, formatFor(random), size(random, 4), size(random, 4), size(random, 4)),
  },
  extrsv: {
    share: 0.3,
    make(random) {
      const format = formatFor(random);
      const upper = coin(random);
      const { T, b } = system(random, size(random, 1), format, upper);
      const options = {
        trans: coin(random),
        unit: random.below(3) === 0,
        rounding: pick(random, ["single", "single", "paper", "corrected"] as const),
        refine: pick(random, [0, 0, 0, 1, 2]),
        refineBlocks: pick(random, [0, 0, 0, 1, 2]),
        blockSize: pick(random, [1, 2, 3, 4, 5, 8, 16, 23, 32, 64, 128]),
      };
      return trsvCheck(T, b, upper, options, layout(random));
    },
  },
  exlu: {
    share: 0.15,
    make(random) {
      const format = formatFor(random);
      const rows = size(random, 4);
      if (coin(random)) return luCheck(factorable(random, rows, size(random, 4), format), layout(random));
      return luCheck(factorable(random, rows, rows, format), layout(random), numbers(random, rows, format, "narrow"), random.below(3));
    },
  },
  exluBatch: {
    share: 0.05,
    make(random) {
      const format = formatFor(random);
      const n = random.below(7);
      const matrices = range(random.below(6)).map(() => factorable(random, n, n, format));
      return batchCheck(matrices, n, format);
    },
  },
};

describe(`random systems, HALFULP_SEED=${SEED}`, () => {
  test("the shares add up", () => expect(Object.values(CASES).reduce((s, { share }) => s + share, 0)).toBeCloseTo(1));

  test.each(Object.keys(CASES))(`%s of its share of ${SYSTEMS} systems is what the oracle says`, async (name) => {
    const { share, make } = CASES[name] as (typeof CASES)[string];
    const seed = SEED + Object.keys(CASES).indexOf(name);
    for (let k = 0; k < Math.ceil(share * SYSTEMS); k++) {
      const check = make(new Random(seed * 2 ** 20 + k));
      for (const { name: engine, routines, every } of SELECTED_ENGINES)
        if (k % every === 0) await check(routines, `${engine} (HALFULP_SEED=${SEED}, case ${k})`);
    }
  });
});
