import type { Routine } from "../dense/steps.ts";
import { Random } from "../problems/random.ts";
import { type Factorization, solved } from "./factors.ts";
import { largest } from "./powers.ts";
import { exactResiduals, ordinaryResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

// For a singular matrix there is a w with w A = 0, of norm 1 in the sum of magnitudes, and so |w v| = |w (v - A y)| <= norm(v - A y)
// for any v and y. With entries of v uniform and independent w v has a density of at most a few times sqrt(n) (norm_2(w) >= 1 /
// sqrt(n)): a residual of at most 2^-20 / sqrt(n) happens with a probability of about 2^-20.
const SMALL = 2 ** -20;
const MOST = 30; // corrections

/**
 * Whether the factors solve a random system, as those of a regular matrix do unless it is next to singular. The solution is left as
 * a sum that nobody adds up: of r := r - A d with d from the factors only the size of r counts, and how far it may be off. (One
 * thread, FMA, n = 1000: 0.85 ms of 22.)
 */
export function* solvesAnything(system: System, factors: Factorization): Routine<boolean> {
  if (factors.suspicious) return false;
  const random = new Random(1);
  const v = Float64Array.from({ length: system.n }, () => random.signed());
  return (yield* vanishes(system, factors, v, ordinaryResiduals)) ?? (yield* vanishes(system, factors, v, exactResiduals)) ?? false;
}

type Step = (system: System, d: readonly Float64Array[], r: readonly Float64Array[]) => Routine<Float64Array[] | undefined>;

// Undefined where the errors of the steps leave it open.
function* vanishes(system: System, factors: Factorization, v: Float64Array, step: Step): Routine<boolean | undefined> {
  const { n, norm } = system;
  const isExact = step === exactResiduals;
  const enough = SMALL / Math.sqrt(n);
  let [r, size, error] = [v, 1, 0];
  for (let k = 0; k < MOST; k++) {
    const d = yield* solved(system, factors, [r]);
    const [next] = (yield* step(system, d, [r])) ?? [];
    if (!next) return undefined;
    const left = largest(next);
    error += 2 ** -53 * (isExact ? left : (n + 3) * (norm * largest(d[0] as Float64Array) + size)); // see residuals.ts
    if (left + error <= enough) return true;
    if (!(left <= size / 2)) return error > enough ? undefined : false;
    [r, size] = [next, left];
  }
  return undefined;
}
