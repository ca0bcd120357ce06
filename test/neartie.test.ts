// Sums placed at a chosen distance from a tie: where a filter whose bound is too small gives itself away.

import { describe, expect, test } from "vitest";
import { Random } from "../src/study.ts";
import { SEED, VECTORS } from "./effort.ts";
import { SELECTED_ENGINES } from "./engines.ts";
import { permutation, vector } from "./generators.ts";
import { toHex } from "./hex.ts";
import { exactReduction, round, units } from "./oracles/rational.ts";

const COUNT = VECTORS / 50;

// An exact value, in units of 2^-2148, as doubles that add up to it.
function doubles(value: bigint): number[] {
  const parts: number[] = [];
  for (let rest = value; rest !== 0n; ) {
    const part = round(rest, "nearest", "binary64");
    if (part === 0) break;
    parts.push(part);
    rest -= units(part) << 1074n;
  }
  return parts;
}

describe(`sums next to a tie, HALFULP_SEED=${SEED}`, () => {
  test.each(["exsum", "exdot"] as const)(`%s of ${COUNT} vectors falls on the right side`, async (name) => {
    for (let k = 0; k < COUNT; k++) {
      const random = new Random(SEED * 2 ** 20 + k);
      const n = 40 + random.below(random.below(20) === 0 ? 20000 : 600);
      const x = vector(random, n, "narrow").map((v) => v * 0.5);
      const y = name === "exdot" ? vector(random, n, "narrow") : x.map(() => 1);
      // Products must stay in the middle of the range for the parts below to be exact.
      const inRange = x.every((v, i) => Math.abs(v * (y[i] as number)) > 1e-200 && Math.abs(v * (y[i] as number)) < 1e250);
      if (!inRange) continue;
      const sum = exactReduction("dot", x, y) as bigint;
      const near = round(sum, "nearest", "binary64");
      const step = units(near * (1 + 2 ** -52)) - units(near); // one unit in the last place, or two
      const distance = ((step << 1074n) >> BigInt(3 + random.below(50))) * BigInt(random.below(3) - 1);
      const parts = doubles((units(near) << 1074n) + ((step << 1074n) >> 1n) + distance - sum);
      const order = permutation(random, n + parts.length);
      const all = [...x, ...parts];
      const allY = [...y, ...parts.map(() => 1)];
      const v = Float64Array.from(order, (i) => all[i] as number);
      const w = Float64Array.from(order, (i) => allY[i] as number);
      const want = round(exactReduction("dot", v, w), "nearest", "binary64");
      for (const { name: engine, routines, every } of SELECTED_ENGINES) {
        if (k % every !== 0) continue;
        const got = await (name === "exdot" ? routines.exdot(v, w) : routines.exsum(v));
        if (!Object.is(got, want))
          expect.fail(`${engine}: ${toHex(got)}, expected ${toHex(want)} (HALFULP_SEED=${SEED}, case ${k}, n = ${v.length})`);
      }
    }
  });
});
