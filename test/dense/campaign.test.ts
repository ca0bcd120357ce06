// Random systems of every kind on every engine, against the oracle. HALFULP_SYSTEMS sets how many (the long mode:
// millions), HALFULP_SEED repeats a run.
import { describe, expect, test } from "vitest";
import { Random } from "../../src/study.ts";
import type { Format, Real } from "../../src/types.ts";
import { DENSE_FEW } from "../engines.ts";
import {
  coin,
  column,
  completing,
  entry,
  factorable,
  layout,
  numbers,
  opposite,
  pick,
  scalar,
  system,
  table,
  vectorOf,
} from "../matrices.ts";
import { products, range, type Value } from "../oracles/matrices.ts";
import { batchCheck, type Check, gemmCheck, gemvCheck, luCheck, trsvCheck } from "./checks.ts";

const COUNT = Number(process.env.HALFULP_SYSTEMS ?? 20_000);
const SEED = Number(process.env.HALFULP_SEED ?? Date.now() % 2 ** 32);

// Sizes that matter to the engines: mostly small, some around their blocks, a few beyond. An inner product costs n, a
// factorization n^3: `rare` is how many times rarer the larger ones are.
function size(random: Random, rare: number): number {
  const which = random.below(100 * rare);
  if (which < 1) return 130 + random.below(2);
  if (which < 12) return 13 + random.below(68);
  return random.below(13);
}

const formatFor = (random: Random): Format => (random.below(4) === 0 ? "binary32" : "binary64");

// beta and what it multiplies: anything, or what nearly cancels the exact products, or brings them to a tie.
function addend(random: Random, exact: readonly Value[], format: Format): [number, Real] {
  const style = random.below(3);
  if (style === 0) return [scalar(random), numbers(random, exact.length, format)];
  const sign = coin(random) ? 1 : -1;
  const complete = style === 1 ? opposite : completing;
  return [
    sign,
    vectorOf(
      format,
      exact.map((v) => sign * complete(random, v, format)),
    ),
  ];
}

const CASES: Record<string, { share: number; make: (random: Random) => Check }> = {
  exgemv: {
    share: 0.3,
    make(random) {
      const format = formatFor(random);
      const A = table(random, size(random, 1), size(random, 1), format);
      const trans = coin(random);
      const [rows, cols] = trans ? [A.cols, A.rows] : [A.rows, A.cols];
      const alpha = scalar(random);
      const x = numbers(random, cols, format);
      const [beta, y] = addend(random, products(rows, 1, cols, alpha, entry(A, trans), column(x)), format);
      return gemvCheck(alpha, A, x, beta, y, trans, layout(random));
    },
  },
  exgemm: {
    share: 0.2,
    make(random) {
      const format = formatFor(random);
      const [m, n, k] = [size(random, 4), size(random, 4), size(random, 4)];
      const [transA, transB] = [coin(random), coin(random)];
      const A = transA ? table(random, k, m, format) : table(random, m, k, format);
      const B = transB ? table(random, n, k, format) : table(random, k, n, format);
      const alpha = scalar(random);
      const [beta, values] = addend(random, products(m, n, k, alpha, entry(A, transA), entry(B, transB)), format);
      const at = [layout(random), layout(random), layout(random)];
      return gemmCheck(alpha, A, B, beta, { rows: m, cols: n, values }, transA, transB, at);
    },
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

  test.each(Object.keys(CASES))(`%s of its share of ${COUNT} systems is what the oracle says`, async (name) => {
    const { share, make } = CASES[name] as (typeof CASES)[string];
    const seed = SEED + Object.keys(CASES).indexOf(name);
    for (let k = 0; k < Math.ceil(share * COUNT); k++) {
      const check = make(new Random(seed * 2 ** 20 + k));
      for (const { name: engine, routines, every } of DENSE_FEW)
        if (k % every === 0) await check(routines, `${engine} (HALFULP_SEED=${SEED}, case ${k})`);
    }
  });
});
