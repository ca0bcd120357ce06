// The bounds themselves: what a stage says it may have lost is never less than what it lost.

import { expect, test } from "vitest";
import type { Real, Reduction } from "../src/arrays/types.ts";
import { enclosure } from "../src/exact/enclosure.ts";
import { Random, Superaccumulator } from "../src/study.ts";
import { SEED, VECTORS } from "./effort.ts";
import { KINDS, toSingle, vector } from "./generators.ts";
import { describeKernels } from "./kernels.ts";
import { exactNumber, exactReduction } from "./oracles/rational.ts";

const COUNT = VECTORS / 25;
// With the relative 2^-20 that is allowed for the roundings in a bound itself.
const inflated = (bound: number): bigint => ((exactNumber(bound) as bigint) * (2n ** 20n + 1n)) / 2n ** 20n;
const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

// The finite sum in units of 2^-2148; digit 0 is worth 2^-3296.
function integer(sum: Superaccumulator): bigint {
  const { negative, first, digits } = sum.magnitude();
  const n = digits.reduceRight((v, digit) => (v << 32n) | BigInt(digit), 0n);
  const shift = 32 * first - 3296 + 2148;
  return (shift < 0 ? n >> BigInt(-shift) : n << BigInt(shift)) * (negative ? -1n : 1n);
}

describeKernels(`bounds, HALFULP_SEED=${SEED}`, (engine) => {
  // Each stage against the exact sum. Returns whether the filter knew anything.
  function check(op: Reduction, x: Real, y: Real, label: string): boolean {
    const exact = exactReduction(op, x, y);
    if (typeof exact === "number") return false;

    engine.enclose(op, x, y);
    const [high, low, bound] = Array.from(enclosure) as [number, number, number];
    const known = Number.isFinite(high) && Number.isFinite(low) && Number.isFinite(bound);
    if (known) {
      const off = magnitude(exact - (exactNumber(high) as bigint) - (exactNumber(low) as bigint));
      if (off > inflated(bound)) expect.fail(`the filter lost more than ${bound} (${label})`);
    }

    const sum = new Superaccumulator();
    const lost = engine.accumulate(op, x, y, sum, false);
    if (magnitude(exact - integer(sum)) > inflated(lost)) expect.fail(`the ladder lost more than ${lost} (${label})`);

    engine.accumulate(op, x, y, sum.clear(), true);
    if (integer(sum) !== exact) expect.fail(`the exact ladder is not (${label})`);
    return known;
  }

  test("when every term leaves the most it can, on the same side", () => {
    // 1 + 2^-j less a little: next to half a step of the grid that lies at j
    for (let j = 1; j < 52; j++)
      for (const n of [40, 512, 8192]) {
        const x = new Float64Array(n).fill((j % 2 ? -1 : 1) * (1 + 2 ** -j - 2 ** -52));
        for (const second of [x[0] as number, 1, 1 - 2 ** -j - 2 ** -53])
          check("dot", x, new Float64Array(n).fill(second), `j = ${j}, n = ${n}`);
        check("sum", x, x, `j = ${j}, n = ${n}`);
      }
  });

  test("when terms grow or shrink from block to block", () => {
    const random = new Random(SEED);
    for (const step of [-30, -3, 1, 3, 30])
      for (const n of [1024, 5000]) {
        const x = Float64Array.from({ length: n }, (_, i) => random.signed() * 2 ** (step * Math.floor(i / 150)));
        check("sum", x, x, `step ${step}, n = ${n}`);
        check(
          "dot",
          x,
          Float64Array.from(x, () => random.signed()),
          `step ${step}, n = ${n}`,
        );
      }
  });

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
      if (check(op, x, y, `HALFULP_SEED=${SEED}, case ${k}, n = ${n}`)) enclosed++;
    }
    expect(enclosed).toBeGreaterThan(COUNT / 4);
  });
});
