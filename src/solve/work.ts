import type { Routine } from "../dense/steps.ts";
import type { Entries } from "../engines/kernels.ts";
import type { Kept } from "../engines/plain.ts";
import { SingularError } from "../errors.ts";
import { type Factorization, factorize, scaledRight, unscaled } from "./factors.ts";
import { type Attempt, type Right, refine, rightOf } from "./refine.ts";
import { solvesAnything } from "./regular.ts";
import { dependentColumn } from "./singular.ts";
import { copyHere, type System, systemOf } from "./system.ts";
import type { SolveMethod } from "./types.ts";

/** A system, and the factorisations that were made of it. */
export interface Work {
  readonly system: System;
  readonly factors: Map<SolveMethod, Factorization>;
  /** For several calls, which may overlap: then factors that are dropped can go only when none is pending. */
  readonly lasting: boolean;
  readonly dropped: Factorization[];
  /** The matrix was shown not to be singular, or nothing more can be done to find out. */
  regular: boolean;
}

export function* begin(routine: string, A: Entries, lasting: boolean): Routine<Work> {
  const kept = (yield (kernels) => kernels.plain.keep(routine, A, lasting)) as Kept;
  try {
    const system = yield* systemOf(routine, kept);
    return { system, factors: new Map(), lasting, dropped: [], regular: false };
  } catch (error) {
    kept.free();
    throw error;
  }
}

export function drop(work: Work, method: SolveMethod): void {
  const factors = work.factors.get(method);
  if (!factors) return;
  work.factors.delete(method);
  if (work.lasting) work.dropped.push(factors);
  else factors.free();
}

export function freeDropped({ dropped }: Work): void {
  for (const factors of dropped.splice(0)) factors.free();
}

export function end(work: Work): void {
  freeDropped(work);
  for (const factors of work.factors.values()) factors.free();
  work.factors.clear();
  work.system.kept.free();
}

/** What a method makes of these right-hand sides; nothing if its factorisation broke down. */
export function* attempt(work: Work, method: SolveMethod, rights: readonly Right[], most: number): Routine<Attempt[]> {
  const { factors, first } = yield* factored(work, method, rights);
  if (factors.broken && method !== "mixed") yield* checkNotSingular(work);
  if (factors.broken) return [];
  const attempts = yield* refine(work.system, factors, rights, most, first);
  const lost = attempts.filter(({ residual }) => residual === Number.POSITIVE_INFINITY);
  if (lost.length === 0) return attempts;
  const lowered = lost.map(({ right }) => rightOf(right.b, LOWER));
  const again = yield* refine(work.system, factors, lowered, most, undefined);
  return [...attempts.filter((each) => !lost.includes(each)), ...again];
}

// The solution of a system of norm 1 may be out of range where x is not: rows or columns are very unlike. With a right-hand side of
// 2^-LOWER it is in range, unless norm(A) norm(x) / norm(b) is above 2^(1024 + LOWER).
const LOWER = 600;

// The factors, and if they are new the solutions that came with them.
function* factored(
  work: Work,
  method: SolveMethod,
  rights: readonly Right[],
): Routine<{ factors: Factorization; first?: Float64Array[] | undefined }> {
  const { system } = work;
  const there = work.factors.get(method);
  if (there) return { factors: there };
  const { b, powers } = scaledRight(
    system,
    rights.map(({ scaled }) => scaled),
  );
  const { factors, x } = yield* factorize(system, method, b, rights.length);
  const other = work.factors.get(method); // of a call that was quicker
  if (other) factors.free();
  else work.factors.set(method, factors);
  return { factors: other ?? factors, first: x && unscaled(system, x, powers) };
}

/**
 * Throws for a singular matrix, which refinement does not notice where b is in its range: the factors of a regular one solve any
 * system. Where those of binary32 do not, binary64 may, and where that does not either it is computed. So it is if no method has
 * converged.
 */
export function* checkRegular(work: Work, method: SolveMethod, converged: boolean): Routine<void> {
  if (work.regular) return;
  const { system } = work;
  let factors = converged ? work.factors.get(method) : undefined;
  let isRegular = factors !== undefined && (yield* solvesAnything(system, factors));
  if (!isRegular && method === "mixed") {
    ({ factors } = yield* factored(work, "double", []));
    isRegular = yield* solvesAnything(system, factors);
  }
  if (!isRegular) yield* checkNotSingular(work);
  work.regular = true;
}

// Above this order elimination modulo a prime takes minutes: there a matrix is singular if exlu finds a zero pivot.
const LARGEST_TESTED = 4096;

function* checkNotSingular(work: Work): Routine<void> {
  const { routine, n, A } = work.system;
  if (work.regular) return;
  const zero = work.factors.get("exact")?.zero ?? -1;
  const column = n > LARGEST_TESTED ? zero : yield* dependentColumn(routine, yield* copyHere(routine, A), n);
  if (column >= 0) throw new SingularError(`${routine}: the pivot of column ${column} is 0, expected a matrix of full rank`, column);
  work.regular = n <= LARGEST_TESTED;
}
