import type { Routine } from "../../engines/steps.ts";
import { powerOfTwo } from "../../exact/bits.ts";
import { correct } from "../../exact/store.ts";
import { type Factorization, solved } from "./factors.ts";
import { backwardError, scaledResidual } from "./measures.ts";
import { overlapped } from "./overlap.ts";
import { exponent, largest, normalizing, type Powers, sameNumbers, scaled, scaledBy, timesPower } from "./powers.ts";
import { exactResiduals, ordinaryResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

// Refinement works on 2^power A y = 2^s b, with s such that the largest entry of the right-hand side is from 1 to 2: nothing
// that matters overflows or underflows there, and y is x times a power of two.

/** A right-hand side. */
export interface Right {
  readonly b: Float64Array;
  /** b * 2^power, and by rows where the matrix is scaled so; `exact` unless something was lost below 2^-1074. */
  readonly scaled: Float64Array;
  readonly power: number;
  readonly exact: boolean;
}

/** `lower`: its largest entry is from 2^-lower to 2^(1 - lower). */
export function rightOf({ outer }: System, b: Float64Array, lower = 0): Right {
  const rows: Powers = outer ? { each: outer.rows, common: undefined, range: 0 } : { each: NO_POWERS, common: 0, range: 0 };
  const power = normalizing(b, rows) - (largest(b) === 0 ? 0 : lower);
  const y = scaledBy(b, rows, power);
  const back = outer ? b.map((_, i) => timesPower(y[i] as number, -power - (outer.rows[i] as number))) : scaled(y, -power);
  return { b, scaled: y, power, exact: (power >= 0 && !outer) || sameNumbers(back, b) };
}
const NO_POWERS = new Int32Array(0);

/** The solution of the system that was given, from that of the one that is worked on. */
export function unscaledSolution({ outer, power }: Pick<System, "outer" | "power">, right: Right, y: Float64Array): Float64Array {
  const k = power - right.power;
  return outer ? scaledBy(y, { each: outer.cols, common: undefined }, k) : scaled(y, k);
}

/** An approximation. */
interface Approximation {
  readonly right: Right;
  y: Float64Array;
  r: Float64Array;
  /** r is not rounded once: it came with a correction, or is rough and far from what converges. */
  near: boolean;
}

/** How far one method came with one right-hand side: the best of its approximations. */
export interface Attempt extends Approximation {
  /** How far it is from what converges, see measureNearly(); of an approximation that is not finite, Infinity. */
  residual: number;
  iterations: number;
  /** |A| |y| + |b| in the scale of the residual, if it is known. */
  sizes: Float64Array | undefined;
}

interface Running extends Approximation {
  readonly attempt: Attempt;
  residual: number;
  normwise: number;
  expected: number; // what the next scaled residual may be
  slow: number; // how many corrections in a row have not halved the residual
  ended: boolean;
}

/** Corrections until each right-hand side has converged, or does not get nearer, or has had `most`. `first` are solutions that came with the factors. */
export function* refine(
  system: System,
  factors: Factorization,
  rights: readonly Right[],
  most: number,
  first: readonly Float64Array[] | undefined,
): Routine<Attempt[]> {
  if (rights.length === 0) return [];
  const starts =
    first ??
    (yield* solved(
      system,
      factors,
      rights.map(({ scaled }) => scaled),
    ));
  const all = rights.map((right, c): Running => {
    const y = starts[c] as Float64Array;
    const nothing = { right, y, r: right.scaled, near: false, residual: Number.POSITIVE_INFINITY };
    const unknown = { normwise: Number.POSITIVE_INFINITY, expected: Number.POSITIVE_INFINITY };
    return { ...nothing, ...unknown, attempt: { ...nothing, iterations: 0, sizes: undefined }, slow: 0, ended: false };
  });
  for (let active = all; active.length > 0; active = active.filter(({ ended }) => !ended)) {
    if (factors.method === "mixed") {
      yield* takeRoughly(
        system,
        active.filter(({ near, expected }) => !near && expected > FAR),
      );
    }
    yield* takeResiduals(
      system,
      active.filter(({ near }) => !near),
    );
    for (const running of active) yield* judge(system, running, most);
    const open = active.filter(({ ended }) => !ended);
    const [only] = open;
    if (!only) break;
    const both = open.length === 1 ? yield* overlapped(system, factors, only.right.scaled, only.y, only.r) : undefined;
    if (both) {
      Object.assign(only, both, { near: true });
      only.attempt.iterations++;
      continue;
    }
    const corrections = yield* solved(
      system,
      factors,
      open.map(({ r }) => r),
    );
    for (const [c, running] of open.entries()) {
      running.y = running.y.slice();
      correct(running.y, corrections[c] as Float64Array);
      running.near = false;
      running.attempt.iterations++;
    }
  }
  const attempts = all.map(({ attempt }) => attempt);
  yield* takeResiduals(
    system,
    attempts.filter(({ near }) => near),
  );
  for (const attempt of attempts) {
    const normwise = attempt.residual * 2 ** -53; // if the other measure is not known
    if (normwise > 2 / system.n && normwise <= NEARLY) Object.assign(attempt, yield* measureNearly(system, attempt, normwise));
  }
  return attempts;
}

function* takeResiduals(system: System, active: readonly Approximation[]): Routine<void> {
  if (active.length === 0) return;
  const residuals = yield* exactResiduals(system, active.map(yOf), active.map(rightSideOf));
  for (const [c, r] of residuals.entries()) Object.assign(active[c] as Approximation, { r, near: false });
}

const yOf = ({ y }: Approximation): Float64Array => y;
const rightSideOf = ({ right }: Approximation): Float64Array => right.scaled;

// Where the residual will be far from what converges, ordinary arithmetic does as well: as a scaled residual it is off by less than
// 4, mostly by some hundredths, so that one of more than FAR is known well enough for a correction, and it is certain that there
// must be one. What is below is taken exactly. (n = 1000: 0.7 ms, and the exact residual of the second step, in which nearly
// everything cancels, 2.4.)
const FAR = 16;
function* takeRoughly(system: System, all: readonly Approximation[]): Routine<void> {
  if (all.length === 0) return;
  const residuals = (yield* ordinaryResiduals(system, all.map(yOf), all.map(rightSideOf))) ?? [];
  for (const [c, r] of residuals.entries()) {
    const each = all[c] as Approximation;
    const size = scaledNearly(system, { ...each, r });
    if (size > FAR && size < Number.POSITIVE_INFINITY) Object.assign(each, { r, near: true });
  }
}

function scaledNearly({ n, norm }: System, { right, y, r }: Approximation): number {
  const size = norm * largest(y) + largest(right.scaled);
  return size === 0 ? 0 : largest(r) / (n * 2 ** -53 * size);
}

/** More than 1 by more than both measures, as refinement sees them, can be off. */
export const NEARLY = 1 + 2 ** -20;

// Refinement goes on to this componentwise error, although n + 1 times half of it has converged: residuals are exact, so that another
// correction or two bring x as near to the solution as binary64 allows, where LAPACK's expert driver stays n times farther away.
const FINE = 2 ** -52;

/**
 * Both measures, as parts of what they may be: 1 or less has converged. `isFine` says that there is nothing to gain. The componentwise
 * one costs a pass over the matrix, and matters where the other is small: an approximation for which it is not known is worse than
 * any for which it is. It is at most 2^53 / (n + 1), nearly, so that a factor of 2^53 tells that.
 */
function* measureNearly(
  system: System,
  approximation: Approximation,
  normwise: number,
): Routine<{ residual: number; isFine: boolean; sizes?: Float64Array }> {
  if (!(normwise <= NEARLY)) return { residual: normwise * 2 ** 53, isFine: false };
  const { n, routine, A, power } = system;
  const { right, y, r } = approximation;
  const sums = new Float64Array(n);
  const half = Math.trunc(power / 2); // all of it may take small components below the range, and none of it sums above it
  const scale = y.map((v) => timesPower(Math.abs(v), half));
  yield (kernels) => kernels.approximate.magnitudes(routine, A, scale, sums, new Float64Array(n));
  let most = 0;
  for (let i = 0; i < n; i++) {
    const above = Math.abs(r[i] as number);
    const sum = sums[i] as number;
    const size = timesPower(sum, power - half) + Math.abs(right.scaled[i] as number);
    sums[i] = sum > 2 ** -960 ? size : 0; // which says that it is not known: underflow may have taken a part of it
    if (above > 0) most = Math.max(most, above / size);
  }
  const isScaled = scale.every((v, j) => (v === 0 ? y[j] === 0 : v >= 2 ** -1022)); // or a large entry would bring a loss back
  return { residual: Math.max(normwise, most / ((n + 1) * 2 ** -53)), isFine: most <= FINE, ...(isScaled && { sizes: sums }) };
}

// Converged, or not going to be? NaN is neither below nor above anything: it ends. What has converged may try once to get nearer, what
// has not twice.
function* judge(system: System, running: Running, most: number): Routine<void> {
  const { attempt, y } = running;
  const normwise = scaledNearly(system, running);
  // A fine componentwise error makes the other one 2 / n at the most, and a little more. It is not worth a look before that.
  const isWorth = normwise <= 4 / system.n || attempt.iterations === most;
  const nothing = { residual: normwise * 2 ** 53, isFine: false, sizes: undefined };
  const { residual, isFine, sizes } = isWorth ? yield* measureNearly(system, running, normwise) : nothing;
  if (!(residual < Number.POSITIVE_INFINITY) || !Number.isFinite(largest(y))) {
    running.ended = true;
    return;
  }
  running.slow = residual > running.residual / 2 ? running.slow + 1 : 0;
  running.expected = running.normwise === Number.POSITIVE_INFINITY ? normwise : normwise * (normwise / running.normwise);
  Object.assign(running, { residual, normwise });
  if (residual < attempt.residual) Object.assign(attempt, { y, r: running.r, near: running.near, residual, sizes });
  running.ended = isFine || running.slow === (residual <= 1 ? 1 : 2) || attempt.iterations === most;
}

/** x and its measures. */
export interface Measured {
  readonly x: Float64Array;
  readonly residual: number;
  readonly backwardError: number;
}

/** The answer that an attempt comes to. `given` is the system as it was given. */
export function* answerOf(given: System, system: System, { right, y, r, sizes }: Attempt): Routine<Measured> {
  const x = unscaledSolution(system, right, y);
  const isSame = !system.outer && right.exact && sameNumbers(scaled(x, right.power - system.power), y);
  return isSame ? yield* measured(given, right.b, x, r, right.power, sizes) : yield* measuredAnew(given, right.b, x);
}

/** The measures of x, given RN(2^power (b - A x)) and, if they are known, the sizes 2^power (|A| |x| + |b|), rounded as they came. */
export function* measured(
  given: System,
  b: Float64Array,
  x: Float64Array,
  r: Float64Array,
  power: number,
  sizes?: Float64Array,
): Routine<Measured> {
  return { x, residual: yield* scaledResidual(given, b, x, r, power), backwardError: yield* backwardError(given, b, x, r, power, sizes) };
}

/** The measures of x. */
export function* measuredAnew(given: System, b: Float64Array, x: Float64Array): Routine<Measured> {
  const size = largest(b);
  const power = size === 0 ? 0 : Math.max(-1022, Math.min(1023, -exponent(size)));
  const scale = powerOfTwo(power);
  const r = b.slice();
  if (Number.isFinite(largest(x))) yield (kernels) => kernels.gemv(-scale, given.A, x, scale, r);
  return yield* measured(given, b, x, r, power);
}
