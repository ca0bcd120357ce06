// Iterative refinement in working precision with exact residuals, for rounding "backward": see docs/solve.md and the mixed-precision
// paper. solver.ts calls refine(); solve.ts and correct.ts call the measures of the result.
//
// Refinement works on 2^power A y = 2^s b. The power of the System makes the norm of the matrix 1 to 2, and s makes the largest
// entry of the right-hand side 1 to 2. So nothing that matters overflows or underflows, and y is x times a power of two.

import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { correct } from "../../exact/store.ts";
import { approximateSolutions, type MethodFactors } from "./factors.ts";
import { backwardError, scaledResidual } from "./measures.ts";
import { correctWithNextResidual } from "./overlap.ts";
import { exponent, largest, normalizing, type Powers, sameNumbers, scaled, scaledBy, timesPower } from "./powers.ts";
import { exactResiduals, ordinaryResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

/** A right-hand side, and the scaled one that refinement works on. */
export interface RightHandSide {
  readonly b: Float64Array;
  /** b * 2^power, with the rows of a pre-scaled matrix scaled too. `isExact`: no bit was lost below 2^-1074. */
  readonly scaled: Float64Array;
  readonly power: number;
  readonly isExact: boolean;
}

/** Scale a right-hand side so that its largest entry is from 2^-lower to 2^(1 - lower). */
export function scaleRightHandSide({ preScale }: System, b: Float64Array, lower = 0): RightHandSide {
  const rows: Powers = preScale ? { each: preScale.rows, common: undefined, range: 0 } : { each: NO_POWERS, common: 0, range: 0 };
  const power = normalizing(b, rows) - (largest(b) === 0 ? 0 : lower);
  const y = scaledBy(b, rows, power);
  const back = preScale ? b.map((_, i) => timesPower(y[i] as number, -power - (preScale.rows[i] as number))) : scaled(y, -power);
  return { b, scaled: y, power, isExact: (power >= 0 && !preScale) || sameNumbers(back, b) };
}
const NO_POWERS = new Int32Array(0);

/** The solution x of the original system from that of the scaled system. */
export function originalSolution(
  { preScale, power }: Pick<System, "preScale" | "power">,
  right: RightHandSide,
  y: Float64Array,
): Float64Array {
  const k = power - right.power;
  return preScale ? scaledBy(y, { each: preScale.cols, common: undefined }, k) : scaled(y, k);
}

/** An approximate solution y of the scaled system and its residual r. */
interface Approximation {
  readonly right: RightHandSide;
  y: Float64Array;
  r: Float64Array;
  /** r is not the exact residual rounded once: it was computed along with a correction, or in ordinary arithmetic. */
  isInexact: boolean;
}

/** The best approximation that one method found for one right-hand side. */
export interface Refined extends Approximation {
  /** Its error as a multiple of what converges, see errorRatioOf(); Infinity if no approximation was finite. */
  errorRatio: number;
  iterations: number;
  /** |A| |y| + |b| in the scale of the residual, if it is known. */
  sizes: Float64Array | undefined;
}

interface RefinementState extends Approximation {
  readonly best: Refined;
  errorRatio: number;
  normwise: number; // the scaled residual
  expected: number; // a guess at the next one
  slow: number; // how many corrections in a row have not halved errorRatio
  isDone: boolean;
}

/**
 * Correct each right-hand side until it has converged, stops improving, or has had `maxIterations` corrections. `first` are the
 * solutions that came with the factors, if any.
 */
export function* refine(
  system: System,
  factors: MethodFactors,
  rights: readonly RightHandSide[],
  maxIterations: number,
  first: readonly Float64Array[] | undefined,
): Routine<Refined[]> {
  if (rights.length === 0) return [];
  const starts =
    first ??
    (yield* approximateSolutions(
      system,
      factors,
      rights.map(({ scaled }) => scaled),
    ));
  const all = rights.map((right, c): RefinementState => {
    const y = starts[c] as Float64Array;
    const start = { right, y, r: right.scaled, isInexact: false, errorRatio: Number.POSITIVE_INFINITY };
    const unknown = { normwise: Number.POSITIVE_INFINITY, expected: Number.POSITIVE_INFINITY };
    return { ...start, ...unknown, best: { ...start, iterations: 0, sizes: undefined }, slow: 0, isDone: false };
  });
  for (let active = all; active.length > 0; active = active.filter(({ isDone }) => !isDone)) {
    if (factors.method === "mixed") {
      yield* computeRoughResiduals(
        system,
        active.filter(({ isInexact, expected }) => !isInexact && expected > ROUGH_ABOVE),
      );
    }
    yield* computeExactResiduals(
      system,
      active.filter(({ isInexact }) => !isInexact),
    );
    for (const state of active) yield* judge(system, state, maxIterations);
    const open = active.filter(({ isDone }) => !isDone);
    const [only] = open;
    if (!only) break;
    const next = open.length === 1 ? yield* correctWithNextResidual(system, factors, only.right.scaled, only.y, only.r) : undefined;
    if (next) {
      Object.assign(only, next, { isInexact: true });
      only.best.iterations++;
      continue;
    }
    const corrections = yield* approximateSolutions(
      system,
      factors,
      open.map(({ r }) => r),
    );
    for (const [c, state] of open.entries()) {
      state.y = state.y.slice();
      correct(state.y, corrections[c] as Float64Array);
      state.isInexact = false;
      state.best.iterations++;
    }
  }
  const refined = all.map(({ best }) => best);
  yield* computeExactResiduals(
    system,
    refined.filter(({ isInexact }) => isInexact),
  );
  for (const best of refined) {
    const normwise = best.errorRatio * 2 ** -53; // if the componentwise measure is not known
    if (normwise > 2 / system.n && normwise <= CONVERGENCE_LIMIT) Object.assign(best, yield* errorRatioOf(system, best, normwise));
  }
  return refined;
}

function* computeExactResiduals(system: System, active: readonly Approximation[]): Routine<void> {
  if (active.length === 0) return;
  const residuals = yield* exactResiduals(system, active.map(yOf), active.map(rightSideOf));
  for (const [c, r] of residuals.entries()) Object.assign(active[c] as Approximation, { r, isInexact: false });
}

const yOf = ({ y }: Approximation): Float64Array => y;
const rightSideOf = ({ right }: Approximation): Float64Array => right.scaled;

// As long as the residual is large, ordinary arithmetic is enough: the error of the scaled residual is less than 4, usually a few
// hundredths. One above ROUGH_ABOVE is therefore accurate enough for a correction and certainly needs one. Smaller residuals are
// computed exactly. (n = 1000: 0.7 ms; the exact residual of the second step, in which nearly everything cancels, takes 2.4 ms.)
const ROUGH_ABOVE = 16;
function* computeRoughResiduals(system: System, all: readonly Approximation[]): Routine<void> {
  if (all.length === 0) return;
  const residuals = (yield* ordinaryResiduals(system, all.map(yOf), all.map(rightSideOf))) ?? [];
  for (const [c, r] of residuals.entries()) {
    const each = all[c] as Approximation;
    const size = roundedScaledResidual(system, { ...each, r });
    if (size > ROUGH_ABOVE && size < Number.POSITIVE_INFINITY) Object.assign(each, { r, isInexact: true });
  }
}

// The scaled residual, in ordinary arithmetic.
function roundedScaledResidual({ n, norm }: System, { right, y, r }: Approximation): number {
  const size = norm * largest(y) + largest(right.scaled);
  return size === 0 ? 0 : largest(r) / (n * 2 ** -53 * size);
}

/** Exceeds 1 by more than the rounding errors of both measures in refinement: an error ratio above it has certainly not converged. */
export const CONVERGENCE_LIMIT = 1 + 2 ** -20;

// Refinement continues to this componentwise error, although n + 1 times half of it counts as converged: since residuals are exact,
// one or two more corrections bring x as close to the solution as binary64 allows. LAPACK's expert driver stays n times farther away.
const BEST_BACKWARD_ERROR = 2 ** -52;

/**
 * The larger of both measures, each divided by its limit: 1 or less has converged. `isBest`: corrections cannot improve it. The
 * componentwise measure costs a pass over the matrix and matters only if the normwise one is small. An approximation without it must
 * rank below any that has it. Its ratio is at most about 2^53 / (n + 1), so a factor of 2^53 achieves that.
 */
function* errorRatioOf(
  system: System,
  approximation: Approximation,
  normwise: number,
): Routine<{ errorRatio: number; isBest: boolean; sizes?: Float64Array }> {
  if (!(normwise <= CONVERGENCE_LIMIT)) return { errorRatio: normwise * 2 ** 53, isBest: false };
  const { n, routine, A, power } = system;
  const { right, y, r } = approximation;
  const sums = new Float64Array(n);
  const half = Math.trunc(power / 2); // all of it could make small components underflow, none of it could make sums overflow
  const scale = y.map((v) => timesPower(Math.abs(v), half));
  yield (kernels) => kernels.approximate.magnitudes(routine, A, scale, sums, new Float64Array(n));
  let error = 0;
  for (let i = 0; i < n; i++) {
    const above = Math.abs(r[i] as number);
    const sum = sums[i] as number;
    const size = timesPower(sum, power - half) + Math.abs(right.scaled[i] as number);
    sums[i] = sum > 2 ** -960 ? size : 0; // 0 means unknown: part of it may have underflowed
    if (above > 0) error = Math.max(error, above / size);
  }
  const isScaled = scale.every((v, j) => (v === 0 ? y[j] === 0 : v >= 2 ** -1022)); // a large entry could magnify an underflow
  const errorRatio = Math.max(normwise, error / ((n + 1) * 2 ** -53));
  return { errorRatio, isBest: error <= BEST_BACKWARD_ERROR, ...(isScaled && { sizes: sums }) };
}

// The stopping rule. Refinement stops when corrections fail to halve the error ratio: after one if it has converged, after two in a row
// otherwise. A NaN stops it at once: it compares false with everything.
function* judge(system: System, state: RefinementState, maxIterations: number): Routine<void> {
  const { best, y } = state;
  const normwise = roundedScaledResidual(system, state);
  // BEST_BACKWARD_ERROR implies a normwise measure of little more than 2 / n. Until then the componentwise one is not worth a pass.
  const isWorthwhile = normwise <= 4 / system.n || best.iterations === maxIterations;
  const unmeasured = { errorRatio: normwise * 2 ** 53, isBest: false, sizes: undefined };
  const { errorRatio, isBest, sizes } = isWorthwhile ? yield* errorRatioOf(system, state, normwise) : unmeasured;
  if (!(errorRatio < Number.POSITIVE_INFINITY) || !Number.isFinite(largest(y))) {
    state.isDone = true;
    return;
  }
  state.slow = errorRatio > state.errorRatio / 2 ? state.slow + 1 : 0;
  state.expected = state.normwise === Number.POSITIVE_INFINITY ? normwise : normwise * (normwise / state.normwise);
  Object.assign(state, { errorRatio, normwise });
  if (errorRatio < best.errorRatio) Object.assign(best, { y, r: state.r, isInexact: state.isInexact, errorRatio, sizes });
  state.isDone = isBest || state.slow === (errorRatio <= 1 ? 1 : 2) || best.iterations === maxIterations;
}

/** A solution of the original system, and its two measures, exact and rounded once. */
export interface MeasuredSolution {
  readonly x: Float64Array;
  readonly residual: number;
  readonly backwardError: number;
}

/** The original solution x for a refined y, and its measures. */
export function* measureRefined(original: System, system: System, { right, y, r, sizes }: Refined): Routine<MeasuredSolution> {
  const x = originalSolution(system, right, y);
  const isSame = !system.preScale && right.isExact && sameNumbers(scaled(x, right.power - system.power), y);
  // If x is y but for its exponents, its residual is known.
  return isSame ? yield* measureWithResidual(original, right.b, x, r, right.power, sizes) : yield* measure(original, right.b, x);
}

/** The measures of x, from r = RN(2^power (b - A x)) and, if known, the sizes 2^power (|A| |x| + |b|) in ordinary arithmetic. */
export function* measureWithResidual(
  original: System,
  b: Float64Array,
  x: Float64Array,
  r: Float64Array,
  power: number,
  sizes?: Float64Array,
): Routine<MeasuredSolution> {
  return {
    x,
    residual: yield* scaledResidual(original, b, x, r, power),
    backwardError: yield* backwardError(original, b, x, r, power, sizes),
  };
}

/** The measures of x. */
export function* measure(original: System, b: Float64Array, x: Float64Array): Routine<MeasuredSolution> {
  const size = largest(b);
  const power = size === 0 ? 0 : Math.max(-1022, Math.min(1023, -exponent(size)));
  const scale = powerOfTwo(power);
  const r = b.slice();
  if (Number.isFinite(largest(x))) yield (kernels) => kernels.gemv(-scale, original.A, x, scale, r);
  return yield* measureWithResidual(original, b, x, r, power);
}
