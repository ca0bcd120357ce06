// Quotients that are a midpoint of two numbers, or nearer to one than any bound of the fast way can tell: s = M d + delta with
// an odd M of 54 bits and delta = -1, 0 or 1, as b - a x with x in the row above.

import { describe, expect, test } from "vitest";
import { csr } from "../../src/index.ts";
import { Random } from "../../src/study.ts";
import { cases, SEED } from "../effort.ts";
import { SELECTED_ENGINES } from "../engines.ts";

const CASES = cases(3000);

function bits(random: Random, count: number): bigint {
  const word = (BigInt(random.below(2 ** 27)) << 27n) | BigInt(random.below(2 ** 27));
  return (word & ((1n << BigInt(count)) - 1n)) | (1n << BigInt(count - 1)) | 1n; // odd, of so many bits
}

describe.each(SELECTED_ENGINES)("$name", ({ routines, every }) => {
  test(`near ties of quotients, HALFULP_SEED=${SEED}`, async () => {
    const random = new Random(SEED);
    for (let k = 0; k < CASES; k++) {
      const [M, d, delta] = [bits(random, 54), bits(random, 1 + random.below(53)), BigInt(random.below(3) - 1)];
      const s = M * d + delta;
      const high = Number(s); // rounded to nearest
      const rest = Number(s - BigInt(high)); // at most 53 bits: exact
      const scale = 2 ** (random.below(400) - 200);
      const sign = random.below(2) === 0 ? 1 : -1;
      // The two parts in either place, and a second product that adds nothing.
      const [b, x] = random.below(2) === 0 ? [high, rest] : [rest, high];
      const L = csr(
        3,
        3,
        Int32Array.of(0, 1, 2, 5),
        Int32Array.of(0, 1, 0, 1, 2),
        Float64Array.of(1, 1, -1, random.signed(), Number(d) * sign),
      );
      const even = ((M + 1n) / 2n) % 2n === 0n ? M + 1n : M - 1n;
      const want = Number(delta === 0n ? even : M + delta) * scale * sign;
      if (k % Math.min(every, 8) !== 0) continue;
      const plan = await routines.sptrsv(L);
      const solution = await plan.solve(Float64Array.of(x * scale, 0, b * scale));
      await plan.free();
      expect(solution[2], `case ${k}: M ${M}, d ${d}, delta ${delta}`).toBe(want + 0);
    }
  });
});
