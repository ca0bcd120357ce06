// The bounds themselves: what a stage says it may have lost is never less than what it lost.
import { expect, test } from "vitest";
import { enclosure } from "../src/exact/enclosure.ts";
import { Random, Superaccumulator } from "../src/study.ts";
import type { Real, Reduction } from "../src/types.ts";
import { describeEngines } from "./engines.ts";
import { KINDS, toSingle, vector } from "./generators.ts";
import { exactNumber, exactReduction } from "./oracles/rational.ts";

const COUNT = Number(process.env.HALFULP_VECTORS ?? 100_000) / 25;
const SEED = Number(process.env.HALFULP_SEED ?? Date.now() % 2 ** 32);
const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

// The finite sum in units of 2^-2148; digit 0 is worth 2^-3296.
function integer(sum: Superaccumulator): bigint {
  const { negative, first, digits } = sum.magnitude();
  const n = digits.reduceRight((v, digit) => (v << 32n) | BigInt(digit), 0n);
  const shift = 32 * first - 3296 + 2148;
  return (shift < 0 ? n >> BigInt(-shift) : n << BigInt(shift)) * (negative ? -1n : 1n);
}

describeEngines(`bounds, HALFULP_SEED=${SEED}`, (_, engine) => {
  test.each(["sum", "asum", "dot"] as const)(`of ${COUNT} vectors, %s`, (op: Reduction) => {
    let enclosed = 0;
    for (let k = 0; k < COUNT; k++) {
      const random = new Random(SEED * 2 ** 20 + k);
      const n = 33 + random.below(random.below(50) === 0 ? 10000 : 300);
      const kind = (): (typeof KINDS)[number] => KINDS[random.below(KINDS.length)] as (typeof KINDS)[number];
      const single = random.below(4) === 0;
      const wide = vector(random, n, kind());
      const other = vector(random, n, kind());
      const x: Real = single ? toSingle(random, wide) : wide;
      const y: Real = op !== "dot" ? x : single ? toSingle(random, other) : other;
      const exact = exactReduction(op, x, y);
      if (typeof exact === "number") continue;
      const label = `HALFULP_SEED=${SEED}, case ${k}, n = ${n}`;

      engine.enclose(op, x, y);
      const [high, low, bound] = Array.from(enclosure) as [number, number, number];
      if (Number.isFinite(high) && Number.isFinite(low) && Number.isFinite(bound)) {
        enclosed++;
        const off = magnitude(exact - (exactNumber(high) as bigint) - (exactNumber(low) as bigint));
        // The relative 2^-20 is what roundEnclosure allows for the roundings in the bound itself.
        if (off > ((exactNumber(bound) as bigint) * (2n ** 20n + 1n)) / 2n ** 20n)
          expect.fail(`the filter lost more than ${bound} (${label})`);
      }

      const sum = new Superaccumulator();
      const lost = engine.accumulate(op, x, y, sum, false);
      if (magnitude(exact - integer(sum)) > ((exactNumber(lost) as bigint) * (2n ** 20n + 1n)) / 2n ** 20n)
        expect.fail(`the ladder lost more than ${lost} (${label})`);

      sum.clear();
      engine.accumulate(op, x, y, sum, true);
      if (integer(sum) !== exact) expect.fail(`the exact ladder is not (${label})`);
    }
    expect(enclosed).toBeGreaterThan(COUNT / 4);
  });
});
