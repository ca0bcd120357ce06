// What a call of solve() or the factors of factor() hold on an engine: the matrix, its scaled forms, and what was made of them.

import type { StridedOperand } from "../../arrays/matrix.ts";
import { Random } from "../../arrays/random.ts";
import type { ApproximateFactors } from "../../engines/approximate.ts";
import type { Routine } from "../../engines/steps.ts";
import { copyToHost, keepMatrix } from "../transfer.ts";
import { type Certificate, certify } from "./certificate.ts";
import { type ExactMatrix, exactMatrix, freeExact, proveRegular } from "./exact.ts";
import { type Factorization, factorize, scaledRight, solved, unscaled } from "./factors.ts";
import { largest } from "./powers.ts";
import { type ProductCorrector, productCorrector } from "./product.ts";
import type { Progress } from "./progress.ts";
import { type Attempt, type Right, refine, rightOf, unscaledSolution } from "./refine.ts";
import { solvesAnything } from "./regular.ts";
import { isWide, largestPowers, type System, scaledSystem, systemOf } from "./system.ts";
import type { SolveMethod } from "./types.ts";

/** A system, and its factors. */
export interface Form {
  readonly system: System;
  readonly factors: Map<SolveMethod, Factorization>;
  /** The proof that goes with the binary64 factors; null if there is none. */
  certificate: Certificate | null | undefined;
}

/** A system, and what was made of it. It is worked on as it was given, unless its rows or columns are very unlike. */
export interface Work extends Form {
  readonly given: System;
  /** With rows and columns scaled by an assignment, where that form has a proof and the other has none; null if it is no use. */
  balanced: Form | null | undefined;
  /** Factors of a product, where those of the matrix have no proof; null if these have none either. */
  product: ProductCorrector | null | undefined;
  /** For the exact stages, once they are needed. */
  exact: ExactMatrix | undefined;
  condition: number | undefined;
  /** For several calls, which may overlap: then what is dropped can be freed only when none is pending. */
  readonly lasting: boolean;
  readonly dropped: { free(): void }[];
  /** The matrix was shown not to be singular. */
  regular: boolean;
}

export function* begin(routine: string, A: StridedOperand, lasting: boolean): Routine<Work> {
  const kept = yield* keepMatrix(routine, A, lasting);
  try {
    const given = yield* systemOf(routine, kept);
    const work: Work = {
      ...formOf(given),
      given,
      balanced: undefined,
      product: undefined,
      exact: undefined,
      condition: undefined,
      lasting,
      dropped: [],
      regular: false,
    };
    if (isWide(given)) {
      const { data, n } = yield* exactOf(work);
      return { ...work, system: yield* scaledSystem(routine, data, n, largestPowers(data, n)) };
    }
    return work;
  } catch (error) {
    kept.free();
    throw error;
  }
}

/** The matrix on the host, for the exact stages. */
export function* exactOf(work: Work): Routine<ExactMatrix> {
  if (!work.exact) {
    const { routine, n, A } = work.given;
    const data = (yield* copyToHost(routine, A)) as Float64Array;
    work.exact ??= exactMatrix(routine, n, data);
  }
  return work.exact;
}

export const formOf = (system: System): Form => ({ system, factors: new Map(), certificate: undefined });

export function freeForm({ system, factors }: Form): void {
  for (const each of factors.values()) each.free();
  system.kept.free();
}

export function drop(work: Work, method: SolveMethod): void {
  const factors = work.factors.get(method);
  if (!factors) return;
  work.factors.delete(method);
  if (work.lasting) work.dropped.push(factors);
  else factors.free();
}

export function freeDropped({ dropped }: Work): void {
  for (const each of dropped.splice(0)) each.free();
}

export function end(work: Work): void {
  freeDropped(work);
  freeForm(work);
  if (work.balanced) freeForm(work.balanced);
  work.product?.free();
  if (work.exact) freeExact(work.exact);
  if (work.system !== work.given) work.given.kept.free();
}

/** What a method makes of these right-hand sides; nothing if its factorisation broke down. */
export function* attempt(work: Work, method: SolveMethod, columns: readonly Float64Array[], most: number): Routine<Attempt[]> {
  const { system } = work;
  const rights = columns.map((b) => rightOf(system, b));
  const { factors, first } = yield* factored(work, method, rights);
  if (factors.broken) return [];
  const attempts = yield* refine(system, factors, rights, most, first);
  const lost = attempts.filter(({ residual }) => residual === Number.POSITIVE_INFINITY);
  if (lost.length === 0) return attempts;
  const lowered = lost.map(({ right }) => rightOf(system, right.b, LOWER));
  const again = yield* refine(system, factors, lowered, most, undefined);
  return [...attempts.filter((each) => !lost.includes(each)), ...again];
}

// The solution of a system of norm 1 may be out of range where x is not: rows or columns are very unlike. With a right-hand side of
// 2^-LOWER it is in range, unless norm(A) norm(x) / norm(b) is above 2^(1024 + LOWER).
const LOWER = 600;

/** The factors, and if they are new the solutions that came with them. */
export function* factored(
  form: Form,
  method: SolveMethod,
  rights: readonly Right[],
): Routine<{ factors: Factorization; first?: Float64Array[] | undefined }> {
  const { system } = form;
  const there = form.factors.get(method);
  if (there) return { factors: there };
  const { b, powers } = scaledRight(
    system,
    rights.map(({ scaled }) => scaled),
  );
  const { factors, x } = yield* factorize(system, method, b, rights.length);
  const other = form.factors.get(method); // of a call that was quicker
  if (other) factors.free();
  else form.factors.set(method, factors);
  return { factors: other ?? factors, first: x && unscaled(system, x, powers) };
}

/** The binary64 factors with their proof, or undefined if they have none. */
export function* certified(work: Work, form: Form): Routine<Certified | undefined> {
  if (form.certificate === null) return undefined;
  const { factors } = yield* factored(form, "double", []);
  if (form.certificate === undefined) {
    const found = factors.broken ? undefined : yield* certify(work.given.routine, factors.approximate as ApproximateFactors);
    form.certificate ??= found ?? null;
    if (found) work.regular = true;
  }
  return form.certificate ? { system: form.system, factors, certificate: form.certificate } : undefined;
}

export interface Certified {
  readonly system: System;
  readonly factors: Factorization;
  readonly certificate: Certificate;
}

/** The corrector by a product with its proof, or undefined if there is none. */
export function* productOf(work: Work): Routine<ProductCorrector | undefined> {
  if (work.product === undefined) {
    const { factors } = yield* factored(work, "double", []);
    const found = factors.broken ? undefined : yield* productCorrector(yield* exactOf(work), work.system, factors);
    if (work.product)
      found?.free(); // another call was quicker
    else work.product = found ?? null;
    if (found) work.regular = true;
  }
  return work.product ?? undefined;
}

// Below this order a proof takes less than a millisecond.
const PROVED_BELOW = 128;

/**
 * Throws for a singular matrix, which refinement does not notice where b is in its range: the factors of a regular one solve any
 * system. Where those of binary32 do not, binary64 may, and where that does not either, or no method has converged, exact arithmetic
 * decides.
 */
export function* checkRegular(work: Work, method: SolveMethod, converged: boolean, progress: Progress): Routine<void> {
  if (work.regular) return;
  if (work.given.n < PROVED_BELOW) {
    const found = yield* certified(work, work);
    if (method !== "double") drop(work, "double");
    if (!found) yield* proveExactly(work, progress);
    return;
  }
  const factors = converged ? work.factors.get(method) : undefined;
  const note = (size: number): void => noteCondition(work, size * Math.sqrt(3));
  let isRegular = factors !== undefined && (yield* solvesAnything(work.system, factors, note));
  if (!isRegular && method === "mixed") {
    const { factors } = yield* factored(work, "double", []);
    isRegular = yield* solvesAnything(work.system, factors, note);
  }
  if (isRegular) work.regular = true;
  else yield* proveExactly(work, progress);
}

/** Throws for a singular matrix. It is not known to be regular afterwards if the work was aborted. */
export function* proveExactly(work: Work, progress: Progress): Routine<void> {
  if (!work.regular && (yield* proveRegular(yield* exactOf(work), progress))) work.regular = true;
}

// A row of the inverse meets a random vector of signs with about its length; the sum of magnitudes is some sqrt(n) times that, and the
// largest of n such products some 3 times a typical one. Numbers from (-1, 1) are shorter by sqrt(3).
const fromRandom = (size: number, n: number): number => (size * Math.sqrt(n)) / 3;

// What a random system shows of the condition: as much as the other right-hand sides of conditionOf(), and it is there already.
function noteCondition(work: Work, size: number): void {
  const { given, system } = work;
  const condition = fromRandom(size, given.n) * given.norm;
  if (system === given && condition > 0) work.condition ??= Math.max(1, condition);
}

/**
 * norm(A) norm(A^-1), nearly: the largest solution for right-hand sides of ones, of alternating signs and of random signs. That is
 * at most the norm of the inverse.
 */
export function* conditionOf(work: Work, form: Form, method: SolveMethod): Routine<number> {
  const factors = form.factors.get(method);
  if (work.condition !== undefined || !factors || factors.broken) return work.condition ?? Number.POSITIVE_INFINITY;
  const { given } = work;
  const { system } = form;
  const { n } = given;
  const random = new Random(1);
  const signs = (sign: (i: number) => number): Float64Array => Float64Array.from({ length: n }, (_, i) => sign(i));
  const rights = [signs(() => 1), signs((i) => (i % 2 === 0 ? 1 : -1)), signs(() => (random.signed() < 0 ? -1 : 1))].map((v) =>
    rightOf(system, v),
  );
  const found = yield* solved(
    system,
    factors,
    rights.map(({ scaled }) => scaled),
  );
  // Those of 2^given.power A, whose norm is given.norm: what A^-1 is may be out of range.
  const { outer, power } = system;
  const sizes = found.map((y, c) => largest(unscaledSolution({ outer, power: power - given.power }, rights[c] as Right, y)));
  const inverse = Math.max(sizes[0] as number, sizes[1] as number, fromRandom(sizes[2] as number, n));
  work.condition = Number.isNaN(inverse) ? Number.POSITIVE_INFINITY : Math.max(1, inverse * given.norm);
  return work.condition;
}
