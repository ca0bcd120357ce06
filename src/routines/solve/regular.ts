// The random test that rounding "backward" applies to factors instead of a proof of regularity (see "Errors" in docs/solve.md). Called by
// checkRegular() in solver.ts.

import { Random } from "../../arrays/random.ts";
import type { Routine } from "../../engines/steps.ts";
import { highWord, lowWord } from "../../exact/bits.ts";
import { correct } from "../../exact/store.ts";
import { approximateSolutions, type MethodFactors } from "./factors.ts";
import { largest } from "./powers.ts";
import { exactResiduals, ordinaryResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

// For a singular matrix there is a w with w A = 0 and norm_1(w) = 1, so |w v| = |w (v - A y)| <= norm(v - A y) for any v and y. If the
// entries of v are uniform and independent, the density of w v is at most a few times sqrt(n) (norm_2(w) >= 1 / sqrt(n)): a residual of
// at most 2^-20 / sqrt(n) has a probability of about 2^-20.
const SMALL = 2 ** -20;
const MAX_CORRECTIONS = 30;
const MAX_SLOW = 2; // corrections in a row that do not halve the residual; the first may even double it

/**
 * Whether the factors solve a random system, as those of a regular matrix do unless it is nearly singular. Corrections r := r - A d are
 * in ordinary arithmetic. If their rounding errors may matter, the residual of y, the sum of all d, is computed exactly, once.
 * `reportSize` gets the size of the first solution. (One thread, FMA, n = 1000: three corrections, 2 ms of 22.)
 */
export function* solvesRandomSystem(system: System, factors: MethodFactors, reportSize: (size: number) => void): Routine<boolean> {
  if (factors.mayBeSingular) return false;
  const { n, norm } = system;
  const limit = SMALL / Math.sqrt(n);
  const random = new Random(seedOf(system.rowSums));
  const v: Float64Array = Float64Array.from({ length: n }, () => random.signed());
  const y = new Float64Array(n);
  let [r, size, error] = [v, 1, 0];
  for (let k = 0, slow = 0; size > limit / 2 && slow < MAX_SLOW && k < MAX_CORRECTIONS; k++) {
    const d = yield* approximateSolutions(system, factors, [r]);
    [r = v] = (yield* ordinaryResiduals(system, d, [r])) ?? (yield* exactResiduals(system, d, [r]));
    const [step] = d as [Float64Array];
    if (k === 0) reportSize(largest(step));
    correct(y, step);
    error += 2 ** -53 * (n + 3) * (norm * largest(step) + size); // see residuals.ts
    const left = largest(r);
    slow = left <= size / 2 ? 0 : slow + 1; // NaN is slow too
    size = left;
  }
  if (size + error <= limit) return true;
  if (!(size <= limit)) return false;
  const [exactly] = yield* exactResiduals(system, [y], [v]);
  return largest(exactly as Float64Array) <= limit;
}

// A seed that depends on the matrix (FNV-1a): with a fixed vector, a singular matrix could be constructed that passes.
function seedOf(sums: Float64Array): number {
  let hash = 0x811c9dc5;
  for (const sum of sums) for (const word of [highWord(sum), lowWord()]) hash = Math.imul(hash ^ word, 0x01000193);
  return hash >>> 0;
}
