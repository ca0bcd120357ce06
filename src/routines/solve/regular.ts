import { Random } from "../../arrays/random.ts";
import type { Routine } from "../../engines/steps.ts";
import { highWord, lowWord } from "../../exact/bits.ts";
import { correct } from "../../exact/store.ts";
import { type Factorization, solved } from "./factors.ts";
import { largest } from "./powers.ts";
import { exactResiduals, ordinaryResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

// For a singular matrix there is a w with w A = 0, of norm 1 in the sum of magnitudes, and so |w v| = |w (v - A y)| <= norm(v - A y)
// for any v and y. With entries of v uniform and independent w v has a density of at most a few times sqrt(n) (norm_2(w) >= 1 /
// sqrt(n)): a residual of at most 2^-20 / sqrt(n) happens with a probability of about 2^-20.
const SMALL = 2 ** -20;
const MAX = 30; // corrections
const SLOW = 2; // of them in a row that did not halve the residual: the first may even double it

/**
 * Whether the factors solve a random system, as those of a regular matrix do unless it is next to singular. Corrections
 * r := r - A d are in ordinary arithmetic. Where that may be off by too much, the residual of the sum y of all d is taken exactly,
 * once. `note` is told the size of the first solution. (One thread, FMA, n = 1000: three corrections, 2 ms of 22.)
 */
export function* solvesAnything(system: System, factors: Factorization, note: (size: number) => void): Routine<boolean> {
  if (factors.suspicious) return false;
  const { n, norm } = system;
  const enough = SMALL / Math.sqrt(n);
  const random = new Random(seedOf(system.sums));
  const v: Float64Array = Float64Array.from({ length: n }, () => random.signed());
  const y = new Float64Array(n);
  let [r, size, error] = [v, 1, 0];
  for (let k = 0, slow = 0; size > enough / 2 && slow < SLOW && k < MAX; k++) {
    const d = yield* solved(system, factors, [r]);
    [r = v] = (yield* ordinaryResiduals(system, d, [r])) ?? (yield* exactResiduals(system, d, [r]));
    const [step] = d as [Float64Array];
    if (k === 0) note(largest(step));
    correct(y, step);
    error += 2 ** -53 * (n + 3) * (norm * largest(step) + size); // see residuals.ts
    const left = largest(r);
    slow = left <= size / 2 ? 0 : slow + 1; // NaN is slow too
    size = left;
  }
  if (size + error <= enough) return true;
  if (!(size <= enough)) return false;
  const [exactly] = yield* exactResiduals(system, [y], [v]);
  return largest(exactly as Float64Array) <= enough;
}

// Not the same vector for every matrix: one could be made to be singular and pass. (FNV-1a.)
function seedOf(sums: Float64Array): number {
  let hash = 0x811c9dc5;
  for (const sum of sums) for (const word of [highWord(sum), lowWord()]) hash = Math.imul(hash ^ word, 0x01000193);
  return hash >>> 0;
}
