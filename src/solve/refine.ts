import type { Routine } from "../dense/steps.ts";
import { powerOfTwo } from "../exact/bits.ts";
import { correct } from "../exact/store.ts";
import { exactResidual } from "./exactResidual.ts";
import { type Factorization, solved } from "./factors.ts";
import { overlapped } from "./overlap.ts";
import { exponent, largest, sameNumbers, scaled } from "./powers.ts";
import { exactResiduals, ordinaryResiduals } from "./residuals.ts";
import type { System } from "./system.ts";

// Refinement works on 2^power A y = 2^s b, with s such that the largest entry of the right-hand side is from 1 to 2: nothing
// that matters overflows or underflows there, and y is x times a power of two.

/** A right-hand side. */
export interface Right {
  readonly b: Float64Array;
  /** b * 2^power; `exact` unless something was lost below 2^-1074, of which the residual in the end takes account. */
  readonly scaled: Float64Array;
  readonly power: number;
  readonly exact: boolean;
}

/** `lower`: its largest entry is from 2^-lower to 2^(1 - lower). */
export function rightOf(b: Float64Array, lower = 0): Right {
  const size = largest(b);
  const power = size === 0 ? 0 : -exponent(size) - lower;
  const y = scaled(b, power);
  return { b, scaled: y, power, exact: power >= 0 || sameNumbers(scaled(y, -power), b) };
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
  /** The scaled residual, nearly; of an approximation that is not finite, Infinity. */
  residual: number;
  iterations: number;
}

interface Running extends Approximation {
  readonly attempt: Attempt;
  residual: number;
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
    return { ...nothing, attempt: { ...nothing, iterations: 0 }, expected: Number.POSITIVE_INFINITY, slow: 0, ended: false };
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

// Converged, or not going to be? NaN is neither below nor above anything: it ends.
function* judge(system: System, running: Running, most: number): Routine<void> {
  const { attempt, y } = running;
  let residual = scaledNearly(system, running);
  // The norm is off by a factor of 1 + n u and a little more, all else by a few u.
  if (Math.abs(residual - 1) < system.n * 2 ** -51 + 2 ** -48) {
    if (running.near) yield* takeResiduals(system, [running]);
    ({ residual } = yield* answerOf(system, running));
  }
  if (!(residual < Number.POSITIVE_INFINITY) || !Number.isFinite(largest(y))) {
    running.ended = true;
    return;
  }
  running.slow = residual > running.residual / 2 ? running.slow + 1 : 0;
  running.expected = running.residual === Number.POSITIVE_INFINITY ? residual : residual * (residual / running.residual);
  running.residual = residual;
  if (residual < attempt.residual) Object.assign(attempt, { y, r: running.r, near: running.near, residual });
  running.ended = residual <= 1 || running.slow === 2 || attempt.iterations === most;
}

/** x and its scaled residual. */
export function* answerOf(
  system: System,
  { right, y, r }: Pick<Attempt, "right" | "y" | "r">,
): Routine<{ x: Float64Array; residual: number }> {
  const { A, power } = system;
  const x = scaled(y, power - right.power);
  if (right.exact && sameNumbers(scaled(x, right.power - power), y)) {
    return { x, residual: yield* exactResidual(system, right.b, x, r, right.power) };
  }
  // What y and x differ in shows in a residual of its own.
  const ownPower = Math.max(-1022, Math.min(1023, right.power));
  const scale = powerOfTwo(ownPower);
  const own = right.b.slice();
  if (Number.isFinite(largest(x))) yield (kernels) => kernels.gemv(-scale, A, x, scale, own);
  return { x, residual: yield* exactResidual(system, right.b, x, own, ownPower) };
}
