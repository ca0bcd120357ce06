// The state of one solve(), or of the factors that factor() returns: the matrix on the engine, its scaled copies, their factors and
// proofs. solve.ts, correct.ts and factor.ts ask here for whatever they need; each piece is computed on first use and kept.

import type { StridedOperand } from "../../arrays/matrix.ts";
import { Random } from "../../arrays/random.ts";
import type { ApproximateFactors } from "../../engines/approximate.ts";
import type { Routine } from "../../engines/steps.ts";
import { keepMatrix } from "../transfer.ts";
import { type Certificate, certify } from "./certificate.ts";
import { type ExactMatrix, exactMatrix, freeExactMatrix, proveRegular } from "./exact.ts";
import { approximateSolutions, factorize, type MethodFactors, scaledRightHandSides, unscaledSolutions } from "./factors.ts";
import { heldRows } from "./held.ts";
import { largest } from "./powers.ts";
import { type ProductCorrector, productCorrector } from "./product.ts";
import type { Progress } from "./progress.ts";
import { originalSolution, type Refined, type RightHandSide, refine, scaleRightHandSide } from "./refine.ts";
import { solvesRandomSystem } from "./regular.ts";
import { equilibrationExponents, needsScaledCopy, type System, scaledSystem, systemOf } from "./system.ts";
import type { SolveMethod } from "./types.ts";

/** A system and its factors by each method used so far. */
export interface FactoredSystem {
  readonly system: System;
  readonly factors: Map<SolveMethod, MethodFactors>;
  /** The proof for the binary64 factors; null if they have none, undefined if it was not tried. */
  certificate: Certificate | null | undefined;
}

/** A system with everything computed for it. `system` is `original`, or a scaled copy if the scales of rows or columns differ too much. */
export interface Solver extends FactoredSystem {
  readonly original: System;
  /** A copy scaled by a matching (matching.ts), if its factors have a proof and those of `system` do not; null if that does not help. */
  rescaled: FactoredSystem | null | undefined;
  /** Factors of a product (product.ts), if those of the matrix have no proof; null if these have none either. */
  product: ProductCorrector | null | undefined;
  /** The held rows of the matrix, once an exact stage needs them. */
  exact: ExactMatrix | undefined;
  condition: number | undefined;
  /** Owned by factor(): its solves may overlap, so discarded factors are freed only when no call is pending. */
  readonly lasting: boolean;
  readonly discarded: { free(): void }[];
  /** The matrix is proved regular, or its factors have passed the random test of regular.ts. */
  isRegular: boolean;
}

/** Put A into the engine's memory and scale it. Throws for an entry that is not finite. */
export function* openSolver(routine: string, A: StridedOperand, lasting: boolean): Routine<Solver> {
  const allocation = yield* keepMatrix(routine, A, lasting);
  try {
    const original = yield* systemOf(routine, allocation);
    const solver: Solver = {
      ...unfactored(original),
      original,
      rescaled: undefined,
      product: undefined,
      exact: undefined,
      condition: undefined,
      lasting,
      discarded: [],
      isRegular: false,
    };
    if (needsScaledCopy(original)) {
      const exact = yield* exactMatrixOf(solver);
      const scale = yield* equilibrationExponents(exact, exact.n);
      return { ...solver, system: yield* scaledSystem(routine, exact, exact.n, scale) };
    }
    return solver;
  } catch (error) {
    allocation.free();
    throw error;
  }
}

/** The rows of the matrix that this process holds, for the exact stages. */
export function* exactMatrixOf(solver: Solver): Routine<ExactMatrix> {
  if (!solver.exact) {
    const { routine, n, A } = solver.original;
    const held = yield* heldRows(routine, A);
    solver.exact ??= exactMatrix(routine, n, held);
  }
  return solver.exact;
}

/** A system without factors yet. */
export const unfactored = (system: System): FactoredSystem => ({ system, factors: new Map(), certificate: undefined });

export function freeFactored({ system, factors }: FactoredSystem): void {
  for (const each of factors.values()) each.free();
  system.allocation.free();
}

/** Discard the factors of a method. */
export function discardFactors(solver: Solver, method: SolveMethod): void {
  const factors = solver.factors.get(method);
  if (!factors) return;
  solver.factors.delete(method);
  if (solver.lasting) solver.discarded.push(factors);
  else factors.free();
}

/** Free discarded factors. No call may be pending. */
export function freeDiscarded({ discarded }: Solver): void {
  for (const each of discarded.splice(0)) each.free();
}

/** Free everything. No call may be pending. */
export function freeSolver(solver: Solver): void {
  freeDiscarded(solver);
  freeFactored(solver);
  if (solver.rescaled) freeFactored(solver.rescaled);
  solver.product?.free();
  if (solver.exact) freeExactMatrix(solver.exact);
  if (solver.system !== solver.original) solver.original.allocation.free();
}

/** Solutions by one method, refined with at most `maxIterations` corrections each; none if its factorisation broke down. */
export function* refineBy(
  solver: Solver,
  method: SolveMethod,
  columns: readonly Float64Array[],
  maxIterations: number,
): Routine<Refined[]> {
  const { system } = solver;
  const rights = columns.map((b) => scaleRightHandSide(system, b));
  const { factors, first } = yield* factorsBy(solver, method, rights);
  if (factors.isBroken) return [];
  const refined = yield* refine(system, factors, rights, maxIterations, first);
  const overflowed = refined.filter(({ errorRatio }) => errorRatio === Number.POSITIVE_INFINITY);
  if (overflowed.length === 0) return refined;
  const lowered = overflowed.map(({ right }) => scaleRightHandSide(system, right.b, LOWERED_BITS));
  const again = yield* refine(system, factors, lowered, maxIterations, undefined);
  return [...refined.filter((each) => !overflowed.includes(each)), ...again];
}

// If the scales of rows or columns differ very much, the solution of the system of norm 1 may overflow although x does not. With a
// right-hand side of 2^-LOWERED_BITS it is in range, unless norm(A) norm(x) / norm(b) is above 2^(1024 + LOWERED_BITS).
const LOWERED_BITS = 600;

/** The factors of a system by a method. If they are computed now, `first` has the solutions for `rights` that came with them. */
export function* factorsBy(
  factored: FactoredSystem,
  method: SolveMethod,
  rights: readonly RightHandSide[],
): Routine<{ factors: MethodFactors; first?: Float64Array[] | undefined }> {
  const { system } = factored;
  const known = factored.factors.get(method);
  if (known) return { factors: known };
  const { b, powers } = scaledRightHandSides(
    system,
    rights.map(({ scaled }) => scaled),
  );
  const { factors, x } = yield* factorize(system, method, b, rights.length);
  const other = factored.factors.get(method); // another call has finished meanwhile
  if (other) factors.free();
  else factored.factors.set(method, factors);
  return { factors: other ?? factors, first: x && unscaledSolutions(system, x, powers) };
}

/** The binary64 factors of a system with their proof, or undefined if they have none. */
export function* certifiedFactors(solver: Solver, factored: FactoredSystem): Routine<CertifiedFactors | undefined> {
  if (factored.certificate === null) return undefined;
  const { factors } = yield* factorsBy(factored, "double", []);
  if (factored.certificate === undefined) {
    const found = factors.isBroken ? undefined : yield* certify(solver.original.routine, factors.approximate as ApproximateFactors);
    factored.certificate ??= found ?? null;
    if (found) solver.isRegular = true;
  }
  return factored.certificate ? { system: factored.system, factors, certificate: factored.certificate } : undefined;
}

/** Binary64 factors, and the proof that their matrix is regular, with a bound on its inverse. */
export interface CertifiedFactors {
  readonly system: System;
  readonly factors: MethodFactors;
  readonly certificate: Certificate;
}

/** The corrector of product.ts with its proof, or undefined if there is none. */
export function* productCorrectorOf(solver: Solver): Routine<ProductCorrector | undefined> {
  if (solver.product === undefined) {
    const { factors } = yield* factorsBy(solver, "double", []);
    const found = factors.isBroken ? undefined : yield* productCorrector(yield* exactMatrixOf(solver), solver.system, factors);
    if (solver.product)
      found?.free(); // another call has finished meanwhile
    else solver.product = found ?? null;
    if (found) solver.isRegular = true;
  }
  return solver.product ?? undefined;
}

// Below this order a proof takes less than a millisecond, and replaces the random test.
const PROVED_BELOW = 128;

/**
 * Throws for a singular matrix. Refinement does not notice one if b is in its range, but the factors of a regular matrix also solve a
 * random system. If binary32 factors do not, binary64 factors are tried. If these do not either, or if no method has converged, exact
 * arithmetic decides.
 */
export function* checkRegular(solver: Solver, method: SolveMethod, converged: boolean, progress: Progress): Routine<void> {
  if (solver.isRegular) return;
  if (solver.original.n < PROVED_BELOW) {
    const found = yield* certifiedFactors(solver, solver);
    if (method !== "double") discardFactors(solver, "double");
    if (!found) yield* proveRegularExactly(solver, progress);
    return;
  }
  const factors = converged ? solver.factors.get(method) : undefined;
  const record = (size: number): void => recordCondition(solver, size * Math.sqrt(3));
  let isRegular = factors !== undefined && (yield* solvesRandomSystem(solver.system, factors, record));
  if (!isRegular && method === "mixed") {
    const { factors } = yield* factorsBy(solver, "double", []);
    isRegular = yield* solvesRandomSystem(solver.system, factors, record);
  }
  if (isRegular) solver.isRegular = true;
  else yield* proveRegularExactly(solver, progress);
}

/** Throws for a singular matrix, by exact arithmetic. If the call was aborted, regularity stays unknown. */
export function* proveRegularExactly(solver: Solver, progress: Progress): Routine<void> {
  if (!solver.isRegular && (yield* proveRegular(yield* exactMatrixOf(solver), progress))) solver.isRegular = true;
}

// The norm of the inverse, estimated from the largest component of a solution for random signs. The product of a row of the inverse
// with random signs is about the 2-norm of the row. Its sum of magnitudes is about sqrt(n) times that, and the largest of n such
// products about 3 times a typical one. Uniform numbers from (-1, 1) are shorter than signs by sqrt(3).
const inverseNormFromRandom = (size: number, n: number): number => (size * Math.sqrt(n)) / 3;

// The random system of the regularity test tells as much about the condition as the right-hand sides of estimateCondition().
function recordCondition(solver: Solver, size: number): void {
  const { original, system } = solver;
  const condition = inverseNormFromRandom(size, original.n) * original.norm;
  if (system === original && condition > 0) solver.condition ??= Math.max(1, condition);
}

/**
 * An estimate of norm(A) norm(A^-1), from the largest solution for right-hand sides of ones, of alternating signs and of random signs.
 * The norm of each solution is at most that of the inverse.
 */
export function* estimateCondition(solver: Solver, factored: FactoredSystem, method: SolveMethod): Routine<number> {
  const factors = factored.factors.get(method);
  if (solver.condition !== undefined || !factors || factors.isBroken) return solver.condition ?? Number.POSITIVE_INFINITY;
  const { original } = solver;
  const { system } = factored;
  const { n } = original;
  const random = new Random(1);
  const signs = (sign: (i: number) => number): Float64Array => Float64Array.from({ length: n }, (_, i) => sign(i));
  const rights = [signs(() => 1), signs((i) => (i % 2 === 0 ? 1 : -1)), signs(() => (random.signed() < 0 ? -1 : 1))].map((v) =>
    scaleRightHandSide(system, v),
  );
  const found = yield* approximateSolutions(
    system,
    factors,
    rights.map(({ scaled }) => scaled),
  );
  // Solutions with 2^original.power A, whose norm is original.norm: A^-1 itself may be out of range.
  const { preScale, power } = system;
  const sizes = found.map((y, c) => largest(originalSolution({ preScale, power: power - original.power }, rights[c] as RightHandSide, y)));
  const inverse = Math.max(sizes[0] as number, sizes[1] as number, inverseNormFromRandom(sizes[2] as number, n));
  solver.condition = Number.isNaN(inverse) ? Number.POSITIVE_INFINITY : Math.max(1, inverse * original.norm);
  return solver.condition;
}
